"""run.mode = network: what is measured on how many ranks and nodes, and the machine that is written."""

import re
import tomllib
from typing import Any

from keel_runner import INPUTS, KeelTest, Record, Run

DECK = INPUTS / "network.toml"
WRITE = "network.write=here.toml"
LENGTHS = [2**k for k in range(23)]


def of(run: Run, what: str) -> list[Record]:
    return [record for record in run.records("network") if record["what"] == what]


def machine_of(run: Run) -> dict[str, Any]:
    return tomllib.loads(run.files["here.toml"])


class Network(KeelTest):
    def measure(self, ranks: int, *words: object) -> Run:
        """A valid run. On a busy machine the fastest of few messages make no line; then the run's own remedy is followed."""
        for repeats in (3, 30, 100, 300):
            run = self.run_keel(ranks, DECK, f"run.repeats={repeats}", *words)
            if WRITE not in words or "the times make no line" not in run.flat:
                break
            self.assertIn("or more run.repeats", run.flat)
            self.assertEqual(run.status, 3, run)
        self.assertEqual((run.status, run.stderr), (0, ""), run)
        self.assertTrue(run.stdout.endswith("\nRESULT VALID\n"), run)
        for record in run.records("network"):
            self.assertGreater(record.get("seconds", 1), 0)
        return run

    def test_two_ranks_measure_their_one_distance(self) -> None:
        run = self.measure(2, WRITE)
        pongs = of(run, "ping_pong")
        self.assertEqual([pong["bytes"] for pong in pongs], LENGTHS)
        self.assertEqual({pong["pairs"] for pong in pongs}, {1})
        (distance,) = {pong["class"] for pong in pongs}
        self.assertIn(distance, ("socket", "node"))
        self.assertRegex(run.stdout, r"(?m)^class +protocol .* overhead |: no overhead, for several messages")
        self.assertEqual(of(run, "node_pong"), [])
        self.assertEqual([sum_["bytes"] for sum_ in of(run, "all_reduce")], LENGTHS[3:])
        self.assertIn("a single node: off_node and the injection rate were not measured", run.flat)
        machine = machine_of(run)
        self.assertNotIn("injection", machine["machine"])
        self.assertNotIn("off_node", machine["host"])
        self.assertIsNone(of(run, "machine")[0]["injection_beta"])

    def test_virtual_nodes_are_measured_like_nodes(self) -> None:
        run = self.measure(4, "comm.ranks_per_node=2", WRITE)
        pongs = of(run, "ping_pong")
        between = [pong for pong in pongs if pong["class"] == "off_node"]
        self.assertEqual([pong["bytes"] for pong in between], LENGTHS)
        self.assertEqual({pong["pairs"] for pong in between}, {2})
        self.assertEqual(len(pongs), 2 * len(LENGTHS))
        node_pongs = {(pong["processes"], pong["bytes"]) for pong in of(run, "node_pong")}
        self.assertEqual(node_pongs, {(k, b) for k in (1, 2) for b in LENGTHS if b >= k})
        self.assertIn("off_node", machine_of(run)["host"])
        self.assertGreater(machine_of(run)["machine"]["injection"]["beta"], 0)
        self.assertEqual(machine_of(run)["machine"]["ranks_per_node"], 2)

    def test_nodes_of_one_rank_have_no_distance_but_their_own(self) -> None:
        run = self.measure(2, "comm.ranks_per_node=1", "comm.allreduce=recursive_doubling")
        self.assertEqual({pong["class"] for pong in of(run, "ping_pong")}, {"off_node"})
        self.assertEqual({pong["processes"] for pong in of(run, "node_pong")}, {1})
        self.assertNotIn("was not measured, and repeats", run.flat)
        self.assertEqual({record["nonblocking_seconds"] for record in of(run, "all_reduce")}, {None})
        self.assertIsNone(of(run, "machine")[0]["nonblocking_all_reduce_delay"])

    def test_what_is_written_is_what_was_fitted_and_is_a_machine_to_predict_with(self) -> None:
        # Other processes may hide a line for a while.
        runs = (self.measure(4, "comm.ranks_per_node=2", WRITE) for _ in range(10))
        run = next((run for run in runs if "no delay of all-reduces" not in run.flat), None)
        assert run is not None
        host = machine_of(run)["host"]
        (machine,) = of(run, "machine")
        fits = of(run, "fit")
        self.assertEqual(len(fits), 2 * len({fit["protocol"] for fit in fits}))
        switches = (host["eager_from"], host["rendezvous_from"])
        self.assertEqual((machine["eager_from"], machine["rendezvous_from"]), switches)
        self.assertGreater(machine["all_reduce_by_messages"], 0)
        late = max(0, of(run, "all_reduce")[0]["seconds"] - machine["all_reduce_by_messages"])
        self.assertAlmostEqual(machine["all_reduce_delay"], late, delta=1e-12)
        self.assertEqual(machine_of(run).get("noise", {}).get("all_reduce", 0), machine["all_reduce_delay"])
        nonblocking = max(0, of(run, "all_reduce")[0]["nonblocking_seconds"] - machine["all_reduce_by_messages"])
        self.assertAlmostEqual(machine["nonblocking_all_reduce_delay"], nonblocking, delta=1e-12)
        self.assertEqual(machine_of(run)["compute"], {"rate": machine["rate"], "launch": machine["launch"]})
        self.assertGreater(min(machine["rate"], machine["launch"]), 0)
        fans = of(run, "concurrency")  # alone in a node of two, a rank has two partners between nodes
        self.assertEqual([(fan["class"], fan["bytes"], fan["messages"]) for fan in fans], [("off_node", 8, 2), ("off_node", 65536, 2)])
        known = [fan for fan in fans if fan["identifiable"]]
        self.assertEqual(machine["concurrency"], min(max(known[0]["median"], 0), 1) if known else None)
        self.assertEqual(machine_of(run)["machine"].get("concurrency"), machine["concurrency"])
        self.assertIn("in 7 rounds" if known else "concurrency: not identifiable", run.flat)
        for fit in fits:
            self.assertGreater(min(fit["alpha"], fit["beta"]), 0)
            self.assertLessEqual(fit["rms_residual"], fit["max_residual"])
            written = {name: fit[name] for name in ("alpha", "beta", "overhead") if fit[name] is not None}
            self.assertEqual(host[fit["class"]][fit["protocol"]], written)
            self.assertLessEqual(written.get("overhead", 0), fit["alpha"])
        known = {(way, place): [cost["overhead"], cost["latency"]] for way, places in machine_of(run)["transports"].items() for place, cost in places.items()}
        lines = {(line["transport"], line["class"]): [line["overhead"], line["latency"]] for line in of(run, "transport")}
        positive = {key for key in lines if min(lines[key]) > 0}
        self.assertEqual({key for key in positive if ("isend", key[1]) in positive} - set(known), set())
        self.assertTrue(all(known[key] == lines[key] for key in known if key in lines))
        dry = ["--dry-run", f"comm.machine={self.file('here.toml', run.files['here.toml'])}", "comm.scheme=auto", "comm.ranks_per_node=2"]
        text = self.text(4, *dry)
        self.assertIn('comm.transport = "auto": only a run tries transports; isend is assumed', " ".join(self.text(4, *dry, "comm.transport=auto").split()))
        self.assertIn("least predicted time", text)
        self.assertIn("redicted solve", text)

    def test_ranks_of_a_device_copy_at_once_and_send_from_its_memory(self) -> None:
        if not re.search(r"(?m)^gpu_emulated( +yes){4} ", self.text(None, "--backends")):
            self.skipTest("gpu_emulated is not compiled in")
        run = self.measure(3, "comm.ranks_per_node=2", "run.backend=gpu_emulated", WRITE)
        copies = [(copy["to"], copy["processes"], copy["bytes"]) for copy in of(run, "copy")]
        self.assertEqual(copies, [(to, k, b) for k in (1, 2, 3) for to in ("device", "host") for b in LENGTHS[3:]])
        staged = [(pong["class"], pong["bytes"]) for pong in of(run, "ping_pong") if pong["path"] == "staged"]
        host = [(pong["class"], pong["bytes"]) for pong in of(run, "ping_pong") if pong["path"] == "host"]
        self.assertEqual(staged, [(distance, length) for distance, length in host if length >= 8])
        self.assertGreater(len(staged), len(LENGTHS))
        fitted = {(fit["processes"], "to_" + fit["to"]): fit for fit in of(run, "copy_fit")}
        for copy in machine_of(run)["copy"]:
            for way in ("to_device", "to_host"):
                fit = fitted[copy["processes"], way]
                self.assertTrue(fit["accepted"])
                self.assertEqual(copy[way], {"alpha": fit["alpha"], "beta": fit["beta"]})
        self.assertNotIn("device", machine_of(run))
        on_host = self.measure(2)
        self.assertEqual((of(on_host, "copy"), {pong["path"] for pong in of(on_host, "ping_pong")}), ([], {"host"}))

    def test_a_single_rank_is_refused(self) -> None:
        self.refused(1, DECK, expected=["a single rank has no partner; start it on two or more, as mpiexec -n 2"])

    def test_a_file_that_cannot_be_written_is_refused(self) -> None:
        self.refused(2, DECK, "network.write=no/such/folder.toml", expected=["there is no folder no/such"])

    def test_a_dry_run_tells_who_would_send_to_whom(self) -> None:
        text = self.text(4, "--dry-run", DECK, "comm.ranks_per_node=2")
        self.assertRegex(text, r"(?m)^off_node   0-2 1-3$")

    def test_a_deck_prints_without_grids(self) -> None:
        printed = self.text(None, "--print-deck", INPUTS / "network.toml")
        self.assertRegex(printed, r"(?m)^repeats = 100$")
        self.assertNotRegex(printed, r"(?m)^box = ")

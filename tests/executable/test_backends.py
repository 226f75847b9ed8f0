"""Backends: each gives the answers of the first, and what one has not is refused by name."""

import os
import re
import subprocess

from keel_runner import ONCE, ROOT, KeelTest, Record, Run, strict_json

SAME = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "problem.rhs=wave", *ONCE]
GPU_SYNC = ["per_operation", "lazy", "graphs"]


class Backends(KeelTest):
    def rows(self) -> dict[str, dict[str, str]]:
        """The table of --backends: backend -> column -> word."""
        lines = self.text(None, "--backends").splitlines()
        head, *rows_ = [re.split(r"  +", line) for line in lines]
        rows = [dict(zip(head, row)) for row in rows_]
        self.assertEqual([row["run.backend"] for row in rows], ["openmp", "kokkos", "cuda", "hip", "gpu_emulated"])
        return {row["run.backend"]: row for row in rows}

    def ways(self) -> list[tuple[str, ...]]:
        """The words of every backend that can run here, with each way to wait for it."""
        return [
            (f"run.backend={name}", f"run.gpu_sync={way}")
            for name, row in self.rows().items()
            if row["here"] == "yes"
            for way in (GPU_SYNC if row["graphs"] == "yes" else GPU_SYNC[:1])
        ]

    def history(self, ranks: int, *words: str) -> Record:
        run = self.valid(ranks, *SAME, *words)
        return run.record("solve")

    def assert_same(self, one: Record, other: Record) -> None:
        """To rounding: the sums of a Krylov method are added in another order."""
        self.assertEqual(one["cycles"], other["cycles"])
        self.assertEqual(one["exchanges"], other["exchanges"])
        for a, b in zip(one["residuals"], other["residuals"], strict=True):
            self.assertLess(abs(a - b), 1e-4 * a + 1e-13)
        self.assertLess(abs(one["u_l2"] / other["u_l2"] - 1), 1e-9)

    def test_every_backend_gives_the_same_cycles_and_residuals(self) -> None:
        reference = self.history(2)
        for words in self.ways():
            for overlap in ("false", "true"):
                with self.subTest(words=words, overlap=overlap):
                    self.assert_same(self.history(2, *words, f"comm.overlap={overlap}"), reference)

    def test_sequences_of_launches_are_replayed_only_if_asked_for(self) -> None:
        for name, row in self.rows().items():
            if row["here"] != "yes" or row["graphs"] != "yes":
                continue
            for way in GPU_SYNC:
                with self.subTest(backend=name, gpu_sync=way):
                    run = self.valid(2, *SAME, f"run.backend={name}", f"run.gpu_sync={way}")
                    cycles = run.record("solve")["cycles"]
                    # Recorded in the second cycle, a cycle's sweeps recur from the third on.
                    least = cycles - 2 if way == "graphs" else 0
                    self.assertGreaterEqual(run.facts["graph_replays"], least)
                    if way != "graphs":
                        self.assertEqual(run.facts["graph_replays"], 0)

    def test_launches_waits_and_copies_are_those_that_a_dry_run_counts(self) -> None:
        if self.rows()["gpu_emulated"]["here"] != "yes":
            return
        words = ["problem.box=8", "problem.boxes=[4,2,1]", "multigrid.tolerance=1e-6", "run.backend=gpu_emulated", "run.repeats=1", "run.warmup=1"]

        def counts(run: Run, way: str) -> dict[tuple[str, int], list[float]]:
            # Other work between solves precedes the first sequence of a run's solve: that one need not be in a graph there.
            rows = {(row["op"], row["level"]): row for row in run.records("timer") if "host_waits" in row}
            sent = [[row["launches"] + row["graph_nodes"]] if way == "graphs" else [row["launches"], row["graph_replays"]] for row in rows.values()]
            return {place: [*of_row, row["host_waits"], row["copies"], row["copied_bytes"]] for of_row, (place, row) in zip(sent, rows.items(), strict=True)}

        for way in GPU_SYNC:
            for ranks, *deck in (
                (1, "bottom.solver=cg"),
                (1, "run.deterministic=true", "multigrid.bottom_grid=gather"),
                (2, "bottom.solver=ca_cg", "bottom.powers=fused_matrix_powers", "comm.ranks_per_node=2"),
            ):
                with self.subTest(gpu_sync=way, deck=deck):
                    all_words = [*words, *deck, f"run.gpu_sync={way}"]
                    run = self.valid(ranks, *all_words)
                    dry = self.run_keel(None, "--dry-run", *all_words, f"problem.ranks={ranks}", "comm.machine=a100")
                    self.assertEqual(counts(run, way), counts(dry, way))
                    self.assertIn("Bottom, counted for one of", run.stdout)

    def test_graphs_change_no_bit_where_memory_is_read_and_freed_between_them(self) -> None:
        words = ["problem.box=8", "problem.boxes=[2,2,2]", "multigrid.bottom_box=2", *ONCE]
        keys = ["solver", "residuals", "bottom", "u_l2"]
        decks = [
            ["bottom.solver=cg", "bottom.preconditioner=amg", "bottom.scaling=none"],
            ["bottom.solver=amg"],
            ["bottom.solver=amg", "run.steps=3", "amg.coarsest=gathered"],
            ["run.mode=survey"],
        ]
        for name, row in self.rows().items():
            if row["here"] != "yes" or row["graphs"] != "yes":
                continue
            for deck in decks:
                with self.subTest(backend=name, deck=deck):
                    graphs, waited = (
                        self.valid(1, *words, *deck, f"run.backend={name}", f"run.gpu_sync={way}")
                        for way in ("graphs", "per_operation")
                    )
                    self.assertGreater(graphs.facts["graph_replays"], 0)
                    bits = [
                        [[r[key] for key in keys] for r in run.all_records if "residuals" in r]
                        for run in (graphs, waited)
                    ]
                    self.assertNotEqual(bits[0], [])
                    self.assertEqual(*bits)

    def test_a_backend_that_cannot_run_is_refused_with_those_that_can(self) -> None:
        rows = self.rows()
        here = ", ".join(name for name, row in rows.items() if row["here"] == "yes")
        for name, row in rows.items():
            if row["here"] == "yes":
                continue
            with self.subTest(backend=name):
                expected = [f'command line: run.backend = "{name}": ', f"backends that can run here: {here}"]
                self.refused(2, f"run.backend={name}", expected=expected)

    def test_a_run_on_a_device_says_which_and_how_its_messages_travel(self) -> None:
        for name, row in self.rows().items():
            if row["here"] != "yes" or row["comm.device"] != "yes":
                continue
            with self.subTest(backend=name):
                run = self.valid(2, *SAME, f"run.backend={name}", "comm.device=staged")
                facts = run.record("run")
                self.assertEqual(len(facts["devices"]), 2)
                self.assertTrue(all(re.match(r"\d+ \(.+\)", device) for device in facts["devices"]), facts["devices"])
                self.assertEqual(facts["device_messages"], "staged through host memory")
                self.assertIn(f"on device {facts['devices'][0]}, cpus ", run.stdout)
                shared = facts["devices"][0] == facts["devices"][1]
                self.assertEqual(facts["device_sharing"], 2 if shared else 1)
                if name == "gpu_emulated":
                    self.assertEqual(facts["device_bytes_per_second"], 1e11 * len(set(facts["devices"])))
                self.assertEqual("warning   up to 2 ranks share a device" in run.stdout, shared)
                message = "does not say that it takes the memory"
                aware = self.run_keel(2, *SAME, f"run.backend={name}", "comm.device=device_aware")
                self.assertTrue(aware.status == 0 or (aware.status == 2 and message in aware.stderr), aware)
                self.refused(2, f"run.backend={name}", "comm.device=device_aware", "comm.transport=shared",
                             expected=['comm.transport = "shared": messages lie in memory of the host'])  # fmt: skip

    def test_a_failing_device_call_ends_the_run_with_its_name_place_and_rank(self) -> None:
        if self.rows()["gpu_emulated"]["here"] != "yes":
            self.skipTest("gpu_emulated is not compiled in")
        # The cells alone would fit into the 256 MB of the emulated device; with ghosts and coarse levels they do not.
        run = self.run_keel(1, "run.backend=gpu_emulated", "problem.box=160", "multigrid.bottom_box=20", *ONCE)
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.stderr, r"keel: rank 0: emulatedMalloc: out of memory \(\S*gpu/device\.hpp:\d+\)")
        too_large = "at least 134.2 GB on a device of 268.4 MB"
        words = ["run.backend=gpu_emulated", "problem.box=128", "problem.boxes=[10,10,10]"]
        self.refused(None, *words, expected=[too_large])

    def test_a_backend_that_cannot_run_here_may_be_planned_for(self) -> None:
        for name in self.rows():
            self.text(2, "--dry-run", f"run.backend={name}")
            self.text(None, "--print-deck", f"run.backend={name}")

    def test_the_script_for_a_gpu_keeps_what_it_has_measured_when_its_time_is_up(self) -> None:
        if self.rows()["gpu_emulated"]["here"] != "yes":
            self.skipTest("gpu_emulated is not compiled in")
        records = self.folder / "gpu.jsonl"
        command = [ROOT / "results/backends/run", self.keel, records, "gpu_emulated"]
        environment = {**os.environ, "SIZE": "8", "LIMIT": "1"}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        kept = [strict_json(line) for line in records.read_text(encoding="utf-8").splitlines()]
        self.assertRegex(run.stdout, r"double 16 +exit 0 +Solve: .*RESULT VALID")
        self.assertIn("left out for want of time: full multigrid 32", run.stdout)
        self.assertEqual(kept[0]["label"], "double 16")
        again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((again.returncode, again.stderr), (2, f"{records} exists\n"))

    def test_the_host_has_no_device(self) -> None:
        facts = self.valid(2, *SAME).record("run")
        self.assertEqual((facts["devices"], facts["device_sharing"], facts["device_messages"]), (["", ""], 1, ""))
        self.assertIsNone(facts["device_bytes_per_second"])

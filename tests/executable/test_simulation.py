"""Simulated machines (scripts/simulate): times that repeat to the last digit, counts of a real run, a table that adds up."""

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from shutil import which

from keel_runner import ONCE, ROOT, KeelTest, Record, Run, unwrapped
from record_schema import against_schema

SIMULATED = ROOT / "build/simulated/keel"
SMALL = ["problem.box=4", "multigrid.bottom_box=2", *ONCE]
COUNTS = ("op", "level", "calls", "messages", "bytes", "off_node_messages", "off_node_bytes", "all_messages", "all_bytes",
          "all_off_node_messages", "all_off_node_bytes", "words", "bytes_moved", "flops")  # fmt: skip
# Fields that differ from run to run.
OWN = {"id", "date"}


def but_for_its_own(run: Run) -> list[Record]:
    return [{key: value for key, value in record.items() if key not in OWN} for record in run.all_records]


def counts(run: Run) -> list[list[object]]:
    """Counts of all timers but "other", in which there is nothing to count."""
    return [[timer[name] for name in COUNTS] for timer in run.records("timer") if timer["op"] != "other"]


STUDY = f"""
name = "simulated"
claim = "no machine is needed"
deck = "{ROOT}/inputs/papers/seed_weak.toml"
law = "weak"
repeats = 1
rounds = 1
[keys]
problem.box = 4
multigrid.bottom_box = 2
run.warmup = 0
[[axis]]
key = "ranks"
values = [4, 8]
[[axis]]
key = "bottom.solver"
values = ["bicgstab", "cg"]
"""


class SimulatedTest(KeelTest):
    def setUp(self) -> None:
        if not which("smpirun"):
            self.skipTest("no SimGrid (libsimgrid-dev)")
        if not SIMULATED.is_file():
            self.skipTest("no build/simulated/keel; scripts/test --nightly or cmake --preset simulated makes it")

    def simulate(self, ranks: int, *words: object, machine: str = "hopper", options: tuple[str, ...] = ()) -> Run:
        command = [sys.executable, str(ROOT / "scripts/simulate"), "--machine", machine, "--ranks", str(ranks), *options]
        command += [*map(str, words), "output.json=run.json"]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(command, cwd=folder, env=os.environ | {"COLUMNS": "100"}, capture_output=True, text=True,
                                  timeout=18000)  # fmt: skip
            files = {path.name: path.read_text() for path in Path(folder).iterdir()}
        header, *rest = done.stdout.split("\n\n", 1)
        return Run(" ".join(command), done.returncode, "\n\n".join([unwrapped(header, 10), *rest]), done.stderr, files)

    def simulated(self, ranks: int, *words: object, options: tuple[str, ...] = ()) -> Run:
        run = self.simulate(ranks, *words, options=options)
        self.assertEqual((run.status, run.stdout.splitlines()[-1:]), (0, ["RESULT VALID"]), run)
        return run

    def study(self, *words: object) -> str:
        done = subprocess.run([sys.executable, ROOT / "scripts/study", *map(str, words)], capture_output=True, text=True,
                              env=os.environ | {"KEEL": str(self.keel)}, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr if words[0] != "run" else ""), (0, ""), done)
        return done.stdout

    def repeats_and_adds_up(self, ranks: int, *words: object) -> Run:
        """Two runs are one; the means of all operations add up to the solve."""
        run, again = (self.simulated(ranks, *words) for _ in range(2))
        self.assertEqual(but_for_its_own(run), but_for_its_own(again))
        (solve,) = run.records("solve")
        self.assertGreater(solve["seconds"], 0)
        added = sum(timer["t_mean"] for timer in run.records("timer"))
        self.assertAlmostEqual(added, solve["seconds"], delta=0.01 * solve["seconds"])
        return run

    def counts_are_those_of_open_mpi(self, run: Run, ranks: int, *words: object) -> None:
        real = self.valid(ranks, *words, "comm.ranks_per_node=4", "comm.allreduce=recursive_doubling")
        self.assertEqual(counts(run), counts(real))
        for name in ("reductions", "reduction_words", "exchanges"):
            self.assertEqual(run.record("solve")[name], real.record("solve")[name])


def slope_of_exchanges(alpha: float, overhead: float) -> float:
    """Seconds by which each further message prolongs an exchange, by LogP: a process sends all, waits, and receives all."""
    counts = (1, 2, 4, 8)
    seconds = [max(n * overhead, alpha - overhead) + n * overhead for n in counts]
    mean_count, mean_seconds = sum(counts) / 4, sum(seconds) / 4
    products = sum((n - mean_count) * (t - mean_seconds) for n, t in zip(counts, seconds, strict=True))
    return products / sum((n - mean_count) ** 2 for n in counts)


class Eight(SimulatedTest):
    def test_times_repeat_counts_are_those_of_a_real_run_and_the_table_adds_up(self) -> None:
        words = [*SMALL, "bottom.solver=ca_bicgstab"]
        run = self.repeats_and_adds_up(8, *words)
        self.counts_are_those_of_open_mpi(run, 8, *words)
        self.assertEqual(against_schema(run.all_records), [])

        head = run.record("run")
        self.assertEqual((head["clock"], head["nodes"], head["bindings"], head["shared_cores"]), ("simulated", 2, [], False))
        self.assertEqual(head["simulation"]["modelled"], {"rate": 12.8e9, "launch": 1e-6, "flop_rate": None, "cache": None})
        self.assertEqual((head["simulation"]["platform"], head["simulation"]["machine"]), ("hopper", "hopper"))
        self.assertEqual(head["triad_bytes_per_second"], 8 * 12.8e9)
        self.assertEqual(run.record("result")["measured_bytes"], 0)
        self.assertRegex(run.stdout, r"(?m)^times +simulated by SimGrid: messages on platform hopper; operations by machine"
                         r" hopper: 12.8 GB/s a rank, no less than 1.000 us each; not modelled: set-up other than algebraic multigrid's, checks")  # fmt: skip
        # The seconds modelled are those reported, no less than a launch each.
        for timer in run.records("timer"):
            if timer["op"] in ("smooth", "restrict", "interpolate", "bottom.vector"):
                launches, moving = timer["calls"] * 1e-6, timer["bytes_moved"] / 8 / 12.8e9
                self.assertGreaterEqual(timer["t_mean"], 0.999 * max(launches, moving), timer)
                self.assertLessEqual(timer["t_mean"], 1.001 * (launches + moving), timer)

    def test_a_run_that_would_end_by_its_clock_is_refused(self) -> None:
        run = self.simulate(2, *SMALL, "run.time_limit=1")
        self.assertEqual(run.status, 2, run)
        told = "run.time_limit = 1.0: time is simulated here, and repeats itself; leave it out"
        self.assertIn(told, unwrapped(run.stderr, 4))

    def test_network_measures_the_machine_that_the_platform_was_made_of(self) -> None:
        words = ["run.mode=network", "run.repeats=1", "network.write=here.toml"]
        run = self.simulated(8, *words)
        measured = tomllib.loads(run.files["here.toml"])
        given = tomllib.loads((ROOT / "inputs/machines/hopper.toml").read_text())

        def within(found: float, wanted: float, what: object) -> None:
            self.assertAlmostEqual(found, wanted, delta=0.1 * wanted, msg=str(what))

        # Sockets are not known, and the class of the nodes is all that there is.
        for locality in ("node", "off_node"):
            for protocol, cost in given["host"][locality].items():
                found = measured["host"][locality][protocol]
                within(found["alpha"], cost["alpha"], (locality, protocol))
                within(1 / found["beta"], cost["rate"], (locality, protocol))
                short = given["host"][locality]["short"]["alpha"]
                within(found["overhead"], slope_of_exchanges(short, 0.2e-6), (locality, protocol))  # assumed if a file has none
        # By LogP a further message between nodes takes an overhead of 0.2 us, of an alpha of 2.27 us; a fan's are within it.
        within(measured["machine"]["concurrency"], 1 - 0.2 / 2.27, "concurrency")
        # Two nodes side by side do not get more through the one link between them than it carries.
        link = tomllib.loads((ROOT / "inputs/platforms/hopper.toml").read_text())["fabric"]["rate"]
        rate = min(link, given["machine"]["injection"]["rate"])
        within(1 / measured["machine"]["injection"]["beta"], rate, "injection")
        for pong in (record for record in run.records("network") if record["what"] == "ping_pong"):
            protocol = "short" if pong["bytes"] < 500 else "eager" if pong["bytes"] < 8000 else "rendezvous"
            cost = given["host"][pong["class"]][protocol]
            within(pong["seconds"], cost["alpha"] + pong["bytes"] / cost["rate"], pong)


class OfAStudy(SimulatedTest):
    def test_a_study_on_a_machine_that_is_not_there(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "study.toml")
            file.write_text(STUDY)
            tables = []
            for name in ("made", "again"):
                where = Path(folder, name)
                self.assertIn("4 starts, simulated here", self.study("write", file, where, "--site", "simulated"))
                self.study("run", where)
                tables.append(self.study("collect", where).replace(str(where), ""))
        table, again = tables
        self.assertEqual(table, again)  # to the last digit
        self.assertIn("Seconds are simulated, cycles and iterations counted.", table)
        rows = {tuple(cells[:2]): cells for line in table.splitlines()
                if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) > 8 and "x1" in cells[1]}  # fmt: skip
        self.assertEqual(sorted(rows), [("bicgstab", "4x1"), ("bicgstab", "8x1"), ("cg", "4x1"), ("cg", "8x1")])
        for solver in ("bicgstab", "cg"):  # boxes have one size: eight ranks are on two nodes
            self.assertLess(float(rows[solver, "4x1"][4]), float(rows[solver, "8x1"][4]))


class SixtyFour(SimulatedTest):
    def test_times_repeat_whatever_simgrid_keeps_apart_and_the_table_adds_up(self) -> None:
        for solver in ("bicgstab", "ca_bicgstab", "pipelined_cg"):
            with self.subTest(solver=solver):
                words = [*SMALL, f"bottom.solver={solver}"]
                run = self.repeats_and_adds_up(64, *words)
                self.counts_are_those_of_open_mpi(run, 64, *words)
                apart = self.simulated(64, *words, options=("--option", "smpi/privatization:dlopen"))
                self.assertEqual(but_for_its_own(run), but_for_its_own(apart))

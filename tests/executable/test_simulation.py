"""Simulated machines (scripts/simulate): times that repeat to the last digit, counts of a real run, a table that adds up."""

import os
import re
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
# What tells a run from the next.
OWN = {"id", "date"}


def but_for_its_own(run: Run) -> list[Record]:
    return [{key: value for key, value in record.items() if key not in OWN} for record in run.all_records]


def counts(run: Run) -> list[list[object]]:
    """Of all timers but "other", in which there is nothing to count."""
    return [[timer[name] for name in COUNTS] for timer in run.records("timer") if timer["op"] != "other"]


STUDY = f"""
name = "simulated"
claim = "no machine is needed"
deck = "{ROOT}/inputs/papers/seed_weak.toml"
law = "weak"
constant = "one box a rank"
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
                                  timeout=1800)  # fmt: skip
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


class Eight(SimulatedTest):
    def test_times_repeat_counts_are_those_of_a_real_run_and_the_table_adds_up(self) -> None:
        words = [*SMALL, "bottom.solver=ca_bicgstab"]
        run = self.repeats_and_adds_up(8, *words)
        self.counts_are_those_of_open_mpi(run, 8, *words)
        self.assertEqual(against_schema(run.all_records), [])

        head = run.record("run")
        self.assertEqual((head["clock"], head["nodes"], head["bindings"], head["shared_cores"]), ("simulated", 2, [], False))
        self.assertEqual(head["simulation"]["charged"], {"rate": 12.8e9, "launch": 1e-6, "flop_rate": None, "cache": None})
        self.assertEqual((head["simulation"]["platform"], head["simulation"]["machine"]), ("hopper", "hopper"))
        self.assertEqual(head["triad_bytes_per_second"], 8 * 12.8e9)
        self.assertEqual(run.record("result")["measured_bytes"], 0)
        self.assertRegex(run.stdout, r"(?m)^times +simulated by SimGrid: messages on platform hopper; operations by machine"
                         r" hopper: 12.8 GB/s a rank, no less than 1.000 us each; not charged: set-up other than algebraic multigrid's, checks")  # fmt: skip
        # What is charged is what is booked, no less than a launch each.
        for timer in run.records("timer"):
            if timer["op"] in ("smooth", "restrict", "interpolate", "bottom.vector"):
                launches, moving = timer["calls"] * 1e-6, timer["bytes_moved"] / 8 / 12.8e9
                self.assertGreaterEqual(timer["t_mean"], 0.999 * max(launches, moving), timer)
                self.assertLessEqual(timer["t_mean"], 1.001 * (launches + moving), timer)

    def test_a_run_that_would_end_by_its_clock_is_refused(self) -> None:
        run = self.simulate(2, *SMALL, "run.time_limit=1")
        self.assertEqual(run.status, 2, run)
        told = "run.time_limit = 1: time is simulated here, and repeats itself; leave it out"
        self.assertIn(told, unwrapped(run.stderr, 4))

    def test_network_measures_the_machine_that_the_platform_was_made_of(self) -> None:
        words = ["run.mode=network", "network.largest=131072", "run.repeats=1", "network.limits=[500,8000]",
                 "network.write=here.toml"]  # fmt: skip
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
                within(found["overhead"], 0.2e-6, (locality, protocol))  # which is assumed where a file has none
        # Two nodes side by side do not get more through the one link between them than it carries.
        link = tomllib.loads((ROOT / "inputs/platforms/hopper.toml").read_text())["fabric"]["rate"]
        rate = min(link, given["machine"]["injection"]["rate"])
        within(1 / measured["machine"]["injection"]["beta"], rate, "injection")
        for pong in (record for record in run.records("network") if record["what"] == "ping_pong"):
            protocol = "short" if pong["bytes"] < 500 else "eager" if pong["bytes"] < 8000 else "rendezvous"
            cost = given["host"][pong["class"]][protocol]
            within(pong["seconds"], cost["alpha"] + pong["bytes"] / cost["rate"], pong)


class Surrogates(SimulatedTest):
    """Boxes that are charged for others, beside these others."""

    CELLS = ("smooth", "restrict", "interpolate")
    GHOSTS = ("exchange.pack", "exchange.copy", "exchange.unpack")

    def agrees(self, box: int, computed: int, *words: object) -> Run:
        """A surrogate is charged for a V-cycle, and for the ghosts of an exchange, what a run with the wide boxes is. Returns it.
        SimGrid's clock has a grain of a nanosecond. In mixed precision exchanges of two kinds share a row, in another proportion. Where
        boxes are missing, a cell at an inner edge is sent to a rank once for two of its boxes: a part less that is no surface."""
        words = (*ONCE, *words)
        surrogate = self.simulated(8, *words, f"problem.box={computed}", f"simulate.box={box}")
        real = self.simulated(8, *words, f"problem.box={box}")
        above = (box // computed).bit_length() - 1

        def seconds(run: Run, op: str, levels: range) -> float:
            """Of a cycle, or of ghosts of an exchange, on these levels together."""
            found = {timer["level"]: timer for timer in run.records("timer") if timer["op"] == op}
            times = run.record("solve")["cycles"] if op in self.CELLS else 0
            return sum(found[level]["t_mean"] / (times or found[level]["calls"]) for level in levels if level in found)

        levels = [level["box"] for level in surrogate.record("run")["levels"]]
        self.assertEqual([level["box"] for level in real.record("run")["levels"]][above:], levels)
        grain = dict.fromkeys(self.CELLS, 1e-5)
        if "multigrid.precision=mixed" not in words:
            grain |= dict.fromkeys(self.GHOSTS, 0.02 if "problem.shape=L" in words else 1e-5)
        for op, near in grain.items():
            for level in range(len(levels) - 1):
                theirs = range(above + 1) if level == 0 else range(level + above, level + above + 1)
                charged, wanted = seconds(surrogate, op, range(level, level + 1)), seconds(real, op, theirs)
                self.assertAlmostEqual(charged, wanted, delta=max(near * wanted, 1e-9), msg=f"{op}, level {level}")
        # What the finest level alone does is charged for all that it stands for: at most a seventh, in two dimensions a third, and a
        # launch for each level more.
        of_norms, of_real = seconds(surrogate, "residual", range(1)), seconds(real, "residual", range(1))
        most = of_real * (4 / 3 if "problem.dimensions=2" in words else 8 / 7) + above * 1e-6
        self.assertTrue(of_real <= of_norms < most, (of_norms, of_real))
        return surrogate

    def test_a_surrogate_is_charged_what_the_levels_are_that_its_finest_one_stands_for(self) -> None:
        run = self.agrees(32, 16, "bottom.solver=cg")
        real = self.simulated(8, *ONCE, "bottom.solver=cg", "problem.box=32")
        (charged,) = (timer for timer in run.records("timer") if timer["op"] == "exchange.charged")
        (pack,) = (timer for timer in run.records("timer") if (timer["op"], timer["level"]) == ("exchange.pack", 0))
        (planned,) = (scheme for scheme in real.records("scheme") if scheme["level"] == 0 and scheme["scheme"] == "standard")
        self.assertEqual((charged["level"], charged["calls"]), (0, pack["calls"]))
        self.assertAlmostEqual(charged["t_mean"], charged["calls"] * planned["predicted_seconds"], delta=1e-9 * charged["t_mean"])

        # It says so, its counts are of what it computes, and its seconds are held against no bytes.
        told = "boxes of 32^3 are charged, 16^3 computed"
        self.assertEqual(run.record("run")["simulation"]["surrogate"], {"box": 32, "computed": 16})
        self.assertIsNone(real.record("run")["simulation"]["surrogate"])
        self.assertRegex(run.stdout, rf"(?m)^times .*A surrogate: {re.escape(told)}\.")
        self.assertRegex(run.stdout, rf"(?m)^remark +simulate.box = 32: a surrogate: in simulated seconds {re.escape(told)}")
        self.assertRegex(run.stdout, "(?m)^remark +machine hopper does not say how much of alpha is overhead")
        self.assertRegex(run.stdout, r"(?m)^FOM +solve.surrogate_dof_per_second ")
        self.assertEqual(run.record("result")["fom"], 64**3 / run.record("result")["seconds"])
        self.assertNotIn("GB/s  of triad", run.stdout)
        self.assertIsNone(run.record("result")["moved"])
        self.assertEqual(against_schema(run.all_records), [])
        self.counts_are_those_of_open_mpi_but(run, "exchange.charged")

    def counts_are_those_of_open_mpi_but(self, run: Run, op: str) -> None:
        real = self.valid(8, *ONCE, "bottom.solver=cg", "problem.box=16", "comm.ranks_per_node=4",
                          "comm.allreduce=recursive_doubling")  # fmt: skip
        self.assertEqual([row for row in counts(run) if row[0] != op], counts(real))

    def test_whatever_boxes_cycles_and_schemes_are_like(self) -> None:
        for words in (
            ["problem.boxes=[4,4,2]", "problem.shape=L"],
            ["problem.dimensions=2", "comm.scheme=auto"],
            ["multigrid.precision=mixed", "problem.storage=blocks", "problem.boxes_per_rank=8"],
            ["multigrid.smoother=chebyshev", "problem.boundary=dirichlet", "comm.scheme=three_step"],
        ):
            with self.subTest(words=words):
                self.agrees(32, 8, "bottom.solver=cg", *words)

    def test_surveys_too_and_they_repeat(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            deck = Path(folder, "survey.toml")
            deck.write_text('[run]\nmode = "survey"\nsurvey = ["bicgstab", "cg"]\n[simulate]\nbox = 64\n')
            run, again = (self.simulated(8, deck, "problem.box=8", *ONCE) for _ in range(2))
        self.assertEqual(but_for_its_own(run), but_for_its_own(again))
        self.assertEqual(against_schema(run.all_records), [])
        self.assertEqual([row["moved"] for row in run.records("survey")], [None, None])

    def test_a_study_names_them_in_its_table_and_beside_every_figure_of_times(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "study.toml")
            file.write_text(STUDY.replace("[[axis]]", "simulate.box = 16\n[[axis]]", 1))
            where = Path(folder, "made")
            self.study("write", file, where, "--site", "simulated")
            self.study("run", where)
            told = "surrogates: boxes of 16^3 are charged, 4^3 computed"
            self.assertIn(f"Seconds are simulated ({told}), cycles and iterations counted.", self.study("collect", where))
            self.study("report", where)
            page = (where / "report.html").read_text()
            figures = re.findall(r"<figcaption>.*?</figcaption>", page, re.DOTALL)
            of_times = [caption for caption in figures if ">Simulated." in caption]
            self.assertGreater(len(of_times), 2)
            self.assertEqual([caption for caption in of_times if told not in caption.lower()], [])
            self.assertFalse((where / "figures/roofline.svg").is_file())

    def test_what_boxes_cannot_stand_for_is_refused(self) -> None:
        for words, told in (
            (["problem.box=10", "multigrid.bottom_box=5"], "simulate.box = 16: is not problem.box = 10 times a power of two"),
            (["multigrid.bottom_box=8"], "simulate.box = 16: problem.box = 8 is the coarsest level"),
            (["multigrid.cycle=F"], 'simulate.box = 16: multigrid.cycle = "F" visits the levels'),
            (["run.mode=krylov"], 'simulate.box = 16: boxes stand for wider ones in V-cycles, and run.mode = "krylov"'),
        ):
            with self.subTest(words=words):
                box = [] if "problem.box=10" in words else ["problem.box=8"]
                run = self.simulate(2, *box, "simulate.box=16", *words)
                self.assertEqual(run.status, 2, run)
                self.assertIn(told, unwrapped(run.stderr, 4))
                self.assertNotIn("time is real here", run.stderr)


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
        for solver in ("bicgstab", "cg"):  # of boxes of one size: eight ranks are on two nodes
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

"""keel --benchmark: its rules, classes and marks, and RESULT.json, which overwrites nothing, with its digest."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from fcntl import LOCK_EX, flock
from math import fsum
from pathlib import Path
from statistics import median

from keel_runner import ALONE, INPUTS, NIGHTLY, ROOT, KeelTest, Record, Run
from record_schema import against_schema

sys.path.insert(0, str(ROOT / "scripts"))
from studies.benchmark_result import reasons_not_to_take  # noqa: E402

QUICK = ("--benchmark", "--quick")
FIXED = "the rules of the benchmark fix it (docs/benchmark.md); leave it out"


class Benchmark(KeelTest):
    def quick(self, ranks: int | None, *words: object, threads: int = 1) -> tuple[Run, Record]:
        run = self.valid(ranks, *QUICK, *words, threads=threads)
        return run, json.loads(run.files["RESULT.json"])

    def ended(self, ranks: int, *words: object, threads: int = 1, under: Sequence[str] = ()) -> Record:
        """The result of a run whose solves end, unconverged, after a cycle: a tenth of a quick run's time."""
        run = self.run_keel(ranks, *QUICK, *words, "multigrid.max_cycles=1", threads=threads, under=under)
        self.assertEqual(run.status, 1, run)
        return json.loads(run.files["RESULT.json"])  # type: ignore[no-any-return]

    def test_a_quick_run_reports_what_its_solves_say_and_is_marked(self) -> None:
        for ranks in (1, 2) if NIGHTLY else (2,):
            run, result = self.quick(ranks, "run.label=mine")
            self.check_digest(run, result)
            self.assertEqual(against_schema([*run.all_records, result]), [])
            self.assertEqual(run.record("benchmark"), result)
            self.assertEqual(run.record("result"), result["result"])
            self.assertEqual(run.record("run"), result["run"])
            self.assertEqual(run.records("check"), result["checks"])
            self.assertEqual((result["class"], result["changed"]), ("base", []))
            self.assertIn("--quick", result["not_to_be_submitted"])
            self.assertEqual([grid["box"] for grid in result["grids"]], [64, 32, 16])
            for grid in result["grids"]:
                self.assertEqual(grid["unknowns"], ranks * grid["box"] ** 3)
                rows = [row for row in result["problems"] if row["grid"] == grid["grid"]]
                figure = 4 * grid["unknowns"] / fsum(median(row["seconds"]) for row in rows)
                self.assertAlmostEqual(grid["dof_per_second"] / figure, 1, delta=1e-12)
                digits = fsum(row["digits"] for row in rows) / fsum(median(row["seconds"]) for row in rows)
                self.assertAlmostEqual(grid["digits_per_second"] / digits, 1, delta=1e-12)
                self.assertAlmostEqual(grid["setup_seconds"] * 4 / fsum(row["setup_seconds"] for row in rows), 1, delta=1e-12)
                self.assertEqual([len(row["seconds"]) for row in rows], [3] * 4)
                self.assertLessEqual(max(residual for row in rows for residual in row["residuals"]), 1e-10)
            self.assertLess(result["grids"][0]["bottom_share"], result["grids"][2]["bottom_share"])
            end = result["result"]
            self.assertAlmostEqual(end["setup_seconds"] + end["tuning_seconds"], result["problems"][0]["setup_seconds"], delta=1e-12)
            # The first problem is reported as any solve.
            solves = run.records("solve")
            self.assertEqual([solve["seconds"] for solve in solves], result["problems"][0]["seconds"])
            timers = [timer["t_mean"] for timer in run.records("timer")]
            self.assertAlmostEqual(fsum(timers) * 3 / fsum(solve["seconds"] for solve in solves), 1, delta=0.2)
            names = [check["name"] for check in result["checks"]]
            self.assertEqual(sorted(names), sorted({"discretisation_order", "residual_recomputed", "problem_unchanged",
                                                    "operator_symmetry", "solves_converged"}))  # fmt: skip
            self.assertEqual(result["checks"][-1]["want"], "all of 36")
            self.assertRegex(run.stdout, r"\nFOM +non_benchmark\.dof_per_second \S+ +dof/s  tolerance 1e-10 ")
            self.assertRegex(run.stdout, r"\nfixed +\S+ dof/s with a box of 64\^3 a rank \(grid h\)\nsmoother  \S+ GB/s, \d+% of the triad\n")
            self.assertRegex(run.stdout, rf"\nmachine   (?s:.*)\nsources   {result['run']['sources']}\n")
            no_release = f"Keel {result['run']['version']} is no release"
            self.assertEqual(no_release in result["not_to_be_submitted"], "+" in result["run"]["version"])
            self.assertRegex(run.stdout, r"\nKeel benchmark, rules 1, class base: NOT TO BE SUBMITTED: --quick")

    def check_digest(self, run: Run, result: Record) -> None:
        """The digest is that of the file and of the report's line."""
        self.assertIn(f"\ndigest    {result['digest']}\n", run.stdout)
        text = run.files["RESULT.json"]
        digest = "the digest is of another text"
        self.assertNotIn(digest, list(reasons_not_to_take(text)))
        self.assertIn("--quick", list(reasons_not_to_take(text)))
        changed = text.replace(f'"dof_per_second": {result["grids"][0]["dof_per_second"]}', '"dof_per_second": 1e30')
        self.assertNotEqual(changed, text)
        self.assertIn(digest, list(reasons_not_to_take(changed)))

    def test_what_is_changed_makes_the_class(self) -> None:
        for words, category, changed in (
            (["multigrid.pre=3", "problem.storage=boxes", "comm.overlap=true"], "tuned",
             ['passes: problem.storage = "boxes"', "solver: multigrid.max_cycles = 1", "solver: multigrid.pre = 3",
              "scheme: comm.overlap = true"]),
            (["multigrid.precision=mixed", "bottom.solver=ca_cg"], "mixed",
             ['precision: multigrid.precision = "mixed"', "solver: multigrid.max_cycles = 1", 'solver: bottom.solver = "ca_cg"']),
        ):  # fmt: skip
            result = self.ended(1, *words)
            self.assertEqual((result["class"], sorted(result["changed"])), (category, sorted(changed)))

    def test_keys_that_the_rules_fix_are_refused(self) -> None:
        fixed = ["problem.rhs=zero", "problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=constant",
                 "problem.boundary=neumann", "problem.a=0", "problem.seed=2", "multigrid.tolerance=0.5", "multigrid.bottom_box=8",
                 "run.repeats=1", "run.warmup=0", "run.deterministic=true", "comm.ranks_per_node=1"]  # fmt: skip
        self.refused(1, *QUICK, *fixed, expected=[f"command line: {word.split('=')[0]}: {FIXED}" for word in fixed])
        self.refused(1, *QUICK, "run.steps=2", expected=["run.steps: needs run.mode = solve or survey"])
        self.refused(1, "--benchmark", "run.mode=solve", expected=["run.mode = benchmark: given twice (before: solve)"])
        self.refused(1, "--quick", expected=["command line: --quick: needs --benchmark"])

    def test_those_of_a_deck_are_left_out(self) -> None:
        plan = self.planned(1, *QUICK, INPUTS / "quickstart.toml")
        self.assertEqual(plan["unknowns"], 64**3)
        (remark,) = (remark for remark in plan["remarks"] if remark.endswith(FIXED))
        for key in ("problem.box", "problem.boxes", "problem.coefficients", "problem.rhs", "run.repeats"):
            self.assertIn(f"{key} (", remark)

    def test_the_deck_is_the_option(self) -> None:
        deck = INPUTS / "benchmark.toml"
        self.assertEqual(self.text(None, "--print-deck", deck), self.text(None, "--print-deck", "--benchmark"))
        self.assertEqual(self.text(None, "--print-deck", deck, "--benchmark", "--quick"), self.text(None, "--print-deck", *QUICK))

    def test_the_box_is_the_first_that_takes_a_quarter_of_the_memory_whatever_a_variable_says(self) -> None:
        variable = ["env", "SLURM_MEM_PER_NODE=80"]
        result = self.ended(1, under=variable)
        memory = result["memory"]
        self.assertEqual(result["run"]["environment"]["SLURM_MEM_PER_NODE"], "80")
        self.assertGreater(memory["bytes"], 80 * 2**20)
        self.assertLessEqual(memory["bytes"], memory["machine_bytes"])
        self.assertEqual(memory["machine_bytes"], os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"))
        self.assertIn(f"grids of {100 * memory['grids_bytes'] / memory['machine_bytes']:.2f}% of the machine", result["not_to_be_submitted"])
        widths = [step * 2**n for n in range(4, 9) for step in (4, 5, 6, 7)]
        quarter = memory["bytes"] / 4
        for ranks in (1, 2, 3):
            run = self.run_keel(ranks, "--dry-run", "--benchmark", under=variable)
            self.assertEqual(run.status, 0, run)
            plan = run.record("plan")
            width = plan["levels"][0]["box"]
            arrays = ranks * plan["array_bytes"]
            self.assertGreaterEqual(arrays, quarter)
            # The finest grid, by which the box is chosen, has seven eighths of all cells.
            several = plan["unknowns"] > ranks * width**3
            narrower = arrays / 2 if several else arrays * (widths[widths.index(width) - 1] / width) ** 3
            self.assertLess(0.9 * narrower, quarter)
            self.assertEqual(plan["levels"][-1]["box"], next(n for n in (4, 5, 6, 7) if width % n == 0 and width // n & (width // n - 1) == 0))

    def test_more_threads_than_processors_are_marked(self) -> None:
        result = self.ended(1, threads=2 * (os.cpu_count() or 1) + 1)
        self.assertIn("more threads than processors (see the warning)", result["not_to_be_submitted"])
        self.assertTrue(result["run"]["shared_cores"])

    def test_a_run_that_fails_or_is_interrupted_has_no_result_to_submit(self) -> None:
        run = self.run_keel(1, *QUICK, "multigrid.max_cycles=2")
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (1, "RESULT INVALID"), run)
        result = json.loads(run.files["RESULT.json"])
        self.assertEqual(against_schema([result]), [])
        self.assertIn("RESULT INVALID", result["not_to_be_submitted"])
        self.assertIsNone(result["result"]["fom"])
        late = self.run_keel(1, *QUICK, "run.time_limit=0.2")
        self.assertEqual(late.status, 4, late)
        self.assertRegex(late.stdout.splitlines()[-1], r"^RESULT INTERRUPTED  \d+ of \d+ solves \(run.time_limit\)$")
        self.assertNotIn("RESULT.json", late.files)
        self.assertEqual(late.records("benchmark"), [])

    def started(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """A short benchmark in a folder that has files already."""
        command = [self.keel, *QUICK, "run.triad_mb=1", "multigrid.max_cycles=1", *words]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | ALONE)

    def test_a_file_that_is_there_is_kept_and_the_run_refused_before_it_computes(self) -> None:
        there = "is there already; choose another, or remove it"

        def link(path: Path) -> None:
            path.with_name("theirs").write_text("an hour's run")
            path.symlink_to("theirs")

        cases: list[tuple[Callable[[Path], object], str]] = [
            (lambda path: path.write_text("an hour's run"), there),
            (link, there),
            (lambda path: path.symlink_to("nowhere"), there),
            (os.mkfifo, there),
            (Path.mkdir, "is a folder; give a file name"),
        ]
        for number, (make, reason) in enumerate(cases):
            for name in ("RESULT.json", "mine.json"):
                folder = self.folder / f"{number}{name}"
                folder.mkdir()
                make(folder / name)
                before = [(path.name, path.lstat().st_ino, path.lstat().st_size) for path in folder.iterdir()]
                done = self.started(folder, *([f"output.result={name}"] if name != "RESULT.json" else []), "output.json=run.json")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                self.assertEqual(" ".join(done.stderr.split()), f'output.result = "{name}": {reason}')
                after = [(path.name, path.lstat().st_ino, path.lstat().st_size) for path in folder.iterdir()]
                self.assertEqual(before, after)

    def test_the_result_has_the_name_that_the_deck_gives(self) -> None:
        there = self.file("RESULT.json", "an hour's run")
        done = self.started(self.folder, "output.result=second.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(json.loads((self.folder / "second.json").read_text())["record"], "benchmark")
        self.assertEqual(there.read_text(), "an hour's run")
        # A killed run leaves an empty file.
        third = self.file("third.json", "")
        with third.open() as theirs:
            flock(theirs, LOCK_EX)
            done = self.started(self.folder, "output.result=third.json")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("another run is writing to it", done.stderr)
        self.assertEqual(self.started(self.folder, "output.result=third.json").returncode, 1)
        self.assertTrue(third.read_text().endswith("}\n"))
        self.refused(1, *QUICK, "output.result=run.json", expected=['output.result = "run.json": is output.json, too'])
        self.refused(1, *QUICK, "output.result=no/such/file", expected=["there is no folder no/such"])
        self.refused(1, "output.result=mine.json", expected=["output.result: needs run.mode = benchmark or quick_benchmark"])
        self.text(1, "--print-deck", *QUICK, "output.result=/")

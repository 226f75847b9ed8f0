"""A study with the real keel: $KEEL_EXECUTABLE, which the build sets; skipped without."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from studies.execute.folder import RESERVE_SECONDS
from test_study_runs import Study, wait_for

ROOT = Path(__file__).resolve().parents[2]
KEEL = os.environ.get("KEEL_EXECUTABLE", "")

STUDY = f"""
name = "real"
claim = "counts depend on nothing that happens to a study"
deck = "{ROOT}/inputs/papers/seed_weak.toml"
law = "weak"
repeats = {{repeats}}
minutes = 1
[keys]
problem.box = 8
run.warmup = 0
run.triad_mb = 1
[[axis]]
key = "ranks"
values = [1, 2]
[[axis]]
key = "bottom.solver"
values = {{solvers}}
"""


@unittest.skipUnless(KEEL, "KEEL_EXECUTABLE names no keel")
class Real(Study):
    def setUp(self) -> None:
        super().setUp()
        self.environment = os.environ | {"KEEL": KEEL}

    def write_real(self, solvers: str, repeats: int) -> subprocess.CompletedProcess[str]:
        path = self.top / "real.toml"
        path.write_text(STUDY.format(solvers=solvers, repeats=repeats))
        return self.study("write", path, self.folder)

    def counts(self, solves: int) -> list[str]:
        """The scaling table of so many solves a point, without their number and times."""
        lines = self.study("collect", self.folder).stdout.splitlines()
        rows = [line.split(" | ") for line in lines if line.startswith("| ")]
        solved = {row[3] for row in rows[2:] if len(row) > 8 and row[3] != "0"}  # a point that failed solved none
        self.assertEqual(solved, {str(solves)})
        return [" | ".join(row[:3] + row[8:]) for row in rows]

    def test_a_study_from_file_to_page(self) -> None:
        made = self.write_real('["bicgstab", "ca_bicgstab s=2"]', 2)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertIn("| ranks-2.solver-bicgstab | 2x1 | 1 | 2 | 1024 | ", made.stdout)
        done = self.study("run", self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        page = self.study("report", self.folder)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertIn("Nothing: every start is done", (self.folder / "report.html").read_text())

    def test_a_solver_that_cannot_be_is_refused_before_anything_runs(self) -> None:
        made = self.write_real('["cg", "cgg"]', 2)
        self.assertEqual(made.returncode, 2)
        self.assertIn('ranks-1.solver-cgg: error: command line: bottom.solver = "cgg": unknown solver; choose ', made.stderr)
        self.assertFalse(self.folder.exists())

    def test_a_run_that_the_job_has_no_time_for_ends_by_itself(self) -> None:
        self.assertEqual(self.write_real('["cg"]', 1_000_000).returncode, 0)
        self.environment["KEEL_END"] = str(int(time.time()) + RESERVE_SECONDS + 7)
        done = self.study("run", self.folder)
        self.assertEqual((done.returncode, self.words()), (1, ["interrupted", "missing"]))
        self.assertRegex(done.stdout, r"interrupted  ranks-2.solver-cg, round 1: by its time limit; \d+ of 1000000 solves done")

    def whole(self, solvers: str) -> list[str]:
        """The counts of a study to which nothing happened; they do not depend on the number of solves."""
        self.folder = self.top / "whole"
        self.write_real(solvers, 1)
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        return self.counts(1)

    def test_two_runners_make_no_start_twice_and_the_same_counts(self) -> None:
        solvers = '["cg", "ca_cg s=2"]'
        self.write_real(solvers, 3)
        command = [sys.executable, ROOT / "scripts/study", "run", self.folder]
        both = [subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(2)]  # fmt: skip
        for runner in both:
            runner.wait()
        self.assertEqual(self.words(), ["done"] * 4)
        self.assertEqual(len(list(self.folder.glob("runs/*/*.claim"))), 4)
        self.assertEqual(self.counts(3), self.whole(solvers))

    def test_a_disk_that_was_full_for_a_while_changes_no_count(self) -> None:
        disk = self.top / "disk"
        disk.mkdir()
        mounted = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
        if not shutil.which("mount") or subprocess.run(mounted, capture_output=True, check=False).returncode:
            self.skipTest("no right to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        self.folder = disk / "made"
        self.write_real('["cg"]', 300)  # whose records do not fit
        done = self.study("run", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed", self.words())
        self.assertNotIn("done", self.words())
        self.assertIn("No space left on device", done.stdout)
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        self.assertEqual(self.counts(300), self.whole('["cg"]'))

    def test_a_deck_that_fails_at_one_point_stops_no_other(self) -> None:
        path = self.top / "real.toml"
        path.write_text(STUDY.format(solvers="[2, 40]", repeats=1).replace("bottom.solver", "multigrid.max_cycles"))
        self.assertEqual(self.study("write", path, self.folder).returncode, 0)
        done = self.study("run", self.folder)
        self.assertEqual((done.returncode, self.words()), (1, ["failed", "done"] * 2))
        self.assertIn("failed  ranks-2.max_cycles-2, round 1: check failed: ", done.stdout)
        rows = self.counts(1)
        self.assertEqual([sum(word in row for row in rows) for word in ("max_cycles 40", "max_cycles-2")], [2, 2])

    def test_a_launcher_that_is_killed_leaves_a_study_that_ends_with_the_same_counts(self) -> None:
        self.assertEqual(self.write_real('["cg"]', 500).returncode, 0)
        child = self.begin()
        runs = self.folder / "runs/ranks-2.solver-cg"
        wait_for(lambda: any(b'"solve"' in path.read_bytes() for path in runs.glob("*.json")), 60)
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, _, rest = stat.read_text().partition("(")[2].rpartition(") ")
                if name.startswith("mpi") and rest.split()[1] == str(child.pid):
                    os.kill(int(stat.parent.name), signal.SIGKILL)
        child.wait()
        self.assertIn("failed", self.words())
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        resumed = self.counts(500)
        self.assertEqual(resumed, self.whole('["cg"]'))
        self.assertEqual(len(resumed), 4)

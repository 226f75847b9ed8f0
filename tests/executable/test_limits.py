"""Limits: of a process' memory (ulimit), which a run obeys as it obeys a node's, and of the time of tests."""

import json
import re
import subprocess

from keel_runner import NIGHTLY, ONCE, ROOT, KeelTest, Run

QUICK = ("--benchmark", "--quick")
SHORT = [*ONCE, "multigrid.tolerance=0.5", "bottom.tolerance=0.5"]


def limited(option: str, kilobytes: int) -> list[str]:
    """The words of a shell that starts a program under a limit."""
    return ["bash", "-c", f'ulimit {option} {kilobytes}; exec "$@"', "limited"]


class OfMemory(KeelTest):
    def taken(self, ranks: int) -> int:
        """The kilobytes that a rank's MPI and libraries have reserved. With little more, Open MPI itself may never begin."""
        kilobytes = 1000000
        refused = self.run_keel(ranks, "problem.box=512", under=limited("-v", kilobytes))
        found = re.search(r"leaves a rank ([\d.]+) MB", " ".join(refused.stderr.split()))
        assert found, refused
        return kilobytes - int(float(found[1]) / 1.024e-3)

    def both(self, ranks: int | None, *words: object, under: list[str]) -> Run:
        """The run, which a dry run judges as it does."""
        run, dry = (self.run_keel(ranks, *action, *words, under=under) for action in ([], ["--dry-run"]))
        self.assertIn((run.status, dry.status), ((0, 0), (2, 2)), f"{run}{dry}")
        return run

    def test_what_does_not_fit_is_refused_by_what_fits(self) -> None:
        for ranks, option, kilobytes in ((1, "-v", 700000), (2, "-v", 700000), (1, "-d", 400000)):
            under = limited(option, kilobytes)
            refused = self.both(ranks, "problem.box=512", under=under)
            self.assertEqual((refused.status, refused.stdout, refused.files), (2, "", {}), refused)
            found = re.search(r"choose problem\.box = (\d+) or less, .*\(ulimit (-.) leaves a rank ([\d.]+) MB: raise it", refused.stderr)
            assert found, refused
            self.assertEqual(found[2], option)
            # MPI and threads have reserved a part.
            self.assertLess(float(found[3]), 1.024e-3 * kilobytes - 10)
            self.assertEqual(self.both(ranks, f"problem.box={int(found[1]) // 2}", *SHORT, under=under).status, 0)

    def test_a_run_that_begins_has_the_memory_that_it_needs(self) -> None:
        dirichlet = ("problem.boundary=dirichlet", "problem.box=64", *SHORT)
        matrix = ("run.mode=spmv", *ONCE)
        solving = (*matrix, "problem.matrix=stencil27", "problem.box=40", "run.solve=true", "bottom.tolerance=0.5")
        decks = [("problem.box=64", "multigrid.interpolation=linear", "multigrid.precision=mixed", *SHORT),
                 (*dirichlet, "bottom.solver=amg", "multigrid.bottom_box=32"),
                 ("run.mode=exchange", "problem.box=128", "comm.ghost_depth=4", *ONCE),
                 solving,
                 (*solving, "bottom.solver=amg"),
                 (*matrix, "problem.matrix=stencil7", "problem.box=48", "problem.ordering=rcm"),
                 (*matrix, "problem.matrix=random", "problem.rows=100000", "problem.columns=2")]  # fmt: skip
        taken = self.taken(2)
        more = range(40000, 400000, 40000) if NIGHTLY else (40000, 130000, 350000)
        for words in decks:
            # A dry run makes the whole of a matrix on one rank, and with multigrid its levels: it may need more than a rank.
            judge = self.run_keel if "run.mode=spmv" in words else self.both
            statuses = [judge(2, *words, under=limited("-v", taken + kilobytes)).status for kilobytes in more]
            self.assertEqual(set(statuses), {0, 2}, words)
        triad = self.run_keel(1, "problem.box=8", "run.triad_mb=2000", under=limited("-v", 700000), quick=False)
        self.assertEqual(triad.status, 2, triad)
        self.assertIn("run.triad_mb takes 2.0 GB of a rank; choose less (ulimit -v leaves a rank", triad.stderr)

    def test_a_benchmark_takes_the_smaller_problem_and_is_marked(self) -> None:
        for option, kilobytes in (("-v", 700000), ("-d", 400000)):
            dry = self.run_keel(1, "--dry-run", "--benchmark", under=limited(option, kilobytes))
            self.assertEqual(dry.status, 0, dry)
            self.assertLess(dry.record("plan")["predicted_bytes"], 1024 * kilobytes / 2)
            run = self.run_keel(1, *QUICK, "multigrid.max_cycles=1", under=limited(option, kilobytes))
            mark = f"ulimit {option} limits the memory of a rank"
            self.assertRegex(run.flat, f"NOT TO BE SUBMITTED: .*{mark}")
            result = json.loads(run.files["RESULT.json"])
            self.assertIn(mark, result["not_to_be_submitted"])
            self.assertLess(result["memory"]["bytes"], 1024 * kilobytes)
        # Marked where the limit makes the problem smaller than the node would.
        free = self.run_keel(1, *QUICK, "multigrid.max_cycles=1", under=limited("-v", 2**40))
        self.assertNotIn("ulimit", free.stdout)
        self.refused(1, "--benchmark", under=limited("-d", 50000), expected=["; the rules have no smaller problem (ulimit -d leaves"])

    def test_a_rank_that_gets_no_more_memory_says_so(self) -> None:
        """Entries of a matrix are expected to be spread evenly; here the first rank has all of them."""
        size, full = 4000, 500
        entries = "".join(f"{i} {j}\n" for i in range(1, full + 1) for j in range(1, size + 1))
        header = f"%%MatrixMarket matrix coordinate pattern general\n{size} {size} {full * size}\n"
        name = self.file("uneven.mtx", header + entries)
        run = self.run_keel(4, "run.mode=spmv", f"problem.matrix={name}", *ONCE, under=limited("-v", self.taken(4) + 65000))
        self.assertEqual(run.status, 3, run)
        self.assertRegex(run.stderr, r"(?m)^keel: rank 0: no more memory; it held [\d.]+ MB at most\. Choose a smaller problem")


class OfTime(KeelTest):
    seconds = 1

    def test_a_run_that_does_not_end_is_told_with_the_load(self) -> None:
        for ranks in (None, 2):
            with self.assertRaisesRegex(AssertionError, r"no end after \d+ s, with a load of [\d.]+ on \d+ processors: .*repeats=1000000"):
                self.run_keel(ranks, "problem.box=8", "problem.boxes=[2,1,1]", "run.repeats=1000000")

    def test_a_test_that_does_not_end_is_told_with_the_load(self) -> None:
        started = [ROOT / "tests/in_time", "1", "sleep", "600"]
        done = subprocess.run(started, capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 124)
        self.assertRegex(done.stderr, r"^no end after \d+ s, with a load of [\d.]+ [\d.]+ [\d.]+ on \d+ processors\n$")
        self.assertEqual(subprocess.run([ROOT / "tests/in_time", "60", "bash", "-c", "exit 77"], check=False).returncode, 77)

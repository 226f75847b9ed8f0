"""keel_hypre, where it was built: the same matrix, right-hand side and residual as Keel's, by somebody else's library."""

import json
import unittest
from collections.abc import Sequence
from math import log10
from pathlib import Path

from keel_runner import INPUTS, ONCE, ROOT, KeelTest, Record, Run
from record_schema import against_schema

# Whole domains and unions, each boundary, one value of the coefficients and others; on so many ranks, by methods that can: where
# coefficients vary PFMG alone ends above the tolerance, and where they are anisotropic conjugate gradients around it.
BOTH = ("pcg_pfmg", "pfmg")
PROBLEMS: list[tuple[int, Sequence[str], list[str]]] = [
    (1, BOTH, ["problem.box=8", "problem.boxes=[2,2,2]"]),
    (2, BOTH, ["problem.box=8", "problem.boxes=[2,3,1]", "problem.boundary=neumann", "problem.rhs=random"]),
    (3, BOTH[:1], ["problem.box=16", "problem.boxes=[2,2,2]", "problem.boundary=dirichlet", "problem.coefficients=ball"]),
    (8, BOTH[:1], ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "problem.alpha=wave", "problem.b=20"]),
    (2, BOTH, ["problem.box=8", "problem.boundary=['dirichlet','periodic','neumann/dirichlet']", "problem.data=wave",
               "problem.a=0"]),
    (2, BOTH[:1], ["problem.box=8", "problem.shape=L", "problem.boxes=[2,2,2]", "problem.outside=neumann",
                   "problem.placement=scattered"]),
    (2, BOTH[1:], ["problem.box=8", "problem.boxes=[2,2,2]", "problem.anisotropy=[1,1,10]", "problem.storage=blocks"]),
]  # fmt: skip


class Peers(KeelTest):
    def setUp(self) -> None:
        if not self.peer().is_file():
            self.skipTest("keel_hypre was not built (KEEL_PEERS=ON, Debian: libhypre-dev)")

    @classmethod
    def peer(cls) -> Path:
        return cls.keel.parent / "keel_hypre"

    def run_peer(self, ranks: int | None, *words: object, records: bool = True) -> Run:
        own, self.keel = self.keel, self.peer()
        try:
            return self.run_keel(ranks, *words, records=records, quick=False)
        finally:
            self.keel = own

    def solved(self, ranks: int, *words: object) -> Record:
        run = self.run_peer(ranks, *words)
        self.assertEqual((run.status, run.stderr, run.stdout.splitlines()[-1]), (0, "", "RESULT VALID"), run)
        self.assertEqual(against_schema(run.all_records), [])
        return run.record("peer")

    def test_its_solution_is_keel_s(self) -> None:
        for ranks, methods, words in PROBLEMS:
            for method in methods:
                with self.subTest(ranks=ranks, words=words, method=method):
                    peer = self.solved(ranks, f"--method={method}", *words, *ONCE)
                    keel = self.valid(ranks, *words, *ONCE, "multigrid.max_cycles=200").record("solve")
                    self.assertLessEqual(peer["residual"], 1.001e-10)
                    self.assertAlmostEqual(peer["u_l2"] / keel["u_l2"], 1, delta=2e-7)

    def test_its_solution_is_the_exact_one(self) -> None:
        golden = json.loads((ROOT / "tests/golden/exact_helm_const_tri.json").read_text())
        (exact,) = (case["l2"] for case in golden if case["N"] == 32)
        peer = self.solved(2, INPUTS / "compare_hpgmg.toml", "problem.box=16", "run.repeats=2", "multigrid.tolerance=1e-12")
        self.assertAlmostEqual(peer["u_l2"] / exact, 1, delta=1e-10)
        self.assertEqual((len(peer["seconds"]), peer["cells"], peer["unknowns"]), (2, [32, 32, 32], 32**3))

    def test_it_takes_as_few_iterations_as_reach_the_tolerance(self) -> None:
        words = ["problem.box=8", "problem.boxes=[2,2,2]", *ONCE]
        loose, tight = (self.solved(1, *words, f"multigrid.tolerance={tolerance}") for tolerance in ("1e-4", "1e-10"))
        self.assertLess(loose["iterations"], tight["iterations"])
        for peer, tolerance in ((loose, 1e-4), (tight, 1e-10)):
            self.assertLessEqual(peer["residual"], 1.001 * tolerance)
            # An iteration gains less than three digits: one fewer would not do.
            self.assertGreater(log10(peer["residual"]), log10(tolerance) - 3)

    def test_what_a_residual_cannot_reach_is_invalid(self) -> None:
        run = self.run_peer(1, "problem.box=8", *ONCE, "multigrid.tolerance=1e-30")
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (1, "RESULT INVALID"), run)
        self.assertFalse(run.record("peer")["valid"])

    def test_what_has_no_peer_is_refused_with_the_remedy(self) -> None:
        for words, expected in (
            (["problem.a=0"], "without a Dirichlet face the matrix is singular"),
            (["run.mode=krylov"], "only a solve has a peer; choose solve"),
            (["run.steps=3"], "a peer solves one problem again and again; leave it out"),
            (["problem.ranks=8", "comm.ranks_per_node=4"], "imagines ranks, and a peer runs; leave it out"),
            (["--method=amg"], "--method: choose pcg_pfmg or pfmg"),
            (["--dry-run"], "keel_hypre knows --method and --help alone"),
            (["problem.bax=8"], 'unknown key; [problem] has dimensions, box'),
            (["problem.box=6", "multigrid.bottom_box=4"], "not reached by halving problem.box = 6"),
        ):
            with self.subTest(words=words):
                run = self.run_peer(1, *words)
                self.assertEqual((run.status, run.stdout, run.files), (2, "", {}), run)
                self.assertEqual(run.stderr.count(expected), 1, run)

    def test_help_says_how_it_is_used(self) -> None:
        run = self.run_peer(None, "--help", records=False)
        self.assertEqual((run.status, run.stdout.split()[:2]), (0, ["usage:", "keel_hypre"]), run)


if __name__ == "__main__":
    unittest.main()

"""keel_hypre and keel_kinsol, where they were built: the same matrix, or the same map, by somebody else's library."""

import json
import math
import unittest
from collections.abc import Sequence
from math import log10
from pathlib import Path

from keel_runner import INPUTS, NIGHTLY, ONCE, ROOT, KeelTest, Record, Run
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


class PeerTest(KeelTest):
    program: str
    package: str

    def setUp(self) -> None:
        if not self.peer().is_file():
            self.skipTest(f"{self.program} was not built (KEEL_PEERS=ON, Debian: {self.package})")

    @classmethod
    def peer(cls) -> Path:
        return cls.keel.parent / cls.program

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


class Peers(PeerTest):
    program = "keel_hypre"
    package = "libhypre-dev"

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
            (["problem.ranks=8", "comm.ranks_per_node=4"], "is for virtual ranks, and a peer runs; leave it out"),
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


class BoomerAmg(PeerTest):
    program = "keel_boomeramg"
    package = "libhypre-dev"
    DECK = INPUTS / "amg.toml"

    def test_its_hierarchy_is_nearly_keel_s_and_its_solution_the_known_one(self) -> None:
        for ranks, words in (
            (1, ["problem.box=12", "amg.smoothing=gauss_seidel"]),
            (3, ["problem.box=12"]),
            (4, ["problem.box=16", "problem.matrix=stencil7", "problem.ordering=random"]),
        ):
            with self.subTest(ranks=ranks, words=words):
                peer = self.solved(ranks, self.DECK, *words, *ONCE)
                keel = self.valid(ranks, self.DECK, *words, *ONCE)
                amg = keel.record("amg")
                self.assertLess(abs(peer["iterations"] - keel.record("solve")["iterations"]), 4)
                # Both are PMIS, of other random numbers.
                self.assertAlmostEqual(peer["operator_complexity"] / amg["operator_complexity"], 1, delta=0.15)
                self.assertLessEqual(abs(peer["levels"] - len(amg["levels"])), 1)
                self.assertLessEqual(peer["residual"], 1.01e-8)
                rows = keel.record("spmv")["rows"]
                known = math.sqrt(sum(math.sin(0.7 * row + 1) ** 2 for row in range(rows)))
                self.assertAlmostEqual(peer["u_l2"] / known, 1, delta=1e-5)

    def test_its_own_way_takes_no_more_iterations(self) -> None:
        words = [self.DECK, "problem.box=12", *ONCE]
        self.assertLessEqual(*(self.solved(2, f"--method={m}", *words)["iterations"] for m in ("defaults", "like_keel")))

    def test_too_few_iterations_are_invalid(self) -> None:
        run = self.run_peer(2, self.DECK, "problem.box=12", "bottom.max_iterations=2", *ONCE)
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (1, "RESULT INVALID"), run)
        self.assertEqual((run.record("peer")["valid"], run.record("peer")["iterations"]), (False, 2))

    def test_what_has_no_peer_is_refused_with_the_remedy(self) -> None:
        for words, expected in (
            ([INPUTS / "quickstart.toml"], 'choose run.mode = "spmv", run.solve = true'),
            ([self.DECK, "bottom.preconditioner=none"], 'and bottom.preconditioner = "amg"'),
            ([self.DECK, "bottom.solver=bicgstab"], "the peer is conjugate gradients; choose cg"),
            ([self.DECK, "problem.ranks=8", "comm.ranks_per_node=4"], "is for virtual ranks, and a peer runs; leave it out"),
            ([self.DECK, "--method=pfmg"], "--method: choose like_keel or defaults"),
        ):
            with self.subTest(words=words):
                run = self.run_peer(1, *words)
                self.assertEqual((run.status, run.stdout, run.files), (2, "", {}), run)
                self.assertEqual(" ".join(run.stderr.split()).count(expected), 1, run)


class Kinsol(PeerTest):
    program = "keel_kinsol"
    package = "libsundials-dev"
    HEAT = INPUTS / "kinsol_heat.toml"
    MIXTURE = INPUTS / "kinsol_mixture.toml"

    def test_both_take_the_same_evaluations_to_the_same_fixed_point(self) -> None:
        cases: list[tuple[int, str, list[object]]] = [
            (2, "mgs", [self.HEAT]),
            (1, "icwy", [self.MIXTURE]),
            (2, "dcgs2", [self.HEAT, "problem.equation=heat_1", "anderson.depth=5", "anderson.damping=0.7"]),
            (2, "cgs2", [self.HEAT, "problem.equation=bratu", "problem.kappa=6.7", "anderson.depth=5", "problem.dimensions=2",
                         "problem.boxes=[2,2,1]"]),
        ]  # fmt: skip
        for ranks, method, given in cases if NIGHTLY else cases[:2]:
            words = [*given, f"anderson.orthogonalisation={method}", *ONCE]
            peer = self.solved(ranks, *words)
            keel = self.valid(ranks, *words).record("solve")
            with self.subTest(words=words):
                self.assertEqual((peer["evaluations"], peer["method"]), (keel["evaluations"], method))
                self.assertAlmostEqual(peer["u_l2"] / keel["u_l2"], 1, delta=1e-7)
                for theirs, ours in list(zip(peer["residuals"], keel["residuals"], strict=True))[:5]:
                    self.assertAlmostEqual(theirs / ours, 1, delta=1e-6)

    def test_its_success_is_not_believed(self) -> None:
        # Its DCGS-2 is the one with the mistake: the values grow beyond all bounds, and it calls that converged.
        words = [self.HEAT, "anderson.orthogonalisation=dcgs2", "anderson.max_iterations=300", *ONCE]
        run = self.run_peer(2, *words)
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (1, "RESULT INVALID"), run)
        peer = run.record("peer")
        self.assertEqual((peer["outcome"], peer["residual"], peer["valid"]), ("KIN_SUCCESS", None, False))
        self.assertEqual(self.valid(2, *words).record("solve")["outcome"], "converged")

    def test_what_it_cannot_do_is_refused_with_the_remedy(self) -> None:
        run = self.run_peer(1, self.HEAT, "anderson.orthogonalisation=dcgs2_fused", "anderson.max_condition=1e8", "anderson.inner=1",
                            "anderson.test=residual_2")  # fmt: skip
        self.assertEqual((run.status, run.stdout, run.files), (2, "", {}), run)
        for expected in ("choose mgs or icwy or cgs2 or dcgs2", "KINSOL does not look at it; give 0", "accelerates every iteration, and has none between",
                         'KINSOL tests max|u_{i+1} - u_i|'):  # fmt: skip
            self.assertEqual(run.stderr.count(expected), 1, (expected, run))
        for words, expected in (
            (["run.mode=krylov"], "KINSOL finds fixed points; choose fixed_point"),
            (["anderson.depth=0"], "there is nothing to accelerate with"),
            (["run.map=cycle"], "KINSOL tests steps; choose solve"),
            (["--method=mgs"], "--method"),
            (["--dry-run"], "keel_kinsol knows --help alone"),
        ):
            with self.subTest(words=words):
                deck = [] if "run.mode=krylov" in words else [self.HEAT]
                run = self.run_peer(1, *deck, *words)
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assertIn(expected, run.stderr)

    def test_help_says_how_it_is_used(self) -> None:
        run = self.run_peer(None, "--help", records=False)
        self.assertEqual((run.status, run.stdout.split()[:2]), (0, ["usage:", "keel_kinsol"]), run)


if __name__ == "__main__":
    unittest.main()

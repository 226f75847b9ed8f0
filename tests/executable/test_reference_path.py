"""The fast defaults: the bits of multigrid.reference_path, on every kind of deck, and what a user may type beside them."""

from keel_runner import INPUTS, ONCE, KeelTest, Run, at_once

# A bit that differs does so from the first cycle on: three of them will do.
WIDE = ["problem.box=32", "problem.boxes=[2,2,1]", "problem.coefficients=smooth", "problem.rhs=wave", "run.deterministic=true",
        "multigrid.tolerance=1e-3", *ONCE]  # fmt: skip
REFERENCE = "multigrid.reference_path=true"


def wide_but(words: list[str]) -> list[str]:
    """The wide boxes' words with some of their keys and others given."""
    given = {word.partition("=")[0] for word in words}
    return [*(word for word in WIDE if word.partition("=")[0] not in given), *words]


def is_fused(run: Run) -> bool:
    return bool(run.timer("smooth+restrict"))


class ReferencePath(KeelTest):
    def test_defaults_change_no_bit_and_fall_back_where_they_do_not_apply(self) -> None:
        # Cycles, accelerators and singular problems: tests/solvers/multigrid/test_fused.cpp.
        cases: list[tuple[bool, list[str]]] = [
            (True, []),
            (True, ["problem.box=36", "problem.boxes=[3,1,1]", "multigrid.bottom_box=9"]),  # odd boxes below
            (True, ["problem.shape=L", "problem.boxes=[2,2,2]", "multigrid.bottom_box=8"]),
            (True, ["problem.boundary=['periodic','dirichlet','neumann/dirichlet']", "multigrid.precision=mixed"]),
            (True, ["multigrid.agglomerate=40000", "problem.boxes=[2,2,2]"]),
            (False, ["multigrid.smoother=jacobi", "multigrid.max_cycles=200"]),
            (False, ["multigrid.smoother=chebyshev", "problem.boundary=dirichlet", "multigrid.max_cycles=200"]),
            (False, ["problem.box=16", "comm.scheme=three_step"]),  # narrow
            (False, ["multigrid.pre=17", "multigrid.post=17"]),  # more half sweeps than cells across
        ]

        def hold(case: tuple[bool, list[str]]) -> None:
            fused, words = case
            fast, reference = (self.valid(2, *wide_but(words), *more) for more in ([], [REFERENCE]))
            for name in ("residuals", "u_l2", "bottom", "reductions"):
                self.assertEqual(fast.record("solve")[name], reference.record("solve")[name], words)
            self.assertEqual((is_fused(fast), is_fused(reference)), (fused, False), words)

        at_once(2, hold, cases)

    def test_a_device_fuses_nothing_unless_told_to(self) -> None:
        if "gpu_emulated" not in self.text(None, "--backends"):
            self.skipTest("gpu_emulated is not compiled in")
        words = ["run.backend=gpu_emulated", "problem.box=32", "problem.boxes=[1,1,1]", "multigrid.tolerance=1e-2", *ONCE]
        default, told = self.valid(1, *words), self.valid(1, *words, "multigrid.fused_box=32")
        self.assertEqual((is_fused(default), is_fused(told)), (False, True))
        self.assertEqual(default.record("solve")["residuals"], told.record("solve")["residuals"])

    def test_what_is_typed_beside_the_reference_path_holds(self) -> None:
        printed = self.text(None, "--print-deck", INPUTS / "quickstart.toml", REFERENCE, "multigrid.ghost_colours=needed")
        for line in ('storage = "boxes"', 'ghost_colours = "needed"', '#fused_box = "auto"'):
            self.assertIn(f"\n{line}\n", printed)

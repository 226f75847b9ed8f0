"""A run's solution: of second order, from the seed it was given."""

from itertools import pairwise

from keel_runner import ONCE, KeelTest, at_once

SAME = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", *ONCE]
DETERMINISTIC = "run.deterministic=true"
BOUNDARIES = ["periodic", "dirichlet", "neumann", '["periodic","dirichlet","neumann"]']


class Order(KeelTest):
    def test_the_error_falls_with_the_square_of_h_for_every_boundary_and_coefficient(self) -> None:
        # The check of a valid run wants an order of 1.8 to 2.2.
        words = ["problem.box=16", "problem.boxes=[2,2,2]", "problem.rhs=manufactured", "multigrid.max_cycles=80", *ONCE]
        cases = [(f"problem.boundary={b}", f"problem.coefficients={c}") for b in BOUNDARIES for c in ("constant", "smooth", "ball")]
        for run in at_once(3, lambda case: self.valid(1, *words, *case), cases):
            self.assertRegex(run.stdout, r"(?m)^CHECK  discretisation_order +PASS .*\(want 1.8..2.2\)$")

    def test_a_grid_too_coarse_to_have_an_order_is_said_to_be(self) -> None:
        for words in (["problem.box=4", "problem.boxes=[2,1,1]"], ["problem.box=8", "problem.boxes=[1,1,1]"]):
            run = self.valid(1, *words, "problem.rhs=manufactured", "multigrid.bottom_box=1", *ONCE)
            self.assertRegex(run.stdout, r"(?m)^CHECK  discretisation_order +PASS .*, but the grid is too coarse to tell\)$")
        run = self.valid(1, "problem.box=8", "problem.boxes=[1,1,1]", "problem.rhs=manufactured", *ONCE)
        self.assertNotIn("discretisation_order", run.stdout)  # two levels: cycles solve on h alone

class RandomRightSide(KeelTest):
    def solution(self, ranks: int, seed: int) -> tuple[list[float], float]:
        # Singular, so that the mean that is taken off is tested as well.
        words = ["problem.a=0", "problem.rhs=random", f"problem.seed={seed}", DETERMINISTIC]
        run = self.valid(ranks, *SAME, *words)
        return run.record("solve")["residuals"], run.record("solve")["u_l2"]

    def test_a_seed_gives_the_same_right_side_on_any_ranks(self) -> None:
        self.assertEqual(self.solution(3, seed=5), self.solution(1, seed=5))

    def test_different_seeds_give_different_right_sides(self) -> None:
        for (residuals, u_l2), (others, other_u_l2) in pairwise(self.solution(1, seed) for seed in (0, 1, 2)):
            self.assertNotEqual(u_l2, other_u_l2)
            self.assertNotEqual(residuals[1], others[1])

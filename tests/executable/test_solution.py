"""A run's solution: the same on any ranks and threads, of second order, from the seed it was given."""

from itertools import pairwise, product

from keel_runner import ONCE, KeelTest, Record, at_once

SAME = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", *ONCE]
DETERMINISTIC = "run.deterministic=true"
BOUNDARIES = ["periodic", "dirichlet", "neumann", '["periodic","dirichlet","neumann"]']


class Independence(KeelTest):
    reference: Record

    @classmethod
    def setUpClass(cls) -> None:
        cls.reference = cls().solution(1, 1, DETERMINISTIC)

    def solution(self, ranks: int, threads: int, *words: str) -> Record:
        run = self.valid(ranks, *SAME, "problem.rhs=wave", *words, threads=threads)
        self.assertEqual((run.record("run")["ranks"], run.record("run")["threads"]), (ranks, threads))
        solve = run.record("solve")
        self.assertGreater(solve["cycles"], 5)
        return {name: solve[name] for name in ("residuals", "u_l2", "bottom")}

    def test_a_deterministic_run_is_bitwise_the_same_on_any_ranks_and_threads(self) -> None:
        cases = [(1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (8, 1), (8, 2)]
        solutions = at_once(2, lambda case: self.solution(*case, DETERMINISTIC), cases)
        for case, solution in zip(cases, solutions, strict=True):
            with self.subTest(ranks_threads=case):
                self.assertEqual(solution, self.reference)

    def test_a_deterministic_run_is_bitwise_the_same_however_it_communicates(self) -> None:
        cases = [
            ["problem.placement=lexicographic", "comm.ranks_per_node=2"],
            ["problem.placement=round_robin"],
            ["problem.placement=scattered"],
            ["comm.ghost_depth=2"],
            ["comm.neighbours=all", "comm.ghost_depth=3"],
        ]
        solutions = at_once(2, lambda words: self.solution(3, 1, DETERMINISTIC, *words), cases)
        for case, solution in zip(cases, solutions, strict=True):
            with self.subTest(words=case):
                self.assertEqual(solution, self.reference)

    def test_any_run_is_the_same_to_rounding(self) -> None:
        for ranks, threads in [(1, 2), (2, 1), (3, 2)]:
            with self.subTest(ranks=ranks, threads=threads):
                solution = self.solution(ranks, threads)
                for mine, other in zip(solution["residuals"], self.reference["residuals"], strict=True):
                    # Residuals are relative to max|f|: below 1e-13 of it all is rounding.
                    self.assertAlmostEqual(mine, other, delta=1e-9 * other + 1e-13)
                self.assertAlmostEqual(solution["u_l2"] / self.reference["u_l2"], 1, delta=1e-12)


class Order(KeelTest):
    def test_the_error_falls_with_the_square_of_h_for_every_boundary_and_coefficient(self) -> None:
        def order(case: tuple[str, str]) -> float:
            boundary, coefficients = case
            run = self.valid(1, "problem.box=16", "problem.boxes=[2,2,2]", "problem.rhs=manufactured",
                             f"problem.boundary={boundary}", f"problem.coefficients={coefficients}",
                             "multigrid.max_cycles=80", *ONCE)  # fmt: skip
            (check,) = (check for check in run.records("check") if check["name"] == "discretisation_order")
            return check["value"]

        cases = list(product(BOUNDARIES, ["constant", "smooth", "ball"]))
        for case, value in zip(cases, at_once(3, order, cases), strict=True):
            with self.subTest(case=case):
                self.assertGreaterEqual(value, 1.8)
                self.assertLessEqual(value, 2.2)

    def test_a_grid_too_coarse_to_have_an_order_is_said_to_be(self) -> None:
        for words in (["problem.box=4", "problem.boxes=[2,1,1]"], ["problem.box=8", "problem.boxes=[1,1,1]"]):
            run = self.valid(1, *words, "problem.rhs=manufactured", "multigrid.bottom_box=1", *ONCE)
            self.assertRegex(run.stdout, r"(?m)^CHECK  discretisation_order +PASS .*, but the grid is too coarse to tell\)$")
        run = self.valid(1, "problem.box=8", "problem.boxes=[1,1,1]", "problem.rhs=manufactured", *ONCE)
        self.assertNotIn("discretisation_order", run.stdout)  # two levels: cycles solve on h alone
        run = self.valid(1, "problem.box=16", "problem.boxes=[1,1,1]", "problem.rhs=manufactured", *ONCE)
        self.assertRegex(run.stdout, r"(?m)^CHECK  discretisation_order +PASS .*\(want 1.8..2.2\)$")


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

"""Random decks: what a valid run claims is so, and what may not change its result does not.

test_properties.py --keel PATH --mpiexec PATH [--examples N] [unittest's arguments]
    --examples: so many decks for each of the properties, the same ones every time
KEEL_EXAMPLES=N in the environment: so many instead, other ones every time.
Hypothesis makes a failing deck as simple as it can before it prints it; add what it prints as @example to keep it.
Exit status 77 without Hypothesis and numpy.
"""

import argparse
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "executable"))
from keel_runner import KeelTest, Record  # noqa: E402

try:
    from hypothesis import HealthCheck, example, given, settings
    from hypothesis import strategies as st

    import exact
    from problems import COMMUNICATION, PLACEMENTS, SOLVERS, Problem, methods, problems, unions, weak_problems
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-hypothesis, python3-numpy)")
    sys.exit(77)

parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
parser.add_argument("--keel", type=Path, required=True)
parser.add_argument("--mpiexec", type=Path, required=True)
parser.add_argument("--examples", type=int, default=5)
OPTIONS, REST = parser.parse_known_args()
KeelTest.keel = OPTIONS.keel.absolute()
KeelTest.mpiexec = OPTIONS.mpiexec
settings.register_profile(  # before the properties below, which take it as it is then
    "keel",
    max_examples=int(os.environ.get("KEEL_EXAMPLES", OPTIONS.examples)),
    derandomize="KEEL_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("keel")

DETERMINISTIC = "run.deterministic=true"
ONE_SOLVE = ["run.warmup=0", "run.repeats=1"]


class Property(KeelTest):
    def solve(
        self, problem: Problem, method: list[str], *words: str, ranks: int = 1, threads: int = 1
    ) -> Record | None:
        """The record of the (last) solve; nothing if Keel says that its answer is none."""
        run = self.run_keel(ranks, *problem.words(), *method, DETERMINISTIC, *ONE_SOLVE, *words, threads=threads)
        self.assertIn(run.status, (0, 1), run)
        self.assertEqual(run.stdout.splitlines()[-1] == "RESULT VALID", run.status == 0, run)
        return run.records("solve")[-1] if run.status == 0 else None

    def same(self, first: Record | None, second: Record | None, *names: str) -> None:
        """Both runs came to the same end, by the same bits."""
        self.assertEqual(first is None, second is None)
        if first is not None and second is not None:
            for name in names or ("residuals", "u_l2", "cycles"):
                self.assertEqual(first[name], second[name], name)

    def close(self, first: Record | None, second: Record | None) -> None:
        """Both runs have the same history to rounding."""
        if first is None or second is None:
            return  # one of them missed a tolerance by rounding
        for mine, other in zip(first["residuals"][:4], second["residuals"][:4]):
            self.assertAlmostEqual(mine, other, delta=1e-6 * other + 1e-10)
        self.assertAlmostEqual(first["u_l2"] / second["u_l2"], 1, delta=1e-5) if second["u_l2"] else None


class Solutions(Property):
    @given(problems(), methods(), st.integers(1, 3))
    def test_a_valid_solution_is_the_solution(self, problem: Problem, method: list[str], ranks: int) -> None:
        solve = self.solve(problem, method, ranks=min(ranks, problem.box_count))
        if solve is None:
            return
        truth = exact.solve(problem)
        # max |r| <= residual max |f|, so that |r|_2 is at most sqrt(n) times that.
        residual = (solve["residuals"][-1] + 1e-15) * truth.f_max * truth.unknowns**0.5
        self.assertAlmostEqual(
            solve["u_l2"], truth.u_l2, delta=truth.error_of_residual * residual + 1e-9 * truth.u_l2
        )

    @given(problems(), st.sampled_from(SOLVERS), st.sampled_from(SOLVERS))
    def test_any_bottom_solver_leads_to_the_same_solution(
        self, problem: Problem, one: list[str], other: list[str]
    ) -> None:
        limits = ["multigrid.bottom_box=2", "multigrid.max_cycles=200"]
        first, second = self.solve(problem, limits + one), self.solve(problem, limits + other)
        if first is not None and second is not None and second["u_l2"]:
            self.assertAlmostEqual(first["u_l2"] / second["u_l2"], 1, delta=1e-5)

    @given(weak_problems(), st.booleans())
    def test_a_solution_whose_digits_rounding_loses_is_warned_of(self, problem: Problem, krylov: bool) -> None:
        way = ["run.mode=krylov", "bottom.max_iterations=5000"] if krylov else ["multigrid.bottom_box=1", "multigrid.max_cycles=200"]
        run = self.run_keel(1, *problem.words(), *way, "bottom.solver=cg", *ONE_SOLVE)
        self.assertIn(run.status, (0, 1, 2), run)
        if run.status != 0 or any("16 digits" in text for text in run.record("run")["warnings"]):
            return
        truth = exact.u_l2(problem)
        self.assertAlmostEqual(run.record("solve")["u_l2"], truth, delta=1e-2 * truth)


class Relations(Property):
    @given(problems(), methods(), st.integers(-300, 300))
    def test_a_power_of_two_times_the_operator(self, problem: Problem, method: list[str], exponent: int) -> None:
        base = self.solve(problem, method)
        scaled = self.solve(problem.scaled(2.0**exponent), method)
        self.same(base, scaled, "residuals", "cycles")
        if base is not None and scaled is not None:
            self.assertEqual(scaled["u_l2"] * 2.0**exponent, base["u_l2"])

    @given(problems(), methods(), COMMUNICATION, PLACEMENTS, st.integers(2, 4), st.integers(2, 3))
    def test_ranks_threads_owners_of_boxes_and_the_way_of_messages(
        self, problem: Problem, method: list[str], words: list[str], placement: str, ranks: int, threads: int
    ) -> None:
        ranks = min(ranks, problem.box_count)
        if ranks == 1:
            words = [word for word in words if "ranks_per_node" not in word]
        spread = self.solve(problem, method, *words, f"problem.placement={placement}", ranks=ranks, threads=threads)
        self.same(self.solve(problem, method), spread)

    @given(problems(), methods(), st.integers(1, 2), st.integers(1, 2))
    def test_the_memory_of_boxes(self, problem: Problem, method: list[str], ranks: int, threads: int) -> None:
        ranks = min(ranks, problem.box_count)
        blocks = self.solve(problem, method, "problem.storage=blocks", ranks=ranks, threads=threads)
        self.same(self.solve(problem, method, "multigrid.reference_path=true"), blocks)

    @given(problems(), methods(), st.integers(1, 2))
    def test_a_solve_that_is_repeated(self, problem: Problem, method: list[str], ranks: int) -> None:
        ranks = min(ranks, problem.box_count)
        run = self.run_keel(ranks, *problem.words(), *method, DETERMINISTIC, "run.warmup=0", "run.repeats=3")
        self.assertIn(run.status, (0, 1), run)
        first, *others = run.records("solve")
        for other in others:
            self.same(first, other)

    @given(problems().filter(lambda p: p.box == 8), st.sampled_from(["gsrb", "jacobi", "chebyshev"]))
    def test_boxes_split_in_eight(self, problem: Problem, smoother: str) -> None:
        method = ["bottom.solver=cg", f"multigrid.smoother={smoother}", "bottom.tolerance=1e-8"]
        self.close(
            self.solve(problem, [*method, "multigrid.bottom_box=4"]),
            self.solve(problem.with_boxes_split_in_eight(), [*method, "multigrid.bottom_box=2"]),
        )

    @given(problems().filter(lambda p: p.rhs != "wave"), st.permutations(range(3)))
    def test_permuted_axes(self, problem: Problem, axes: list[int]) -> None:
        method = ["multigrid.bottom_box=2", "bottom.solver=cg", "bottom.tolerance=1e-8"]
        self.close(self.solve(problem, method), self.solve(problem.permuted(tuple(axes)), method))

    @given(problems(), st.sampled_from(["gsrb", "jacobi", "chebyshev"]), st.booleans())
    def test_the_backend(self, problem: Problem, smoother: str, emulated: bool) -> None:
        backend = "gpu_emulated" if emulated else "kokkos"
        method = ["multigrid.bottom_box=2", "bottom.solver=cg", f"multigrid.smoother={smoother}", "bottom.tolerance=1e-8"]
        run = self.run_keel(1, *problem.words(), *method, DETERMINISTIC, *ONE_SOLVE, f"run.backend={backend}")
        if run.status == 2:
            self.assertIn("not in this executable", run.stderr)
            return
        self.close(self.solve(problem, method), run.records("solve")[-1])


# Rank 0 has four boxes in a block. Of the four beside it in x only one is there, and is rank 1's.
BESIDE_A_BLOCK = [[0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 2], [0, 0, 3], [1, 0, 3]]
UNION_BESIDE_A_BLOCK = ["problem.box=4", "problem.boxes=[2,2,4]", f"problem.shape={BESIDE_A_BLOCK}"]


class Unions(Property):
    @example(UNION_BESIDE_A_BLOCK, ["multigrid.bottom_box=2", "multigrid.smoother=chebyshev"], "lexicographic", 2, 2)
    @given(unions(), methods(), PLACEMENTS, st.integers(1, 4), st.integers(1, 3))
    def test_where_the_boxes_of_a_union_are(
        self, domain: list[str], method: list[str], placement: str, ranks: int, threads: int
    ) -> None:
        words = [*domain, *(word for word in method if "cycle=" not in word), DETERMINISTIC, *ONE_SOLVE]
        alone = self.run_keel(1, *words, "multigrid.reference_path=true")
        self.assertIn(alone.status, (0, 1, 2), alone)
        if alone.status == 2:
            return
        ranks = min(ranks, alone.record("run")["domain"]["boxes"])
        run = self.run_keel(ranks, *words, "problem.storage=blocks", f"problem.placement={placement}", threads=threads)
        self.assertEqual(run.status, alone.status, run)
        self.same(alone.records("solve")[-1], run.records("solve")[-1])

    @given(unions(), st.sampled_from(["none", "solver", "preconditioner"]), st.integers(1, 3), st.integers(1, 2))
    def test_the_matrix_of_a_union_is_solved_or_refused(
        self, domain: list[str], amg: str, ranks: int, threads: int
    ) -> None:
        solver = ["bottom.solver=amg"] if amg == "solver" else ["bottom.solver=cg", "bottom.scaling=none"]
        if amg == "preconditioner":
            solver.append("bottom.preconditioner=amg")
        words = ["run.mode=spmv", "problem.matrix=grid", "run.solve=true", *solver]
        run = self.run_keel(ranks, *domain, *words, *ONE_SOLVE, threads=threads)
        self.assertIn(run.status, (0, 1, 2), run)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST])

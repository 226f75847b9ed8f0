"""One full multigrid cycle as all of a solve: whether it reaches the error of the discretisation, what it computes, and the verdict."""

from math import fsum

from keel_runner import ONCE, KeelTest, Record, Run
from record_schema import against_schema

ONE_F = ["multigrid.cycle=F", "multigrid.max_cycles=1", "problem.rhs=manufactured"]
EIGHT = [*ONE_F, "problem.box=16", "multigrid.bottom_box=2", "problem.boxes=[2,2,2]"]
# Enough, and few enough.
SWEEPS = ["multigrid.pre=1", "multigrid.post=2"]
RELAX, RESIDUAL = 13, 14  # flops for a cell, of Gauss-Seidel and of a residual


def ratios(run: Run) -> list[float]:
    return [record["ratio"] for record in run.records("accuracy")]


class FullMultigrid(KeelTest):
    def check(self, run: Run, name: str) -> Record:
        (only,) = (record for record in run.records("check") if record["name"] == name)
        return only

    def test_it_reaches_the_discretisation_on_any_number_of_ranks_with_each_boundary(self) -> None:
        for words in (
            ["problem.boundary=periodic", "multigrid.relaxation=1.15"],
            ["problem.boundary=dirichlet", "problem.coefficients=smooth"],
            ["problem.boundary=neumann", "problem.a=0"],  # singular
            ["problem.boundary=['dirichlet','periodic','neumann/dirichlet']", "problem.alpha=wave"],
        ):
            expected = None
            for ranks in (1, 2, 3, 8):
                with self.subTest(ranks=ranks, words=words):
                    run = self.valid(ranks, *EIGHT, *SWEEPS, *words, *ONCE, "run.deterministic=true")
                    self.assertEqual(against_schema(run.all_records), [])
                    grids = run.records("accuracy")
                    self.assertEqual([grid["cells"] for grid in grids], [[32] * 3, [16] * 3, [8] * 3])
                    self.assertLessEqual(max(ratios(run)), 1.5)
                    for fine, coarse in zip(grids, grids[1:], strict=False):
                        self.assertAlmostEqual(coarse["spacing"], 2 * fine["spacing"])
                        self.assertAlmostEqual(fine["ratio"] * fine["exact_error"], fine["error"])
                    # The discretisation has order 2, and so the cycle has about that.
                    self.assertAlmostEqual(grids[1]["exact_error"] / grids[0]["exact_error"], 4, delta=0.4)
                    errors = [(grid["exact_error"], grid["error"]) for grid in grids]
                    expected = expected or errors
                    for found, want in zip(errors, expected, strict=True):
                        self.assertAlmostEqual(found[0] / want[0], 1, delta=1e-7)
                        self.assertAlmostEqual(found[1] / want[1], 1, delta=1e-7)

    def test_the_error_is_that_of_the_solution_that_a_solve_converges_to(self) -> None:
        words = ["problem.box=16", "problem.boxes=[2,2,2]", "multigrid.bottom_box=2", "problem.boundary=dirichlet", *ONCE]
        solve = self.valid(2, *words, "problem.rhs=manufactured")
        order = self.check(solve, "discretisation_order")["value"]
        grids = self.valid(2, *EIGHT, *SWEEPS, *words[3:]).records("accuracy")
        self.assertAlmostEqual(grids[1]["exact_error"] / grids[0]["exact_error"] / 2**order, 1, delta=1e-6)

    def test_work_units_are_counted(self) -> None:
        run = self.valid(2, *EIGHT, *SWEEPS, *ONCE)
        timers = run.records("timer")
        cells = {level: 32**3 / 8**level for level in range(4)}
        for level in range(3):  # above the bottom: level l takes part in l + 1 V-cycles
            self.assertAlmostEqual(run.timer("smooth")[level]["flops"], 3 * RELAX * cells[level] * (level + 1))
        ops = ("smooth", "residual", "restrict", "bottom.operator")
        units = fsum(row["flops"] for row in timers if row["op"] in ops) / (RESIDUAL * cells[0])
        work = self.check(run, "work_units")
        self.assertAlmostEqual(work["value"], units)
        self.assertEqual(work["want"], "<= 6 residual calculations")
        everything = fsum(row["flops"] for row in timers) / (RESIDUAL * cells[0])
        self.assertEqual(run.stdout.count(f"{units:.3f} work units ("), 1, run)
        self.assertEqual(run.stdout.count(f"of operator evaluations, {everything:.3f} of all\n"), 1, run)

    def test_exchanges_are_as_predicted(self) -> None:
        words = [*ONE_F, "problem.box=32", "problem.boxes=[2,2,2]", "multigrid.pre=1", "multigrid.ghost_colours=both"]
        for more in (["multigrid.post=2"], ["multigrid.post=3", "multigrid.interpolation=linear"],
                     ["multigrid.post=2", "multigrid.fused_box=1"],
                     ["multigrid.post=2", "multigrid.fused_box=1", "multigrid.fused_half_sweeps=1"]):  # fmt: skip
            plan = self.planned(2, *words, *more)
            run = self.run_keel(2, *words, *more, *ONCE)
            self.assertIn(run.status, (0, 1), run)
            for level in range(3):
                # Level l takes part in l + 1 V-cycles, above the bottom of each, and its solution once begins a finer one's.
                rows = {row["purpose"]: row["exchanges_per_cycle"] for row in plan["levels"] if row["level"] == level}
                predicted = (level + 1) * rows["stencil"]
                if level > 0:
                    predicted += level * rows.get("interpolation", 0) + 1
                if "smoothing" in rows:
                    predicted += (level + 1) * rows["smoothing"] + 1  # the start has one for the right-hand side
                counted = run.timer("exchange.pack")[level]["calls"]
                self.assertEqual(counted, predicted, f"level {level} with {more}: {plan['levels']}")

    def test_its_figure_of_merit_has_a_name_of_its_own(self) -> None:
        run = self.valid(2, *EIGHT, *SWEEPS, "run.repeats=3")
        result = run.record("result")
        self.assertAlmostEqual(result["fom"] * result["seconds"] / 32**3, 1, delta=1e-12)
        (line,) = (line for line in run.stdout.splitlines() if line.startswith("FOM"))
        self.assertEqual(line.split()[1], "full_multigrid.dof_per_second")
        self.assertGreater(result["moved"]["bytes_per_unknown"], 100)
        for number, solve in enumerate(run.records("solve")):
            self.assertEqual((solve["repeat"], solve["cycles"], solve["converged"]), (number, 1, True))
            self.assertEqual((len(solve["residuals"]), len(solve["bottom"])), (2, 4))  # a visit from each level

    def test_a_cycle_that_does_not_reach_it_is_invalid(self) -> None:
        run = self.run_keel(2, *EIGHT, "multigrid.pre=1", "multigrid.post=1", "problem.coefficients=smooth", *ONCE)
        self.assertEqual((run.status, run.stdout.splitlines()[-1]), (1, "RESULT INVALID"), run)
        self.assertEqual([check["name"] for check in run.records("check") if not check["passed"]], ["full_multigrid_error"])
        self.assertGreater(self.check(run, "full_multigrid_error")["value"], 1.5)
        self.assertNotIn("solves_converged", run.stdout)
        self.assertFalse(run.record("solve")["converged"])
        self.assertIsNone(run.record("result")["fom"])

    def test_a_cycle_that_computes_too_much_is_invalid(self) -> None:
        run = self.run_keel(2, *EIGHT, "multigrid.pre=3", "multigrid.post=3", *ONCE)
        self.assertEqual(run.status, 1, run)
        self.assertEqual([check["name"] for check in run.records("check") if not check["passed"]], ["work_units"])

    def test_exact_solutions_that_miss_their_tolerance_are_invalid(self) -> None:
        run = self.run_keel(1, *EIGHT, *SWEEPS, "multigrid.tolerance=1e-17", *ONCE)
        self.assertEqual(run.status, 1, run)
        check = self.check(run, "full_multigrid_error")
        self.assertEqual((check["passed"], check["value"] <= 1.5), (False, True))
        self.assertIn("; 0 of 3 exact solutions met the tolerance", check["want"])

    def test_two_cycles_are_a_solve_to_a_tolerance(self) -> None:
        run = self.run_keel(1, ONE_F[0], "multigrid.max_cycles=2", *ONE_F[2:], *EIGHT[3:], *SWEEPS, *ONCE)
        self.assertEqual((run.status, self.check(run, "solves_converged")["passed"]), (1, False), run)

    def test_the_cycle_is_predicted(self) -> None:
        run = self.run_keel(1, "--dry-run", *EIGHT, *SWEEPS, "problem.ranks=8", "comm.ranks_per_node=4", "comm.machine=hopper")
        self.assertEqual(run.status, 0, run)
        solve = run.record("solve")
        self.assertEqual((solve["cycles"], solve["converged"]), (1, True))
        measured = self.valid(1, *EIGHT, *SWEEPS, *ONCE).record("solve")
        self.assertAlmostEqual(solve["bottom_iterations"], measured["bottom_iterations"], delta=4)

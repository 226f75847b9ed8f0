"""Problems of any size of number, and without a solution of their own: no wrong verdict, the same solve again."""

import math

from keel_runner import INPUTS, ONCE, KeelTest, Run, at_once

KRYLOV = ["run.mode=krylov", "problem.box=8", "problem.boxes=[1,1,1]", "bottom.max_iterations=500", *ONCE]


def check_of(run: Run, name: str) -> dict[str, object]:
    (check,) = (check for check in run.records("check") if check["name"] == name)
    return check


class Scales(KeelTest):
    def test_an_operator_that_overflows_is_not_symmetric(self) -> None:
        run = self.run_keel(1, *KRYLOV, "problem.b=1e308", "problem.a=0", "problem.boundary=dirichlet", "bottom.solver=cg")
        self.assertEqual(run.status, 1, run)
        self.assertFalse(check_of(run, "operator_symmetry")["passed"], run)


class Floors(KeelTest):
    """Solves that cannot reach their tolerance end, with the reason."""

    def test_multigrid_that_stagnates_says_where_rounding_ends(self) -> None:
        jump = ["problem.a=0", "problem.coefficients=ball", "problem.contrast=1000", "problem.boundary=dirichlet"]
        run = self.run_keel(2, "problem.box=16", *jump, "multigrid.tolerance=1e-15", "multigrid.max_cycles=200", *ONCE)
        self.assertEqual((run.status, run.record("solve")["outcome"]), (1, "stagnated"), run)
        self.assertRegex(run.stdout, r"(?m)^stagnated: cycles no longer gain, and rounding alone may leave eps \|L\| max")

    def test_every_solve_of_an_operator_that_has_lost_a_ends_with_a_named_outcome(self) -> None:
        run = self.run_keel(1, "run.mode=survey", "problem.box=4", "problem.boxes=[3,1,1]", "problem.b=1e300", "problem.rhs=wave",
                            "multigrid.bottom_box=2", "multigrid.max_cycles=2000", *ONCE,
                            'run.survey=["bicgstab","ca_bicgstab powers=sequential","enlarged_cg splitting=slabs"]')  # fmt: skip
        self.assertEqual(run.status, 1, run)
        self.assertEqual([solve["outcome"] for solve in run.records("solve")], 3 * ["stagnated"])
        for solve in run.records("solve"):
            self.assertLess(solve["cycles"], 40)
            self.assertIn(f"{solve['solver']} failed", run.stdout)
        (warning,) = (text for text in run.record("run")["warnings"] if "problem.a" in text)
        self.assertIn("loses up to all of it", warning)

    def test_what_the_diagonal_loses_of_a_is_not_called_solved(self) -> None:
        # One cell that is its own neighbour: a u = f = 1. The diagonal is a + 6, and its inverse has kept two digits of a.
        a = 1e-13
        one_cell = ["problem.box=1", "problem.boxes=[1,1,1]", "problem.rhs=point", "problem.b=1", *ONCE]
        krylov = ["run.mode=krylov", "bottom.tolerance=1e-6"]
        for words in (["bottom.solver=cg"], ["bottom.solver=bicgstab", "bottom.scaling=none"]):
            with self.subTest(words=words):
                lost = self.run_keel(1, *one_cell, *krylov, *words, f"problem.a={a}")
                self.assertEqual(lost.status, 1, lost)
                solve_record = lost.record("solve")
                self.assertTrue(solve_record["converged"])
                check = check_of(lost, "residual_recomputed")
                self.assertFalse(check["passed"])
                self.assertGreater(check["value"], 1e-3)
                self.assertAlmostEqual(check["value"], abs(1 - a * solve_record["u_l2"]), delta=1e-9)
                self.assertIn("the diagonal, in double precision, loses up to 0.01 of it", lost.stdout)
        kept = self.valid(1, *one_cell, *krylov, "bottom.solver=cg", "problem.a=1e-5")
        self.assertFalse([warning for warning in kept.record("run")["warnings"] if "problem.a" in warning])


class LostDigits(KeelTest):
    """Parts whose constant rounding loses are reported, whatever joins them and however they are solved."""

    PARTS = ["problem.box=4", "problem.boxes=[3,1,1]", "problem.shape=[[0,0,0],[2,0,0]]",
             "problem.outside=neumann", "problem.rhs=linear", "problem.data=linear", "problem.alpha=wave",
             'problem.boundary=["dirichlet/neumann","periodic","periodic"]']  # fmt: skip
    ENDS = ["problem.box=4", "problem.boxes=[2,1,1]", 'problem.boundary=["dirichlet","neumann","neumann"]']
    FLOOR = ["problem.box=4", "problem.boxes=[2,1,1]", 'problem.boundary=["neumann","neumann","dirichlet/neumann"]']
    HELD = ["problem.box=8", "problem.boxes=[2,1,1]", "problem.boundary=dirichlet"]
    CORNER = ["problem.box=4", "problem.boxes=[2,2,1]", "problem.shape=[[0,0,0],[1,0,0],[1,1,0]]", "problem.boundary=dirichlet"]
    # The arguments of `digits`, or None: no loss is reported. b is 0.9, and so is a if it is not given.
    WEAK = [
        ([*PARTS, "problem.a=1.4665404973893106e-17"], (math.inf, 12, 0.9 / 1.4665404973893106e-17)),
        # Planes that 1e-14 of the coupling within them joins to Dirichlet faces, and others that 1e-5 of it joins.
        ([*ENDS, "problem.anisotropy=[1e-14,1,1]", "problem.a=0"], (1e14, 8)),
        ([*ENDS, "problem.anisotropy=[1e-5,1,1]", "problem.a=0"], None),
        # A ball that is joined to the rest by 1e-13 of its own coupling, one of little coupling, and a front.
        ([*HELD, "problem.coefficients=ball", "problem.contrast=1e13"], (1e13, 16, 1e13)),
        ([*HELD, "problem.coefficients=ball", "problem.contrast=1e-13", "problem.a=1e-9"], (1e13, 16, 0.9e9)),
        ([*HELD, "problem.coefficients=ball", "problem.contrast=1e6"], None),
        ([*FLOOR, "problem.coefficients=front", "problem.contrast=1e-13", "problem.a=1e-15"], (1e13, 8, 0.9e15)),
        ([*HELD, "problem.coefficients=smooth", "problem.contrast=1e26"], (1e26, 16, 1e13)),
        # The side counts in cells, not in boxes: one box loses a digit more than two of 8 cells.
        (["problem.box=61", "problem.boxes=[1,1,1]", "problem.boundary=dirichlet",
          "problem.coefficients=ball", "problem.contrast=1e13"], (1e13, 61, 1e13)),
        # The boxes of an L all count, not its two along a side.
        ([*CORNER, "problem.coefficients=ball", "problem.contrast=6e8", "problem.a=0"], (6e8, 12)),
    ]  # fmt: skip

    @staticmethod
    def digits(couplings: float, across: int, over_a: float = math.inf) -> int:
        """The bound of the digits lost: six faces of a cell, the ratio of the largest coupling to the least, and the cells
        across that a cut has for each of its faces. If a > 0, at most 6 b beta / (a h^2), for the largest beta."""
        return min(16, round(math.log10(6 * across * min(couplings, across * over_a))))

    def warnings(self, *words: str) -> list[str]:
        return [text for text in self.planned(None, *words)["warnings"] if "16 digits" in text]

    def test_parts_that_only_couplings_lost_to_rounding_join(self) -> None:
        for words, expected in self.WEAK:
            with self.subTest(words=words):
                found = self.warnings(*words, "run.mode=krylov")
                self.assertEqual(len(found), 0 if expected is None else 1)
                if expected is not None:
                    self.assertIn(f"up to {self.digits(*expected)} of its 16 digits", found[0])

    def test_every_way_of_solving_reports_them(self) -> None:
        words = [*self.WEAK[0][0][1:], "problem.box=8"]
        spmv = ["run.mode=spmv", "problem.matrix=grid", "run.solve=true", "bottom.scaling=none"]
        for mode in ([], ["run.mode=krylov"], ["run.mode=survey"], ["run.mode=fixed_point", "problem.equation=linear", "run.map=cycle"]):
            with self.subTest(mode=mode):
                self.assertTrue(self.warnings(*words, *mode))
        matrix = [word for word in words if not word.startswith(("problem.rhs", "problem.data"))]
        self.assertTrue(self.warnings(*matrix, *spmv))

    def test_no_shipped_deck_loses_digits(self) -> None:
        decks = [*INPUTS.glob("*.toml")]  # smoke decks run, and show the same warning, in test_decks.py
        self.assertGreater(len(decks), 10)
        for run in at_once(2, lambda deck: self.run_keel(None, "--dry-run", deck), decks):
            self.assertNotIn("16 digits", " ".join(run.stdout.split()), run.command)


class Norms(KeelTest):
    """The norm of a claim is named, and all solvers of a survey are judged in one."""

    ROUGH = ["problem.coefficients=ball", "problem.contrast=1e8", "problem.boundary=dirichlet", "problem.a=0"]

    def test_report_check_and_record_name_the_norm_of_the_tolerance(self) -> None:
        scaled, plain, largest = "|D^-1/2 r| / |D^-1/2 f|", "|r| / |f|", "max|r| / max|f|"
        krylov = [*KRYLOV, *self.ROUGH, "bottom.tolerance=1e-8"]
        spmv = ["run.mode=spmv", "run.solve=true", "problem.box=6", "problem.boxes=[1,1,1]", "problem.matrix=stencil7", *ONCE]
        for words, norm in (
            ([*krylov, "bottom.solver=cg"], scaled),
            ([*krylov, "bottom.solver=bicgstab"], plain),
            ([*krylov, "bottom.solver=cg", "bottom.scaling=none", "bottom.preconditioner=v_cycle"], plain),
            ([*spmv, "bottom.solver=cg"], scaled),
            ([*spmv, "bottom.solver=cg", "bottom.scaling=none"], plain),
            (["problem.box=8", "problem.boxes=[1,1,1]", *ONCE], largest),
            (["run.mode=survey", 'run.survey=["cg"]', "problem.box=8", "problem.boxes=[1,1,1]", *ONCE], largest),
        ):
            with self.subTest(words=words):
                run = self.run_keel(1, *words)
                self.assertTrue(str(check_of(run, "residual_recomputed")["want"]).endswith(f"tolerance, of {norm}"), run)
                solve = run.records("solve")[0]
                self.assertEqual(solve["norm"], norm)
                if norm == scaled:
                    text = " ".join(run.stdout.split())  # long lines are broken
                    self.assertIn(f"{norm} claimed ", text)
                    self.assertIn(f", {plain} {solve['unscaled_residual']:.3e}", text)
                    if "run.mode=krylov" in words:  # this is why it has to be said
                        self.assertGreater(solve["unscaled_residual"], 100 * solve["true_residual"])

    def test_a_survey_counts_misses_of_all_solvers_in_one_norm(self) -> None:
        run = self.valid(1, "run.mode=survey", "problem.box=16", "problem.boxes=[2,1,1]", *self.ROUGH, "multigrid.bottom_box=8",
                         "multigrid.max_cycles=200", "multigrid.tolerance=1e-6", "bottom.max_iterations=2000", *ONCE,
                         'run.survey=["bicgstab","cg","cg scaling=none"]')  # fmt: skip
        counted = {row["solver"]: row["missed_bottoms"] for row in run.records("survey")}
        for solve in run.records("solve"):
            missed = [visit for visit in solve["bottom"] if visit["unscaled_residual"] > 1e-3]
            self.assertEqual(counted[solve["solver"]], len(missed), solve["solver"])
            self.assertTrue(all(visit["met"] for visit in solve["bottom"]), solve["solver"])
        self.assertEqual((counted["bicgstab"], counted["cg scaling=none"]), (0, 0))
        self.assertGreater(counted["cg"], 0)
        self.assertIn("missed: bottom solves whose true |r| / |f|", " ".join(run.stdout.split()))

    def test_a_right_side_of_zero_and_a_mean_that_was_removed_are_said(self) -> None:
        for box, a, mean, zero in ((8, 0.9, False, False), (8, 0, True, False), (1, 0, True, True)):
            with self.subTest(box=box, a=a):
                run = self.valid(1, "run.mode=krylov", f"problem.box={box}", f"problem.a={a}", "problem.boxes=[1,1,1]",
                                 "problem.rhs=random", *ONCE)  # fmt: skip
                result = run.record("result")
                self.assertEqual((result["removed_mean"] != 0, result["zero_right_side"]), (mean, zero))
                self.assertEqual("so f has lost its mean" in run.stdout, mean, run)
                self.assertEqual("Right-hand side: f = 0" in run.stdout, zero, run)
        solve = self.valid(1, "problem.box=8", "problem.rhs=zero", *ONCE).record("solve")
        self.assertEqual((solve["residuals"], solve["cycles"]), ([1.0], 0))

    def test_a_tolerance_too_loose_to_show_an_order_is_said(self) -> None:
        words = ["problem.box=16", "problem.boxes=[1,1,1]", "problem.rhs=manufactured", "problem.boundary=dirichlet", *ONCE]
        for tolerance, loose in (("0.5", True), ("1e-2", True), ("1e-10", False)):
            with self.subTest(tolerance=tolerance):
                check = check_of(self.valid(1, *words, f"multigrid.tolerance={tolerance}"), "discretisation_order")
                self.assertEqual("too loose to tell" in str(check["want"]), loose, check)


class Singular(KeelTest):
    def test_repeated_solves_of_a_singular_problem_are_one_solve(self) -> None:
        for words in (["run.mode=krylov", "bottom.solver=cg", "bottom.tolerance=1e-8"], ["multigrid.bottom_box=2"]):
            with self.subTest(words=words):
                run = self.valid(2, *words, "problem.a=0", "problem.rhs=random", "problem.coefficients=smooth", "problem.box=8",
                                 "problem.boxes=[2,1,1]", "run.deterministic=true", "run.warmup=1", "run.repeats=3")  # fmt: skip
                first, *others = [(solve["residuals"], solve["u_l2"]) for solve in run.records("solve")]
                self.assertEqual(others, [first, first])

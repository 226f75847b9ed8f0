"""run.mode = krylov and survey: histories and counts of independent codes, costs as the table says, rows side by side."""

import json
import re
from itertools import product
from math import fsum
from statistics import fmean, median
from typing import Any

from keel_runner import ALL_REDUCES, INPUTS, NIGHTLY, ONCE, ROOT, KeelTest, Record, Run, at_once, by_turns
from record_schema import against_schema

GOLDEN = ROOT / "tests/golden"
BOX = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "problem.rhs=wave", *ONCE]
KRYLOV = [*BOX, "run.mode=krylov", "bottom.max_iterations=1000", "bottom.tolerance=1e-8"]
V_CYCLE = [*KRYLOV, "bottom.preconditioner=v_cycle", "bottom.scaling=none"]
SURVEY = [*BOX, "run.mode=survey"]
DETERMINISTIC = "run.deterministic=true"
FIELDS = {"solver", "repeat", "seconds", "converged", "iterations", "outcome", "vanished", "restarts", "residuals",
          "true_residual", "applications", "v_cycles", "reductions", "reduction_words", "exchanges", "u_l2"}  # fmt: skip


def value(formula: str, variables: dict[str, int]) -> float:
    """A cell of the table of bottom solvers, such as "(4s+1)(2s+2)/s"; of several forms the first."""
    expression = re.sub(r"(?<=[\d)])(?=[slmt(])", "*", formula.split(";")[0].replace("^", "**"))
    return eval(expression, {"max": max} | variables)


class ModeTest(KeelTest):
    def run_keel(self, ranks: int | None, *words: object, **options: Any) -> Run:
        """Words without repeated keys: the last word for a key counts."""
        last = {str(word).partition("=")[0]: word for word in words}
        return super().run_keel(ranks, *last.values(), **options)


class Krylov(ModeTest):
    def solve(self, ranks: int, *words: object) -> Record:
        return self.valid(ranks, *words).record("solve")

    def test_the_record_tells_how_the_method_converged(self) -> None:
        for ranks in (1, 2, 4):
            run = self.valid(ranks, *KRYLOV, "bottom.solver=cg", "run.repeats=2", "run.warmup=1")
            solves = run.records("solve")
            self.assertEqual([solve["repeat"] for solve in solves], [0, 1])
            for solve in solves:
                self.assertLessEqual(FIELDS, set(solve))
                self.assertEqual((solve["solver"], solve["outcome"], solve["converged"]), ("cg", "converged", True))
                self.assertEqual(solve["residuals"][0], 1)
                self.assertEqual(len(solve["residuals"]), solve["iterations"] + 1)
                self.assertLessEqual(solve["residuals"][-1], 1e-8)
                self.assertGreater(solve["residuals"][-2], 1e-8)
                self.assertAlmostEqual(solve["true_residual"] / solve["residuals"][-1], 1, delta=1e-3)
                self.assertGreater(solve["u_l2"], 0)
            (check,) = (check for check in run.records("check") if check["name"] == "residual_recomputed")
            self.assertAlmostEqual(check["value"] / solves[-1]["true_residual"], 1, delta=1e-3)
            self.assertEqual(len(run.record("run")["levels"]), 1)
            result = run.record("result")
            self.assertEqual(result["seconds"], median(solve["seconds"] for solve in solves))
            self.assertAlmostEqual(result["fom"] * result["seconds"] / 16**3, 1, delta=1e-12)
            last = f"{solves[-1]['iterations']} iterations, converged, 0 restarts; |D^-1/2 r| / |D^-1/2 f| claimed"
            self.assertIn(last, run.stdout)

    def test_every_row_of_the_table_of_solvers_is_what_a_solve_counts(self) -> None:
        # On more ranks tests/solvers/multigrid/test_counts.cpp has them, and the night.
        rows = self.bottom_solvers()

        def cost(case: tuple[list[str], int]) -> list[float]:
            (solver, *_), ranks = case

            def counts(iterations: int) -> list[float]:
                # Nothing converges to 1e-30. Beyond 11 iterations telescoping has reached s = 4.
                restart = ["bottom.restart=4"] if solver.endswith("gmres") else []
                run = self.run_keel(ranks, *KRYLOV, f"bottom.solver={solver}", "bottom.tolerance=1e-30",
                                    f"bottom.max_iterations={iterations}", *restart)  # fmt: skip
                self.assertEqual(run.status, 1, run)
                solve = run.record("solve")
                self.assertEqual((solve["outcome"], solve["iterations"]), ("iteration_limit", iterations))
                sums = [row for row in run.records("timer") if row["op"] in ALL_REDUCES]
                self.assertEqual(sum(row["calls"] for row in sums), solve["reductions"])
                self.assertEqual(sum(row["words"] for row in sums), solve["reduction_words"])
                return [solve["exchanges"], solve["reductions"], solve["reduction_words"]]

            return [(late - early) / 8 for late, early in zip(counts(19), counts(11), strict=True)]

        rows = [row for row in rows if row[0] not in ("smooth", "amg")]
        cases = by_turns([(row, ranks) for row in rows for ranks in (1, 4)], 2)
        for (row, ranks), counted in zip(cases, at_once(2, cost, cases), strict=True):
            with self.subTest(solver=row[0], ranks=ranks):
                self.assertEqual(counted, [value(cell, {"s": 4, "l": 2, "t": 4, "m": 4}) for cell in row[1:4]])

    def test_a_preconditioned_cycle_communicates_as_planned(self) -> None:
        for precision, bound in (("multigrid.precision=double", 1e-12), ("multigrid.precision=mixed", 1e-6), ("comm.precision=single", 1e-6)):
            words = [*V_CYCLE, "bottom.solver=cg", "bottom.sweeps=6", "multigrid.reference_path=true", precision]
            run = self.valid(4, *words)
            # V(2,2); 6 sweeps and a red half sweep
            fine, *apart, bottom = self.planned(4, *words)["levels"]
            self.assertEqual([level["exchanges_per_cycle"] for level in (fine, *apart, bottom)],
                             [9, *(None for _ in apart), 13])  # fmt: skip
            solve, (above, below) = run.record("solve"), run.timer("exchange.send").values()
            cycles, others = 9 * solve["v_cycles"], solve["applications"]
            self.assertEqual((above["calls"], below["calls"]), (cycles + others, 13 * solve["v_cycles"]))
            self.assertEqual(above["bytes"], cycles * fine["bytes"] + others * (apart or [fine])[0]["bytes"], precision)
            self.assertEqual(solve["exchanges"], above["calls"] + below["calls"])
            self.assertEqual(list(run.timer("reduction")), [0])
            (check,) = (check for check in run.records("check") if check["name"] == "preconditioner_symmetry")
            self.assertEqual(check["want"], f"< {bound:.0e}")

    def test_a_deterministic_solve_is_bitwise_the_same_on_any_ranks(self) -> None:
        for words in ([*KRYLOV, "bottom.solver=pipelined_cg"], [*V_CYCLE, "bottom.solver=bicgstab"]):
            one, *others = (self.solve(ranks, *words, DETERMINISTIC) for ranks in (1, 2, 3))
            for other in others:
                self.assertEqual([one["residuals"], one["u_l2"]], [other["residuals"], other["u_l2"]])

    def test_a_deep_pipeline_that_rounding_restarts_says_what_helps(self) -> None:
        words = ["problem.box=12", "problem.coefficients=smooth", "problem.alpha=wave", "problem.rhs=wave", "bottom.depth=1",
                 "bottom.solver=deep_pipelined_cg", "bottom.tolerance=1e-8", "bottom.max_iterations=2000", *ONCE]  # fmt: skip
        advice = 'by rounding: try bottom.scaling = "jacobi" or bottom.solver = "pipelined_cg"'
        restarts = 0
        for more in (["run.mode=krylov"], ["multigrid.bottom_box=6"]):
            for contrast in (45, 50, 55):
                run = self.run_keel(1, *words, *more, f"problem.contrast={contrast}", "bottom.scaling=none")
                solve = run.record("solve")
                restarted = sum(visit["restarts"] for visit in solve["bottom"]) if "bottom" in solve else solve["restarts"]
                self.assertEqual(advice in run.stdout, restarted > 0, run)
                restarts += restarted
        self.assertGreater(restarts, 0)
        scaled = self.valid(1, *words, "run.mode=krylov", "problem.contrast=50", "bottom.scaling=jacobi")
        self.assertEqual((scaled.record("solve")["restarts"], "by rounding" in scaled.stdout), (0, False), scaled)


class StretchedCells(KeelTest):
    """problem.anisotropy: what it costs cycles, and the cure that the warning names."""

    def test_the_cure_that_a_warning_names_takes_few_cycles_at_any_ratio(self) -> None:
        words = ["problem.box=16", "problem.boxes=[2,2,1]", "problem.boundary=dirichlet", "problem.a=0.0", *ONCE]
        random = ["problem.rhs=random"]
        for ratio, stretched in ((100, "10"), (10000, "100")):
            with self.subTest(ratio=ratio):
                given = [*words, f"problem.anisotropy=[1,1,{ratio}]"]
                run = self.run_keel(2, *given, *random, "multigrid.max_cycles=30")
                (warning,) = (line for line in run.facts["warnings"] if "problem.anisotropy" in line)
                self.assertIn(f"as of cells stretched {stretched} to 1: ", warning)
                *cure, fewer = (f"{key}={value}" for key, value in re.findall(r"(\w+\.\w+) = (\w[\w.]*)", warning))
                self.assertEqual((len(cure), run.record("solve")["cycles"]), (6, 30))
                cured = self.valid(2, *given, *cure)
                self.assertLess(cured.record("solve")["iterations"], 50)
                self.assertFalse([line for line in cured.facts["warnings"] if "problem.anisotropy" in line])
                plain, accelerated = (self.run_keel(2, *given, *random, "multigrid.max_cycles=200", *more).record("solve")["cycles"]
                                      for more in ([], [fewer]))  # fmt: skip
                self.assertLess(accelerated, 0.75 * plain)


class IceSheet(KeelTest):
    """inputs/papers/ice_sheet.toml, small: a stronger coupling along columns makes blocks of whole columns better."""

    def test_blocks_of_whole_columns_need_fewer_iterations_the_stronger_the_coupling(self) -> None:
        def iterations(ranks: int, *words: str) -> int:
            run = self.valid(ranks, INPUTS / "papers/ice_sheet.toml", "problem.box=8", *words)
            self.assertEqual(run.record("run")["cells"], [32, 32, 8])
            return run.record("solve")["iterations"]

        weak, strong = (iterations(2, f"problem.anisotropy=[1,1,{coupling}]") for coupling in (1e2, 1e4))
        self.assertLess(strong, weak)
        for ranks, words in ((3, ["bottom.depth=2"]), (8, ["bottom.depth=3", "bottom.spectrum=estimate"]),
                             (4, ["bottom.solver=cg", "bottom.depth=default"])):  # fmt: skip
            self.assertAlmostEqual(iterations(ranks, *words), 4, delta=1)


class Survey(ModeTest):
    DEEP = "ca_cg s=2 powers=matrix_powers powers_depth=2"
    LIST = f'run.survey=["bicgstab","ca_bicgstab s=2 basis=newton","cg scaling=none","{DEEP}"]'
    NAMES = ["bicgstab", "ca_bicgstab s=2 basis=newton", "cg scaling=none", DEEP]

    def test_solvers_take_turns_and_each_has_a_row(self) -> None:
        run = self.valid(2, *SURVEY, self.LIST, "run.repeats=2", "run.warmup=1")
        solves = run.records("solve")
        self.assertEqual([(s["repeat"], s["solver"]) for s in solves], list(product((0, 1), self.NAMES)))
        rows = run.records("survey")
        self.assertEqual([row["solver"] for row in rows], self.NAMES)
        baseline = median(solve["seconds"] for solve in solves if solve["solver"] == "bicgstab")
        for row in rows:
            mine = [solve for solve in solves if solve["solver"] == row["solver"]]
            seconds = [solve["seconds"] for solve in mine]
            self.assertEqual((row["seconds_min"], row["seconds_median"]), (min(seconds), median(seconds)))
            self.assertAlmostEqual(row["speed_up"] * median(seconds) / baseline, 1, delta=1e-12)
            for name in ("cycles", "bottom_iterations", "reductions", "reduction_words", "exchanges", "missed_bottoms"):
                self.assertEqual({row[name]}, {solve[name] for solve in mine}, name)
            counts = [row["cycles"], row["bottom_iterations"], row["reductions"], row["reduction_words"], row["exchanges"]]
            self.assertRegex(run.stdout, rf"(?m)^{row['solver']} +{' +'.join(map(str, counts))}(?: |$)")
            timers = [timer for timer in run.records("timer") if timer["solver"] == row["solver"]]
            self.assertEqual(sum(t["calls"] for t in timers if t["op"] in ALL_REDUCES), row["reductions"])
            # Ranks wait for each other before the clock starts, so that the mean is at most the slowest.
            self.assertLessEqual(fsum(t["t_mean"] for t in timers), fmean(seconds) * (1 + 1e-6))
        self.assertEqual(run.record("result")["seconds"], min(row["seconds_median"] for row in rows))

    def test_speed_ups_are_over_the_first(self) -> None:
        run = self.valid(1, *SURVEY, 'run.survey=["ca_cg  s=2","bicgstab_fused","cg"]')
        rows = {row["solver"]: row for row in run.records("survey")}
        self.assertEqual(list(rows), ["ca_cg s=2", "bicgstab_fused", "cg"])
        for row in rows.values():
            self.assertEqual(row["baseline"], "ca_cg s=2")
            speed_up = rows["ca_cg s=2"]["seconds_median"] / row["seconds_median"]
            self.assertAlmostEqual(row["speed_up"] / speed_up, 1, delta=1e-12)
            self.assertRegex(run.stdout, rf"(?m)^{row['solver']} .* {row['speed_up']:.2f}$")
        self.assertIn("speed-up: median seconds of ca_cg s=2 over those of the row\n", run.stdout)

    def test_a_solver_in_a_survey_does_what_it_does_alone(self) -> None:
        survey = self.valid(2, *SURVEY, self.LIST, "run.repeats=2", DETERMINISTIC)
        alone = [["bottom.solver=bicgstab"], ["bottom.solver=ca_bicgstab", "bottom.s=2", "bottom.basis=newton"],
                 ["bottom.solver=cg", "bottom.scaling=none"],
                 ["bottom.solver=ca_cg", "bottom.s=2", "bottom.powers=matrix_powers", "bottom.powers_depth=2"]]  # fmt: skip
        for name, words in zip(self.NAMES, alone, strict=True):
            single = self.valid(2, *BOX, *words, DETERMINISTIC).record("solve")
            for solve in survey.records("solve"):
                if solve["solver"] == name:
                    for field in ("residuals", "bottom", "u_l2", "reductions", "reduction_words", "exchanges"):
                        self.assertEqual(solve[field], single[field], (name, field))

    def test_without_a_list_every_solver_takes_part(self) -> None:
        run = self.valid(2, *SURVEY)
        self.assertEqual([row["solver"] for row in run.records("survey")], [row[0] for row in self.bottom_solvers()])

    def failing(self, *words: str) -> Run:
        return self.run_keel(2, *SURVEY, *words)

    def test_a_solver_that_fails_has_its_row_and_the_survey_goes_on(self) -> None:
        run = self.failing('run.survey=["bicgstab","smooth sweeps=1","cg"]', "multigrid.max_cycles=9", "problem.a=0.01")  # fmt: skip
        self.assertEqual(run.status, 0, run)
        rows = {row["solver"]: row for row in run.records("survey")}
        self.assertEqual([row["converged"] for row in rows.values()], [True, False, True])
        self.assertIsNone(rows["smooth sweeps=1"]["speed_up"])
        self.assertGreater(rows["cg"]["speed_up"], 0)
        self.assertRegex(run.stdout, r"(?m)^smooth sweeps=1 .* failed$")
        self.assertRegex(run.stdout, r"(?m)^smooth sweeps=1 failed: max\|f - L u\| / max\|f\| = .* after 9 cycles")
        self.assertEqual(run.stdout.splitlines()[-1], "RESULT VALID")

    def test_a_survey_without_its_baseline_is_invalid(self) -> None:
        run = self.failing('run.survey=["cg"]', "multigrid.max_cycles=1", "bottom.max_iterations=1")
        self.assertEqual(run.status, 1, run)
        self.assertRegex(run.stdout, r"(?m)^CHECK  baseline_converged +FAIL  0 ")
        self.assertEqual(run.record("result")["valid"], False)

    def test_the_shipped_decks_resolve(self) -> None:
        for deck in ("krylov", "survey"):
            self.assertIn("memory: ", self.text(2, "--dry-run", INPUTS / f"{deck}.toml"))
        self.assertIn("memory: ", self.text(2, "--dry-run", INPUTS / "contrast.toml", "run.mode=survey"))


class FixedPoint(ModeTest):
    CUBE = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.boundary=dirichlet", "problem.a=0", "problem.b=1",
            "run.mode=fixed_point", *ONCE]  # fmt: skip

    def test_two_dimensions_take_the_iterations_of_an_independent_program(self) -> None:
        golden: Any = json.loads((GOLDEN / "anderson_plane.json").read_text())
        words = ["problem.dimensions=2", "problem.box=8", "problem.boxes=[4,4,1]", *self.CUBE[2:], "anderson.max_condition=0",
                 "anderson.tolerance=1e-10", "multigrid.tolerance=1e-12", "multigrid.interpolation=linear"]  # fmt: skip
        equations = {"heat1": ["problem.equation=heat_1"], "heat2": ["problem.equation=heat_2", "anderson.max_iterations=8"],
                     "bratu": ["problem.equation=bratu", "problem.kappa=6.7"]}  # fmt: skip
        methods = {"fused dcgs2": "dcgs2_fused", "fused icwy2": "icwy_fused"}
        for ranks, case in zip((1, 2, 3, 4, 8, 2), golden["cases"], strict=True):
            with self.subTest(problem=case["problem"], variant=case["variant"], ranks=ranks):
                run = self.run_keel(ranks, *words, *equations[case["problem"]], f"anderson.depth={case['m']}",
                                    f"anderson.orthogonalisation={methods[case['variant']]}")  # fmt: skip
                self.assertEqual(run.status, 0 if "its" in case else 1, run)
                solve = run.record("solve")
                for ours, theirs in zip(solve["residuals"], case["hist"][:6], strict=False):
                    if theirs > 1e-6:
                        self.assertAlmostEqual(ours / theirs, 1, delta=1e-6)
                if "its" not in case:
                    continue
                self.assertEqual(solve["iterations"], case["its"])
                self.assertEqual((solve["orthogonalisation_reductions"], solve["orthogonalisation_words"]),
                                 (case["qr_reductions"], case["qr_words"]))  # fmt: skip

    def test_random_samples_of_a_mixture_are_those_of_the_seed_and_take_no_all_reduce(self) -> None:
        words = [*ONCE, "run.mode=fixed_point", "problem.dimensions=2", "problem.box=6", "problem.boxes=[2,2,1]", "anderson.depth=3",
                 "anderson.tolerance=1e-8", "problem.equation=mixture_random"]  # fmt: skip
        solves = {}
        for ranks, seed in ((1, 1), (3, 1), (1, 2)):
            solve = solves[ranks, seed] = self.valid(ranks, *words, f"problem.seed={seed}").record("solve")
            self.assertEqual(solve["reductions"], solve["orthogonalisation_reductions"] + solve["iterations"] + 1)
        for one, same, other in zip(*(solve["residuals"][:6] for solve in solves.values()), strict=True):
            self.assertAlmostEqual(one / same, 1, delta=1e-6)
            self.assertGreater(abs(one / other - 1), 1e-4)

    def test_a_composite_of_icwy_around_mgs_takes_the_all_reduces_of_mgs_inside(self) -> None:
        words = [*ONCE, "run.mode=fixed_point", "problem.dimensions=2", "problem.box=6", "problem.boxes=[2,2,1]", "anderson.depth=3",
                 "problem.equation=mixture", "anderson.inner=3", "anderson.max_iterations=4", "anderson.max_condition=0"]  # fmt: skip
        pair, icwy = (self.run_keel(1, *words, f"anderson.orthogonalisation={methods}").record("solve") for methods in ("icwy/mgs", "icwy"))
        self.assertEqual(pair["orthogonalisation_reductions"], icwy["orthogonalisation_reductions"])
        # Three inner accelerations append three columns each: 1 + 2 + 3 all-reduces by mgs, 1 + 2 + 2 by icwy.
        self.assertEqual(pair["reductions"] - icwy["reductions"], 3)

    def test_what_has_no_solution_is_never_valid(self) -> None:
        # The turning points are near 9.9 in the cube and 6.8 in the square.
        plane = ["problem.dimensions=2", "problem.box=16", *self.CUBE[2:]]
        for words in ([*self.CUBE, "problem.kappa=11", "run.map=cycle", "multigrid.cycle=F"], [*plane, "problem.kappa=8", "anderson.max_iterations=40"]):
            run = self.run_keel(1, *words, "problem.equation=bratu")
            self.assertEqual(run.status, 1, run)
            self.assertNotIn("RESULT VALID", run.stdout)
            self.assertIn(run.record("solve")["outcome"], ("not_finite", "diverged", "iteration_limit"))
        for words in ([*self.CUBE, "problem.kappa=9.5"], [*plane, "problem.kappa=6.7", "run.map=cycle"]):
            self.valid(1, *words, "problem.equation=bratu")

    MACHINE = [f"comm.machine={INPUTS}/machines/hopper.toml", "comm.ranks_per_node=1"]

    def predicted(self, *words: object) -> list[Record]:
        run = self.dry_run(None, "run.mode=fixed_point", *self.MACHINE, *words)
        self.assertEqual(against_schema(run.records("solve")), [])
        return run.records("solve")

    def test_what_is_predicted_is_counted_like_a_run_of_so_many_ranks(self) -> None:
        walls = ["problem.box=8", "problem.boundary=dirichlet", "problem.a=0", "problem.b=1"]
        for method, words in (
            ("mgs", [*walls, "problem.equation=heat_1"]),
            ("dcgs2_fused", [*walls, "problem.equation=bratu", "run.map=cycle", "multigrid.cycle=F", "multigrid.bottom_box=2"]),
            ("icwy", ["problem.box=8", "problem.equation=linear", "run.map=cycle"]),
            ("cgs2", ["problem.dimensions=2", "problem.box=6", "problem.equation=mixture", "anderson.depth=3"]),
        ):
            ran = self.valid(2, *words, *ONCE, "run.mode=fixed_point", f"anderson.orthogonalisation={method}", *self.MACHINE[1:])
            solve = ran.record("solve")
            rows = self.predicted(*words, "problem.ranks=2")
            (row,) = [row for row in rows if row["orthogonalisation"] == method]
            with self.subTest(words=words):
                for name in ("iterations", "evaluations", "orthogonalisation_reductions", "orthogonalisation_words", "reductions",
                             "reduction_words", "exchanges"):  # fmt: skip
                    self.assertEqual(row[name], solve[name], name)
                self.assertIsNone(row["iterations_computed_on"])
                self.assertAlmostEqual(sum(row["parts"].values()), row["seconds"], delta=1e-12)
                for delayed in row["delayed"]:
                    late = delayed["all_reduce_delay"] * row["reductions"]
                    self.assertAlmostEqual(delayed["seconds"] - row["seconds"], late, delta=1e-9)
                self.assertEqual((len(rows), rows[0]["solver"], rows[1]["orthogonalisation"]), (8, "picard", "mgs"))

    def test_full_problems_are_predicted_for_ranks_that_are_not_there(self) -> None:
        # Whatever the number of ranks, the mixture has but the all-reduces of the acceleration, of G and of the test.
        rows = self.predicted("problem.dimensions=2", "problem.box=12", "problem.equation=mixture", "anderson.depth=3",
                              "anderson.tolerance=1e-8", "problem.ranks=8100")  # fmt: skip
        seconds = {row["orthogonalisation"]: row["seconds"] for row in rows if row["converged"]}
        self.assertLess(seconds["dcgs2_fused"], seconds["dcgs2"])
        self.assertLess(seconds["dcgs2"], seconds["mgs"])
        for row in rows[1:]:
            self.assertEqual(row["reductions"], row["orthogonalisation_reductions"] + 2 * row["iterations"] + 2)
        # Above 32^3 cells the bottom is the real one, and the levels above it a sample's.
        walls = ["problem.boundary=dirichlet", "problem.a=0", "problem.b=1"]
        grid = ["problem.box=8", "problem.ranks=125", "multigrid.bottom_box=2", "anderson.depth=1"]
        for words in (["problem.equation=bratu", "run.map=cycle"], ["problem.equation=heat_1"])[: 2 if NIGHTLY else 1]:
            row = self.predicted(*walls, *grid, *words)[1]
            self.assertTrue(row["converged"])
            self.assertEqual(row["computed_on"]["boxes"], [4, 4, 4])
            relaxed = "run.map=cycle" in words
            real = row["iterations_computed_on" if relaxed else "bottom_computed_on"]
            self.assertEqual((real["boxes"], real["box"]), ([5, 5, 5], 4))
            self.assertEqual(row["bottom_iterations"] > 0, not relaxed)

    def test_orthogonalisers_alone_are_timed_in_rounds_and_nothing_is_solved(self) -> None:
        run = self.valid(2, INPUTS / "smoke/orthogonalise.toml", "run.repeats=3")
        self.assertEqual(len(run.records("orthogonalise")), 7)
        self.assertEqual((run.records("solve"), "Solve: " in run.stdout), ([], False))
        self.assertRegex(run.stdout, r"(?m)^Round of all methods: median .* of 3 ")
        self.assertEqual({"factorisations_hold", "reductions_as_predicted"} - {check["name"] for check in run.records("check")}, set())

    def test_kernels_are_predicted_for_ranks_that_are_not_there(self) -> None:
        run = self.run_keel(None, "--dry-run", INPUTS / "orthogonalise.toml", "problem.boxes=default", "problem.box=5",
                            "problem.ranks=8100", "comm.ranks_per_node=36", "comm.machine=hopper", quick=False)  # fmt: skip
        self.assertEqual(run.status, 0, run)
        rows = {row["method"]: row for row in run.records("orthogonalise")}
        self.assertEqual({name: row["iteration"]["reductions"] for name, row in rows.items()},
                         {"mgs": 11, "icwy": 4, "icwy_rotated": 3, "cgs2": 4, "dcgs2": 3, "dcgs2_fused": 2, "icwy_fused": 2})  # fmt: skip
        seconds = {name: row["iteration"]["seconds"][0] for name, row in rows.items()}
        self.assertEqual(max(seconds, key=seconds.__getitem__), "mgs")
        self.assertTrue(all(row["predicted"] for row in rows.values()))

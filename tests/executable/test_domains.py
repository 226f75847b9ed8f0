"""Domains that are unions of boxes: the golden ones by their shapes, on any ranks; what is refused; what a dry run says."""

import json

from keel_runner import ONCE, ROOT, KeelTest, Record, Run, at_once, unwrapped
from record_schema import against_schema

GOLDEN: dict[str, Record] = {
    case["name"]: case for case in json.loads((ROOT / "tests/golden/domains.json").read_text())["cases"]
}


def words_of(problem: Record, shape: str = "") -> list[str]:
    """The keys that make a golden problem; its boxes by its shape or by another, such as their list."""
    shape = shape or ("list" if "clumps" in problem else problem.get("shape", "list"))
    sides = [side if isinstance(side, str) else "/".join(side) for side in problem["boundary"]]
    values = {
        "problem.box": problem["box"], "problem.boxes": problem["bounding"], "problem.shape": shape,
        "problem.a": problem["a"], "problem.b": problem["b"], "problem.coefficients": problem["coefficients"],
        "problem.alpha": problem["alpha"], "problem.rhs": problem["rhs"], "problem.boundary": sides,
        "multigrid.bottom_box": problem["bottom_box"], "multigrid.tolerance": problem["tolerance"],
        "bottom.solver": "cg", "bottom.tolerance": 1e-12, "bottom.max_iterations": 5000,
    }  # fmt: skip
    if problem["coefficients"] != "constant":
        values["problem.contrast"] = problem["contrast"]
    if shape != "cube":
        values["problem.outside"] = problem["outside"]
    if shape == "list":
        values["problem.shape"] = problem["boxes"]
    if shape in ("tags", "scattered"):
        values["problem.fill"] = problem["fill"]
    if problem["data"] != "zero":
        values["problem.data"] = problem["data"]
    if problem["dimensions"] != 3:
        values["problem.dimensions"] = problem["dimensions"]
    if "steps" in problem:
        values["run.steps"] = problem["steps"]
    if "drift" in problem:
        values["problem.drift"] = problem["drift"]
    if shape in ("tags", "scattered") or problem["rhs"] == "random":
        values["problem.seed"] = problem["seed"]
    return [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in values.items()]


class Golden(KeelTest):
    names = [name for name, case in GOLDEN.items() if "hist" in case]

    def test_golden_domains_by_their_shapes_on_1_2_3_and_8_ranks(self) -> None:
        cases = [(name, ranks) for number, name in enumerate(self.names) for ranks in (1, (2, 3, 8)[number % 3])
                 if ranks <= len(GOLDEN[name]["problem"]["boxes"])]  # fmt: skip
        runs = at_once(2, lambda case: self.valid(case[1], *words_of(GOLDEN[case[0]]["problem"]), *ONCE), cases)
        for (name, ranks), run in zip(cases, runs, strict=True):
            golden = GOLDEN[name]
            with self.subTest(domain=name, ranks=ranks):
                self.assertEqual(against_schema(run.all_records), [])
                domain = run.record("run")["domain"]
                if name != "patch_periodic":  # tests/golden/README.md
                    self.assertEqual(domain["faces"], golden["faces"])
                self.assertEqual((domain["boxes"], domain["cells"], domain["components"]),
                                 (len(golden["problem"]["boxes"]), golden["cells"], len(golden["components"])))  # fmt: skip
                self.same_history(run.record("solve")["residuals"], golden["hist"])
                self.assertAlmostEqual(run.record("result")["norm_f"] / golden["f_max"] if golden["f_max"] else 1, 1, delta=1e-11)
                self.same_solution(run, golden)

    def same_solution(self, run: Run, golden: Record) -> None:
        """|u| in the 2-norm; and order 2, which the run itself has checked, where the solution is known."""
        h = 1 / (golden["problem"]["box"] * max(golden["problem"]["bounding"]))
        rms = run.record("solve")["u_l2"] / (h ** golden["problem"]["dimensions"] * golden["cells"]) ** 0.5
        self.assertAlmostEqual(rms / golden["u_rms"], 1, delta=1e-7)
        orders = [check for check in run.records("check") if check["name"] == "discretisation_order"]
        self.assertEqual([check["passed"] for check in orders],
                         [True] if golden["problem"]["rhs"] == "manufactured" else [])  # fmt: skip

    def same_history(self, found: list[float], golden: list[float]) -> None:
        self.assertEqual(len(found), len(golden))
        for mine, theirs in zip(found, golden, strict=True):
            self.assertAlmostEqual(mine / theirs, 1, delta=1e-5 if theirs > 1e-9 else 1e-2)

    def test_shapes_are_the_golden_lists_of_boxes_bit_by_bit(self) -> None:
        # Tags and scattered boxes come from the seed.
        for name in ("L_helmholtz", "shell_neumann_singular", "patch_periodic", "scattered_linear"):
            problem = GOLDEN[name]["problem"]
            by_shape, by_list = (
                self.valid(1, *words_of(problem, shape), "run.deterministic=true", *ONCE).record("solve")["residuals"]
                for shape in ("", "list")
            )
            self.assertEqual(by_shape, by_list)


class Steps(KeelTest):
    def test_golden_cycles_of_every_step_from_zero_and_from_the_last_solution(self) -> None:
        cases = [(name, start, ranks) for name, ranks in (("steps_mac_3d", 2), ("steps_gravity_patch", 3))
                 for start in ("zero", "last")]  # fmt: skip
        more = ("run.deterministic=true", "multigrid.max_cycles=60", "run.warmup=0", "run.repeats=2")
        runs = at_once(2, lambda case: self.valid(case[2], *words_of(GOLDEN[case[0]]["problem"]),
                                                  f"run.start={case[1]}", *more), cases)  # fmt: skip
        for (name, start, _), run in zip(cases, runs, strict=True):
            with self.subTest(name=name, start=start):
                self.assertEqual(against_schema(run.all_records), [])
                golden = [step[f"cycles_{start}"] for step in GOLDEN[name]["steps"]]
                steps = run.records("step")
                self.assertEqual([step["step"] for step in steps], 2 * list(range(len(golden))))
                self.assertEqual([step["cycles"] for step in steps], 2 * golden)
                for step in steps:
                    first = step["step"] == 0 or start == "zero"
                    self.assertEqual(step["residuals"][0] == 1, first)
                    drifts = "drift" in GOLDEN[name]["problem"]
                    self.assertEqual(step["coefficients_seconds"] > 0, drifts)
                # A repeat is the whole sequence: a step takes its part of it.
                result = run.record("result")
                unknowns = run.record("run")["domain"]["cells"]
                self.assertAlmostEqual(result["fom"] * result["seconds"] / unknowns, 1, delta=1e-9)

    def test_every_bottom_solver_of_a_survey_solves_the_same_steps_and_its_row_sums_them(self) -> None:
        problem = [word for word in words_of(GOLDEN["steps_mac_3d"]["problem"]) if "bottom.solver" not in word]
        words = (*problem, "run.deterministic=true", "multigrid.max_cycles=60", "run.warmup=0", "run.repeats=2",
                 "run.start=last")  # fmt: skip
        solvers = ["cg", "bicgstab"]
        run = self.valid(2, *words, "run.mode=survey", f"run.survey={solvers}".replace("'", '"'))
        self.assertEqual(against_schema(run.all_records), [])
        for solver, row in zip(solvers, run.records("survey"), strict=True):
            alone = self.valid(2, *words, f"bottom.solver={solver}").records("step")
            steps = [step for step in run.records("step") if step["solver"] == solver]
            for name in ("repeat", "step", "residuals", "bottom_iterations", "u_l2", "reductions", "exchanges"):
                self.assertEqual([step[name] for step in steps], [step[name] for step in alone])
            for name in ("cycles", "bottom_iterations", "reductions", "reduction_words", "exchanges"):
                self.assertEqual(row[name], sum(step[name] for step in steps if step["repeat"] == 1))
            self.assertAlmostEqual(row["seconds_min"], min(
                sum(step["seconds"] for step in steps if step["repeat"] == repeat) for repeat in (0, 1)))  # fmt: skip

    def test_new_coefficients_are_those_of_a_run_that_begins_with_them(self) -> None:
        """Whatever a bottom solver keeps of the old ones: spectra, scalings, moved grids, deep ghosts."""
        words = ("problem.box=8", "problem.boxes=[2,2,1]", "problem.a=0.0", "problem.coefficients=ball",
                 "problem.boundary=dirichlet", "problem.rhs=zero", "problem.data=wave", "multigrid.bottom_box=4",
                 "run.deterministic=true", "multigrid.max_cycles=8", *ONCE)  # fmt: skip
        ways = [["bottom.solver=ca_cg", "bottom.basis=newton"], ["bottom.solver=deep_pipelined_cg"],
                ["bottom.solver=ca_bicgstab", "bottom.basis=chebyshev", "bottom.powers=fused_matrix_powers"],
                ["bottom.solver=deep_pipelined_cg", "bottom.depth=2", "bottom.spectrum=estimate"],
                ["bottom.solver=chebyshev", "bottom.spectrum=estimate"],
                ["bottom.solver=pipelined_s_step_cg", "bottom.basis=chebyshev"],
                ["bottom.solver=cg", "multigrid.bottom_grid=gather"], ["multigrid.smoother=chebyshev"],
                ["multigrid.fused_box=1", "multigrid.pre=1", "multigrid.post=1"]]  # fmt: skip

        def residuals(way: list[str]) -> tuple[list[float], list[float]]:
            # A drift of one whole domain comes back to where it began, but for rounding of the coordinates.
            steps = self.run_keel(2, *words, *way, "run.steps=3", "problem.drift=[0.5,0,0]").records("step")
            return steps[0]["residuals"], steps[2]["residuals"]

        for way, (first, last) in zip(ways, at_once(2, residuals, ways), strict=True):
            with self.subTest(way=way):
                self.assertEqual(first, last)


class Lists(KeelTest):
    def test_a_file_lists_boxes_as_an_array_does(self) -> None:
        self.file("boxes.txt", "# an L\n0 0 0\n1 0 0  # along x\n\n0 1 0\n")
        deck = self.file("deck.toml", '[problem]\nbox = 8\nshape = "boxes.txt"\n')
        by_file = self.valid(2, deck, "run.deterministic=true", *ONCE)
        by_array = self.valid(2, deck, "problem.shape=[[0,0,0],[1,0,0],[0,1,0]]", "run.deterministic=true", *ONCE)
        self.assertEqual(by_file.record("solve")["residuals"], by_array.record("solve")["residuals"])

    def test_a_file_that_is_no_list_is_refused_with_its_line(self) -> None:
        for text, complaint in {
            "0 0 0\n0 1\n": 'line 2: "0 1" is no position; give three integers from 0 on',
            "0 0 -1\n": 'line 1: "0 0 -1" is no position',
            "0 0 0 0\n": 'line 1: "0 0 0 0" is no position',
            "": "names no box",
        }.items():
            self.file("boxes.txt", text)
            deck = self.file("deck.toml", '[problem]\nshape = "boxes.txt"\n')
            self.refused(1, deck, expected=[complaint])


class Dry(KeelTest):
    def test_a_dry_run_counts_boxes_parts_and_faces_for_virtual_ranks(self) -> None:
        words = ("problem.box=8", "problem.shape=tags", "problem.fill=0.3", "problem.boxes_per_rank=2",
                 "problem.ranks=64", "comm.ranks_per_node=8")  # fmt: skip
        run = self.run_keel(1, "--dry-run", *words, quick=False)
        self.assertEqual(run.status, 0, run)
        plan = run.record("plan")
        self.assertEqual((plan["domain"]["boxes"], plan["boxes"], plan["unknowns"]), (128, [8, 8, 8], 128 * 512))
        faces = plan["domain"]["faces"]
        self.assertEqual(2 * faces["interior"] + faces["outer"] + faces["missing"], 6 * plan["unknowns"])
        self.assertEqual(faces["missing"], faces["dirichlet"])
        self.assertIn("in 128 of 8x8x8 boxes", unwrapped(run.stdout, 10))

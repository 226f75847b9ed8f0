"""Two dimensions: everything that there is in three, on any ranks, with the same counts predicted and counted."""

from keel_runner import ONCE, KeelTest, at_once, by_turns, counted_messages, planned_messages
from record_schema import against_schema

PLANE = ["problem.dimensions=2", "problem.box=16", "problem.boxes=[4,2,1]", "problem.coefficients=smooth", "problem.alpha=wave",
         "problem.rhs=manufactured", "multigrid.bottom_box=4", "multigrid.max_cycles=60", *ONCE]  # fmt: skip


class Planes(KeelTest):
    def all_valid(self, cases: list[tuple[int, list[str]]]) -> None:
        for (ranks, words), run in zip(
            cases, at_once(2, lambda case: self.valid(case[0], *PLANE, *case[1]), cases), strict=True
        ):
            with self.subTest(ranks=ranks, words=words):
                self.assertEqual(against_schema(run.all_records), [])
                self.assertEqual(run.record("run")["cells"], [64, 32, 1])
                (order,) = [check for check in run.records("check") if check["name"] == "discretisation_order"]
                self.assertAlmostEqual(order["value"], 2, delta=0.1)

    def test_every_bottom_solver(self) -> None:
        solvers = [row[0] for row in self.bottom_solvers()]
        more = {"smooth": ["bottom.sweeps=400"]}
        self.all_valid([((1, 2, 3)[n % 3], [f"bottom.solver={solver}", *more.get(solver, [])])
                        for n, solver in enumerate(by_turns(solvers, 3))])  # fmt: skip

    def test_every_smoother_boundary_cycle_and_place_of_the_bottom(self) -> None:
        ways = [["multigrid.smoother=jacobi"], ["multigrid.smoother=chebyshev", "comm.overlap=true"],
                ["multigrid.relaxation=1.2", "multigrid.interpolation=linear"],
                ["multigrid.fused_box=1", "problem.boundary=dirichlet"],
                ["multigrid.fused_box=1", "multigrid.pre=1", "multigrid.post=1", "problem.storage=blocks"],
                ["multigrid.cycle=F", "problem.boundary=neumann"], ["multigrid.accelerator=cg", "problem.a=0.0"],
                ['problem.boundary=["dirichlet/neumann","periodic","periodic"]', "comm.overlap=true", "problem.a=0.0"],
                *([f"multigrid.bottom_grid={place}", "problem.boundary=dirichlet"] for place in
                  ("consolidate", "gather", "replicate")),
                ["problem.shape=L", "problem.outside=neumann"], ["bottom.solver=ca_cg", "bottom.powers=fused_matrix_powers"],
                ["comm.ghost_depth=3", "comm.neighbours=all", "comm.overlap=true"]]  # fmt: skip
        self.all_valid([((1, 2, 3, 4, 6)[n % 5], words) for n, words in enumerate(ways)])

    def test_a_dry_run_predicts_memory_and_messages(self) -> None:
        for ranks, more in ((2, []), (3, ["comm.neighbours=all", "comm.ghost_depth=2"]), (8, ["comm.scheme=three_step"])):
            words = ["problem.dimensions=2", "problem.box=32", "problem.boxes=[4,2,1]", "comm.ranks_per_node=2",
                     "multigrid.reference_path=true", *more, *ONCE]  # fmt: skip
            plan = self.planned(ranks, *words)
            run = self.valid(ranks, *words)
            facts = run.record("run")
            self.assertEqual((plan["unknowns"], facts["cells"]), (8 * 32 * 32, [128, 64, 1]))
            self.assertEqual(plan["predicted_bytes"], facts["predicted_bytes"])
            # The busiest rank's messages: so many in each exchange as the plan has.
            for planned, counted in zip(planned_messages(plan), counted_messages(run), strict=True):
                exchanges = counted[0] // planned[0]
                self.assertGreater(exchanges, 4)
                self.assertEqual(counted, [exchanges * number for number in planned])

    def test_virtual_ranks_and_predicted_seconds(self) -> None:
        words = ["problem.dimensions=2", "problem.box=64", "comm.machine=hopper", "problem.ranks=256", "comm.ranks_per_node=16"]
        plan = self.planned(1, *words)
        self.assertEqual((plan["boxes"], plan["unknowns"]), ([16, 16, 1], 256 * 64 * 64))
        text = self.text(1, "--dry-run", *words)
        self.assertIn("1024^2", text)
        self.assertIn("64^2", text)
        self.assertRegex(text, r"(?m)^cg +6 +[0-9]+ .* ms")

    def test_boxes_beyond_three_dimensions_widest(self) -> None:
        plan = self.planned(1, "problem.dimensions=2", "problem.box=4096", "multigrid.bottom_box=8")
        self.assertEqual(plan["unknowns"], 4096**2)

"""Memory that a dry run predicts is what the run predicts, and what it uses."""

from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

from keel_runner import INPUTS, ONCE, KeelTest, Record, by_turns
from test_arrays import numpy_file

AGGLOMERATED = ["problem.box=32", "problem.boxes=[4,4,2]", "multigrid.agglomerate=1000000", "bottom.tolerance=0.5", "multigrid.tolerance=1e-2"]
KRYLOV = ["run.mode=krylov", "bottom.tolerance=1e-2"]
FIXED_POINT = [INPUTS / "fixed_point.toml", "problem.box=64"]
SPMV = ["run.mode=spmv", "problem.box=40"]
ROWS = ["run.mode=spmv", "problem.matrix=random"]
AMG = ["problem.boundary=dirichlet", "bottom.solver=amg", "multigrid.tolerance=0.01"]
SPACE = [*AMG, "problem.box=64", "multigrid.bottom_box=32"]
PLANE = [*AMG, "problem.dimensions=2", "problem.box=384", "multigrid.bottom_box=192"]
CLASSICAL = ["amg.coarsening=pmis", "amg.theta=0.25"]
MISSING = ["problem.box=64", "problem.boxes=[3,2,2]", "problem.shape=[[0,0,0],[1,0,0],[2,0,0],[2,1,0],[2,1,1]]", "problem.data=wave", "problem.rhs=wave"]
# Enough cells for a tenth to be more than the megabyte that code and libraries grow by, which nobody predicts.
GRIDS = [
    (1, MISSING, 0.1),
    (2, MISSING, 0.1),
    (4, AGGLOMERATED, 0.1),
    (4, [*AGGLOMERATED, "multigrid.interpolation=linear", "problem.storage=blocks"], 0.1),
    (4, [*AGGLOMERATED, "multigrid.precision=mixed"], 0.1),
    (1, [*KRYLOV, "bottom.solver=ca_gmres"], 0.1),
    (1, [*KRYLOV, "bottom.solver=cg", "bottom.scaling=none", "bottom.preconditioner=v_cycle"], 0.1),
    (1, [*KRYLOV, "bottom.scaling=none", "bottom.preconditioner=block_ic0", "bottom.norm=natural", "bottom.solver=ca_cg",
         "bottom.basis=newton"], 0.1),
    (1, [*FIXED_POINT, "multigrid.accelerator=cg"], 0.1),
    (1, [*FIXED_POINT, "run.map=cycle", "anderson.depth=2"], 0.1),
    (1, [INPUTS / "orthogonalise.toml", "problem.boxes=[1,1,1]"], 0.1),
    # Lists of messages.
    (2, ["problem.box=32", "problem.boxes=[2,1,1]", "comm.ranks_per_node=1", "comm.scheme=split", "comm.message_cap=8",
         "multigrid.reference_path=true"], 0.2),
]  # fmt: skip
MATRICES = [
    (2, SPACE, 0.12),
    (2, [*SPACE, *CLASSICAL], 0.12),
    (2, [*PLANE, *CLASSICAL], 0.12),
    (2, [*PLANE, "amg.smoothing=gauss_seidel"], 0.12),
    (2, [*SPMV, "problem.columns=3"], 0.1),
    (2, [*SPMV, "problem.matrix=stencil27", "run.solve=true", "bottom.solver=cg", "bottom.tolerance=1e-8"], 0.1),
    (2, [*SPMV, "problem.ordering=random", "comm.transport=put"], 0.1),
    (2, ROWS, 0.1),
    (2, [*ROWS, "problem.rows=2000", "problem.row_entries=300"], 0.1),
    (2, ["run.mode=spmv", "problem.matrix=arrow", "problem.rows=200000"], 0.1),
]  # fmt: skip


class Memory(KeelTest):
    def used(self, ranks: int, *words: object, within: float = 0.1) -> Record:
        """The head of a run that used the memory which it and a dry run predict."""
        facts = self.valid(ranks, *words, *ONCE).facts
        predicted, planned = facts["predicted_bytes"], self.planned(ranks, *words)["predicted_bytes"]
        # A dry run takes the rank with most entries, a run the one with most bytes.
        self.assertAlmostEqual(planned / predicted, 1, delta=1e-3 if "run.mode=spmv" in words else 0)
        self.assertAlmostEqual(predicted, facts["measured_bytes"], delta=within * facts["measured_bytes"])
        return facts

    def test_memory_predicted_is_memory_used(self) -> None:
        """Every second case of a grid by day: tests/miniapp/test_counted_grid.cpp counts its fields to the byte."""
        for ranks, words, within in (*by_turns(GRIDS, 2), *MATRICES):
            with self.subTest(ranks=ranks, words=words):
                self.used(ranks, *words, within=within)

    def test_values_and_matrices_from_files(self) -> None:
        f = Path(self.enterContext(TemporaryDirectory())) / "f.npy"
        f.write_bytes(numpy_file((128, 64, 64), lambda i, j, k: (i + j + k) % 3 - 1.0))
        for ranks in (1, 2):
            self.used(ranks, "problem.box=64", "problem.boxes=[2,1,1]", f"problem.rhs={f}")
        rows, half = 40000, 4
        entries = [f"{row} {column} {20 if row == column else 1.5}" for row in range(1, rows + 1) for column in range(max(1, row - half), row + 1)]
        matrix = self.matrix("band.mtx", rows, entries)
        self.used(2, "run.mode=spmv", matrix)
        f.write_bytes(numpy_file((rows,), lambda n: n % 3 - 1.0))
        self.used(2, "run.mode=spmv", matrix, "run.solve=true", "bottom.solver=bicgstab", f"problem.rhs={f}", "problem.ordering=random")

    def test_a_plain_solve_keeps_little_but_its_arrays(self) -> None:
        for ranks in (1, 2):
            facts = self.used(ranks, INPUTS / "papers/seed_weak.toml")
            self.assertEqual(prod(facts["cells"]), ranks * 64**3)
            self.assertGreater(facts["array_bytes"], 8 * 8 * 64**3)
            self.assertLessEqual(facts["measured_bytes"], 1.35 * facts["array_bytes"])
            facts = self.used(ranks, "problem.dimensions=2", "problem.box=512", "problem.boxes=[2,2,1]", "problem.rhs=wave")
            # 7 fields a level, levels 4/3 of the finest; the bottom's vectors are small, ghosts and padding a few percent.
            self.assertLess(facts["predicted_bytes"], 1.15 * 8 * 7 * 4 / 3 * 4 / ranks * 512**2)

    def test_deep_ghosts(self) -> None:
        words = (INPUTS / "smoke/ca_cg_matrix_powers.toml", "run.mode=krylov", "problem.box=32", "problem.storage=boxes")
        deep = self.used(2, *words)["predicted_bytes"]
        # Four ghost layers for one, in nearly all the memory there is.
        self.assertGreater(deep, 1.3 * self.planned(2, *words, "bottom.powers=paired")["predicted_bytes"])
        self.assertEqual(self.used(2, *words, "bottom.powers=fused_matrix_powers")["predicted_bytes"], deep)

    def test_ghosts_of_fused_sweeps(self) -> None:
        words = ("problem.box=32", "problem.boxes=[2,2,2]", "multigrid.fused_box=1")
        boxes, blocks = (self.used(2, *words, f"problem.storage={storage}")["predicted_bytes"] for storage in ("boxes", "blocks"))
        self.assertLess(blocks, 0.9 * boxes)  # no ghosts between two boxes

    def test_fewer_fused_half_sweeps_need_less(self) -> None:
        words = ("problem.box=32", "problem.boxes=[4,2,2]", "problem.storage=boxes")
        plain, all_of_leg = (self.planned(2, *words, *some)["predicted_bytes"] for some in (["multigrid.reference_path=true"], []))
        some_of_leg = self.used(2, *words, "multigrid.fused_half_sweeps=2")["predicted_bytes"]
        self.assertTrue(plain < some_of_leg < 0.9 * all_of_leg)

    def test_a_bottom_grid_that_is_moved(self) -> None:
        words = ["problem.box=32", "problem.boxes=[4,4,2]", "multigrid.bottom_box=16", "bottom.tolerance=0.5", "multigrid.tolerance=1e-2"]
        for place in ("consolidate", "gather", "replicate"):
            moved = self.used(4, *words, f"multigrid.bottom_grid={place}")["predicted_bytes"]
            self.assertGreater(moved, 1.5 * self.planned(4, *words)["predicted_bytes"])

    def test_all_solvers_of_a_survey(self) -> None:
        words = ["problem.box=64", "multigrid.bottom_box=32"]
        survey = self.used(1, *words, "run.mode=survey", "bottom.tolerance=0.1")["predicted_bytes"]
        self.assertGreater(survey, 1.5 * self.planned(1, *words)["predicted_bytes"])

"""Memory that a dry run predicts is what the run predicts, and what it uses."""

from math import prod

from keel_runner import INPUTS, ONCE, KeelTest, Record, by_turns
from test_arrays import numpy_file

AGGLOMERATED = ["problem.box=32", "problem.boxes=[4,4,2]", "multigrid.agglomerate=1000000", "bottom.tolerance=0.5", "multigrid.tolerance=1e-2"]
MOVED = ["problem.box=32", "problem.boxes=[4,4,2]", "multigrid.bottom_box=16", "bottom.tolerance=0.5", "multigrid.tolerance=1e-2"]
KRYLOV = ["run.mode=krylov", "bottom.tolerance=1e-2"]
DEEP = [INPUTS / "smoke/ca_cg_matrix_powers.toml", "run.mode=krylov", "problem.box=32", "problem.storage=boxes"]
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
    (2, [*DEEP, "bottom.powers=matrix_powers"], 0.1),
    (2, [*DEEP, "bottom.powers=fused_matrix_powers"], 0.1),
    (2, ["problem.box=32", "problem.boxes=[2,2,2]", "multigrid.fused_box=1", "problem.storage=blocks"], 0.1),
    (2, ["problem.box=32", "problem.boxes=[4,2,2]", "problem.storage=boxes", "multigrid.fused_half_sweeps=2"], 0.1),
    (4, [*MOVED, "multigrid.bottom_grid=consolidate"], 0.1),
    (4, [*MOVED, "multigrid.bottom_grid=gather"], 0.1),
    (4, [*MOVED, "multigrid.bottom_grid=replicate"], 0.1),
    (1, ["problem.box=64", "multigrid.bottom_box=32", "run.mode=survey", "bottom.tolerance=0.1"], 0.1),
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
        f = self.file("f.npy", numpy_file((128, 64, 64), lambda i, j, k: (i + j + k) % 3 - 1.0))
        for ranks in (1, 2):
            self.used(ranks, "problem.box=64", "problem.boxes=[2,1,1]", f"problem.rhs={f}")
        rows, half = 40000, 4
        entries = [f"{row} {column} {20 if row == column else 1.5}" for row in range(1, rows + 1) for column in range(max(1, row - half), row + 1)]
        matrix = self.matrix("band.mtx", rows, entries)
        self.used(2, "run.mode=spmv", matrix)
        f = self.file("f.npy", numpy_file((rows,), lambda n: n % 3 - 1.0))
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

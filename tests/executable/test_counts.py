"""The program counts the same as a library between it and MPI: messages, bytes, all-reduces, requests."""

import json
from dataclasses import dataclass

from keel_runner import ALL_REDUCES, ROOT, KeelTest, Record, Run, at_once, calls_of_mpi, preloading

DETERMINISTIC = "run.deterministic=true"
SMALL = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "problem.rhs=wave", "run.warmup=1",
         DETERMINISTIC, "run.triad_mb=1"]  # fmt: skip
KRYLOV = [*SMALL, "run.mode=krylov", "bottom.tolerance=1e-3", "comm.ranks_per_node=2"]
MULTIGRID = [*SMALL, "multigrid.tolerance=1e-4", "multigrid.bottom_box=4"]
MATRIX = ["run.mode=spmv", "problem.matrix=stencil7", "problem.box=8", "comm.ranks_per_node=2", "run.solve=true",
          "bottom.solver=cg", "run.warmup=1", "run.triad_mb=1"]  # fmt: skip
OWN_SUMS = "comm.allreduce=recursive_doubling"
NODE_SUMS = "comm.allreduce=node_aware"
BOXES = 8
REPEATS = 3
TRAFFIC = ["messages", "bytes", "off_node_messages", "off_node_bytes"]
# Functions that keel calls and the library leaves to MPI: no message of the program's own, no request, no handle.
NOT_COUNTED = {
    "MPI_Abort", "MPI_Allgather", "MPI_Barrier", "MPI_Bcast", "MPI_Comm_group", "MPI_Comm_rank", "MPI_Comm_set_errhandler",
    "MPI_Comm_size", "MPI_Error_string", "MPI_Gather", "MPI_Get_count", "MPI_Get_library_version", "MPI_Group_free",
    "MPI_Group_translate_ranks", "MPI_Init_thread", "MPI_Iprobe", "MPI_Precv_init", "MPI_Pready_range",
    "MPI_Psend_init",  # unknown to an MPI before version 4
    "MPI_Recv", "MPI_Win_flush", "MPI_Win_lock_all",
    "MPI_Win_shared_query", "MPI_Win_sync", "MPI_Win_unlock_all",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    ranks: int
    words: tuple[str, ...]


def doubling_messages(ranks: int) -> int:
    """All ranks' messages in one sum by recursive doubling: the largest power of two takes the rounds, others join and leave."""
    rounds = ranks.bit_length() - 1
    return 2**rounds * rounds + 2 * (ranks - 2**rounds)


def norm_messages(case: Case) -> tuple[int, int]:
    """Messages and words of all ranks in a sum of a word a box by messages of our own."""
    if NODE_SUMS not in case.words:
        return doubling_messages(case.ranks), doubling_messages(case.ranks) * BOXES
    # Nodes of two: halves there, to and from a partner; the sum of each half on all nodes.
    if case.ranks % 2 == 0:
        messages = 2 * case.ranks + 2 * doubling_messages(case.ranks // 2)
        return messages, messages * BOXES // 2
    # The last one is alone: to the first rank of each node and back; the sum of nodes.
    messages = 2 * (case.ranks // 2) + doubling_messages(case.ranks // 2 + 1)
    return messages, messages * BOXES


class Counts(KeelTest):
    def setUp(self) -> None:
        if self.counter is None:
            self.skipTest("no library that counts MPI calls: --counter")

    def counted(self, case: Case, repeats: int) -> tuple[Run, list[Record]]:
        """A run of so many measured solves, and what the library counted of each rank in all of it."""
        run = self.run_keel(case.ranks, *case.words, f"run.repeats={repeats}", quick=False,
                            under=["env", preloading(self.counter)])  # fmt: skip
        self.assertEqual(run.status, 0, run)
        ranks = [json.loads(run.files[f"counts_{rank}.json"]) for rank in range(case.ranks)]
        for seen in ranks:  # nothing is left behind, and nothing complete is tested or waited for
            for name in ("requests_left", "communicators_left", "operations_left", "windows_left", "idle_tests", "idle_waits"):
                self.assertEqual(seen[name], 0, f"{name}{run}")
        return run, ranks

    def difference(self, case: Case) -> tuple[Run, dict[str, int]]:
        """The longer of two runs, and what it did more than the shorter, by all ranks (all-reduces: by rank 0)."""
        (_, once), (run, more) = (self.counted(case, repeats) for repeats in (1, REPEATS))
        node_of = run.record("run")["node_of"]

        def seen(name: str, ranks: list[Record], off_node: bool) -> int:
            return sum(
                number
                for sender, rank in enumerate(ranks)
                for receiver, number in enumerate(rank[name])
                if not off_node or node_of[sender] != node_of[receiver]
            )

        result: dict[str, int] = {
            prefix + name: seen(name, more, prefix != "") - seen(name, once, prefix != "")
            for prefix in ("", "off_node_")
            for name in ("messages", "bytes")
        }
        for name in ("sums", "words"):
            result[name] = more[0][name] - once[0][name]
        result["collected"] = sum(rank["collected"] for rank in more) - sum(rank["collected"] for rank in once)
        return run, result

    def hold(self, case: Case) -> None:
        """Holds the timer and solve records of a run on grids against the library's counts."""
        run, seen = self.difference(case)
        steps = max(1, len(run.records("step")) // REPEATS)
        boxes = BOXES if DETERMINISTIC in case.words else 1
        solves = steps * (REPEATS - 1)
        own_sums = OWN_SUMS in case.words or NODE_SUMS in case.words
        # Beyond a solve, a repeat takes the norm of u, to which every box adds a word where sums are deterministic.
        norm, words = norm_messages(case) if own_sums else (0, 0)
        outside = {"messages": norm, "bytes": 8 * words}
        # Counts of algebraic multigrid's own levels are on the coarsest one already.
        timers = [row for row in run.records("timer") if not row.get("solver", "").startswith("amg.")]
        for name in TRAFFIC:
            if own_sums and name.startswith("off_node"):
                continue  # the norm's messages have no record
            counted = sum(row[f"all_{name}"] for row in timers) + outside.get(name, 0)
            self.assertEqual(seen[name], solves * counted, f"{name}{run}")
        if not own_sums and steps == 1:  # a solve has no sums of new coefficients
            # Multigrid's all-reduces on level 0 are maxima, for its stopping test.
            level = max(row["level"] for row in timers)
            sums = [row for row in timers if row["op"] in ALL_REDUCES and row["level"] == level]
            self.assertEqual(seen["sums"], solves * (sum(row["calls"] for row in sums) + 1), run)
            self.assertEqual(seen["words"], solves * (sum(row["words"] for row in sums) + boxes), run)
        self.assertGreater(seen["messages"], 0)

    def hold_all(self, cases: list[Case]) -> None:
        def hold(case: Case) -> None:
            with self.subTest(case=case):
                self.hold(case)

        at_once(2, hold, cases)

    def test_every_call_of_keel_is_counted_or_known_to_need_none(self) -> None:
        called, wrapped = calls_of_mpi(), calls_of_mpi(ROOT / "tests/pmpi/count_calls.cpp")
        self.assertEqual(called - wrapped, NOT_COUNTED)
        self.assertLessEqual(wrapped, called | {"MPI_Finalize"})

    def test_every_bottom_solver(self) -> None:
        solvers = [row[0] for row in self.bottom_solvers()]
        cases = []
        for number, solver in enumerate(solvers):
            ranks = (2, 3, 4)[number % 3]  # 8 below, with solvers of each kind
            words = MULTIGRID if solver in ("smooth", "amg", "chebyshev") else KRYLOV  # too slow for a whole problem
            if solver == "amg":
                words = [word for word in words if word != DETERMINISTIC]
            cases.append(Case(ranks, (*words, f"bottom.solver={solver}")))
        self.hold_all(cases)

    def test_transports(self) -> None:
        grids = (*MULTIGRID, "comm.scheme=three_step", "comm.ranks_per_node=2", "multigrid.bottom_grid=2")
        self.hold_all([
            Case(4, (*grids, "comm.transport=persistent")),
            Case(3, (*grids, "comm.transport=neighbour")),
            Case(4, (*grids, "comm.transport=put")),
            Case(4, (*KRYLOV, "comm.transport=neighbour", "bottom.solver=ca_cg", "bottom.powers=matrix_powers")),
        ])  # fmt: skip
        # All ranks share memory, whatever nodes are made of them.
        for words in (grids, (*MATRIX, "comm.scheme=three_step")):
            run, seen = self.difference(Case(4, (*words, "comm.transport=shared")))
            self.assertEqual(seen["messages"], 0, run)
            self.assertGreater(sum(row["all_messages"] for row in run.records("timer")), 0, run)

    def test_sums_in_messages_of_our_own(self) -> None:
        cases = [
            Case(ranks, (*words, sums, f"bottom.solver={solver}"))
            for ranks, words, sums, solver in (
                (2, KRYLOV, OWN_SUMS, "cg"), (3, KRYLOV, OWN_SUMS, "deep_pipelined_cg"), (4, MULTIGRID, OWN_SUMS, "bicgstab"),
                (8, KRYLOV, OWN_SUMS, "pipelined_cg"),
                (3, [*MULTIGRID, "multigrid.bottom_grid=2"], OWN_SUMS, "bicgstab"),
                (3, KRYLOV, NODE_SUMS, "ca_bicgstab"), (8, KRYLOV, NODE_SUMS, "deep_pipelined_cg"),
            )
        ]  # fmt: skip
        self.hold_all(cases)

    def test_sums_in_twofold_precision(self) -> None:
        words = (*KRYLOV, "bottom.solver=ca_cg", "bottom.gram_precision=double_double", "bottom.s=8")
        self.hold_all([Case(3, words), Case(4, (*words, NODE_SUMS)), Case(3, (*words, OWN_SUMS))])
        # Sums are of pairs unless every box has a word of its own; a repeat's norm is one of one word.
        run, seen = self.difference(Case(4, tuple(word for word in words if not word.startswith("run.deterministic"))))
        sums = [row for row in run.records("timer") if row["op"] in ALL_REDUCES]
        self.assertEqual(seen["sums"], (REPEATS - 1) * (sum(row["calls"] for row in sums) + 1))
        self.assertEqual(seen["words"], (REPEATS - 1) * (sum(row["words"] for row in sums) + 1))

    def test_sums_in_flight_are_progressed(self) -> None:
        cases = [(solver, sums) for solver in ("cg", "pipelined_cg", "deep_pipelined_cg") for sums in ("comm.allreduce=mpi", OWN_SUMS)]

        def hold(case: tuple[str, str]) -> None:
            solver, sums = case
            with self.subTest(case=case):
                _, ranks = self.counted(Case(3, (*KRYLOV, f"bottom.solver={solver}", sums)), 1)
                for seen in ranks:  # nothing but sums is tested
                    self.assertEqual(seen["tests"] > 0, solver != "cg")

        at_once(2, hold, cases)

    def test_every_scheme(self) -> None:
        schemes = ["standard", "two_step", "three_step", "split", "staged_axes"]
        cases = []
        for number, scheme in enumerate(schemes):
            words = [*MULTIGRID, f"comm.scheme={scheme}", "comm.ranks_per_node=2"]
            cases += [Case(ranks, tuple(words)) for ranks in ((4,), (3, 8))[number % 2]]
        self.hold_all(cases)

    def test_two_dimensions(self) -> None:
        flat = ["problem.dimensions=2", "problem.box=16", "problem.boxes=[4,2,1]", "problem.coefficients=smooth", "problem.rhs=wave",
                "run.warmup=1", "run.deterministic=true", "run.triad_mb=1", "comm.ranks_per_node=2"]  # fmt: skip
        self.hold_all([Case(2, (*flat, "multigrid.fused_box=1")), Case(3, (*flat, "comm.scheme=staged_axes")),
                       Case(8, (*flat, "comm.neighbours=all", "comm.scheme=two_step", "bottom.solver=ca_bicgstab",
                                "bottom.powers=fused_matrix_powers")),
                       Case(4, (*flat, "run.mode=krylov", "bottom.tolerance=1e-3", "bottom.solver=pipelined_cg"))])  # fmt: skip

    def test_ways_of_cycles(self) -> None:
        nodes = "comm.ranks_per_node=2"
        fused = [*MULTIGRID, "multigrid.fused_box=1", nodes]
        colours = [*MULTIGRID, "multigrid.ghost_colours=needed", nodes]
        mixed = [*SMALL, "multigrid.bottom_box=4", "multigrid.precision=mixed", nodes]
        merged = [*SMALL, "multigrid.tolerance=1e-4", "multigrid.agglomerate=1"]
        self.hold_all([
            Case(3, tuple(fused)),
            Case(4, (*fused, "comm.scheme=three_step", "multigrid.cycle=F")),
            Case(2, (*fused, "problem.storage=blocks", "multigrid.accelerator=cg", OWN_SUMS)),
            Case(8, (*fused, "multigrid.fused_half_sweeps=3", "multigrid.pre=1", "comm.scheme=two_step")),
            Case(3, (*MULTIGRID, nodes, "multigrid.fused_box=8", "multigrid.fused_half_sweeps=2", "problem.storage=blocks")),
            Case(3, (*colours, "comm.scheme=three_step")),
            Case(4, (*colours, "multigrid.fused_box=1", "multigrid.precision=mixed", "comm.scheme=two_step")),
            Case(3, (*mixed, "multigrid.fused_box=1")),
            Case(4, (*mixed, "comm.scheme=three_step", "multigrid.cycle=F", "multigrid.bottom_grid=gather")),
            Case(4, (*merged, OWN_SUMS, "multigrid.cycle=F", "comm.scheme=three_step", nodes)),
            Case(3, (*merged, "multigrid.precision=mixed")),
        ])  # fmt: skip

    def test_new_coefficients_of_steps(self) -> None:
        words = [*MULTIGRID, "run.steps=3", "problem.drift=[0.1,0,0]", "comm.ranks_per_node=1"]
        self.hold_all([Case(2, (*words, "multigrid.agglomerate=1000")), Case(3, (*words, "multigrid.agglomerate=64")),
                       Case(2, (*words, "multigrid.bottom_grid=consolidate")),
                       Case(4, (*words, "multigrid.bottom_grid=gather", "bottom.solver=chebyshev")),
                       Case(2, (*words, "multigrid.fused_box=1", "multigrid.bottom_grid=replicate")),
                       Case(3, (*words, OWN_SUMS, "multigrid.agglomerate=1000", "bottom.solver=ca_cg", "bottom.basis=newton"))])  # fmt: skip

    def test_algebraic_multigrid_on_the_bottom(self) -> None:
        words = [word for word in MULTIGRID if word != DETERMINISTIC] + ["comm.ranks_per_node=2"]
        solver = "bottom.solver=amg"
        by_cg = ("bottom.solver=cg", "bottom.scaling=none", "bottom.preconditioner=amg", "amg.smoothing=gauss_seidel")
        self.hold_all([Case(4, (*words, solver, "comm.scheme=three_step")),
                       Case(3, (*words, *by_cg)),
                       Case(4, (*words, solver, "multigrid.bottom_grid=2")),
                       Case(4, (*words, solver, "multigrid.cycle=F", "comm.scheme=staged_axes", "comm.neighbours=all",
                                "amg.coarsening=pmis", "amg.theta=0.25"))])  # fmt: skip

    def test_the_coarsest_level_of_algebraic_multigrid(self) -> None:
        words = (*(word for word in MATRIX if word not in ("bottom.solver=cg", "problem.box=8")), "problem.box=7", "bottom.solver=amg")
        for ranks, more in ((3, ()), (4, ("amg.coarsest=gathered",)), (4, ("amg.coarsest=krylov",))):
            case = Case(ranks, (*words, *more))
            with self.subTest(case=case):
                run, seen = self.difference(case)
                solves = run.records("solve")[1:]
                coarsest = run.record("amg")["coarsest"]
                cycles = sum(solve["iterations"] for solve in solves)
                # The check of symmetry, behind the solves, is the same in both runs.
                self.assertEqual(seen["collected"], cycles * coarsest["words"]["all"], run)
                self.assertEqual(coarsest["words"]["all"] == 0, "amg.coarsest=krylov" in more)
                solved = sum(row["all_messages"] for row in run.records("timer") if row.get("solver") == "amg")
                products = sum(row["all_messages"] for row in run.records("timer") if row.get("solver") not in ("amg", "amg.setup"))
                self.assertEqual(seen["messages"], (REPEATS - 1) * (solved + products), run)

    def test_products_and_solves_with_a_matrix(self) -> None:
        for case in (Case(3, (*MATRIX, "comm.transport=persistent")), Case(4, (*MATRIX, OWN_SUMS, "comm.scheme=three_step", "comm.transport=put")),
                     Case(4, (*MATRIX, "comm.transport=neighbour", "comm.scheme=two_step"))):  # fmt: skip
            with self.subTest(case=case):
                run, seen = self.difference(case)
                products = run.records("timer")
                solves = run.records("solve")[1:]
                for name in TRAFFIC:
                    counted = (REPEATS - 1) * sum(row[f"all_{name}"] for row in products)
                    self.assertEqual(seen[name], counted + sum(solve["all"][name] for solve in solves), f"{name}{run}")
                self.assertGreater(seen["off_node_messages"], 0)

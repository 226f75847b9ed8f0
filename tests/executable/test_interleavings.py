"""Whatever messages, tests and ranks wait for, a run does the same: under a library between keel and MPI that delays them.

KEEL_DISTURBANCES in the environment: with how many seeds (default: 1).
"""

import itertools
import json
import os
import re
from dataclasses import dataclass

from keel_runner import ONCE, ROOT, KeelTest, Record, at_once, calls_of_mpi, preloading

SMALL = ["problem.box=4", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "problem.rhs=wave", "multigrid.bottom_box=2",
         "run.deterministic=true", *ONCE]  # fmt: skip
PIPELINED = [*SMALL, "run.mode=survey", "bottom.tolerance=1e-3",
             'run.survey=["pipelined_cg","pipelined_bicgstab","deep_pipelined_cg","deep_pipelined_cg depth=4"]']  # fmt: skip
EXCHANGES = [*SMALL, "multigrid.cycle=F", "multigrid.bottom_grid=2", "comm.ranks_per_node=2",
             "bottom.solver=bicgstab"]  # fmt: skip
MATRIX = ["run.mode=spmv", "problem.matrix=stencil7", "problem.box=4", "comm.ranks_per_node=2", "run.solve=true",
          "bottom.solver=pipelined_cg", "comm.allreduce=recursive_doubling", *ONCE]  # fmt: skip
SCHEMES = ["standard", "two_step", "three_step", "split", "staged_axes"]
# Functions that keel calls and the library leaves alone: nothing that waits, or nothing is in flight then. If something were,
# the run would hang: the library holds back what others wait for.
NOT_DISTURBED = {
    "MPI_Abort", "MPI_Comm_free", "MPI_Comm_rank", "MPI_Comm_set_errhandler", "MPI_Comm_size", "MPI_Error_string", "MPI_Get_count",
    "MPI_Get_library_version", "MPI_Init_thread", "MPI_Op_create", "MPI_Op_free",
    "MPI_Comm_group", "MPI_Group_free", "MPI_Group_translate_ranks", "MPI_Win_lock_all", "MPI_Win_shared_query",
    "MPI_Precv_init", "MPI_Pready_range", "MPI_Psend_init",  # unknown to an MPI before version 4
    "MPI_Win_sync", "MPI_Win_unlock_all",
    "MPI_Bcast", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Dist_graph_create_adjacent", "MPI_Gather",
    "MPI_Gatherv", "MPI_Scatterv", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_free",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    ranks: int
    words: tuple[str, ...]
    seed: int


def solved(records: list[Record]) -> list[Record]:
    """The fields of every solve that must be the same to the last bit."""
    alike = ("solver", "outcome", "cycles", "iterations", "bottom_iterations", "residuals", "u_l2")
    return [{key: record[key] for key in alike if key in record} for record in records]


class Interleavings(KeelTest):
    def setUp(self) -> None:
        if self.disturber is None:
            self.skipTest("no library that disturbs MPI calls: --disturber")
        self.seeds = range(1, 1 + int(os.environ.get("KEEL_DISTURBANCES", "1")))

    def same(self, plain: list[str], disturbed: list[tuple[int, list[str]]], ranks: int = 2) -> None:
        """One undisturbed run on so many ranks, and disturbed ones on others with further words."""
        expected = solved(self.valid(ranks, *plain).records("solve"))
        self.assertTrue(expected and all(record["residuals"][1:] for record in expected), expected)
        cases = [Case(ranks, (*plain, *words), seed) for seed in self.seeds for ranks, words in disturbed]

        def hold(case: Case) -> None:
            with self.subTest(case=case):
                run = self.run_keel(case.ranks, *case.words,
                                    under=["env", preloading(self.disturber), f"KEEL_DISTURB={case.seed}"])  # fmt: skip
                self.assertEqual(run.status, 0, run)
                self.assertEqual(solved(run.records("solve")), expected, run)
                for rank in range(case.ranks):
                    done = json.loads(run.files[f"disturbed_{rank}.json"])
                    self.assertGreater(done["late"] + done["denied"], 0, run)

        at_once(2, hold, cases)

    def test_every_call_of_keel_is_disturbed_or_known_to_need_none(self) -> None:
        called = calls_of_mpi()
        wrapped = set(re.findall(r"^int (MPI_\w+)\(", (ROOT / "tests/pmpi/disturb_calls.cpp").read_text(), re.M))
        self.assertEqual(called - wrapped, NOT_DISTURBED)
        self.assertLessEqual(wrapped, called | {"MPI_Finalize"})

    def test_pipelined_solvers(self) -> None:
        own = "comm.allreduce=recursive_doubling"
        self.same(PIPELINED, [(2, []), (4, []), (3, [own]), (4, [own])])

    def test_schemes(self) -> None:
        choices = [["comm.overlap=true"], ["multigrid.ghost_colours=needed"]]
        words = [[f"comm.scheme={scheme}", *choice] for scheme, choice in zip(SCHEMES, itertools.cycle(choices))]
        self.same(EXCHANGES, [((4, 3)[number % 2], scheme) for number, scheme in enumerate(words)])

    def test_transports(self) -> None:
        three = "comm.scheme=three_step"
        self.same(EXCHANGES, [(4, [three, "comm.transport=persistent"]), (3, [three, "comm.transport=neighbour", "comm.allreduce=recursive_doubling"]),
                              (4, ["comm.overlap=true", "comm.transport=shared"]), (8, [three, "comm.transport=put"])])  # fmt: skip
        self.same(MATRIX, [(3, ["comm.scheme=two_step", f"comm.transport={way}"]) for way in ("persistent", "neighbour", "shared", "put", "auto")],
                  ranks=3)  # fmt: skip

    def test_products_with_a_matrix(self) -> None:
        # Its sums depend on how many ranks add them.
        self.same(MATRIX, [(3, ["comm.scheme=two_step"]), (3, ["comm.scheme=three_step"])], ranks=3)

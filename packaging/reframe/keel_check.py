"""Keel as a ReFrame test: valid, with its figure of merit, on 1 and 2 ranks with three bottom solvers."""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable


@rfm.simple_test
class KeelSolve(rfm.RunOnlyRegressionTest):
    descr = "geometric multigrid with a Krylov bottom solver"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "keel"  # -S executable=PATH, if it is not on the PATH
    deck = variable(str, value="quickstart.toml")
    box = variable(int, value=16)
    ranks = parameter([1, 2])
    solver = parameter(["bicgstab", "ca_bicgstab", "cg"])

    @run_before("run")
    def say_what_to_run(self) -> None:
        self.num_tasks = self.ranks
        self.executable_opts = [self.deck, f"problem.box={self.box}", f"bottom.solver={self.solver}"]

    @sanity_function
    def is_valid(self):
        # Under an mpiexec of another MPI each rank would be alone, and valid.
        ranks = sn.extractsingle(r"^ranks +(?P<ranks>\d+)", self.stdout, "ranks", int)
        return sn.all([sn.assert_found(r"^RESULT VALID$", self.stdout), sn.assert_eq(ranks, self.ranks)])

    # No reference stands here: the figure is a machine's. Yours goes into `reference`, by the name of your system.
    @performance_function("dof/s", perf_key="non_benchmark.dof_per_second")
    def figure_of_merit(self):
        line = r"^FOM +non_benchmark\.dof_per_second +(?P<fom>\S+) +dof/s +tolerance +\S+ +digits +\S+$"
        return sn.extractsingle(line, self.stdout, "fom", float)

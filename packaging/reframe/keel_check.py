"""Keel as a ReFrame test: valid, with its figure of merit, on 1 and 2 ranks with three bottom solvers.

Iterations and digits have references on every machine, since they hardly depend on one. That of the figure of merit is a
machine's: it stands in REFERENCES by the name of a system and partition, and a run below it by more than LOSS fails.
"""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

# Bottom iterations of a solve and digits gained with the deck and box below, by bottom solver.
COUNTS = {"bicgstab": (118, 11.0), "ca_bicgstab": (118, 11.0), "cg": (156, 11.0)}
# dof/s by system and partition, then by ranks and bottom solver: medians of runs of your own, as --performance-report prints them.
# Tests without a row have no limit on speed: {"cluster:nodes": {(2, "cg"): 5e6}}
REFERENCES: dict[str, dict[tuple[int, str], float]] = {}
LOSS = 0.2


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

    @run_before("performance")
    def say_what_to_expect(self) -> None:
        found = {}
        if (self.deck, self.box) == ("quickstart.toml", 16):
            iterations, digits = COUNTS[self.solver]
            found["*"] = {
                "bottom_iterations": (iterations, -0.1, 0.1, "iterations"),
                "digits": (digits, -0.1, None, "digits"),
            }
            for place, figures in REFERENCES.items():
                if (figure := figures.get((self.ranks, self.solver))) is not None:
                    speed = {"non_benchmark.dof_per_second": (figure, -LOSS, None, "dof/s")}
                    found[place] = found["*"] | speed
        # Whole: what is put into a reference place by place, ReFrame does not compare with.
        self.reference = found

    @performance_function("dof/s", perf_key="non_benchmark.dof_per_second")
    def figure_of_merit(self):
        return self.found("fom")

    @performance_function("digits", perf_key="digits")
    def digits(self):
        return self.found("digits")

    @performance_function("iterations", perf_key="bottom_iterations")
    def bottom_iterations(self):
        return sn.extractsingle(r"(?P<iterations>\d+) bottom iterations in \d+ visits", self.stdout, "iterations", float)

    def found(self, figure: str):
        line = r"^FOM +non_benchmark\.dof_per_second +(?P<fom>\S+) +dof/s +tolerance +\S+ +digits +(?P<digits>\S+)$"
        return sn.extractsingle(line, self.stdout, figure, float)

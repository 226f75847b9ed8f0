"""Keel for Ramble, and so for benchpark: one solve a run."""

from ramble.appkit import *


class Keel(ExecutableApplication):
    """Box-structured geometric multigrid with exchangeable Krylov bottom solvers and communication schemes"""

    name = "keel"

    tags("benchmark-app", "mini-app", "multigrid", "krylov", "mpi", "openmp", "cuda", "hip")

    executable(
        "keel",
        "keel {deck} problem.box={box} bottom.solver={solver} run.backend={backend} run.repeats={repeats}"
        " output.json={experiment_run_dir}/records.json",
        use_mpi=True,
    )
    workload("solve", executables=["keel"])

    workload_variable(
        "deck",
        default="weak.toml",
        description="weak.toml: one box a rank; strong.toml: 64 boxes on 1 to 64 ranks",
        workloads=["solve"],
    )
    workload_variable(
        "box", default="32", description="cells of a box in each direction; halves down to 4", workloads=["solve"]
    )
    workload_variable(
        "solver", default="bicgstab", description="bottom solver; keel --solvers tells all", workloads=["solve"]
    )
    workload_variable("backend", default="openmp", description="openmp, kokkos, cuda or hip", workloads=["solve"])
    workload_variable("repeats", default="5", description="solves that the median is of", workloads=["solve"])

    number = r"[0-9.]+(e[+-][0-9]+)?"
    figure_of_merit(
        "non_benchmark.dof_per_second",
        fom_regex=rf"FOM +non_benchmark\.dof_per_second +(?P<fom>{number}) +dof/s +tolerance +{number} +digits +{number}",
        group_name="fom",
        units="dof/s",
    )
    figure_of_merit(
        "digits gained",
        fom_regex=rf"FOM +non_benchmark\.dof_per_second +{number} +dof/s +tolerance +{number} +digits +(?P<digits>{number})",
        group_name="digits",
        units="",
    )
    figure_of_merit(
        "bottom iterations",
        fom_regex=r"(?P<iterations>[0-9]+) bottom iterations in [0-9]+ visits",
        group_name="iterations",
        units="",
    )
    figure_of_merit(
        "triad",
        fom_regex=rf"triad +(?P<bandwidth>{number}) GB/s",
        group_name="bandwidth",
        units="GB/s",
    )

    # Keel prints a figure of merit only of a valid run, and this line last.
    success_criteria("valid", mode="string", match=r"RESULT VALID", file="{log_file}")

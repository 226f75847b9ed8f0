"""Weak scaling, strong scaling and throughput of Keel for benchpark, in the form of its experiments of 2026."""

from benchpark.caliper import Caliper
from benchpark.directives import maintainers, variant
from benchpark.experiment import Experiment
from benchpark.programming_model import ProgrammingModel, ProgrammingModelType
from benchpark.scaling import Scaling, ScalingMode


def same(variable, iteration, dimension, factor):
    """The next value of what a law holds constant."""
    return variable.val(dimension)


def grows(variable, iteration, dimension, factor):
    """The next value of what a law lets grow."""
    return variable.val(dimension) * factor


class Keel(
    Experiment,
    ProgrammingModel(
        ProgrammingModelType.Mpionly,
        ProgrammingModelType.Openmp,
        ProgrammingModelType.Cuda,
        ProgrammingModelType.Rocm,
    ),
    Scaling(ScalingMode.Strong, ScalingMode.Weak, ScalingMode.Throughput),
    Caliper,
):
    variant("workload", default="solve", values=("solve",), description="what a run does")
    variant("version", default="main", values=("main", "2.0.0", "latest"), description="version of Keel")
    variant("solver", default="bicgstab", description="bottom solver; keel --solvers tells all")
    maintainers("keel-developers")

    def compute_applications_section(self):
        # Strong scaling has 64 boxes in all, however many ranks there are; the others one box a rank.
        strong = self.spec.satisfies("+strong")
        test = self.spec.satisfies("exec_mode=test")
        box = 16 if test else 32 if strong else 64
        if self.spec.satisfies("+throughput"):
            box = 8 if test else 32
        self.add_experiment_variable("resources", 1)
        self.add_experiment_variable("box", box, True)
        self.add_experiment_variable("deck", "strong.toml" if strong else "weak.toml")
        self.add_experiment_variable("solver", self.spec.variants["solver"][0], True)

        # With scaling-factor=2 a throughput run has eight times the cells of the one before; scaling-iterations bounds that.
        self.register_scaling_config(
            {
                ScalingMode.Strong: {"resources": grows, "box": same},
                ScalingMode.Weak: {"resources": grows, "box": same},
                ScalingMode.Throughput: {"resources": same, "box": grows},
            }
        )
        cells = "{box}*{box}*{box}"
        self.set_required_variables(
            n_resources="{resources}",
            process_problem_size=f"64*{cells}/{{resources}}" if strong else cells,
            total_problem_size=f"64*{cells}" if strong else f"{cells}*{{resources}}",
        )

        backends = {"+cuda": "cuda", "+rocm": "hip"}
        backend = next((name for model, name in backends.items() if self.spec.satisfies(model)), "openmp")
        self.add_experiment_variable("backend", backend)
        self.add_experiment_variable("n_ranks" if backend == "openmp" else "n_gpus", "{resources}", True)
        if self.spec.satisfies("+openmp"):
            self.add_experiment_variable("n_threads_per_proc", 1, True)

    def compute_package_section(self):
        # benchpark adds +openmp or ~openmp, +cuda or ~cuda, +rocm or ~rocm, architectures and caliper by itself.
        self.add_package_spec(self.name, [f"keel{self.determine_version()}"])

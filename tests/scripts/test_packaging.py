"""Statements of packaging/ about Keel hold: options of CMake, decks and keys, packages, versions, and figures of the report.

The recipes are loaded with stand-ins for Spack, Ramble, benchpark and ReFrame, none of which is needed.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
KEEL = os.environ.get("KEEL_EXECUTABLE", "")
CMAKE = "".join((ROOT / name).read_text() for name in ("CMakeLists.txt", "cmake/libraries.cmake"))
VERSION = re.search(r"project\(Keel VERSION ([\d.]+)", CMAKE)[1]
# The report as the README shows it, and the line of its header that the README leaves out.
REPORT = re.search(r"^```\n(Keel .*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
HEADER = "ranks     2, Open MPI v4.1.4; 1 node, 2 ranks per node (detected)\n"
INVALID = re.sub(r"^FOM.*\n", "", REPORT, flags=re.MULTILINE).replace("RESULT VALID", "RESULT INVALID")


def files() -> dict[str, str]:
    """The text of every piece, by its path in packaging/."""
    return {
        path.relative_to(PACKAGING).as_posix(): path.read_text()
        for path in sorted(PACKAGING.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def load(piece: str, stand_ins: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The names that a recipe defines, with stand-ins for the modules that it imports."""
    modules = {}
    for name, content in stand_ins.items():
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            module = modules.setdefault(".".join(parts[:length]), ModuleType(".".join(parts[:length])))
            if length > 1:
                setattr(modules[".".join(parts[: length - 1])], parts[length - 1], module)
        vars(modules[name]).update(content)
    with mock.patch.dict(sys.modules, modules):
        return runpy.run_path(str(PACKAGING / piece))


class Directives(dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]]):
    """Writes down how the functions of a recipe's class body are called."""

    def of(self, *names: str) -> dict[str, Any]:
        return {name: lambda *words, _name=name, **more: self.setdefault(_name, []).append((words, more)) for name in names}


def spec(*said: str, **variants: Any) -> SimpleNamespace:
    return SimpleNamespace(satisfies=lambda what: what in said, variants=variants)


class Pieces(unittest.TestCase):
    def test_options_and_presets_are_those_of_the_build(self) -> None:
        options = {*re.findall(r"^(?:option\(|set\()(KEEL_\w+)", CMAKE, re.MULTILINE), "KEEL_DATA"}  # a variable of the environment
        presets = set(re.findall(r'"name": "(\w+)"', (ROOT / "CMakePresets.json").read_text()))
        for name, text in files().items():
            self.assertLessEqual(set(re.findall(r"(?:-D|\b)(KEEL_[A-Z_]+)", text)), options, name)
            self.assertLessEqual(set(re.findall(r"--preset (\w+)", text)), presets, name)

    def test_decks_and_keys_exist(self) -> None:
        keys = (ROOT / "docs/reference/keys.md").read_text()
        for name, text in files().items():
            for deck in re.findall(r"\b\w+\.toml", text):
                self.assertTrue((ROOT / "inputs" / deck).is_file(), f"{name}: {deck}")
            for key in re.findall(r"\b((?:problem|multigrid|bottom|comm|run|output)\.[a-z_]+) ?=", text):
                known = f"`{key}`" in keys or key == "run.progress_cores"  # a key of sites
                self.assertTrue(known, f"{name}: {key}")

    def test_versions_are_the_project_s(self) -> None:
        for name, text in files().items():
            for version in re.findall(r"(?<=\")\d+\.\d+\.\d+(?=\")|(?<=Version )\d\S+", text):
                self.assertEqual(version, VERSION, name)
        newest = re.search(r"^## (\d\S+), (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        cited = dict(re.findall(r"^(version|date-released): (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
        self.assertEqual((newest[1], newest[2]), (VERSION, cited["date-released"]))
        self.assertEqual(cited["version"], VERSION)

    def test_packages_of_containers_are_those_of_the_scripts(self) -> None:
        known = {line.split("#")[0].strip() for line in (ROOT / "scripts/packages.txt").read_text().splitlines()}
        lists = []
        for name, place in (("Dockerfile", "${MPI}"), ("keel.def", "{{ MPI }}")):
            text = files()[f"containers/{name}"]
            block = re.search(r"--no-install-recommends((?: *\\\n[^&\n]*?)+)\n *(?:&&|rm)", text)[1]
            self.assertIn(place, block)
            usual = re.search(r'^(?:ARG|   ) *MPI="?([^"\n]*)"?$', text, re.MULTILINE)[1]
            # scripts/setup with KEEL_MPI=mpich makes these of the usual ones.
            instead = re.search(r'--build-arg MPI="([^"]*)"', text)[1]
            self.assertEqual(usual.replace("libopenmpi", "libmpich").replace("openmpi-bin", "mpich"), instead)
            lists.append(block.replace("\\", " ").replace(place, usual).split())
            self.assertLessEqual(set(lists[-1]), known, name)
        self.assertEqual(lists[0], lists[1])
        self.assertGreater(len(lists[0]), 5)

    def test_containers_have_the_same_choices(self) -> None:
        docker, apptainer = (files()[f"containers/{name}"] for name in ("Dockerfile", "keel.def"))
        chosen = dict(re.findall(r'^ARG (\w+)="?([^"\n]*)"?$', docker, re.MULTILINE))
        arguments = apptainer.partition("%arguments\n")[2].partition("\n\n")[0]
        self.assertEqual(dict(re.findall(r"^    (\w+)=(.*)$", arguments, re.MULTILINE)), chosen)
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        for text in (docker, apptainer):
            self.assertLessEqual({name for name, _ in re.findall(r"--build-arg (\w+)=(\S+)", text)}, set(chosen))
            self.assertEqual({*re.findall(r"PRESET=(\w+)", text)}, {"release", "cuda"} & presets)
            self.assertEqual(set(re.findall(r"(?:\$\{|\{\{ )(\w+)", text)), set(chosen))
            self.assertEqual(len(set(re.findall(r"nvidia/cuda:\S+-devel-\S+", text))), 1)

    def test_the_readme_tells_of_every_piece(self) -> None:
        text = files()
        for name in text.keys() - {"README.md", "containers/Dockerfile.dockerignore"}:
            self.assertIn(f"]({name})", text["README.md"])


class Spack(unittest.TestCase):
    def setUp(self) -> None:
        self.said = Directives()
        base = type("CMakePackage", (), {
            "define": lambda self, name, value: (name, value),
            "define_from_variant": lambda self, name, variant: (name, self.spec.variants[variant]),
        })
        systems = "spack_repo.builtin.build_systems"
        self.package = load("spack/package.py", {
            f"{systems}.cmake": {"CMakePackage": base},
            f"{systems}.cuda": {"CudaPackage": type("CudaPackage", (), {})},
            f"{systems}.rocm": {"ROCmPackage": type("ROCmPackage", (), {})},
            "spack.package": self.said.of("license", "maintainers", "version", "variant", "depends_on", "conflicts")
            | {"Executable": lambda path: lambda *words, **more: REPORT},
        })["Keel"]()

    def test_every_library_that_the_build_looks_for_is_a_dependency(self) -> None:
        names = {"MPI": "mpi", "Eigen3": "eigen", "fmt": "fmt", "nlohmann_json": "nlohmann-json", "Kokkos": "kokkos",
                 "tomlplusplus": "tomlplusplus", "Catch2": "catch2", "ZLIB": "zlib-api", "caliper": "caliper",
                 "OpenMP": None}  # comes with the compiler
        wanted = {names[library] for library in re.findall(r"(?:find_package|keel_find)\((\w+)", CMAKE)} - {None}
        self.assertLessEqual(wanted, {words[0].split("@")[0] for words, _ in self.said["depends_on"]})
        least = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", CMAKE)[1]
        self.assertIn(f"cmake@{least}:", [words[0] for words, _ in self.said["depends_on"]])

    def test_a_release_is_the_tag_of_this_version(self) -> None:
        self.assertTrue(self.package.homepage and self.said["maintainers"])
        ((_, more),) = [(words, more) for words, more in self.said["version"] if words == (VERSION,)]
        self.assertEqual(more, {"tag": f"v{VERSION}"})

    def test_threads_are_a_variant_that_benchpark_may_choose_either_way(self) -> None:
        variants = {words[0]: more["default"] for words, more in self.said["variant"]}
        self.assertIs(variants["openmp"], True)
        for said, wanted in ((("+openmp",), {}), (("~openmp",), {"OMP_NUM_THREADS": "1"})):
            found: dict[str, str] = {}
            self.package.spec = spec(*said)
            self.package.setup_run_environment(SimpleNamespace(set=lambda name, value, found=found: found.update({name: value})))
            self.assertEqual(found, wanted)

    def test_variants_become_options(self) -> None:
        off = {words[0]: more["default"] for words, more in self.said["variant"]} | {"cuda": False, "rocm": False}
        self.package.spec = spec(**off)
        self.assertTrue(all(value is False for _, value in self.package.cmake_args()))
        self.package.spec = spec("+cuda", "+rocm", **(off | {"cuda": True, "rocm": True}),
                                 cuda_arch=SimpleNamespace(value=("80",)), amdgpu_target=SimpleNamespace(value=("gfx90a",)))
        arguments = dict(self.package.cmake_args())
        self.assertTrue(arguments["KEEL_CUDA"] and arguments["KEEL_HIP"])
        self.assertEqual(arguments["CMAKE_CUDA_ARCHITECTURES"], ("80",))
        self.assertEqual(arguments["CMAKE_HIP_ARCHITECTURES"], ("gfx90a",))

    def test_what_it_looks_for_is_installed(self) -> None:
        for path in self.package.sanity_check_is_file:
            source = path.replace("share/keel/", "")
            self.assertTrue(path == "bin/keel" or (ROOT / source.replace("bin/keel-", "scripts/")).is_file(), path)
        self.package.prefix = SimpleNamespace(bin=SimpleNamespace(keel="keel"))
        self.package.test_smoke_deck()


class Benchpark(unittest.TestCase):
    def setUp(self) -> None:
        self.said = Directives()
        names = ("tags", "executable", "workload", "workload_variable", "figure_of_merit", "success_criteria")
        load("benchpark/application.py", {
            "ramble.appkit": self.said.of(*names) | {"ExecutableApplication": type("ExecutableApplication", (), {})}})

    def test_figures_are_found_in_the_report(self) -> None:
        found = {}
        for (name,), more in self.said["figure_of_merit"]:
            match = next(filter(None, (re.match(more["fom_regex"], line) for line in REPORT.splitlines())))
            found[name] = match[more["group_name"]]
        self.assertEqual(
            found, {"non_benchmark.dof_per_second": "1.235706e+07", "digits gained": "10.2", "bottom iterations": "166",
                    "triad": "48.1"})

    def test_only_a_valid_report_is_a_success(self) -> None:
        ((_, criterion),) = self.said["success_criteria"]
        self.assertRegex(REPORT, criterion["match"])
        self.assertNotRegex(INVALID, criterion["match"])

    def run_law(self, law: str) -> tuple[dict[str, Any], dict[str, bool]]:
        """The variables of an experiment, and which of them grow."""
        variables: dict[str, Any] = {}
        laws: dict[str, Any] = {}
        self.models: set[str] = set()
        modes = SimpleNamespace(Strong="strong", Weak="weak", Throughput="throughput")
        models = SimpleNamespace(Mpionly="mpi", Openmp="openmp", Cuda="cuda", Rocm="rocm")
        mixin = {name: type(name, (), {}) for name in ("Caliper", "Model", "Scaled")}
        base = type("Experiment", (), {
            "add_experiment_variable": lambda self, name, value, named=False: variables.update({name: value}),
            "set_required_variables": lambda self, **more: variables.update(more),
            "register_scaling_config": lambda self, config: laws.update(config),
        })
        experiment = load("benchpark/experiment.py", {
            "benchpark.caliper": mixin, "benchpark.experiment": {"Experiment": base},
            "benchpark.programming_model": {"ProgrammingModel": lambda *chosen: self.models.update(chosen) or mixin["Model"],
                                            "ProgrammingModelType": models},
            "benchpark.directives": Directives().of("variant", "maintainers"),
            "benchpark.scaling": {"Scaling": lambda *_: mixin["Scaled"], "ScalingMode": modes},
        })["Keel"]()
        experiment.spec = spec(f"+{law}", "+openmp", solver=("cg",))
        experiment.compute_applications_section()
        variable = SimpleNamespace(val=lambda dimension: 3)
        return variables, {name: step(variable, 0, None, 2) == 6 for name, step in laws[law].items()}

    def test_laws_hold_constant_what_they_say(self) -> None:
        for law, deck, growing in (("weak", "weak.toml", "resources"), ("strong", "strong.toml", "resources"),
                                   ("throughput", "weak.toml", "box")):
            variables, grows = self.run_law(law)
            self.assertEqual(variables["deck"], deck)
            self.assertEqual([name for name, does in grows.items() if does], [growing], law)
        boxes = re.search(r"boxes = \[(\d+), (\d+), (\d+)\]", (ROOT / "inputs/strong.toml").read_text())
        self.assertEqual(int(boxes[1]) * int(boxes[2]) * int(boxes[3]), 64)  # as the sizes of the strong law have it

    def test_what_benchpark_adds_to_the_package_is_a_variant_of_it(self) -> None:
        """It adds +NAME or ~NAME for every programming model but MPI's, and for caliper."""
        self.run_law("weak")
        recipe = (PACKAGING / "spack/package.py").read_text()
        own = set(re.findall(r'variant\("(\w+)"', recipe)) | {"cuda" if "CudaPackage" in recipe else "", "rocm" if "ROCmPackage" in recipe else ""}
        self.assertEqual(self.models, {"mpi", "openmp", "cuda", "rocm"})
        self.assertLessEqual(self.models - {"mpi"} | {"caliper"}, own)

    def test_the_experiment_sets_variables_of_the_application(self) -> None:
        known = {words[0] for words, _ in self.said["workload_variable"]}
        ((_, command), _), = self.said["executable"]
        self.assertEqual(known | {"experiment_run_dir"}, set(re.findall(r"\{(\w+)\}", command)))
        variables, _ = self.run_law("weak")
        own = {"resources", "n_ranks", "n_threads_per_proc", "n_resources", "process_problem_size", "total_problem_size"}
        self.assertLessEqual(variables.keys() - own, known)


class ReFrame(unittest.TestCase):
    def check(self, report: str, ranks: int) -> Any:
        """The ReFrame test, which ran on so many ranks and printed that report."""

        def extract(pattern: str, text: str, group: str, convert: Any) -> Any:
            return convert(re.search(pattern, text, re.MULTILINE)[group])

        def decorator(*_: Any, **__: Any) -> Any:
            return lambda function: function

        sanity = {
            "assert_found": lambda pattern, text: bool(re.search(pattern, text, re.MULTILINE)),
            "assert_eq": lambda a, b: a == b, "all": all, "extractsingle": extract,
        }
        builtins = {"parameter": list, "variable": lambda kind, value: value, "run_before": decorator,
                    "performance_function": decorator, "sanity_function": lambda function: function}
        check = load("reframe/keel_check.py", {
            "reframe": {"simple_test": lambda kind: kind, "RunOnlyRegressionTest": object},
            "reframe.utility.sanity": sanity, "reframe.core.builtins": builtins,
        })["KeelSolve"]()
        check.stdout, check.ranks = report, ranks
        return check

    def test_a_valid_report_on_all_ranks_passes(self) -> None:
        check = self.check(HEADER + REPORT, 2)
        self.assertTrue(check.is_valid())
        self.assertEqual((check.figure_of_merit(), check.digits(), check.bottom_iterations()), (12357060.0, 10.2, 166.0))

    def test_an_invalid_one_does_not_nor_ranks_that_are_alone(self) -> None:
        self.assertFalse(self.check(HEADER + INVALID, 2).is_valid())
        self.assertFalse(self.check(HEADER + REPORT, 4).is_valid())

    def test_counts_have_limits_on_every_machine_and_speed_where_it_is_known(self) -> None:
        check = self.check(HEADER + REPORT, 2)
        check.solver = "cg"
        check.say_what_to_expect()
        self.assertEqual({*check.reference}, {"*"})
        known = check.say_what_to_expect.__globals__
        known["REFERENCES"]["cluster:nodes"] = {(2, "cg"): 5e6}
        check.say_what_to_expect()
        limits = check.reference["cluster:nodes"]
        self.assertEqual({*limits}, {"non_benchmark.dof_per_second", "bottom_iterations", "digits"})
        self.assertEqual(limits["non_benchmark.dof_per_second"], (5e6, -known["LOSS"], None, "dof/s"))
        for reference, lower, upper, unit in limits.values():
            self.assertTrue(reference > 0 and -1 < lower < 0 and (upper is None or 0 < upper < 1) and unit)
        check.solver = "bicgstab"  # a test without a row
        check.say_what_to_expect()
        self.assertEqual({*check.reference}, {"*"})
        check.box = 32  # a problem without references
        check.say_what_to_expect()
        self.assertEqual(check.reference, {})
        self.assertEqual({*known["COUNTS"]}, {*type(check).solver})

    @unittest.skipUnless(KEEL and shutil.which("reframe"), "no KEEL_EXECUTABLE or no reframe (PyPI: ReFrame-HPC)")
    def test_reframe_itself_passes_counts_and_finds_a_loss(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        row = 'REFERENCES = {"local:default": {(2, "cg"): 1e20}}'
        (folder / "check.py").write_text(re.sub(r"(?m)^REFERENCES: .*", row, files()["reframe/keel_check.py"]))
        done = subprocess.run(
            ["reframe", "-C", PACKAGING / "reframe/settings.py", "-c", folder / "check.py", "-r", f"--prefix={folder}", "--nocolor",
             "--exec-policy=serial", "-n", "%solver=cg", "-S", f"executable={KEEL}"],
            cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"OK \] \(\d/2\) KeelSolve %ranks=1 %solver=cg")
        self.assertRegex(done.stdout, r"FAIL \] \(\d/2\) KeelSolve %ranks=2 %solver=cg")
        self.assertRegex(done.stdout, r"failed to meet reference\S* non_benchmark\.dof_per_second=")

    def test_bottom_solvers_exist(self) -> None:
        solvers = (ROOT / "docs/reference/solvers.md").read_text()
        for solver in self.check(REPORT, 1).solver:
            self.assertIn(f"`{solver}`", solvers)

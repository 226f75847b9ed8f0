"""Keel for Spack: copy this file into a repository of packages as keel/package.py."""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Keel(CMakePackage, CudaPackage, ROCmPackage):
    """Proxy application of box-structured geometric multigrid with exchangeable Krylov bottom solvers and
    communication schemes."""

    # Keel has no public address yet. Put that of your clone here, or build it from there: spack develop --path CLONE keel@main
    homepage = "https://example.org/keel"
    git = "https://example.org/keel.git"
    tags = ["benchmark", "proxy-app"]
    maintainers("keel-developers")  # a name on GitHub
    license("BSD-3-Clause", checked_by="keel-developers")

    version("main", branch="main")
    version("2.0.0", tag="v2.0.0")

    # +cuda and +rocm, with their architectures, come from the base classes.
    variant("openmp", default=True, description="Threads in each rank; without, OMP_NUM_THREADS is 1")
    variant("kokkos", default=False, description="Compile the Kokkos backend in")
    variant("caliper", default=False, description="Tell Caliper of every operation")
    variant("tests", default=False, description="Build the tests, which spack install --test=root runs")
    # Spack's compiler wrapper already says which processor is meant; the flag would say it of the machine that compiles.
    variant("studies", default=False, description="Python packages that keel-study and keel-report need")
    variant("native", default=False, description="Compile for the processor of the machine that compiles")

    # The newest that each was tried with bounds it: Debian 12's packages, and Kokkos 4.7.
    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("git", type="build")  # the revision in every report
    depends_on("mpi")
    depends_on("eigen@3.4:3")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:3")
    depends_on("tomlplusplus@3.3:3")
    depends_on("zlib-api")  # 1.2 or newer
    depends_on("kokkos@3.4:4", when="+kokkos")
    depends_on("caliper@2:", when="+caliper")
    depends_on("cuda@12:", when="+cuda")
    depends_on("catch2@2.13:3", when="+tests", type="build")
    depends_on("python@3.11:", type=("build", "run"))  # makes man pages; runs keel-study and the other commands
    for package in ("py-jinja2", "py-matplotlib", "py-pandas", "py-rich"):
        depends_on(package, when="+studies", type="run")

    for compiler in ("%gcc@:10", "%clang@:13", "%cce@:13"):
        conflicts(compiler, msg="Keel is written in C++20, which g++ speaks from version 11 on, Clang from 14 on")

    sanity_check_is_file = ["bin/keel", "bin/keel-study", "share/keel/inputs/quickstart.toml"]

    def cmake_args(self):
        arguments = [
            self.define_from_variant("KEEL_KOKKOS", "kokkos"),
            self.define_from_variant("KEEL_CUDA", "cuda"),
            self.define_from_variant("KEEL_HIP", "rocm"),
            self.define_from_variant("KEEL_CALIPER", "caliper"),
            self.define_from_variant("KEEL_TESTS", "tests"),
            self.define_from_variant("KEEL_NATIVE", "native"),
        ]
        # Without an architecture Keel compiles for those of its own choice, 80 and 90.
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        if self.spec.satisfies("+rocm"):
            arguments.append(self.define("CMAKE_HIP_ARCHITECTURES", self.spec.variants["amdgpu_target"].value))
        return arguments

    def setup_run_environment(self, env):
        # The OpenMP backend is compiled in either way: it is the one of processor cores.
        if self.spec.satisfies("~openmp"):
            env.set("OMP_NUM_THREADS", "1")

    def test_smoke_deck(self):
        """The installed executable finds its decks and solves a small one."""
        keel = Executable(self.prefix.bin.keel)
        report = keel("quickstart.toml", "problem.box=8", "run.repeats=1", output=str.split, error=str.split)
        assert "RESULT VALID" in report, report

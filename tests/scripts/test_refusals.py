"""CMake refuses compilers, options, an MPI and libraries that Keel fails with, and names the remedy; documents say the same versions."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import InFolder

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = re.findall(r"(?m)^ *keel_find\((\w+) ([\d.]+)", (ROOT / "cmake/libraries.cmake").read_text())
COMPILERS = dict(re.findall(r"(?m)^set\(KEEL_LEAST_(\w+) (\d+)\)", (ROOT / "cmake/compilers.cmake").read_text()))
STRICT = ROOT / "kernels/backends/strict_math.hpp"


def told(*command: object) -> tuple[int, str]:
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@unittest.skipUnless(shutil.which("cmake"), "no cmake")
class Refused(InFolder):
    def compiler(self, name: str, version: str) -> tuple[int, str]:
        return told("cmake", f"-DCMAKE_CXX_COMPILER_ID={name}", f"-DCMAKE_CXX_COMPILER_VERSION={version}", "-P",
                    ROOT / "cmake/compilers.cmake")  # fmt: skip

    def test_compilers_that_are_too_old(self) -> None:
        self.assertLessEqual({"GNU", "Clang", "CrayClang", "IntelLLVM"}, set(COMPILERS))
        for name, least in COMPILERS.items():
            self.assertEqual(self.compiler(name, f"{least}.0.0"), (0, ""))
            status, text = self.compiler(name, f"{int(least) - 1}.9.9")
            self.assertEqual(status, 1)
            self.assertRegex(text, rf"{name} {int(least) - 1}.9.9 \(\S*\) does not compile Keel. Choose one of GNU 11, .* load its module")
        status, text = self.compiler("NVHPC", "24.1")
        self.assertEqual(status, 0)
        self.assertIn("NVHPC 24.1 was never tried", text)

    def test_options_that_reorder_sums_or_forget_nan(self) -> None:
        for compiler in filter(shutil.which, ("g++", "clang++", "clang++-16")):
            self.assertEqual(told(compiler, "-O3", "-fsyntax-only", "-x", "c++", STRICT)[0], 0)
            for option, remedy in {"-ffast-math": "-ffast-math", "-Ofast": "-ffast-math", "-ffinite-math-only": "-ffinite-math-only"}.items():
                status, text = told(compiler, option, "-fsyntax-only", "-x", "c++", STRICT)
                self.assertEqual(status != 0, True, f"{compiler} {option}")
                self.assertRegex(text, f"Keel needs the arithmetic of IEEE 754.*: drop {remedy}")
        for option in ("-Ofast", "-O2 -funsafe-math-optimizations"):
            status, text = told("cmake", "-S", ROOT, "-B", self.folder, f"-DCMAKE_CXX_FLAGS_RELEASE={option}")
            self.assertEqual(status, 1)
            self.assertIn("CMake Error at cmake/compilers.cmake", text)
            self.assertRegex(text, "(?i)drop (-ffast-math|-funsafe-math-optimizations)")

    def test_an_mpi_that_is_not_the_one_asked_for(self) -> None:
        status, text = told("cmake", "-S", ROOT, "-B", self.folder, "-DMPI_EXECUTABLE_SUFFIX=.nowhere")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"MPI_EXECUTABLE_SUFFIX=.nowhere .* names an MPI that is not here: MPI_CXX_COMPILER is .*Install it")

    def libraries(self, **versions: str) -> tuple[int, str]:
        """Includes cmake/libraries.cmake where no other packages are found."""
        for package, version in versions.items():
            self.file(f"{package}/{package}Config.cmake", "")
            self.file(
                f"{package}/{package}ConfigVersion.cmake",
                f"set(PACKAGE_VERSION {version})\nif(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)\n"
                "set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n")
        text = f"cmake_minimum_required(VERSION 3.23)\nproject(alone NONE)\ninclude({ROOT}/cmake/libraries.cmake)\n"
        self.file("CMakeLists.txt", text)
        return told("cmake", "-S", self.folder, "-B", self.folder / "build", "-DCMAKE_MAKE_PROGRAM=none",
                    "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF", f"-DCMAKE_PREFIX_PATH={self.folder}")  # fmt: skip

    def test_libraries_that_are_too_old(self) -> None:
        status, text = self.libraries(fmt="7.1.3", Eigen3="3.3.9", nlohmann_json="3.11.0", tomlplusplus="3.2.0")
        self.assertEqual(status, 1)
        self.assertIn("Not found: Eigen3 3.4 (not 3.3.9), fmt 9 (not 7.1.3), tomlplusplus 3.3 (not 3.2.0), ZLIB 1.2, or newer. Install", text)

    def test_documents_and_spack_say_the_least_versions(self) -> None:
        cluster, spack = ((ROOT / name).read_text() for name in ("docs/how-to/cluster.md", "packaging/spack/package.py"))
        names = {"Eigen3": "eigen", "nlohmann_json": "nlohmann-json", "Catch2": "catch2", "ZLIB": "zlib"}
        self.assertEqual(len(LIBRARIES), 6)
        for package, least in LIBRARIES:
            name = names.get(package, package)
            self.assertRegex(spack, rf'"{name}(-api"|@{least}:)')
            self.assertRegex(cluster, rf"(?i)\b{name.replace('plusplus', '(plusplus|[+][+])')} {least}\b")
        for name in ("GNU", "Clang"):
            self.assertIn(f"{name} {COMPILERS[name]}", cluster)
        self.assertIn(f'"%gcc@:{int(COMPILERS["GNU"]) - 1}"', spack)
        self.assertIn(f'"%clang@:{int(COMPILERS["Clang"]) - 1}"', spack)


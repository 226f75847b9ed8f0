"""Puts into the package keel_tools what CMake installs into share/keel/, in the same folders; pyproject.toml says all else."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# CMakeLists.txt installs the same; a test compares the two.
FOLDERS = ("inputs", "scripts/studies", "scripts/namespaces")
FILES = ("scripts/study", "scripts/report", "scripts/simulate", "scripts/hosts", "scripts/check_result.py", "scripts/mpi_environment",
         "docs/reference/keys.md", "docs/benchmark.md")  # fmt: skip
DECKS = ("results/amg/stencil27_sa.toml", "results/scale/small_boxes.toml")  # they go below inputs
LEFT_OUT = shutil.ignore_patterns("smoke", "CMakeLists.txt", "platform.cpp", "__pycache__")


class WithScripts(build_py):
    def run(self) -> None:
        super().run()
        if getattr(self, "editable_mode", False):
            return
        package = Path(self.build_lib, "keel_tools")
        for name in FOLDERS:
            shutil.rmtree(package / name, ignore_errors=True)
            shutil.copytree(ROOT / name, package / name, ignore=LEFT_OUT)
        for name, place in [*((name, name) for name in FILES), *((name, f"inputs/{name}") for name in DECKS)]:
            (package / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, package / place)


setup(
    version=re.search(r"project\(Keel VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1],
    cmdclass={"build_py": WithScripts},
)

"""scripts/check_rooms.py passes on the project, and finds one planted violation of each of its rules."""

import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check_rooms.py"
RULES = runpy.run_path(str(SCRIPT))

# What is planted: the file that gets the line, the line, what must be said of it.
PLANTS = [
    ("kernels/box.hpp", '#include "comm/plan.hpp"', "kernels/ includes a header of comm/"),
    ("kernels/layout.cpp", '  #  include "solvers/multigrid.hpp"', "kernels/ includes a header of solvers/"),
    ("comm/plan.hpp", '#include "solvers/options.hpp"', "comm/ includes a header of solvers/"),
    ("solvers/cg.cpp", '#include "miniapp/report.hpp"', "solvers/ includes a header of miniapp/"),
    ("solvers/multigrid.cpp", "MPI_Barrier(MPI_COMM_WORLD);", "MPI outside comm/"),
    ("miniapp/main.cpp", "#include <mpi.h>", "MPI outside comm/"),
    ("kernels/stencil.hpp", "#pragma omp simd", "a programming model outside kernels/backends/"),
    ("solvers/smoother.cpp", "cudaStreamSynchronize(stream);", "a programming model outside kernels/backends/"),
    ("comm/exchange.cpp", 'std::cerr << "sent";', "printing outside miniapp/"),
    ("solvers/bicgstab.cpp", 'printf("%g", alpha);', "printing outside miniapp/"),
    ("solvers/bicgstab.cpp", "const double start = now();", "a clock in an algorithm"),
    ("comm/standard.cpp", "std::chrono::steady_clock::time_point t;", "a clock in an algorithm"),
    ("solvers/hierarchy.hpp", "#ifdef KEEL_FAST", "conditional compilation outside kernels/backends/"),
]
# Lines that are no violation where they stand.
WELCOME = [
    ("solvers/cg.cpp", '#include "kernels/box.hpp"'),
    ("comm/exchange.cpp", "MPI_Waitall(0, nullptr, nullptr);"),
    ("miniapp/report.cpp", 'fmt::print("{}", 1);'),
    ("solvers/cg.cpp", "// MPI_Allreduce would wait here"),
    ("kernels/box.hpp", "#pragma once"),
]


def check(root: Path | None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT)] + ([str(root)] if root else [])
    return subprocess.run(command, capture_output=True, text=True)


class CheckRooms(unittest.TestCase):
    def copy(self) -> Path:
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for room in RULES["ROOMS"]:
            shutil.copytree(ROOT / room, root / room)
        return root

    def append(self, file: Path, line: str) -> int:
        """Returns the number of the new line."""
        text = file.read_text()
        self.assertTrue(text.endswith("\n"))
        file.write_text(text + line + "\n")
        return text.count("\n") + 1

    def test_the_project_passes(self) -> None:
        done = check(None)
        self.assertEqual((done.returncode, done.stdout), (0, "every line stands in its room\n"))

    def test_each_planted_violation_is_found_at_its_line(self) -> None:
        for name, line, message in PLANTS:
            with self.subTest(line=line, file=name):
                root = self.copy()
                number = self.append(root / name, line)
                done = check(root)
                self.assertEqual((done.returncode, done.stdout), (1, f"{name}:{number}: {message}\n"))

    def test_every_rule_has_a_planted_violation(self) -> None:
        rules = {message for _, _, message in RULES["ONLY"]}
        self.assertGreaterEqual(len(rules), 5)
        self.assertLessEqual(rules, {message for _, _, message in PLANTS})

    def test_what_is_allowed_passes(self) -> None:
        root = self.copy()
        for name, line in WELCOME:
            self.append(root / name, line)
        self.assertEqual(check(root).returncode, 0)

    def test_all_violations_are_told_at_once(self) -> None:
        root = self.copy()
        for name, line, _ in PLANTS:
            self.append(root / name, line)
        self.assertEqual(len(check(root).stdout.splitlines()), len(PLANTS))

    def test_a_folder_that_is_not_the_project_is_refused(self) -> None:
        done = check(Path(self.enterContext(tempfile.TemporaryDirectory())))
        self.assertEqual(done.returncode, 2)
        self.assertIn("not the project", done.stdout)


if __name__ == "__main__":
    unittest.main()

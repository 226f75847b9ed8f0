"""scripts/check_rooms.py finds one planted violation of each of its rules."""

import runpy
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check_rooms.py"
RULES = runpy.run_path(str(SCRIPT))

# A planted fault: the file that gets the line, the line, the message.
PLANTS = [
    ("kernels/layout/layout.cpp", '  #  include "solvers/options.hpp"', "kernels/ includes a header of solvers/"),
    ("solvers/krylov/cg/cg.cpp", '#include "miniapp/report/report.hpp"', "solvers/ includes a header of miniapp/"),
    ("kernels/layout/field.hpp", '#include "kernels/bodies/stencil.hpp"', "kernels/layout includes a header of kernels/bodies"),
    ("kernels/operations.hpp", '#include "kernels/timing/ledger.hpp"',
     "kernels/operations.hpp includes a header of kernels/timing"),
    ("docs/reference/glossary.md", "| box | A cube of cells. | `layout/cube.hpp` |", "there is no layout/cube.hpp"),
    ("comm/ranks/topology.hpp", '#include "comm/plans/plan.hpp"', "comm/ranks includes a header of comm/plans"),
    ("comm/patterns/boxes.cpp", '#include "../carry/exchange.hpp"', "comm/patterns includes a header of comm/carry"),
    ("solvers/krylov/s_step/ca_cg.cpp", '#include "solvers/multigrid/level.hpp"',
     "solvers/krylov includes a header of solvers/multigrid"),
    ("solvers/options.hpp", '#include "solvers/krylov/krylov.hpp"',
     "solvers/options.hpp includes a header of solvers/krylov"),
    ("miniapp/report/report.hpp", '#include "miniapp/modes/mode.hpp"',
     "miniapp/report includes a header of miniapp/modes"),
    ("miniapp/prediction/counting/trace.cpp", '#include "miniapp/prediction/seconds/costs.hpp"',
     "miniapp/prediction/counting includes a header of miniapp/prediction/seconds"),
    ("miniapp/modes/grids/solve.cpp", '#include "miniapp/modes/spmv/spmv.hpp"',
     "miniapp/modes/grids includes a header of miniapp/modes/spmv"),
    ("miniapp/modes/grids/solve.cpp", '#include "peers/structured_solver.hpp"', "miniapp/ includes a header of peers/"),
    ("peers/hypre.cpp", "HYPRE_Init();", "hypre outside peers/structured_solver.cpp and peers/matrix_solver.cpp"),
    ("peers/kinsol.cpp", "N_VConst(0, u);", "KINSOL outside peers/kinsol_solver.cpp"),
    ("solvers/notes/odd.hpp", "", "notes/ has no place in the order of solvers/"),
    ("solvers/multigrid/multigrid.cpp", "MPI_Barrier(MPI_COMM_WORLD);", "MPI outside comm/"),
    ("miniapp/main.cpp", "#include <mpi.h>", "MPI outside comm/"),
    ("kernels/bodies/stencil.hpp", "#pragma omp simd", "a programming model outside kernels/backends/"),
    ("solvers/multigrid/smoothers/smoother.cpp", "cudaStreamSynchronize(stream);",
     "a programming model outside kernels/backends/"),
    ("solvers/krylov/cg/cg.hpp", "__device__ void step();", "a programming model outside kernels/backends/"),
    ("solvers/krylov/single_launch/single_launch.cpp", '#include "kernels/backends/gpu/block_system.hpp"',
     "a programming model outside kernels/backends/"),
    ("comm/carry/exchange.cpp", 'std::cerr << "sent";', "printing outside miniapp/"),
    ("solvers/krylov/bicgstab/bicgstab.cpp", 'printf("%g", alpha);', "printing outside miniapp/"),
    ("solvers/krylov/bicgstab/bicgstab.cpp", "const double start = now();", "a clock in an algorithm"),
    ("comm/plans/schemes/standard.cpp", "std::chrono::steady_clock::time_point t;", "a clock in an algorithm"),
    ("comm/ranks/communicator.cpp", "#include <smpi/smpi.h>", "SimGrid outside kernels/timing/clock_of_simulation.cpp"),
    ("kernels/timing/clock.hpp", "simgrid::s4u::Engine::get_clock();", "SimGrid outside kernels/timing/clock_of_simulation.cpp"),
    ("kernels/timing/ledger.hpp", "#include <caliper/cali.h>", "Caliper outside kernels/timing/regions_of_caliper.cpp"),
    ("kernels/timing/ledger.hpp", "cali_begin_region(name);", "Caliper outside kernels/timing/regions_of_caliper.cpp"),
    ("kernels/backends/cuda/cuda.cu", "nvtxRangePop();", "ranges of a device outside kernels/backends/gpu/runtime.hpp"),
    ("solvers/multigrid/hierarchy.hpp", "#ifdef KEEL_FAST", "conditional compilation outside kernels/backends/"),
]
# Lines that are no violation where they stand.
WELCOME = [
    ("solvers/krylov/cg/cg.cpp", '#include "solvers/systems/linear_system.hpp"'),
    ("solvers/krylov/s_step/ca_cg.cpp", '#include "solvers/krylov/krylov.hpp"'),
    ("solvers/krylov/single_launch/launch.hpp", '#include "kernels/backends/gpu/block_system.hpp"'),
    ("solvers/krylov/single_launch/launch.hpp", "__shared__ double shared[values_shared];"),
    ("solvers/systems/linear_system.hpp", '#include "solvers/options.hpp"'),
    ("comm/carry/exchange.cpp", "MPI_Waitall(0, nullptr, nullptr);"),
    ("miniapp/modes/modes.cpp", '#include "miniapp/modes/spmv/spmv.hpp"'),
    ("miniapp/modes/spmv/spmv.hpp", '#include "miniapp/modes/mode.hpp"'),
    ("miniapp/main.cpp", '#include "miniapp/modes/modes.hpp"'),
    ("peers/main.cpp", '#include "miniapp/modes/verdict.hpp"'),
    ("peers/structured_solver.cpp", "#include <HYPRE_struct_ls.h>"),
    ("peers/structured_solver.cpp", "HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);"),
    ("miniapp/report/report.cpp", 'fmt::print("{}", 1);'),
    ("solvers/krylov/cg/cg.cpp", "// MPI_Allreduce would wait here"),
    ("kernels/layout/box.hpp", "#pragma once"),
    ("CONTRIBUTING.md", "1. `solvers/krylov/FAMILY/NAME.cpp`: a method"),
]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True)


class CheckRooms(unittest.TestCase):
    def house(self) -> Path:
        """A house with nothing in its rooms."""
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for room in RULES["ROOMS"]:
            (root / room).mkdir()
        return root

    def append(self, file: Path, line: str) -> int:
        """Returns the number of the new line."""
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text() if file.exists() else ""
        file.write_text(text + line + "\n")
        return text.count("\n") + 1

    def test_each_planted_violation_is_found_at_its_line(self) -> None:
        for name, line, message in PLANTS:
            with self.subTest(line=line, file=name):
                root = self.house()
                number = self.append(root / name, line)
                done = check(root)
                self.assertEqual((done.returncode, done.stdout), (1, f"{name}:{number}: {message}\n"))

    def test_every_rule_has_a_planted_violation(self) -> None:
        planted = {message for _, _, message in PLANTS}
        rules = {message for _, _, message in RULES["ONLY"]}
        self.assertGreaterEqual(len(rules), 5)
        self.assertLessEqual(rules, planted)
        for room in [*RULES["STEPS"], *RULES["STRANGERS"]]:
            self.assertTrue(any(message.startswith(room + "/") for message in planted), room)

    def test_the_orders_name_what_there_is(self) -> None:
        for room, steps in RULES["STEPS"].items():
            for place in (place for step in steps for place in step):
                self.assertTrue((ROOT / room / place).exists(), f"{room}/{place}")
        for top in RULES["STRANGERS"]:
            self.assertTrue((ROOT / top).is_dir(), top)

    def test_what_is_allowed_passes(self) -> None:
        root = self.house()
        for name, line in WELCOME:
            self.append(root / name, line)
        told = check(root).stdout.splitlines()
        self.assertEqual(told[0], "every line stands in its room")
        self.assertIn("      9 lines of 28,300: grids", told)
        self.assertEqual(len(told), 1 + len(RULES["HOUSES"]))

    def test_houses_are_where_sources_stand(self) -> None:
        for _, places in RULES["HOUSES"].values():
            for place in places:
                self.assertTrue(any(ROOT.glob(place + "*")), place)

    def test_all_violations_are_told_at_once(self) -> None:
        root = self.house()
        for name, line, _ in PLANTS:
            self.append(root / name, line)
        self.assertEqual(len(check(root).stdout.splitlines()), len(PLANTS))

    def test_modules_of_scripts_that_import_each_other_in_a_circle_are_found(self) -> None:
        root = self.house()
        self.append(root / "scripts/views/__init__.py", "from views import page, table")
        self.append(root / "scripts/views/page.py", "import table\n\nfrom .figures.lines import draw")
        self.append(root / "scripts/views/table.py", "import re")
        self.append(root / "scripts/views/figures/lines.py", "from views.table import rows")
        self.assertTrue(check(root).stdout.startswith("every line stands in its room\n"))
        self.append(root / "scripts/views/figures/lines.py", "if CHECKING:\n    from ..page import Page")
        self.assertEqual(check(root).stdout, (
            "scripts/views/figures/lines.py:3: imports views.page, which leads back here\n"
            "scripts/views/page.py:3: imports views.figures.lines, which leads back here\n"))  # fmt: skip

    def test_a_folder_that_is_not_the_project_is_refused(self) -> None:
        done = check(Path(self.enterContext(tempfile.TemporaryDirectory())))
        self.assertEqual(done.returncode, 2)
        self.assertIn("not the project", done.stdout)

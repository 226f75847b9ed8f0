"""miniapp/front/processor.cpp: a program that meets an unknown instruction ends with a message, also before main."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "miniapp/front/processor.cpp"
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
MAIN = """#include <csignal>
#include <cstdio>
struct Early { Early() { if (FOREIGN) std::raise(SIGILL); } } early;
int main() { std::puts("main"); }
"""


@unittest.skipUnless(COMPILERS, "no compiler")
class Processor(unittest.TestCase):
    def test_an_unknown_instruction_ends_a_program_with_a_message(self) -> None:
        for compiler in COMPILERS:
            for foreign in (0, 1):
                with self.subTest(compiler=compiler, foreign=foreign), tempfile.TemporaryDirectory() as folder:
                    main, program = Path(folder) / "main.cpp", Path(folder) / "program"
                    main.write_text(MAIN)
                    subprocess.run([compiler, "-std=c++20", f"-DFOREIGN={foreign}", main, SOURCE, "-o", program], check=True)
                    done = subprocess.run([program], capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stdout), (2, "") if foreign else (0, "main\n"))
                    lines = done.stderr.splitlines()
                    self.assertEqual([line.rpartition(" ")[2] for line in lines], ["one.", "-DKEEL_NATIVE=OFF"] if foreign else [])

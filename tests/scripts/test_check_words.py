"""scripts/check_words.py finds planted faults at their lines."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/check_words.py"

# A planted fault: the file, the line, the message. Words are put together, so that the check does not find them here.
PLANTS = [
    ("solvers/a.cpp", "int rows;  // " + "of a box", 'a comment begins with "of"; name its subject'),
    ("solvers/b.hpp", "// " + "What costs time.", 'a comment begins with "What"; name its subject'),
    ("scripts/c.py", '    """' + 'Those of a run."""', 'a comment begins with "Those"; name its subject'),
    ("scripts/d.py", "rows = 3  # " + "which are few", 'a comment begins with "which"; name its subject'),
    ("solvers/e.cpp", "int x;" + 105 * " ", "111 columns; at most 110"),
    ("scripts/f", "rows=3  # " + "which are few", 'a comment begins with "which"; name its subject'),
    ("packaging/keel.def", "# " + "So the ranks.", 'a comment begins with "So"; name its subject'),
    ("packaging/Dockerfile", "# Ranks that are " + "imaginary", '"imagi' + 'nary": write virtual, modelled'),
    ("packaging/spack/package.py", "rows = 3  # " + "of a box", 'a comment begins with "of"; name its subject'),
    ("packaging/modules.md", "Ranks are " + "imagined.", '"imagi' + 'ned": write virtual, modelled'),
    ("results/scale/README.md", "The " + "quickest", '"quick' + 'est": write fastest'),
    ("CONTRIBUTING.md", "Take 3 " + "at the most.", '"at the ' + 'most": write at most'),
    ("solvers/g.hpp", "// A vector of " + "so many blocks.", '"so ' + 'many": name the number, or its name'),
    ("scripts/h.py", 'x = "the line is ' + 'told"', '"to' + 'ld": name reported, given, known'),
    ("docs/i.md", "See what" + " it takes.", '"what' + ' it": name the noun'),
    ("docs/i.md", "On 1 / 2 / 4 ranks.", "two slashes in a sentence; make columns"),
    ("docs/i.md", "| ranks | 1 / 2 / 4 |", "two slashes in a sentence; make columns"),
    ("docs/i.md", "* Ranks are 1, 2, 4,\n  8 or 16.", "a bullet with 5 numbers; at most 4, or a table"),
]
# Lines without a fault.
WELCOME = [
    ("solvers/a.cpp", "// The rows of a level\n// of which rank 0 has most."),
    ("solvers/a.cpp", 'const char* address = "// of";  // offset'),
    ("scripts/c.py", "sign = '# so'  # offset"),
    ("scripts/f", """[[ $# -gt 0 ]] || echo "${1# of}" '# so'  # offset"""),
    ("packaging/modules.md", "# Built by hand on Cray"),
    ("docs/i.md", "`1 / 2 / 4`, 1 / 2 and $a / b / c$\n\n* 1, 2, 3 and 4^3; `5`"),
    ("scripts/c.py", "told = f'{told} of rows'"),
    ("tests/comm/a.cpp", "// rows that nobody has"),
]


def check(lines: list[tuple[str, str]]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ["README.md", "CONTRIBUTING.md", *(name for name, _ in lines)]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("\n".join(line for file, line in lines if file == name))
        return subprocess.run([sys.executable, str(SCRIPT), folder], capture_output=True, text=True).stdout


class CheckWords(unittest.TestCase):
    def test_each_planted_fault_is_found_at_its_line(self) -> None:
        for name, line, message in PLANTS:
            with self.subTest(line=line):
                self.assertEqual(check([(name, "\n" + line)]), f"{name}:2: {message}\n")

    def test_a_script_without_a_suffix_is_in_the_language_of_its_interpreter(self) -> None:
        docstring = '"""' + 'Those of a run."""'
        for interpreter, found in (
            ("python3", 'scripts/f:2: a comment begins with "Those"; name its subject\n'),
            ("bash", "every line speaks plainly\n"),
        ):
            with self.subTest(interpreter=interpreter):
                self.assertEqual(check([("scripts/f", f"#!/usr/bin/env {interpreter}\n{docstring}")]), found)

    def test_what_is_allowed_passes(self) -> None:
        self.assertEqual(check(WELCOME), "every line speaks plainly\n")

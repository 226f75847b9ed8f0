"""scripts/report surveys against golden text."""

import json
import tempfile
import unittest
from pathlib import Path

from studies.records import UnreadableRecords
from studies.views import surveys


def row(solver: str, converged: bool, missed: int) -> str:
    record = {
        "record": "survey",
        "solver": solver,
        "converged": converged,
        "cycles": 9,
        "bottom_iterations": 120,
        "reductions": 720,
        "missed_bottoms": missed,
    }
    return json.dumps(record) + "\n"

GOLDEN = """\
| bottom solver | plain | hard |
| --- | --- | --- |
| `bicgstab` | 9: 120 / 720 | 9: 120 / 720, 2 missed |
| `cg` | - | failed: 120 / 720, 9 missed |
"""


class Table(unittest.TestCase):
    def test_surveys_stand_side_by_side(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            plain, hard = Path(folder) / "plain.json", Path(folder) / "hard.json"
            plain.write_text('{"record": "run"}\n' + row("bicgstab", True, 0))
            hard.write_text(row("bicgstab", True, 2) + row("cg", False, 9))
            self.assertEqual(surveys.table([plain, hard]), GOLDEN)

    def test_a_file_without_a_survey_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "solve.json"
            path.write_text('{"record": "run"}\n')
            with self.assertRaisesRegex(UnreadableRecords, "no survey record"):
                surveys.table([path])

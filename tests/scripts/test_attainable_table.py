"""scripts/attainable_table.py against golden text."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import attainable_table  # noqa: E402
from studies.records import UnreadableRecords  # noqa: E402


def run(label: str, outcome: str, residual: float | None) -> str:
    solve = {"record": "solve", "outcome": outcome, "true_residual": residual}
    return json.dumps({"record": "run", "label": label}) + "\n" + json.dumps(solve) + "\n"


GOLDEN = """\
| method | easy | hard |
| --- | --- | --- |
| `cg` | 8e-16 (1.0) | 2e-15 (1.0) |
| `pr_cg` | 1e-15 (1.3) | - |
| `pipelined_cg` | - | 4e-12 (2e+03), breakdown |
| `ca_cg s=16` | - | iteration_limit |
"""


class Table(unittest.TestCase):
    def test_runs_stand_beside_the_first_one(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            easy, hard = Path(folder) / "easy.json", Path(folder) / "hard.json"
            easy.write_text(run("cg", "converged", 8e-16) + run("pr_cg", "stagnated", 1e-15))
            hard.write_text(
                run("cg", "converged", 2e-15)
                + run("pipelined_cg", "breakdown", 4e-12)
                + run("ca_cg s=16", "iteration_limit", None)
            )
            self.assertEqual(attainable_table.table([easy, hard]), GOLDEN)

    def test_a_file_without_a_solve_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            path.write_text('{"record": "run"}\n')
            with self.assertRaisesRegex(UnreadableRecords, "no solve record"):
                attainable_table.table([path])


if __name__ == "__main__":
    unittest.main()

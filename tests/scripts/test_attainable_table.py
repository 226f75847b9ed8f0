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

    def test_iterations_of_runs_of_one_label_stand_behind_each_other(self) -> None:
        def counted(label: str, outcome: str, iterations: int) -> str:
            solve = {"record": "solve", "outcome": outcome, "true_residual": 2e-5, "iterations": iterations}
            return json.dumps({"record": "run", "label": label}) + "\n" + json.dumps(solve) + "\n"

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hard.json"
            path.write_text(counted("cg", "converged", 66) + counted("s=8", "breakdown", 30) + counted("s=8", "converged", 67))
            self.assertEqual(attainable_table.iteration_table([path]),
                             "| method | hard |\n| --- | --- |\n| `cg` | 66 |\n| `s=8` | breakdown 2e-05 / 67 |\n")  # fmt: skip

    def test_a_file_without_a_solve_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            path.write_text('{"record": "run"}\n')
            with self.assertRaisesRegex(UnreadableRecords, "no solve record"):
                attainable_table.table([path])


if __name__ == "__main__":
    unittest.main()

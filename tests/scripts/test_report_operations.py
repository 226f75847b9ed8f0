"""scripts/report operations against golden text."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from studies.views.operations import table  # noqa: E402


def run(smooth: float, copy: float, seconds: float, solver: str = "cg") -> str:
    records = [
        {"record": "run", "deck": {"bottom": {"solver": solver}, "output": {"json": f"{smooth}.json"}}},
        {"record": "timer", "op": "smooth", "level": 0, "bytes_moved": 8e9, "t_mean": smooth},
        {"record": "timer", "op": "smooth", "level": 1, "bytes_moved": 1e9, "t_mean": 0.001},
        {"record": "timer", "op": "reduction", "level": 0, "bytes_moved": 0, "t_mean": 0.005},
        {"record": "timer", "op": "exchange.send", "level": 0, "bytes_moved": 0, "t_mean": 0.0},
        {"record": "timer", "op": "exchange.wait", "level": 0, "bytes_moved": 0, "t_mean": 0.002},
        {"record": "timer", "op": "exchange.copy", "level": 0, "bytes_moved": 1e6, "t_mean": copy},
        {"record": "result", "seconds": seconds},
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


GOLDEN = """\
| operation | openmp, ms | kokkos, ms | kokkos / openmp |
| --- | --- | --- | --- |
| smooth | 21.000 | 31.500 | 1.50 |
| reduction | 5.000 | 5.000 | 1.00 |
| exchange.send | 0.000 | 0.000 | - |
| exchange.wait | 2.000 | 2.000 | 1.00 |
| exchange.copy | 2.000 | 1.000 | 0.50 |
| solve | 40.000 | 44.000 | 1.10 |
"""
DIFFERENT = """\
| operation | before/run, ms | after/run, ms | after/run / before/run |
| --- | --- | --- | --- |
| smooth | 11.000 | 11.000 | 1.00 |
| reduction | 5.000 | 5.000 | 1.00 |
| exchange.send | 0.000 | 0.000 | - |
| exchange.wait | 2.000 | 2.000 | 1.00 |
| exchange.copy | 1.000 | - | - |
| exchange.pack | - | 1.000 | - |
| solve | 30.000 | 30.000 | 1.00 |

The runs differ in bottom.solver.
"""


class Table(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_the_median_of_three_runs_is_compared_in_all_operations(self) -> None:
        first, second = self.folder / "openmp.json", self.folder / "kokkos.json"
        first.write_text(run(0.010, 0.001, 0.030) + run(0.020, 0.002, 0.040) + run(0.9, 0.9, 0.9))
        second.write_text(run(0.0305, 0.001, 0.044))
        self.assertEqual(table(first, second), GOLDEN)

    def test_files_of_one_name_and_different_operations_can_be_told_apart(self) -> None:
        first, second = self.folder / "before/run.json", self.folder / "after/run.json"
        first.parent.mkdir()
        second.parent.mkdir()
        first.write_text(run(0.01, 0.001, 0.03))
        second.write_text(run(0.01, 0.001, 0.03, "ca_cg").replace("exchange.copy", "exchange.pack"))
        self.assertEqual(table(first, second), DIFFERENT)


if __name__ == "__main__":
    unittest.main()

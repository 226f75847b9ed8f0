"""scripts/compare_operations.py against golden text."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import compare_operations  # noqa: E402
from studies.records import UnreadableRecords  # noqa: E402


def run(smooth: float, copy: float, seconds: float) -> str:
    records = [
        {"record": "run"},
        {"record": "timer", "op": "smooth", "level": 0, "bytes_moved": 8e9, "t_mean": smooth},
        {"record": "timer", "op": "smooth", "level": 1, "bytes_moved": 1e9, "t_mean": 0.001},
        {"record": "timer", "op": "reduction", "level": 0, "bytes_moved": 0, "t_mean": 5.0},
        {"record": "timer", "op": "exchange.copy", "level": 0, "bytes_moved": 1e6, "t_mean": copy},
        {"record": "result", "seconds": seconds},
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


GOLDEN = """\
| operation | openmp, ms | kokkos, ms | kokkos / openmp |
| --- | --- | --- | --- |
| smooth | 21.000 | 31.500 | 1.50 |
| exchange.copy | 2.000 | 1.000 | 0.50 |
| solve | 40.000 | 44.000 | 1.10 |
"""


class Table(unittest.TestCase):
    def test_the_median_of_three_runs_is_compared(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            first, second = Path(folder) / "openmp.json", Path(folder) / "kokkos.json"
            first.write_text(run(0.010, 0.001, 0.030) + run(0.020, 0.002, 0.040) + run(0.9, 0.9, 0.9))
            second.write_text(run(0.0305, 0.001, 0.044))
            self.assertEqual(compare_operations.table(first, second), GOLDEN)

    def test_runs_of_different_operations_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            first, second = Path(folder) / "a.json", Path(folder) / "b.json"
            first.write_text(run(1, 1, 1))
            second.write_text(run(1, 1, 1).replace("exchange.copy", "exchange.pack"))
            with self.assertRaisesRegex(UnreadableRecords, "differ in their operations"):
                compare_operations.table(first, second)


if __name__ == "__main__":
    unittest.main()

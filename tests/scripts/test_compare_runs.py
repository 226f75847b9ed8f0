"""scripts/compare_runs.py against golden text."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import compare_runs  # noqa: E402

RECORDS = [
    {"record": "run", "ranks": 2, "threads": 1, "cells": [128, 128, 128], "triad_bytes_per_second": 40e9,
     "shared_cores": False,
     "deck": {"multigrid": {"smoother": "gsrb"}, "bottom": {"solver": "cg"}}},
    {"record": "solve", "seconds": 0.5, "cycles": 10},
    {"record": "solve", "seconds": 0.3, "cycles": 10},
    {"record": "solve", "seconds": 0.4, "cycles": 10},
    {"record": "timer", "op": "smooth", "level": 0, "bytes_moved": 8e9, "t_mean": 0.25},
    {"record": "result", "fom": 5.25e6, "valid": True},
]

GOLDEN = """\
| ranks x threads | cells | smoother | bottom | triad GB/s | cycles | solve s: median [min-max] | MDOF/s | ms/cycle | \
smoother, % of triad | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 2x1 | 128x128x128 | gsrb | cg | 40.0 | 10 | 0.400 [0.300-0.500] | 5.25 | 40.0 | 80 | VALID |
| 2x1 | 128x128x128 | gsrb | cg | 40.0 | 10 | 0.400 [0.300-0.500] | 5.25 | 40.0 | 80 | VALID |
"""


class Table(unittest.TestCase):
    def test_two_runs_in_one_file_are_two_rows(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.json"
            path.write_text("".join(json.dumps(record) + "\n" for record in 2 * RECORDS))
            self.assertEqual(compare_runs.table([path]), GOLDEN)


if __name__ == "__main__":
    unittest.main()

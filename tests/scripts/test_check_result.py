"""scripts/check_result.py on a result that is right, and on what a person could change."""

import contextlib
import io
import json
import tempfile
import unittest
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import check_result

Result = dict[str, Any]
SECONDS = {"h": 6.0, "2h": 1.0, "4h": 1.0}


def result(width: int = 64) -> Result:
    """Solves of 6 s or 1 s, three of each problem, on boxes of `width` and narrower."""
    grids, problems = [], []
    for ratio, (name, seconds) in zip((1, 2, 4), SECONDS.items(), strict=True):
        cells = width // ratio
        tolerance = 1e-10 * max(1, (cells / 1024) ** 2)
        grids.append({"grid": name, "cells": [cells] * 3, "unknowns": cells**3, "tolerance": tolerance,
                      "dof_per_second": cells**3 / seconds})  # fmt: skip
        problems += [{"grid": name, "boundary": boundary, "rhs": rhs, "seconds": [seconds] * 3, "residuals": [tolerance] * 3}
                     for boundary, rhs in check_result.PROBLEMS]  # fmt: skip
    return {"class": "base", "not_to_be_submitted": [], "memory": {"grids_bytes": 30.0, "bytes": 100.0}, "grids": grids,
            "problems": problems, "checks": [{"name": "problem_unchanged", "passed": True}],
            "result": {"fom": grids[0]["dof_per_second"]}}  # fmt: skip


def signed(found: Result) -> str:
    head = json.dumps(found, indent=1)[:-2]
    return f'{head},\n "digest": "crc32:{zlib.crc32(head.encode()):08x}"\n}}\n'


class Check(unittest.TestCase):
    def reasons(self, change: Callable[[Result], object]) -> list[str]:
        found = result()
        change(found)
        return list(check_result.wrong(signed(found)))

    def test_a_result_by_the_rules_may_be_submitted(self) -> None:
        for width in (64, 2048, 8192):
            self.assertEqual(list(check_result.wrong(signed(result(width)))), [])

    def test_a_changed_text_has_another_digest(self) -> None:
        text = signed(result()).replace('"passed": true', '"passed":  true')
        self.assertEqual(list(check_result.wrong(text)), ["the digest is of another text"])

    def test_figures_and_rules_are_held_against_the_solves(self) -> None:
        for change, reason in (
            (lambda r: r["grids"][0].update(dof_per_second=1e9), "h: 1.000000e+09 dof/s, but its solves make 4.369067e+04"),
            (lambda r: r["result"].update(fom=1e9), "the figure of merit is not that at h"),
            (lambda r: r["result"].update(fom=None), "the figure of merit is not that at h"),
            (lambda r: r["problems"][3].update(residuals=[1e-10, 2e-10, 1e-10]), "h: a residual above 1e-10"),
            (lambda r: r["problems"][3].update(residuals=[None] * 3), "h: a residual above 1e-10"),
            (lambda r: r["grids"][2].update(tolerance=1e-3), "4h: tolerance 0.001, not 1e-10"),
            (lambda r: r["problems"][5].update(seconds=[1.0]), "2h: fewer than 3 solves of a problem"),
            (lambda r: [row.update(seconds=[4.0] * 3) for row in r["problems"][:4]], "h: solves took 48 s, less than 60"),
            (lambda r: r["problems"].pop(), "4h: not the four problems"),
            (lambda r: r["grids"].pop(), "not the grids h, 2h and 4h"),
            (lambda r: r["memory"].update(bytes=200.0), "less than a quarter of the memory"),
            (lambda r: r["not_to_be_submitted"].append("--quick"), "--quick"),
            (lambda r: r["checks"][0].update(passed=False), "check problem_unchanged failed"),
        ):  # fmt: skip
            with self.subTest(reason=reason):
                self.assertIn(reason, self.reasons(change))

    def test_the_command_says_class_and_figure_or_reasons(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            right, wrong, other = (Path(folder, name) for name in ("right.json", "wrong.json", "other.json"))
            right.write_text(signed(result()))
            wrong.write_text(signed(result() | {"not_to_be_submitted": ["--quick"]}))
            other.write_text("[1]")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                self.assertEqual(check_result.main([str(right)]), 0)
                self.assertEqual(check_result.main([str(right), str(wrong)]), 1)
                self.assertEqual(check_result.main([str(other)]), 2)
                self.assertEqual(check_result.main([str(Path(folder, "none.json"))]), 2)
        good = f"{right}: class base, 4.369067e+04 dof/s at h\n"
        self.assertTrue(printed.getvalue().startswith(f"{good}{good}{wrong}: --quick\n{other}: no result of the benchmark: "))

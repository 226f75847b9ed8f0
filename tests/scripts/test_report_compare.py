"""scripts/report compare against golden text, and on files that are cut or of other modes."""

import io
from typing import Any
from unittest import mock

from studies.markdown import aligned
from studies.views import command, compare
from support import InFolder, ended, lines

RECORDS = [
    {
        "record": "run",
        "ranks": 2,
        "threads": 1,
        "cells": [128, 128, 128],
        "triad_bytes_per_second": 40e9,
        "shared_cores": False,
        "deck": {"multigrid": {"smoother": "gsrb"}, "bottom": {"solver": "cg"}},
    },
    {"record": "solve", "seconds": 0.5, "cycles": 10},
    {"record": "solve", "seconds": 0.3, "cycles": 10},
    {"record": "solve", "seconds": 0.4, "cycles": 10},
    {"record": "timer", "op": "smooth", "level": 0, "bytes_moved": 8e9, "t_mean": 0.25},
    {"record": "result", "fom": 5.25e6, "valid": True},
]

HEAD = """\
| ranks x threads | cells | smoother | bottom | triad GB/s | cycles | iterations | solve s: median [min-max] | MDOF/s | ms/cycle | \
smoother, % of triad | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
GOLDEN = "| 2x1 | 128x128x128 | gsrb | cg | 40.0 | 10 | - | 0.400 [0.300-0.500] | 5.24 | 40.0 | 80 | VALID |\n"

TERMINAL = """\
all: cells 128x128x128; bottom cg; triad GB/s 40.0; cycles 10; solve s: median [min-max] 0.400
[0.300-0.500]; MDOF/s 5.24; ms/cycle 40.0; smoother, % of triad 80; verdict VALID

ranks x             multigrid.
threads  smoother   pre_and_postsmoothing
2x1      gsrb       2
4x1      chebyshev  3
"""


def run(mode: str, *records: dict[str, Any], deck: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The records of a run on 8^3 cells that did not end, unless `records` end it."""
    keys = {"multigrid": {"smoother": "gsrb"}, "bottom": {"solver": "cg"}, "run": {"mode": mode}}
    head = {"record": "run", "ranks": 1, "threads": 2, "cells": [8, 8, 8], "triad_bytes_per_second": 1e9,
            "shared_cores": False, "deck": keys | (deck or {})}  # fmt: skip
    return [head, *records]

RESULT = {"record": "result", "fom": None, "valid": True, "interrupted": False}


class Table(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "runs.json"

    def table(self, *records: dict[str, Any], end: str = "") -> str:
        self.path.write_text(lines(records) + end)
        return compare.table([self.path])

    def rows(self, *records: dict[str, Any], end: str = "") -> list[str]:
        return self.table(*records, end=end).splitlines()[2:]

    def test_two_runs_in_one_file_are_two_rows(self) -> None:
        self.assertEqual(self.table(*2 * RECORDS), HEAD + 2 * GOLDEN)

    def test_rows_of_several_files_name_them_by_folders_where_that_takes(self) -> None:
        self.table(*RECORDS)
        other = self.file("other/runs.json", self.path.read_text())
        head, _, *rows = compare.table([self.path, other]).splitlines()
        self.assertTrue(head.startswith("| file | ranks x threads |"), head)
        self.assertEqual([row.split(" | ")[0] for row in rows], [f"| {self.path.parent.name}/runs", "| other/runs"])

    def test_a_terminal_has_constant_columns_above_and_lines_of_at_most_100_characters(self) -> None:
        second = [RECORDS[0] | {"ranks": 4, "deck": RECORDS[0]["deck"] | {"multigrid": {"smoother": "chebyshev", "pre_and_postsmoothing": 3}}}]
        first = [RECORDS[0] | {"deck": RECORDS[0]["deck"] | {"multigrid": {"smoother": "gsrb", "pre_and_postsmoothing": 2}}}]
        self.table(*first, *RECORDS[1:], *second, *RECORDS[1:])
        self.assertEqual(compare.in_terminal(*compare.head_and_rows([self.path])), TERMINAL)
        self.assertLessEqual(max(map(len, aligned(["x"] * 30, [["y" * 50] * 30]).splitlines())), 100)
        with mock.patch("sys.stdout", io.StringIO()) as told:
            told.isatty = lambda: True  # type: ignore[method-assign]
            self.assertEqual(command.main(["compare", str(self.path)]), 0)
        self.assertEqual(told.getvalue(), TERMINAL)

    def test_of_a_device_that_ran_behind_the_host_no_share_of_the_triad_is_told(self) -> None:
        deck = RECORDS[0]["deck"]
        for sync, share in (("per_operation", "80"), ("graphs", "-")):
            found = self.rows(RECORDS[0] | {"deck": deck | {"run": {"mode": "solve", "gpu_sync": sync}}}, *RECORDS[1:])
            self.assertTrue(found[0].endswith(f"| 40.0 | {share} | VALID |"), found)

    def test_each_solver_of_a_survey_is_a_row(self) -> None:
        def solve(solver: str, seconds: float) -> dict[str, Any]:
            return {"record": "solve", "solver": solver, "seconds": seconds, "cycles": 5, "bottom_iterations": 60}

        found = self.rows(*run("survey", solve("bicgstab", 2.0), solve("cg", 1.0), solve("bicgstab", 4.0), RESULT))
        self.assertEqual(
            found,
            [
                "| 1x2 | 8x8x8 | gsrb | bicgstab | 1.0 | 5 | 60 | 3.00 [2.00-4.00] | 0.00 | 600 | - | VALID |",
                "| 1x2 | 8x8x8 | gsrb | cg | 1.0 | 5 | 60 | 1.00 [1.00-1.00] | 0.00 | 200 | - | VALID |",
            ],
        )

    def test_a_krylov_run_has_iterations_and_no_cycles(self) -> None:
        found = self.rows(*run("krylov", {"record": "solve", "solver": "cg", "seconds": 0.5, "iterations": 45}, RESULT))
        self.assertEqual(found, ["| 1x2 | 8x8x8 | - | cg | 1.0 | - | 45 | 0.500 [0.500-0.500] | 0.00 | - | - | VALID |"])

    def test_a_run_that_was_killed_shows_what_it_had_finished(self) -> None:
        solve = {"record": "solve", "solver": "cg", "seconds": 1.0, "cycles": 4}
        self.path.write_text(lines(run("solve", solve)) + '{"record":"solve","sec')
        _, out, told = ended(command.main, "compare", self.path)
        self.assertEqual(told, f"{self.path}:3: cut off: '{{\"record\":\"solve\",\"sec'\n")
        self.assertEqual(out.splitlines()[2:], ["| 1x2 | 8x8x8 | gsrb | cg | 1.0 | 4 | - | 1.00 [1.00-1.00] | 0.00 | 250 | - | KILLED |"])
        found = self.rows(*run("solve", RESULT | {"interrupted": True, "valid": False}))
        self.assertTrue(found[0].endswith("| INTERRUPTED |"))

    def test_all_files_that_cannot_be_read_are_told_at_once(self) -> None:
        self.path.write_text("no record\n")
        status, _, told = ended(command.main, "compare", self.path, f"{self.path}.missing")
        self.assertEqual(status, 2)
        first, second = told.splitlines()
        self.assertIn("runs.json: no record in it", first)
        self.assertIn("runs.json.missing: No such file or directory", second)

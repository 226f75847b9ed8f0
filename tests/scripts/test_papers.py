"""scripts/papers: every figure of records that are made up, what is run for a point, and what is refused."""

import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from support import InFolder, needs

needs("matplotlib", "pandas")

from papers import acceleration, split, weak_scaling
from papers.figures import FIGURES, compact, make
from papers.points import Folder, Point, number
from papers.printed import printed
from studies.define.checked_toml import Refused
from studies.records import Record, Run, read_runs

ROOT = Path(__file__).resolve().parents[2]
SCHEMES = ("standard", "two_step", "two_step/max_need", "three_step", "split", "split/always", "staged_axes", "helpers")
TIMERS = ("exchange.pack", "exchange.wait", "bottom.operator", "bottom.vector", "bottom.dots", "reduction.wait", "reduction")
NEVER = "0 of 72"


def solve(solver: str, kind: str = "solve") -> Record:
    late = [{"all_reduce_delay": each, "seconds": 1.4, "bottom_seconds": 0.4, "all_reduce_seconds": 0.2} for each in weak_scaling.LATE]
    return {"record": kind, "predicted": True, "solver": solver, "seconds": 1.4, "delayed": late, "parts": dict.fromkeys(weak_scaling.PARTS, 0.2),
            "cycles": 9.0, "bottom_iterations": 50.0, "reductions": 100, "reduction_words": 100, "bottom": [{"iterations": 7, "met": True}],
            "residuals": [0.1**n for n in range(8)], "converged": True, "evaluations": 42, "iterations": 14, "map_unsolved": 0}  # fmt: skip


def scheme(name: str) -> Record:
    pattern = {"messages": 20, "bytes": 8e4, "bytes_per_rank": 8e3, "bytes_per_node": 9e3, "bytes_per_node_sent": 9e4,
               "nodes_per_rank": 2, "nodes_per_node": 8, "bytes_per_node_pair": 8e3}  # fmt: skip
    return {"record": "scheme", "level": 0, "box": 8, "scheme": name, "columns": 1, "pattern": pattern, "predicted_seconds": 8e-6,
            "predicted_on_one_socket": 8e-6, "predicted_between_nodes": 6e-6}  # fmt: skip


# Records of which every figure can be drawn.
SOLVERS = ("bicgstab", *weak_scaling.SHOWN)
MADE_UP = Run(Path("made_up.json"), [
    *(solve(solver, kind) for kind in ("solve", "survey") for solver in SOLVERS), *map(scheme, SCHEMES),
    *({"record": "timer", "op": op, "t_max": 0.01} for op in TIMERS),
])  # fmt: skip


class Rows(unittest.TestCase):
    def test_every_figure_is_drawn_and_has_the_fields_of_its_kept_records(self) -> None:
        for name, figure in FIGURES.items():
            with self.subTest(name):
                made = figure.make(lambda _: MADE_UP, figure.points())
                (kept,) = read_runs(ROOT / f"results/papers/{name}.json")
                for rows in (made.rows, kept.records):
                    self.assertGreater(len(rows), 3)
                fields = [{(row["record"], field) for row in rows for field in row} for rows in (made.rows, kept.records)]
                self.assertEqual(*fields)
                svg = compact(made.picture.svg())
                ElementTree.fromstring(svg)
                self.assertLess(len(svg), 100_000)

    def test_split_is_never_fastest_by_the_printed_tables(self) -> None:
        rows = split.make(lambda _: MADE_UP, []).rows
        sentences = {row["says"]: row for row in rows if row["record"] == "sentence"}
        chosen = sentences["split is the one to choose"]
        self.assertEqual((chosen["as printed, all send"], chosen["as printed, one sends"], chosen["by shares, all send"]), (NEVER, NEVER, NEVER))
        self.assertEqual(chosen["by shares, one sends"], "34 of 72")
        self.assertEqual(sentences["dd never beats md"]["as printed, all send"], "0 of 24")
        self.assertEqual(sentences["staged beats device-aware"]["by plans"], "-")
        scenario = {"scenario": "lassen", "senders": 1, "messages": 400, "nodes": 4, "bytes": 1000}
        found = next(row for row in rows if scenario.items() <= row.items())
        self.assertEqual((found["as printed"], found["by shares"], found["gain of split by shares"]), ("three_step", "split", 5.72))

    def test_evaluations_of_the_map_are_counted_with_those_of_inner_iterations(self) -> None:
        self.assertEqual(list(acceleration.history({"residuals": [1.0, 0.1, 0.01]}, "composite 2")), [(1, 1.0), (5, 0.1), (9, 0.01)])
        self.assertEqual(list(acceleration.history({"residuals": [1.0, 0.1]}, "alternating")), [(1, 1.0), (2, 0.1)])

KEEL = """#!/bin/sh
for word; do case $word in output.json=*) out=${word#*=};; fail) echo "no such deck" >&2; exit 2;; esac; done
echo '{"record": "plan", "ranks": 1}' > "$out"
echo "$@" >> "${0%/*}/called"
"""


class Runs(InFolder):
    def setUp(self) -> None:
        super().setUp()
        records = self.folder / "records"
        records.mkdir()
        self.runs = Folder(records, self.program("keel", KEEL))

    def called(self) -> list[str]:
        return (self.folder / "called").read_text().splitlines()

    def test_what_is_there_is_not_made_again(self) -> None:
        points = [Point("one", "a.toml", ("problem.ranks=8",)), Point("two", "b.toml", (), kind="counted")]
        self.runs.make(points)
        self.runs.make(points)
        made = self.folder / "records"
        self.assertEqual(self.called(), [f"--dry-run a.toml problem.ranks=8 output.json={made}/one.part",
                                         f"b.toml output.json={made}/two.part"])  # fmt: skip
        self.assertEqual(self.runs.records(points)("one").plan["ranks"], 1)

    def test_where_sockets_are_unknown_the_machine_does_not_tell_them(self) -> None:
        self.runs.make([Point("one", "a.toml", (), sockets_unknown="lassen")])
        machine = Path(self.called()[0].rpartition("comm.machine=")[2])
        self.assertNotIn("ranks_per_socket", machine.read_text())
        self.assertIn("ranks_per_node = 40", machine.read_text())

    def test_a_run_that_fails_is_told_with_its_command_and_leaves_nothing(self) -> None:
        with self.assertRaisesRegex(Refused, "fail .*\nended with exit status 2:\nno such deck"):
            self.runs.make([Point("one", "a.toml", ("fail",))])
        self.assertEqual(list((self.folder / "records").glob("*.json")), [])

    def test_kept_records_are_not_made(self) -> None:
        self.runs.make(weak_scaling.with_simulated()[-1:])
        self.assertFalse((self.folder / "called").is_file())

    def test_kept_records_that_are_missing_are_refused(self) -> None:
        for kind in ("simulated", "predicted"):
            with self.assertRaises(Refused) as refused:
                self.runs.make([Point("one", "a.toml", (), kind, "results/scale/nowhere.json")])
            path = ROOT / "results/scale/nowhere.json"
            told = f"{path}: no records of the point one; page.toml beside it names the command"
            self.assertEqual(str(refused.exception), told)
        self.assertFalse((self.folder / "called").is_file())

    def test_a_cell_of_a_row_is_a_number_bounds_or_text(self) -> None:
        cells = {"64": 64, "1.50": 1.5, "1.2 (0.9 to 1.4)": [1.2, 0.9, 1.4], "-": None, "`cg`": "cg", "two_step": "two_step", "nan": "nan", "inf": "inf"}
        self.assertEqual({cell: number(cell) for cell in cells}, cells)


class Figures(unittest.TestCase):
    def test_an_unknown_figure_is_refused_with_those_that_there_are(self) -> None:
        with self.assertRaises(Refused) as refused:
            make("fig6", Folder(Path(), Path()))
        self.assertEqual(str(refused.exception), f"fig6: no such figure of a paper; choose {', '.join(FIGURES)}")

    def test_decks_and_kept_records_are_there_and_names_are_told_apart(self) -> None:
        points = {(point.name, point) for figure in FIGURES.values() for point in figure.points()}
        self.assertEqual(len({name for name, _ in points}), len(points))
        for _, point in points:
            self.assertTrue(not point.deck or (ROOT / point.deck).is_file(), point.deck)
            self.assertTrue(not point.kept or (ROOT / point.kept).is_file(), point.kept)

    def test_every_printed_entry_has_a_number_or_a_sentence(self) -> None:
        for one in printed(""):
            self.assertNotEqual(one.value is None, not one.words, one)

    def test_compact_pictures_are_the_same_to_a_hundredth_of_a_point(self) -> None:
        drawn = '<g id="patch_6">\n    <path d="M 1.25678 2 \nL 3.5 4.0001 \n" x="0"/>\n   </g>'
        self.assertEqual(compact(drawn), '<path d="M 1.26 2 \nL 3.5 4 \n" x="0"/>')

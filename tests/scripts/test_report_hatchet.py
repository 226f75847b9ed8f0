"""scripts/report records --as hatchet, --as thicket: the tree of a run, and what holds of every tree."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from studies.views import command, hatchet as trees

try:
    import hatchet
except ModuleNotFoundError:
    hatchet = None
try:
    import thicket
except ModuleNotFoundError:
    thicket = None


def timer(op: str, level: int, seconds: float, solver: str = "cg") -> str:
    record = {"record": "timer", "op": op, "level": level, "calls": 2.0, "t_mean": seconds, "t_max": 2 * seconds, "solver": solver}
    return json.dumps(record) + "\n"

RECORDS = (
    '{"record": "run", "ranks": 4, "threads": 2}\n'
    + timer("smooth", 0, 4.0) + timer("exchange.pack", 0, 1.0) + timer("exchange.wait", 0, 2.0)
    + timer("bottom.operator", 1, 0.5) + timer("other", 0, 0.25) + timer("smooth", 0, 8.0, "bicgstab")
)  # fmt: skip

OTHER = (
    '{"record": "run", "ranks": 8, "threads": 1, "cells": [16, 16, 16], "deck": {"problem": {"box": 8, "boxes": [2, 2, 2]}}}\n'
    + timer("smooth", 0, 2.0) + timer("reduction", 0, 0.5)
)  # fmt: skip


class Export(unittest.TestCase):
    def setUp(self) -> None:
        self.file = Path(self.enterContext(tempfile.TemporaryDirectory())) / "run.json"
        self.file.write_text(RECORDS)

    def test_a_solver_is_a_tree_of_levels_and_operations(self) -> None:
        def outline(node: trees.Node, depth: int = 0) -> str:
            times = [node["metrics"][name] for name in ("time", "time (inc)", "time (max)")]
            line = f"{'  ' * depth}{node['frame']['name']} {times}\n"
            return line + "".join(outline(one, depth + 1) for one in node["children"])

        cg, bicgstab = trees.literal([self.file])
        self.assertEqual(outline(cg), """\
cg, 4x2 [0.0, 7.75, 0.0]
  level 0 [0.0, 7.0, 0.0]
    smooth [4.0, 4.0, 8.0]
    exchange [0.0, 3.0, 0.0]
      pack [1.0, 1.0, 2.0]
      wait [2.0, 2.0, 4.0]
  level 1 [0.0, 0.5, 0.0]
    bottom [0.0, 0.5, 0.0]
      operator [0.5, 0.5, 1.0]
  other [0.25, 0.25, 0.5]
""")  # fmt: skip
        self.assertEqual(bicgstab["metrics"]["time (inc)"], 8.0)

    def test_files_without_times_are_refused(self) -> None:
        self.file.write_text('{"record": "run", "ranks": 4, "threads": 2}\n')
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(command.main(["records", "--as", "hatchet", str(self.file)]), 2)
        self.assertIn("no timer record", said.getvalue())

    @unittest.skipIf(hatchet is None, "no hatchet for this Python (pip install llnl-hatchet)")
    def test_hatchet_reads_it(self) -> None:
        frame = hatchet.GraphFrame.from_literal(trees.literal([self.file]))
        self.assertEqual(frame.dataframe["time"].sum(), 15.75)
        self.assertEqual(len(frame.graph.roots), 2)

    def test_a_profile_tells_what_it_ran_on_and_has_the_tree_of_its_solver(self) -> None:
        other = self.file.with_name("other.json")
        other.write_text(OTHER)
        cg, bicgstab, on_8 = trees.profiles([self.file, other])
        self.assertEqual((cg["metadata"]["solver"], cg["metadata"]["ranks"], cg["metadata"]["threads"]), ("cg", 4, 2))
        self.assertEqual(bicgstab["literal"][0]["metrics"]["time (inc)"], 8.0)
        self.assertEqual({one["literal"][0]["frame"]["name"] for one in (cg, bicgstab, on_8)}, {"solve"})
        self.assertEqual(len({one["profile"] for one in (cg, bicgstab, on_8)}), 3)
        told = on_8["metadata"]
        self.assertEqual((told["problem.box"], told["problem.boxes"], told["unknowns"]), (8, "[2, 2, 2]", 4096))

    @unittest.skipIf(thicket is None, "no thicket for this Python (pip install llnl-thicket)")
    def test_thicket_reads_them_as_one_ensemble(self) -> None:
        other = self.file.with_name("other.json")
        other.write_text(OTHER)
        found = json.loads(json.dumps(trees.profiles([self.file, other])))
        made = trees.ensemble(found)
        self.assertEqual(sorted(made.metadata["ranks"]), [4, 4, 8])
        self.assertEqual(sorted(made.metadata["solver"]), ["bicgstab", "cg", "cg"])
        self.assertEqual(len(made.graph.roots), 1)
        smooth = made.dataframe[made.dataframe["name"] == "smooth"]
        self.assertEqual(sorted(smooth["time"]), [2.0, 4.0, 8.0])  # one node's, in three profiles
        self.assertEqual(smooth.index.get_level_values("node").nunique(), 1)
        on_8 = made.filter_metadata(lambda row: row["ranks"] == 8)
        self.assertEqual(on_8.dataframe["time"].sum(), 2.5)

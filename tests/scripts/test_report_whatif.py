"""scripts/report whatif: the page's own JavaScript, run by node, against what keel --dry-run prints for the same machines."""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

from support import InFolder, ended, lines, needs

needs("jinja2")

from studies.views import command

ROOT = Path(__file__).resolve().parents[2]
KEEL = os.environ.get("KEEL_EXECUTABLE", "")
NODE = shutil.which("node") or shutil.which("nodejs")
SURVEY = ["run.mode=survey", "problem.ranks=24", "problem.box=8", "multigrid.bottom_box=4"]
# Nodes that do not tile the boxes, latencies that add up, all-reduces by MPI; then overheads, latencies that overlap in part, all-reduces
# of messages, which the program progresses, and delays.
PLAIN = (ROOT / "inputs/machines/slingshot11.toml").read_text()
OVERHEAD = (ROOT / "results/scale/hopper_overhead.toml").read_text().replace("concurrency = 1", "concurrency = 0.6") + (
    "\n[noise]\nall_reduce = 3e-6\nnonblocking_all_reduce = 5e-6\nexchange = 1e-6\n")  # fmt: skip
GPU = ["run.backend=cuda", "run.gpu_sync=graphs", "comm.ranks_per_node=9", "run.survey=['bicgstab','cg','ca_cg s=4']", "multigrid.bottom_grid=gather"]
BASES = {"plain": (PLAIN, ["comm.ranks_per_node=9"]), "overhead": (OVERHEAD, ["comm.allreduce=recursive_doubling"]),
         "gpu": ((ROOT / "inputs/machines/h100.toml").read_text(), GPU)}  # fmt: skip
# Each slider by itself, then all of them: places on the sliders, by key.
MOVED: list[dict[str, float]] = [
    {"latency": 0.8}, {"delay": 0.7}, {"network": 0.1}, {"memory": 0.9, "launch": 0.0}, dict.fromkeys(("latency", "delay", "network", "memory", "launch"), 0.4),
]  # fmt: skip
# A machine whose sliders stand at these places, its file, and the seconds of the solves on it.
MOVE = """(places) => {
  const numbers = numbersOf(machine);
  for (const { key, valueAt } of slidersOf(machine)) if (key in places) numbers[key] = valueAt(places[key]);
  return { file: withNumbers(machine, numbers), solves: Object.fromEntries(solves.map(({ solver, costs }) => [solver, solveSeconds(costs, machine, numbers)])) };
}"""


class WhatIf(InFolder):
    def report(self, *words: str | Path) -> tuple[int, str]:
        status, out, told = ended(command.main, "whatif", *words)
        return status, out + told

    def dry_run(self, name: str, machine: str, *words: str) -> tuple[Path, dict[str, float]]:
        """The file of records, and the seconds of each solver."""
        self.file(f"{name}.toml", machine)
        records = self.folder / f"{name}.json"
        done = subprocess.run([KEEL, "--dry-run", *SURVEY, f"comm.machine={self.folder / name}.toml", f"output.json={records}", *words],
                              capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        every = [json.loads(line) for line in records.read_text().splitlines()]
        return records, {one["solver"]: one["seconds"] for one in every if one["record"] == "solve"}

    def evaluated(self, page: str, expression: str) -> Any:
        """By the page's script, on its `machine` and `solves`."""
        data = re.search(r'<script type="application/json" id="records">(.*?)</script>', page, re.DOTALL)
        script = re.search(r"<script>\n(.*?)</script>", page, re.DOTALL)
        assert data and script and NODE
        asked = f"{script[1]}\nconst {{ machine, solves }} = {data[1]};\nconsole.log(JSON.stringify({expression}));"
        return json.loads(subprocess.run([NODE, "-"], input=asked, capture_output=True, text=True, check=True).stdout)

    @unittest.skipUnless(KEEL, "KEEL_EXECUTABLE names no keel")
    @unittest.skipUnless(NODE, "no node, which runs the page's script (package nodejs)")
    def test_other_machines_take_the_seconds_of_their_dry_runs(self) -> None:
        for name, (machine, words) in BASES.items():
            records, own = self.dry_run(name, machine, *words)
            status, told = self.report(records, "-o", self.folder / f"{name}.html")
            self.assertEqual(status, 0, told)
            page = (self.folder / f"{name}.html").read_text()
            self.assertLess(len(page), 1e6)
            self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)[^"]*', page), [])  # nothing is loaded from elsewhere
            untouched, *changed = self.evaluated(page, f"{json.dumps([{}, *MOVED])}.map({MOVE})")
            for solver, spent in untouched["solves"].items():
                self.assertAlmostEqual(spent["seconds"] / own[solver], 1, delta=1e-6, msg=solver)
            for number, one in enumerate(changed):
                _, expected = self.dry_run(f"{name}{number}", one["file"], *words)
                self.assertEqual(set(one["solves"]), set(expected))
                for solver, spent in one["solves"].items():
                    self.assertAlmostEqual(spent["seconds"] / expected[solver], 1, delta=0.01, msg=(name, MOVED[number], solver))
                    self.assertNotAlmostEqual(expected[solver] / own[solver], 1, delta=1e-4, msg=(name, MOVED[number], solver))

    @unittest.skipUnless(NODE, "no node, which runs the page's script (package nodejs)")
    def test_a_winner_changes_where_two_lines_cross(self) -> None:
        page = self.page_of(("a", 1e-3, 10), ("b", 2e-3, 0))  # a waits for ten messages between nodes, b for none
        (found,) = self.evaluated(page, "crossovers(solves, machine, numbersOf(machine), 'latency', slidersOf(machine)[0].valueAt)")
        self.assertEqual(found["solver"], "b")
        self.assertAlmostEqual(found["value"], 2e-6 + 1e-4, delta=1e-6)

    def page_of(self, *solvers: tuple[str, float, float]) -> str:
        records = [{"record": "plan", "ranks": 8, "nodes": 4, "command": ["keel", "--dry-run", "a <deck>.toml"]}]
        for solver, seconds, messages in solvers:
            costs = {"machine": "[host.off_node]\neager = { alpha = 2e-06, beta = 1e-10 }\n\n[compute]\nrate = 1e9\n", "program_progresses": False,
                     "events": [{"part": "ghosts", "wait": [[seconds, messages, 0]], "delays": 0}],
                     "slices": [{"times": 1, "counts": [[0, 1]], "pieces": []}]}  # fmt: skip
            records.append({"record": "solve", "predicted": True, "solver": solver, "machine": "m", "allreduce_model": "mpi", "converged": True,
                            "seconds": seconds, "costs": costs})  # fmt: skip
        path = self.file("made_up.json", lines(records))
        status, told = self.report(path)
        self.assertEqual((status, told), (0, f"wrote {self.folder / 'made_up.html'}\n"))
        page = (self.folder / "made_up.html").read_text()
        self.assertIn("of the records of <code>keel --dry-run &#39;a &lt;deck&gt;.toml&#39;", page)
        return page

    def test_records_without_costs_are_refused(self) -> None:
        path = self.file("old.json", '{"record": "plan", "ranks": 2}\n{"record": "solve", "predicted": true, "solver": "cg"}\n')
        status, told = self.report(path)
        self.assertEqual((status, told), (2, f"{path}: no predicted solve with costs; make records by keel --dry-run comm.machine=NAME "
                                             "output.json=FILE\n"))  # fmt: skip

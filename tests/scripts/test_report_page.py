"""scripts/report run: the page of one run and of two, against golden tables; records are made up."""

import json
import re
from pathlib import Path
from typing import Any

from support import InFolder, ended, lines, needs

needs("jinja2", "matplotlib", "pandas")

from studies.answers import of_two
from studies.evaluate.figures import draw_all
from studies.evaluate.figures.style import PHONE
from studies.evaluate.tables import tables_of_runs
from studies.views import command
from studies.views.page import FIGURES, head_and_rows, last_runs, side_by_side, verdict

OPS = [("smooth", 8e9), ("residual", 4e9), ("exchange.send", 0), ("exchange.wait", 0), ("reduction", 0), ("bottom.preconditioner", 1e9)]


def run(ranks: int = 2, solver: str = "cg", slower: float = 1.0, mode: str = "solve", **head: Any) -> list[dict[str, Any]]:
    deck = {"run": {"mode": mode}, "bottom": {"solver": solver}, "output": {"json": solver}}
    timers = [
        {"record": "timer", "op": op, "level": level, "calls": 2.0, "t_min": 0.1, "t_mean": slower * 0.1 / (1 + level), "t_max": 0.2,
         "bytes_moved": moved / 8**level, "flops": moved / 8**level / 16, "solver": solver, "all_messages": 24.0 if "send" in op else 0.0,
         "all_bytes": 8e6 if "send" in op else 0.0, "all_off_node_messages": 6.0 if "send" in op else 0.0, "all_off_node_bytes": 0.0}
        for level in range(3) for op, moved in OPS
    ]  # fmt: skip
    return [
        {"record": "run", "date": "2026-01-02T03:04:05Z", "command": ["keel", "a deck.toml"], "version": "1.0.0", "revision": "abc",
         "compiler": "GNU 12", "build_type": "Release", "flags": "-O3", "mpi": "MPI", "machine": MACHINE, "ranks": ranks, "threads": 1, "nodes": 1,
         "cells": [128, 128, 128], "levels": [{}, {}, {}], "shared_cores": False, "triad_bytes_per_second": 40e9, "backend": "openmp",
         "predicted_bytes": 2e8, "array_bytes": 1.5e8, "warnings": ["busy <machine>"], "processor_architecture": "x86_64",
         "deck": deck} | head,
        {"record": "solve", "solver": solver, "repeat": 0, "seconds": 0.4 * slower, "cycles": 9, "bottom_iterations": 70, "reductions": 150,
         "exchanges": 300, "residuals": [1.0, 1e-3, 1e-11], "measured_after": [0, 4, 9], "norm": "max|r| / max|f|"},
        *timers,
        {"record": "check", "name": "residual_recomputed", "passed": True},
        {"record": "result", "fom": 5e6 / slower, "unit": "dof/s", "seconds": 0.4 * slower, "valid": True, "setup_seconds": 0.05,
         "measured_bytes": 2.1e8, "moved": {"bytes": 3e9}},
    ]  # fmt: skip

MACHINE = {"processor": "EPYC", "sockets": 2, "cores": 128, "hertz": 3.5e9, "memory_bytes": 512e9,
           "gpus": [{"model": "H200", "driver": None}] * 2}  # fmt: skip
FACTS = [
    ["machine", "2 x EPYC, 128 cores, 3.5 GHz, 512 GB, 2 x H200", "x86_64"],
    ["started", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
    ["Keel", "1.0.0 (abc), GNU 12 Release", "1.0.0 (abc), GNU 12 Release"],
    ["flags", "-O3", "-O3"],
    ["MPI", "MPI", "MPI"],
    ["ranks", "2 x 1 threads on 1 nodes", "4 x 1 threads on 1 nodes"],
    ["backend", "openmp", "openmp"],
    ["clock", "real", "real"],
    ["triad", "40.0 GB/s, all ranks", "40.0 GB/s, all ranks"],
    ["cells", "128 x 128 x 128, 3 levels", "128 x 128 x 128, 3 levels"],
    ["solver", "cg", "ca_cg"],
    ["time", "0.400 s, least to greatest 0.400 to 0.400, 1 solves", "0.800 s, least to greatest 0.800 to 0.800, 1 solves"],
    ["counts", "9 V-cycles, 70 iterations, 150 all-reduces, 300 exchanges", "9 V-cycles, 70 iterations, 150 all-reduces, 300 exchanges"],
    ["set-up", "0.0500 s", "0.0500 s"],
    ["moved in a solve", "3.00 GB", "3.00 GB"],
    ["memory of the fullest rank", "210 MB measured, 200 MB predicted, of it arrays 150 MB",
     "210 MB measured, 200 MB predicted, of it arrays 150 MB"],
    ["command", "keel 'a deck.toml'", "keel 'a deck.toml'"],
]  # fmt: skip


class Page(InFolder):
    def records(self, name: str, records: list[dict[str, Any]]) -> Path:
        return self.file(name, lines(records))

    def report(self, *words: str | Path) -> tuple[int, str]:
        status, out, told = ended(command.main, "run", *words)
        return status, out + told

    def test_two_runs_stand_side_by_side_in_every_table_and_figure(self) -> None:
        paths = [self.records("a/run.json", run()), self.records("b/run.json", run(ranks=4, solver="ca_cg", slower=2.0, machine=None))]
        names = ["a/run", "b/run"]
        runs = last_runs(paths)
        tables = side_by_side(runs, names)
        self.assertEqual(tables["facts"], (["", *names], FACTS))
        self.assertEqual(tables["differing"][1], [["bottom.solver", "cg", "ca_cg"]])
        self.assertEqual(tables["checks"][1], [["residual_recomputed", "pass", "pass"]])
        head, rows = tables["operations"]
        self.assertEqual(head, ["operation", "a/run, ms", "b/run, ms", "b/run / a/run"])
        self.assertEqual([row[0] for row in rows], [*(op for op, _ in OPS), "solve"])
        self.assertEqual(rows[0][1:], ["183.333", "366.667", "2.00"])
        drawn = list(draw_all(tables_of_runs(runs, names), FIGURES))
        self.assertEqual([one.name for one in drawn], [name for name in FIGURES if name != "messages"])
        for one in drawn:
            desk, phone = one.picture.svg(), one.on_phone.svg()
            for name in names:
                self.assertIn(f">{name}", desk, one.name)
                self.assertIn(f">{name}", phone, one.name)
            width = float(re.search(r'<svg[^>]* width="([\d.]+)pt"', phone)[1])  # type: ignore[index]
            self.assertLessEqual(width, 72 * PHONE + 0.1, one.name)
            sizes = [float(size) for size in re.findall(r"font(?:-size)?: (?:\w+ )?([\d.]+)px", phone)]
            self.assertGreaterEqual(min(sizes), 9, one.name)  # points, 12 pixels of a page

    def test_the_page_of_two_runs_begins_with_which_is_faster(self) -> None:
        def answer(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> tuple[str, bool]:
            return of_two(last_runs([self.records("a.json", one), self.records("b.json", other)]), ["A", "B"])

        def solves(*seconds: float, **head: Any) -> list[dict[str, Any]]:
            first, solve, *rest = run(**head)
            return [first, *(solve | {"seconds": one} for one in seconds), *rest]

        six = (1.0, 1.01, 1.02, 1.03, 1.04, 1.05)
        for one, other, wanted in (
            (solves(*six), solves(*six), "no change: 95 % intervals overlap"),
            (solves(1.0, 1.1), solves(1.05, 1.2), "no change: ranges overlap"),
            (solves(1.2, 1.25, 1.3), solves(1.0, 1.01, 1.05),
             "B 1.24 times as fast [1.14-1.30], by ranges of 3 and 3 solves; 6 are needed for 95 %"),
            (solves(*six), solves(*(2 * one for one in six)), "A 2.00 times as fast [1.90-2.10]"),
            (solves(1.0), solves(2.0), "one solve has no noise to compare with, no ratio; run.repeats=6 gives an interval"),
            (solves(*six), solves(*six, cells=[64, 64, 64]), "not the same problem: cells 128x128x128 and 64x64x64, no ratio"),
            (solves(1.0, shared_cores=True), run()[:1], "no solves in both, no ratio"),
            (solves(*six, shared_cores=True), solves(*six),
             "no change: 95 % intervals overlap; ranks shared cores, so that times mean little"),
        ):
            self.assertEqual(answer(one, other), (wanted, "fast [" in wanted))
        small, large = run(), run(cells=[64, 64, 64])
        small[0]["deck"]["problem"], large[0]["deck"]["problem"] = {"box": 32}, {"box": 64}
        self.assertEqual(answer(small, large)[0], "not the same problem: box 32 and 64, no ratio")
        large[0]["cells"] = small[0]["cells"]  # as many cells, in fewer boxes
        self.assertIn("one solve", answer(small, large)[0])
        small[0]["deck"]["multigrid"], large[0]["deck"]["multigrid"] = {"tolerance": 1e-10}, {"tolerance": 1e-8}
        self.assertEqual(answer(small, large)[0], "not the same problem: tolerance 1e-10 and 1e-08, no ratio")
        surveys = [[run(mode="survey")[0], *(solve for solver in ("cg", "bicgstab") for solve in solves(*six, solver=solver)[1:7])]] * 2
        self.assertEqual(answer(*surveys)[0], "cg: no change: 95 % intervals overlap; bicgstab: no change: 95 % intervals overlap")
        self.assertEqual(self.report(self.folder / "a.json", self.folder / "b.json")[0], 0)
        page = (self.folder / "a_and_b.html").read_text()
        self.assertIn("<p><strong>Cg: no change: ", page)
        self.assertNotIn("b / a", page)  # nothing is divided

    def test_operations_below_a_hundredth_are_one_row(self) -> None:
        head, rows = head_and_rows({"a": {"x": 50.0, "y": 0.4, "z": 0.5, "solve": 100.0}})
        self.assertEqual((head, rows), (["operation", "a, ms", "share"], [
            ["x", "50.000", "50%"], ["2 others, each below 1%", "0.900", "1%"], ["solve", "100.000", "100%"]]))  # fmt: skip

    def test_the_page_is_one_file_and_figures_are_files_if_asked(self) -> None:
        path = self.records("run.json", [*run()[:-2], {"record": "verdict", "lines": ["Verdict: 46% smoothing"]},
                                      run()[-2] | {"value": 6e-11, "want": "<= 1e-10"}, run()[-1]])  # fmt: skip
        status, told = self.report(path, "--figures", "png,pdf,svg")
        self.assertEqual(status, 0, told)
        page = (self.folder / "run.html").read_text()
        # The verdict, warnings and checks stand before the figures; the machine is the first fact.
        order = ("VALID; cg 0.400 s", "Verdict: 46% smoothing", "busy &lt;machine&gt;", "pass 6e-11 (want &lt;= 1e-10)", "2 x EPYC",
                 "<h2>Operations", "<h2>Figures")  # fmt: skip
        places = [page.find(text) for text in order]
        self.assertEqual(sorted(places), places)
        self.assertGreater(places[0], 0)
        for text in ("busy &lt;machine&gt;", "prefers-color-scheme: dark", 'id="levels"', 'id="bandwidth"', "triad, 40.0 GB/s",
                     "bottom.solver = &#39;cg&#39;", "210 MB measured", "exchange.wait"):  # fmt: skip
            self.assertIn(text, page)
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)[^"]*', page), [])  # nothing is loaded from elsewhere
        self.assertNotIn("Keys that differ", page)
        for form, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg")):
            self.assertTrue((self.folder / f"run_figures/levels.{form}").read_bytes().startswith(begin), form)
        again = self.report(path, "--figures", "png,pdf,svg")
        self.assertEqual(again, (0, told))  # the same files: nothing was written twice

    def test_a_result_of_the_benchmark_is_a_page_too(self) -> None:
        within = {record["record"]: record for record in run()}
        grid = {"grid": "h", "cells": [64, 64, 64], "solves": 12, "seconds": 0.25, "cycles": 11.25, "dof_per_second": 1048576.0,
                "bottom_share": 0.05, "sent_bytes": 0.0}  # fmt: skip
        problem = {"grid": "h", "boundary": "periodic", "rhs": "manufactured", "seconds": [0.5, 0.25, 0.3], "residuals": [1e-11, 5e-11, None],
                   "cycles": 9, "u_l2": 0.3874}  # fmt: skip
        result = {"record": "benchmark", "class": "tuned", "changed": ["solver: bottom.s = 8"], "not_to_be_submitted": ["--quick"],
                  "memory": {"where": "node", "grids_bytes": 3e7, "bytes": 1e8, "share": 0.3}, "grids": [grid], "problems": [problem],
                  "run": within["run"], "checks": [{"record": "check", "name": "x", "passed": False}],
                  "result": within["result"] | {"valid": False}}  # fmt: skip
        path = self.folder / "RESULT.json"
        for indent in (1, None):
            path.write_text(json.dumps(result, indent=indent) + "\n")
            status, told = self.report(path)
            self.assertEqual((status, told), (0, f"wrote {self.folder / 'RESULT.html'}\n"))
        page = re.sub(r"\s*<[^>]+>\s*", "|", (self.folder / "RESULT.html").read_text())
        for text in ("|INVALID: x; 5e+06 dof/s.|", "|class||tuned; changed: solver: bottom.s = 8|", "|not to be submitted||--quick|",
                     "|memory of the grids||30.0 MB in 100 MB of a node, 30%|",
                     "|h||64x64x64||12||0.250||11.2||1.0486e+06||-||5%||-||-||-|",
                     "|h||periodic||manufactured||0.300 [0.250-0.500]||5.00e-11||9||-||-||0.3874|"):  # fmt: skip
            self.assertIn(text, page)
        self.assertEqual(self.report(path, self.records("run.json", run()))[0], 0)

    def test_without_a_triad_there_is_no_roof_and_rates_of_a_host_ahead_of_its_device_are_none(self) -> None:
        ahead = run()
        ahead[0]["deck"]["run"]["gpu_sync"] = "lazy"
        for records in (run(triad_bytes_per_second=None), ahead):
            found = last_runs([self.records("run.json", records)])
            names = [one.name for one in draw_all(tables_of_runs(found, ["run"]), FIGURES)]
            self.assertIn("levels", names)
            self.assertFalse({"bandwidth", "roofline"} & set(names))

    def test_bars_of_levels_add_up_to_all_operations(self) -> None:
        runs = last_runs([self.records("run.json", run())])
        (levels,) = draw_all(tables_of_runs(runs, ["run"]), ["levels"])
        (axis,) = levels.picture.figure.axes
        heights = sum(bar.get_height() for bars in axis.containers for bar in bars)
        self.assertAlmostEqual(heights, sum(1e3 * timer["t_mean"] for timer in runs[0].of("timer")))

    def test_a_run_of_a_survey_is_shown_by_solver_and_a_killed_one_as_far_as_it_came(self) -> None:
        survey = [record for solver in ("cg", "bicgstab") for record in run(solver=solver, mode="survey")[1:-2]]
        path = self.records("run.json", [run(mode="survey")[0], *survey, run()[-1]])
        runs = last_runs([path])
        head, _ = side_by_side(runs, ["run"])["operations"]
        self.assertEqual(head, ["operation", "run, cg, ms", "run, bicgstab, ms", "run, bicgstab / run, cg"])
        self.assertEqual(self.report(path)[0], 0)
        page = (self.folder / "run.html").read_text()
        self.assertIn("<strong>VALID; least time: cg 0.400 s, least to greatest 0.400 to 0.400, 1 solves; 5e+06 dof/s.</strong>", page)
        cells = [run(mode="survey")[0], *(record | {"seconds": seconds} for solver, times in (("cg", (2.0, 2.1)), ("a", (1.0, 1.1)), ("b", (1.05, 2)))
                 for seconds in times for record in run(solver=solver)[1:2]), run()[-1]]  # fmt: skip
        self.assertIn("least time: a 1.05 s, least to greatest 1.00 to 1.10, 2 solves; not different: b; ",
                      verdict(last_runs([self.records("three.json", cells)])[0]))  # fmt: skip
        path = self.records("killed.json", run()[:2])
        self.assertEqual(self.report(path)[0], 0)
        page = (self.folder / "killed.html").read_text()
        self.assertIn("KILLED", page)
        self.assertIn('id="residuals"', page)
        self.assertEqual(self.report(self.records("empty.json", run()[:1]))[0], 0)

    def test_dry_runs_three_files_and_two_clocks_are_refused(self) -> None:
        dry = self.records("dry.json", [{"record": "plan", "ranks": 2}])
        self.assertIn("records of a dry run", self.report(dry)[1])
        one, other = self.records("a.json", run()), self.records("b.json", run(simulation={"platform": "torus", "machine": "hopper"}))
        for words in ([one, one, one], [one, other], [one, self.folder / "none.json"], [one, "--figures", "gif"], [dry]):
            self.assertEqual(self.report(*words)[0], 2, words)

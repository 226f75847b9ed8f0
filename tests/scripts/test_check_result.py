"""scripts/check_result.py on a result that is right, and on what a person could change."""

import copy
import json
import re
import zlib
from collections.abc import Callable, Iterator
from math import log10
from pathlib import Path
from typing import Any
from unittest import mock

from studies import benchmark_result
from studies.benchmark_result import FREEDOMS, PROBLEMS, RELEASES, RULES_NUMBER, reasons_not_to_take, widths_of
from studies.keys import PAGE, keys_of
from support import InFolder, ended

ROOT = Path(__file__).resolve().parents[2]
Result = dict[str, Any]
SECONDS = {"h": 6.0}
SOURCES = "sha256:0123456789abcdef"
# These follow from no other field, or their limits are wide: changed by half they are not noticed.
FREE = re.compile(r"^run\.(predicted_bytes|triad_bytes_per_second|deck.run.(triad_mb|time_limit)|deck.output.details)$|^checks\..*value$|"
                  r"\.(bottom_iterations|bottom_share|bytes_per_unknown|smoother_bytes_per_second|triad_share|sent_bytes|total_seconds)$|"
                  r"^problems\..*random.*u_l2")  # fmt: skip


def deck() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for key in keys_of(PAGE.read_text()):
        section, _, name = key.name.partition(".")
        found.setdefault(section, {})[name] = json.loads(key.default)
    found["run"]["mode"] = "benchmark"
    return found


def result(box: int = 64, ranks: int = 1) -> Result:
    """Three solves of each problem, of 6 s or 1 s, on a row of boxes."""
    grids, problems = [], []
    for name, width in widths_of(box).items():
        seconds = SECONDS.get(name, 1.0)
        cells = [ranks * width, width, width]
        unknowns = cells[0] * cells[1] * cells[2]
        tolerance = 1e-10 * max(1.0, (cells[0] / 1024) ** 2)
        digits = -log10(tolerance / 2)
        u_l2 = (0.53125**3 * unknowns / cells[0] ** 3) ** 0.5 * (1 + 2 / cells[1] ** 2)
        grids.append({"grid": name, "box": width, "cells": cells, "unknowns": unknowns, "tolerance": tolerance, "solves": 12,
                      "measured_seconds": 12 * seconds, "setup_seconds": 0.5, "seconds": seconds, "cycles": 9.0, "dof_per_second": unknowns / seconds,
                      "digits_per_second": digits / seconds, "bottom_share": 0.01, "bytes_per_unknown": 2000.0,
                      "smoother_bytes_per_second": 1e9, "triad_share": 2000.0 * unknowns / seconds / 1e9, "sent_bytes": 0.0})  # fmt: skip
        problems += [{"grid": name, "boundary": boundary, "rhs": rhs, "seconds": [seconds] * 3, "residuals": [tolerance / 2] * 3, "cycles": 9,
                      "bottom_iterations": 70, "digits": digits, "u_l2": u_l2 if rhs == "manufactured" else 1e-3, "setup_seconds": 0.5}
                     for boundary, rhs in PROBLEMS]  # fmt: skip
    top = grids[0]
    faces = {"interior": 3 * top["unknowns"], "outer": 0, "missing": 0, "dirichlet": 0, "neumann": 0}
    run = {"record": "run", "schema": 3, "revision": "abc", "sources": SOURCES, "clock": "real", "simulation": None, "hosts": [{"name": "n", "ranks": ranks}],
           "ranks": ranks, "shared_cores": False, "devices": [""] * ranks, "device_sharing": 1, "boxes": [ranks, 1, 1], "cells": top["cells"],
           "domain": {"shape": "cube", "boxes": ranks, "components": 1, "cells": top["unknowns"], "faces": faces},
           "levels": [{"cells": top["cells"], "box": box}], "triad_bytes_per_second": 1e9, "array_bytes": 30e6, "predicted_bytes": 40e6,
           "deck": deck()}  # fmt: skip
    checks = [{"record": "check", "schema": 3, "name": name, "passed": True, "value": value} for name, value in (
        ("discretisation_order", 2.0), ("residual_recomputed", 5e-11), ("problem_unchanged", 0.0), ("operator_symmetry", 1e-17),
        ("solves_converged", 12.0 * len(grids)))]  # fmt: skip
    end = {"record": "result", "schema": 3, "fom": top["dof_per_second"], "fom_tolerance": top["tolerance"], "fom_digits": problems[0]["digits"],
           "unit": "dof/s", "parts": None, "moved": None, "seconds": top["seconds"], "setup_seconds": 0.5, "tuning_seconds": 0.0, "total_seconds": 200.0, "zero_right_side": False,
           "done": [{"what": "solves", "done": 12 * len(grids), "all": 12 * len(grids)}], "interrupted": False, "interrupted_by": None, "valid": True, "exit": 0}  # fmt: skip
    memory = {"where": "node", "ranks": ranks, "bytes": ranks * 100e6, "machine_bytes": ranks * 110e6, "grids_bytes": ranks * 30e6, "share": 0.3}
    return {"record": "benchmark", "schema": 3, "rules": 1, "class": "base", "changed": [], "not_to_be_submitted": [], "memory": memory, "grids": grids,
            "problems": problems, "run": run, "checks": checks, "result": end}  # fmt: skip


def tuned(found: Result) -> None:
    found["changed"] = ['solver: bottom.solver = "ca_cg"', "solver: bottom.s = 8", 'precision: multigrid.precision = "mixed"']
    found["class"] = "mixed"
    found["run"]["deck"]["bottom"] |= {"solver": "ca_cg", "s": 8}
    found["run"]["deck"]["multigrid"]["precision"] = "mixed"


def signed(found: Result) -> str:
    head = json.dumps(found, indent=1)[:-2]
    return f'{head},\n "digest": "crc32:{zlib.crc32(head.encode()):08x}"\n}}\n'


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The path of each number, its container and its place there."""
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        here = f"{path}.{name}".strip(".")
        if isinstance(value, dict) and name == "problems":
            for row in one:
                yield from leaves(row, f"problems.{row['grid']}, {row['boundary']}, {row['rhs']}")
        elif isinstance(one, (dict, list)):
            yield from leaves(one, here)
        elif isinstance(one, (int, float)):
            yield here, value, name


class Check(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.enterContext(mock.patch.object(benchmark_result, "releases", lambda: {SOURCES: "2.0.0"}))

    def reasons(self, change: Callable[[Result], object]) -> list[str]:
        found = result()
        change(found)
        return reasons_not_to_take(signed(found))

    def test_a_result_by_the_rules_may_be_submitted(self) -> None:
        for box, ranks in ((64, 1), (80, 1), (128, 2), (1024, 1), (64, 7), (1024, 8)):
            self.assertEqual(reasons_not_to_take(signed(result(box, ranks))), [])
        self.assertEqual([grid["grid"] for grid in result(80)["grids"]], ["h", "2h", "4h", "64"])
        self.assertEqual([grid["grid"] for grid in result(128)["grids"]], ["h", "2h", "4h"])
        self.assertEqual(self.reasons(tuned), [])
        self.assertEqual(self.reasons(lambda r: r["run"]["deck"]["run"].update(label="x", backend="cuda")), [])

    def test_a_changed_text_has_another_digest(self) -> None:
        text = signed(result()).replace('"passed": true', '"passed":  true')
        self.assertEqual(reasons_not_to_take(text), ["the digest is of another text"])

    def test_each_number_that_follows_from_others_is_computed_again(self) -> None:
        base = result()
        changed = 0
        for path, _, _ in leaves(base):
            if FREE.search(path):
                continue
            found = copy.deepcopy(base)
            (container, name), = ((container, name) for other, container, name in leaves(found) if other == path)
            container[name] = not container[name] if isinstance(container[name], bool) else 1.5 * container[name] + 1
            with self.subTest(path=path):
                self.assertNotEqual(reasons_not_to_take(signed(found)), [])
            changed += 1
        self.assertGreater(changed, 200)

    def test_figures_and_rules_are_held_against_the_solves(self) -> None:
        spread = [0.001] * 20 + [40.0] * 20
        for change, reason in (
            (lambda r: r["result"].update(fom=None), "the figure of merit is not that at h"),
            (lambda r: r["problems"][3].update(residuals=[1e-10, 2e-10, 1e-10]), "h, dirichlet, random: a residual above 1e-10, or none"),
            (lambda r: r["problems"][3].update(residuals=[None] * 3), "h, dirichlet, random: a residual above 1e-10, or none"),
            (lambda r: r["problems"][0].update(residuals=[]), "h, periodic, manufactured: 0 residuals of 3 solves"),
            (lambda r: r["problems"][0].update(residuals=[1e-11]), "h, periodic, manufactured: 1 residuals of 3 solves"),
            (lambda r: r["problems"][5].update(seconds=[3.0]), "2h, periodic, random: fewer than 3 solves"),
            (lambda r: r["problems"][5].update(seconds=[3.0, 3.0, 0.0]), "2h, periodic, random: a solve of 0 s"),
            (lambda r: r["problems"][5].update(seconds=[1.0] * 4), "2h, periodic, random: further solves after 2.5 s"),
            (lambda r: r["problems"][0].update(seconds=[4.0] * 3), "h, periodic, manufactured: solves took 12 s, less than 15"),
            (lambda r: r["problems"][0].update(seconds=spread),
             "h, periodic, manufactured: a quarter of its solves took at most 0.001 s, another at least 40"),
            (lambda r: r["problems"][0].update(seconds=[0.001, 0.001, 0.001, 0.001, 40.0]),
             "h, periodic, manufactured: solves took 8 s on average, their median is 0.001"),
            (lambda r: r["problems"].pop(), "not the four problems on each of the grids h, 2h, 4h"),
            (lambda r: r["grids"].pop(), "not the grids h, 2h, 4h"),
            (lambda r: r["grids"][1].update(cells=[48] * 3), "2h.cells is [48, 48, 48], not [32, 32, 32]"),
            (lambda r: r["grids"][0].update(box=72), "h: boxes 72 wide are no size of the benchmark"),
            (lambda r: r["memory"].update(bytes=200e6), "less than a quarter of the memory"),
            (lambda r: r["memory"].update(grids_bytes=101e6), "memory: grids of 1.01e+08 bytes in 1e+08 of a node of 1.1e+08"),
            (lambda r: r["memory"].update(machine_bytes=25e9), "grids of 0.12% of the machine"),
            (lambda r: r["memory"].update(where="device"), 'memory.where is "device", not "node"'),
            (lambda r: r["result"].update(total_seconds=10.0), "result.total_seconds is 10, but the solves took 96"),
        ):  # fmt: skip
            with self.subTest(reason=reason):
                self.assertIn(reason, self.reasons(change))

    def test_runs_that_do_not_count_are_told(self) -> None:
        for change, reason in (
            (lambda r: r["not_to_be_submitted"].append("--quick"), "--quick"),
            (lambda r: r["checks"].clear(), "no check discretisation_order"),
            (lambda r: r["checks"][3].update(value=1e-3), "check operator_symmetry: 0.001 is not from 0 to 1e-12"),
            (lambda r: r["result"].update(valid=1), "result.valid is 1, not true"),
            (lambda r: r["result"].update(interrupted_by="signal"), 'result.interrupted_by is "signal", not null'),
            (lambda r: r["result"].pop("interrupted"), "result.interrupted is missing"),
            (lambda r: r["run"].update(clock="simulated"), 'run.clock is "simulated", not "real"'),
            (lambda r: r["run"].update(simulation={}), "run.simulation is {}, not null"),
            (lambda r: r["run"].update(sources="sha256:00"), "sources sha256:00: those of no release in docs/benchmark.md"),
            (lambda r: r["run"].update(revision="abc-dirty"), "revision 'abc-dirty': sources differ from their revision"),
        ):  # fmt: skip
            with self.subTest(reason=reason):
                self.assertIn(reason, self.reasons(change))

    def test_the_class_is_that_of_the_deck(self) -> None:
        for section, key, value, reason in (
            ("multigrid", "precision", "mixed", 'deck: multigrid.precision = "mixed", which `changed` does not name'),
            ("multigrid", "tolerance", 1e-3, "deck: multigrid.tolerance = 0.001, which the rules fix"),
            ("problem", "a", 0.0, "deck: problem.a = 0.0, which the rules fix"),
            ("comm", "node_map", "x", 'deck: comm.node_map = "x", which the rules fix'),
            ("run", "mode", "quick_benchmark", 'deck.run.mode is "quick_benchmark", not "benchmark"'),
            ("bottom", "cheat", 1, "deck: bottom.cheat: no such key"),
        ):
            with self.subTest(key=key):
                self.assertIn(reason, self.reasons(lambda r, s=section, k=key, v=value: r["run"]["deck"][s].update({k: v})))
        for texts, reason in ((['multigrid.precision = "mixed"'], "class base, but the keys that it changed make mixed"),
                              (["solver: bottom.s = 8"], "class base, but the keys that it changed make tuned"),
                              (["solver: bottom.s = 8"], "changed: bottom.s = 8, but the deck has 4"),
                              (["solver: problem.a = 1"], "problem.a is fixed by the rules")):  # fmt: skip
            self.assertIn(reason, self.reasons(lambda r, texts=texts: r.update(changed=texts)))

    def test_releases_are_those_that_the_page_lists(self) -> None:
        self.assertEqual(RELEASES.findall(f"Releases: 2.0.0: `{SOURCES}`, 2.0.1: `{SOURCES}`."), [("2.0.0", SOURCES), ("2.0.1", SOURCES)])

    def test_number_and_freedoms_are_those_of_the_executable(self) -> None:
        self.assertIn(f"rules_number = {RULES_NUMBER};", (ROOT / "miniapp/modes/grids/benchmark/rules.hpp").read_text())
        rules = (ROOT / "miniapp/modes/grids/benchmark/rules.cpp").read_text()
        found = {key: what or "fixed" if what or "fixed_by_rules" in text else ""
                 for text, key, what in re.findall(r'(Freedom\{"([\w.]+)", (?:"(\w*)"|fixed_by_rules)\})', rules)}  # fmt: skip
        self.assertEqual(found, FREEDOMS)

    def test_what_is_no_result_is_an_error_and_never_a_traceback(self) -> None:
        whole = signed(result())
        for text in ("", "[1]", "{}", 100_000 * "[", '{"a":' * 100_000, whole.replace("262144", "1" + 400 * "0"), whole.replace("6.0", "NaN"),
                     whole.replace("6.0", "1e400"), whole.replace("6.0", "-Infinity")):  # fmt: skip
            with self.subTest(text=text[:30]), self.assertRaises(ValueError):
                reasons_not_to_take(text)
        for value in (None, "x", True, -1, 0, [None], 1e300):
            for name in result().keys() - {"grids", "problems"}:
                with self.subTest(name=name, value=value):
                    self.assertNotEqual(self.reasons(lambda r, name=name, value=value: r.update({name: value})), [])
            for path, _, _ in leaves(result()):
                found = result()
                (container, place), = ((container, place) for other, container, place in leaves(found) if other == path)
                container[place] = value
                reasons_not_to_take(signed(found))

    def judged(self, *words: object) -> tuple[int, list[str]]:
        status, out, told = ended(benchmark_result.main, *words)
        return status, [*out.splitlines(), *told.splitlines()]

    def test_each_file_is_judged_also_behind_one_that_is_none(self) -> None:
        right = self.file("right.json", signed(result()))
        wrong = self.file("wrong.json", signed(result() | {"not_to_be_submitted": ["--quick"]}))
        other, none = self.file("other.json", "[1]"), self.folder / "none.json"
        good, bad = f"{right}: class base, 4.369067e+04 dof/s at h", f"{wrong}: --quick"
        self.assertEqual(self.judged(right), (0, [good]))
        self.assertEqual(self.judged(right, wrong), (1, [good, bad]))
        self.assertEqual(self.judged(other, right, none, wrong), (2, [
            good, bad, f"{other}: no result of the benchmark: it has no grids and problems",
            f"{none}: no result of the benchmark: No such file or directory"]))  # fmt: skip

    def test_options_are_none(self) -> None:
        for words in (["--strict", "x.json"], ["-x"], []):
            self.assertEqual(self.judged(*words)[0], 2)
        status, told = self.judged("--help")
        self.assertEqual((status, "2 a file is no result" in " ".join(told)), (0, True))

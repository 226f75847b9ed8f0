"""scripts/report history: finds a planted loss, is silent without one, and against golden text; records are made up."""

import json
import random
from pathlib import Path

from studies.views import command
from studies.revisions import Revision
from studies.views.history import find_changes
from support import InFolder, ended, needs

ROOT = Path(__file__).resolve().parents[2]

NOISE = 0.02  # standard deviation of a run, of what it takes


def records(revision: str, date: str, fom: float | None, solver: str = "cg", flags: str = "-O3") -> str:
    deck = {"run": {"mode": "solve", "label": "ci"}, "bottom": {"solver": solver}, "output": {"json": f"{date}.json"}}
    head = {"record": "run", "revision": revision, "date": f"2026-{date}", "ranks": 2, "threads": 1, "nodes": 1,
            "backend": "openmp", "flags": flags, "triad_bytes_per_second": 40e9, "deck": deck}  # fmt: skip
    result = {"record": "result", "fom": fom, "unit": "dof/s", "valid": fom is not None}
    return json.dumps(head) + "\n" + json.dumps(result) + "\n"

TABLE = """\
| series | revision | date | runs | median | 95 % or least-greatest | over before | triad GB/s | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| solve, 2x1, solver ca_cg | aaa | 2026-01-01 | 6 | 8.00e+06 dof/s | [7.92e+06-8.08e+06] | - | 40.0 | first |
| solve, 2x1, solver ca_cg | bbb | 2026-01-02 | 6 | 1.20e+07 dof/s | [1.19e+07-1.21e+07] | 1.500 | 40.0 | gain of 50.0 % |
| solve, 2x1, solver ca_cg | ccc | 2026-01-03 | 3 | 1.19e+07 dof/s | [1.19e+07-1.20e+07] | 0.995 | 40.0 | 3 runs, 6 are needed |
| solve, 2x1, solver cg | aaa | 2026-01-01 | 6 | 4.00e+06 dof/s | [3.96e+06-4.04e+06] | - | 40.0 | first |
| solve, 2x1, solver cg | bbb | 2026-01-02 | 6 | 4.04e+06 dof/s | [4.00e+06-4.08e+06] | 1.010 | 40.0 | no change |
| solve, 2x1, solver cg | ccc | 2026-01-03 | 6 | 3.60e+06 dof/s | [3.56e+06-3.64e+06] | 0.896 | 40.0 | LOSS of 10.4 %; flags differ too |
"""


class History(InFolder):
    def write(self, revision: str, day: int, foms: list[float], **more: str) -> None:
        text = "".join(records(revision, f"01-{day:02}T00:00:{number:02}", fom, **more) for number, fom in enumerate(foms))
        self.file(f"{revision}{more.get('solver', '')}.json", text)

    def report(self, *words: str) -> tuple[int, str]:
        status, out, told = ended(command.main, "history", self.folder, *words)
        return status, out + told

    def measured(self, chance: random.Random, speed: float, count: int = 6) -> list[float]:
        return [5e6 * speed * chance.lognormvariate(0, NOISE) for _ in range(count)]

    def test_the_table_tells_losses_gains_and_too_few_runs(self) -> None:
        spread = (-0.01, -0.005, 0.0, 0.0, 0.005, 0.01)
        for day, (revision, of_cg, of_ca_cg) in enumerate((("aaa", 4e6, 8e6), ("bbb", 4.04e6, 12e6), ("ccc", 3.6e6, 12e6)), 1):
            flags = "-O1" if revision == "ccc" else "-O3"
            self.write(revision, day, [of_cg * (1 + part) for part in spread], solver="cg", flags=flags)
            self.write(revision, day, [of_ca_cg * (1 + part) for part in spread[: 6 if revision != "ccc" else 3]], solver="ca_cg")
        (self.folder / "plan.json").write_text('{"points": []}')
        (self.folder / "killed.json").write_text(records("ccc", "01-03", None))
        loss = "solve, 2x1, solver cg: ccc: LOSS of 10.4 %; flags differ too\n"
        self.assertEqual(self.report("--check"), (1, TABLE + loss))

    def test_a_planted_loss_of_a_tenth_is_found_in_99_of_100_histories(self) -> None:
        found = 0
        for seed in range(100):
            chance = random.Random(seed)
            for number in range(3):
                self.write(f"r{number}", 1 + number, self.measured(chance, 0.9 if number == 2 else 1.0))
            found += self.report("--check")[0]
        self.assertGreaterEqual(found, 99)

    def test_histories_of_ten_revisions_without_a_loss_are_silent(self) -> None:
        for seed in range(100):
            chance = random.Random(seed)
            for number in range(10):
                self.write(f"r{number}", 1 + number, self.measured(chance, 1.0))
            status, told = self.report("--check")
            self.assertEqual((status, told.count("no change"), told.splitlines()[-1]), (0, 9, "no loss in 1 series"), told)

    def test_a_slow_drift_is_found_where_it_adds_up(self) -> None:
        runs = [Revision(f"r{number}", []) for number in range(8)]
        for number, one in enumerate(runs):
            text = "".join(records(one.name, f"01-{1 + number:02}", 1e6 * (1 - 0.02 * number) * (1 + part / 1000)) for part in range(6))
            path = self.folder / f"{one.name}.json"
            path.write_text(text)
            one.runs = command.history.read_runs(path)
        find_changes(runs, 0.05)
        losses = [one.name for one in runs if one.change is not None]
        self.assertTrue(losses and losses[0] in ("r3", "r4", "r5"), losses)

    def test_a_check_without_enough_runs_is_refused(self) -> None:
        self.write("aaa", 1, [4e6] * 6)
        self.assertEqual(self.report("--check")[0], 0)  # nothing to compare with
        self.write("bbb", 2, [2e6] * 5)
        status, told = self.report("--check")
        self.assertEqual((status, told.splitlines()[-1]), (2, "solve, 2x1: bbb: 5 runs to compare; 6 are needed on either side"))

    def test_a_line_separator_in_a_label_is_no_end_of_a_record(self) -> None:
        self.write("aaa", 1, [4e6] * 6)
        text = records("aaa", "01-02", 4e6, flags="-O3 \u2028\u2029\u0085 -g")
        for character in "\u2028\u2029\u0085":
            text = text.replace(f"\\u{ord(character):04x}", character)
        (self.folder / "separator.json").write_text(text, encoding="utf-8")
        self.assertEqual(text.count("\n") + 3, len(text.splitlines()))
        status, told = self.report("--check")
        self.assertEqual((status, told.splitlines()[-1]), (0, "no loss in 1 series"), told)
        self.assertIn("| aaa | 2026-01-01 | 7 |", told)

    def test_a_run_counts_once_however_many_files_have_it(self) -> None:
        self.write("aaa", 1, [4e6] * 6)
        head, end = map(json.loads, records("aaa", "01-02", 4e6).splitlines())
        head["id"] = "one"
        (self.folder / "run.json").write_text(json.dumps(head) + "\n" + json.dumps(end) + "\n")
        whole = {"record": "benchmark", "run": head, "checks": [], "result": end}
        (self.folder / "RESULT.json").write_text(json.dumps(whole, indent=1))
        status, told = self.report("--check")
        self.assertEqual((status, told.splitlines()[-1]), (0, "no loss in 1 series"), told)
        self.assertIn("| aaa | 2026-01-01 | 7 |", told)

    def test_what_is_no_record_is_told_and_other_json_is_not(self) -> None:
        self.write("aaa", 1, [4e6] * 6)
        (self.folder / "cut.json").write_text(records("aaa", "01-02", 4e6)[:-5])
        (self.folder / "half.json").write_text('{"record":"run","sch')
        (self.folder / "plan.json").write_text('{\n "points": []\n}\n')
        status, _, told = ended(command.main, "history", self.folder, "--check")
        self.assertEqual((status, told.count("\n")), (0, 2), told)
        for line in ("cut.json:2: cut off: ", "half.json: no record in it"):
            self.assertIn(line, told)
        (self.folder / "odd.json").write_text('{"record":"run","ranks":"two"}\n')
        status, told = self.report("--check")
        self.assertEqual(status, 2)
        self.assertIn('odd.json:1: run.ranks = "two": keel writes no such value', told)

    def test_the_example_of_continuous_integration_is_a_command(self) -> None:
        steps = (ROOT / "packaging/ci/speed.yml").read_text()
        words = steps.rpartition("scripts/report ")[2].splitlines()[0].replace('"', "").split()
        options = command.parser().parse_args(words)
        self.assertEqual((options.check, options.least), (True, 5.0))

    def test_a_folder_without_figures_of_merit_is_refused(self) -> None:
        self.assertEqual(self.report("--check"), (2, f"{self.folder}: no run with a figure of merit in it; 0 runs have none\n"))

    def test_the_page_draws_each_series_and_names_the_loss(self) -> None:
        needs("jinja2", "matplotlib", "pandas")
        for day, (revision, speed) in enumerate((("aaa", 1.0), ("bbb", 0.8)), 1):
            self.write(revision, day, [4e6 * speed * (1 + part / 1000) for part in range(6)])
        status, told = self.report("--figures", "pdf,png")
        self.assertEqual(status, 1, told)
        page = (self.folder / "history.html").read_text()
        for text in ("solve, 2x1: bbb: LOSS of 20.0 %", "loss of 20 %", "2026-01-02", 'class="phone"', "12 runs with RESULT VALID"):
            self.assertIn(text, page)
        self.assertEqual((self.folder / "history_figures/history.pdf").read_bytes()[:4], b"%PDF")
        self.assertEqual((self.folder / "history_figures/history.png").read_bytes()[1:4], b"PNG")

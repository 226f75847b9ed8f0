"""Tables, figures and pages of studies, against golden text where times are made up; with a keel that takes no time."""

import csv
import re
import time
import unittest

import fake_keel
from support import needs
from test_study_runs import Study

needs("jinja2", "matplotlib", "pandas")

from studies.evaluate.answer import answer, least_time, over_the_baseline
from studies.evaluate.figures import FIGURES, draw_all
from studies.evaluate.scaling import Scaled
from studies.evaluate.tables import gather
from studies.execute.folder import RESERVE_SECONDS, read_folder
from studies.statistics import spread

SCALING = """\
try: what happens

weak: constant is 512 cells a rank, problem.box = 8.

Seconds are measured, cycles and iterations counted.

| variant | ranks x threads | unknowns | solves | solve s, median | 95 % or least-greatest | efficiency | speed-up over baseline | \
cycles | iterations | all-reduces | restarts |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| cg | 1x1 | 512 | 2 | 1.50 | [1.50-1.50] | 100 % | baseline | 5 | 7 | 9 | - |
| cg | 2x1 | 1024 | 2 | 2.50 | [2.50-2.50] | 60 % | baseline | 5 | 7 | 9 | - |
| long | 1x1 | 512 | 2 | 1.50 | [1.50-1.50] | 100 % | 1.00 [1.00-1.00] | 5 | 7 | 9 | - |
| long | 2x1 | 1024 | 2 | 2.50 | [2.50-2.50] | 60 % | 1.00 [1.00-1.00] | 5 | 7 | 9 | - |
"""
JUNIT = """\
<?xml version='1.0' encoding='utf-8'?>
<testsuites>
  <testsuite name="try" tests="3" failures="1" errors="1" skipped="0" time="0.000">
    <testcase classname="keel.try" name="ranks-2.solver-cg, round 1" time="0.000" />
    <testcase classname="keel.try" name="ranks-2.solver-crash, round 1" time="0.000">
      <error message="exit status 3: error: rank 0 found no device" />
    </testcase>
    <testcase classname="keel.try" name="ranks-2.solver-invalid, round 1" time="0.000">
      <failure message="check failed: residual_recomputed" />
    </testcase>
  </testsuite>
</testsuites>
"""


class Results(Study):
    def scaling(self) -> str:
        done = self.study("collect", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.partition("wrote ")[0]

    def test_a_sweep_has_no_efficiency(self) -> None:
        path = fake_keel.study(self.top, ["cg", "bicgstab"])
        path.write_text(path.read_text().replace('"weak"', '"sweep"'))
        self.study("write", path, self.folder)
        self.study("run", self.folder)
        rows = [line.split(" | ") for line in self.scaling().splitlines() if line.startswith(("| cg", "| bicgstab"))]
        self.assertEqual([row[6] for row in rows], ["-"] * 4)
        self.assertEqual([row[7].split()[0] for row in rows], ["baseline", "baseline", "1.00", "1.00"])

    def test_a_study_of_which_a_job_had_no_time_ends_with_the_table_of_one_that_had(self) -> None:
        self.write(["cg", "long"], rounds=2)
        self.environment["KEEL_END"] = str(int(time.time()) + RESERVE_SECONDS + 300)
        self.assertEqual(self.study("run", self.folder).returncode, 1)
        self.assertEqual(self.words().count("interrupted"), 4)
        interrupted = self.scaling()
        del self.environment["KEEL_END"]
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        self.assertEqual(self.scaling(), SCALING)
        self.assertNotEqual(interrupted, self.scaling())

    def test_tables_are_tidy_and_never_overwritten(self) -> None:
        self.write(["cg"], rounds=2)
        self.scaling()
        self.study("run", self.folder)
        self.scaling()
        self.scaling()
        names = sorted(path.name for path in (self.folder / "tables").iterdir())
        self.assertEqual(
            names, ["operations.csv", "operations.jsonl", "scaling.2.md", "scaling.md", "solves.csv", "solves.jsonl"]
        )
        with (self.folder / "tables/solves.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(
            [(row["point"], row["round"], row["ranks"], row["bottom.solver"], row["seconds"], row["cycles"]) for row in rows],
            [
                (f"ranks-{ranks}.solver-cg", str(number), str(ranks), "cg", f"{ranks}.5", "5")
                for ranks in (2, 1)
                for number in (1, 2)
            ],
        )

    def test_starts_are_test_cases_of_junit(self) -> None:
        self.write(["cg", "crash", "invalid"], ranks=[2])
        path = self.top / "junit.xml"
        path.write_text("of the run before")
        self.assertEqual(self.study("collect", self.folder, "--junit", path).returncode, 0)
        self.assertEqual(path.read_text().count('<skipped message="missing" />'), 3)
        self.study("run", self.folder)
        self.assertEqual(self.study("collect", self.folder, "--junit", path).returncode, 0)
        self.assertEqual(path.read_text(), JUNIT)

    def test_the_page_is_one_file_that_says_what_failed(self) -> None:
        self.write(["cg", "crash"], rounds=2)
        self.study("run", self.folder)
        done = self.study("report", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (self.folder / "report.html").read_text()
        row = re.sub(r"\s*<[^>]+>\s*", "|", page)
        self.assertIn("|crash||2x1||-||0||failed: exit status 3: error: rank 0 found no...||-|", row)
        self.assertIn("|On 2 ranks a solve takes 1.67 times as long as on 1 [1.67-1.67]; weak efficiency 60 %; brackets are ranges; failed: crash.|", row)
        self.assertIn(">crash, failed</text>", page)
        self.assertIn("crash on 2 ranks failed: exit status 3: error: rank 0 found no device.</em>", page)
        for text in ("<h1>try</h1>", "what happens", "error: rank 0 found no device", "scripts/study report", 'id="scaling"',
                     "too few for an interval of 95 %", "prefers-color-scheme: dark", "box = 8", "fake"):  # fmt: skip
            self.assertIn(text.lower(), page.lower())
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)[^"]*', page), [])  # nothing is loaded from elsewhere
        self.assertNotIn("{{", page)
        self.assertNotIn(str(self.top), re.sub(r"Made by <code>.*?</code>|<pre>.*?</pre>", "", page, flags=re.DOTALL))

    def test_every_figure_is_drawn_of_a_study_that_has_something_for_it(self) -> None:
        self.write(["cg", "bicgstab"], rounds=6)
        self.study("run", self.folder)
        drawn = {one.name: one for one in draw_all(gather(read_folder(self.folder)))}
        study = fake_keel.study(self.top, ["cg", "bicgstab"])
        study.write_text("dry_run = true\nranks_per_node = 2\n" + study.read_text())
        planned = self.top / "planned"
        self.study("write", study, planned)
        self.study("run", planned)
        drawn |= {one.name: one for one in draw_all(gather(read_folder(planned))) if one.name == "messages"}
        self.assertEqual(sorted(drawn), sorted(FIGURES))
        self.assertEqual(drawn["scaling"].picture.remark, "")
        told = [answer(gather(read_folder(folder))) for folder in (self.folder, planned)]
        self.assertEqual(told, ["on 2 ranks bicgstab and cg do not differ (95 % intervals overlap)",
                                "standard and two_step have the least predicted time on 2 ranks"])  # fmt: skip
        for name, one in drawn.items():
            svg = one.picture.svg()
            self.assertTrue(svg.startswith("<svg") and svg.rstrip().endswith("</svg>"), name)
            self.assertIn("currentColor", svg)
            self.assertNotIn("#1f2328;", svg.replace("color:#1f2328}", ""))
            self.assertIn(one.picture.kind, ("measured", "counted", "predicted"))

    def test_throughput_is_compared_between_sizes_of_one_variant(self) -> None:
        study = fake_keel.study(self.top, ["cg", "bicgstab"], ranks=[2])
        text = (
            study.read_text()
            .replace('"weak"', '"throughput"')
            .replace('key = "ranks"\nvalues = [2]', 'key = "problem.box"\nvalues = [8, 16]')
        )
        study.write_text("ranks = 2\n" + text)
        self.assertEqual(self.study("write", study, self.folder).returncode, 0)
        self.study("run", self.folder)
        rows = [line.split(" | ") for line in self.scaling().splitlines() if line.startswith("| box")]
        self.assertEqual([(row[0], row[2], row[6]) for row in rows], [
            ("| box 8, cg", "1024", "12 %"), ("| box 8, bicgstab", "1024", "12 %"),
            ("| box 16, cg", "8192", "100 %"), ("| box 16, bicgstab", "8192", "100 %")])  # fmt: skip

    def test_a_study_of_which_nothing_has_run_has_a_page(self) -> None:
        self.write(["cg"])
        self.assertEqual(self.study("report", self.folder).returncode, 0)
        self.assertIn("There is nothing to draw yet", (self.folder / "report.html").read_text())


class Answers(unittest.TestCase):
    def row(self, variant: str, seconds: list[float], speed_up: list[float] | None = None) -> Scaled:
        return Scaled(variant, variant, variant, 2, 1, 8.0, spread(seconds), None, spread(speed_up) if speed_up else None, *[None] * 4)

    def test_variants_are_faster_slower_or_neither(self) -> None:
        fast, slow, same = (self.row(name, [1.0, 1.0], [ratio - 0.1, ratio, ratio + 0.2]) for name, ratio in (("a", 2.0), ("b", 0.5), ("c", 1.0)))
        self.assertEqual(over_the_baseline([fast, slow, same], "cg"), "faster than cg, by their speed-up: a 2.00 [1.90-2.20]; "
                         "slower than cg, by their speed-up: b 0.500 [0.400-0.700]; not different: c")  # fmt: skip
        self.assertEqual(over_the_baseline([same], "cg"), "c and cg do not differ")
        self.assertIn("one round has no noise", over_the_baseline([self.row("a", [1.0], [2.0])], "cg"))
        many = [self.row(f"v{number}", [1.0, 1.0], [2.0, 2.1]) for number in range(6)]
        self.assertTrue(over_the_baseline(many, "cg").endswith(" and 3 more"))

    def test_the_least_time_is_one_variant_s_or_several_ones(self) -> None:
        one, near, far = self.row("a", [1.0, 1.2]), self.row("b", [1.1, 1.3]), self.row("c", [2.2, 2.4])
        self.assertEqual(least_time([far, near, one]), "a (with b, which does not differ from it) is 2.09 times as fast [1.83-2.40] as c")
        self.assertEqual(least_time([near, one]), "a and b do not differ")
        self.assertIn("one solve of each has no noise", least_time([self.row("a", [1.0]), far]))

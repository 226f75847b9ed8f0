"""scripts/results: a page of made-up records, what makes it stale, and what is refused."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from support import InFolder, ended, needs

needs("jinja2")

from pages.command import main, parser, with_concurrency, work
from pages.compare import differences
from pages.page import Page, PageRun, all_pages, mark_of

ROOT = Path(__file__).resolve().parents[2]
DRAWS = unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib for this Python (python3-matplotlib)")

PAGE = """\
[names]
both = ["small", "large"]

[[run]]
name = "small"
kind = "predicted"
command = "--dry-run deck.toml"
keep = ["solve"]

[[run]]
name = "large"
kind = "measured"
command = "deck.toml"
"""
TEMPLATE = "{{ value('small', 'delayed.0.seconds', solver='cg') | f(1) }} and {{ ratios(values(both, 'delayed.0.seconds', solver='cg'), [2, 4]) }}\n"
FIGURE = """
[[figure]]
file = "drawn.svg"
kind = "predicted"
caption = "Seconds."
form = "bars"
x = "run"
y = "seconds"
series = [
    {label = "cg", x = "both", y = "values(both, 'delayed.0.seconds')"},
]
"""
# A keel that writes the records of a dry run beside its deck.
KEEL = """\
#!/usr/bin/env python3
import sys
out = next(word.partition("=")[2] for word in sys.argv if word.startswith("output.json="))
open(out, "w").write({records!r})
"""


def solve(seconds: float, **more: object) -> dict[str, object]:
    return {"record": "solve", "solver": "cg", "delayed": [{"seconds": seconds}], **more}


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


class Pages(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.results, self.page = self.folder, self.folder / "made_up"
        for name, text in {"page.toml": PAGE, "README.md.j2": TEMPLATE, "small.json": lines(solve(2.0)), "large.json": lines(solve(8.0))}.items():
            self.file(f"made_up/{name}", text)

    def keel_that_writes(self, *records: dict[str, object]) -> str:
        return str(self.program("keel", KEEL.format(records=lines(*records))))

    def keel(self, seconds: float) -> str:
        return self.keel_that_writes({"record": "plan", "schema": 1}, solve(seconds))

    def results_command(self, *words: str) -> tuple[int, str]:
        status, out, told = ended(main, *words, "--results", self.results)
        return status, out + told

    def test_a_page_shows_what_its_runs_tell(self) -> None:
        status, told = self.results_command("--keel", self.keel(3.0))
        self.assertEqual(status, 0, told)
        self.assertEqual((self.page / "small.json").read_text(), lines(solve(3.0)))  # without the plan
        self.assertEqual((self.page / "large.json").read_text(), lines(solve(8.0)))  # measured, and left alone
        self.assertEqual((self.page / "README.md").read_text(), "3.0 and [1.5, 2.0]\n")

    def test_a_number_changed_by_hand_is_found(self) -> None:
        keel = self.keel(2.0)
        self.results_command("--keel", keel)
        self.assertEqual(self.results_command("--check", "--keel", keel), (0, "every page is this build's\n"))
        readme = self.page / "README.md"
        readme.write_text(readme.read_text().replace("2.0 and", "2.1 and"))
        status, told = self.results_command("--check", "--keel", keel)
        self.assertEqual(status, 1)
        self.assertIn("README.md: it is not what README.md.j2 and the records make; run scripts/results --render made_up", told)
        self.assertEqual(self.results_command("--render")[0], 0)
        self.assertEqual(self.results_command("--check", "--keel", keel)[0], 0)

    def test_records_of_another_build_are_stale(self) -> None:
        self.results_command("--keel", self.keel(2.0))
        self.assertEqual(self.results_command("--check", "--keel", self.keel(2.09))[0], 0)  # within 5 %
        status, told = self.results_command("--check", "--keel", self.keel(2.2))
        self.assertEqual((status, told), (1, f"{self.page}/small.json: record 1 (solve cg): delayed[0]: seconds: kept 2.0, made 2.2\n"))

    def test_counts_of_plans_are_exact_and_others_are_not(self) -> None:
        for kind, stale in (("scheme", 1), ("plan", 1), ("total", 1), ("solve", 0)):
            kept, made = {"record": kind, "messages": 1000}, {"record": kind, "messages": 1001}
            self.assertEqual(len(list(differences([kept], [made]))), stale, kind)
        self.assertEqual(list(differences([{"record": "solve"}], [])), ["1 records are kept, 0 are made"])
        self.assertEqual(list(differences([{"record": "solve", "cycles": 9}], [{"record": "solve"}])), ["record 1 (solve): cycles is gone"])
        self.assertEqual(len(list(differences([solve(1, converged=True)], [solve(1, converged=False)]))), 1)

    def test_counts_are_exact_where_iterations_are_unchanged(self) -> None:
        def found(kept: dict[str, object], made: dict[str, object]) -> int:
            return len(list(differences([{"record": "solve", **kept}], [{"record": "solve", **made}])))

        self.assertEqual(found({"cycles": 9, "reductions": 1000}, {"cycles": 9, "reductions": 1001}), 1)
        self.assertEqual(found({"cycles": 100, "reductions": 1000}, {"cycles": 101, "reductions": 1010}), 0)
        self.assertEqual(found({"reductions": 1000}, {"reductions": 1001}), 0)  # no iterations
        unsolved = {"iterations": 9, "converged": False}
        self.assertEqual(found({**unsolved, "reductions": 1000}, {**unsolved, "reductions": 1001}), 0)
        # A proxy solve's counts are means: whole but for rounding, or fractions.
        proxy = {"cycles": 9.0, "bottom_iterations": 41.142857142857146}
        rounded = {"cycles": 8.999999999999998, "bottom_iterations": 41.14285714285714}
        for kept, made, stale in ((254.00000000001, 253.99999999999, 0), (254.00000000001, 254.2, 1), (254.28571, 254.4, 0),
                                  (0.0, 0.0, 0), (5e-10, 5.1e-10, 0)):  # fmt: skip
            self.assertEqual(found({**proxy, "exchanges": [kept]}, {**rounded, "exchanges": [made]}), stale, kept)

    def test_a_machine_gets_the_concurrency_of_a_start(self) -> None:
        deck, machine = with_concurrency(["a.toml", "comm.machine=hopper"], 0.5, self.results)
        self.assertEqual(deck, "a.toml")
        self.assertIn("\nconcurrency = 0.5", Path(machine.partition("=")[2]).read_text())

    def test_a_residual_is_compared_by_its_magnitude_and_a_run_may_have_a_tolerance(self) -> None:
        for kept, made, stale in ((8e-16, 9e-15, 0), (8e-16, 2e-14, 1), (2e-3, 0.9, 0), (0.0, 3e-16, 0), (None, 0.9, 1)):
            differing = differences([{"record": "solve", "true_residual": kept}], [{"record": "solve", "true_residual": made}])
            self.assertEqual(len(list(differing)), stale, kept)
        kept, made = {"record": "solve", "iterations": 100}, {"record": "solve", "iterations": 120}
        self.assertEqual(len(list(differences([kept], [made]))), 1)
        self.assertEqual(list(differences([kept], [made], 0.25)), [])
        self.assertEqual(list(differences([{**kept, "converged": False}], [{**made, "converged": False}])), [])

    @DRAWS
    def test_bars_may_begin_at_one(self) -> None:
        from pages.picture import bars
        from studies.evaluate.figures.style import new

        axis = new()[1][0][0]
        bars(axis, [("gain", ["one", "other"], [3.0, 0.5])], base=1)
        self.assertEqual([(bar.get_y(), bar.get_height()) for bar in axis.patches], [(1, 2.0), (1, -0.5)])

    def test_records_of_something_else_are_left_alone(self) -> None:
        measured = 'kind = "measured"\ncommand = "deck.toml"'
        (self.page / "page.toml").write_text(PAGE.replace(measured, 'kind = "measured"\nby = "scripts/study run"'))
        status, told = self.results_command("--measured", "--keel", self.keel(3.0))
        self.assertEqual(status, 0, told)
        self.assertEqual((self.page / "large.json").read_text(), lines(solve(8.0)))
        (self.page / "page.toml").write_text(PAGE.replace('command = "--dry-run deck.toml"', 'by = "scripts/study run"'))
        status, told = self.results_command("--render")
        self.assertEqual(status, 2)
        self.assertIn("page.toml:4: run: wants command, or paper, or by if it is measured or simulated", told)
        (self.page / "page.toml").write_text(PAGE.replace('keep = ["solve"]', "concurrency = [0, 0.5]"))
        self.assertIn("page.toml:8: run.concurrency: wants one comm.machine=NAME in each start", self.results_command("--render")[1])

    def test_the_figure_of_a_paper_is_that_of_the_records_of_its_run(self) -> None:
        (self.page / "page.toml").write_text('[[run]]\nname = "small"\nkind = "counted"\npaper = "residuals"\n')
        (self.page / "README.md.j2").write_text("")
        self.results_command("--render")
        drawn = self.page / "residuals.svg"
        drawn.write_text(mark_of([solve(2.0)]))
        self.assertEqual(self.results_command("--check", "--render")[0], 0)
        drawn.write_text(mark_of([solve(2.1)]))
        stale = f"{drawn}: it is not what the records of small make; run scripts/results made_up\n"
        self.assertEqual(self.results_command("--check", "--render"), (1, stale))

    @DRAWS
    def test_a_figure_that_is_missing_or_of_other_numbers_is_found(self) -> None:
        (self.page / "page.toml").write_text(PAGE + FIGURE)
        drawn = self.page / "drawn.svg"
        self.assertEqual(self.results_command("--render")[0], 0)
        self.assertRegex(drawn.read_text(), r"</svg>\n<!-- digest [0-9a-f]{16} -->\n$")
        self.assertEqual(self.results_command("--check", "--render")[0], 0)
        for change, told in (
            (lambda: (self.page / "large.json").write_text(lines(solve(9.0))), "not what page.toml and the records make"),
            (lambda: (self.page / "page.toml").write_text(PAGE + FIGURE.replace('"bars"', '"points"')), "not what page.toml"),
            (drawn.unlink, "missing"),
        ):
            change()
            (self.page / "README.md").unlink()
            status, found = self.results_command("--check", "--render")
            self.assertEqual(status, 1)
            self.assertIn(f"{self.page}/README.md: it is missing; run scripts/results --render made_up\n", found)
            self.assertIn(f"{drawn}: it is {told}", found)
            self.assertEqual(self.results_command("--render")[0], 0)
            self.assertEqual(self.results_command("--check", "--render")[0], 0)

    def test_a_digest_does_not_depend_on_last_digits(self) -> None:
        self.assertEqual(mark_of([0.1 + 0.2, (1, "a")]), mark_of([0.3, [1, "a"]]))
        self.assertNotEqual(mark_of([0.3001]), mark_of([0.3]))
        self.assertNotEqual(mark_of([3]), mark_of(["3"]))

    def test_runs_of_papers_are_made_when_the_other_pages_have_their_records(self) -> None:
        self.file("a_paper/page.toml", '[[run]]\nname = "curves"\nkind = "counted"\npaper = "residuals"\n')
        self.file("a_paper/README.md.j2", "curves\n")
        started: list[str] = []

        class Recorder:
            def write(self, page: Page, run: PageRun, png: bool) -> list[Path]:
                started.append(run.name)
                return []

        options = parser().parse_args([])
        with redirect_stdout(StringIO()):
            work(list(all_pages(self.results)), Recorder(), options)  # type: ignore[arg-type]
        self.assertEqual(started, ["small", "curves"])
        self.assertEqual((self.folder / "a_paper/README.md").read_text(), "curves\n")

    def test_missing_records_are_told_and_damaged_ones_refused(self) -> None:
        self.results_command("--render")
        (self.page / "large.json").unlink()
        told = f"{self.page}/large.json: it is missing; it is made by scripts/results made_up --measured\n"
        self.assertEqual(self.results_command("--check", "--render"), (1, told))
        (self.page / "large.json").write_text(lines(solve(8.0)) + '{"record": "so')
        told = f"{self.page}/large.json:2: cut off: '{{\"record\": \"so'; records are the JSON lines of output.json=FILE\n"
        for words in ("--check", "--render"), ("--render",):
            self.assertEqual(self.results_command(*words), (2, told))

    def test_no_pages_and_a_check_of_measured_records_are_refused(self) -> None:
        self.assertEqual(self.results_command("--check", "--measured"),
                         (2, "--check makes no measured records again; leave out --check or --measured\n"))  # fmt: skip
        (self.page / "page.toml").unlink()
        told = f"{self.results}: no pages; give --results FOLDER, whose folders have page.toml and README.md.j2\n"
        self.assertEqual(self.results_command("--check", "--render"), (2, told))

    def test_mistakes_of_page_toml_are_told_with_their_lines(self) -> None:
        figure = FIGURE.replace('"cg", x', '"cg", z').replace("x = ", "log_x = true\nx = ", 1)
        names = PAGE.replace("[names]\n", "[names]\nleast = 1\n").replace('"large"\nkind', '"small"\nkind')
        (self.page / "page.toml").write_text(names + figure)
        status, told = self.results_command("--render")
        self.assertEqual(status, 2)
        at = f"{self.page}/page.toml"
        self.assertEqual(told.splitlines(), [
            f"{at}:2: names.least: this is a function of expressions; choose another name",
            f'{at}:11: run.name = "small": another run has this name; each wants its own',
            f'{at}:21: figure.log_x: wants form = "lines" or "scatter"; x of bars and points are names',
            f"{at}:24: a series has no x; it wants a text: expression of a list",
            f"{at}:24: figure.series.z: unknown key; a series has label, x, y",
        ])  # fmt: skip
        for series, wrong in (("[]", "wants at least one table of label, x and y"), ("[1]", "wants an array of tables of label, x, y")):
            (self.page / "page.toml").write_text(PAGE + FIGURE[: FIGURE.index("series")] + f"series = {series}\n")
            status, told = self.results_command("--render")
            self.assertEqual(status, 2)
            self.assertIn(f"series: {wrong}", told)

    def test_mistakes_of_expressions_are_told_with_them(self) -> None:
        path = self.page / "README.md.j2"
        for wrong, told in (("1 / 0", "ZeroDivisionError: division by zero"), ("[1][3]", "UndefinedError: list object has no element 3"),
                            ("ratios([1], [])", "ValueError: zip() argument 2"), ("value('small', 'delayed.7.x')", "IndexError: list"),
                            ("value('small', 'second')", "KeyError: 'second'"), ("1 +", "TemplateSyntaxError: ")):  # fmt: skip
            path.write_text(f"A page\n\n{{{{ {wrong} }}}}\n")
            status, found = self.results_command("--render")
            self.assertEqual(status, 2, found)
            self.assertTrue(found.startswith(f"{path}:3: {{{{ {wrong} }}}}: {told}"), found)
        path.unlink()
        self.assertEqual(self.results_command("--render")[0], 2)
        path.write_text("")
        for wrong, told in (("nobody", "UndefinedError: 'nobody' is undefined"), ("1 +", "TemplateSyntaxError"), ("3", "TypeError"),
                            ("[both[5]]", "TypeError: Object of type StrictUndefined"), ("[1]", None)):  # fmt: skip
            (self.page / "page.toml").write_text(PAGE + FIGURE.replace("values(both, 'delayed.0.seconds')", wrong))
            status, found = self.results_command("--check", "--render")
            self.assertEqual(status, 2, found)
            self.assertIn(f"{wrong}: {told}" if told else "page.toml: drawn.svg: cg has 2 x and 1 y; it wants a y for each x", found)

    def test_without_jinja2_the_command_names_the_package(self) -> None:
        (self.results / "jinja2.py").write_text("raise ModuleNotFoundError('jinja2')\n")
        script = ROOT / "scripts/results"
        environment = {**os.environ, "PYTHONPATH": str(self.results)}
        done = subprocess.run([sys.executable, script, "--render"], capture_output=True, text=True, check=False, env=environment)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"apt-get install python3-jinja2 and /usr/bin/python3 {script} ...", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_what_is_wrong_is_refused(self) -> None:
        status, told = self.results_command("--render", "made_upp")
        self.assertEqual((status, told), (2, "made_upp: no such page; choose made_up\n"))
        (self.page / "page.toml").write_text(PAGE.replace('kind = "measured"', 'kind = "guessed"'))
        status, told = self.results_command("--render")
        self.assertEqual(status, 2)
        self.assertIn('page.toml:12: run.kind = "guessed": unknown kind; choose counted, predicted, simulated, measured', told)
        (self.page / "page.toml").write_text(PAGE)
        (self.page / "README.md.j2").write_text("{{ value('small', 'seconds', solver='bicgstab') }}")
        status, told = self.results_command("--render")
        self.assertEqual((status, told), (2, f"{self.page}/small.json: no solve with {{'solver': 'bicgstab'}}\n"))


class PagesOfThisTree(unittest.TestCase):
    def test_readmes_have_at_most_700_words_with_tables_and_commands(self) -> None:
        for page in all_pages():
            most = 1200 if page.folder.name == "papers" else 700
            self.assertLessEqual(len(page.text().split()), most, page.folder.name)

"""scripts/results: a page of made-up records, what makes it stale, and what is refused."""

import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

try:
    import jinja2  # noqa: F401
except ModuleNotFoundError:
    raise unittest.SkipTest("no jinja2 for this Python (python3-jinja2)") from None

from pages.command import main  # noqa: E402
from pages.compare import differences  # noqa: E402
from pages.page import PageRun, all_pages  # noqa: E402

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
TEMPLATE = "{{ value('small', 'noisy.0.seconds', solver='cg') | f(1) }} and {{ ratios(values(both, 'noisy.0.seconds', solver='cg'), [2, 4]) }}\n"
# A keel that writes the records of a dry run beside its deck.
KEEL = """\
#!/usr/bin/env python3
import sys
out = next(word.partition("=")[2] for word in sys.argv if word.startswith("output.json="))
open(out, "w").write({records!r})
"""


def solve(seconds: float, **more: object) -> dict[str, object]:
    return {"record": "solve", "solver": "cg", "noisy": [{"seconds": seconds}], **more}


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


class Pages(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.results = Path(held.name)
        self.page = self.results / "made_up"
        self.page.mkdir()
        for name, text in {"page.toml": PAGE, "README.md.j2": TEMPLATE, "small.json": lines(solve(2.0)), "large.json": lines(solve(8.0))}.items():
            (self.page / name).write_text(text)

    def keel(self, seconds: float) -> str:
        path = self.results / "keel"
        path.write_text(KEEL.format(records=lines({"record": "plan", "schema": 1}, solve(seconds))))
        path.chmod(0o755)
        return str(path)

    def results_command(self, *words: str) -> tuple[int, str]:
        told = StringIO()
        with redirect_stdout(told), redirect_stderr(told):
            status = main([*words, "--results", str(self.results)])
        return status, told.getvalue()

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
        self.assertEqual((status, told), (1, f"{self.page}/small.json: record 1 (solve cg): noisy[0]: seconds: kept 2.0, made 2.2\n"))

    def test_counts_of_plans_are_exact_and_others_are_not(self) -> None:
        for kind, stale in (("scheme", 1), ("plan", 1), ("solve", 0)):
            kept, made = {"record": kind, "messages": 1000}, {"record": kind, "messages": 1001}
            self.assertEqual(len(list(differences([kept], [made]))), stale, kind)
        self.assertEqual(list(differences([{"record": "solve"}], [])), ["1 records are kept, 0 are made"])
        self.assertEqual(list(differences([{"record": "solve", "cycles": 9}], [{"record": "solve"}])), ["record 1 (solve): cycles is gone"])
        self.assertEqual(len(list(differences([solve(1, converged=True)], [solve(1, converged=False)]))), 1)

    def test_a_run_may_have_a_start_for_each_of_several_words(self) -> None:
        each = 'fields = ["solver", "noisy", "moved.bytes"]\n[run.each]\nplain = "problem.box=8"\nfused = "problem.box=16"\n'
        (self.page / "page.toml").write_text(PAGE.replace('keep = ["solve"]\n', f'keep = ["solve"]\n{each}'))
        (self.page / "README.md.j2").write_text("{{ value('small', 'noisy.0.seconds', each='fused') }}\n")
        keel = self.results / "keel"
        keel.write_text(KEEL.format(records=lines(solve(2.0, moved={"bytes": 8, "share": 0.5}))))
        keel.chmod(0o755)
        self.assertEqual(self.results_command("--keel", str(keel))[0], 0)
        kept = [json.loads(line) for line in (self.page / "small.json").read_text().splitlines()]
        self.assertEqual([record["each"] for record in kept], ["plain", "fused"])
        self.assertEqual([record["moved"] for record in kept], [{"bytes": 8}] * 2)  # without the share
        self.assertEqual(self.results_command("--check", "--keel", str(keel))[0], 0)

    def test_a_run_may_have_a_start_for_each_of_several_solvers(self) -> None:
        run = PageRun("many", "counted", "deck.toml", solvers=("cg", "ca_cg s=4"))
        self.assertEqual(list(run.starts()), [("cg", ["deck.toml", "bottom.solver=cg"]),
                                              ("ca_cg s=4", ["deck.toml", "bottom.solver=ca_cg", "bottom.s=4"])])  # fmt: skip

    def test_a_residual_is_compared_by_its_magnitude_and_a_run_may_have_a_tolerance(self) -> None:
        for kept, made, stale in ((8e-16, 9e-15, 0), (8e-16, 9e-14, 1), (2e-3, 0.9, 0), (None, 0.9, 1)):
            differing = differences([{"record": "solve", "true_residual": kept}], [{"record": "solve", "true_residual": made}])
            self.assertEqual(len(list(differing)), stale, kept)
        kept, made = {"record": "solve", "iterations": 100}, {"record": "solve", "iterations": 120}
        self.assertEqual(len(list(differences([kept], [made]))), 1)
        self.assertEqual(list(differences([kept], [made], 0.25)), [])
        self.assertEqual(list(differences([{**kept, "converged": False}], [{**made, "converged": False}])), [])

    def test_the_least_of_several_records_and_bars_that_begin_at_one(self) -> None:
        (self.page / "large.json").write_text(lines(solve(8.0), solve(2.0) | {"solver": "amg"}, solve(4.0) | {"solver": "bicgstab"}))
        least = "least('large', 'noisy.0.seconds', solver="
        (self.page / "README.md.j2").write_text(f"{{{{ {least}['cg', 'bicgstab']) }}}} {{{{ {least}'amg') }}}}\n")
        self.assertEqual(self.results_command("--render"), (0, f"wrote {self.page}/README.md\n"))
        self.assertEqual((self.page / "README.md").read_text(), "4.0 2.0\n")
        (self.page / "README.md.j2").write_text(f"{{{{ {least}'cgs') }}}}")
        self.assertEqual(self.results_command("--render"), (2, f"{self.page}/large.json: no solve with {{'solver': 'cgs'}}\n"))
        try:
            from pages.picture import bars
            from studies.evaluate.figures.style import new
        except ModuleNotFoundError:
            self.skipTest("no matplotlib for this Python")
        axis = new()[1][0][0]
        bars(axis, [("gain", ["one", "other"], [3.0, 0.5])], base=1)
        self.assertEqual([(bar.get_y(), bar.get_height()) for bar in axis.patches], [(1, 2.0), (1, -0.5)])

    def test_timers_may_become_their_sums(self) -> None:
        (self.page / "page.toml").write_text(PAGE.replace('keep = ["solve"]', 'keep = ["solve"]\nsums = ["bytes"]'))
        (self.page / "README.md.j2").write_text("{{ value('small', 'bytes', kind='timer') }}\n")
        keel = self.results / "keel"
        timers = [{"record": "timer", "op": op, "bytes": 8, "calls": 3} for op in ("smooth", "restrict")]
        keel.write_text(KEEL.format(records=lines(solve(2.0), *timers)))
        keel.chmod(0o755)
        self.assertEqual(self.results_command("--keel", str(keel))[0], 0)
        self.assertEqual((self.page / "small.json").read_text(), lines(solve(2.0), {"record": "timer", "bytes": 16}))

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

    def test_a_run_may_be_a_figure_of_a_paper(self) -> None:
        (self.page / "page.toml").write_text('[[run]]\nname = "curves"\nkind = "counted"\npaper = "residuals"\nnightly = true\n')
        (self.page / "README.md.j2").write_text("{{ value('curves', 'V-cycles', kind='row', bottom='cg') }}\n")
        keel = self.results / "keel"
        curve = {"residuals": [1.0, 1e-3, 1e-11], "cycles": 2, "bottom": [{"iterations": 7, "met": True}]}
        keel.write_text(KEEL.format(records=lines(solve(2.0, **curve))))
        keel.chmod(0o755)
        status, told = self.results_command("--keel", str(keel))
        self.assertEqual(status, 0, told)
        self.assertEqual((self.page / "README.md").read_text(), "2\n")
        self.assertIn("<svg", (self.page / "residuals.svg").read_text())
        self.assertEqual(self.results_command("--check", "--nightly", "--keel", str(keel))[0], 0)
        (self.page / "page.toml").write_text('[[run]]\nname = "curves"\nkind = "counted"\npaper = "fig6"\n')
        status, told = self.results_command("--keel", str(keel))
        self.assertEqual(status, 2)
        self.assertIn("fig6: no such figure of a paper; choose weak_times, ", told)

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
    def test_readmes_are_what_templates_and_records_make(self) -> None:
        pages = list(all_pages())
        self.assertTrue(pages)
        for page in pages:
            with self.subTest(page=page.folder.name):
                self.assertEqual((page.folder / "README.md").read_text(), page.text())

    def test_readmes_have_at_most_500_words_of_prose(self) -> None:
        for page in all_pages():
            prose = [line for line in page.text().splitlines() if not line.startswith(("|", "    "))]
            self.assertLessEqual(len(" ".join(prose).split()), 500, page.folder.name)


if __name__ == "__main__":
    unittest.main()

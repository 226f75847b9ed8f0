"""Every view of scripts/report takes every record file that the project publishes, each line of them, and odd records."""

import itertools
import os
from pathlib import Path

from studies.markdown import table
from studies.views import command
from support import InFolder, ended, lines, needs

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = sorted(ROOT.glob("results/*/*.json*"))
NIGHTLY = "KEEL_NIGHTLY" in os.environ
VIEWS = (["compare"], ["records"], ["history", "--check"])


class Views(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "run.json"

    def view(self, *words: str) -> tuple[int, str, str]:
        return ended(command.main, *words, self.folder if words[0] == "history" else self.path)

    def taken(self, text: str) -> set[str]:
        """The views that show records; the others refuse them with a line."""
        self.path.write_text(text)
        shown = set()
        for words in VIEWS:
            status, out, told = self.view(*words)
            self.assertIn(status, (0, 2), (words, text[:200]))
            self.assertTrue(out if status == 0 else told, (words, text[:200]))
            shown |= {" ".join(words)} if status == 0 else set()
        return shown

    def test_each_takes_every_published_file(self) -> None:
        self.assertGreater(len(PUBLISHED), 100)
        for path in PUBLISHED:
            with self.subTest(path=path):
                self.assertIn("compare", self.taken(path.read_text()))

    def test_each_takes_every_published_line(self) -> None:
        published = dict.fromkeys(itertools.chain.from_iterable(path.read_text().split("\n") for path in PUBLISHED))
        for line in list(filter(None, published))[:: 1 if NIGHTLY else 5]:
            with self.subTest(line=line[:200]):
                self.assertIn("compare", self.taken(line + "\n"))

    def test_a_page_takes_every_published_file(self) -> None:
        needs("jinja2", "matplotlib", "pandas")
        for number, path in enumerate(PUBLISHED):
            with self.subTest(path=path):
                self.path.write_text(path.read_text())
                for view in ("run", "whatif"):
                    status, out, told = self.view(view, "--output", str(self.path.with_name(f"{view}{number}.html")))
                    self.assertIn(status, (0,) if (view, path.name) == ("whatif", "whatif.json") else (0, 2))
                    self.assertTrue(out if status == 0 else told)

    def test_a_field_that_a_record_lacks_is_a_dash(self) -> None:
        self.path.write_text('{"record":"run","ranks":2}\n{"record":"solve","solver":"cg"}\n{"record":"result","fom":1}\n')
        self.assertEqual(self.view("compare")[1].splitlines()[2], "| 2x- | - | - | cg | - | - | - | - | - | - | - | INVALID |")

    def test_odd_records_are_refused(self) -> None:
        for text in ('{"record":"run"}\n', '{"record":"run","schema":3}\n', '{"record":"run","deck":[]}\n', '{"record":5}\n', "[]\n",
                     '{"record":"solve","solver":5}\n', '{"record":"timer","op":5,"level":0,"t_mean":1}\n',
                     '{"record":"survey","cycles":"9"}\n', '{"record":"scheme","scheme":5}\n'):  # fmt: skip
            with self.subTest(text=text):
                self.assertEqual(self.taken(text), set())

    def test_rows_have_as_many_cells_as_the_head_whatever_texts_hold(self) -> None:
        label = "a|b\\|c\nd\r\u2028e\x1b[31m"
        run = {"record": "run", "deck": {"run": {"label": label}}}
        other = {"record": "run", "deck": {"run": {"label": "x"}}}
        self.path.write_text(lines([run, other]))
        head, _, *rows = self.view("compare")[1].splitlines()
        self.assertEqual(len(rows), 2)
        self.assertIn("| a\\|b\\\\\\|c d e [31m |", rows[0])
        for row in rows:
            self.assertEqual(row.replace("\\\\", "").replace("\\|", "").count("|"), head.count("|"))
        self.assertEqual(table(["x"], [["a|b"]]), "| x |\n| --- |\n| a\\|b |\n")

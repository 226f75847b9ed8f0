"""The checks of scripts/docs: each finds the fault that is put in front of it; links are those of the site."""

import json
import re
import unittest

from documents.checks import MOST_WORDS, mistakes, words
from documents.layout import ROOT, in_site
from documents.records import write_fields
from support import InFolder

HOST = {"type": "object", "properties": {"name": {"type": "string", "description": "its own name"}}}
HOSTS = {"type": "array", "description": "all its hosts", "items": HOST}
RUN = {"type": "object", "properties": {"record": {"const": "run"}, "hosts": HOSTS}}
SCHEMA = {"properties": {"record": {"enum": ["run"]}}, "$defs": {"run": RUN}}
RECORDS = "# Records\n\n<!-- begin: scripts/docs --tables -->\n<!-- end -->\n"


class Checks(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.file("mkdocs.yml", "nav:\n  - Keel: index.md\n  - Records: reference/records.md\n")
        self.file("docs/index.md", "# Keel\n\nSee [records](reference/records.md#run).\n")
        self.file("docs/reference/records.schema.json", json.dumps(SCHEMA))
        self.file("docs/reference/records.md", RECORDS)
        write_fields(self.folder)

    def test_pages_without_faults_have_none(self) -> None:
        self.assertEqual(mistakes(self.folder), [])

    def test_each_fault_is_found(self) -> None:
        many = "word " * MOST_WORDS
        for path, text, expected in (
            ("docs/index.md", "[a](reference/nothing.md)", "docs/index.md: reference/nothing.md does not exist"),
            ("docs/index.md", "[a](reference/records.md#nothing)", "docs/index.md: docs/reference/records.md has no heading #nothing"),
            ("docs/index.md", "![a](figures/nothing.svg)", "docs/index.md: figures/nothing.svg does not exist"),
            ("docs/index.md", "text\n* item\n", "docs/index.md:2: a list needs an empty line before it"),
            ("docs/index.md", many, f"docs/: {MOST_WORDS + 23} words; at most {MOST_WORDS}"),
            ("docs/more.md", "# More\n", "mkdocs.yml: nav lacks more.md"),
            ("mkdocs.yml", "nav:\n  - Records: reference/records.md\n", "mkdocs.yml: nav lacks index.md"),
            ("mkdocs.yml", "nav:\n  - A: index.md\n  - B: index.md\n  - C: reference/records.md\n", "mkdocs.yml: index.md stands twice"),
            ("docs/figures/a.svg", "<svg/>", "docs/figures/a.svg: no page shows it"),
            ("docs/figures/a.svg", "<svg/>", "docs/figures/a.svg: has no colours for a dark ground (prefers-color-scheme)"),
            ("docs/reference/records.md", RECORDS, "docs/reference/records.md: its fields are not those of the schema; run scripts/docs --tables"),
        ):  # fmt: skip
            with self.subTest(expected):
                self.setUp()
                self.file(path, text)
                self.assertIn(expected, mistakes(self.folder))

    def test_links_in_code_are_none(self) -> None:
        self.file("docs/index.md", "# Keel\n\n`[a](b.md)`\n\n```\n[a](b.md)\n```\n\n    [a](b.md)\n")
        self.assertEqual(mistakes(self.folder), [])

    def test_generated_text_is_words(self) -> None:
        self.assertEqual(words(self.folder), 27)

    def test_a_field_needs_a_description(self) -> None:
        self.file("docs/reference/records.schema.json", json.dumps(SCHEMA).replace("its own name", ""))
        write_fields(self.folder)
        self.assertEqual(mistakes(self.folder), ["docs/reference/records.schema.json: a field without description: run: hosts.name"])


class Readme(unittest.TestCase):
    def test_it_is_read_in_three_minutes(self) -> None:
        readme = (ROOT / "README.md").read_text()
        self.assertLessEqual(len(readme.splitlines()), 110)
        self.assertLess(readme.index("]("), readme.index("\n* "), "the figure comes first")
        bullets = readme[: readme.index("## ")].split("\n* ")[1:]
        self.assertEqual(len(bullets), 3)
        (report,) = re.findall(r"^```\n(Keel .*?)^```", readme, re.DOTALL | re.MULTILINE)
        self.assertLessEqual(len(report.splitlines()), 14)
        findings = readme.partition("## What Keel found")[2].partition("## ")[0]
        answers = [line.split(" | ")[1] for line in findings.splitlines() if "](" in line]
        self.assertEqual(len(answers), len(list(ROOT.glob("results/*/page.toml"))))
        for answer in answers:
            self.assertLessEqual(len(answer.split()), 12, answer)
            self.assertLessEqual(len(re.findall(r"\b\d[\d.,]*", answer)), 2 if " to " in answer else 1, answer)


class Site(unittest.TestCase):
    def test_links_lead_to_pages_of_the_site(self) -> None:
        for source, text, expected in (
            ("docs/how-to/study.md", "[a](../report.md#header)", "[a](../report.md#header)"),
            ("docs/how-to/study.md", "[a](../../results/scale/README.md)", "[a](../results/scale.md)"),
            ("docs/report.md", "[a](../README.md)", "[a](overview.md)"),
            ("results/scale/README.md", "![a](speed_up.svg)", "![a](scale/speed_up.svg)"),
            ("results/scale/README.md", "[a](../../docs/how-to/predict.md)", "[a](../how-to/predict.md)"),
            ("results/scale/README.md", "[a](weak.toml)", "a"),
            ("CONTRIBUTING.md", "[a](docs/reference/testing.md) `[b](c.md)`", "[a](../reference/testing.md) `[b](c.md)`"),
            ("docs/report.md", "[a](https://example.org) [b](#header)", "[a](https://example.org) [b](#header)"),
        ):
            self.assertEqual(in_site(source, text), expected)

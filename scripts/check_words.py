#!/usr/bin/env python3
"""Checks how sources and documents speak: lines of C++ have at most 110 columns, a comment does not begin with a word that
leaves its subject out, and words are those of the field.

Usage: check_words.py [ROOT]. Prints every violation as file:line: what; exit status 1 if there is any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from studies.ending import ended

FOLDERS = ["kernels", "comm", "solvers", "miniapp", "peers", "tests", "scripts", "packaging"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "packaging/**/*.md", "results/*/README.md.j2"]
SUFFIXES = {".cpp": "c++", ".hpp": "c++", ".cu": "c++", ".py": "python", ".def": "shell"}
COLUMNS = 110
QUOTE_OLD_WORDS = ("scripts/check_words.py", "tests/scripts/test_check_words.py")

# A word that the field does not use, and the field's own.
WORDS: dict[str, str] = {
    r"foretell\w*|foretold": "predict, prediction",
    r"reckon\w*": "compute, predict",
    r"imagin(?:e[ds]?|ing|ation|ary)": "virtual, modelled",
    r"rehears\w*": "proxy solve, calibration run",
    r"quickest": "fastest",
    r"at the most": "at most",
    r"at the least": "at least",
    r"under way|on (?:its|their) way": "in flight, pending",
    r"(?<!by )hand(?:s|ed|ing)? (?:on|over)": "pass, transfer",
    r"charged for": "modelled",
    r"lateness": "delay, latency",
}
WORD = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): instead for pattern, instead in WORDS.items()}
# A comment is a sentence with a subject, or a noun phrase.
OPENING = re.compile(r"(?:of|that|those|so|what|where|which)\b", re.IGNORECASE)
COMMENT = {
    "c++": re.compile(r'(?:"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[^"\'/]|/(?!/))*?//+ ?(?P<text>.*)'),
    "python": re.compile(r'\s*"""(?P<docstring>.*)|(?:"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[^"\'#])*?# ?(?P<text>.*)'),
    "shell": re.compile(r'(?:"(?:\\.|[^"\\])*"|\'[^\']*\'|[^"\'])*?(?<!\S)# ?(?P<text>.*)'),
}


def language_of(path: Path, root: Path) -> str | None:
    """A script without a suffix names its interpreter, or is the shell's."""
    if "." in path.name:
        return SUFFIXES.get(path.suffix)
    if path.relative_to(root).parts[0] not in ("scripts", "packaging") or not path.is_file():
        return None
    return "python" if "python" in path.read_text(encoding="utf-8").partition("\n")[0] else "shell"


def openings(language: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The line and the first word of every comment that begins with a word that it should not. Comments on lines that
    follow each other are one."""
    before = None  # the column of the comment on the line before
    for number, line in enumerate(lines, 1):
        comment = COMMENT[language].match(line)
        column = comment.start(comment.lastgroup or 0) if comment else None
        if comment and column != before and (word := OPENING.match(line, column)):
            yield number, word[0]
        before = column


def violations_of(path: Path, language: str | None) -> Iterator[tuple[int, str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        for word, instead in WORD.items():
            if match := word.search(line):
                yield number, f'"{match[0]}": write {instead}'
        if language == "c++" and len(line) > COLUMNS:
            yield number, f"{len(line)} columns; at most {COLUMNS}"
    if language:
        for number, first in openings(language, lines):
            yield number, f'a comment begins with "{first}"; name its subject'


def violations(root: Path) -> list[str]:
    paths = {path for folder in FOLDERS for path in (root / folder).rglob("*") if language_of(path, root)}
    paths.update(path for pattern in DOCUMENTS for path in root.glob(pattern))
    found = []
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if name not in QUOTE_OLD_WORDS:
            found += [f"{name}:{number}: {what}" for number, what in violations_of(path, language_of(path, root))]
    return found


def main() -> int:
    root = (Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = violations(root)
    print("\n".join(found) if found else "every line speaks plainly")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(ended(main))

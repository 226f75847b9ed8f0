#!/usr/bin/env python3
"""Checks how sources and documents speak: lines of C++ have at most 110 columns, a comment does not begin with a word that
leaves its subject out, words are those of the field, and phrases in prose name their subject and their number.

Usage: check_words.py [ROOT]. Prints every violation as file:line: what; exit status 1 if there is any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from studies.ending import ended

FOLDERS = ["kernels", "comm", "solvers", "miniapp", "peers", "tests", "scripts", "packaging"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "packaging/**/*.md", "results/*/README.md"]
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
# A phrase that hides a subject or a number; looked for in comments, texts and documents, since it may be a name in code, and not
# in tests, whose names are sentences.
PHRASES: dict[str, str] = {
    r"so many": "the number, or its name",
    r"as many as": "the number, or its name",
    r"whoever": "the rank, the caller",
    r"nobody": "no rank, no caller",
    r"told": "reported, given, known",
    r"what it": "the noun",
}
WORD = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): instead for pattern, instead in WORDS.items()}
PHRASE = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): instead for pattern, instead in PHRASES.items()}
CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|\$[^$\n]*\$", re.DOTALL)
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
PAIR_OF_SLASHES = re.compile(r"[^.:;|]* / [^.:;|]* / ")
NUMBER = re.compile(r"(?<![\w.^/-])\d[\d.,]*\b")
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


def prose(line: str, language: str | None) -> str:
    """The comment of a line and its texts of several words."""
    if language is None:
        return line
    comment = COMMENT[language].match(line)
    end = comment.start(comment.lastgroup or 0) if comment else len(line)
    texts = [re.sub(r"\{[^{}]*\}", "", text) for text in STRING.findall(line[:end]) if " " in text]
    return " ".join([*texts, line[end:]])


def violations_of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Slashes and numbers that want a table."""
    plain = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for number, line in enumerate(plain.split("\n"), 1):
        if not line.startswith("    ") and PAIR_OF_SLASHES.search(line):
            yield number, "two slashes in a sentence; make columns"
    for bullet in re.finditer(r"^\* .*(?:\n  .*)*", plain, re.MULTILINE):
        if (count := len(NUMBER.findall(bullet[0]))) > 4:
            yield plain[: bullet.start()].count("\n") + 1, f"a bullet with {count} numbers; at most 4, or a table"


def violations_of(path: Path, language: str | None, in_prose: bool) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    code = CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text).split("\n") if language is None else lines
    for number, (line, plain) in enumerate(zip(lines, code, strict=True), 1):
        for word, instead in WORD.items():
            if match := word.search(line):
                yield number, f'"{match[0]}": write {instead}'
        spoken = prose(plain, language) if in_prose else ""
        for phrase, instead in PHRASE.items():
            if match := phrase.search(spoken):
                yield number, f'"{match[0]}": name {instead}'
        if language == "c++" and len(line) > COLUMNS:
            yield number, f"{len(line)} columns; at most {COLUMNS}"
    if language:
        for number, first in openings(language, lines):
            yield number, f'a comment begins with "{first}"; name its subject'
    elif path.suffix == ".md":
        yield from violations_of_markdown(text)


def violations(root: Path) -> list[str]:
    paths = {path for folder in FOLDERS for path in (root / folder).rglob("*") if language_of(path, root)}
    paths.update(path for pattern in DOCUMENTS for path in root.glob(pattern))
    found = []
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if name not in QUOTE_OLD_WORDS:
            found += [f"{name}:{number}: {what}" for number, what in violations_of(path, language_of(path, root), not name.startswith("tests/"))]
    return found


def main() -> int:
    root = (Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = violations(root)
    print("\n".join(found) if found else "every line speaks plainly")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(ended(main))

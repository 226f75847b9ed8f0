"""TOML files whose keys are known: every mistake with its line, what came, what is allowed and the nearest name, all at once."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any

Place = tuple[str | int, ...]  # keys and, of arrays of tables, numbers: ("axis", 0, "key")
HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
QUOTED = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')


class Refused(Exception):
    """The user's input is refused; the text is a line a mistake."""


@dataclass(frozen=True)
class Key:
    """One key of a table: its type, its values and its meaning."""

    kind: type | tuple[type, ...]
    meaning: str
    choices: Sequence[str] = ()
    least: float | None = None
    needed: bool = False


def parts_of(name: str) -> list[str]:
    return [part.strip().strip("\"'") for part in re.findall(r"""[^."']+|"[^"]*"|'[^']*'""", name) if part.strip()]


def lines_of(text: str) -> dict[Place, int]:
    """The line of every table and key. tomllib tells none: so this looks for keys at the beginnings of lines.

    A key within an inline table has no line of its own and is told with that of its table.
    """
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    depth, fence = 0, ""  # brackets that are open, and the quotes of a text over several lines
    for number, line in enumerate(text.splitlines(), 1):
        if not fence and depth == 0:
            if header := HEADER.match(line):
                table = tuple(parts_of(header[2]))
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, counts[table])
                found.setdefault(table, number)
                continue
            if key := KEY.match(line):
                parts = parts_of(key[1])
                for end in range(1, len(parts) + 1):
                    found.setdefault((*table, *parts[:end]), number)
                found.setdefault((*table, ".".join(parts)), number)
        rest = line
        if fence:
            if fence not in line:
                continue
            rest, fence = line.split(fence, 1)[1], ""
        bare = QUOTED.sub(lambda match: match[0] if match[0] in ('"""', "'''") else "", rest)
        for quotes in ('"""', "'''"):
            if bare.count(quotes) % 2:
                bare, fence = bare.split(quotes)[0], quotes
        if not HEADER.match(line) or depth:
            depth += sum(bare.count(c) for c in "[{") - sum(bare.count(c) for c in "]}")
    return found


def nearest(word: str, names: Iterable[str]) -> str:
    close = get_close_matches(word, list(names), n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""


WANTED = "wants a text, a finite number, true or false, or an array of these"


def unfit(value: Any) -> bool:
    """True for a value of TOML that JSON or a command line cannot hold: a date, a table, inf, nan, a text with a zero byte."""
    if isinstance(value, list):
        return any(map(unfit, value))
    return not isinstance(value, str | int | float) or "\0" in str(value) or (isinstance(value, float) and not isfinite(value))


def shown(value: Any) -> str:
    """A value in a message, without control characters."""
    return json.dumps(value) if isinstance(value, str) else str(value)


def kind_words(kind: type | tuple[type, ...]) -> str:
    words = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "an array", dict: "a table"}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(words[one] for one in kinds if not (one is int and float in kinds))


class CheckedToml:
    """A file as tomllib reads it, and the mistakes found in it so far."""

    def __init__(self, path: Path):
        self.path = path
        self.mistakes: list[tuple[int, str]] = []  # with their lines
        try:
            self.text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise Refused(f"{path}: {why}") from None
        try:
            self.values: dict[str, Any] = tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:  # also of numbers and nests beyond Python's limits
            where = re.search(r" \(at line (\d+), column \d+\)", str(error))
            line = where[1] if where else str(self.text.count("\n") + 1)
            raise Refused(f"{path}:{line}: {re.sub(r' [(]at .*[)]$', '', str(error))}") from None
        self.lines = lines_of(self.text)

    def refuse(self, place: Place, message: str) -> None:
        at = next((self.lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in self.lines), 1)
        self.mistakes.append((at, message))

    def check(self, table: dict[str, Any], place: Place, keys: dict[str, Key], what: str) -> None:
        """Mistakes of one table: unknown keys, missing ones, wrong types and values. `what` names the table in messages."""
        for name, value in table.items():
            dotted = ".".join(str(part) for part in (*place, name) if isinstance(part, str))
            if name not in keys:
                self.refuse((*place, name), f"{dotted}: unknown key; {what} has {', '.join(keys)}{nearest(name, keys)}")
                continue
            key = keys[name]
            came = f"{dotted} = {json.dumps(value, default=str)}"
            kinds = key.kind if isinstance(key.kind, tuple) else (key.kind,)
            # In Python true is a number; in TOML it is none.
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                self.refuse((*place, name), f"{came}: wants {kind_words(key.kind)}: {key.meaning}")
            elif not isinstance(value, dict | list) and unfit(value):
                self.refuse((*place, name), f"{dotted} = {shown(value)}: {WANTED}")
            elif key.choices and value not in key.choices:
                known = f"choose {', '.join(key.choices)}{nearest(str(value), key.choices)}"
                self.refuse((*place, name), f"{came}: unknown {name}; {known}")
            elif key.least is not None and isinstance(value, int | float) and value < key.least:
                self.refuse((*place, name), f"{came}: wants at least {key.least:g}: {key.meaning}")
        for name, key in keys.items():
            if key.needed and name not in table:
                self.refuse(place, f"{what} has no {name}; it wants {kind_words(key.kind)}: {key.meaning}")

    def done(self) -> None:
        if self.mistakes:
            raise Refused("\n".join(f"{self.path}:{line}: {what}" for line, what in sorted(self.mistakes)))

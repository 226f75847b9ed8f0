"""The keys of decks, as docs/reference/keys.md has them from keel --tables keys."""

import re
from dataclasses import dataclass

from studies.layout import ROOT

PAGE = ROOT / "docs/reference/keys.md"


@dataclass(frozen=True)
class Key:
    """A row of the table."""

    name: str
    default: str
    allowed: str
    meaning: str


def keys_of(table: str) -> list[Key]:
    rows = (re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| `"))
    return [Key(*(cell.strip().strip("`").replace("\\|", "|") for cell in row)) for row in rows]

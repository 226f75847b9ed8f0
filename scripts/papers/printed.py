"""Numbers that the papers print: results/figures/printed.toml."""

import tomllib
from dataclasses import dataclass

from papers.points import ROOT

FILE = ROOT / "results/figures/printed.toml"


@dataclass(frozen=True)
class Printed:
    paper: str
    figures: str
    quantity: str
    solver: str = ""
    over: str = ""
    ranks: int = 0
    value: float | None = None
    words: str = ""


def printed(paper: str) -> list[Printed]:
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["printed"]
    return [Printed(**entry) for entry in entries if entry["paper"].startswith(paper)]


def sentences(paper: str, figures: str = "") -> str:
    """Entries without a number, as lines under a table."""
    found = [one for one in printed(paper) if one.words and (not figures or one.figures == figures)]
    return "".join(f"\nPrinted ({one.paper}, {one.figures}; {one.quantity}): {one.words}.\n" for one in found)

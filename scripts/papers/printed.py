"""Numbers and sentences that the papers print, as far as Keel's authors know them: results/papers/printed.json."""

from dataclasses import dataclass

from papers.points import ROOT
from studies.records import read_runs

FILE = ROOT / "results/papers/printed.json"


@dataclass(frozen=True)
class Printed:
    record: str
    paper: str
    figures: str
    quantity: str
    solver: str = ""
    over: str = ""
    ranks: int = 0
    value: float | None = None
    words: str = ""


def printed(paper: str) -> list[Printed]:
    entries = [record for run in read_runs(FILE) for record in run.records]
    return [Printed(**entry) for entry in entries if entry["paper"].startswith(paper)]

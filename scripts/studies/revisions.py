"""Runs of one series by the revision of Keel."""

from dataclasses import dataclass, field

from studies.records import Run
from studies.statistics import Spread, spread


@dataclass
class Revision:
    """The runs of one revision of Keel in a series."""

    name: str
    runs: list[Run]
    change: float | None = None  # quotient over the runs since the last change, where there is a change
    over: float | None = None  # the same quotient, change or not; None of the first
    also: list[str] = field(default_factory=list)  # fields that differ from the revision before

    @property
    def date(self) -> str:
        return str(self.runs[0].head.get("date", ""))

    @property
    def foms(self) -> list[float]:
        return [float(run.result["fom"]) for run in self.runs]

    @property
    def spread(self) -> Spread:
        return spread(self.foms)


@dataclass
class Series:
    """Revisions in the order of their first runs."""

    name: str
    revisions: list[Revision]

    @property
    def unit(self) -> str:
        return str(self.revisions[-1].runs[-1].result.get("unit") or "")

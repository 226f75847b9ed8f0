"""Reads the JSON lines that keel writes (output.json): the only reader of records in scripts/.

A file holds the records of one or more runs. It may have been cut off at any byte, by a kill, a time limit or a full disk: what
is whole is read, and what is not is told. Fields that came with later versions of Keel may be missing in older records.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class UnreadableRecords(Exception):
    """Files that hold no records; the text names all of them, what is wrong and what would help."""


@dataclass
class Run:
    """The records of one run, or one dry run."""

    path: Path
    records: list[Record] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)  # lines that are no records

    def of(self, kind: str) -> list[Record]:
        return [record for record in self.records if record["record"] == kind]

    @property
    def head(self) -> Record:
        """The `run` record; empty for a dry run, which has a `plan` instead."""
        return next(iter(self.of("run")), {})

    @property
    def plan(self) -> Record:
        """The `plan` record of a dry run; empty for a run, and for dry runs of Keel before it wrote any."""
        return next(iter(self.of("plan")), {})

    @property
    def result(self) -> Record:
        """The `result` record; empty where the run was killed before its end, and for a dry run."""
        return next(iter(self.of("result")), {})

    @property
    def clock(self) -> str:
        """Whose seconds it has: "real", or "simulated on PLATFORM by MACHINE"; "" of a dry run, which has none."""
        simulation = self.head.get("simulation")
        if simulation:
            return f"simulated on {simulation['platform']} by {simulation['machine']}"
        return "real" if self.head else ""

    @property
    def mode(self) -> str:
        return str(self.key("run.mode", "solve")) if self.head else "dry run"

    @property
    def of_multigrid(self) -> bool:
        """True if its solves are multigrid's, and the coarsest level is the bottom."""
        return self.mode in ("solve", "survey", "full_multigrid", "benchmark", "quick_benchmark")

    @property
    def verdict(self) -> str:
        """VALID, INVALID or INTERRUPTED as the run itself said; KILLED where it could say nothing; DRY, or PREDICTED where a
        dry run predicted seconds."""
        if not self.head:
            return "PREDICTED" if any(solve.get("predicted") for solve in self.of("solve")) else "DRY"
        if not self.result:
            return "KILLED"
        if self.result.get("interrupted"):
            return "INTERRUPTED"
        return "VALID" if self.result["valid"] else "INVALID"

    @property
    def unknowns(self) -> int:
        """The run's cells; of a union of boxes, only those of existing boxes."""
        domain = self.head.get("domain")
        return int(domain["cells"]) if domain else prod(self.head.get("cells") or [0])

    def key(self, name: str, otherwise: Any = None) -> Any:
        """The value of a key of the resolved deck, by its dotted name."""
        section, _, rest = name.partition(".")
        return (self.head or self.plan).get("deck", {}).get(section, {}).get(rest, otherwise)

    def solver_of(self, record: Record) -> str:
        """The solver of a solve or a timer; records of Keel before surveys name none."""
        return str(record.get("solver") or self.key("bottom.solver", "-"))

    def all_solves(self) -> list[Record]:
        """Every `solve`; of steps in time the mean of each repeat, as the figure of merit has it."""
        repeats: dict[tuple[str, Any], list[Record]] = {}
        for step in self.of("step"):
            repeats.setdefault((self.solver_of(step), step.get("repeat")), []).append(step)
        return self.of("solve") + [mean_of(steps) for steps in repeats.values()]

    def solvers(self) -> list[str]:
        """The solvers of all solves, in the order in which they ran first."""
        return list(dict.fromkeys(self.solver_of(record) for record in self.all_solves()))

    def solves(self, solver: str) -> list[Record]:
        return [record for record in self.all_solves() if self.solver_of(record) == solver]

    def timers(self, solver: str) -> list[Record]:
        return [record for record in self.of("timer") if self.solver_of(record) == solver]


def mean_of(steps: list[Record]) -> Record:
    """One record for several steps: means of counts and measurements; other fields are the last step's."""
    mean = {name: value for name, value in steps[-1].items() if name != "step"}
    for name, value in mean.items():
        if isinstance(value, bool):
            mean[name] = all(step[name] for step in steps)
        elif isinstance(value, (int, float)) and name not in ("schema", "repeat"):
            numbers = [step[name] for step in steps]
            total = sum(numbers) / len(numbers) if None not in numbers else None
            mean[name] = int(total) if isinstance(value, int) and total == int(total) else total
    return mean


def read_runs(path: Path) -> list[Run]:
    """Every run of a file, in its order. A `run` record begins a run and a `plan` a dry run; what comes before the first belongs
    to a dry run of Keel before it wrote plans."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UnreadableRecords(f"{path}: {error.strerror}; records are written with output.json={path}") from None
    runs: list[Run] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            kind = record["record"]
        except (ValueError, TypeError, KeyError):
            record, kind = None, None
        if kind in ("run", "plan") or not runs:
            runs.append(Run(path))
        if record is None:
            end = number == len(lines)
            runs[-1].damage.append(f"{path}:{number}: {'cut off' if end else 'no record'}: {line[:40]!r}")
        else:
            runs[-1].records.append(record)
    if not any(run.records for run in runs):
        what = "no record in it" if runs else "it is empty"
        raise UnreadableRecords(f"{path}: {what}; records are the JSON lines of output.json=FILE")
    return runs


def of_one_clock(runs: Iterable[Run]) -> list[Run]:
    """The runs, unless some of them tell measured seconds and others simulated ones, which are not to be compared."""
    kept = list(runs)
    clocks = {run.clock: run.path for run in reversed(kept) if run.clock}
    if len({clock == "real" for clock in clocks}) > 1:
        told = "; ".join(f"{path}: {clock}" for clock, path in sorted(clocks.items()))
        raise UnreadableRecords(f"measured seconds beside simulated ones: {told}; give only one kind")
    return kept


def short_names(paths: Sequence[Path]) -> list[str]:
    """A name for each file that no other has: its stem, with as many folders before it as that takes. A file that is given
    twice has a number behind its name."""
    parts = [path.resolve().with_suffix("").parts for path in paths]
    names = [path.stem for path in paths]
    for depth in range(2, max(map(len, parts), default=0) + 1):
        shared = [len({part for part, other in zip(parts, names, strict=True) if other == name}) > 1 for name in names]
        names = ["/".join(part[-depth:]) if more else name for name, part, more in zip(names, parts, shared, strict=True)]
    numbers = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [f"{name} ({number})" if names.count(name) > 1 else name for name, number in zip(names, numbers, strict=True)]


def read_all(paths: Iterable[Path]) -> list[Run]:
    """The runs of several files, of one clock; what is wrong with any of them is told of all at once."""
    runs, wrong = [], []
    for path in paths:
        try:
            runs += read_runs(path)
        except UnreadableRecords as error:
            wrong.append(str(error))
    if wrong:
        raise UnreadableRecords("\n".join(wrong))
    return of_one_clock(runs)


def differing_keys(runs: Iterable[Run], besides: Iterable[str] = ()) -> list[str]:
    """The dotted keys of the decks that are not the same in all runs: what was swept."""
    values: dict[str, list[str]] = {}
    decks = [run.head.get("deck", {}) for run in runs]
    for deck in decks:
        for section, keys in deck.items():
            for key in keys:
                values.setdefault(f"{section}.{key}", [])
    for name, found in values.items():
        section, _, key = name.partition(".")
        # A key that an older version did not have says nothing.
        found += [json.dumps(deck[section][key]) for deck in decks if key in deck.get(section, {})]
    return [name for name, found in values.items() if len(set(found)) > 1 and name not in set(besides)]

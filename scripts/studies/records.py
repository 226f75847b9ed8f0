"""Reads the JSON lines that keel writes (output.json): the only reader of records in scripts/.

A file holds the records of one or more runs. It may have been cut off at any byte, by a kill, a time limit or a full disk: what
is whole is read, and what is not is told. Any field may be missing: older versions of Keel did not write it.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite, prod
from pathlib import Path
from typing import Any, NoReturn

Record = dict[str, Any]


class UnreadableRecords(Exception):
    """Files that hold no records; the text names all of them, what is wrong and what would help."""


class NoRecords(UnreadableRecords):
    """A file without a record: an empty one, or one of another kind."""


class OtherJson(NoRecords):
    """A file of JSON that is no record, such as the plan of a study."""


# The shapes of fields that scripts compute with: a type, a list or an object of shapes. Each may be missing or null.
NUMBERS = """seconds cycles iterations bottom_iterations missed_bottoms restarts reductions reduction_words exchanges repeat step u_l2
    ranks threads nodes triad_bytes_per_second array_bytes predicted_bytes measured_bytes setup_seconds fom level box columns
    t_min t_mean t_max calls bytes_moved flops messages bytes off_node_messages off_node_bytes all_messages all_bytes
    all_off_node_messages all_off_node_bytes words predicted_seconds predicted_on_one_socket"""
TEXTS = "solver op scheme purpose name id date label version revision compiler build_type flags mpi backend unit interrupted_by"
FLAGS = "converged passed valid interrupted shared_cores"
GRID_NUMBERS = ("solves", "seconds", "cycles", "dof_per_second", "digits_per_second", "bottom_share", "bytes_per_unknown", "triad_share",
                "sent_bytes")  # fmt: skip
VOLUME = dict.fromkeys(("messages", "bytes", "off_node_messages", "off_node_bytes"), float)
SHAPES: dict[str, Any] = {
    **dict.fromkeys(NUMBERS.split(), float),
    **dict.fromkeys(TEXTS.split(), str),
    **dict.fromkeys(FLAGS.split(), bool),
    **dict.fromkeys(("all", "most_sent", "most_received"), VOLUME),
    **dict.fromkeys(("cells", "residuals", "measured_after"), [float]),
    **dict.fromkeys(("command", "warnings", "devices"), [str]),
    "deck": {"": dict},
    "domain": {"cells": float},
    "simulation": {"platform": str, "machine": str},
    "levels": [dict],
    "moved": {"bytes": float},
    "costs": {"machine": str},
    "bottom": [{"restarts": float}],
    "done": [{"what": str, "done": float, "all": float}],
    "class": str,
    **dict.fromkeys(("run", "result"), {"record": str}),
    "checks": [{"record": str}],
    **dict.fromkeys(("changed", "not_to_be_submitted"), [str]),
    "memory": {"where": str} | dict.fromkeys(("bytes", "grids_bytes", "share"), float),
    "grids": [{"grid": str, "cells": [float]} | dict.fromkeys(GRID_NUMBERS, float)],
    "problems": [dict.fromkeys(("grid", "boundary", "rhs"), str) | dict.fromkeys(("seconds", "residuals"), [float])
                 | dict.fromkeys(("cycles", "bottom_iterations", "digits", "u_l2"), float)],
}  # fmt: skip
MACHINE = {"processor": str, "gpus": [{"model": str}]} | dict.fromkeys(("sockets", "cores", "hertz", "memory_bytes"), float)
SHAPED = ("run", "plan", "solve", "step", "timer", "survey", "scheme", "check", "result", "benchmark")


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has a shape; the empty name of an object stands for all of them."""
    if value is None:
        return True
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            all(fits(one, wanted) for one in value.values()) if name == "" else fits(value.get(name), wanted)
            for name, wanted in shape.items()
        )
    kinds = (int, float) if shape is float else shape
    return isinstance(value, kinds) and (shape is bool or not isinstance(value, bool))


def no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is no finite number of 64 bits")


def integer(text: str) -> int:
    return int(text) if len(text) < 20 else no_number(text)


def real(text: str) -> float:
    return value if isfinite(value := float(text)) else no_number(text)


def json_of(text: str) -> Any:
    """The value of a text of JSON. Raises ValueError for any other text, and beyond the limits of numbers and of depth."""
    try:
        return json.loads(text, parse_constant=no_number, parse_int=integer, parse_float=real)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def record_of(line: str) -> Record | None:
    try:
        record = json_of(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("record"), str) else None


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
            return f"simulated on {simulation.get('platform', '-')} by {simulation.get('machine', '-')}"
        return "real" if self.head else ""

    @property
    def machine(self) -> str:
        """A node's hardware as the run read it; empty where it could not, and of records that name a machine file there."""
        found = self.head.get("machine") or {}
        if not fits(found, MACHINE):
            return ""
        processor = f"{found['sockets']} x {found['processor']}" if found.get("sockets") else found.get("processor")
        gpus = [str(gpu.get("model")) for gpu in found.get("gpus") or [] if gpu]
        words = [processor, found.get("cores") and f"{found['cores']} cores", found.get("hertz") and f"{found['hertz'] / 1e9:.1f} GHz",
                 found.get("memory_bytes") and f"{found['memory_bytes'] / 1e9:.0f} GB",
                 *(f"{gpus.count(model)} x {model}" for model in dict.fromkeys(gpus))]  # fmt: skip
        return ", ".join(filter(None, words))

    @property
    def mode(self) -> str:
        return str(self.key("run.mode", "solve")) if self.head else "dry run"

    @property
    def says_nothing(self) -> bool:
        """True if its only record has no field but its name."""
        return len(self.records) == 1 and not self.records[0].keys() - {"record", "schema"}

    @property
    def of_multigrid(self) -> bool:
        """True if its solves are multigrid's, and the coarsest level is the bottom."""
        return self.mode in ("solve", "survey", "benchmark", "quick_benchmark")

    @property
    def verdict(self) -> str:
        """VALID, INVALID or INTERRUPTED as the run itself said; KILLED where it could say nothing; DRY, or PREDICTED where a
        dry run predicted seconds; DAMAGED where a line that may have been its first is no record."""
        if not self.head and not self.plan and self.damage:
            return "DAMAGED"
        if not self.head:
            return "PREDICTED" if any(solve.get("predicted") for solve in self.of("solve")) else "DRY"
        if not self.result:
            return "KILLED"
        if self.result.get("interrupted"):
            return "INTERRUPTED"
        return "VALID" if self.result.get("valid") else "INVALID"

    @property
    def unknowns(self) -> int:
        """The run's cells; of a union of boxes, only those of existing boxes."""
        domain = self.head.get("domain") or {}
        return int(domain.get("cells") or prod(length or 0 for length in self.head.get("cells") or [0]))

    @property
    def deck(self) -> dict[str, dict[str, Any]]:
        """The resolved deck by section and key."""
        return (self.head or self.plan).get("deck") or {}

    def key(self, name: str, otherwise: Any = None) -> Any:
        """The value of a key of the resolved deck, by its dotted name."""
        section, _, rest = name.partition(".")
        return (self.deck.get(section) or {}).get(rest, otherwise)

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

    def times(self) -> list[Record]:
        """The timers that have an operation, its level and its mean time."""
        return [record for record in self.of("timer") if all(record.get(name) is not None for name in ("op", "level", "t_mean"))]

    def timers(self, solver: str) -> list[Record]:
        return [record for record in self.times() if self.solver_of(record) == solver]


def shown(record: Record, name: str, form: str = "") -> str:
    """A field as text; "-" where the record lacks it."""
    value = record.get(name)
    return "-" if value is None else format(value, form)


def seconds_of(solves: Iterable[Record]) -> list[float]:
    """The seconds of the solves that have any."""
    return [solve["seconds"] for solve in solves if solve.get("seconds") is not None]


def mean_of(steps: list[Record]) -> Record:
    """One record for several steps: means of counts and measurements; other fields are the last step's."""
    mean = {name: value for name, value in steps[-1].items() if name != "step"}
    for name, value in mean.items():
        every = [step.get(name) for step in steps]
        if isinstance(value, bool):
            mean[name] = all(every)
        elif isinstance(value, (int, float)) and name not in ("schema", "repeat"):
            numbers = [one for one in every if isinstance(one, (int, float))]
            total = sum(numbers) / len(numbers) if len(numbers) == len(every) else None
            mean[name] = int(total) if total is not None and isinstance(value, int) and total == int(total) else total
    return mean


def check_shapes(record: Record, place: str) -> None:
    """Refuses a record of another shape than scripts compute with."""
    for name, value in record.items():
        if record["record"] in SHAPED and name in SHAPES and not fits(value, SHAPES[name]):
            raise UnreadableRecords(f"{place}: {record['record']}.{name} = {json.dumps(value)[:40]}: keel writes no such value")


def read_runs(path: Path, writing: bool = False) -> list[Run]:
    """Every run of a file, in its order. A `run` record begins a run and a `plan` a dry run; what comes before the first belongs
    to a dry run of Keel before it wrote plans. A line ends at a line feed alone: other ends may stand in a text. `writing`: a run
    appends to the file, and a last line that has no end yet is pending. RESULT.json is a run, too."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise UnreadableRecords(f"{path}: {error.strerror}; records are written with output.json={path}") from None
    if runs := runs_in(path, text.split("\n"), writing):
        return runs
    try:
        whole = json_of(text)
    except ValueError:
        what = "no record in it" if text.strip() else "it is empty"
        raise NoRecords(f"{path}: {what}; records are the JSON lines of output.json=FILE") from None
    if runs := runs_in(path, [json.dumps(whole)], False):
        return runs
    raise OtherJson(f"{path}: JSON, but no record; records are the JSON lines of output.json=FILE")


def records_of_result(result: Record) -> list[Record]:
    """The records within a RESULT.json of the benchmark, in the order of output.json."""
    within = [result.get("run"), *(result.get("checks") or []), result.get("result")]
    records = [record for record in within if record and record.get("record")]
    rest = {name: value for name, value in result.items() if name not in ("run", "checks", "result")}
    return [*records[:1], rest, *records[1:]]


def runs_in(path: Path, lines: Sequence[str], writing: bool) -> list[Run]:
    runs: list[Run] = []
    damage: list[str] = []  # in front of the next run
    ended = True  # whether the last run has its result
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = record_of(line)
        cut = number == len(lines)
        if record is None and not (cut and writing):
            told = f"{path}:{number}: {'cut off' if cut else 'no record'}: {line[:40]!r}"
            (damage if ended else runs[-1].damage).append(told)
        if record is None:
            continue
        check_shapes(record, f"{path}:{number}")
        for one in records_of_result(record) if record["record"] == "benchmark" and ended else [record]:
            check_shapes(one, f"{path}:{number}")
            if one["record"] in ("run", "plan") or not runs or (ended and runs[-1].head):
                runs.append(Run(path, damage=damage))
                damage, ended = [], False
            runs[-1].records.append(one)
            ended = one["record"] == "result"
    if runs:
        runs[-1].damage += damage
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


def read_files(paths: Iterable[Path]) -> list[list[Run]]:
    """The runs of each file, of one clock. The faults of all are reported at once, and each line that is no record."""
    files, wrong = [], []
    for path in paths:
        try:
            files.append(read_runs(path))
        except UnreadableRecords as error:
            wrong.append(str(error))
    if wrong:
        raise UnreadableRecords("\n".join(wrong))
    tell_damage(run for runs in files for run in runs)
    of_one_clock(run for runs in files for run in runs)
    return files


def read_all(paths: Iterable[Path]) -> list[Run]:
    """The runs of all files, as read_files."""
    return [run for runs in read_files(paths) for run in runs]


def refuse_bare(runs: Iterable[Run]) -> None:
    """Refuses runs of which there is nothing to show."""
    if bare := list(dict.fromkeys(run.path for run in runs if run.says_nothing)):
        raise UnreadableRecords("\n".join(f"{path}: a record without a field; keel writes none" for path in bare))


def tell_damage(runs: Iterable[Run]) -> None:
    for line in dict.fromkeys(line for run in runs for line in run.damage):
        print(line, file=sys.stderr)


def differing_keys(runs: Iterable[Run], besides: Iterable[str] = ()) -> list[str]:
    """The dotted keys of the decks that are not the same in all runs: what was swept."""
    values: dict[str, list[str]] = {}
    for run in runs:
        for section, keys in run.deck.items() if run.head else ():
            for key, value in (keys or {}).items():
                # A key that an older version did not have says nothing.
                values.setdefault(f"{section}.{key}", []).append(json.dumps(value))
    return [name for name, found in values.items() if len(set(found)) > 1 and name not in set(besides)]

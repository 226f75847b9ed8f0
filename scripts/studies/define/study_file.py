"""Study files: which points a study has, what is held constant, and what is compared with what."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.define.checked_toml import WANTED, CheckedToml, Key, nearest, shown, unfit

# Not keys of a deck but how a run is started.
STARTS = {"ranks": "number of ranks", "threads": "threads of a rank", "ranks_per_node": "ranks on a node"}

KEYS = {
    "name": Key(str, "letters, digits and -, as part of names of folders and jobs", needed=True),
    "claim": Key(str, "what the study is to show, for the first line of its page", needed=True),
    "deck": Key(str, "base deck, relative to the study file", needed=True),
    "law": Key(str, "what stays the same as ranks grow", ("weak", "strong", "throughput", "sweep"), needed=True),
    "constant": Key(str, "without effect: what stays constant is derived from the other keys"),
    "rounds": Key(int, "number of times that every point is started, in turns: A B A B", least=1),
    "repeats": Key(int, "solves measured in each start, run.repeats of the deck", least=1),
    "minutes": Key((int, float), "what a start takes at most, for the time that the job asks for", least=0),
    "order": Key(str, "which points an allocation runs first", ("largest_first", "smallest_first")),
    "dry_run": Key(bool, "points are planned with keel --dry-run, for ranks that are not there, and not run"),
    "keys": Key(dict, "keys of the deck that are the same in all points"),
    "axis": Key(list, "what is varied; all axes are combined with each other"),
    "baseline": Key(dict, "values of axes that the others are compared with"),
    **{name: Key(int, f"{meaning}, where no axis varies it", least=1) for name, meaning in STARTS.items()},
}
AXIS_KEYS = {
    "key": Key(str, "what is varied: ranks, threads, ranks_per_node, or a key of the deck such as bottom.solver"),
    "keys": Key(list, "several of them, varied together: each of the values is then an array of as many"),
    "values": Key(list, "its values in turn", needed=True),
}
DECK_KEY = re.compile(r"\w+\.\w+", re.ASCII)  # it becomes a word of a job script and part of names of folders
LAWS = {
    "weak": "the work of a rank",
    "strong": "the work of all ranks together",
    "throughput": "the number of ranks",
    "sweep": "no quantity: values are compared one with another",
}


@dataclass(frozen=True)
class Axis:
    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]  # a value for each of the keys


@dataclass(frozen=True)
class Study:
    path: Path
    name: str
    claim: str
    deck: Path
    law: str
    constant: str = ""  # prose of files for Keel 1.0, not used
    rounds: int = 1
    minutes: float = 5.0
    order: str = "largest_first"
    dry_run: bool = False
    starts: dict[str, int] = field(default_factory=dict)  # values that no axis varies
    keys: dict[str, Any] = field(default_factory=dict)  # dotted
    axes: tuple[Axis, ...] = ()
    baseline: dict[str, Any] = field(default_factory=dict)


def flat(table: dict[str, Any], name: str = "") -> dict[str, Any]:
    """Nested tables by dotted names, so that [keys.problem] box = 8 and "problem.box" = 8 are the same."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        dotted = f"{name}.{key}".strip(".")
        found |= flat(value, dotted) if isinstance(value, dict) else {dotted: value}
    return found


def names_of(entry: dict[str, Any]) -> list[str]:
    return [entry["key"]] if "key" in entry else entry.get("keys", [])


def check_axis(file: CheckedToml, entry: Any, number: int) -> Axis | None:
    place = ("axis", number)
    before = len(file.mistakes)
    if not isinstance(entry, dict):
        file.refuse(("axis",), "axis: wants [[axis]] with a key and values")
        return None
    file.check(entry, place, AXIS_KEYS, "an axis")
    if ("key" in entry) == ("keys" in entry):
        file.refuse(place, "an axis wants either key, one, or keys, several that are varied together")
    if len(file.mistakes) > before:
        return None
    names = names_of(entry)
    for name in names:
        if not isinstance(name, str) or (name not in STARTS and not DECK_KEY.fullmatch(name)):
            known = ", ".join(STARTS)
            file.refuse((*place, "key" if "key" in entry else "keys"),
                        f"{shown(str(name))[1:-1]}: unknown axis; {known}, or SECTION.KEY of a deck{nearest(str(name), STARTS)}")  # fmt: skip
    if "run.time_limit" in names:
        file.refuse((*place, "key" if "key" in entry else "keys"),
                    "run.time_limit: the job script gives each run what is left of its job; say under [keys] what none may exceed")  # fmt: skip
    rows = [(value,) if "key" in entry else value for value in entry["values"]]
    if not rows:
        file.refuse((*place, "values"), "values = []: an axis wants at least one")
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != len(names):
            file.refuse((*place, "values"), f"values: {row!r} wants to be an array of {len(names)}: {', '.join(names)}")
            continue
        for name, value in zip(names, row, strict=True):
            if name in STARTS and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                file.refuse((*place, "values"), f"values: {name} = {value!r} wants to be a whole number from 1 on")
            elif unfit(value):
                file.refuse((*place, "values"), f"values: {name} = {shown(value)}: {WANTED}")
    if len({repr(row) for row in rows}) < len(rows):
        file.refuse((*place, "values"), "values: one of them is there twice; rounds = 2 starts every point twice")
    return Axis(tuple(names), tuple(tuple(row) for row in rows)) if len(file.mistakes) == before else None


def read_study(path: Path) -> Study:
    """Refuses what is wrong, all at once, with file:line."""
    file = CheckedToml(path)
    values = file.values
    file.check(values, (), KEYS, "a study")
    name = values.get("name", "")
    if isinstance(name, str) and not (name and name.replace("-", "").replace("_", "").isalnum() and name.isascii()):
        file.refuse(("name",), f'name = "{name}": wants letters, digits, - and _ only: folders and jobs are named so')
    deck = path.parent / str(values.get("deck", ""))
    if isinstance(values.get("deck"), str) and not deck.is_file():
        file.refuse(("deck",), f'deck = "{values["deck"]}": there is no file {deck}; the path is relative to the study file')
    entries = values.get("axis", [])
    axes = [check_axis(file, entry, number) for number, entry in enumerate(entries if isinstance(entries, list) else [])]
    names = [name for axis in axes if axis for name in axis.keys]
    keys = flat(values["keys"]) if isinstance(values.get("keys"), dict) else {}
    for key, value in keys.items():
        place = ("keys", key) if ("keys", key) in file.lines else ("keys", *key.split("."))
        if not DECK_KEY.fullmatch(key):
            file.refuse(place, f"keys.{shown(key)[1:-1]}: wants SECTION.KEY of a deck{nearest(key, STARTS)}")
        elif unfit(value):
            file.refuse(place, f"keys.{key} = {shown(value)}: {WANTED}")
    for twice in sorted({name for name in names if names.count(name) > 1 or name in keys or name in values}):
        file.refuse(("axis",), f"{twice}: given twice; it is varied by one axis, or is the same in all points")
    if "repeats" in values:
        keys.setdefault("run.repeats", values["repeats"])
    baseline = flat(values["baseline"]) if isinstance(values.get("baseline"), dict) else {}
    for key, value in baseline.items():
        of_axis = [row[axis.keys.index(key)] for axis in axes if axis and key in axis.keys for row in axis.rows]
        if None in axes:
            continue
        if key not in names:
            file.refuse(
                ("baseline", key), f"baseline.{key}: no axis varies it; axes vary {', '.join(names)}{nearest(key, names)}"
            )
        elif value not in of_axis:
            known = ", ".join(map(str, of_axis))
            file.refuse(("baseline", key), f"baseline.{key} = {value!r}: no value of its axis; choose {known}"
                        f"{nearest(str(value), map(str, of_axis))}")  # fmt: skip
    file.done()
    starts = {start: values[start] for start in STARTS if start in values}
    plain = {
        key: values[key]
        for key in ("name", "claim", "law", "constant", "rounds", "minutes", "order", "dry_run")
        if key in values
    }
    return Study(path=path, deck=deck, starts=starts, keys=keys, axes=tuple(filter(None, axes)), baseline=baseline, **plain)

"""The executable: where it is, which deck it reads, and its predictions of a point before anything runs (keel --dry-run)."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from studies.define.checked_toml import WANTED, CheckedToml, Refused, shown, unfit
from studies.define.study_file import Study, flat
from studies.layout import ROOT
from studies.records import Record, Run, UnreadableRecords, read_runs

# The executable that the preset `simulated` builds, or installs apart from the one for real machines.
PLACES = (ROOT / "build/simulated/keel", ROOT.parents[1] / "libexec/keel/keel")
SIMULATED = next(filter(Path.is_file, PLACES), PLACES[0])


def find_keel(given: str | None, elsewhere: bool = False) -> Path:
    """Keel as --keel names it, else $KEEL, else the release build or the one beside this command, else that of PATH.

    elsewhere: --keel may name what only the machine of the study has.
    """
    if word := given or os.environ.get("KEEL"):
        if elsewhere and "/" in word:
            return Path(word)
        if found := shutil.which(word):
            return Path(found).absolute()
        raise Refused(f"--keel {word}: no executable there")
    for path in (ROOT / "build/release/keel", Path(sys.argv[0]).absolute().with_name("keel")):
        if os.access(path, os.X_OK):
            return path
    if found := shutil.which("keel"):
        return Path(found)
    raise Refused("no keel found: build it (cmake --preset release && cmake --build --preset release), or give --keel PATH")


def mpiexec_of(keel: Path) -> str:
    """mpiexec of the MPI which keel was linked with, if the build beside it tells."""
    cache = keel.parent / "CMakeCache.txt"
    found = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(.+)$", cache.read_text(), re.M) if cache.is_file() else None
    first = shutil.which("mpiexec")
    if not found or (first and os.path.realpath(first) == os.path.realpath(found[1])):
        return "mpiexec"
    return found[1]


def deck_text(study: Study, planning: bool = False) -> str:
    """The base deck with the keys that are the same in all points; as it is, comments and all, where there are none.
    A run refuses run.dry_run_limit, which therefore is in decks of dry runs alone."""
    file = CheckedToml(study.deck)
    planning = planning or study.dry_run
    added = {key: value for key, value in study.keys.items() if planning or key != "run.dry_run_limit"}
    if not added:
        return file.text
    keys = flat(file.values)
    for name, value in keys.items():
        if unfit(value):
            file.refuse(tuple(name.split(".")), f"{name} = {shown(value)}: {WANTED}")
    file.done()
    sections: dict[str, dict[str, Any]] = {}
    for name, value in (keys | added).items():
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    lines = [f"# {study.deck.name} with the keys of the study {study.name}."]
    for section, entries in sections.items():
        # TOML takes the texts, numbers and arrays of JSON.
        lines += ["", f"[{section}]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items())]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Predicted:
    """A dry run's predictions for a point; None for those it does not make."""

    refusal: str = ""
    size: int | None = None  # cells, or rows of a matrix
    bytes_per_rank: float | None = None
    messages: int | None = None  # by the busiest rank in one exchange of the finest level
    off_node: int | None = None
    remarks: tuple[str, ...] = ()
    seconds: float | None = None  # a solve without the set-up of algebraic multigrid; or an exchange


def version_of(keel: Path) -> str:
    if not os.access(keel, os.X_OK):
        return "unknown: it is not on the machine that wrote this"
    done = subprocess.run([keel, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def understand(plan: Record) -> Predicted:
    """The predictions in a dry run's record; a field that is not known stays None."""
    sent = plan.get("busiest") or {}
    messages, off_node = ((None if sent.get(name) is None else int(sent[name])) for name in ("messages", "off_node_messages"))
    remarks = (*plan.get("remarks", ()), *plan.get("warnings", ()))
    return Predicted("", plan.get("unknowns"), plan.get("predicted_bytes"), messages, off_node, remarks)


def predicted_seconds(run: Run) -> float | None:
    """The first solver's solve, or the exchange of the finest level by the scheme that carries it."""
    if solves := [solve["seconds"] for solve in run.of("solve") if solve.get("predicted")]:
        return float(solves[0])
    schemes = [one for one in run.of("scheme") if one["level"] == 0 and one["predicted_seconds"] is not None]
    carrying = [one for one in schemes if one["chosen_by"] is not None] or schemes
    return min((float(one["predicted_seconds"]) for one in carrying), default=None)


def dry_run(keel: Path, folder: Path, words: Sequence[str], number: int = 0) -> Predicted:
    """A dry run of deck.toml in a folder, with words behind it; on one rank, without mpiexec. Several may run at once, each with
    a number of its own."""
    (folder / str(number)).mkdir()
    plan = folder / str(number) / "plan.json"
    command = [keel, "--dry-run", "deck.toml", *words, f"output.json={plan}"]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=one_thread)
        if done.returncode in (0, 2):
            break
        # The first two processes that Open MPI starts at once after a boot may disturb each other: MPI_Init fails.
        plan.unlink(missing_ok=True)
    if done.returncode != 0:
        said = done.stderr.strip() or f"keel --dry-run ended with exit status {done.returncode}"
        return Predicted(refusal=re.sub(r"\n {4,}", " ", said))
    try:
        (run,) = read_runs(plan)
    except UnreadableRecords as error:
        return Predicted(refusal=str(error))
    return replace(understand(run.plan), seconds=predicted_seconds(run))

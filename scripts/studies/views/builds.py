"""Runs decks by two builds of keel and compares their records field by field: whether a change changed a result.

Behind the decks stand keys for all of them, section.key=value. Every run has run.deterministic=true where the deck's mode takes
it. Times and what follows from them are left out, and so are the build and the machine. Prints every field that differs; exit
status 1 if one differs that both have. Fields that only AFTER has are listed, and are no difference.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from studies.define.checked_toml import Refused
from studies.records import Record, read_runs

# Fields that differ from run to run: times and what is made of them, the build, the machine; fields, or leaves of them.
TIMES = {
    "run": {"id", "date", "command", "environment", "hosts", "version", "revision", "compiler", "build_type", "flags",
            "bindings", "triad_bytes_per_second"},
    "plan": {"id", "date", "command", "environment", "version", "revision"},
    "solve": {"seconds"},
    "step": {"seconds", "coefficients_seconds"},
    "survey": {"seconds_min", "seconds_median", "speed_up", "speed_up_on_fused", "parts", "moved.triad_share"},
    "timer": {"t_min", "t_mean", "t_max", "rank_max"},
    "rank_timer": {"seconds"},
    "kernel": {"t_mean", "t_max", "longest"},
    "verdict": {"seconds", "flops_per_second", "largest", "exchanges", "all_reduces", "other", "bottom", "imbalance", "lines"},
    "spmv": {"seconds"},
    "orthogonalise": {"start_up", "recycled", "iteration"},
    "peer": {"setup_seconds", "seconds"},
    "scheme": {"rounds"},
    "network": {"seconds", "alpha", "beta", "rms_residual", "max_residual", "through", "accepted", "samples",
                "eager_from", "rendezvous_from", "injection_beta", "all_reduce_by_messages", "all_reduce_delay",
                "remarks"},
    "result": {"fom", "seconds", "parts", "moved.triad_share", "mpi_start_seconds", "setup_seconds", "coefficients_seconds", "tuning_seconds",
               "total_seconds", "measured_bytes"},
}  # fmt: skip


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """The leaves of nested objects by their dotted names; lists are leaves."""
    if not isinstance(value, dict):
        return {name: value}
    return {key: leaf for part, inner in value.items() for key, leaf in flat(inner, f"{name}.{part}".strip(".")).items()}


def lasting(record: Record) -> dict[str, Any]:
    """The fields that another run of the same deck must have as well."""
    kind = record["record"]
    fields = {key: value for key, value in record.items() if key not in TIMES.get(kind, set())}
    if kind == "run":
        fields.get("deck", {}).get("output", {}).pop("json", None)
    if kind == "check" and record["name"] == "ghosts_of_schemes":
        return fields
    return {name: leaf for name, leaf in flat(fields).items() if name not in TIMES.get(kind, set())}


def differences(before: list[Record], after: list[Record]) -> tuple[list[str], set[str]]:
    """The differences, and the fields that only the records of `after` have."""
    found, added = [], set()
    if len(before) != len(after):
        found.append(f"{len(before)} records before, {len(after)} after")
    for number, (one, other) in enumerate(zip(before, after, strict=False)):
        old, new = lasting(one), lasting(other)
        where = f"record {number} ({one['record']})"
        for key in sorted(set(old) | set(new)):
            if key not in old:
                added.add(f"{one['record']}.{key}")
            elif key not in new:
                found.append(f"{where}: {key} is gone")
            elif old[key] != new[key]:
                found.append(f"{where}: {key}: {old[key]} before, {new[key]} after")
    return found, added


def records(mpiexec: str, keel: str, ranks: int, deck: Path, words: list[str]) -> tuple[int, list[Record]]:
    """The exit status and the records of a run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [mpiexec, "-n", str(ranks), os.path.abspath(keel), str(deck.resolve()), *words, "output.json=run.json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        file = Path(folder) / "run.json"
        found = read_runs(file) if file.exists() else []
    if done.returncode == 2:
        print(f"{' '.join(command)}\n{done.stderr}", file=sys.stderr)
    return done.returncode, [record for run in found for record in run.records]


def deterministic(deck: Path, words: list[str]) -> list[str]:
    """run.deterministic=true, unless the mode has no use for it or algebraic multigrid depends on the ranks."""
    text = deck.read_text() + " ".join(words)
    return [] if any(mode in text for mode in ('"network"', '"exchange"', '"spmv"', '"amg"')) else ["run.deterministic=true"]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", default="1,2,3", help="numbers of ranks, 1,2,3 by default")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("before", metavar="BEFORE", help="an executable")
    parser.add_argument("after", metavar="AFTER", help="an executable")
    parser.add_argument("words", nargs="+", metavar="DECK.toml|KEY=VALUE")


def act(options: argparse.Namespace) -> int:
    decks = [Path(word) for word in options.words if "=" not in word]
    words = [word for word in options.words if "=" in word]
    if not decks:
        raise Refused("no deck: give DECK.toml behind the two executables")
    differing, added, runs = 0, set(), 0
    for deck in decks:
        for ranks in map(int, options.ranks.split(",")):
            given = [*words, *deterministic(deck, words)]
            (old_status, old), (new_status, new) = (
                records(options.mpiexec, keel, ranks, deck, given) for keel in (options.before, options.after)
            )
            found, more = differences(old, new)
            if old_status != new_status:
                found.insert(0, f"exit status {old_status} before, {new_status} after")
            added |= more
            runs += 1
            differing += bool(found)
            print(f"{deck.name}, {ranks} ranks: {len(old)} records, {'same' if not found else 'DIFFERENT'}", flush=True)
            for line in found[:20]:
                print(f"    {line[:300]}")
    print(f"{runs} runs, {differing} differ; fields that only the second has: {', '.join(sorted(added)) or 'none'}")
    return 1 if differing else 0

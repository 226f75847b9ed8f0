"""Trees of times for Hatchet, and profiles for Thicket, each a literal with its metadata: what it ran on, its solver, every key.

A tree is a solver of a run: its levels, on each its operations, words with dots as branches (exchange, below it pack). Times are
seconds per solve, the mean over ranks: "time" what a node took itself, "time (inc)" with all below it; "time (max)" is the slowest
rank's. Counts are those of one solve.
"""

import json
from pathlib import Path
from typing import Any

from studies.records import Record, Run, UnreadableRecords, read_all

Node = dict[str, Any]
COUNTS = ("calls", "bytes_moved", "flops", "messages", "bytes", "off_node_messages", "off_node_bytes")


def node(name: str, kind: str) -> Node:
    metrics = dict.fromkeys(("time", "time (inc)", "time (max)", *COUNTS), 0.0)
    return {"frame": {"name": name, "type": kind}, "metrics": metrics, "children": []}


def child(parent: Node, name: str, kind: str) -> Node:
    """The one of that name; made where there is none yet."""
    children: list[Node] = parent["children"]
    for one in children:
        if one["frame"]["name"] == name:
            return one
    children.append(node(name, kind))
    return children[-1]


def add(root: Node, timer: Record) -> None:
    # A row without an operation has no level either.
    words = [("other", "operation")] if timer["op"] == "other" else [
        (f"level {timer['level']}", "level"), *((word, "operation") for word in timer["op"].split("."))]  # fmt: skip
    path = [root]
    for name, kind in words:
        path.append(child(path[-1], name, kind))
    for one in path:
        one["metrics"]["time (inc)"] += timer["t_mean"]
    last = path[-1]["metrics"]
    last["time"] += timer["t_mean"]
    last["time (max)"] += timer.get("t_max") or 0.0
    for count in COUNTS:
        last[count] += timer.get(count) or 0.0


def solvers_of(run: Run) -> list[str]:
    return list(dict.fromkeys(run.solver_of(timer) for timer in run.times()))


def tree(run: Run, solver: str, name: str) -> Node:
    root = node(name, "solver")
    for timer in run.timers(solver):
        add(root, timer)
    return root


def runs_of(paths: list[Path]) -> list[Run]:
    runs = [run for run in read_all(paths) if solvers_of(run)]
    if not runs:
        raise UnreadableRecords(f"{', '.join(map(str, paths))}: no timer record; dry runs and runs that were killed have none")
    return runs


def literal(paths: list[Path]) -> list[Node]:
    return [
        tree(run, solver, f"{solver}, {run.head.get('ranks')}x{run.head.get('threads')}")
        for run in runs_of(paths)
        for solver in solvers_of(run)
    ]


def metadata(run: Run, solver: str) -> dict[str, Any]:
    """All that tells profiles apart; what is no single value as text, since a column of Thicket wants one."""
    found = {name: run.head.get(name) for name in ("id", "date", "label", "clock", "backend", "ranks", "threads", "nodes")}
    found |= {"unknowns": run.unknowns, "solver": solver, "fom": run.result.get("fom"), "valid": run.result.get("valid")}
    for section, keys in run.deck.items():
        found |= {f"{section}.{key}": json.dumps(value) if isinstance(value, list) else value for key, value in (keys or {}).items()}
    return found


def profiles(paths: list[Path]) -> list[dict[str, Any]]:
    """One a run and solver. All roots have one name, so that in an ensemble the trees lie on each other."""
    return [
        {"profile": f"{run.path}:{run.head.get('id', '')}:{solver}", "metadata": metadata(run, solver),
         "literal": [tree(run, solver, "solve")]}
        for run in runs_of(paths) for solver in solvers_of(run)
    ]  # fmt: skip


def ensemble(found: list[dict[str, Any]]) -> Any:
    """The Thicket of profiles; wants Thicket (pip install llnl-thicket)."""
    from hatchet import GraphFrame
    from thicket import Thicket

    thickets = []
    for one in found:
        frame = GraphFrame.from_literal(one["literal"])
        frame.metadata = one["metadata"]
        thickets.append(Thicket.thicketize_graphframe(frame, one["profile"]))
    return Thicket.concat_thickets(thickets, disable_tqdm=True) if len(thickets) > 1 else thickets[0]

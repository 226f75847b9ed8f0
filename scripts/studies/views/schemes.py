"""Compares communication schemes by the records of dry runs, as Markdown tables.

Each file is named WORKLOAD.RANKS_PER_NODE.MACHINE.json and was written by keel --dry-run with comm.machine. Files of that name from
another folder, of dry runs that did not know the sockets, give the gains if no two ranks share a socket, and if all of a node do, as
bounds. Without --best: a row a scheme, with its traffic and, on every machine, the predicted microseconds of an exchange and how many
times faster it is than the standard scheme. With --best: a row a workload, node size and level, with the fastest scheme of all, and
the fastest of those that know nodes. Where the boxes of a level would stand, a matrix has the vectors that are multiplied at a time.
"""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from studies.markdown import table
from studies.records import Record, UnreadableRecords, read_all, shown

MOVES = {"to_bottom": " there", "from_bottom": " back", "to_merged": " there", "from_merged": " back"}
APART, TOGETHER = "predicted_seconds", "predicted_on_one_socket"
NODE_AWARE = ("two_step", "three_step", "split")  # or, with a rule, two_step/max_need, split/always


@dataclass(frozen=True)
class Comparison:
    """All schemes for the ghosts of one level or of a matrix, or for boxes that other ranks work on."""

    workload: str
    ranks_per_node: int
    rows: dict[str, list[Record]]  # by machine; the standard scheme first
    bounds: dict[str, list[Record]]  # the same where sockets are not known: times if no two ranks share one, and if all do

    @property
    def subject(self) -> str:
        row = next(iter(self.rows.values()))[0]
        if row.get("box") is None:
            return f"t = {shown(row, 'columns')}"
        return f"{row['box']}^3{MOVES.get(row.get('purpose', ''), '')}"

    def gain(self, machine: str, row: Record) -> float:
        """The gain in the whole exchange, messages within nodes included."""
        return float(self.rows[machine][0][APART] / row[APART])

    def gains_at_bounds(self, machine: str, scheme: str) -> str:
        rows = self.bounds[machine]
        row = next(row for row in rows if row["scheme"] == scheme)
        return " to ".join(f"{rows[0][field] / row[field]:.2f}" for field in (APART, TOGETHER))

    def fastest(self, rows: list[Record], schemes: tuple[str, ...], field: str = APART) -> str:
        among = [row for row in rows if not schemes or row["scheme"].partition("/")[0] in schemes]
        if not among:
            return "-"
        least = min(float(row[field]) for row in among)
        # Among schemes that differ by rounding alone, the first.
        best = next(row for row in among if row[field] <= least * (1 + 1e-11))
        return f"{best['scheme']} {rows[0][field] / best[field]:.2f}"


def level(row: Record) -> tuple[int, str, int]:
    return row.get("level") or 0, row.get("purpose") or "", row.get("columns") or 0


def comparisons(paths: Iterable[Path]) -> list[Comparison]:
    """In the order of the files; files that differ in the machine alone are put together."""
    found: dict[tuple[str, int, tuple[int, str, int]], Comparison] = {}
    for path in paths:
        parts = path.name.split(".")
        if len(parts) != 4 or not parts[1].isdecimal():
            raise UnreadableRecords(f"{path}: its name wants to be WORKLOAD.RANKS_PER_NODE.MACHINE.json, such as faces.16.lassen.json")
        workload, ranks_per_node, machine, _ = parts
        records = [record for run in read_all([path]) for record in run.of("scheme")]
        if not records:
            raise UnreadableRecords(f"{path}: no scheme record; keel --dry-run with comm.machine and output.json writes them")
        moves = any(row.get("purpose") in MOVES for row in records)  # then the ghosts are beside the point
        for row in records:
            if moves and row.get("purpose") not in MOVES:
                continue
            if (row.get(APART) or 0) <= 0 or (row.get(TOGETHER) or 1) <= 0:
                raise UnreadableRecords(f"{path}: no predicted times; give keel --dry-run a comm.machine")
            if not row.get("scheme"):
                raise UnreadableRecords(f"{path}: a scheme record without the name of a scheme; keel writes none")
            key = (workload, int(ranks_per_node), level(row))
            one = found.setdefault(key, Comparison(workload, int(ranks_per_node), {}, {}))
            (one.rows if row.get(TOGETHER) is None else one.bounds).setdefault(machine, []).append(row)
    for one in found.values():
        if not one.rows:
            one.rows.update(one.bounds)
            one.bounds.clear()
        if len({tuple(row["scheme"] for row in rows) for rows in (*one.rows.values(), *one.bounds.values())}) > 1:
            raise UnreadableRecords(f"{one.workload}.{one.ranks_per_node}: the files of its machines differ in their schemes; make them again")
    if any(one.bounds for one in found.values()):
        for one in found.values():
            for machine in one.rows.keys() ^ one.bounds.keys():
                raise UnreadableRecords(
                    f"{one.workload}.{one.ranks_per_node}.{machine}.json: wanted twice, of dry runs that know the sockets and of some that do not,"
                    " as other files are here"
                )
    return list(found.values())


def heading(found: list[Comparison]) -> str:
    kinds = {"vectors" if one.subject.startswith("t") else "boxes" for one in found}
    return " or ".join(sorted(kinds))


def count(row: Record, who: str, what: str, unit: float = 1.0, form: str = ".0f") -> str:
    value = (row.get(who) or {}).get(what)
    return "-" if value is None else format(value / unit, form)


def removed(row: Record, standard: Record) -> str:
    """The part of the standard scheme's bytes between nodes that a scheme does not send."""
    before, now = ((one.get("all") or {}).get("off_node_bytes") for one in (standard, row))
    return "-" if before is None or now is None else f"{100 * (before - now) / max(before, 1):.1f} %"


def all_schemes(found: list[Comparison]) -> str:
    several = len({one.workload for one in found}) > 1
    lines = [[*["workload"] * several, "ranks/node", heading(found), "scheme", "messages", "off-node", "MB", "off-node MB", "duplicates removed",
              "most sent off node", "most received off node"]]  # fmt: skip
    for machine in found[0].rows:
        lines[0] += [f"{machine} us", "gain", *["gain by sockets"] * bool(found[0].bounds)]
    for one in found:
        machines = list(one.rows)
        standard = one.rows[machines[0]][0]
        for n, row in enumerate(one.rows[machines[0]]):
            line = [*[one.workload] * several, f"{one.ranks_per_node}", one.subject, row["scheme"],
                    count(row, "all", "messages"), count(row, "all", "off_node_messages"),
                    count(row, "all", "bytes", 1e6, ".2f"), count(row, "all", "off_node_bytes", 1e6, ".2f"), removed(row, standard),
                    count(row, "most_sent", "off_node_messages"), count(row, "most_received", "off_node_messages")]  # fmt: skip
            for machine in machines:
                other = one.rows[machine][n]
                line += [f"{1e6 * other['predicted_seconds']:.1f}", f"{one.gain(machine, other):.2f}"]
                if one.bounds:
                    line.append(one.gains_at_bounds(machine, row["scheme"]))
            lines.append(line)
    return table(lines[0], lines[1:])


def best_schemes(found: list[Comparison]) -> str:
    lines = [["workload", "ranks/node", heading(found)]]
    for machine in found[0].rows:
        lines[0] += [f"{machine}: standard us", "fastest, gain", "fastest node-aware, gain"]
        if found[0].bounds:
            lines[0] += ["none share a socket", "all of a node do"]
    for one in found:
        line = [one.workload, f"{one.ranks_per_node}", one.subject]
        for machine, rows in one.rows.items():
            line += [f"{1e6 * rows[0]['predicted_seconds']:.1f}", one.fastest(rows, ()),
                     one.fastest(rows, NODE_AWARE)]  # fmt: skip
            for field in (APART, TOGETHER) if one.bounds else ():
                both = dict.fromkeys(one.fastest(one.bounds[machine], schemes, field) for schemes in ((), NODE_AWARE))
                line.append("; ".join(both))
        lines.append(line)
    return table(lines[0], lines[1:])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--best", action="store_true", help="a row a workload, node size and level")
    parser.add_argument("--pairs", type=Path, metavar="PICTURE.svg", help="draw who sends to whom, of one file with output.details=true")
    parser.add_argument("files", nargs="+", type=Path, metavar="WORKLOAD.RANKS_PER_NODE.MACHINE.json")


def draw_pairs(files: list[Path], picture: Path) -> None:
    """Writes the picture of who sends to whom."""
    form = picture.suffix.removeprefix(".")
    if form not in ("svg", "pdf", "png") or len(files) != 1:
        raise UnreadableRecords(f"{picture}: wants to end in .svg, .pdf or .png, and be of one file; {len(files)} are given")
    from studies.evaluate.figures import partners  # matplotlib takes long to load
    from studies.evaluate.figures.style import Nothing

    try:
        picture.write_bytes(partners.draw(read_all(files)[-1]).saved(form))
    except Nothing:
        remedy = "keel --dry-run run.mode=spmv output.details=true writes them"
        raise UnreadableRecords(f"{files[0]}: no scheme record with pairs of ranks; {remedy}") from None
    print(f"wrote {picture}")


def act(options: argparse.Namespace) -> int:
    if options.pairs:
        draw_pairs(options.files, options.pairs)
        return 0
    found = comparisons(options.files)
    view = best_schemes if options.best else all_schemes
    print(view(found), end="")
    return 0

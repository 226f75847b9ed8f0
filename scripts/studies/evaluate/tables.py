"""The tidy tables of a study: a row a solve, a row an operation and level, a row a scheme and level; and the scaling table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.define.points import text
from studies.execute.folder import Written, write_new
from studies.execute.states import State, states_of
from studies.markdown import table
from studies.needs import missing
from studies.records import Record
from studies.statistics import Spread, spread

try:
    import pandas
except ModuleNotFoundError:
    raise missing("pandas", "makes the tables") from None

# The time of a solve, without overlap. Everything on the coarsest level is the bottom solve, except where it is the only level.
PARTS = ["V-cycle, work", "V-cycle, exchange", "bottom, work", "bottom, exchange", "all-reduce", "other"]
SOLVE_FIELDS = ["repeat", "seconds", "converged", "outcome", "cycles", "missed_bottoms", "restarts", "reductions", "reduction_words",
                "exchanges", "u_l2"]  # fmt: skip
TIMER_FIELDS = ["op", "level", "calls", "t_min", "t_mean", "t_max", "bytes_moved", "flops", "messages", "bytes", "off_node_messages",
                "off_node_bytes", "all_messages", "all_bytes", "all_off_node_messages", "all_off_node_bytes", "words"]  # fmt: skip


def part_of(timer: Record, bottom_level: int) -> str:
    """Which of PARTS an operation belongs to."""
    op, level = timer["op"], timer["level"]
    if op in ("other", "reduction"):
        return "other" if op == "other" else "all-reduce"
    where = "bottom" if op.startswith("bottom.") or level == bottom_level else "V-cycle"
    return f"{where}, {'exchange' if op.startswith('exchange.') else 'work'}"


@dataclass(frozen=True)
class Tables:
    """What all figures and tables are made from. Solves and operations are those of VALID runs alone."""

    written: Written
    states: list[State]
    solves: Any  # pandas.DataFrame
    operations: Any
    schemes: Any

    @property
    def axes(self) -> list[str]:
        """The keys that take more than one value, in the order of the study file."""
        names = dict.fromkeys(key for point in self.written.points for key in point["values"])
        return [name for name in names if len({text(point["values"][name]) for point in self.written.points}) > 1]

    @property
    def along(self) -> list[str]:
        """Ranks, and what is varied together with them: along these a study scales, the other axes are its variants."""
        for axis in self.written.facts["study"]["axes"]:
            if "ranks" in axis["keys"]:
                return [key for key in axis["keys"] if key in self.axes]
        return []

    @property
    def variant_keys(self) -> list[str]:
        return [key for key in self.axes if key not in self.along]

    @property
    def baseline(self) -> dict[str, Any]:
        return dict(self.written.facts["study"]["baseline"])


def label(values: dict[str, Any], keys: Sequence[str], solver: str = "") -> str:
    """Of a variant: words stand for themselves, numbers want the name of their key."""
    words = [text(values[key]) if isinstance(values[key], str) else f"{key.rpartition('.')[2]} {text(values[key])}" for key in keys]
    return ", ".join([*words, solver] if solver else words) or "all"


def gather(written: Written) -> Tables:
    states = states_of(written)
    points = {point["name"]: point for point in written.points}
    made = Tables(written, states, None, None, None)
    solves: list[Record] = []
    operations: list[Record] = []
    schemes: list[Record] = []
    for state in states:
        run, point = state.run, points[state.point]
        if state.word != "done" or not run:
            continue
        head = run.head
        survey = run.mode == "survey"
        cells = run.unknowns or (run.of("spmv") or [{}])[0].get("rows")
        common = {"point": state.point, "round": state.round, "ranks": point["ranks"] if not written.dry_run else point_ranks(point),
                  "threads": point["threads"], "nodes": head.get("nodes", 1), "unknowns": cells,
                  "shared_cores": head.get("shared_cores"),
                  **{key: text(value) if isinstance(value, list) else value for key, value in point["values"].items() if key not in ("ranks", "threads")}}  # fmt: skip
        for solve in run.of("solve"):
            solver = run.solver_of(solve)
            more = {name: solve.get(name) for name in SOLVE_FIELDS}
            solves.append(common | {"variant": label(point["values"], made.variant_keys, solver if survey else ""), "solver": solver} | more | {
                "iterations": solve.get("bottom_iterations", solve.get("iterations")),
                "residuals": solve.get("residuals"), "norm": solve.get("norm"), "baseline": point["baseline"],
                "triad_bytes_per_second": head.get("triad_bytes_per_second"),
                "setup_seconds": run.result.get("setup_seconds"), "predicted_bytes": head.get("predicted_bytes"),
                "measured_bytes": run.result.get("measured_bytes"), "keel": head.get("revision")})  # fmt: skip
        bottom = len(head.get("levels", [])) - 1 if run.mode in ("solve", "survey") else 0
        for timer in run.of("timer"):
            solver = run.solver_of(timer)
            operations.append(common | {"variant": label(point["values"], made.variant_keys, solver if survey else ""), "solver": solver}
                              | {name: timer.get(name) for name in TIMER_FIELDS} | {"part": part_of(timer, bottom),
                              "triad_bytes_per_second": head.get("triad_bytes_per_second")})  # fmt: skip
        for scheme in run.of("scheme"):
            flat = {f"{who}_{what}": scheme[who][what] for who in ("all", "most_sent", "most_received") for what in scheme.get(who, {})}
            kept = {name: scheme.get(name) for name in ("level", "box", "purpose", "columns", "depth", "scheme", "chosen_by",
                                                        "duplicate_bytes", "predicted_seconds")}  # fmt: skip
            schemes.append(common | {"variant": label(point["values"], made.variant_keys)} | kept | flat)
    return Tables(written, states, *(pandas.DataFrame(rows) for rows in (solves, operations, schemes)))


def point_ranks(point: dict[str, Any]) -> int:
    """The ranks that a dry run imagines."""
    return next((int(word.partition("=")[2]) for word in point["words"] if word.startswith("problem.ranks=")), point["ranks"])


@dataclass(frozen=True)
class Scaled:
    """One point and variant in the scaling table."""

    point: str
    variant: str
    ranks: int
    threads: int
    unknowns: float | None
    seconds: Spread
    efficiency: float | None
    speed_up: Spread | None  # over the baseline, of the rounds' medians
    cycles: float | None
    iterations: float | None


def first(rows: Any, column: str) -> float | None:
    values = rows[column].dropna()
    return None if values.empty else float(values.iloc[0])


def scaled(tables: Tables) -> list[Scaled]:
    """By variant, then ranks. Efficiency is relative to the fewest ranks of the variant; of throughput to the best rate."""
    solves = tables.solves
    if solves.empty:
        return []
    law = tables.written.facts["study"]["law"]
    found: list[Scaled] = []
    groups = {key: rows for key, rows in solves.groupby(["variant", "ranks", "threads", "point"], sort=False)}
    medians = {key: rows.groupby("round")["seconds"].median() for key, rows in groups.items()}
    points = {point["name"]: point for point in tables.written.points}
    for (variant, ranks, threads, point), rows in groups.items():
        same = [(key, other) for key, other in groups.items() if key[0] == variant]
        least, at_least = min(same, key=lambda one: (one[0][1], one[0][2]))[0:2]
        seconds, reference = rows["seconds"].median(), at_least["seconds"].median()
        efficiency: float | None = None
        if len(same) == 1:
            pass  # of one point there is none
        elif law == "weak":
            efficiency = reference / seconds
        elif law == "strong":
            efficiency = reference * least[1] * least[2] / (seconds * ranks * threads)
        elif rows["unknowns"].notna().all():
            efficiency = (rows["unknowns"] / rows["seconds"]).median() / max((r["unknowns"] / r["seconds"]).median() for _, r in same)
        speed_up = None
        if tables.baseline:
            others = {key: value for key, value in points[point]["values"].items() if key not in tables.baseline}
            base = [key for key in groups if points[key[3]]["baseline"]
                    and {k: v for k, v in points[key[3]]["values"].items() if k not in tables.baseline} == others]  # fmt: skip
            if base:
                ratios = (medians[base[0]] / medians[variant, ranks, threads, point]).dropna()
                speed_up = spread(list(ratios)) if len(ratios) else None
        found.append(Scaled(point, variant, int(ranks), int(threads), first(rows, "unknowns"), spread(list(rows["seconds"])),
                            efficiency, speed_up, first(rows, "cycles"), first(rows, "iterations")))  # fmt: skip
    order = {variant: number for number, variant in enumerate(dict.fromkeys(one.variant for one in found))}
    return sorted(found, key=lambda one: (order[one.variant], one.ranks, one.threads))


def digits(value: float | None) -> str:
    """Three of them, as 0.400, 40.0, 400, 4000."""
    if value is None:
        return "-"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:#.3g}".rstrip(".")


def interval(one: Spread) -> str:
    low, high = one.bars
    return f"[{digits(low)}-{digits(high)}]" if one.count > 1 else "-"


HEAD = ["variant", "ranks x threads", "unknowns", "solves", "solve s, median", "95 % or least-greatest", "efficiency",
        "speed-up over baseline", "cycles", "iterations"]  # fmt: skip


def scaling_rows(tables: Tables) -> list[list[str]]:
    rows = []
    for one in scaled(tables):
        is_base = any(point["name"] == one.point and point["baseline"] for point in tables.written.points)
        over = "baseline" if is_base else "-" if one.speed_up is None else f"{digits(one.speed_up.median)} {interval(one.speed_up)}".removesuffix(" -")
        rows.append([one.variant, f"{one.ranks}x{one.threads}", "-" if one.unknowns is None else f"{one.unknowns:.0f}", f"{one.seconds.count}",
                     digits(one.seconds.median), interval(one.seconds), "-" if one.efficiency is None else f"{100 * one.efficiency:.0f} %",
                     over, *("-" if n is None else f"{n:.0f}" for n in (one.cycles, one.iterations))])  # fmt: skip
    return rows


def scaling_markdown(tables: Tables) -> str:
    study = tables.written.facts["study"]
    failed = [state for state in tables.states if state.word != "done"]
    lines = [f"{study['name']}: {study['claim']}", "", f"{study['law']}: constant is {study['constant']}.", ""]
    if len(tables.solves):
        lines += ["Seconds are measured, cycles and iterations counted.", "", table(HEAD, scaling_rows(tables))]
    if schemes := scheme_rows(tables):
        lines += ["One exchange of the finest ghosts: messages and bytes are counted from the plan, times predicted.", "", table(SCHEME_HEAD, schemes)]
    if not len(tables.solves) and not schemes:
        lines.append("Nothing is done yet.\n")
    if failed:
        lines += [table(["not done", "round", "state", "reason"], ([s.point, f"{s.round}", s.word, s.reason.replace("|", "\\|")] for s in failed))]
    return "\n".join(lines)


SCHEME_HEAD = ["variant", "ranks", "scheme", "messages", "between nodes", "MB", "MB between nodes", "predicted us"]


def finest(schemes: Any) -> Any:
    """The rows of the exchange that the finest level's operator, or a matrix' product, needs; counts do not depend on the round."""
    return schemes[(schemes["level"] == 0) & schemes["purpose"].isin(["stencil", "product"]) & (schemes["round"] == 1)]


def scheme_rows(tables: Tables) -> list[list[str]]:
    rows = []
    for one in finest(tables.schemes).to_dict("records") if len(tables.schemes) else ():
        seconds = one["predicted_seconds"]
        rows.append([one["variant"], f"{one['ranks']}", one["scheme"], f"{one['all_messages']:.0f}", f"{one['all_off_node_messages']:.0f}",
                     digits(one["all_bytes"] * 1e-6), digits(one["all_off_node_bytes"] * 1e-6),
                     "-" if seconds is None or seconds != seconds else digits(1e6 * seconds)])  # fmt: skip
    return rows


def parts(tables: Tables) -> Any:
    """Seconds of each of PARTS in a solve, a row a variant and number of ranks: the median over the rounds."""
    every = tables.operations
    sums = every.groupby(["variant", "ranks", "round", "part"], sort=False)["t_mean"].sum().unstack("part", fill_value=0.0)
    return sums.reindex(columns=PARTS, fill_value=0.0).groupby(level=["variant", "ranks"], sort=False).median()


def write_tables(tables: Tables) -> Iterable[Path]:
    folder = tables.written.folder / "tables"
    folder.mkdir(exist_ok=True)
    for name, frame in (("solves", tables.solves), ("operations", tables.operations), ("schemes", tables.schemes)):
        if frame.empty:
            continue
        tidy = frame.convert_dtypes()
        # What is a list stays in the JSON lines.
        yield write_new(folder / f"{name}.csv", tidy.drop(columns=["residuals"], errors="ignore").to_csv(index=False))
        yield write_new(folder / f"{name}.jsonl", tidy.to_json(orient="records", lines=True, double_precision=15))
    yield write_new(folder / "scaling.md", scaling_markdown(tables))

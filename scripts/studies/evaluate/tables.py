"""The tidy tables of a study: a row a solve, a row an operation and level, a row a scheme and level."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.define.points import text
from studies.execute.folder import Written
from studies.execute.states import State, states_of
from studies.needs import missing
from studies.records import Record, Run, of_one_clock

try:
    import pandas
except ModuleNotFoundError:
    raise missing("pandas", "makes the tables") from None

# The time of a solve, without overlap. Everything on the coarsest level is the bottom solve, except where it is the only level.
PARTS = ["V-cycle, work", "V-cycle, exchange", "bottom, work", "bottom, exchange", "all-reduce", "other"]
SOLVE_FIELDS = [
    "repeat",
    "seconds",
    "converged",
    "outcome",
    "cycles",
    "missed_bottoms",
    "reductions",
    "reduction_words",
    "exchanges",
    "u_l2",
]
TIMER_FIELDS = [
    "op",
    "level",
    "calls",
    "t_min",
    "t_mean",
    "t_max",
    "bytes_moved",
    "flops",
    "messages",
    "bytes",
    "off_node_messages",
    "off_node_bytes",
    "all_messages",
    "all_bytes",
    "all_off_node_messages",
    "all_off_node_bytes",
    "words",
]


def part_of(timer: Record, bottom_level: int) -> str:
    """The one of PARTS that an operation belongs to."""
    op, level = timer["op"], timer["level"]
    if op == "other" or op.startswith("reduction"):
        return "other" if op == "other" else "all-reduce"
    of_cycle = level != bottom_level or op in ("smooth", "residual", "restrict", "interpolate")
    where = "V-cycle" if of_cycle else "bottom"
    return f"{where}, {'exchange' if op.startswith('exchange.') else 'work'}"


@dataclass(frozen=True)
class Tables:
    """The data of all figures and tables. Solves and operations are those of VALID runs alone."""

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
    def of_surveys(self) -> bool:
        """True if one start solves with several solvers: then each is a variant of its own."""
        return any(state.run is not None and state.run.mode == "survey" for state in self.states)

    @property
    def baseline(self) -> dict[str, Any]:
        return dict(self.written.facts["study"]["baseline"])


def label(values: dict[str, Any], keys: Sequence[str], solver: str = "") -> str:
    """The label of a variant: words stand for themselves, numbers want the name of their key."""
    words = [
        text(values[key]) if isinstance(values[key], str) else f"{key.rpartition('.')[2]} {text(values[key])}" for key in keys
    ]
    return ", ".join([*words, solver] if solver else words) or "all"


def common_of(written: Written, state: State, run: Run) -> Record:
    """The columns that all tables have."""
    point = next(point for point in written.points if point["name"] == state.point)
    return {
        "point": state.point,
        "round": state.round,
        "ranks": point["ranks"] if not written.dry_run else point_ranks(point),
        "threads": point["threads"],
        "nodes": run.head.get("nodes", 1),
        "unknowns": run.unknowns or (run.of("spmv") or [{}])[0].get("rows"),
        "shared_cores": run.head.get("shared_cores"),
        **{
            key: text(value) if isinstance(value, list) else value
            for key, value in point["values"].items()
            if key not in ("ranks", "threads")
        },
    }


def solve_row(run: Run, solve: Record) -> Record:
    bottoms = solve.get("bottom")
    return {name: solve.get(name) for name in SOLVE_FIELDS} | {
        "restarts": solve.get("restarts", sum(one.get("restarts") or 0 for one in bottoms) if bottoms else None),
        "iterations": solve.get("bottom_iterations", solve.get("iterations")),
        "residuals": solve.get("residuals"),
        "measured_after": solve.get("measured_after"),
        "norm": solve.get("norm"),
        "triad_bytes_per_second": run.head.get("triad_bytes_per_second"),
        "setup_seconds": run.result.get("setup_seconds"),
        "predicted_bytes": run.head.get("predicted_bytes"),
        "measured_bytes": run.result.get("measured_bytes"),
        "keel": run.head.get("revision"),
    }


def scheme_row(scheme: Record) -> Record:
    flat = {
        f"{who}_{what}": value for who in ("all", "most_sent", "most_received") for what, value in (scheme.get(who) or {}).items()
    }
    kept = ("level", "box", "purpose", "columns", "depth", "scheme", "chosen_by", "predicted_seconds")
    return {name: scheme.get(name) for name in kept} | flat


def gather(written: Written, states: list[State] | None = None) -> Tables:
    """The tables of a written study; `states` are those of its folder unless given."""
    states = states_of(written) if states is None else states
    of_one_clock(state.run for state in states if state.word == "done" and state.run)
    made = Tables(written, states, None, None, None)
    values = {point["name"]: point["values"] for point in written.points}
    baseline = {point["name"]: point["baseline"] for point in written.points}
    solves: list[Record] = []
    operations: list[Record] = []
    schemes: list[Record] = []
    for state in states:
        run = state.run
        if state.word != "done" or not run:
            continue
        common = common_of(written, state, run)
        survey = run.mode == "survey"

        def named(record: Record, state: State = state, run: Run = run, survey: bool = survey) -> Record:
            solver = run.solver_of(record)
            return {"variant": label(values[state.point], made.variant_keys, solver if survey else ""), "solver": solver}

        for solve in run.all_solves():
            solves.append(common | named(solve) | solve_row(run, solve) | {"baseline": baseline[state.point]})
        bottom = len(run.head.get("levels") or []) - 1 if run.of_multigrid else 0
        for timer in run.times():
            if run.mode != "spmv" and run.solver_of(timer).endswith(("amg.setup", "amg.cycles")):
                continue  # the bottom's, again, by levels of its own
            operations.append(common | named(timer) | {name: timer.get(name) for name in TIMER_FIELDS}
                              | {"part": part_of(timer, bottom), "triad_bytes_per_second": run.head.get("triad_bytes_per_second"),
                                 "gpu_sync": run.key("run.gpu_sync", "per_operation")})  # fmt: skip
        for scheme in run.of("scheme"):
            schemes.append(common | {"variant": label(values[state.point], made.variant_keys)} | scheme_row(scheme))
    return Tables(written, states, *(pandas.DataFrame(rows) for rows in (solves, operations, schemes)))


def tables_of_runs(runs: list[Run], names: list[str]) -> Tables:
    """The tables of runs of no study, each a point and variant of its own."""
    points = [{"name": name, "values": {"run": name}, "ranks": run.head.get("ranks") or 0, "threads": run.head.get("threads") or 0, "baseline": False}
              for run, name in zip(runs, names, strict=True)]  # fmt: skip
    site = {"launcher": "local" if runs[0].clock == "real" else "simulated"}
    study = {"dry_run": False, "axes": [], "baseline": {}, "law": "", "name": "", "claim": ""}
    states = [State(name, 1, "done", "", run) for run, name in zip(runs, names, strict=True)]
    return gather(Written(Path(), {"study": study, "site": site, "points": points}), states)


def point_ranks(point: dict[str, Any]) -> int:
    """The ranks of the point: of a dry run, its virtual ranks."""
    return next((int(word.partition("=")[2]) for word in point["words"] if word.startswith("problem.ranks=")), point["ranks"])


def finest(schemes: Any) -> Any:
    """The rows of the exchange that the finest level's operator, or a matrix' product, needs; counts do not depend on the round."""
    return schemes[(schemes["level"] == 0) & schemes["purpose"].isin(["stencil", "product"]) & (schemes["round"] == 1)]


def largest(rows: Any) -> Any:
    """The rows of each variant on most ranks."""
    return rows if rows.empty else rows[rows["ranks"] == rows.groupby("variant")["ranks"].transform("max")]


def timed(tables: Tables) -> Any:
    """The operations that move bytes in a known time where a triad is known: a host that runs ahead of a device has times of its own, and ranks
    that take turns on a core were not at work all at once, so their rates do not add up."""
    rows = tables.operations
    if rows.empty:
        return rows
    rows = rows[(rows["t_mean"] > 0) & (rows["triad_bytes_per_second"] > 0) & (rows["gpu_sync"] == "per_operation")]
    rows = rows[rows["bytes_moved"] > 0]
    shared = rows["shared_cores"].fillna(False).astype(bool)
    return rows if shared.all() else rows[~shared]


def parts(tables: Tables) -> Any:
    """Seconds of each of PARTS in a solve, a row a variant and number of ranks: the median over the rounds."""
    every = tables.operations
    sums = every.groupby(["variant", "ranks", "round", "part"], sort=False)["t_mean"].sum().unstack("part", fill_value=0.0)
    return sums.reindex(columns=PARTS, fill_value=0.0).groupby(level=["variant", "ranks"], sort=False).median()

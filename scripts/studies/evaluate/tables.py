"""The tidy tables of a study: a row a solve, a row an operation and level, a row a scheme and level."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from studies.define.points import text
from studies.execute.folder import Written
from studies.execute.states import State, states_of
from studies.needs import missing
from studies.records import Record, of_one_clock

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
    "restarts",
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


def gather(written: Written) -> Tables:
    states = states_of(written)
    of_one_clock(state.run for state in states if state.word == "done" and state.run)
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
        common = {
            "point": state.point,
            "round": state.round,
            "ranks": point["ranks"] if not written.dry_run else point_ranks(point),
            "threads": point["threads"],
            "nodes": head.get("nodes", 1),
            "unknowns": cells,
            "shared_cores": head.get("shared_cores"),
            **{
                key: text(value) if isinstance(value, list) else value
                for key, value in point["values"].items()
                if key not in ("ranks", "threads")
            },
        }
        for solve in run.all_solves():
            solver = run.solver_of(solve)
            more = {name: solve.get(name) for name in SOLVE_FIELDS}
            solves.append(
                common
                | {"variant": label(point["values"], made.variant_keys, solver if survey else ""), "solver": solver}
                | more
                | {
                    "iterations": solve.get("bottom_iterations", solve.get("iterations")),
                    "residuals": solve.get("residuals"),
                    "norm": solve.get("norm"),
                    "baseline": point["baseline"],
                    "triad_bytes_per_second": head.get("triad_bytes_per_second"),
                    "setup_seconds": run.result.get("setup_seconds"),
                    "predicted_bytes": head.get("predicted_bytes"),
                    "measured_bytes": run.result.get("measured_bytes"),
                    "keel": head.get("revision"),
                }
            )
        bottom = len(head.get("levels", [])) - 1 if run.mode in ("solve", "survey") else 0
        for timer in run.of("timer"):
            solver = run.solver_of(timer)
            if run.mode != "spmv" and solver.endswith(("amg.setup", "amg.cycles")):
                continue  # the bottom's, again, by levels of its own
            operations.append(
                common
                | {"variant": label(point["values"], made.variant_keys, solver if survey else ""), "solver": solver}
                | {name: timer.get(name) for name in TIMER_FIELDS}
                | {"part": part_of(timer, bottom), "triad_bytes_per_second": head.get("triad_bytes_per_second")}
            )
        for scheme in run.of("scheme"):
            flat = {
                f"{who}_{what}": scheme[who][what]
                for who in ("all", "most_sent", "most_received")
                for what in scheme.get(who, {})
            }
            kept = {name: scheme.get(name) for name in ("level", "box", "purpose", "columns", "depth", "scheme", "chosen_by",
                                                        "duplicate_bytes", "predicted_seconds")}  # fmt: skip
            schemes.append(common | {"variant": label(point["values"], made.variant_keys)} | kept | flat)
    return Tables(written, states, *(pandas.DataFrame(rows) for rows in (solves, operations, schemes)))


def point_ranks(point: dict[str, Any]) -> int:
    """The ranks of the point: of a dry run, its virtual ranks."""
    return next((int(word.partition("=")[2]) for word in point["words"] if word.startswith("problem.ranks=")), point["ranks"])


def finest(schemes: Any) -> Any:
    """The rows of the exchange that the finest level's operator, or a matrix' product, needs; counts do not depend on the round."""
    return schemes[(schemes["level"] == 0) & schemes["purpose"].isin(["stencil", "product"]) & (schemes["round"] == 1)]


def parts(tables: Tables) -> Any:
    """Seconds of each of PARTS in a solve, a row a variant and number of ranks: the median over the rounds."""
    every = tables.operations
    sums = every.groupby(["variant", "ranks", "round", "part"], sort=False)["t_mean"].sum().unstack("part", fill_value=0.0)
    return sums.reindex(columns=PARTS, fill_value=0.0).groupby(level=["variant", "ranks"], sort=False).median()

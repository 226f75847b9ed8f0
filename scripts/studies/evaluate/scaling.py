"""The scaling table: medians, efficiency by the study's law, speed-up over the baseline; and the table of schemes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from studies.answers import interval as bracket
from studies.define.points import text
from studies.evaluate.tables import Tables, finest, label
from studies.markdown import digits, table
from studies.statistics import Spread, spread


@dataclass(frozen=True)
class Scaled:
    """One point and variant in the scaling table."""

    point: str
    variant: str
    but_size: str  # the variant without the keys that make the problem larger
    ranks: int
    threads: int
    unknowns: float | None
    seconds: Spread
    efficiency: float | None
    speed_up: Spread | None  # over the baseline, of the rounds' medians
    cycles: float | None
    iterations: float | None
    reductions: float | None
    restarts: float | None


def first(rows: Any, column: str) -> float | None:
    values = rows[column].dropna()
    return None if values.empty else float(values.iloc[0])


COUNTS = ("cycles", "iterations", "reductions", "restarts")  # counts of a solve
SIZES = {"problem.box", "problem.boxes", "problem.boxes_per_rank"}  # along these a throughput study scales
Group = tuple[str, int, int, str]  # variant, ranks, threads, point


def efficiency(law: str, group: Group, family: dict[Group, Any]) -> float | None:
    """Relative to the fewest ranks of the family; of throughput to the best rate. None of one point, and in a sweep."""
    if len(family) == 1 or law == "sweep":
        return None
    seconds = {key: rows["seconds"].median() for key, rows in family.items()}
    if law == "throughput":
        rates = {
            key: (rows["unknowns"] / rows["seconds"]).median() for key, rows in family.items() if rows["unknowns"].notna().all()
        }
        return float(rates[group] / max(rates.values())) if group in rates else None
    least = min(family, key=lambda key: key[1:3])
    cores = {key: key[1] * key[2] for key in family} if law == "strong" else dict.fromkeys(family, 1)
    return float(seconds[least] * cores[least] / (seconds[group] * cores[group]))


def scaled(tables: Tables) -> list[Scaled]:
    """By variant, then ranks."""
    if tables.solves.empty:
        return []
    law = tables.written.facts["study"]["law"]
    groups: dict[Group, Any] = dict(iter(tables.solves.groupby(["variant", "ranks", "threads", "point"], sort=False)))
    medians = {key: rows.groupby("round")["seconds"].median() for key, rows in groups.items()}
    values = {point["name"]: point["values"] for point in tables.written.points}
    baseline = {point["name"] for point in tables.written.points if point["baseline"]}

    def without(group: Group, keys: Collection[str]) -> tuple[Any, ...]:
        """The values that two compared groups have in common."""
        solvers = sorted(set(groups[group]["solver"])) if tables.of_surveys else []
        return (*((key, text(value)) for key, value in values[group[3]].items() if key not in keys), *solvers)

    found: list[Scaled] = []
    for group, rows in groups.items():
        if law == "throughput":
            family = {key: other for key, other in groups.items() if without(key, SIZES) == without(group, SIZES)}
        else:
            family = {key: other for key, other in groups.items() if key[0] == group[0]}
        base = [
            key for key in groups if key[3] in baseline and without(key, tables.baseline) == without(group, tables.baseline)
        ]
        ratios = list((medians[base[0]] / medians[group]).dropna()) if base else []
        named = [key for key in tables.variant_keys if key not in SIZES]
        name = label(values[group[3]], named, str(groups[group]["solver"].iloc[0]) if tables.of_surveys else "")
        found.append(Scaled(group[3], group[0], name, int(group[1]), int(group[2]), first(rows, "unknowns"),
                            spread(list(rows["seconds"])), efficiency(law, group, family), spread(ratios) if ratios else None,
                            *(first(rows, count) for count in COUNTS)))  # fmt: skip
    order = {variant: number for number, variant in enumerate(dict.fromkeys(one.variant for one in found))}
    return sorted(found, key=lambda one: (order[one.variant], one.ranks, one.threads))


def interval(one: Spread) -> str:
    return bracket(one) if one.count > 1 else "-"


MOST_LETTERS = 45  # a reason in the table is no longer
HEAD = ["variant", "ranks x threads", "unknowns", "solves", "solve s, median", "95 % or least-greatest", "efficiency",
        "speed-up over baseline", "cycles", "iterations", "all-reduces", "restarts"]  # fmt: skip


@dataclass(frozen=True)
class Failed:
    """A point without a result, and why."""

    point: str
    variant: str
    ranks: int
    threads: int
    why: str


def failed_points(tables: Tables) -> list[Failed]:
    """The points of which no start is done, and some start ended without a result."""
    done = {state.point for state in tables.states if state.word == "done"}
    states = {state.point: state for state in reversed(tables.states) if state.word in ("failed", "interrupted")}
    return [Failed(point["name"], label(point["values"], tables.variant_keys), point["ranks"], point["threads"],
                   ": ".join(filter(None, (states[point["name"]].word, states[point["name"]].reason))))
            for point in tables.written.points if point["name"] in states.keys() - done]  # fmt: skip


def scaling_rows(tables: Tables) -> list[list[str]]:
    """A row a point and variant, those that failed among them."""
    rows = solved_rows(tables)
    for one in failed_points(tables):
        why = one.why if len(one.why) <= MOST_LETTERS else f"{one.why[:MOST_LETTERS]}..."
        row = [one.variant, f"{one.ranks}x{one.threads}", "-", "0", why, *["-"] * (len(HEAD) - 5)]
        # Behind the rows of its variant with fewer ranks.
        places = [place for place, other in enumerate(rows) if other[0] == one.variant]
        before = [place for place in places if int(rows[place][1].partition("x")[0]) < one.ranks]
        rows.insert(before[-1] + 1 if before else places[0] if places else len(rows), row)
    return rows


def solved_rows(tables: Tables) -> list[list[str]]:
    rows = []
    for one in scaled(tables):
        is_base = any(point["name"] == one.point and point["baseline"] for point in tables.written.points)
        over = "baseline" if is_base else "-"
        if one.speed_up and not is_base:
            over = f"{digits(one.speed_up.median)} {interval(one.speed_up)}".removesuffix(" -")
        rows.append(
            [
                one.variant,
                f"{one.ranks}x{one.threads}",
                "-" if one.unknowns is None else f"{one.unknowns:.0f}",
                f"{one.seconds.count}",
                digits(one.seconds.median),
                interval(one.seconds),
                "-" if one.efficiency is None else f"{100 * one.efficiency:.0f} %",
                over,
                *("-" if (n := getattr(one, count)) is None else f"{n:.0f}" for count in COUNTS),
            ]
        )
    return rows


SCHEME_HEAD = ["variant", "ranks", "scheme", "messages", "between nodes", "MB", "MB between nodes", "predicted µs"]


def scheme_rows(tables: Tables) -> list[list[str]]:
    rows = []
    for one in finest(tables.schemes).to_dict("records") if len(tables.schemes) else ():
        seconds = one["predicted_seconds"]
        rows.append(
            [
                one["variant"],
                f"{one['ranks']}",
                one["scheme"],
                f"{one['all_messages']:.0f}",
                f"{one['all_off_node_messages']:.0f}",
                digits(one["all_bytes"] * 1e-6),
                digits(one["all_off_node_bytes"] * 1e-6),
                "-" if seconds is None or seconds != seconds else digits(1e6 * seconds),
            ]
        )
    return rows


def scaling_markdown(tables: Tables) -> str:
    study = tables.written.facts["study"]
    failed = [state for state in tables.states if state.word != "done"]
    lines = [f"{study['name']}: {study['claim']}", "", f"{study['law']}: constant is {study['constant']}.", ""]
    if rows := scaling_rows(tables):
        lines += [f"Seconds are {tables.written.times}, cycles and iterations counted.", "", table(HEAD, rows)]
    if schemes := scheme_rows(tables):
        lines += [
            "One exchange of the finest ghosts: messages and bytes are counted from the plan, times predicted.",
            "",
            table(SCHEME_HEAD, schemes),
        ]
    if not rows and not schemes:
        lines.append("Nothing is done yet.\n")
    if failed:
        lines += [
            table(
                ["not done", "round", "state", "reason"],
                ([s.point, f"{s.round}", s.word, s.reason] for s in failed),
            )
        ]
    return "\n".join(lines)

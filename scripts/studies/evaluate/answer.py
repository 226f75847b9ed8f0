"""The sentence that answers a study: which variant is faster, or how far it scales, beside the noise of its solves."""

from collections.abc import Sequence

from studies.answers import SHARED, bars_of, differ, quotient
from studies.evaluate.scaling import Scaled, failed_points, scaled, scheme_rows
from studies.evaluate.tables import Tables, finest
from studies.markdown import digits

MOST_NAMES = 4  # variants that a sentence names


def listed(names: Sequence[str]) -> str:
    """As "a, b and c", or the first of many and their number."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def ranks_of(rows: Sequence[Scaled]) -> str:
    return f"on {rows[0].ranks} rank{'s' if rows[0].ranks > 1 else ''}"


def over_the_baseline(rows: Sequence[Scaled], baseline: str) -> str:
    """Rows with a speed-up, at one number of ranks: which are faster than the baseline, which slower, which neither."""
    if min(one.speed_up.count for one in rows if one.speed_up) == 1:
        return "one round has no noise to compare with, no ratio; rounds = 6 gives intervals"
    faster, slower, same = [], [], []
    for one in rows:
        assert one.speed_up
        low, high = one.speed_up.bars
        told = f"{one.variant} {digits(one.speed_up.median)} [{digits(low)}-{digits(high)}]"
        (faster if low > 1 else slower if high < 1 else same).append((-one.speed_up.median, one.variant, told))
    parts = []
    for found, what in ((faster, "faster"), (slower, "slower")):
        if found:
            parts.append(f"{what} than {baseline}, by their speed-up: {listed([told for _, _, told in sorted(found)])}")
    if same:
        names = listed([name for _, name, _ in same])
        parts.append(f"{names} and {baseline} do not differ" if not parts else f"not different: {names}")
    return "; ".join(parts)


def least_time(rows: Sequence[Scaled]) -> str:
    """Rows of different variants on as many ranks: the one that takes least, and those that do not differ from it."""
    best, *others = sorted(rows, key=lambda one: one.seconds.median)
    if min(one.seconds.count for one in rows) == 1:
        return "one solve of each has no noise to compare with; rounds = 6 gives intervals"
    same = [one.variant for one in others if not differ(one.seconds, best.seconds)]
    if len(same) == len(others):
        return f"{listed([best.variant, *same])} do not differ"
    next_best = next(one for one in others if one.variant not in same)
    also = f" (with {listed(same)}, which do{'es' if len(same) == 1 else ''} not differ from it)" if same else ""
    return f"{best.variant}{also} is {quotient(next_best.seconds, best.seconds)} as {next_best.variant}"


def growth(rows: Sequence[Scaled], law: str) -> str:
    """Rows of one variant by ranks: what most ranks take beside the fewest."""
    first, last = rows[0], rows[-1]
    (low, high), (least, most) = last.seconds.bars, first.seconds.bars
    ratio = f"{digits(last.seconds.median / first.seconds.median)} times as long as on {first.ranks}"
    noise = f" [{digits(low / most)}-{digits(high / least)}]" if min(first.seconds.count, last.seconds.count) > 1 else ", of one solve each"
    kept = f"; {law} efficiency {100 * last.efficiency:.0f} %" if last.efficiency is not None else ""
    return f"a solve takes {ratio}{noise}{kept}"


def of_schemes(tables: Tables) -> str:
    """The schemes with least predicted time, else with fewest messages between nodes, on most ranks."""
    rows = finest(tables.schemes)
    rows = rows[rows["ranks"] == rows["ranks"].max()] if len(rows) else rows
    if not len(rows):
        return ""
    predicted = rows["predicted_seconds"].notna().all()
    column, what = ("predicted_seconds", "least predicted time") if predicted else ("all_off_node_messages", "fewest messages between nodes")
    every = rows.groupby("scheme", sort=False)[column].median().sort_values(kind="stable")
    ties = list(every.index[every <= every.iloc[0] * (1 + 1e-9)])
    return f"{listed(ties)} {'has' if len(ties) == 1 else 'have'} the {what} on {rows['ranks'].iloc[0]} ranks"


def answer(tables: Tables) -> str:
    """Empty if no start is done."""
    rows = scaled(tables)
    if not rows:
        return of_schemes(tables) if scheme_rows(tables) else ""
    study = tables.written.facts["study"]
    most = max(one.ranks for one in rows)
    largest = [one for one in rows if one.ranks == most]
    base = {point["name"] for point in tables.written.points if point["baseline"]}
    compared = [one for one in largest if one.speed_up and one.point not in base]
    shared = SHARED if any(state.run and state.run.head.get("shared_cores") for state in tables.states if state.word == "done") else ""
    if compared:
        baseline = ", ".join(f"{value}" for value in tables.baseline.values())
        told = f"{ranks_of(compared)} {over_the_baseline(compared, baseline)}"
        bars = bars_of(*(one.speed_up for one in compared if one.speed_up))
    elif study["law"] == "throughput" and all(one.unknowns for one in rows):
        best = max(rows, key=lambda one: (one.unknowns or 0) / one.seconds.median)
        low, high = ((best.unknowns or 0) / end * 1e-6 for end in reversed(best.seconds.bars))
        rate = (best.unknowns or 0) / best.seconds.median * 1e-6
        told = f"{best.variant} solves most: {digits(rate)} million unknowns a second [{digits(low)}-{digits(high)}]"
        bars = bars_of(best.seconds)
    elif len({one.variant for one in largest}) > 1:
        told, bars = f"{ranks_of(largest)} {least_time(largest)}", bars_of(*(one.seconds for one in largest))
    elif len(rows) > 1 and rows[0].ranks < most:
        told, bars = f"{ranks_of(largest)} {growth(rows, study['law'])}", bars_of(rows[0].seconds, rows[-1].seconds)
    else:
        low, high = rows[0].seconds.bars
        told, bars = f"a solve takes {digits(rows[0].seconds.median)} s [{digits(low)}-{digits(high)}]", bars_of(rows[0].seconds)
    failed = list(dict.fromkeys(one.variant for one in failed_points(tables) if one.ranks == most and one.point not in base))
    lost = f"; failed: {listed(failed)}" if failed else ""
    noise = f"; brackets are {bars}" if "[" in told else f" ({bars} overlap)" if "differ" in told else ""
    return told + noise + lost + shared

"""One sentence that answers: which of two runs is faster, and by how much more than their noise."""

from collections.abc import Sequence

from studies.markdown import digits
from studies.records import Run, differing_keys, seconds_of
from studies.statistics import FEWEST, Spread, spread

# Keys of [problem] that change where cells lie, not which equations are solved; of boxes the cells tell.
LAYOUT = {f"problem.{key}" for key in ("box", "boxes", "boxes_per_rank", "ranks", "placement", "storage", "columns")}
TOLERANCES = {"krylov": "bottom.tolerance", "fixed_point": "anderson.tolerance"}  # by mode; of others multigrid's
SHARED = "; ranks shared cores, so that times mean little"


def interval(one: Spread) -> str:
    low, high = one.bars
    return f"[{digits(low)}-{digits(high)}]"


def bars_of(*spreads: Spread) -> str:
    """The kind of the brackets of these spreads."""
    return "95 % intervals" if all(one.low is not None for one in spreads) else "ranges"


def quotient(numerator: Spread, denominator: Spread) -> str:
    """The quotient of two medians, and the range that their bars leave to it."""
    (low, high), (least, most) = numerator.bars, denominator.bars
    return f"{digits(numerator.median / denominator.median)} times as fast [{digits(low / most)}-{digits(high / least)}]"


def differ(one: Spread, other: Spread) -> bool:
    return one.bars[0] > other.bars[1] or other.bars[0] > one.bars[1]


def different_problems(runs: Sequence[Run]) -> str:
    """The difference between the problems of two runs, as "box 32 and 64"; empty if both solve the same one."""
    mode = runs[0].mode
    asked = {TOLERANCES.get(mode, "multigrid.tolerance"), "run.mode"}
    keys = differing_keys(runs)
    found = [key for key in keys if key in asked or (key.startswith("problem.") and key not in LAYOUT)]
    if runs[0].head.get("cells") != runs[1].head.get("cells"):
        found += [key for key in keys if key in ("problem.box", "problem.boxes")] or ["cells"]
    values = (f"{key.rpartition('.')[2]} " + " and ".join(
        str(run.key(key)) if key != "cells" else "x".join(map(str, run.head.get("cells") or "-")) for run in runs) for key in found)  # fmt: skip
    return ", ".join(values)


def faster(names: Sequence[str], seconds: Sequence[Sequence[float]]) -> tuple[str, bool]:
    """The sentence of two lists of seconds, and whether one is faster."""
    one, other = map(spread, seconds)
    if min(one.count, other.count) == 1:
        return f"one solve has no noise to compare with, no ratio; run.repeats={FEWEST} gives an interval", False
    if not differ(one, other):
        return f"no change: {bars_of(one, other)} overlap", False
    (slow, _), (fast, name) = sorted(((one, names[0]), (other, names[1])), key=lambda both: -both[0].median)
    few = min(one.count, other.count) < FEWEST
    by = f", by ranges of {one.count} and {other.count} solves; {FEWEST} are needed for 95 %" if few else ""
    return f"{name} {quotient(slow, fast)}{by}", True


def of_two(runs: Sequence[Run], names: Sequence[str]) -> tuple[str, bool]:
    """The sentence of two runs, and whether one is faster. Of surveys each solver that both have is compared."""
    if different := different_problems(runs):
        return f"not the same problem: {different}, no ratio", False
    both = [solver for solver in runs[0].solvers() if solver in runs[1].solvers()]
    pairs = [(solver, solver) for solver in both] if len(both) > 1 else [tuple((run.solvers() or [""])[0] for run in runs)]
    found = []
    for pair in pairs:
        seconds = [seconds_of(run.solves(solver)) for run, solver in zip(runs, pair, strict=True)]
        if not all(seconds) or min(map(min, seconds)) <= 0:
            return "no solves in both, no ratio", False
        text, decided = faster(names, seconds)
        found.append((f"{pair[0]}: {text}" if len(pairs) > 1 else text, decided))
    shared = SHARED if any(run.head.get("shared_cores") for run in runs) else ""
    return "; ".join(text for text, _ in found) + shared, any(decided for _, decided in found)

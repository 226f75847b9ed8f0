"""Whether records that were kept are those of this build."""

from collections.abc import Iterator, Sequence

from studies.records import Record

TOLERANCE = 0.05  # for iterations and predicted seconds; between compilers 4 % were seen
RESIDUALS = ("true_residual", "value")  # rounding decides on their digits; of checks the latter
RESIDUAL_FACTOR, NO_RESIDUAL, NO_ACCURACY = 20, 1e-16, 1e-3  # residuals are compared within the factor, and between the bounds
EXACT = ("plan", "scheme", "total")  # kinds whose numbers are counted from plans
COUNTS = ("iterations", "bottom_iterations", "cycles")  # unchanged ones make a record's other counts exact
ROUNDING = 1e-9  # the relative error of counts that are means
OF_THE_RUN = ("schema", "date", "revision", "compiler", "costs")  # costs have an event for each iteration


def differences(kept: Sequence[Record], made: Sequence[Record], tolerance: float = TOLERANCE) -> Iterator[str]:
    """A text for every field of the kept records that the made ones do not have, or not so."""
    if len(kept) != len(made):
        yield f"{len(kept)} records are kept, {len(made)} are made"
        return
    for number, (before, now) in enumerate(zip(kept, made, strict=True)):
        kind = str(before.get("record"))
        where = " ".join(str(before[name]) for name in ("record", "solver", "each", "op", "level", "purpose") if name in before)
        yield from fields(before, now, f"record {number + 1} ({where})", tolerance, kind in EXACT)


def fields(before: object, now: object, where: str, tolerance: float, exact: bool) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        unsolved = before.get("converged") is False and now.get("converged") is False
        chance = ("iterations",) if unsolved else ()
        if counts := [name for name in COUNTS if name in before]:
            exact = not unsolved and all(same(before[name], now.get(name), ROUNDING, False) for name in counts)
        for name, value in before.items():
            if name in OF_THE_RUN or name in chance:
                continue
            if name not in now:
                yield f"{where}: {name} is gone"
            elif name not in RESIDUALS:
                yield from fields(value, now[name], f"{where}: {name}", tolerance, exact)
            elif not same_residual(value, now[name]):
                yield f"{where}: {name}: kept {value}, made {now[name]}"
    elif isinstance(before, list) and isinstance(now, list) and (len(before) == len(now)):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from fields(one, other, f"{where}[{number}]", tolerance, exact)
    elif not same(before, now, tolerance, exact):
        yield f"{where}: kept {before}, made {now}"


def same(before: object, now: object, tolerance: float, exact: bool) -> bool:
    numbers = (int, float)
    if isinstance(before, bool) or not isinstance(before, numbers) or not isinstance(now, numbers) or isinstance(now, bool):
        return before == now
    if exact and isinstance(before, int):
        return before == now
    if exact and whole(before):
        tolerance = ROUNDING
    return abs(before - now) <= tolerance * max(abs(before), abs(now))


def whole(number: float) -> bool:
    """True for an integer other than 0, but for rounding."""
    return abs(number) > 0.5 and min(number % 1, -number % 1) <= ROUNDING


def same_residual(before: object, now: object) -> bool:
    if not isinstance(before, float) or not isinstance(now, float):
        return before == now
    less, more = sorted(min(max(residual, NO_RESIDUAL), NO_ACCURACY) for residual in (before, now))
    return more <= RESIDUAL_FACTOR * less

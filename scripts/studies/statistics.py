"""The median of few measurements, and how well it is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

CONFIDENCE = 0.95
FEWEST = 6  # for five values even the least and the greatest hold the median with 93.75 % only


@dataclass(frozen=True)
class Spread:
    """Statistics of measurements of one quantity."""

    count: int
    median: float
    least: float
    greatest: float
    low: float | None  # the interval that holds the true median with 95 %; None of too few values
    high: float | None

    @property
    def bars(self) -> tuple[float, float]:
        """The bar of a figure around the median: the interval, or, for too few values, all of them."""
        return (self.least, self.greatest) if self.low is None or self.high is None else (self.low, self.high)


def order_of_interval(count: int) -> int | None:
    """k, so that the k-th least and k-th greatest of `count` values hold the median with 95 %; None if no k does.

    Nonparametric: each value is below the median with probability 1/2, whatever the distribution (Hoefler and Belli 2015).
    """
    outside, k = 0.0, 0
    while k < count // 2:
        outside += 2 * comb(count, k) / 2**count
        if outside > 1 - CONFIDENCE:
            break
        k += 1
    return k or None


def spread(values: Sequence[float]) -> Spread:
    ordered = sorted(values)
    k = order_of_interval(len(ordered))
    low, high = (ordered[k - 1], ordered[-k]) if k else (None, None)
    return Spread(len(ordered), median(ordered), ordered[0], ordered[-1], low, high)


def remark(counts: Sequence[int]) -> str:
    """The remark on bars around medians of `count` measurements each; empty if all have an interval."""
    few = [count for count in counts if count < FEWEST]
    if not few:
        return ""
    number = f"{min(few)}" if min(few) == max(few) else f"{min(few)} to {max(few)}"
    every = "" if len(few) == len(counts) else f" {len(few)} of {len(counts)} points:"
    return (f"too few for an interval of 95 %:{every} {number} measurements, {FEWEST} are needed; "
            "bars are least and greatest")  # fmt: skip

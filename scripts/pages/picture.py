"""A page's figure: series of numbers that its expressions make of the records, as lines, bars or points."""

from typing import Any

from pages.page import Page
from studies.evaluate.figures.style import COLOURS, HATCHES, Picture, legend, name_ticks, new, plain_decades, powers_of_two, series
from studies.records import Record


def draw(page: Page, figure: Record) -> Picture:
    drawn, axes = new()
    axis = axes[0][0]
    lines = page.curves(figure)
    if figure["form"] == "lines":
        for number, (label, xs, ys) in enumerate(lines):
            axis.plot(xs, ys, label=label, **series(number))
        if figure.get("log_x"):
            powers_of_two(axis, [x for _, xs, _ in lines for x in xs])
    elif figure["form"] == "scatter":
        scatter(axis, lines, bool(figure.get("log_x")))
    elif figure["form"] == "points":
        points(axis, lines)
    else:
        bars(axis, lines, figure.get("base", 0))
    if figure.get("log_y"):
        axis.set_yscale("log")
        plain_decades(axis.get_yaxis())
        if "base" in figure:  # ratios
            axis.get_yaxis().set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axis.set_ylim(bottom=0)
    axis.set(xlabel=figure["x"], ylabel=figure["y"])
    legend(drawn, axis)
    return Picture(drawn, figure["caption"], figure["kind"])


def bars(axis: Any, lines: list[tuple[str, list[Any], list[float]]], base: float) -> None:
    """Groups of bars, a name of x each."""
    names = named(axis, lines)
    width = 0.8 / len(lines)
    for number, (label, xs, ys) in enumerate(lines):
        left = [names.index(str(x)) - 0.4 + (number + 0.5) * width for x in xs]
        axis.bar(left, [y - base for y in ys], bottom=base, width=width, label=label, color=COLOURS[number % len(COLOURS)], hatch=HATCHES[number % len(HATCHES)],
                 edgecolor="#ffffff80", linewidth=0.4)  # fmt: skip


def points(axis: Any, lines: list[tuple[str, list[Any], list[float]]]) -> None:
    """Columns of marks, a name of x each."""
    names = named(axis, lines)
    for number, (label, xs, ys) in enumerate(lines):
        axis.plot([names.index(str(x)) for x in xs], ys, label=label, **{**series(number), "linestyle": ""})


def scatter(axis: Any, lines: list[tuple[str, list[Any], list[float]]], log_x: bool) -> None:
    """Marks, and a line where x and y are the same."""
    ends = [end(x for _, xs, _ in lines for x in xs) for end in (min, max)]
    axis.plot(ends, ends, color="#808080", linewidth=0.8, label="_equal")
    for number, (label, xs, ys) in enumerate(lines):
        axis.plot(xs, ys, label=label, **{**series(number), "linestyle": ""})
    if log_x:
        axis.set_xscale("log")


def named(axis: Any, lines: list[tuple[str, list[Any], list[float]]]) -> list[str]:
    """The names of all x, in their order, which label the axis."""
    names = list(dict.fromkeys(str(x) for _, xs, _ in lines for x in xs))
    name_ticks(axis, names)
    axis.grid(visible=False, axis="x")
    return names

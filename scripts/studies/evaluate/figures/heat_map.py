"""A sweep of two axes: time, iterations and all-reduces of a solve, or where nothing was timed predicted time or messages."""

from itertools import product
from typing import Any

from studies.define.points import text
from studies.evaluate.figures.style import INK, Nothing, Picture, name_ticks, new
from studies.evaluate.tables import Tables, finest
from studies.markdown import digits

MAPS = (("seconds", 1e3, "ms a solve"), ("iterations", 1, "iterations"), ("reductions", 1, "all-reduces"))


def draw(tables: Tables) -> Picture:
    axes = [axis for axis in tables.axes if axis in tables.variant_keys or axis == "ranks"]
    if tables.written.dry_run and not tables.schemes.empty:
        return of_schemes(tables, axes)
    if len(axes) < 2 or tables.solves.empty:
        raise Nothing
    down, across = axes[-1], axes[-2]
    solves = tables.solves
    # A further axis is shown at its last value.
    shown = {}
    for axis in axes[:-2]:
        shown[axis] = solves[axis].iloc[-1]
        solves = solves[solves[axis] == shown[axis]]
    where = "".join(f"; {axis} = {text(value)}" for axis, value in shown.items())
    order = {
        axis: list(dict.fromkeys(solves_key(point["values"][axis]) for point in tables.written.points))
        for axis in (down, across)
    }
    panels = []
    for column, factor, unit in MAPS:
        if not solves[column].isna().all():
            table = solves.pivot_table(index=down, columns=across, values=column, aggfunc="median", sort=False, observed=True)
            panels.append((factor * table.reindex(index=order[down], columns=order[across]), unit))
    counted = ", and counted iterations and all-reduces," if len(panels) > 1 else ""
    return picture(panels, f"Milliseconds of a solve, median{counted} by {down} and {across}{where}.", "measured")


def solves_key(value: object) -> object:
    """As the tables have the value of an axis."""
    return text(value) if isinstance(value, list) else value


def of_schemes(tables: Tables, axes: list[str]) -> Picture:
    every = finest(tables.schemes)
    if not axes or every.empty:
        raise Nothing
    predicted = every["predicted_seconds"].notna().all()
    column = "predicted_seconds" if predicted else "all_off_node_messages"
    table = every.pivot_table(index="scheme", columns=axes[-1], values=column, aggfunc="median", sort=False, observed=True)
    what = "Predicted microseconds of" if predicted else "Messages between nodes in"
    unit = "µs, predicted" if predicted else "messages between nodes"
    return picture(
        [((1e6 if predicted else 1) * table, unit)],
        f"{what} one exchange of the finest ghosts, by scheme and {axes[-1]}.",
        "predicted",
    )


def picture(panels: list[tuple[Any, str]], caption: str, kind: str) -> Picture:
    """A map a panel, one below the other, each with its unit."""
    rows, columns = panels[0][0].shape
    figure, axes = new(1, len(panels), width=2.2 + 0.95 * columns, height=len(panels) * (1.5 + 0.42 * rows), least=1.5 + 0.55 * columns)
    for axis, (table, unit) in zip(axes[:, 0], panels, strict=True):
        draw_map(axis, table)
        axis.set_title(unit, loc="left", fontsize=9)
    return Picture(figure, caption, kind)


def draw_map(axis: Any, table: Any) -> None:
    low, high = table.min().min(), table.max().max()
    same = low == high  # then in the middle of the colours
    axis.imshow(table.astype(float), cmap="cividis", aspect="auto", vmin=low - same, vmax=high + same)
    axis.grid(visible=False)
    name_ticks(axis, [text(value) for value in table.columns])
    axis.set_yticks(range(table.shape[0]), [text(value) for value in table.index])
    axis.set(xlabel=table.columns.name, ylabel=table.index.name)
    for row, column in product(*map(range, table.shape)):
        value = table.iloc[row, column]
        shown = "failed" if value != value else digits(float(value)) if value % 1 else f"{value:.0f}"
        ink = INK if value != value else "#ffffff" if value < (low + high) / 2 else "#000000"
        axis.text(column, row, shown, ha="center", va="center", fontsize=9, color=ink)

"""A sweep of two axes: the median time of a solve, or where nothing was timed the predicted time or the messages between nodes."""

from studies.define.points import text
from studies.evaluate.figures.style import INK, Nothing, Picture, new
from studies.evaluate.scaling import digits
from studies.evaluate.tables import Tables, finest


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
    table = solves.pivot_table(index=down, columns=across, values="seconds", aggfunc="median", sort=False, observed=True)
    where = "".join(f"; {axis} = {text(value)}" for axis, value in shown.items())
    order = {
        axis: list(dict.fromkeys(solves_key(point["values"][axis]) for point in tables.written.points))
        for axis in (down, across)
    }
    table = table.reindex(index=order[down], columns=order[across])
    return picture(1e3 * table, f"Milliseconds of a solve, median, by {down} and {across}{where}.", "ms a solve", "measured")


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
    unit = "us, predicted" if predicted else "messages between nodes"
    return picture(
        (1e6 if predicted else 1) * table,
        f"{what} one exchange of the finest ghosts, by scheme and {axes[-1]}.",
        unit,
        "predicted",
    )


def picture(table: object, caption: str, unit: str, kind: str) -> Picture:
    rows, columns = table.shape  # type: ignore[attr-defined]
    figure, ((axis,),) = new(width=2.8 + 0.95 * columns, height=1.5 + 0.42 * rows)
    image = axis.imshow(table, cmap="cividis", aspect="auto")
    axis.grid(visible=False)
    axis.set_xticks(range(columns), [text(value) for value in table.columns])  # type: ignore[attr-defined]
    axis.set_yticks(range(rows), [text(value) for value in table.index])  # type: ignore[attr-defined]
    axis.set(xlabel=table.columns.name, ylabel=table.index.name)  # type: ignore[attr-defined]
    middle = (image.norm.vmin + image.norm.vmax) / 2
    for row in range(rows):
        for column in range(columns):
            value = table.iloc[row, column]  # type: ignore[attr-defined]
            shown = "failed" if value != value else digits(float(value))
            ink = INK if value != value else "#ffffff" if value < middle else "#000000"
            axis.text(column, row, shown, ha="center", va="center", fontsize=9, color=ink)
    figure.colorbar(image, ax=axis, label=unit)
    return Picture(figure, caption, kind)

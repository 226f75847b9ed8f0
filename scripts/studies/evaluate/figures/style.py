"""The style of all figures: colours that the colour-blind can tell apart, marks beside colours, ink that is the page's."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from studies.needs import missing

try:
    import matplotlib
except ModuleNotFoundError:
    raise missing("matplotlib", "draws the figures") from None

from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator  # noqa: E402

# Okabe and Ito's, without black and yellow, which vanish on a dark or a white page.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C6BB1", "#7F7F7F"]
MARKS = ["o", "s", "^", "D", "v", "P", "X"]  # one less than colours, so that the ninth line is no second first
DASHES = ["-", "--", "-.", ":"]
HATCHES = ["", "//", "", "\\\\", "", "xx", "", "//"]  # dots would make files ten times as large
INK = "#1f2328"  # in the SVG it becomes currentColor, that of the text around
MOST_SERIES = 12  # no reader distinguishes more lines
FORMATS = ("svg", "pdf", "png")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PHONE = 3.7  # inches that the text of a page has on a phone of 390 pixels


class Nothing(Exception):
    """The study has nothing that this figure shows."""


@dataclass(frozen=True)
class Picture:
    figure: Figure
    caption: str
    kind: str  # measured, counted, predicted
    remark: str = ""

    def saved(self, form: str) -> bytes:
        """The figure alone, on white unless it is SVG, for one of FORMATS."""
        if form == "svg":
            return self.svg().encode()
        out = io.BytesIO()
        undated = {"CreationDate": None} if form == "pdf" else {}
        self.figure.savefig(out, format=form, dpi=200, metadata=undated)
        return out.getvalue()

    def svg(self, salt: str = "keel") -> str:
        """For a white and for a dark page: text and axes have the colour of the text around; alone, that of the reader's choice.
        Two versions of one figure on a page need two salts, since a browser draws nothing from the hidden one."""
        out = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": salt}):
            self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        drawn = out.getvalue()
        drawn = drawn[drawn.index("<svg") :].replace(INK, "currentColor")
        style = "<style>svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}</style>"
        drawn = re.sub(r"<metadata>.*?</metadata>\s*", "", drawn, flags=re.DOTALL)
        return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + style, drawn, count=1)


class Page:
    """The kind of page that figures are drawn for."""

    phone = False


@contextmanager
def on_a_phone() -> Iterator[None]:
    """Figures drawn meanwhile are as wide as a phone, their panels below each other, so that their text keeps its size."""
    Page.phone = True
    try:
        yield
    finally:
        Page.phone = False


def new(
    columns: int = 1, rows: int = 1, width: float = 7.0, height: float = 3.6, least: float = 0, **more: Any
) -> tuple[Any, Any]:
    """A figure and its axes by row and column; on a phone it is no wider than that, or than `least`."""
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "pdf.fonttype": 42,
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Arial"],
        "font.size": 10, "axes.edgecolor": INK, "axes.labelcolor": INK,
        "xtick.color": INK, "ytick.color": INK, "text.color": INK, "axes.titlecolor": INK, "legend.frameon": False,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#8a8a8a", "grid.alpha": 0.3,
        "lines.linewidth": 1.6, "lines.markersize": 5.5, "axes.titlesize": 10, "legend.fontsize": 9, "hatch.linewidth": 0.6,
    })  # fmt: skip
    down, across = rows, columns
    if Page.phone:
        down, across, width, height = rows * columns, 1, min(width, max(PHONE, least)), height * (0.85 * columns if columns > 1 else 1)
        more.pop("sharex", None)  # panels of one column are of different things now
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, **more).reshape(rows, columns)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return figure, axes


def series(number: int) -> dict[str, Any]:
    # Marks get smaller, so that of lines upon each other all can be seen.
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKS[number % len(MARKS)],
        "linestyle": DASHES[number % len(DASHES)],
        "markersize": max(4.0, 9.0 - 1.2 * number),
    }


def powers_of_two(axis: Any, values: list[int]) -> None:
    """The numbers that there are, such as those of ranks, on a logarithmic axis."""
    axis.set_xscale("log", base=2)
    ticks = sorted(set(values))
    axis.set_xticks(ticks[:: 1 + len(ticks) // 8] if Page.phone else ticks)
    axis.get_xaxis().set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value < 1 else f"{value:.0f}"))
    axis.get_xaxis().set_minor_locator(NullLocator())


def whole_numbers(axis: Any) -> None:
    """Ticks of counts: no halves."""
    axis.set_major_locator(MaxNLocator("auto", integer=True))


def name_ticks(axis: Any, names: list[str]) -> None:
    """Names along x, slanted where they would run into each other."""
    slanted = max(map(len, names)) * len(names) > 8.6 * axis.figure.get_size_inches()[0]
    axis.set_xticks(range(len(names)), names, rotation=30 if slanted else 0, ha="right" if slanted else "center")


def plain(value: float) -> str:
    """As 0.02, 10⁻⁵ or 2·10⁻⁵, with a minus sign."""
    digits, _, power = f"{value:g}".partition("e")
    raised = f"10{str(int(power)).translate(RAISED)}" if power else ""
    return raised if digits == "1" and power else "·".join(filter(None, (digits.replace("-", "−"), raised)))


def plain_decades(*axes: Any) -> None:
    """Numbers of logarithmic axes, x or y, without small raised digits; where they are short between the decades, too."""
    for axis in axes:
        low, high = axis.get_view_interval()
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        between = FuncFormatter(lambda value, _: plain(value) if f"{value:.0e}"[0] in "25" else "")
        axis.set_minor_formatter(between if high < 30 * low else NullFormatter())


def label_y(axes: Any, text: str) -> None:
    """Labels the first of each row of panels, or all where they are below each other."""
    for axis in axes.flat if Page.phone else axes[:, 0]:
        axis.set_ylabel(text)


def left_out(every: Sequence[str], most: int, what: str = "variants") -> str:
    """The end of a caption where only the first `most` have a panel."""
    return f" Of {len(every)} {what} the first {most} are shown." if len(every) > most else ""


def legend(figure: Any, *axes: Any) -> None:
    """Below the axes, where it covers nothing; the figure grows by it. A label of several panels is listed once."""
    found = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    labels = list(found)
    if len(labels) < 2:
        return
    columns = max(1, int(figure.get_size_inches()[0] * 13 / (max(map(len, labels)) + 7)))
    columns = -(-len(labels) // -(-len(labels) // columns))  # rows of even length
    inches = 0.22 * -(-len(labels) // columns) + 0.1
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + inches)
    share = inches / (height + inches)
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    figure.legend(list(found.values()), labels, loc="lower center", ncol=columns)

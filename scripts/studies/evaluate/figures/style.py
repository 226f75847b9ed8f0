"""The style of all figures: colours that the colour-blind can tell apart, marks beside colours, ink that is the page's."""

import io
import re
from dataclasses import dataclass
from typing import Any

from studies.needs import missing

try:
    import matplotlib
except ModuleNotFoundError:
    raise missing("matplotlib", "draws the figures") from None

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator  # noqa: E402

# Okabe and Ito's, without black and yellow, which vanish on a dark or a white page.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C6BB1", "#7F7F7F"]
MARKS = ["o", "s", "^", "D", "v", "P", "X"]  # one less than colours, so that the ninth line is no second first
DASHES = ["-", "--", "-.", ":"]
HATCHES = ["", "//", "", "\\\\", "", "xx", "", "//"]  # dots would make files ten times as large
INK = "#1f2328"  # in the SVG it becomes currentColor, that of the text around
MOST_SERIES = 12  # more lines than that nobody tells apart


class Nothing(Exception):
    """The study has nothing that this figure shows."""


@dataclass(frozen=True)
class Picture:
    figure: Any  # matplotlib.figure.Figure
    caption: str
    kind: str  # measured, counted, predicted
    remark: str = ""

    def svg(self) -> str:
        """For a white and for a dark page: text and axes have the colour of the text around; alone, that of the reader's choice."""
        out = io.StringIO()
        self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        pyplot.close(self.figure)
        drawn = out.getvalue()
        drawn = drawn[drawn.index("<svg") :].replace(INK, "currentColor")
        style = "<style>svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}</style>"
        drawn = re.sub(r"<metadata>.*?</metadata>\s*", "", drawn, flags=re.DOTALL)
        return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + style, drawn, count=1)


def new(columns: int = 1, rows: int = 1, width: float = 7.0, height: float = 3.6, **more: Any) -> tuple[Any, Any]:
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "keel", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Arial"],
        "font.size": 10, "axes.edgecolor": INK, "axes.labelcolor": INK,
        "xtick.color": INK, "ytick.color": INK, "text.color": INK, "axes.titlecolor": INK, "legend.frameon": False,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#8a8a8a", "grid.alpha": 0.3,
        "lines.linewidth": 1.6, "lines.markersize": 5.5, "axes.titlesize": 10, "legend.fontsize": 9, "hatch.linewidth": 0.6,
    })  # fmt: skip
    figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False, **more)
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
    axis.set_xticks(sorted(set(values)))
    axis.get_xaxis().set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value < 1 else f"{value:.0f}"))
    axis.get_xaxis().set_minor_locator(NullLocator())


def plain_decades(axis: Any) -> None:
    """Numbers of a logarithmic axis as 0.02, not as powers, where it is short."""
    low, high = axis.get_ylim()
    if high < 30 * low:
        axis.get_yaxis().set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.get_yaxis().set_minor_formatter(
            FuncFormatter(lambda value, _: f"{value:g}" if f"{value:.0e}"[0] in "25" else "")
        )
    else:
        axis.get_yaxis().set_minor_formatter(NullFormatter())


def legend(figure: Any, axis: Any) -> None:
    """Below the axes, where it covers nothing; the figure grows by it."""
    handles, labels = axis.get_legend_handles_labels()
    if len(labels) < 2:
        return
    columns = max(1, int(figure.get_size_inches()[0] * 13 / (max(map(len, labels)) + 7)))
    columns = -(-len(labels) // -(-len(labels) // columns))  # rows of even length
    inches = 0.22 * -(-len(labels) // columns) + 0.1
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + inches)
    share = inches / (height + inches)
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    figure.legend(handles, labels, loc="lower center", ncol=columns)

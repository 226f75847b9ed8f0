"""Tables in Markdown, and numbers in them."""

import re
from collections.abc import Iterable, Sequence

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")  # line ends, and letters that a terminal obeys


def cell(text: str) -> str:
    """The text on one line, its bars as letters."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", CONTROL.sub(" ", text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[cell(text) for text in row] for row in (head, ["---"] * len(head), *rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def digits(value: float | None) -> str:
    """Three of them, as 0.400, 40.0, 400, 4000."""
    if value is None:
        return "-"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:#.3g}".rstrip(".")

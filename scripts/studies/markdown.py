"""Tables in Markdown and for a terminal, and numbers in them."""

import re
from collections.abc import Iterable, Sequence

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")  # line ends, and letters that a terminal obeys


def cell(text: str) -> str:
    """The text on one line, its bars as letters."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", CONTROL.sub(" ", text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[cell(text) for text in row] for row in (head, ["---"] * len(head), *rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def broken(name: str, width: int) -> list[str]:
    """The lines of a head: it is broken at spaces, and behind the dots of keys."""
    lines = [""]
    for word in re.split(r"(?<= )|(?<=\.)(?=[a-z])", name):
        if lines[-1] and len(lines[-1] + word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], most: int = 100) -> str:
    """For a terminal: columns of equal width, heads over several lines, lines of at most `most` characters. Columns that have no
    place stand in a further table, behind the first column again; a longer cell is cut, with a mark."""
    longest = most // 3

    def fitted(text: str) -> str:
        text = CONTROL.sub(" ", text)
        return text if len(text) <= longest else f"{text[: longest - 3]}..."

    body = [[fitted(text) for text in row] for row in rows]
    heads = [fitted(text) for text in head]
    widths = [max(1, *map(len, broken(name, 1)), *(len(row[n]) for row in body)) for n, name in enumerate(heads)]
    blocks: list[list[int]] = []
    for n in range(len(heads)):
        if blocks and sum(widths[m] + 2 for m in [*blocks[-1], n]) - 2 <= most:
            blocks[-1].append(n)
        else:
            blocks.append([0, n] if n else [0])
    told = []
    for block in blocks:
        names = [broken(heads[n], widths[n]) for n in block]
        deep = max(map(len, names))
        lines = [[([""] * (deep - len(name)) + name)[line] for name in names] for line in range(deep)]
        lines += [[row[n] for n in block] for row in body]
        told.append("".join("  ".join(text.ljust(widths[n]) for n, text in zip(block, line, strict=True)).rstrip() + "\n" for line in lines))
    return "\n".join(told)


def digits(value: float | None) -> str:
    """Three of them, as 0.400, 40.0, 400, 4000."""
    if value is None:
        return "-"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:#.3g}".rstrip(".")

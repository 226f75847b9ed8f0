"""Compares the messages of two machines by their files: a page with time and bandwidth by size and class, ratios and a sentence.

A machine is a name of inputs/machines, or a file that run.mode = network has written. The files have no noise: a ratio near 1 decides
nothing. The page is A_and_B.html in this folder unless --output names another place; nothing is overwritten.
"""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from studies.define.platforms import find
from studies.layout import named
from studies.machines import CLASSES, Messages, read_messages
from studies.markdown import digits
from studies.records import short_names

SMALL, LARGE = 8, 2**20  # bytes
HEAD = ["", "quantity"]


def both_have(machines: Sequence[Messages]) -> list[str]:
    return [name for name in CLASSES if all(name in one.classes for one in machines)]


def sentence(machines: Sequence[Messages]) -> str:
    """The answer: how the costs of a short and of a long message compare over the longest way that both files have."""
    shared = both_have(machines)
    if not shared:
        return "the files have no class of messages in common, no ratio"
    name = shared[-1]
    told = []
    for size, what in ((SMALL, f"{SMALL} bytes"), (LARGE, "1 MiB")):
        one, other = (machine.seconds(name, size) for machine in machines)
        fast, ratio = (machines[1], one / other) if other <= one else (machines[0], other / one)
        same = f"{ratio:.2f}" == "1.00"
        told.append(f"{what} take {digits(1e6 * one)} and {digits(1e6 * other)} us, "
                    + ("no difference" if same else f"{fast.name} is {ratio:.2f} times as fast"))  # fmt: skip
    return f"{CLASSES[name]}, on {machines[0].name} and {machines[1].name}, {'; '.join(told)}"


def rows(machines: Sequence[Messages]) -> list[list[str]]:
    """Latency and bandwidth of each class by protocol, then the other rates; the ratio is the first machine's over the second's."""
    found: list[tuple[str, str, list[float | None], float, bool]] = []
    for name in CLASSES:
        for protocol in dict.fromkeys(key for one in machines for key in one.classes.get(name, {})):
            costs = [one.classes.get(name, {}).get(protocol) for one in machines]
            found.append((CLASSES[name], f"{protocol}: alpha, us", [cost and cost[0] for cost in costs], 1e6, False))
            found.append((CLASSES[name], f"{protocol}: GB/s", [cost and cost[1] for cost in costs], 1e-9, True))
    for what in dict.fromkeys(key for one in machines for key in one.others):
        rate = "all-reduce" not in what
        found.append(("machine", f"{what}, {'GB/s' if rate else 'us'}", [one.others.get(what) for one in machines], 1e-9 if rate else 1e6, rate))
    table = []
    for where, what, values, unit, inverse in found:
        shown = [None if value is None else unit / value if inverse else unit * value for value in values]
        ratio = "-" if None in shown or not shown[1] else f"{shown[0] / shown[1]:.2f}"  # type: ignore[operator]
        table.append([where, what, *map(digits, shown), ratio])
    return table


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("machines", nargs=2, metavar="MACHINE", help="a name of inputs/machines, or a file.toml")
    parser.add_argument("--output", type=Path, metavar="PAGE.html")
    parser.add_argument("--figures", default="", metavar="FORMS", help="of svg, pdf, png; with commas between them")


def act(options: argparse.Namespace) -> int:
    paths = [find(word, "machines") for word in options.machines]
    machines = [replace(read_messages(path), name=name) for path, name in zip(paths, short_names(paths), strict=True)]
    # Only here, since matplotlib takes a second to load, and is not everywhere.
    from studies.evaluate.figures import drawn
    from studies.evaluate.figures.network import panels
    from studies.evaluate.page import forms_of, html_table, write_figures, write_page

    figures = [drawn(name, panels(machines, bandwidth), lambda bandwidth=bandwidth: panels(machines, bandwidth))
               for name, bandwidth in (("latency", False), ("bandwidth", True))]  # fmt: skip
    names = [one.name for one in machines]
    page = options.output or Path("_and_".join(path.stem for path in paths) + ".html")
    made = write_figures(page.with_name(f"{page.stem}_figures"), figures, forms_of(options.figures))
    answer = sentence(machines)
    made.append(write_page(page, "network.html.j2", figures, title=" and ".join(names), answer=answer, warnings=[],
                           ratios=html_table([*HEAD, *names, f"{names[0]} / {names[1]}"], rows(machines)),
                           command=shlex.join([named("scripts/report"), "network", *options.machines])))  # fmt: skip
    print(answer)
    print("\n".join(f"wrote {path}" for path in made))
    return 0

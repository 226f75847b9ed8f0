"""One page: a folder of results/ with page.toml (runs and figures), README.md.j2 (a Jinja template) and the records of its runs.

page.toml has any number of

    [[run]]
    name = "hopper.512"       # its records lie in hopper.512.json
    kind = "predicted"        # or counted, measured, simulated
    command = "--dry-run inputs/papers/seed_weak.toml problem.ranks=512"   # words behind keel, from the root of the sources
    by = "scripts/study run ..."     # in place of command: what made records that no single start of keel makes
    paper = "weak_times"      # in place of command: a figure of scripts/papers; its numbers are the records, weak_times.svg is drawn with them
    keep = ["solve"]          # the kinds of records that stay; all of them if it is not there
    fields = ["solver", "moved.bytes"]   # the fields kept of these records, besides their kind; all but LARGE if it is not there
    sums = ["bytes_moved"]    # timers become one record with the sums of these fields
    ranks = 1                 # processes that mpiexec starts; 0, the default: keel alone
    hosts = 4                 # measured on this number of hosts of scripts/hosts; its records are medians beside predictions
    network = ["--delay 1ms"] # words of scripts/hosts set; a start for each
    nightly = false           # true: too long for the quick check
    may_fail = false          # true: records of an invalid run count, too
    tolerance = 0.05          # relative difference that --check allows where counts are not exact
    solvers = ["ca_cg s=4"]   # a start for each, as in run.survey; its records get a field `each`, the entry
    concurrency = [0, 0.5, 1] # a start for each, on comm.machine with this concurrency; its records get a field `concurrency`
    [run.each]                # a start for each, with these words more; its records get a field `each`, the name
    cg = "bottom.solver=cg"
    ca_cg = "bottom.solver=ca_cg"

    [names]                   # values that expressions and the template use by name
    all = ["hopper.64", "hopper.512"]

    [[figure]]
    file = "speed_up.svg"
    kind = "predicted"        # said below the picture, with the caption
    caption = "..."
    form = "lines"            # or scatter (marks, and where x = y), bars or points, whose x are names
    x = "ranks"               # labels of the axes
    y = "speed-up"
    log_x = true              # not of bars and points, as log_y is
    base = 1.0                # bars begin there; 0 by default
    series = [{label = "...", x = "EXPRESSION", y = "EXPRESSION"}]  # lists, by Jinja's expressions, with the template's names
"""

import hashlib
import json
import re
import shlex
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from pages.compare import TOLERANCE
from studies.define.checked_toml import CheckedToml, Key, Place, Refused
from studies.define.points import words_of
from studies.needs import missing
from studies.records import Record, UnreadableRecords, read_runs

try:
    import jinja2
except ModuleNotFoundError:
    raise missing("jinja2", "fills in the pages") from None

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
FUNCTIONS = ("of", "value", "values", "least", "ratios", "sums", "crossing", "verdict", *jinja2.defaults.DEFAULT_NAMESPACE)  # for expressions
MISTAKES = (jinja2.TemplateError, LookupError, ValueError, TypeError, ZeroDivisionError)  # made in expressions
LARGE = ("costs",)  # fields that stay only if `fields` names them
KINDS = ("counted", "predicted", "simulated", "measured")
RUN = {
    "name": Key(str, "file of the records, without .json", needed=True),
    "kind": Key(str, "what its numbers are", KINDS, needed=True),
    "command": Key(str, "words behind keel"),
    "by": Key(str, "what made records that no single start of keel makes"),
    "paper": Key(str, "figure of scripts/papers"),
    "each": Key(dict, "more words of a start each, by name"),
    "keep": Key(list, "kinds of records that stay"),
    "fields": Key(list, "fields that stay"),
    "sums": Key(list, "fields of timers that are summed"),
    "ranks": Key(int, "processes", least=0),
    "hosts": Key(int, "hosts of scripts/hosts", least=2),
    "network": Key(list, "words of scripts/hosts set, a start for each"),
    "nightly": Key(bool, "too long for the quick check"),
    "may_fail": Key(bool, "records of an invalid run count, too"),
    "tolerance": Key(float, "relative difference that --check allows"),
    "solvers": Key(list, "bottom solvers, a start for each"),
    "concurrency": Key(list, "values of the machine's concurrency, a start for each"),
}
FIGURE = {
    "file": Key(str, "file of the picture, which ends in .svg", needed=True),
    "kind": Key(str, "what its numbers are", KINDS, needed=True),
    "caption": Key(str, "its content, a sentence", needed=True),
    "form": Key(str, "its marks", ("lines", "scatter", "bars", "points"), needed=True),
    "x": Key(str, "label of the axis", needed=True),
    "y": Key(str, "label of the axis", needed=True),
    "log_x": Key(bool, "logarithmic axis"),
    "log_y": Key(bool, "logarithmic axis"),
    "base": Key(float, "where bars begin"),
    "series": Key(list, "tables of label, x and y", needed=True),
}
SERIES = {
    "label": Key(str, "its name in the legend", needed=True),
    "x": Key(str, "expression of a list", needed=True),
    "y": Key(str, "expression of a list", needed=True),
}


@dataclass(frozen=True)
class PageRun:
    """One start of keel, or one for each of several words, or what something else measured or simulated."""

    name: str
    kind: str
    command: str = ""
    by: str = ""
    paper: str = ""
    each: dict[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    ranks: int = 0
    hosts: int = 0
    network: tuple[str, ...] = ()
    nightly: bool = False
    may_fail: bool = False
    tolerance: float = TOLERANCE
    solvers: tuple[str, ...] = ()
    concurrency: tuple[float, ...] = ()

    def starts(self) -> Iterator[tuple[str, list[str]]]:
        """The name of each start and its words behind keel."""
        of_solvers = {solver: shlex.join(words_of("bottom.solver", solver)) for solver in self.solvers}
        for name, words in (of_solvers | self.each or {"": ""}).items():
            yield name, shlex.split(f"{self.command} {words}")

    def kept(self, records: list[Record], each: str = "") -> list[Record]:
        """The part of a start's records that the page keeps."""
        of_kinds = [record for record in records if not self.keep or record["record"] in self.keep]
        named = {"each": each} if each else {}
        if self.sums:
            timers = [record for record in records if record["record"] == "timer"]
            of_kinds = [record for record in of_kinds if record["record"] != "timer"]
            of_kinds.append({"record": "timer", **{name: sum(one[name] for one in timers) for name in self.sums}})
        every = [{name: value for name, value in record.items() if name not in LARGE} for record in of_kinds]
        fields = ("record", *self.fields, *self.sums)
        return [{**one, **named} for one in ([part_of(record, fields) for record in of_kinds] if self.fields else every)]


@dataclass(frozen=True)
class Page:
    """A folder with page.toml."""

    folder: Path
    runs: tuple[PageRun, ...]
    figures: tuple[Record, ...]
    names: Record  # values of [names]: files of records, numbers of ranks

    def path(self, run: PageRun) -> Path:
        return self.folder / f"{run.name}.json"

    def drawn(self, run: PageRun) -> Path:
        """The picture of a run with `paper`."""
        return self.folder / f"{run.paper}.svg"

    def records(self, name: str) -> list[Record]:
        """The kept records of a run."""
        return whole_records(self.folder / f"{name}.json")

    @cached_property
    def environment(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(self.folder),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals.update(self.names, of=self.of, value=self.value, values=self.values, least=self.least)
        environment.globals.update(ratios=ratios, sums=sums, crossing=crossing, verdict=verdict)
        environment.filters.update(f=fixed, pct=percent)
        return environment

    def of(self, name: str, kind: str) -> list[Record]:
        """The records of one kind."""
        return [record for record in self.records(name) if record["record"] == kind]

    def value(self, name: str, path: str, kind: str = "solve", **fields: Any) -> Any:
        """The value at a path, such as "delayed.1.seconds", of the first record of this kind that has these fields."""
        for record in self.of(name, kind):
            if all(record.get(field) == wanted for field, wanted in fields.items()):
                return at(record, path)
        raise Refused(f"{self.folder / name}.json: no {kind} with {fields}")

    def least(self, name: str, path: str, kind: str = "solve", **fields: Any) -> Any:
        """The least of what lies at a path of the records of one kind; a field may be one of several."""
        wanted = {field: one if isinstance(one, list) else [one] for field, one in fields.items()}
        found = [at(one, path) for one in self.of(name, kind) if all(one.get(field) in some for field, some in wanted.items())]
        if not found:
            raise Refused(f"{self.folder / name}.json: no {kind} with {fields}")
        return min(found)

    def values(self, names: Sequence[str], path: str, kind: str = "solve", **fields: Any) -> list[Any]:
        """The same of several files."""
        return [self.value(name, path, kind, **fields) for name in names]

    def text(self) -> str:
        """The README that its template and records make."""
        path = self.folder / "README.md.j2"
        try:
            return with_captions(self.environment.get_template(path.name).render())
        except MISTAKES as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
            where = f":{frames[-1].lineno}: {frames[-1].line}" if frames else ""
            raise Refused(f"{path}{where}: {type(error).__name__}: {error}") from None

    def evaluated(self, expression: str) -> list[Any]:
        """The list that an expression of a figure makes."""
        try:
            found = list(self.environment.compile_expression(expression, undefined_to_none=False)())
            json.dumps(found)  # a TypeError, if one of its values is undefined
        except MISTAKES as error:
            raise Refused(f"{self.folder / 'page.toml'}: {expression}: {type(error).__name__}: {error}") from None
        return found

    def curves(self, figure: Record) -> list[tuple[str, list[Any], list[Any]]]:
        """The label, x and y of each series of a figure."""
        found = [(one["label"], self.evaluated(one["x"]), self.evaluated(one["y"])) for one in figure["series"]]
        for label, xs, ys in found:
            if len(xs) != len(ys):
                where = f"{self.folder / 'page.toml'}: {figure['file']}"
                raise Refused(f"{where}: {label} has {len(xs)} x and {len(ys)} y; it wants a y for each x")
        return found

    def mark(self, figure: Record) -> str:
        """The last line of a figure's file."""
        return mark_of({**figure, "series": self.curves(figure)})


def with_captions(markdown: str) -> str:
    """The same with a figure's text, which browsers hide, below each figure."""

    def with_caption(figure: re.Match[str]) -> str:
        text = figure[1]
        return f"{figure[0]}\n\n*{text[:1].upper()}{text[1:]}.*"

    return re.sub(r"^!\[(.+)\]\(\S+\.svg\)$", with_caption, markdown, flags=re.MULTILINE)


def mark_of(shown: object) -> str:
    """A comment for the end of an SVG: a digest of what the picture shows. The last digits of floats, which may
    differ between versions of Python, do not count."""
    short = json.loads(json.dumps(shown), parse_float=lambda text: f"{float(text):.10g}")
    return f"<!-- digest {hashlib.sha256(json.dumps(short, sort_keys=True).encode()).hexdigest()[:16]} -->\n"


def whole_records(path: Path) -> list[Record]:
    """The records of a file without damaged lines."""
    runs = read_runs(path)
    if damage := [line for run in runs for line in run.damage]:
        raise UnreadableRecords("\n".join(f"{line}; records are the JSON lines of output.json=FILE" for line in damage))
    return [record for run in runs for record in run.records]


def part_of(record: Record, paths: Sequence[str]) -> Record:
    """The fields at these paths, such as "moved.bytes", that there are."""
    part: Record = {}
    for path in paths:
        name, _, rest = path.partition(".")
        if name in record:
            part[name] = {**part.get(name, {}), **part_of(record[name], [rest])} if rest else record[name]
    return part


def at(record: Record, path: str) -> Any:
    found: Any = record
    for step in path.split("."):
        found = found[int(step) if isinstance(found, list) else step]
    return found


def ratios(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(ones, others, strict=True)]


def sums(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one + other for one, other in zip(ones, others, strict=True)]


def crossing(xs: Sequence[float], ys: Sequence[float], level: float) -> float:
    """The x at which a falling curve, lines between its points, has this level."""
    (x, y), (after, below) = [pair for pair in pairwise(zip(xs, ys, strict=True)) if pair[0][1] >= level > pair[1][1]][0]
    return x + (after - x) * (y - level) / (y - below)


def verdict(conditions: Sequence[bool]) -> str:
    """A claim as a table has it, which has these parts."""
    held = sum(map(bool, conditions))
    return "yes" if held == len(conditions) else f"{held} of {len(conditions)}" if held else "no"


def fixed(value: float, digits: int = 2) -> str:
    return f"{value:,.{digits}f}"


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def read_page(folder: Path) -> Page:
    """Refuses what is wrong in page.toml, all at once, with file:line."""
    file = CheckedToml(folder / "page.toml")
    tables = {"run": Key(list, "runs"), "figure": Key(list, "figures"), "names": Key(dict, "what expressions call by a name")}
    file.check(file.values, (), tables, "a page")
    runs = checked_tables(file, file.values, (), "run", RUN)
    for number, run in enumerate(runs):
        if "name" in run and run["name"] in (other.get("name") for other in runs[:number]):
            file.refuse(("run", number), f'run.name = "{run["name"]}": another run has this name; each wants its own')
        by_keel = run.get("kind") in ("counted", "predicted")
        starts = [f"{run.get('command')} {more}" for more in dict(run.get("each") or {"": ""}).values()]
        if "concurrency" in run and any(start.count("comm.machine=") != 1 for start in starts):
            file.refuse(("run", number, "concurrency"), "run.concurrency: wants one comm.machine=NAME in each start")
        if sum(name in run for name in ("command", "by", "paper")) != 1 or ("by" in run and by_keel):
            file.refuse(("run", number), "run: wants command, or paper, or by if it is measured or simulated")
    figures = checked_tables(file, file.values, (), "figure", FIGURE)
    for number, figure in enumerate(figures):
        checked_tables(file, figure, ("figure", number), "series", SERIES)
        if figure.get("series") == []:
            file.refuse(("figure", number, "series"), "figure.series: wants at least one table of label, x and y")
        if "log_x" in figure and figure.get("form") not in ("lines", "scatter"):
            file.refuse(("figure", number, "log_x"), 'figure.log_x: wants form = "lines" or "scatter"; x of bars and points are names')
    names = file.values.get("names", {})
    for name in FUNCTIONS:
        if isinstance(names, dict) and name in names:
            file.refuse(("names", name), f"names.{name}: this is a function of expressions; choose another name")
    file.done()
    made = [PageRun(**{name: tuple(value) if isinstance(value, list) else value for name, value in run.items()}) for run in runs]
    return Page(folder, tuple(made), tuple(figures), names)


def checked_tables(file: CheckedToml, table: Record, place: Place, name: str, keys: dict[str, Key]) -> list[Record]:
    """The array of tables of this name, each of which is checked."""
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        file.refuse((*place, name), f"{name}: wants an array of tables of {', '.join(keys)}")
        return []
    for number, one in enumerate(found):
        file.check(one, (*place, name, number), keys, f"a {name}")
    return found


def all_pages(results: Path = RESULTS) -> Iterator[Page]:
    for path in sorted(results.glob("*/page.toml")):
        yield read_page(path.parent)


def lines_of(records: list[Record]) -> str:
    """Records as a file has them."""
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)

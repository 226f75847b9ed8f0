"""The command scripts/results: its words, its messages and its exit status."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pages.compare import differences
from pages.latency import Hosts
from pages.page import RESULTS, ROOT, Page, PageRun, all_pages, lines_of, mark_of, whole_records
from studies.define.checked_toml import Refused
from studies.execute.keel import find_keel, mpiexec_of
from studies.records import Record, UnreadableRecords

if TYPE_CHECKING:
    from papers.points import Made

ABOUT = """Makes the pages of results/ again: the counted and predicted records of their runs, and from these README.md and figures.

    scripts/results [NAME ...]            makes runs, READMEs and figures of these pages, or of all, again
    scripts/results --render [NAME ...]   READMEs and figures alone, from the records that are there
    scripts/results --check [NAME ...]    changes nothing; fails if a README or a figure is not that of its
                                          records, or records are not this build's: counts of plans differ,
                                          iterations or predicted seconds by more than 5 %

Measured and simulated records stay as they are; with --measured, measured ones of one start are made again,
too. Figures of papers are drawn with their runs, not by --render. Exit status: 0 all is well, 1 a check failed,
2 refused."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="scripts/results", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("names", nargs="*", metavar="NAME", help="folders of results/; by default all with a page.toml")
    made.add_argument("--render", action="store_true", help="make no runs")
    made.add_argument("--check", action="store_true", help="compare, and change nothing")
    made.add_argument("--nightly", action="store_true", help="also runs that take long; without --check they always are made")
    made.add_argument("--measured", action="store_true", help="make measured records again, too")
    made.add_argument("--keel", help="executable; by default $KEEL, the release build, or that of PATH")
    made.add_argument("--results", type=Path, default=RESULTS, help="folder of the pages; by default results/")
    made.add_argument("--png", action="store_true", help="figures as PNG as well, to look at")
    return made


def made_records(run: PageRun, keel: Path) -> list[Record]:
    """Starts keel; returns what the page keeps of its records."""
    made: list[Record] = []
    with tempfile.TemporaryDirectory() as folder:
        for each, words in run.starts():
            for one in run.concurrency:
                start = with_concurrency(words, one, Path(folder))
                made += [{**record, "concurrency": one} for record in run.kept(records_of(keel, start, run), each)]
            if not run.concurrency:
                made += run.kept(records_of(keel, words, run), each)
    return made


def with_concurrency(words: Sequence[str], concurrency: float, folder: Path) -> list[str]:
    """The words with the machine's file replaced by one with this concurrency, in a folder of its own."""
    (machine,) = [word for word in words if word.startswith("comm.machine=")]
    name = machine.partition("=")[2]
    source = ROOT / (name if name.endswith(".toml") else f"inputs/machines/{name}.toml")
    text, found = re.subn(r"^concurrency = \S+", f"concurrency = {concurrency}", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found != 1:
        raise Refused(f"{source}: wants one line concurrency = ..., which the run replaces")
    made = folder / f"{concurrency}" / source.name
    made.parent.mkdir(exist_ok=True)
    made.write_text(text, encoding="utf-8")
    return [f"comm.machine={made}" if word == machine else word for word in words]


def records_of(keel: Path, words: Sequence[str], run: PageRun) -> list[Record]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        start = [mpiexec_of(keel), "-n", str(run.ranks)] if run.ranks else []
        command = [*start, str(keel), *words, f"output.json={out}"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0 and not (run.may_fail and done.returncode == 1):
            raise Refused(f"{' '.join(command)}\nended with exit status {done.returncode}:\n{done.stderr.strip() or done.stdout[-2000:]}")
        return whole_records(out)


class Maker:
    """Makes records and pictures. The figures of scripts/papers share the runs that they are made of."""

    def __init__(self, keel: Path, scratch: Path):
        self.keel, self.scratch, self.hosts = keel, scratch, Hosts(keel, scratch)

    def records(self, run: PageRun) -> list[Record]:
        if run.hosts:
            return list(self.hosts.points(run))
        return self.paper(run).rows if run.paper else made_records(run, self.keel)

    def paper(self, run: PageRun) -> "Made":
        from papers.figures import make  # matplotlib takes long to load
        from papers.points import Folder

        return make(run.paper, Folder(self.scratch, self.keel))

    def write(self, page: Page, run: PageRun, png: bool) -> list[Path]:
        """Writes the records of a run and, if it is a figure of a paper, its picture."""
        path = page.path(run)
        if not run.paper:
            path.write_text(lines_of(self.records(run)), encoding="utf-8")
            return [path]
        from papers.figures import compact

        made = self.paper(run)
        path.write_text(lines_of(made.rows), encoding="utf-8")
        drawn = page.drawn(run)
        if png:
            made.picture.figure.savefig(drawn.with_suffix(".png"), dpi=110)
        drawn.write_text(compact(made.picture.svg()) + mark_of(made.rows), encoding="utf-8")
        return [path, drawn]


def to_make(page: Page, options: argparse.Namespace) -> list[PageRun]:
    kinds = {"counted", "predicted"} | ({"measured"} if options.measured else set())
    all_lengths = options.nightly or not options.check
    return [run for run in page.runs if run.kind in kinds and (run.command or run.paper) and (all_lengths or not run.nightly)]


def checked(page: Page, maker: Maker | None, options: argparse.Namespace) -> Iterator[str]:
    """The differences from what should be."""
    again = f"scripts/results {page.folder.name}"
    render = f"scripts/results --render {page.folder.name}"
    if missing := [run for run in page.runs if not page.path(run).is_file()]:
        for run in missing:
            command = run.by or (f"{again} --measured" if run.kind == "measured" else again)
            yield f"{page.path(run)}: it is missing; it is made by {command}"
        return
    kept = {run.name: page.records(run.name) for run in page.runs}  # refuses damaged ones
    yield from stale(page.folder / "README.md", page.text().__eq__, "README.md.j2 and the records", render)
    for figure in page.figures:
        yield from stale(page.folder / figure["file"], ends_with(page.mark(figure)), "page.toml and the records", render)
    for run in page.runs:
        if run.paper:
            yield from stale(page.drawn(run), ends_with(mark_of(kept[run.name])), f"the records of {run.name}", again)
    for run in to_make(page, options) if maker else []:
        for difference in differences(kept[run.name], maker.records(run), run.tolerance):
            yield f"{page.path(run)}: {difference}"


def ends_with(mark: str) -> Callable[[str], bool]:
    return lambda text: text.endswith(mark)


def stale(path: Path, good: Callable[[str], bool], made_of: str, remedy: str) -> Iterator[str]:
    """A text, if the file of a page is missing or not as it should be."""
    if not path.is_file():
        yield f"{path}: it is missing; run {remedy}"
    elif not good(path.read_text(encoding="utf-8")):
        yield f"{path}: it is not what {made_of} make; run {remedy}"


def render(page: Page, png: bool) -> list[Path]:
    written = [page.folder / "README.md"]
    written[0].write_text(page.text(), encoding="utf-8")
    for figure in page.figures:
        from pages.picture import draw  # matplotlib takes long to load

        picture = draw(page, figure)
        path = page.folder / figure["file"]
        if png:
            picture.figure.savefig(path.with_suffix(".png"), dpi=110)
        path.write_text(picture.svg() + page.mark(figure), encoding="utf-8")
        written.append(path)
    return written


def chosen(options: argparse.Namespace) -> list[Page]:
    if options.check and options.measured:
        raise Refused("--check makes no measured records again; leave out --check or --measured")
    pages = {page.folder.name: page for page in all_pages(options.results)}
    if not pages:
        raise Refused(f"{options.results}: no pages; give --results FOLDER, whose folders have page.toml and README.md.j2")
    unknown = [name for name in options.names if name not in pages]
    if unknown:
        raise Refused(f"{', '.join(unknown)}: no such page; choose {', '.join(pages)}")
    return [page for name, page in pages.items() if not options.names or name in options.names]


def work(pages: Sequence[Page], maker: Maker | None, options: argparse.Namespace) -> int:
    if options.check:
        found = [difference for page in pages for difference in checked(page, maker, options)]
        print("\n".join(found) if found else "every page is this build's")
        return 1 if found else 0
    if maker:
        runs = [(page, run) for page in pages for run in to_make(page, options)]
        # Figures of papers show records of other pages, which therefore are made first.
        for page, run in sorted(runs, key=lambda one: bool(one[1].paper)):
            for path in maker.write(page, run, options.png):
                print(f"wrote {path}")
    for page in pages:
        for path in render(page, options.png):
            print(f"wrote {path}")
    return 0


def main(words: Sequence[str]) -> int:
    options = parser().parse_args(words)
    try:
        pages = chosen(options)
        with tempfile.TemporaryDirectory() as scratch:
            maker = None if options.render else Maker(find_keel(options.keel), Path(scratch))
            try:
                return work(pages, maker, options)
            finally:
                if maker:
                    maker.hosts.close()
    except (Refused, UnreadableRecords) as error:
        print(error, file=sys.stderr)
        return 2

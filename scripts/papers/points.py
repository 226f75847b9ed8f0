"""The runs that a figure of a paper is made of, and the numbers that it shows."""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from papers.formulas import MACHINES
from studies.define.checked_toml import Refused
from studies.evaluate.figures.style import Picture
from studies.execute.keel import mpiexec_of
from studies.records import Record, Run, read_runs

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Point:
    """One start of keel."""

    name: str  # the file of records, without .json
    deck: str  # from the root of the sources; may be empty
    words: tuple[str, ...]
    kind: str = "predicted"  # or counted in a solve that runs here; or simulated
    kept: str = ""  # file of results/ with the records: simulated ones, and those of other pages
    ranks: int = 0  # processes that mpiexec starts; 0: keel alone
    may_fail: bool = False  # records of an invalid run count, too
    sockets_unknown: str = ""  # a machine whose ranks_per_socket the run must not know


Records = Callable[[str], Run]  # a point's records, by its name


@dataclass(frozen=True)
class Made:
    picture: Picture
    rows: list[Record]  # numbers that the picture shows


@dataclass(frozen=True)
class Figure:
    name: str
    about: str
    points: Callable[[], list[Point]]
    make: Callable[[Records, list[Point]], Made]


def numbers(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "row") -> list[Record]:
    """A record for each row, with the names in the head as fields."""
    return [{"record": kind, **dict(zip(head, map(number, row), strict=True))} for row in rows]


def number(cell: str) -> object:
    """A number; a list, of a cell such as "1.2 (0.9 to 1.4)"; None for "-"; or the text without backquotes."""
    try:
        values = [float(value) for value in re.split(r" \(| to |\)", cell) if value]
        if not all(map(isfinite, values)):
            raise ValueError(cell)
    except ValueError:
        return None if cell == "-" else cell.strip("`")
    if len(values) > 1:
        return values
    return int(values[0]) if cell.isdecimal() else values[0]


def machine_words(machine: str, ranks_per_node: int, ranks_per_socket: int | None = None) -> tuple[str, ...]:
    sockets = () if ranks_per_socket is None else (f"comm.ranks_per_socket={ranks_per_socket}",)
    return (f"comm.machine={machine}", f"comm.ranks_per_node={ranks_per_node}", *sockets)


class Folder:
    """A folder for the records of points, and the program that makes missing ones."""

    def __init__(self, folder: Path, keel: Path):
        self.folder, self.keel = folder, keel

    def path(self, point: Point) -> Path:
        return ROOT / point.kept if point.kept else self.folder / f"{point.name}.json"

    def machine_without_sockets(self, machine: str) -> Path:
        path = self.folder / f"{machine}_sockets_unknown.toml"
        text = re.sub(r"^ranks_per_socket = \d+\n", "", (MACHINES / f"{machine}.toml").read_text(), flags=re.M)
        path.write_text(text)
        return path

    def command(self, point: Point, out: Path) -> list[str]:
        words = [*point.words, f"output.json={out}"]
        if point.sockets_unknown:
            words.append(f"comm.machine={self.machine_without_sockets(point.sockets_unknown)}")
        start = [mpiexec_of(self.keel), "-n", str(point.ranks)] if point.ranks else []
        return [*start, str(self.keel), *(["--dry-run"] if point.kind == "predicted" else []), *point.deck.split(), *words]

    def run(self, point: Point) -> None:
        """Writes the point's records, which appear under their name when the run is over."""
        out = self.folder / f"{point.name}.part"
        command = self.command(point, out)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0 and not (point.may_fail and done.returncode == 1):
            raise Refused(f"{' '.join(command)}\nended with exit status {done.returncode}:\n{done.stderr.strip() or done.stdout[-2000:]}")
        out.replace(self.path(point))

    def make(self, points: Sequence[Point]) -> None:
        """Runs the points without records. Kept records are made for the page that they lie in, never here."""
        for point in points:
            if self.path(point).is_file():
                continue
            if point.kept:
                raise Refused(f"{self.path(point)}: no records of the point {point.name}; page.toml beside it names the command")
            self.run(point)

    def records(self, points: Sequence[Point]) -> Records:
        """Records of the points of one figure."""
        known = {point.name: point for point in points}

        def of(name: str) -> Run:
            return read_runs(self.path(known[name]))[-1]

        return of

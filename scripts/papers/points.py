"""The runs that a figure is made of, and where their records lie.

Records are kept in a folder (build/figures by default) under the name of their point and are not made again while they are there.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from papers.formulas import MACHINES
from studies.define.checked_toml import Refused
from studies.evaluate.figures.style import Picture
from studies.records import Run, read_runs

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Point:
    """One start of keel."""

    name: str  # the file of records, without .json
    deck: str  # from the root of the sources
    words: tuple[str, ...]
    kind: str = "predicted"  # or computed: solved here, for what is counted; or simulated
    simulated: tuple[str, ...] = ()  # options of scripts/simulate: the machine, how many ranks
    kept: str = ""  # records of the very command that results/ keeps
    sockets_unknown: str = ""  # a machine whose file shall not tell which ranks share a socket


Records = Callable[[str], Run]  # a point's records, by its name


@dataclass(frozen=True)
class Made:
    picture: Picture
    table: str  # Markdown: the numbers that the picture shows


@dataclass(frozen=True)
class Figure:
    name: str
    about: str
    points: Callable[[], list[Point]]
    make: Callable[[Records, list[Point]], Made]


def simulated_on(machine: str, ranks: int, ranks_per_node: int) -> tuple[str, ...]:
    """On the torus of Hopper."""
    return ("--machine", machine, "--platform", "hopper", "--ranks", f"{ranks}", "--ranks-per-node", f"{ranks_per_node}")


def machine_words(machine: str, ranks_per_node: int, ranks_per_socket: int | None = None) -> tuple[str, ...]:
    sockets = () if ranks_per_socket is None else (f"comm.ranks_per_socket={ranks_per_socket}",)
    return (f"comm.machine={machine}", f"comm.ranks_per_node={ranks_per_node}", *sockets)


class Folder:
    """The folder with the records of points, and the programs that make missing ones."""

    def __init__(self, folder: Path, keel: Callable[[], Path], simulating: Callable[[], Path] | None, again: bool, jobs: int):
        self.folder, self.keel, self.simulating, self.again, self.jobs = folder, keel, simulating, again, jobs
        self.done: set[str] = set()

    def path(self, point: Point) -> Path:
        made = self.folder / f"{point.name}.json"
        return ROOT / point.kept if point.kept and not self.again and not made.is_file() else made

    def wanted(self, points: Iterable[Point]) -> list[Point]:
        """Points for this call: simulated ones that are kept are shown, others only made if they are asked for."""
        return [point for point in points if point.kind != "simulated" or self.simulating or self.path(point).is_file()]

    def missing(self, points: Iterable[Point]) -> list[Point]:
        return [one for one in points if one.name not in self.done and (self.again or not self.path(one).is_file())]

    def machine_without_sockets(self, machine: str) -> Path:
        path = self.folder / f"{machine}_sockets_unknown.toml"
        told = re.sub(r"^ranks_per_socket = \d+\n", "", (MACHINES / f"{machine}.toml").read_text(), flags=re.M)
        path.write_text(told)
        return path

    def command(self, point: Point, out: Path) -> list[str]:
        words = [*point.words, f"output.json={out}"]
        if point.sockets_unknown:
            words.append(f"comm.machine={self.machine_without_sockets(point.sockets_unknown)}")
        if point.kind == "simulated":
            assert self.simulating
            keel = ["--keel", str(self.simulating())]
            return [sys.executable, str(ROOT / "scripts/simulate"), point.deck, *point.simulated, *keel, *words]
        return [str(self.keel()), *(["--dry-run"] if point.kind == "predicted" else []), point.deck, *words]

    def run(self, point: Point) -> None:
        """Its records appear under their name only when they are whole."""
        out = self.folder / f"{point.name}.{os.getpid()}.making"
        out.unlink(missing_ok=True)
        command = self.command(point, out)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=one_thread())
        if done.returncode != 0:
            raise Refused(f"{' '.join(command)}\nended with exit status {done.returncode}:\n{done.stderr.strip() or done.stdout[-2000:]}")
        out.replace(self.folder / f"{point.name}.json")
        self.done.add(point.name)

    def make(self, points: Sequence[Point]) -> None:
        missing = self.missing(points)
        if not missing:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        print(f"{len(missing)} runs of keel to make, {self.jobs} at a time", file=sys.stderr)
        with ThreadPoolExecutor(self.jobs) as pool:
            for point, _ in zip(missing, pool.map(self.run, missing), strict=True):
                print(f"made {point.name}", file=sys.stderr)

    def records(self, points: Sequence[Point]) -> Records:
        """Records of the points of one figure."""
        known = {point.name: point for point in points}

        def of(name: str) -> Run:
            return read_runs(self.path(known[name]))[-1]

        return of


def one_thread() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}

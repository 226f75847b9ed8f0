"""Starts keel under mpiexec and returns its status, both streams and JSON records."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "inputs"
ONCE = ["run.warmup=0", "run.repeats=1"]
# For a process without mpiexec: no daemon for others that it never starts, and no folder, which several without it would share.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_orte_create_session_dirs": "0"}
PATIENCE = int(os.environ.get("KEEL_PATIENCE", "1"))  # how many times as long a run may take
NIGHTLY = "KEEL_NIGHTLY" in os.environ  # set by scripts/test --nightly: time does not matter
# Open MPI 4.1 on a loaded machine blames a rank that it has no number of, although all ranks ended well. Such a run is repeated.
FORGOTTEN = "with PID 0 on"

ALL_REDUCES = ("reduction", "reduction.begin")  # the rows of timers that count them

Record = dict[str, Any]
Case = TypeVar("Case")
Result = TypeVar("Result")


def strict_json(line: str) -> Record:
    """One line of JSON; raises on NaN and Infinity, which Python would take and other readers do not."""

    def refuse(token: str) -> None:
        raise ValueError(f"{token} is no JSON: {line}")

    return json.loads(line, parse_constant=refuse)


@dataclass(frozen=True)
class Run:
    """One finished run of keel."""

    command: str
    status: int
    stdout: str
    stderr: str
    files: dict[str, str]  # name and text of what it left in the folder it ran in

    @property
    def flat(self) -> str:
        """The report as one line: sentences as they were before they were broken."""
        return " ".join(self.stdout.split())

    @property
    def lines(self) -> list[str]:
        return [line for line in self.files.get("run.json", "").split("\n") if line]

    @property
    def all_records(self) -> list[Record]:
        return [strict_json(line) for line in self.lines]

    def records(self, kind: str) -> list[Record]:
        return [record for record in self.all_records if record["record"] == kind]

    def record(self, kind: str) -> Record:
        (only,) = self.records(kind)
        return only

    @property
    def facts(self) -> Record:
        """The records of the run as a whole: written at its beginning, and at its end."""
        return self.record("run") | self.record("result")

    def timer(self, op: str) -> dict[int, Record]:
        """The rows of one operation, by level."""
        return {row["level"]: row for row in self.records("timer") if row["op"] == op}

    def __str__(self) -> str:
        return f"\n$ {self.command}\nstatus {self.status}\n{self.stdout}\n{self.stderr}"


def preloading(library: Path) -> str:
    """The variable for `env` by which a program loads the library first, before the caller's preloaded ones."""
    return "LD_PRELOAD=" + ":".join(filter(None, (str(library), os.environ.get("LD_PRELOAD"))))


def wide_lines(report: str) -> list[str]:
    """Lines of more than 100 columns, but for single words, such as paths, which stand alone."""
    return [line for line in report.splitlines() if len(line) > 100 and " " in line.strip()]


def shown_schemes(text: str) -> dict[tuple[str, str, str], list[str]]:
    """The cells of a report's table of schemes, of all its parts, by level, exchange and scheme, which ends in * if it is fastest."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for line in text.partition("Schemes: one exchange of every level")[2].splitlines()[1:]:
        if re.match(r"[A-Z*]|time:|level \d", line):
            break
        level, *cells = re.split(" {2,}", line.strip())
        if level.isdigit():
            rows.setdefault((level, cells[0], cells[1]), []).extend(cells[2:])
    return rows


def unwrapped(text: str, indent: int) -> str:
    """The text with the lines that keel broke at 100 columns whole again."""
    return re.sub(rf"\n {{{indent}}}(?=\S)", " ", text)


def counted_messages(run: Run) -> list[list[int]]:
    """By level: messages and bytes of all exchanges, and those between nodes, of the rank that sent most."""
    rows = [row for _, row in sorted(run.timer("exchange.send").items())]
    return [[row[name] for name in ("messages", "bytes", "off_node_messages", "off_node_bytes")] for row in rows]


def planned_messages(plan: Record) -> list[list[int]]:
    """The same of one exchange, by what each level uses it for, from the record that --dry-run writes."""
    return [[level[name] for name in ("messages", "bytes", "off_node_messages", "off_node_bytes")] for level in plan["levels"]]


class KeelTest(unittest.TestCase):
    """A test that runs keel. Each run has an empty folder of its own, and writes its records to run.json there."""

    keel = Path()
    mpiexec = Path()
    counter: Path | None = None  # libraries between keel and MPI: tests/pmpi/
    disturber: Path | None = None
    seconds = 1800  # limit of a run that hangs: ten times what the longest takes, and more

    def run_keel(
        self,
        ranks: int | None,
        *words: object,
        threads: int = 1,
        records: bool = True,
        quick: bool = True,
        times: int = 1,
        mpi: Sequence[str] | None = None,
        under: Sequence[str] = (),
        typed: str = "",
    ) -> Run:
        """Runs keel with these words, `times` in a row in the same folder; `mpi`: further words of mpiexec, `under`: those of a
        program that starts each rank; `typed`: its standard input.

        ranks = None: without mpiexec. So is one rank, but at night or with `mpi`: starting it takes a third of the processor's
        time, and nothing waits for a daemon."""
        if ranks == 1 and not NIGHTLY and mpi is None and ":" not in words:
            ranks = None
        command = [str(self.keel), *map(str, words)] + (["output.json=run.json"] if records else [])
        if quick and "network" not in " ".join(command[1:]):
            command.append("run.triad_mb=1")  # no test looks at the bandwidth, and to measure it takes longer than many a run
        command = [*under, *command]
        if ranks is not None:
            command = [str(self.mpiexec), *(mpi or ()), "-n", str(ranks), *command]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        if ranks is None:
            environment |= ALONE
        seconds = self.seconds * PATIENCE
        environment["MPIEXEC_TIMEOUT"] = str(seconds)  # on the stroke of which mpiexec ends its ranks
        with tempfile.TemporaryDirectory() as folder:

            def start() -> subprocess.CompletedProcess[str]:
                end = time.monotonic() + seconds
                try:
                    done = subprocess.run(
                        command,
                        cwd=folder,
                        env=environment,
                        input=typed,
                        capture_output=True,
                        text=True,
                        timeout=seconds + (0 if ranks is None else 60),
                    )
                except subprocess.TimeoutExpired:
                    done = None
                if done is None or time.monotonic() > end:
                    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
                    self.fail(f"no end after {seconds} s, with a load of {load}: {' '.join(command)}")
                return done

            for _ in range(times):
                done = start()
            if times == 1 and FORGOTTEN in done.stderr:
                for path in Path(folder).iterdir():
                    path.unlink()
                done = start()
            files = {path.name: path.read_text() for path in Path(folder).iterdir()}
        stdout = done.stdout
        if stdout.startswith("Keel ") or "--dry-run" in words:
            self.assertEqual(wide_lines(stdout), [], " ".join(command))
        if stdout.startswith("Keel "):  # a report, whose header is as wide as a terminal
            header, *rest = stdout.split("\n\n", 1)
            stdout = "\n\n".join([unwrapped(header, 10), *rest])
        return Run(" ".join(command), done.returncode, stdout, unwrapped(done.stderr, 4), files)

    def valid(
        self, ranks: int | None, *words: object, threads: int = 1, times: int = 1, mpi: Sequence[str] | None = None
    ) -> Run:
        """The same, and the run must be valid."""
        run = self.run_keel(ranks, *words, threads=threads, times=times, mpi=mpi)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stdout.splitlines()[-1], "RESULT VALID", run)
        return run

    @cached_property
    def folder(self) -> Path:
        """A folder that is there as long as the test is."""
        return Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name: str, content: str | bytes) -> Path:
        """A file in that folder."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def node_map(self, text: str) -> str:
        """The word for a file for comm.node_map; one label a line and rank."""
        return f"comm.node_map={self.file('nodes.txt', text)}"

    def matrix(self, name: str, rows: int, entries: Sequence[str], kind: str = "symmetric") -> str:
        """The word for a file of Matrix Market with these entries."""
        head = [f"%%MatrixMarket matrix coordinate real {kind}", f"{rows} {rows} {len(entries)}"]
        text = "\n".join([*head, *entries, ""])
        return f"problem.matrix={self.file(name, text)}"

    def bottom_solvers(self) -> list[list[str]]:
        """The table of bottom solvers, a row for each: name, exchanges, all-reduces and words of an iteration."""
        table = [line for line in self.text(None, "--tables", "solvers").splitlines() if line.startswith("| `")]
        self.assertGreaterEqual(len(table), 12)
        return [[cell.strip(" `") for cell in line.split("|")[1:5]] for line in table]

    def modes(self) -> list[str]:
        """The words of run.mode."""
        (row,) = [line for line in self.text(None, "--tables", "keys").splitlines() if line.startswith("| `run.mode` |")]
        return row.split(" | ")[2].split(", ")

    def text(self, ranks: int | None, *words: object) -> str:
        """The text that an option prints which does not solve."""
        run = self.run_keel(ranks, *words, records=False, quick=False)
        self.assertEqual((run.status, run.files), (0, {}), run)
        return run.stdout

    def dry_run(self, ranks: int | None, *words: object) -> Run:
        """A dry run, which nothing was said against."""
        run = self.run_keel(ranks, "--dry-run", *words)
        self.assertEqual((run.status, run.stderr), (0, ""), run)
        return run

    def planned(self, ranks: int | None, *words: object) -> Record:
        """The record of a dry run."""
        return self.dry_run(ranks, *words).record("plan")

    def compared(self, ranks: int | None, *words: object) -> tuple[str, list[Record]]:
        """The text of a dry run, and its records of schemes."""
        run = self.dry_run(ranks, *words)
        return run.stdout, run.records("scheme")

    def refused(
        self, ranks: int | None, *words: object, expected: Sequence[str], records: bool = True, under: Sequence[str] = ()
    ) -> None:
        """Bad input: status 2, every expected complaint once, and nothing else done."""
        run = self.run_keel(ranks, *words, records=records, quick=False, under=under)
        self.assertEqual(run.status, 2, run)
        self.assertEqual(run.stdout, "", run)
        self.assertEqual(run.files, {}, run)
        self.assertTrue(expected)
        for message in expected:
            self.assertEqual(run.stderr.count(message), 1, f"{message}{run}")


def calls_of_mpi(*files: Path) -> set[str]:
    """The functions of MPI that these sources call, or that keel's communication does if none are given."""
    sources = files or tuple((ROOT / "comm").rglob("*.[ch]pp"))
    return {name for path in sources for name in re.findall(r"\b(MPI_[A-Z][a-z_]+)\(", path.read_text())}


def by_turns(cases: Sequence[Case], step: int) -> list[Case]:
    """All cases at night, else each `step`-th of them: of a product, whose lengths it does not divide, each choice has its turn."""
    return list(cases[:: 1 if NIGHTLY else step])


def at_once(runs: int, action: Callable[[Case], Result], cases: Sequence[Case]) -> list[Result]:
    """Acts on all cases, so many at a time; raises what the first failing one raised."""
    with ThreadPoolExecutor(runs) as pool:
        return list(pool.map(action, cases))

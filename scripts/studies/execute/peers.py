"""The command scripts/compare_peers: Keel and hypre, or KINSOL, on one problem, in turns, on one machine."""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from studies.layout import ROOT
from studies.markdown import table as markdown
from studies.records import Record, UnreadableRecords, read_runs
from studies.statistics import FEWEST, Spread, spread

METHODS = {"hypre": ("pcg_pfmg", "pfmg"), "boomeramg": ("like_keel", "defaults"), "kinsol": ("mgs", "icwy", "cgs2", "dcgs2")}
DECKS = {"hypre": ("compare_hpgmg.toml",), "boomeramg": ("amg.toml",), "kinsol": ("kinsol_heat.toml", "kinsol_mixture.toml")}
SAME = 1e-4  # two solutions to the same residual differ by less, or they are not solutions of the same problem
ABOUT = """Keel beside another code. By hypre: the same matrix, right-hand side and residual, on so many ranks, in turns.

    scripts/compare_peers [-n RANKS] [DECK.toml] [section.key=value ...]

With --code boomeramg algebraic multigrid by hypre's BoomerAMG, on the same sparse matrix, with levels and their entries.
With --code kinsol fixed points by KINSOL instead, with the same map: evaluations side by side, by every method that both know.

By default inputs/compare_hpgmg.toml on two ranks. A round starts Keel, then each method of hypre, one after the other, and each
solves as often as run.repeats says; rounds follow each other, so that what a shared machine does in a while is done to all.
Builds build/peers first, unless --build says where keel and keel_hypre are. Wants hypre (Debian: libhypre-dev) or SUNDIALS
(libsundials-dev).
Exit status: 0; 1 where a run is not valid or the solutions differ; 2 where something is refused."""


@dataclass
class Code:
    """One of those that are compared, with what each of its rounds found."""

    name: str
    rounds: list[float] = field(default_factory=list)  # median seconds of a solve
    setups: list[float] = field(default_factory=list)
    iterations: int = 0
    residual: float = 0.0  # in the last round
    u_l2: float | None = None
    unknowns: int = 0
    levels: int = 0  # in algebraic multigrid
    complexity: float = 0.0


class Failed(Exception):
    """A run that cannot be compared; the text says which and why."""


def number(value: float) -> str:
    return f"{value:#.3g}".rstrip(".")


def interval(values: Spread) -> str:
    low, high = values.low, values.high
    return f"{number(values.median)} " + (f"[{number(low)}, {number(high)}]" if low is not None and high is not None else "[-]")


def table(codes: Sequence[Code]) -> str:
    """A row a code; of the seconds and of Keel's over them the median of rounds, in brackets its interval of 95 %. Of algebraic
    multigrid levels and operator complexity as well, and Keel's seconds of setting up over the others'."""
    keel = codes[0]
    algebraic = keel.levels > 0

    def over(ours: list[float], theirs: list[float]) -> str:
        return "1" if ours is theirs else interval(spread([a / b for a, b in zip(ours, theirs, strict=True)]))

    rows = []
    for code in codes:
        seconds = spread(code.rounds)
        rows.append(
            [code.name, *([str(code.levels), f"{code.complexity:.3f}"] if algebraic else []), str(code.iterations),
             f"{code.residual:.1e}", number(median(code.setups)), *([over(keel.setups, code.setups)] if algebraic else []),
             interval(seconds), number(code.unknowns / seconds.median * 1e-6), over(keel.rounds, code.rounds)]
        )  # fmt: skip
    head = ["code", *(["levels", "complexity"] if algebraic else []), "iterations",
            "|r| / |f|" if algebraic else "max|r| / max|f|", "set-up, s",
            *(["Keel's over these"] if algebraic else []), "solve, s", "MDOF/s", "Keel's seconds over these"]  # fmt: skip
    text = markdown(head, rows)
    count = len(keel.rounds)
    text += f"\nMedians of {count} rounds in turns; in brackets what holds the true median with 95 %"
    return text + (f": none, {FEWEST} rounds are needed.\n" if count < FEWEST else ".\n")


def of_keel(code: Code, records: Sequence[Record]) -> None:
    """Adds a round of Keel's."""
    solves = [record for record in records if record["record"] == "solve"]
    matrix = next((record for record in records if record["record"] == "spmv"), None)
    (result,) = (record for record in records if record["record"] == "result")
    checks = {record["name"]: record["value"] for record in records if record["record"] == "check"}
    (head,) = (record for record in records if record["record"] == "run")
    code.rounds.append(median(solve["seconds"] for solve in solves))
    code.residual = checks["residual_recomputed"]
    if matrix is None:
        code.setups.append(result["setup_seconds"])
        code.iterations, code.u_l2, code.unknowns = solves[-1]["cycles"], solves[-1]["u_l2"], head["domain"]["cells"]
        return
    (amg,) = (record for record in records if record["record"] == "amg")
    code.setups.append(amg["setup_seconds"])
    code.iterations, code.unknowns = solves[-1]["iterations"], matrix["rows"]
    code.levels, code.complexity = len(amg["levels"]), amg["operator_complexity"]


def of_peer(code: Code, records: Sequence[Record]) -> None:
    """The same of a peer's."""
    (peer,) = (record for record in records if record["record"] == "peer")
    code.name = f"{peer['peer']} {peer['method']}"
    code.rounds.append(median(peer["seconds"]))
    code.setups.append(peer["setup_seconds"])
    code.iterations, code.residual, code.u_l2, code.unknowns = (
        peer[name] for name in ("iterations", "residual", "u_l2", "unknowns")
    )
    code.levels, code.complexity = peer.get("levels", 0), peer.get("operator_complexity", 0.0)


def mpiexec_of(build: Path) -> str:
    """mpiexec of the MPI that the programs there were linked with."""
    cache = build / "CMakeCache.txt"
    found = re.search(r"(?m)^MPIEXEC_EXECUTABLE:\w+=(.+)$", cache.read_text()) if cache.exists() else None
    return found[1] if found else "mpiexec"


def environment(ranks: int) -> dict[str, str]:
    """The environment to start `ranks` ranks here, each with one thread unless the caller says otherwise."""
    command = f'. "{ROOT}/scripts/mpi_environment" {ranks}; env -0'
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    return {"OMP_NUM_THREADS": "1"} | dict(entry.split("=", 1) for entry in told.split("\0") if "=" in entry)


def run(command: Sequence[str], settings: dict[str, str], json: Path, most: int = 0) -> list[Record]:
    """The records of a start of a program, whose exit status is at most that."""
    done = subprocess.run([*command, f"output.json={json}"], env=settings, capture_output=True, text=True, check=False)
    if not 0 <= done.returncode <= most:
        said = done.stderr.partition("\n-----")[0].strip()  # then mpiexec speaks
        lines = said.splitlines()[:12] or done.stdout.splitlines()[-8:]
        raise Failed("\n".join([f"status {done.returncode} of: {' '.join(command)}", *lines]))
    (only,) = read_runs(json)
    return only.records


def compare(build: Path, ranks: int, rounds: int, peer: str, methods: Sequence[str], words: Sequence[str]) -> list[Code]:
    """Keel first, then the methods of a peer. Raises Failed or UnreadableRecords."""
    start = [mpiexec_of(build), "--bind-to", "none", "-n", str(ranks)]
    settings = environment(ranks)
    codes = [Code("Keel"), *(Code(method) for method in methods)]
    with tempfile.TemporaryDirectory(prefix="keel-peers-") as folder:
        for turn in range(rounds):
            for n, code in enumerate(codes):
                json = Path(folder, f"{turn}-{n}.json")
                program = [str(build / "keel")] if n == 0 else [str(build / peer), f"--method={methods[n - 1]}"]
                records = run([*start, *program, *words], settings, json)
                (of_peer if n else of_keel)(code, records)
            if sys.stderr.isatty():
                print(f"round {turn + 1} of {rounds}", file=sys.stderr)
    keel = codes[0]
    for code in codes[1:]:
        # A sparse solve of Keel's tells no |u|; there the residuals, formed alike, tell enough.
        if keel.u_l2 is not None and code.u_l2 is not None and abs(code.u_l2 - keel.u_l2) > SAME * abs(keel.u_l2):
            raise Failed(f"{code.name}: |u| = {code.u_l2:.12g}, and Keel's {keel.u_l2:.12g}: not the same problem")
    return codes


@dataclass
class Accelerated:
    """A method: Keel's solve and KINSOL's, the last of `rounds` rounds, with the seconds of all."""

    method: str
    keel: Record = field(default_factory=dict)
    peer: Record = field(default_factory=dict)
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))


def accelerate(build: Path, ranks: int, rounds: int, methods: Sequence[str], words: Sequence[str]) -> list[Accelerated]:
    """Keel and KINSOL by each method, in turns. Raises Failed or UnreadableRecords."""
    start = [mpiexec_of(build), "--bind-to", "none", "-n", str(ranks)]
    settings = environment(ranks)
    found = [Accelerated(method) for method in methods]
    with tempfile.TemporaryDirectory(prefix="keel-peers-") as folder:
        for turn in range(rounds):
            for one in found:
                given = [*words, f"anderson.orthogonalisation={one.method}"]
                json = [Path(folder, f"{turn}-{one.method}-{code}.json") for code in ("keel", "kinsol")]
                solves = [r for r in run([*start, str(build / "keel"), *given], settings, json[0]) if r["record"] == "solve"]
                # A fixed point that is none is reported, not compared.
                (one.peer,) = run([*start, str(build / "keel_kinsol"), *given], settings, json[1], most=1)
                one.keel = solves[-1]
                one.seconds[0].append(median(solve["seconds"] for solve in solves))
                one.seconds[1].append(median(one.peer["seconds"]))
    for one in found:
        ours, theirs = one.keel["u_l2"], one.peer["u_l2"]
        if one.peer["valid"] and abs(theirs - ours) > SAME * abs(ours):
            raise Failed(f"{one.method}: |u| = {theirs:.12g}, and Keel's {ours:.12g}: not the same problem")
    return found


def acceleration_table(found: Sequence[Accelerated]) -> str:
    """A row a method: evaluations of the map, what they leave of G(u) - u, and seconds."""

    def left(value: float | None) -> str:
        return "no number" if value is None else f"{value:.1e}"

    peer = found[0].peer["peer"]
    rows = [
        [one.method, str(one.keel["evaluations"]), str(one.peer["evaluations"]) + ("" if one.peer["valid"] else ", no fixed point"),
         left(one.keel["true_residual"]), left(one.peer["residual"]), number(median(one.seconds[0])), number(median(one.seconds[1]))]
        for one in found
    ]  # fmt: skip
    head = ["method", "evaluations, Keel", peer, "max|G(u) - u|, Keel", peer, "solve, s, Keel", peer]
    return markdown(head, rows)


def made(build: Path | None, program: str) -> Path:
    """The folder with the programs, built where none is given. Raises Failed."""
    if build is None:
        command = f'cd "{ROOT}" && scripts/setup && . scripts/build && configure peers && compile peers'
        if subprocess.run(["bash", "-ec", command], stdout=sys.stderr, check=False).returncode != 0:
            raise Failed("build/peers could not be built; the reason stands above")
        build = ROOT / "build/peers"
    missing = [name for name in ("keel", program) if not (build / name).is_file()]
    if missing:
        raise Failed(f"{build}: no {' and no '.join(missing)}; build them with -DKEEL_PEERS=ON, or leave --build out")
    return build


def parser() -> argparse.ArgumentParser:
    new = argparse.ArgumentParser(
        prog="scripts/compare_peers", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    new.add_argument("words", nargs="*", metavar="WORD", help="of keel: DECK.toml, section.key=value")
    new.add_argument("-n", dest="ranks", type=int, default=2, metavar="RANKS", help="by default 2")
    new.add_argument("--code", choices=METHODS, default="hypre", help="by default hypre")
    new.add_argument("--rounds", type=int, help=f"by default 9, of kinsol 1; an interval wants {FEWEST}")
    new.add_argument("--method", action="append", help="of that code; by default all: " + "; ".join(
        f"{code}: {', '.join(methods)}" for code, methods in METHODS.items()))  # fmt: skip
    new.add_argument("--build", type=Path, metavar="FOLDER", help="with keel and keel_hypre, keel_boomeramg or keel_kinsol")
    return new


def main(arguments: Sequence[str]) -> int:
    given = parser().parse_intermixed_args(arguments)
    known = METHODS[given.code]
    rounds = given.rounds if given.rounds is not None else 1 if given.code == "kinsol" else 9
    wrong = [f"{name} {value}: wants a number from 1 on" for name, value in (("-n", given.ranks), ("--rounds", rounds)) if value < 1]
    wrong += [f"{word}: the records are the script's own; leave it out" for word in given.words if word.startswith("output.json=")]
    wrong += [f"--method {method}: {given.code} has {', '.join(known)}" for method in given.method or () if method not in known]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 2
    decks = [] if any("=" not in word for word in given.words) else \
        [str(ROOT / "inputs" / name) for name in DECKS[given.code]]
    try:
        build = made(given.build, f"keel_{given.code}").absolute()
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 2
    methods = given.method or known
    try:
        for n, deck in enumerate(decks or [""]):
            words = [word for word in (deck, *given.words) if word]
            if given.code == "kinsol":
                found = accelerate(build, given.ranks, rounds, methods, words)
                unknowns, text = found[0].peer["unknowns"], acceleration_table(found)
            else:
                codes = compare(build, given.ranks, rounds, f"keel_{given.code}", methods, words)
                unknowns, text = codes[0].unknowns, table(codes)
            print(f"{chr(10) if n else ''}{' '.join(words)}: {unknowns} unknowns on {given.ranks} ranks\n\n{text}", end="")
    except (Failed, UnreadableRecords) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0

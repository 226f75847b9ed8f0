#!/usr/bin/env python3
"""Makes one small mistake in the sources after the other, and tells which of them the tests notice.

The checkout is only read: work is done on a copy in build/mutate/, of the files that git knows or does not ignore; where
sources or tests are not those of the run before, all tests run once without a mistake first. Of the tests those of the room
itself come first, among them those that noticed the mistake before; the first that fails ends it. A test that takes ten
times as long as without a mistake counts as one that noticed. Exit status: 1 if a semantic mistake survived or did not
compile, or the tests fail without one.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from studies.ending import ended

ROOT = Path(__file__).resolve().parents[1]
SEMANTIC = ROOT / "tests" / "mutation" / "semantic.toml"
# Whose tests can tell, in the order in which they are built and run; of two folders that a file is in the inner one counts.
EXECUTABLES = {"kernels": ["test_kernels", "test_plans", "test_comm", "test_solvers"],
               "comm/carry": ["test_comm", "test_plans", "test_solvers"],
               "comm/reductions": ["test_comm", "test_plans", "test_solvers"],
               "comm": ["test_plans", "test_comm", "test_solvers"],
               "solvers": ["test_solvers"]}
# On which the tests of messages run as well: two ranks pass nothing on, and three are no power of two.
MORE_RANKS = (3, 4)
# Not compiled without their tools.
OPTIONAL = ("kernels/backends/cuda/", "kernels/backends/gpu/", "kernels/backends/gpu_emulated/",
            "kernels/backends/hip/", "kernels/backends/kokkos/", "solvers/krylov/single_launch/")
MOST_MEMORY = 4 << 30  # bytes of address space of a process: loops that do not end may allocate


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    what: str
    old: str
    new: str

    def key(self) -> tuple[str, int, str, str, str]:
        return self.file, self.line, self.what, self.old, self.new


@dataclass(frozen=True)
class Placed:
    """A mutant and the whole text of its file with it."""
    mutant: Mutant
    text: str


# --- Mechanical mutants

BINARY = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
          "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "&": "|", "|": "&", "^": "|"}
WORDS = {"true": "false", "false": "true", "std::min": "std::max", "std::max": "std::min", "++": "--", "--": "++",
         "continue;": ";", "break;": ";"}


def spaces(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def masked(text: str) -> str:
    """The text with spaces for what is no code to make mistakes in: comments, strings, includes, checks of the program's own
    assumptions and the texts of exceptions, which only mistakes reach."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', spaces, text, flags=re.S)
    text = re.sub(r"^[ ]*#[^\n]*", spaces, text, flags=re.M)
    return re.sub(r"\b(?:check(?:_\w+)?\(|throw |static_assert\()[^;]*;", spaces, text)


def changed_number(number: str) -> str:
    if "." in number:
        return "1.0" if float(number) == 0 else repr(2 * float(number))
    return {"0": "1", "1": "0"}.get(number, str(int(number) + 1))


def changes(code: str) -> Iterator[tuple[int, str, str, str]]:
    """Place, what, old and new text of every mechanical mistake in masked code."""
    for m in re.finditer(r"(?<= )(?:[-+*/]=?|[<>=!]=|[<>%&|^]|&&|\|\|)(?=\s)", code):
        yield m.start(), "operator", m[0], BINARY[m[0]]
    for m in re.finditer(r"\b(?:true|false|std::min|std::max|continue;|break;)(?![\w_])|\+\+|--", code):
        yield m.start(), "word", m[0], WORDS[m[0]]
    for m in re.finditer(r"(?<![\w.<])(?:\d+\.\d+|\d+)(?![\w.])", code):
        yield m.start(), "constant", m[0], changed_number(m[0])
    for m in re.finditer(r"(?:(?<=[(\[{])|(?<=[,=?:] )|(?<=return ))-(?=[\w(])", code):
        yield m.start(), "sign", m[0], ""
    for m in re.finditer(r"!(?=[\w(])", code):
        yield m.start(), "not", m[0], ""
    for m in re.finditer(r"(?<=\w)\(([\w.\[\]]+), ([\w.\[\]]+)\)", code):
        if m[1] != m[2] and not re.search(r"\b(?:min|max|swap)$", code[:m.start()]):  # a swap of these changes nothing
            yield m.start(), "swapped arguments", m[0], f"({m[2]}, {m[1]})"
    before = ";"
    for m in re.finditer(r"^( *)(.*)$", code, flags=re.M):
        statement = re.fullmatch(r"(?:\+\+|--)?[\w:.\[\]*>-]+(?:\(.*| [-+*/|&^]?= .*|\+\+|--)?;", m[2].rstrip())
        call = statement and re.search(r"[(=]|\+\+|--", m[2]) and not m[2].startswith("return")
        if call and before.endswith((";", "{", "}", ":", ")")):
            yield m.start(2), "deleted statement", m[2].rstrip(), ";"
        before = m[2].rstrip() or before


def mechanical(file: str, text: str) -> list[Placed]:
    code = masked(text)
    found = []
    for at, what, old, new in sorted(set(changes(code))):
        # Masked strings inside a statement come back with it.
        old = text[at:at + len(old)]
        mutant = Mutant(file, text.count("\n", 0, at) + 1, f"{what}, column {at - text.rfind(chr(10), 0, at)}", old, new)
        found.append(Placed(mutant, text[:at] + new + text[at + len(old):]))
    return found


def sources(tree: Path, paths: list[str]) -> list[str]:
    files: set[Path] = set()
    for name in paths:
        path = tree / name
        if not path.exists():
            raise SystemExit(f"{name}: no such file or folder")
        files |= {path} if path.is_file() else {p for p in path.rglob("*") if p.suffix in (".hpp", ".cpp")}
    names = sorted(str(f.relative_to(tree)) for f in files)
    return [name for name in names if not name.startswith(OPTIONAL)]


def sampled(tree: Path, paths: list[str], count: int, seed: int) -> list[Placed]:
    all_of_them = [p for name in sources(tree, paths) for p in mechanical(name, (tree / name).read_text())]
    # Not in the order of files: a run that is cut short is a fair sample, too.
    return random.Random(seed).sample(all_of_them, min(count, len(all_of_them)))


# --- Semantic mutants

def semantic(tree: Path, rows_file: Path) -> list[Placed]:
    """The rows of the file; SystemExit that names every row whose old text is not found exactly once."""
    rows = tomllib.loads(rows_file.read_text())["mutant"]
    placed, wrong = [], []
    for row in rows:
        path = tree / row["file"]
        text = path.read_text() if path.is_file() else ""
        times = text.count(row["old"])
        if times != 1:
            wrong.append(f"{rows_file.name}: {row['name']}: its old text is found {times} times in {row['file']}, not once; bring "
                         "the row up to date with the source")
            continue
        at = text.index(row["old"])
        mutant = Mutant(row["file"], text.count("\n", 0, at) + 1, row["name"], row["old"], row["new"])
        placed.append(Placed(mutant, text.replace(row["old"], row["new"])))
    if wrong:
        raise SystemExit("\n".join(wrong))
    return placed


# --- Building and testing

@dataclass
class Test:
    name: str
    command: list[str]
    environment: dict[str, str]
    labels: list[str]
    seconds: float = 0.0

    def executable(self) -> str:
        return next((Path(word).name for word in self.command if Path(word).name.startswith("test_")), "")

    def long(self) -> bool:
        """On other numbers of ranks, or what scripts/test leaves to the night."""
        return not {"slow", "nightly"}.isdisjoint(self.labels)


def tests_of(build: Path) -> list[Test]:
    """The commands that ctest would run with the executables above, but nothing from outside."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True)
    tests = []
    for entry in json.loads(listed.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        test = Test(entry["name"], entry.get("command", []), environment, properties.get("LABELS", []))
        if test.executable() in EXECUTABLES["kernels"]:
            tests.append(test)
    return tests


def on_more_ranks(test: Test) -> list[Test]:
    """The test of one file of comm's that runs on two ranks, on three and four."""
    if test.executable() != "test_comm" or test.long() or "2" not in test.command:
        return []
    at = test.command.index("2")
    return [replace(test, name=f"{test.name} on {ranks} ranks", command=[*test.command[:at], str(ranks), *test.command[at + 1:]])
            for ranks in MORE_RANKS]


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(test: Test, seconds: float) -> str:
    """How it ended: passed, failed or timed out. mpiexec is asked to end first, for its ranks are no children of ours."""
    process = subprocess.Popen(test.command, env={**os.environ, **test.environment}, preexec_fn=limited, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return "passed" if process.wait(seconds) in (0, 77) else "failed"  # 77: skipped
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def in_order(tests: list[Test], mutant: Mutant, killers: list[str]) -> list[Test]:
    """The tests of a file of the same name first, then those that failed last, then the shortest; on other numbers of ranks last."""
    stem = Path(mutant.file).stem

    def rank(test: Test) -> tuple[bool, bool, int, float]:
        told = killers.index(test.name) if test.name in killers else len(killers)
        return test.long(), stem not in test.labels, told, test.seconds
    return sorted(tests, key=rank)


@contextmanager
def written(path: Path, text: str) -> Iterator[None]:
    """The file holds the text for the while, whatever happens."""
    original = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(original)


def compiled(name: str) -> bool:
    """True for a file of the checkout that is part of a build of the tests, or read by them."""
    return not name.startswith(("docs/", "results/", "scripts/", "inputs/")) and name.endswith(
        (".cpp", ".hpp", ".h", ".hpp.in", ".txt", ".cmake", ".json"))


class Workshop:
    """A copy of the checkout, its build and its tests."""

    def __init__(self, folder: Path, jobs: int, slow: bool) -> None:
        self.tree, self.build, self.jobs, self.slow = folder / "tree", folder / "out", jobs, slow
        self.killers: list[str] = []  # the last first
        self.tests: list[Test] = []

    def refresh(self) -> bool:
        """Brings the copy up to date, which also takes back a mistake that a run cut short left; whether anything changed."""
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout.splitlines()
        changed = False
        for name in listed:
            source, target = ROOT / name, self.tree / name
            if not compiled(name) or not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            target.touch()
            changed = True
        return changed

    def compile(self, target: str) -> bool:
        command = ["cmake", "--build", str(self.build), "--target", target, "--parallel", str(self.jobs)]
        return subprocess.run(command, capture_output=True).returncode == 0

    def prepare(self) -> None:
        """Builds the tests without a mistake, and learns how long they take; SystemExit if one fails."""
        if not self.refresh() and self.timings().is_file():
            seconds = json.loads(self.timings().read_text())
        else:
            self.timings().unlink(missing_ok=True)
            seconds = {}
        subprocess.run(["cmake", "-S", str(self.tree), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O1"] + (["-GNinja"] if shutil.which("ninja") else []), check=True,
                       stdout=subprocess.DEVNULL)
        for target in EXECUTABLES["kernels"]:
            if not self.compile(target):
                raise SystemExit(f"{target} does not compile; see cmake --build {self.build} --target {target}")
        self.tests = [test for test in tests_of(self.build) if self.slow or not test.long()]
        self.tests += [other for test in self.tests for other in on_more_ranks(test)]
        for test in self.tests:
            if test.name not in seconds:
                begin = time.monotonic()
                if run(test, 900) != "passed":
                    raise SystemExit(f"{test.name} fails without a mistake; see ctest --test-dir {self.build} -R {test.name}")
                seconds[test.name] = time.monotonic() - begin
            test.seconds = seconds[test.name]
        self.timings().write_text(json.dumps(seconds))

    def timings(self) -> Path:
        return self.build.parent / "seconds.json"

    @staticmethod
    def executables(file: str) -> list[str]:
        return EXECUTABLES[max((folder for folder in EXECUTABLES if file.startswith(folder + "/")), key=len)]

    def outcome(self, mutant: Mutant) -> tuple[str, str]:
        """The tests' verdict on the tree as it is, and the test that noticed."""
        for executable in self.executables(mutant.file):
            if not self.compile(executable):
                return "did not compile", ""
            for test in in_order([t for t in self.tests if t.executable() == executable], mutant, self.killers):
                ending = run(test, 20 + 10 * test.seconds)
                if ending != "passed":
                    self.killers = [test.name] + [name for name in self.killers if name != test.name]
                    return ("killed" if ending == "failed" else "timed out"), test.name
        return "survived", ""

    def try_out(self, placed: Placed) -> dict[str, object]:
        begin = time.monotonic()
        with written(self.tree / placed.mutant.file, placed.text):
            outcome, by = self.outcome(placed.mutant)
        return {**asdict(placed.mutant), "outcome": outcome, "by": by, "seconds": round(time.monotonic() - begin, 1)}


# --- Records

Record = dict[str, object]


def key_of(record: Record) -> tuple[object, ...]:
    return tuple(record[name] for name in ("file", "line", "what", "old", "new"))


def records_in(path: Path) -> dict[tuple[object, ...], Record]:
    lines = path.read_text().splitlines() if path.is_file() else []
    return {key_of(record): record for record in map(json.loads, lines)}


def summary(records: list[Record]) -> str:
    """One line: how many ended how, and the score: noticed of all that compiled."""
    count = {name: sum(r["outcome"] == name for r in records) for name in ("killed", "timed out", "survived", "did not compile")}
    noticed = count["killed"] + count["timed out"]
    compiled = noticed + count["survived"]
    score = f"{100 * noticed / compiled:.1f} %" if compiled else "-"
    return ", ".join(f"{n} {name}" for name, n in count.items()) + f"; noticed: {noticed} of {compiled}, {score}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="where to make mechanical mistakes (default: kernels comm solvers)")
    parser.add_argument("--sample", type=int, default=100, metavar="N", help="number drawn at random (default 100)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another draw (default 1)")
    parser.add_argument("--semantic", nargs="?", const=SEMANTIC, type=Path, metavar="FILE",
                        help="instead, the mistakes that people thought of (tests/mutation/semantic.toml)")
    parser.add_argument("--list", action="store_true", help="only print the mistakes")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "mutate" / "mutants.json", metavar="FILE",
                        help="JSON lines (default build/mutate/mutants.json); mutants in it are not tried again unless they survived")
    parser.add_argument("--slow", action="store_true",
                        help="also the tests on other numbers of ranks and those of the night, which take minutes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="of the compiler (default: all cores)")
    options = parser.parse_args(arguments)

    def mutants(tree: Path) -> list[Placed]:
        if options.semantic:
            return semantic(tree, options.semantic)
        return sampled(tree, options.paths or ["kernels", "comm", "solvers"], options.sample, options.seed)

    asked = mutants(ROOT)
    if options.list:
        for placed in asked:
            m = placed.mutant
            print(f"{m.file}:{m.line}: {m.what}: {m.old!r} -> {m.new!r}")
        return 0
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # puts back what is changed
    workshop = Workshop(ROOT / "build" / "mutate", options.jobs, options.slow)
    workshop.prepare()
    records = records_in(options.output)
    for placed in asked:
        before = records.get(placed.mutant.key())
        if before and before["outcome"] != "survived":
            continue
        record = workshop.try_out(placed)
        records[placed.mutant.key()] = record
        print(f"{record['outcome']:15s} {record['seconds']:6} s  {placed.mutant.file}:{placed.mutant.line}: {placed.mutant.what} "
              f"{record['by']}", flush=True)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text("".join(json.dumps(r) + "\n" for r in records.values()))
    mine = [records[placed.mutant.key()] for placed in asked]
    print(summary(mine))
    return int(bool(options.semantic) and any(r["outcome"] in ("survived", "did not compile") for r in mine))


if __name__ == "__main__":
    sys.exit(ended(lambda: main(sys.argv[1:])))

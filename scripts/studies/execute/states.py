"""How far a study has come: of every start whether it is done, failed and why, running, or missing. Read from files alone."""

import os
import re
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from studies.execute.folder import STALE_MINUTES, Written
from studies.records import Run, UnreadableRecords, read_runs, shown

SIGNALS = {
    129: "SIGHUP",
    130: "SIGINT",
    134: "SIGABRT",
    135: "SIGBUS",
    136: "SIGFPE",
    137: "SIGKILL",
    139: "SIGSEGV",
    143: "SIGTERM",
}


WORDS = ("done", "failed", "interrupted", "running", "missing")


@dataclass(frozen=True)
class State:
    """The state of one start: a point and its round."""

    point: str
    round: int
    word: str  # one of WORDS
    reason: str = ""
    run: Run | None = None  # its records: of a start that is done those that count
    attempts: int = 0

    @property
    def again(self) -> bool:
        """True if the study, continued, would start it again."""
        return self.word in ("missing", "interrupted") or (
            self.word == "failed" and (self.run is None or self.run.verdict in ("KILLED", "DRY", "PREDICTED"))
        )


def began(process: int) -> str:
    """As in the job script: the time at which a process of this node began; empty if it is dead."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return ""
    return "" if state[0] == "Z" else state[19]


def alive(claim: Path) -> bool:
    try:
        node, process, begin = claim.read_text().split()
    except (OSError, ValueError):
        return time.time() - claim.stat().st_mtime < 60  # it is just being made, or its script was killed at that
    if node == socket.gethostname():
        return began(int(process)) == begin
    return time.time() - claim.stat().st_mtime < 60 * STALE_MINUTES


def last_words(text: Path) -> str:
    """The first line of what the run said that may tell why it failed: what launchers say of it comes later."""
    try:
        lines = [line.strip() for line in text.read_text(errors="replace").splitlines() if line.strip(" -*=")]
    except OSError:
        return ""
    telling = [
        line
        for line in lines
        if re.search(r"\berror\b|could not|CHECK .*FAIL|no space|unknown key|did you mean|fault", line, re.I)
    ]
    return telling[0][:300] if telling else ""


def interruption(run: Run | None) -> str:
    """The reason why a run ended early, and how far it had come."""
    result = run.result if run else {}
    by = {"time_limit": "by its time limit", "signal": "by a signal"}.get(result.get("interrupted_by") or "", "")
    # A run that repeats until some time is spent does more repeats than its least number.
    parts = ((one["done"], one["all"], one["what"]) for one in result.get("done") or [])
    done = ", ".join(f"{done} of {most} {what} done" if done <= most else f"{done} {what} done" for done, most, what in parts)
    return "; ".join(filter(None, (by, done)))


def read_run(path: Path, writing: bool) -> Run | None:
    try:
        return read_runs(path, writing)[-1]
    except UnreadableRecords:
        return None


def state_of(written: Written, point: str, number: int) -> State:
    """By all attempts at it: the first that ended with a result counts."""
    folder = written.folder / "runs" / point
    attempt = 1
    state = State(point, number, "missing")
    while (claim := folder / f"{number}.{attempt}.claim").exists():
        base = folder / f"{number}.{attempt}"
        exit_file = Path(f"{base}.exit")
        status = exit_file.read_text().strip() if exit_file.exists() else None
        running = status is None and alive(claim)
        run = read_run(Path(f"{base}.json"), running)
        verdict = run.verdict if run else ""
        said = last_words(Path(f"{base}.txt"))
        if verdict == "VALID" or (written.dry_run and status == "0"):
            return State(point, number, "done", "", run, attempt)
        if verdict == "INVALID":
            assert run
            checks = ", ".join(shown(check, "name") for check in run.of("check") if not check.get("passed"))
            return State(point, number, "failed", f"check failed: {checks}" if checks else "not valid", run, attempt)
        if running:
            state = State(point, number, "running", "", run, attempt)
        elif status is None:
            state = State(point, number, "failed", "the script that ran it was killed", run, attempt)
        elif verdict == "INTERRUPTED" or status == "4":
            state = State(point, number, "interrupted", interruption(run), run, attempt)
        elif status == "0":
            state = State(
                point,
                number,
                "failed",
                f"no result in its records: {said}" if said else "no result in its records",
                run,
                attempt,
            )
        else:
            signal = f", {SIGNALS[int(status)]}" if status.isdigit() and int(status) in SIGNALS else ""
            what = "refused" if status == "2" else f"exit status {status or 'unknown, is the disk full?'}{signal}"
            state = State(point, number, "failed", f"{what}: {said}" if said else what, run, attempt)
        attempt += 1
    return state


def states_of(written: Written) -> list[State]:
    return [state_of(written, point, number) for point, number in written.starts]


def counts_of(states: list[State]) -> dict[str, int]:
    return {word: sum(state.word == word for state in states) for word in WORDS}


def status_text(written: Written) -> str:
    states = states_of(written)
    counts = counts_of(states)
    lines = [", ".join(f"{count} {word}" for word, count in counts.items()) + f"; of {len(states)} starts"]
    for word in WORDS[1:]:
        for state in (state for state in states if state.word == word):
            tried = f" ({state.attempts} attempts)" if state.attempts > 1 else ""
            lines.append(f"{word}  {state.point}, round {state.round}{tried}{': ' if state.reason else ''}{state.reason}")
    lines += dict.fromkeys(f"damaged  {line}" for state in states if state.run for line in state.run.damage)
    shared = dict.fromkeys(state.point for state in states if state.run and state.run.head.get("shared_cores"))
    if shared:
        lines.append(f"shared  {', '.join(shared)}: ranks shared cores; times mean little")
    if any(state.again for state in states):
        lines.append(f"go on with: scripts/study run {os.path.relpath(written.folder)}, or submit")
    return "\n".join(lines) + "\n"

"""Runs a study here: starts its job script, which does everything, and tells how far it is."""

import contextlib
import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import mean
from types import FrameType
from typing import TextIO

from studies.define.checked_toml import Refused
from studies.execute.folder import Written
from studies.execute.states import State, state_of, states_of
from studies.needs import missing

PR_SET_PDEATHSIG = 1


def die_together() -> None:
    """In the child: SIGTERM when this process ends, however that is; Linux only, elsewhere the script goes on alone."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def time_words(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Plain:
    """Progress where no terminal may be watching: a line a start that has ended."""

    def __init__(self, total: int, done: int, out: TextIO):
        self.total, self.out = total, out
        print(f"{done} of {total} starts are done already", file=out, flush=True)

    def show(self, ended: int, left: float | None, state: State | None) -> None:
        if state:
            more = f", {time_words(left)} left" if left is not None and ended < self.total else ""
            why = f": {state.reason}" if state.reason else ""
            print(
                f"{ended}/{self.total} {state.point}, round {state.round}: {state.word}{why}{more}", file=self.out, flush=True
            )

    def close(self) -> None:
        pass


class Bar:
    """A bar of rich, on a terminal."""

    def __init__(self, total: int, done: int):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.completed}/{task.total}"), BarColumn(), TextColumn("{task.description}")
        self.progress = Progress(*columns, console=Console(stderr=True))
        self.task = self.progress.add_task("", total=total, completed=done)
        self.progress.start()

    def show(self, ended: int, left: float | None, state: State | None) -> None:
        text = f"{time_words(left)} left" if left is not None else ""
        self.progress.update(self.task, completed=ended, description=text)
        if state and state.word != "done":
            self.progress.console.print(
                f"{state.word}: {state.point}, round {state.round}: {state.reason}", highlight=False, markup=False
            )

    def close(self) -> None:
        self.progress.stop()


def make_progress(total: int, done: int) -> Plain | Bar:
    if sys.stderr.isatty():
        try:
            return Bar(total, done)
        except ModuleNotFoundError:
            print(missing("rich", "draws a progress bar"), file=sys.stderr)
    return Plain(total, done, sys.stderr)


def run(written: Written, sleep: Callable[[float], None] = time.sleep) -> int:
    """0 if afterwards every start is done, 1 if not. SIGINT and SIGTERM end it after the run at hand was asked to end."""
    scripts = [written.folder / job["script"] for job in written.jobs]
    for script in scripts:
        if not script.is_file():
            raise Refused(f"{script}: missing; write the study again, into another folder")
    seen = {(state.point, state.round): state for state in states_of(written)}
    total = len(seen)
    ended = sum(state.word == "done" for state in seen.values())
    progress = make_progress(total, ended)
    begin = time.monotonic()
    seconds: list[float] = []  # time of each ended start
    child: subprocess.Popen[bytes] | None = None

    def stop(number: int, frame: FrameType | None) -> None:
        scripts.clear()
        if child:
            child.send_signal(signal.SIGTERM)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while scripts or child:
            if not child:
                command = ["bash", scripts.pop(0).name]
                child = subprocess.Popen(command, cwd=written.folder, stdout=subprocess.DEVNULL, preexec_fn=die_together)
            if child.poll() is not None:
                child = None
            for key, old in seen.items():
                if old.word == "done":
                    continue
                state = seen[key] = state_of(written, *key)
                if state.word not in ("running", "missing") and (state.word, state.attempts) != (old.word, old.attempts):
                    ended += 1
                    seconds.append(time.monotonic() - begin - sum(seconds))
                    progress.show(ended, mean(seconds) * (total - ended), state)
            if child:
                sleep(0.5)
    finally:
        progress.close()
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0 if all(state.word == "done" for state in seen.values()) else 1

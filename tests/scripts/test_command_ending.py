"""How commands of scripts/ end where their output cannot be written: a reader that has gone, a full disk."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from support import InFolder, lines

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("study", "report", "simulate", "hosts", "docs", "compare_peers", "check_result.py", "mutate.py", "compile_alone.py")


# argparse drops mistakes that it meets at once.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def start(out: int, *words: object) -> tuple[int, str]:
    done = subprocess.run([ROOT / "scripts" / str(words[0]), *map(str, words[1:])], stdout=out, stderr=subprocess.PIPE, text=True,
                          env=BUFFERED, check=False)  # fmt: skip
    return done.returncode, done.stderr


def without_reader(*words: object) -> tuple[int, str]:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return start(writer, *words)
    finally:
        os.close(writer)


def on_full_disk(*words: object) -> tuple[int, str]:
    with open("/dev/full", "w") as full:
        return start(full.fileno(), *words)


class Ending(InFolder):
    def records(self, runs: int) -> Path:
        run = [{"record": "run", "ranks": 1, "threads": 1, "label": "half a pair: \ud800", "deck": {"run": {"label": "\ud800"}}},
               {"record": "result", "valid": True}]  # fmt: skip
        return self.file("runs.json", lines(run * runs))

    def test_without_a_reader_each_ends_quietly_as_cat_does(self) -> None:
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(without_reader(command, "--help"), (-signal.SIGPIPE, ""))
        self.assertEqual(without_reader("report", "compare", self.records(2000)), (-signal.SIGPIPE, ""))

    def test_on_a_full_disk_each_ends_with_3_and_a_line(self) -> None:
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(on_full_disk(command, "--help"), (3, "standard output: No space left on device\n"))
        self.assertEqual(on_full_disk("report", "compare", self.records(2000)), (3, "standard output: No space left on device\n"))

    def test_characters_that_are_none_are_printed_escaped(self) -> None:
        other = self.file("other.json", '{"record":"run","deck":{"run":{"label":"x"}}}\n')
        done = subprocess.run([ROOT / "scripts/report", "compare", self.records(1), other], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("| \\ud800 |", done.stdout)

    def test_a_file_that_cannot_be_written_is_named(self) -> None:
        page = self.folder / "none" / "page.html"
        status, told = start(subprocess.DEVNULL, "report", "history", self.history(), "--output", page)
        self.assertEqual((status, "Traceback" in told), (2, False), told)

    def test_a_file_that_the_disk_has_no_room_for_is_named_and_not_left(self) -> None:
        script = """import resource, sys
from pathlib import Path
from studies.ending import ended
from studies.execute.folder import write_new
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.exit(ended(lambda: len(str(write_new(Path(sys.argv[1]), 2000 * "x")))))"""
        page = self.folder / "page.html"
        done = subprocess.run([sys.executable, "-c", script, page], capture_output=True, text=True, cwd=ROOT / "scripts", check=False)
        self.assertEqual((done.returncode, done.stderr), (3, f"{page}: File too large; nothing of it was written\n"))
        self.assertEqual(list(self.folder.iterdir()), [])

    def history(self) -> Path:
        head = {"record": "run", "revision": "a", "date": "2026-01-01", "deck": {}}
        return self.file("history/a.json", lines([head, {"record": "result", "valid": True, "fom": 1e6}])).parent

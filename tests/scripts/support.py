"""Shared by tests of scripts. One of them runs as

    PYTHONPATH=scripts python3 -m unittest discover -v -s tests/scripts -p test_docs.py
"""

import contextlib
import importlib.util
import io
import json
import tempfile
import unittest
from collections.abc import Callable, Iterable
from pathlib import Path


def needs(*packages: str) -> None:
    """Skips the tests of the calling module unless this Python has the packages."""
    for package in packages:
        if not importlib.util.find_spec(package):
            raise unittest.SkipTest(f"no {package} for this Python (python3-{package})")


def lines(records: Iterable[object]) -> str:
    """Records as a file has them."""
    return "".join(json.dumps(record) + "\n" for record in records)


def ended(main: Callable[[list[str]], int], *words: object) -> tuple[int, str, str]:
    """The exit status of a command that is started in this process, what it prints, and its messages."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            status = main([*map(str, words)])
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), told.getvalue()


class InFolder(unittest.TestCase):
    """Tests that have a folder each."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, name: str, text: str) -> Path:
        path = self.file(name, text)
        path.chmod(0o755)
        return path

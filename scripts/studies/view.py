"""The command line of scripts that print one text made of records."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from studies.records import UnreadableRecords


def print_view(about: str | None, words: list[str], view: Callable[[list[Path]], str]) -> int:
    """Prints the view of the files that the words name; the exit status, 2 where they hold no records."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    files = parser.parse_args(words).files
    return print_text(lambda: view(files))


def print_text(text: Callable[[], str]) -> int:
    """Prints it; the exit status, 2 where it cannot be made of the records."""
    try:
        print(text(), end="")
    except UnreadableRecords as error:
        print(error, file=sys.stderr)
        return 2
    return 0

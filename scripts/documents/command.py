"""The command scripts/docs: its words, its messages and its exit status."""

import argparse
import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from documents.checks import mistakes, words
from documents.layout import ROOT
from documents.records import write_fields

ABOUT = """Builds the site of docs/ and results/ into build/site, by MkDocs.

    scripts/docs            builds; a warning of MkDocs is an error
    scripts/docs --serve    builds, shows the site at an address of this machine, and follows changes of the pages
    scripts/docs --check    checks links, anchors, the navigation, words and generated tables; builds where MkDocs
                            is installed, and says so where it is not
    scripts/docs --tables   writes the fields of docs/reference/records.md again

MkDocs is installed from PyPI into build/docs, in the versions that scripts/documents/requirements.txt names.
Exit status: 0 all is well, 1 a check or the build failed, 2 refused."""
ENVIRONMENT = ROOT / "build/docs"
REQUIREMENTS = Path(__file__).parent / "requirements.txt"
QUIET = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # no word on the future of MkDocs
ADDRESS = "127.0.0.1:8000"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="scripts/docs", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = made.add_mutually_exclusive_group()
    action.add_argument("--serve", nargs="?", const=ADDRESS, metavar="ADDRESS", help=f"by default {ADDRESS}")
    action.add_argument("--check", action="store_true")
    action.add_argument("--tables", action="store_true")
    return made


def installed() -> list[str] | None:
    """The start of a command that runs MkDocs with the pinned versions, or with those of this Python; None without any."""
    mark = ENVIRONMENT / "requirements.txt"
    if mark.exists() and mark.read_text() == REQUIREMENTS.read_text():
        return [str(ENVIRONMENT / "bin/python"), "-m", "mkdocs"]
    if importlib.util.find_spec("mkdocs") and importlib.util.find_spec("material"):
        return [sys.executable, "-m", "mkdocs"]
    return None


def install() -> list[str]:
    if found := installed():
        return found
    print(f"Installing MkDocs into {ENVIRONMENT.relative_to(ROOT)}", flush=True)
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    python = str(ENVIRONMENT / "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)], check=True)
    (ENVIRONMENT / "requirements.txt").write_text(REQUIREMENTS.read_text())
    return [python, "-m", "mkdocs"]


def build(mkdocs: Sequence[str]) -> int:
    # Not --quiet: that hides warnings from --strict.
    done = subprocess.run([*mkdocs, "build", "--strict", "--clean"], cwd=ROOT, env=QUIET, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        return 1
    print("built: build/site/index.html")
    return 0


def check() -> int:
    found = mistakes(ROOT)
    print("\n".join(found or [f"docs/: {words(ROOT)} words; links, navigation and tables hold"]))
    if mkdocs := installed():
        return max(build(mkdocs), 1 if found else 0)
    print("skipped: the strict build of docs/: MkDocs is not installed; scripts/docs installs it")
    return 1 if found else 0


def main(given: Sequence[str]) -> int:
    asked = parser().parse_args(given)
    if asked.check:
        return check()
    if asked.tables:
        write_fields(ROOT)
        return 0
    try:
        mkdocs = install()
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"MkDocs could not be installed: {error}\n{REQUIREMENTS.relative_to(ROOT)} names its packages.", file=sys.stderr)
        return 2
    if asked.serve:
        try:
            return subprocess.run([*mkdocs, "serve", "--dev-addr", asked.serve], cwd=ROOT, env=QUIET, check=False).returncode
        except KeyboardInterrupt:
            return 0
    return build(mkdocs)

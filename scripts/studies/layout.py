"""The place of Keel's files, and the names of its commands: in a checkout, installed by CMake, or installed by pip."""

import re
from pathlib import Path

# The folder with scripts/ and inputs/: a checkout, PREFIX/share/keel, or the package keel_tools.
ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "inputs"
TEMPLATES = ROOT / "scripts/studies/templates"
LAUNCHERS = TEMPLATES / "launchers"


def as_installed(text: str) -> str:
    text = re.sub(r"\bscripts/check_result\.py\b", "keel-check-result", text)
    return re.sub(r"\bscripts/(study|report|simulate|hosts)\b", r"keel-\1", text)


def named(text: str) -> str:
    """The text with the names that the commands have here."""
    return text if (ROOT / "CMakeLists.txt").is_file() else as_installed(text)

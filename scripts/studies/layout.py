"""The place of Keel's files, and the names of its commands: in a checkout, installed by CMake, or installed by pip."""

import re
from pathlib import Path

# The folder with scripts/ and inputs/: a checkout, PREFIX/share/keel, or the package keel_tools.
ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "inputs"
TEMPLATES = ROOT / "scripts/studies/templates"
LAUNCHERS = TEMPLATES / "launchers"


def as_installed(text: str) -> str:
    """The text with installed commands, to which decks and studies are known by name."""
    text = re.sub(r"\bscripts/check_result\.py\b", "keel-check-result", text)
    text = re.sub(r"\bscripts/(study|report|simulate|hosts)\b", r"keel-\1", text)
    text = re.sub(r"\bbuild/release/keel\b", "keel", text)
    text = re.sub(r"\b(keel-study (?:plan|write) +)inputs/studies/([\w/]+)\.toml", r"\1\2", text)
    return re.sub(r"\b(keel (?:-\S+ )*)inputs/(?=\S+\.toml)", r"\1", text)


def named(text: str) -> str:
    """The text with the names that the commands have here."""
    return text if (ROOT / "CMakeLists.txt").is_file() else as_installed(text)

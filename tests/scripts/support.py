"""Shared by tests of scripts. One of them runs as

    PYTHONPATH=scripts python3 -m unittest discover -v -s tests/scripts -p test_docs.py
"""

import importlib.util
import unittest


def needs(*packages: str) -> None:
    """Skips the tests of the calling module unless this Python has the packages."""
    for package in packages:
        if not importlib.util.find_spec(package):
            raise unittest.SkipTest(f"no {package} for this Python (python3-{package})")

"""Tests of the executable itself: python3 test_keel.py --keel PATH --mpiexec PATH [--counter PATH] [--disturber PATH] [unittest's
arguments].

Exit status 77 if there was a reason to skip every test; the reasons are printed.
The caller sets what MPI needs to start more ranks than there are cores (scripts/mpi_environment).
"""

import argparse
import importlib
import sys
import unittest
from pathlib import Path

from keel_runner import KeelTest

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py") if path.stem != "test_keel")
globals().update({name: importlib.import_module(name) for name in MODULES})


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    return unittest.TestSuite(loader.loadTestsFromModule(globals()[name]) for name in MODULES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--keel", type=Path, required=True)
    parser.add_argument("--mpiexec", type=Path, required=True)
    parser.add_argument("--counter", type=Path)  # counts MPI calls, as the disturber delays them: tests/pmpi/
    parser.add_argument("--disturber", type=Path)
    programs, rest = parser.parse_known_args()
    KeelTest.keel = programs.keel.absolute()
    KeelTest.mpiexec = programs.mpiexec  # perhaps a name to be found in PATH
    KeelTest.counter = programs.counter and programs.counter.absolute()
    KeelTest.disturber = programs.disturber and programs.disturber.absolute()
    result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())

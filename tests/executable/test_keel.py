"""Tests of the executable itself: python3 test_keel.py --keel PATH --mpiexec PATH [--counter PATH] [--disturber PATH] [unittest's
arguments].

Exit status 77 if there was a reason to skip every test; the reasons are printed.
The caller sets what MPI needs to start more ranks than there are cores (scripts/mpi_environment).
"""

import argparse
import sys
import unittest
from pathlib import Path

import test_agglomeration
import test_backends
import test_choice
import test_counts
import test_decks
import test_detection
import test_domains
import test_dry_run_limit
import test_ending
import test_full_multigrid
import test_interleavings
import test_modes
import test_network
import test_peers
import test_placement
import test_planes
import test_prediction
import test_reference_path
import test_report
import test_scales
import test_schemes
import test_simulation
import test_solution
import test_spmv
from keel_runner import KeelTest


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    modules = (
        test_agglomeration, test_backends, test_choice, test_counts, test_decks, test_detection, test_domains, test_dry_run_limit,
        test_ending, test_full_multigrid, test_interleavings, test_modes, test_network, test_peers, test_placement, test_planes, test_prediction, test_reference_path, test_report, test_scales, test_schemes,
        test_simulation, test_solution, test_spmv,
    )  # fmt: skip
    return unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--keel", type=Path, required=True)
    parser.add_argument("--mpiexec", type=Path, required=True)
    parser.add_argument("--counter", type=Path)  # of MPI calls, and their disturber: tests/pmpi/
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

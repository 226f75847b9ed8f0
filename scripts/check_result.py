#!/usr/bin/env python3
"""Checks a RESULT.json of the Keel benchmark: scripts/check_result.py --help."""

import sys

if sys.version_info < (3, 11):
    sys.exit("scripts/check_result.py wants Python 3.11 or newer; this is " + sys.version.split()[0])

from studies.benchmark_result import main
from studies.ending import ended

sys.exit(ended(lambda: main(sys.argv[1:])))

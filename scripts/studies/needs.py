"""The message for a missing package of Python."""

import sys

from studies.define.checked_toml import Refused


def missing(package: str, use: str) -> Refused:
    """Debian's packages belong to Debian's Python, which need not be the first one in PATH."""
    return Refused(
        f"no {package} for {sys.executable}, which {use}: pip install {package}, or apt-get install python3-{package.lower()} "
        f"and /usr/bin/python3 {sys.argv[0]} ..."
    )

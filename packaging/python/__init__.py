"""The commands of Keel as pip installs them. The modules of scripts/ lie in this package as in a checkout, with inputs/."""

import sys
from functools import partial
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
# An editable installation leaves the scripts in the checkout.
SCRIPTS = next(folder for folder in (HERE / "scripts", HERE.parents[1] / "scripts") if folder.is_dir())


def run(module: str) -> int:
    sys.path.insert(0, str(SCRIPTS))
    ended = import_module("studies.ending").ended
    return int(ended(lambda: import_module(module).main(sys.argv[1:])))


study = partial(run, "studies.command")
report = partial(run, "studies.views.command")
simulate = partial(run, "studies.execute.simulate")
hosts = partial(run, "namespaces.command")
check_result = partial(run, "studies.benchmark_result")

"""The command scripts/report: its subcommands, messages and exit status."""

import argparse
import sys
from collections.abc import Sequence

from studies.define.checked_toml import Refused
from studies.layout import named
from studies.records import UnreadableRecords
from studies.views import compare, history, network, page, pairs, records, whatif

ABOUT = """Tables and pages of records, the JSON lines that keel writes (output.json=FILE).

    scripts/report run        RUN.json [RUN2.json]     one HTML page, two runs side by side; also RESULT.json
    scripts/report compare    RUN.json ...             a row a run and solver
    scripts/report network    MACHINE MACHINE          messages of two machine files
    scripts/report pairs      DRY.json PICTURE.svg     who sends to whom by each scheme
    scripts/report whatif     DRY.json                sliders of a machine's numbers, from a dry run's predictions
    scripts/report records    RUN.json ...             one kind as CSV
    scripts/report history    FOLDER                   figures of merit by revision; finds losses

Documents: docs/reference/records.md. Exit status: 0 all is well, 1 history found a loss, 2 refused,
3 output could not be written (a full disk)."""

# Each has a docstring, add_options(parser) and act(options), which returns the exit status.
VIEWS = {"run": page, "compare": compare, "network": network, "pairs": pairs, "records": records,
         "history": history, "whatif": whatif}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(prog=named("scripts/report"), description=named(ABOUT), formatter_class=raw)
    views = made.add_subparsers(dest="view", required=True, metavar="VIEW")
    for name, view in VIEWS.items():
        about = named(view.__doc__ or "")
        one = views.add_parser(name, help=about.split("\n")[0], description=about, formatter_class=raw)
        view.add_options(one)
        one.set_defaults(act=view.act)
    return made


def main(words: Sequence[str]) -> int:
    options = parser().parse_args(words)
    try:
        return int(options.act(options))
    except (Refused, UnreadableRecords) as error:
        print(named(str(error)), file=sys.stderr)
        return 2

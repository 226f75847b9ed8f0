"""The command scripts/study: its words, its messages and its exit status."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.define.checked_toml import Refused
from studies.define.platforms import find
from studies.define.sites import read_site
from studies.define.study_file import Study, read_study
from studies.execute.batch import jobs_text, submit
from studies.execute.folder import read_folder, write
from studies.execute.junit import write_junit
from studies.execute.keel import find_keel
from studies.execute.plan import Plan, plan, plan_text
from studies.execute.run import run
from studies.execute.states import states_of, status_text
from studies.layout import named
from studies.records import UnreadableRecords

ABOUT = """A scaling study from one file: what would run, job scripts, runs, tables, figures and a page.

    scripts/study plan    STUDY --site SITE       what would run; nothing is written; --times predicts seconds
    scripts/study write   STUDY --site SITE DIR   deck, job scripts and plan into DIR, which is new
    scripts/study run     DIR                     runs it here, or goes on with it
    scripts/study submit  DIR                     hands the job scripts to the batch system
    scripts/study status  DIR                     done, failed and why, missing
    scripts/study collect DIR                     tables: CSV, JSON lines, Markdown
    scripts/study report  DIR                     one HTML page with figures

Documents: docs/how-to/study.md. Exit status: 0 all is well, 1 something failed or is left, 2 refused,
3 output could not be written (a full disk)."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=named("scripts/study"), description=named(ABOUT), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, about in (("plan", "what would run"), ("write", "deck, job script and plan into a new folder")):
        one = verbs.add_parser(verb, help=about)
        one.add_argument("study", metavar="STUDY", help="a name of inputs/studies, or a file.toml")
        one.add_argument("--site", default="local", help="a name of inputs/sites, or a file.toml; local by default")
        one.add_argument("--account", metavar="NAME", help="whom the batch system charges, in place of the site's")
        one.add_argument("--keel", help="executable; by default $KEEL, the release build, or that of PATH")
        one.add_argument(
            "--unchecked",
            action="store_true",
            help="without keel --dry-run, where it cannot run; --keel is then a path on the other machine",
        )
        if verb == "write":
            one.add_argument("folder", type=Path, metavar="DIR")
        else:
            one.add_argument("--times", action="store_true",
                             help="predict the time of a solve by the site's node.machine: up to a minute a point")  # fmt: skip
    for verb, about in (
        ("run", "runs the starts that are left, here"),
        ("submit", "hands the job script to the batch system"),
        ("status", "done, failed and why, missing"),
        ("collect", "tables"),
        ("report", "tables, figures and a page"),
    ):
        one = verbs.add_parser(verb, help=about)
        one.add_argument("folder", type=Path, metavar="DIR")
        if verb == "collect":
            one.add_argument("--junit", type=Path, metavar="FILE", help="also a test case for each start, as JUnit's XML; replaces FILE")
        if verb == "report":
            one.add_argument("--figures", default="svg", metavar="FORMS", help="of svg, pdf, png; with commas between them")
    return made


def planned(options: argparse.Namespace) -> Plan:
    """The mistakes of the study and those of the site are reported together."""
    wrong: list[str] = []
    study: Study | None = None
    site = None
    try:
        study = read_study(find(options.study, "studies"))
    except Refused as error:
        wrong.append(str(error))
    try:
        site = read_site(find(options.site, "sites"))
    except Refused as error:
        wrong.append(str(error))
    if wrong or not study or not site:
        raise Refused("\n".join(wrong))
    if options.account:
        if site.here:
            raise Refused(f"--account {options.account}: site {site.name} has no batch system; leave it out")
        site = site.charged_to(options.account)
    timed = options.verb == "plan" and options.times
    if timed and options.unchecked:
        raise Refused("--times, --unchecked: times are predicted by keel --dry-run; leave one out")
    return plan(study, site, None if options.unchecked else find_keel(options.keel), timed)


def act(options: argparse.Namespace, command: str) -> int:
    if options.verb == "plan":
        found = planned(options)
        print(named(plan_text(found)), end="")
        return 2 if found.errors else 0
    if options.verb == "write":
        found = planned(options)
        if found.errors:
            raise Refused("\n".join([*found.errors, "nothing was written"]))
        write(found, find_keel(options.keel, options.unchecked), options.folder, command)
        print(named(plan_text(found) + f"next: scripts/study {'run' if found.site.here else 'submit'} {options.folder}"))
        return 0
    if options.verb == "run":
        status = run(read_folder(options.folder))
        print(named(status_text(read_folder(options.folder))), end="")
        return status
    if options.verb == "submit":
        written = read_folder(options.folder)
        if left := {state.point for state in states_of(written) if state.again}:
            return submit(written, left)
        print("every start is done: nothing to submit")
        return 0
    if options.verb == "status":
        written = read_folder(options.folder)
        print(named(status_text(written) + jobs_text(written)), end="")
        return 0 if all(state.word == "done" for state in states_of(written)) else 1
    written = read_folder(options.folder)
    if options.verb == "collect" and options.junit:
        print(f"wrote {write_junit(options.junit, written.facts['study']['name'], states_of(written))}")
    # Only here, since pandas and matplotlib take a second to load, and are not everywhere.
    if options.verb == "collect":
        from studies.evaluate.collect import write_tables
        from studies.evaluate.scaling import scaling_markdown
        from studies.evaluate.tables import gather

        tables = gather(written)
        made = list(write_tables(tables))
        print(scaling_markdown(tables), end="")
    else:
        from studies.evaluate.page import forms_of
        from studies.evaluate.report import report

        made = report(written, forms_of(options.figures))
    print("\n".join(f"wrote {path}" for path in made))
    return 0


def main(words: Sequence[str]) -> int:
    command = shlex.join([named("scripts/study"), *words])
    try:
        return act(parser().parse_args(words), command)
    except (Refused, UnreadableRecords) as error:
        print(named(str(error)), file=sys.stderr)
        return 2

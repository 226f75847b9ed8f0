"""Makes one HTML page with sliders for a machine's numbers: predicted seconds of a solve by bottom solver, on other machines.

Reads the records of a dry run with comm.machine, such as

    keel --dry-run inputs/survey.toml problem.ranks=512 comm.machine=slingshot11 output.json=RECORDS.json

Of a file with several dry runs the last one is shown. The page lies beside the file unless --output names another place, and nothing is
overwritten. It fetches nothing.
"""

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from studies.records import Record, Run, UnreadableRecords, read_all, shown

SCHEMES_OF_MACHINES = ("auto", "tuned")
NEEDED = {"machine", "program_progresses", "events", "slices"}


def with_costs(run: Run) -> list[Record]:
    return [solve for solve in run.of("solve") if NEEDED <= (solve.get("costs") or {}).keys()]


def predicted(path: Path) -> Run:
    """The last dry run of a file whose solves have costs."""
    runs = [run for run in read_all([path]) if with_costs(run)]
    if not runs:
        raise UnreadableRecords(f"{path}: no predicted solve with costs; make records by keel --dry-run comm.machine=NAME output.json=FILE")
    return runs[-1]


def page_of(run: Run, words: str) -> str:
    """`words`: those of the dry run behind keel."""
    from studies.execute.folder import renderer

    solves = with_costs(run)
    failed = [shown(solve, "solver") for solve in solves if not solve.get("converged")]
    kept = [solve for solve in solves if solve.get("converged")] or solves
    costs: list[dict[str, Any]] = [{name: value for name, value in solve["costs"].items() if name != "machine"} for solve in kept]
    data = {"machine": kept[0]["costs"]["machine"],
            "solves": [{"solver": run.solver_of(solve), "costs": one} for solve, one in zip(kept, costs, strict=True)]}  # fmt: skip
    schemes = dict.fromkeys(shown(level, "scheme") for level in run.plan.get("levels") or [])
    given = run.key("comm.all_reduce_us")
    remarks = [f"{', '.join(failed)}: left out, the proxy solve did not converge."] if failed else []
    if run.key("comm.scheme") in SCHEMES_OF_MACHINES or run.key("comm.allreduce") == "auto":
        remarks.append("On another machine keel may choose others.")
    facts = {
        "machine": shown(kept[0], "machine"),
        "ranks": f"{shown(run.plan, 'ranks')} ranks, {shown(run.plan, 'nodes')} nodes",
        "schemes": ", ".join(schemes) or "-",
        "all_reduces": shown(kept[0], "allreduce_model"),
        "one_word": f", of which one word takes {given} us as given" if given else "",
        "remark": " ".join(remarks),
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return str(renderer().get_template("whatif.html.j2").render(facts=facts, data=text, words=words))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="RECORDS.json")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE.html")


def act(options: argparse.Namespace) -> int:
    from studies.execute.folder import write_new

    run = predicted(options.file)
    page = options.output or options.file.with_suffix(".html")
    print(f"wrote {write_new(page, page_of(run, shlex.join((run.plan.get('command') or ['keel', '--dry-run'])[1:])))}")
    return 0

"""The folder of a study that is to be run: its deck, its job script, and its sources. Nothing there is ever overwritten."""

import json
import os
import shlex
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any

from studies.define.checked_toml import Refused
from studies.define.points import is_baseline
from studies.execute.keel import SIMULATED, deck_text, mpiexec_of, version_of
from studies.execute.plan import Job, Plan
from studies.layout import LAUNCHERS, ROOT, TEMPLATES, named
from studies.needs import missing

RESERVE_SECONDS = 60  # a job's seconds that no run gets: its launcher starts ranks before, and waits for them afterwards
LEAST_SECONDS = 5  # a run that has no more would not get anywhere
STALE_MINUTES = 10  # a claim of another node that was not touched for so long is that of a dead script


def write_new(path: Path, content: str | bytes) -> Path:
    """Writes a file that is not there yet, whole or not at all; a further version gets a number, unless the last says the same."""
    content = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    taken = [path, *(path.with_name(f"{path.stem}.{number}{path.suffix}") for number in range(2, 1000))]
    last = next((number for number, one in enumerate(taken) if not one.exists()), len(taken))
    if last and taken[last - 1].read_bytes() == content:
        return taken[last - 1]
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.link(name, taken[last])  # unlike a renaming it fails where another was faster
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; nothing of it was written", str(taken[last])) from None
    finally:
        os.unlink(name)
    return taken[last]


def renderer() -> Any:
    try:
        import jinja2
    except ModuleNotFoundError:
        raise missing("Jinja2", "fills in job scripts and pages") from None
    loader = jinja2.FileSystemLoader([TEMPLATES, LAUNCHERS, ROOT / "scripts"])
    made = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
                              undefined=jinja2.StrictUndefined, autoescape=lambda name: bool(name and ".html" in name))  # fmt: skip
    made.filters |= {"quote": shlex.quote, "named": named}
    return made


def near(path: Path, folder: Path) -> str:
    """As seen from the folder, where both are parts of one checkout; a folder that is moved as a whole then still works."""
    inside = path.is_relative_to(ROOT) and folder.resolve().is_relative_to(ROOT)
    return os.path.relpath(path, folder.resolve()) if inside else str(path.absolute())


def job_script(plan: Plan, job: Job, keel: str, mpiexec: str, scripts: str = "scripts") -> tuple[str, str]:
    """The script, and the command that submits it from its folder; a script without starts collects, and AFTER stands there for
    the jobs that it waits for."""
    template = renderer().get_template(f"{plan.site.launcher}.sh.j2")
    starts = []
    for one, number in job.starts:
        at = one.placement
        words = [one.point.name, str(number), *map(str, (at.nodes, at.ranks, at.ranks_per_node, at.threads, at.cores_per_rank))]
        starts.append([shlex.quote(word) for word in (*words, *one.point.words)])
    hours, minutes = divmod(job.minutes, 60)
    options = "".join(f" {option}" for option in plan.site.options)
    context = {"study": plan.study, "site": plan.site, "starts": starts, "points": len({one.point.name for one, _ in job.starts}),
               "nodes": job.nodes, "script": job.script, "after": "" if starts else "AFTER ",
               "hours": hours, "minutes": minutes, "keel": shlex.quote(keel), "mpiexec": shlex.quote(mpiexec),
               "scripts": shlex.quote(scripts), "seconds": 60 * job.minutes, "reserve_seconds": RESERVE_SECONDS, "least_seconds": LEAST_SECONDS,
               "time_limit": ceil(plan.time_limit), "options": options, "stale_minutes": STALE_MINUTES}  # fmt: skip
    made = template.new_context(context)
    submit = "".join(template.blocks["submit"](made)) if "submit" in template.blocks else "bash job.sh"
    return template.render(context), submit


@dataclass(frozen=True)
class Written:
    """A folder that write() has made."""

    folder: Path
    facts: dict[str, Any]  # plan.json

    @property
    def points(self) -> list[dict[str, Any]]:
        return list(self.facts["points"])

    @property
    def starts(self) -> list[tuple[str, int]]:
        return [(name, number) for name, number in self.facts["starts"]]

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """All jobs but the one that collects."""
        return [job for job in self.facts["jobs"] if job["starts"]]

    @property
    def dry_run(self) -> bool:
        return bool(self.facts["study"]["dry_run"])

    @property
    def simulated(self) -> bool:
        return bool(self.facts["site"]["launcher"] == "simulated")

    @property
    def times(self) -> str:
        """The kind of the seconds of its solves."""
        return "simulated" if self.simulated else "measured"


def write(plan: Plan, keel: Path, folder: Path, command: str) -> Written:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder}: is there already, and nothing is overwritten; choose another, or go on with it: "
                      f"scripts/study run {folder}")  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror}") from None
    started = SIMULATED if plan.site.simulated else keel
    jobs = [*plan.jobs, *filter(None, [plan.collecting])]
    scripts = [job_script(plan, job, near(started, folder), mpiexec_of(keel), near(ROOT / "scripts", folder)) for job in jobs]
    study = {key: value for key, value in asdict(plan.study).items() if key not in ("path", "deck")}
    facts = {
        "study": study | {"deck": plan.study.deck.name, "constant": plan.constant},
        "site": {key: value for key, value in asdict(plan.site).items() if key != "path"} | {"name": plan.site.name},
        "jobs": [{"script": job.script, "nodes": job.nodes, "minutes": job.minutes, "starts": len(job.starts), "submit": submit}
                 for job, (_, submit) in zip(jobs, scripts, strict=True)],
        "points": [{"name": one.point.name, "values": one.point.values, "words": one.words, **asdict(one.placement),
                    "baseline": is_baseline(plan.study, one.point),
                    "predicted_bytes_per_rank": one.predicted.bytes_per_rank, "problems": one.problems} for one in plan.points],
        "starts": [(one.point.name, number) for one, number in plan.starts],
        "written": {"date": datetime.now(UTC).isoformat(timespec="seconds"), "command": command, "keel": version_of(keel)},
    }  # fmt: skip
    write_new(folder / "study.toml", plan.study.path.read_text(encoding="utf-8"))
    write_new(folder / "deck.toml", deck_text(plan.study))
    for job, (script, _) in zip(jobs, scripts, strict=True):
        write_new(folder / job.script, script)
    write_new(folder / "plan.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")  # last: a folder with it is whole
    return Written(folder, facts)


def read_folder(folder: Path) -> Written:
    path = folder / "plan.json"
    try:
        return Written(folder, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        raise Refused(f"{folder}: no folder that scripts/study write has made, or not a whole one: {path.name} is "
                      "missing or cut") from None  # fmt: skip

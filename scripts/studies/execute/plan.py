"""The runs of a study on a site: checked point by point, before anything is submitted."""

import json
import os
import sys
import tempfile
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from studies.define.checked_toml import Refused, unfit
from studies.define.platforms import find
from studies.define.points import Point, is_baseline, ordered, points_of
from studies.define.sites import PLACEHOLDER, Placement, Site, place
from studies.define.study_file import LAWS, Study, flat
from studies.execute.keel import Predicted, deck_text, dry_run
from studies.markdown import table

COLLECT_MINUTES = 10
AT_ONCE = min(4, len(os.sched_getaffinity(0)))  # dry runs: each may take 2 GB, and a login node is not ours alone


@dataclass(frozen=True)
class Planned:
    point: Point
    placement: Placement
    predicted: Predicted
    problems: tuple[str, ...]  # "error: ..." or "warning: ..."

    @property
    def memory_per_node(self) -> float | None:
        """Memory of all simulated nodes together, which run on one."""
        per_rank = self.predicted.bytes_per_rank
        return None if per_rank is None else per_rank * self.placement.ranks_in_memory

    @property
    def words(self) -> tuple[str, ...]:
        return self.point.words


@dataclass(frozen=True)
class Job:
    """The starts of one allocation."""

    script: str  # its file
    nodes: int
    minutes: int
    starts: list[tuple[Planned, int]]

    @property
    def hours(self) -> float:
        return self.nodes * self.minutes / 60


@dataclass(frozen=True)
class Plan:
    study: Study
    site: Site
    points: list[Planned]
    problems: list[str]  # problems of the study as a whole
    constant: str  # quantities and keys that are the same in all points
    time_limit: float = 0.0  # for each run, by the deck; 0 = none
    timed: bool = False  # whether solves or exchanges were to be predicted

    @property
    def nodes(self) -> int:
        return max(one.placement.nodes for one in self.points)

    @property
    def starts(self) -> list[tuple[Planned, int]]:
        by_name = {one.point.name: one for one in self.points}
        local = self.nodes == 1  # then ranks tell sizes apart
        size = {name: one.placement.ranks if local else one.placement.nodes for name, one in by_name.items()}
        order = ordered(self.study, [one.point for one in self.points], size)
        return [(by_name[point.name], number) for point, number in order]

    def minutes_of(self, starts: int) -> int:
        """A job's minutes: every start at its longest and a minute that none gets, but no more than the queue takes."""
        every = starts * self.study.minutes + (not self.site.here)
        return ceil(min(every, self.site.longest_minutes or float("inf")) or 1)

    @property
    def jobs(self) -> list[Job]:
        """One for each number of nodes, so that none is paid for and idle; without a batch system one for all."""
        sizes = [self.nodes] if self.site.here else list(dict.fromkeys(one.placement.nodes for one, _ in self.starts))
        found = []
        for nodes in sizes:
            starts = [start for start in self.starts if len(sizes) == 1 or start[0].placement.nodes == nodes]
            found.append(Job("job.sh" if len(sizes) == 1 else f"job.{nodes}.sh", nodes, self.minutes_of(len(starts)), starts))
        return found

    @property
    def collecting(self) -> Job | None:
        """The job that makes the tables once all others have ended."""
        return Job("collect.sh", 1, COLLECT_MINUTES, []) if len(self.jobs) > 1 else None

    @property
    def errors(self) -> list[str]:
        every = self.problems + [f"{one.point.name}: {problem}" for one in self.points for problem in one.problems]
        return [problem for problem in every if "error: " in problem]


def for_virtual_ranks(deck: dict[str, Any], point: Point, placement: Placement, machine: str) -> list[str]:
    """The words by which a dry run has the ranks of the point as virtual ranks, on the machine, if one is given."""
    given = {word.partition("=")[0] for word in point.words} | deck.keys()
    if deck.get("run.mode") == "network" or "run.mode=network" in point.words:
        return []  # it does not depend on them, and refuses them
    nodes = [] if given & {"comm.ranks_per_node", "comm.node_map"} else [f"comm.ranks_per_node={placement.ranks_per_node}"]
    priced = [f"comm.machine={machine}"] if machine and "comm.machine" not in given else []
    return [f"problem.ranks={point.ranks}", *nodes, *priced]


def without_idle_gpus(site: Site, deck: dict[str, Any], points: list[Point]) -> tuple[Site, list[str]]:
    """A site gives its GPUs to ranks only if some point computes on them; else a remark says so."""
    given = {word for point in points for word in point.words if word.startswith("run.backend=")}
    backends = {word.partition("=")[2] for word in given} or {deck.get("run.backend", "openmp")}
    if not site.gpus_per_rank or backends != {"openmp"}:
        return site, []
    remark = 'remark: run.backend = "openmp": ranks get no GPUs, and a node as many ranks as its cores allow'
    return replace(site, gpus_per_rank=0, ranks_per_node=0), [remark]


def constant_of(study: Study, deck: dict[str, Any], points: list[Planned]) -> str:
    """The quantity that the law holds constant, then the starts and the keys of the problem that no axis varies."""
    what = "rows" if deck.get("run.mode") == "spmv" else "cells"
    sized = [one for one in points if one.predicted.size is not None]
    held = {
        f"{what} a rank": {one.predicted.size / one.point.ranks for one in sized},
        what: {one.predicted.size for one in sized},
        "ranks": {one.point.ranks for one in points},
    }
    names = {"weak": [f"{what} a rank"], "strong": [what], "throughput": ["ranks"], "sweep": ["ranks", what]}[study.law]
    found = [f"{value:.10g} {name if value != 1 else name[:-1]}"
             for name in names for value in held[name] if len(held[name]) == 1]  # fmt: skip
    if not found and study.law != "sweep":
        found = [LAWS[study.law]]
    varied = {key for axis in study.axes for key in axis.keys} | {"ranks"}
    same = study.starts | {key: value for key, value in deck.items() if key.startswith("problem.")}
    found += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in same.items() if key not in varied]
    return ", ".join(found) or "nothing"


def law_problems(study: Study, points: list[Planned]) -> Iterator[str]:
    """An error if the quantity that the law holds constant is not, by the sizes that keel predicted."""
    groups: dict[str, dict[float, str]] = {}
    if study.law == "sweep":
        return
    for one in points:
        if one.predicted.size is None:
            continue
        values = {key: value for key, value in one.point.values.items() if key != "ranks"}
        # Keys varied together with ranks belong to them.
        for axis in study.axes:
            if "ranks" in axis.keys:
                values = {key: value for key, value in values.items() if key not in axis.keys}
        held = {"weak": one.predicted.size / one.point.ranks, "strong": one.predicted.size, "throughput": one.point.ranks}
        group = "" if study.law == "throughput" else json.dumps(values)
        groups.setdefault(group, {}).setdefault(float(held[study.law]), one.point.name)
    for found in groups.values():
        if len(found) > 1:
            what = {"weak": "cells a rank", "strong": "cells", "throughput": "ranks"}[study.law]
            told = ", ".join(f"{value:g} {what} in {name}" for value, name in list(found.items())[:3])
            yield f'error: law = "{study.law}" holds {LAWS[study.law]} constant, which is not: {told}'
            return


def machine_of(site: Site) -> str:
    if not site.machine:
        raise Refused(f"--times: site {site.name} has no costs to predict with; give node.machine, a name of inputs/machines")
    return str(find(site.machine, "machines").resolve())


def show_progress(checked: int, total: int) -> None:
    """On a terminal alone."""
    if sys.stderr.isatty():
        print(f"\r{checked} of {total} points checked", end="\n" if checked == total else "", file=sys.stderr, flush=True)


def plan(study: Study, site: Site, keel: Path | None, timed: bool = False) -> Plan:
    """Places and checks every point; without keel nothing is predicted. Times are predicted if asked for: that may take a
    minute a point."""
    text = deck_text(study, planning=True)
    try:
        deck = flat(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        deck = {}  # keel will say what is wrong
    planned = []
    points = points_of(study)
    site, remarks = without_idle_gpus(site, deck, points)
    machine = machine_of(site) if timed else ""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        (Path(folder) / "deck.toml").write_text(text, encoding="utf-8")
        placed = [place(site, point) for point in points]
        told = [for_virtual_ranks(deck, point, at, machine) for point, (at, _) in zip(points, placed, strict=True)]
        runs = [pool.submit(dry_run, keel, Path(folder), [*point.words, *words], number) if keel else None
                for number, (point, words) in enumerate(zip(points, told, strict=True))]  # fmt: skip
        for point, (placement, problems), words, run in zip(points, placed, told, runs, strict=True):
            predicted = run.result() if run else Predicted()
            show_progress(len(planned) + 1, len(points))
            problems = problems + [f"error: {line}" for line in predicted.refusal.splitlines()]
            if study.dry_run:
                point = Point(**(vars(point) | {"words": (*point.words, *words)}))
                placement, problems = Placement(1, 1, 1, 1, 1, 1), [p for p in problems if "cores" not in p]
            one = Planned(point, placement, predicted, tuple(problems))
            if not study.dry_run and one.memory_per_node and site.memory_gb and one.memory_per_node > 1e9 * site.memory_gb:
                more = f"error: wants {one.memory_per_node / 1e9:.1f} GB a node, which has {site.memory_gb:g}"
                one = Planned(point, placement, predicted, (*one.problems, more))
            planned.append(one)
    problems = [*law_problems(study, planned), *remarks]
    if site.simulated and study.dry_run:
        problems.append("error: dry_run = true: nothing would be simulated; plan it on the site local")
    if site.simulated and study.rounds * study.keys.get("run.repeats", 1) > 1:
        problems.append(f"warning: {study.rounds} rounds of {study.keys.get('run.repeats', 1)} repeats: simulated starts repeat to the last digit;"
                        " one of each tells as much")  # fmt: skip
    if study.baseline and not any(is_baseline(study, one.point) for one in planned):
        problems.append("error: no point is the baseline")
    if study.constant:
        problems.append("remark: constant: without effect: what stays constant is derived from the other keys; leave it out")
    if site.placeholder:
        problems.append(f"remark: {PLACEHOLDER} stands for your account: give --account NAME; submit refuses it")
    limit = deck.get("run.time_limit", 0)
    return Plan(study, site, planned, problems, constant_of(study, deck, planned),
                limit if isinstance(limit, int | float) and not unfit(limit) else 0, timed)  # fmt: skip


def size_words(count: float | None, unit: str = "B") -> str:
    if count is None:
        return "-"
    for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {prefix}{unit}"
    return f"{count:.0f} {unit}"


def seconds_words(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{1e6 * seconds:.3g} us"


def plan_text(plan: Plan) -> str:
    study, site = plan.study, plan.site
    rows = []
    for one in plan.points:
        predicted, placement = one.predicted, one.placement
        messages = "-" if predicted.messages is None else f"{predicted.messages}, {predicted.off_node}"
        minutes = study.rounds * study.minutes
        rows.append(
            [
                one.point.name + (" (baseline)" if is_baseline(study, one.point) else ""),
                f"{placement.ranks}x{placement.threads}",
                f"{placement.nodes}",
                f"{placement.ranks_per_node}",
                "-" if predicted.size is None else f"{predicted.size:.4g}",
                size_words(one.memory_per_node),
                messages,
                *([] if not plan.timed else ["-" if predicted.seconds is None else seconds_words(predicted.seconds)]),
                f"{study.rounds}",
                "-" if site.simulated else f"{placement.nodes * minutes / 60:.2g}",
                "refused" if any(p.startswith("error") for p in one.problems) else "-" if predicted == Predicted() else "yes",
            ]
        )
    head = ["point", "ranks x threads", "nodes", "ranks/node", "cells", "memory/node", "messages, off node",
            *(["predicted"] if plan.timed else []), "rounds", "node-hours <=", "checked"]  # fmt: skip
    lines = [f"{study.name}: {study.claim}",
             *textwrap.wrap(f"{study.law}: constant is {plan.constant}", 100, break_long_words=False),
             f"site {site.name}: {site.about}", "", table(head, rows).rstrip(), ""]  # fmt: skip
    lines.append("messages: of the busiest rank in one exchange of the finest level; all by keel --dry-run, predicted")
    if plan.timed:
        lines.append(f"predicted: time of a solve, or of an exchange of the finest level, on {Path(machine_of(site)).stem},"
                     " whose ranks compute alike with any number of threads")  # fmt: skip
    starts, jobs = len(plan.starts), plan.jobs
    asked = sum(job.hours for job in (*jobs, *filter(None, [plan.collecting])))
    turns = "largest first" if study.order == "largest_first" else "smallest first"
    if site.simulated:
        lines.append(f"{starts} starts, simulated here, one after the other, {turns}; each repeats to the last digit")
    else:
        told = ", ".join(f"{job.nodes} {'node' if job.nodes == 1 else 'nodes'} x {job.minutes} min" for job in jobs)
        last = f", then 1 node x {COLLECT_MINUTES} min for scripts/study collect" if plan.collecting else ""
        lines += textwrap.wrap(f"{starts} starts in {len(jobs)} job{'s' * (len(jobs) > 1)}, {turns}: {told}{last};"
                               f" at most {asked:.3g} node-hours", 100)  # fmt: skip
    if any(site.longest_minutes and len(job.starts) * study.minutes + 1 > site.longest_minutes for job in jobs):
        lines.append("that is less than all starts may take: submit it again until scripts/study status says that all is done")
    seen = Counter(
        problem for one in plan.points for problem in (*one.problems, *(f"remark: {r}" for r in one.predicted.remarks))
    )
    lines += plan.problems
    for problem, count in seen.items():
        first = next(
            one.point.name for one in plan.points if problem.removeprefix("remark: ") in (*one.problems, *one.predicted.remarks)
        )
        lines.append(f"{first}{f' and {count - 1} more' if count > 1 else ''}: {problem}")
    return "\n".join(lines) + "\n"

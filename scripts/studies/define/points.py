"""The points of a study: all axes combined, and keel's words at each of them."""

import hashlib
import json
import re
from dataclasses import dataclass
from itertools import product
from typing import Any

from studies.define.study_file import STARTS, Study

LONGEST = 120  # characters of a name, which becomes that of a folder


@dataclass(frozen=True)
class Point:
    name: str
    values: dict[str, Any]  # by the keys of the axes, as the study file has them
    ranks: int
    threads: int | None  # None: the site's
    ranks_per_node: int | None  # None: the site's
    words: tuple[str, ...]  # keel's arguments besides the deck


def text(value: Any) -> str:
    """A value as keel takes it on the command line: TOML, texts without quotes."""
    if isinstance(value, str):
        return value
    # A number that comes out of a table is one of numpy's, which JSON does not know.
    return json.dumps(value.item() if hasattr(value, "item") else value, separators=(",", ":"))


def words_of(key: str, value: Any) -> list[str]:
    """The words that set the key: "ca_cg s=8 basis=newton" for bottom.solver also sets keys of its section, as in a survey."""
    section = key.partition(".")[0]
    first, *more = value.split() if isinstance(value, str) and "=" in value else [value]
    return [f"{key}={text(first)}", *(f"{section}.{word}" for word in more)]


def slug(key: str, value: Any) -> str:
    return f"{key.rpartition('.')[2]}-{re.sub('[^A-Za-z0-9_]+', '-', text(value)).strip('-')}"


def name_of(values: dict[str, Any]) -> str:
    name = ".".join(slug(key, value) for key, value in values.items()) or "only"
    if len(name) > LONGEST:
        name = f"{name[: LONGEST - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return name


def points_of(study: Study) -> list[Point]:
    """In the order of the axes, the last one fastest."""
    points: list[Point] = []
    for rows in product(*(axis.rows for axis in study.axes)):
        values = {key: value for axis, row in zip(study.axes, rows, strict=True)
                  for key, value in zip(axis.keys, row, strict=True)}  # fmt: skip
        starts = study.starts | {key: value for key, value in values.items() if key in STARTS}
        words = tuple(word for key, value in values.items() if key not in STARTS for word in words_of(key, value))
        name = name_of(values)
        if any(point.name == name for point in points):  # 1e-3 and "1e-3" read alike
            name = f"{name}-{len(points)}"
        points.append(Point(name, values, starts.get("ranks", 1), starts.get("threads"), starts.get("ranks_per_node"), words))
    return points


def is_baseline(study: Study, point: Point) -> bool:
    return bool(study.baseline) and all(point.values.get(key) == value for key, value in study.baseline.items())


def ordered(study: Study, points: list[Point], size: dict[str, int]) -> list[tuple[Point, int]]:
    """The starts in their order: a point and its round each. Points of one size take turns, A B A B, so that what drifts
    during the job meets all of them alike; sizes (nodes or ranks) follow each other as the study asks."""
    starts: list[tuple[Point, int]] = []
    for one in sorted(set(size.values()), reverse=study.order == "largest_first"):
        same = [point for point in points if size[point.name] == one]
        starts += [(point, number) for number in range(1, study.rounds + 1) for point in same]
    return starts

"""Figures: a file each, a function that draws it or says why there is nothing to draw."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from studies.evaluate.figures import (
    bandwidth,
    heat_map,
    iterations,
    levels,
    messages,
    residuals,
    roofline,
    scaling,
    speed_up,
    split,
    traffic,
)
from studies.evaluate.figures.style import Nothing, Picture, on_a_phone
from studies.evaluate.scaling import failed_points
from studies.evaluate.tables import Tables

FIGURES: dict[str, Callable[[Tables], Picture]] = {
    "scaling": scaling.draw,
    "split": split.draw,
    "speed_up": speed_up.draw,
    "levels": levels.draw,
    "bandwidth": bandwidth.draw,
    "traffic": traffic.draw,
    "iterations": iterations.draw,
    "residuals": residuals.draw,
    "messages": messages.draw,
    "heat_map": heat_map.draw,
    "roofline": roofline.draw,
}

WIDEST = 8.0  # inches of a figure in one of two columns


@dataclass(frozen=True)
class Drawn:
    name: str
    picture: Picture
    on_phone: Picture

    @property
    def wide(self) -> bool:
        """True if it wants both columns of a page."""
        return bool(self.picture.figure.get_size_inches()[0] > WIDEST)


SHOW_FAILED = ("scaling", "speed_up", "heat_map")


def with_reasons(tables: Tables, name: str, picture: Picture) -> Picture:
    """The points that failed are named, with why, beside the figures that have a place for them."""
    reasons: dict[str, list[str]] = {}
    for one in failed_points(tables) if name in SHOW_FAILED else ():
        reasons.setdefault(one.why, []).append(f"{one.variant} on {one.ranks} ranks")
    told = [f"{', '.join(points)} {why}" for why, points in reasons.items()]
    return replace(picture, remark="; ".join(filter(None, [picture.remark, *told])))


def with_warning(tables: Tables, picture: Picture) -> Picture:
    """Times of ranks that took turns on a core are named as such beside every figure of times."""
    solves = tables.solves
    shared = sorted(set(solves[solves["shared_cores"].fillna(False).astype(bool)]["ranks"])) if len(solves) else []
    if picture.kind == "measured" and tables.written.simulated:
        return replace(picture, kind="simulated")
    if picture.kind != "measured" or not shared:
        return picture
    told = f"on {', '.join(map(str, shared))} ranks, these shared cores: such times are no times of as many cores"
    return replace(picture, remark="; ".join(filter(None, [picture.remark, told])))


def draw_all(tables: Tables, names: Iterable[str] = FIGURES) -> Iterator[Drawn]:
    """The figures of these that there are data for."""
    for name in names:
        try:
            picture = with_reasons(tables, name, with_warning(tables, FIGURES[name](tables)))
        except Nothing:
            continue
        yield drawn(name, picture, lambda draw=FIGURES[name]: draw(tables))


def drawn(name: str, picture: Picture, again: Callable[[], Picture]) -> Drawn:
    with on_a_phone():
        return Drawn(name, picture, again())

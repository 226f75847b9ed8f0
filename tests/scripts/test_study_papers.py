"""Plans of the studies that come with Keel: keel accepts their points; of the papers' (inputs/studies/papers) points, nodes,
node-hours and predicted times on two sites."""

import os
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

from studies.define.sites import SITES, Site, read_site
from studies.define.study_file import Axis, Study, read_study
from studies.execute.plan import plan, plan_text

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "inputs/studies/papers"
KEEL = os.environ.get("KEEL_EXECUTABLE", "")
NIGHTLY = "KEEL_NIGHTLY" in os.environ
BY_NIGHT = ("bienz_2020_amg", "schemes_dry", "lockhart_2023_schemes", "williams_2014")  # 7 to 37 s a point
TOLERANCE = 0.05  # iterations, and times with them, differ a little between compilers
# Points, nodes, node-hours; seconds of the first point on both sites: of a solve, of cools_2019 and lockhart_2023 of an exchange.
EXPECTED = {
    "williams_2014": (40, 1024, "706", {"slurm_cray": 0.4310, "lsf_jsrun": 0.2391}),
    "cools_2019_laplace": (30, 1024, "1.05e+03", {"slurm_cray": 3.931e-06, "lsf_jsrun": 3.011e-06}),
    "cools_2019_ice_sheet": (30, 1024, "705", {"slurm_cray": 1.055e-05, "lsf_jsrun": 1.483e-05}),
    "bienz_2020_amg": (9, 16, "6.82", {"lsf_jsrun": 0.02710}),
    "lockhart_2023_schemes": (12, 8, "4.93", {"lsf_jsrun": 0.0004408}),
}


def cases() -> list[tuple[str, Study, Site]]:
    return [(name, read_study(STUDIES / f"{name}.toml"), read_site(SITES / f"{site}.toml"))
            for name, (_, _, _, seconds) in EXPECTED.items() for site in ("slurm_cray", "lsf_jsrun")]  # fmt: skip


def with_most_ranks(study: Study) -> Study:
    """The study with one point; of cools, whose largest takes 10 s to plan, the smallest."""

    def row_of(axis: Axis) -> tuple[Any, ...]:
        choose = min if study.name == "cools" else max
        return choose(axis.rows, key=lambda row: row[axis.keys.index("ranks")] if "ranks" in axis.keys else 0)

    return replace(study, baseline={}, axes=tuple(replace(axis, rows=(row_of(axis),)) for axis in study.axes))


class Plans(unittest.TestCase):
    @unittest.skipUnless(KEEL, "KEEL_EXECUTABLE names no keel")
    def test_keel_accepts_the_largest_point_of_each_study_and_nightly_all(self) -> None:
        site = read_site(SITES / "slurm_cray.toml")
        for path in sorted((ROOT / "inputs/studies").rglob("*.toml")):
            if NIGHTLY or path.stem not in BY_NIGHT:
                with self.subTest(path.stem):
                    study = read_study(path)
                    self.assertEqual(plan(study if NIGHTLY else with_most_ranks(study), site, Path(KEEL)).errors, [])

    def test_points_nodes_and_node_hours(self) -> None:
        self.assertEqual(sorted(path.stem for path in STUDIES.glob("*.toml")), sorted(EXPECTED))
        for name, study, site in cases():
            with self.subTest(name, site=site.name):
                made = plan(study, site, None)
                points, nodes, hours, _ = EXPECTED[name]
                self.assertEqual((made.errors, len(made.points), made.nodes), ([], points, nodes))
                self.assertIn(f"at most {hours} node-hours ", " ".join(plan_text(made).split()))
                used = sum(one.placement.nodes * study.minutes for one, _ in made.starts) / 60
                self.assertLess(sum(job.hours for job in (*made.jobs, *filter(None, [made.collecting]))), 1.25 * used)

    @unittest.skipUnless(KEEL, "KEEL_EXECUTABLE names no keel")
    def test_the_first_point_has_the_predicted_time(self) -> None:
        for name, study, site in cases():
            if site.name not in EXPECTED[name][3] or (name in BY_NIGHT[:2] and not NIGHTLY):
                continue
            with self.subTest(name, site=site.name):
                first = replace(study, baseline={}, axes=tuple(replace(axis, rows=axis.rows[:1]) for axis in study.axes))
                made = plan(first, site, Path(KEEL), timed=True)
                self.assertEqual(made.errors, [])
                seconds = made.points[0].predicted.seconds or 0
                self.assertLess(abs(seconds / EXPECTED[name][3][site.name] - 1), TOLERANCE, seconds)

"""The verdict of a report: on which timers and solves it is, and in which runs there is none."""

import re
from math import fsum

from keel_runner import INPUTS, ONCE, KeelTest, Record, Run
from record_schema import against_schema

BOX = ["problem.box=16", "problem.boxes=[2,2,2]", "problem.coefficients=smooth"]
LONG = ["run.warmup=0", "run.repeats=6"]  # at least 10 ms on any machine


class VerdictTest(KeelTest):
    def hold(self, run: Run, expected: list[tuple[str | None, int]]) -> list[Record]:
        """The run's verdicts, one on each of these solvers' timers and numbers of solves; each is as the record says."""
        self.assertEqual(against_schema(run.all_records), [])
        verdicts = run.records("verdict")
        self.assertEqual([(row.get("solver"), row["solves"]) for row in verdicts], expected)
        self.assertEqual(run.stdout.count("\nVerdict"), len(verdicts))
        for row in verdicts:
            timers = [timer for timer in run.records("timer") if timer.get("solver") == row.get("solver")]
            self.assertAlmostEqual(row["seconds"], fsum(timer["t_mean"] for timer in timers), delta=1e-12)
            self.assertIn(" ".join(" ".join(row["lines"]).split()), run.flat)
        return verdicts


class Verdict(VerdictTest):
    def test_every_mode_that_solves(self) -> None:
        # The number of solves, and whether one level is the bottom of others.
        cases = {
            "solve": (6, True, [*BOX, "output.details=true"]),
            "steps": (12, True, [*BOX, "run.steps=2", "problem.rhs=wave"]),
            "krylov": (6, False, [*BOX, "run.mode=krylov", "bottom.solver=pipelined_cg", "bottom.max_iterations=1000"]),
            "krylov by cycles": (6, True, [*BOX, "run.mode=krylov", "bottom.preconditioner=v_cycle", "bottom.scaling=none"]),
            "fixed_point": (6, True, [INPUTS / "smoke/fixed_point_mixed.toml", "problem.box=8"]),
        }
        for ranks in (1, 2):
            for name, (solves, several_levels, words) in cases.items():
                with self.subTest(ranks=ranks, mode=name):
                    (verdict,) = self.hold(self.valid(ranks, *words, *LONG), [(None, solves)])
                    self.assertEqual(len(verdict["lines"]), 3)
                    self.assertEqual(verdict["imbalance"] is None, ranks == 1)
                    self.assertEqual(verdict["bottom"] is not None, several_levels)

    def test_a_survey_judges_the_fastest(self) -> None:
        run = self.valid(2, *BOX, "run.mode=survey", "run.survey=['ca_cg s=4','cg','bicgstab']", *LONG)
        fastest = min(run.records("survey"), key=lambda row: row["seconds_median"])["solver"]
        self.hold(run, [(fastest, 6)])

    def test_products_and_solves_with_a_matrix(self) -> None:
        words = ["run.mode=spmv", "problem.matrix=grid", *BOX, "run.solve=true", "bottom.solver=cg", "run.warmup=0", "run.repeats=40"]
        product, solve = self.hold(self.valid(2, *words, "bottom.preconditioner=amg", "bottom.scaling=none"), [(None, 40), ("cg", 40)])
        self.assertIsNone(product["bottom"])
        self.assertGreater(solve["bottom"]["level"], 0)

    def test_a_run_too_short_has_none(self) -> None:
        for words in (["problem.box=4"], ["problem.box=4", "problem.rhs=zero"]):
            run = self.valid(2, *words, "multigrid.bottom_box=2", "multigrid.tolerance=0.5", *ONCE)
            (verdict,) = self.hold(run, [(None, 1)])
            self.assertEqual(len(verdict["lines"]), 1)
            self.assertRegex(verdict["lines"][0], r"^Verdict: none; \d\.\d\d ms measured in all, less than 10 ms: raise run.repeats$")

    def test_modes_without_timers_and_devices_that_run_behind_have_none(self) -> None:
        self.hold(self.valid(2, INPUTS / "smoke/network.toml"), [])
        if re.search(r"(?m)^gpu_emulated( +yes){5} ", self.text(None, "--backends")):
            for sync, expected in (("lazy", []), ("per_operation", [(None, 1)])):
                self.hold(self.valid(2, *BOX, *ONCE, "run.backend=gpu_emulated", f"run.gpu_sync={sync}"), expected)

    def test_virtual_nodes_have_no_remedy(self) -> None:
        machine = f"comm.machine={INPUTS}/machines/lassen.toml"
        run = self.valid(4, *BOX, *LONG, "problem.placement=scattered", "comm.neighbours=all", "comm.ranks_per_node=2", machine)
        (verdict,) = self.hold(run, [(None, 6)])
        self.assertEqual(len(verdict["lines"]), 3)

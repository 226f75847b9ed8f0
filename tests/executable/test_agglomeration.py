"""Coarse levels in merged boxes on fewer ranks: what they solve, send, keep and refuse."""

from keel_runner import INPUTS, ONCE, KeelTest

LASSEN = f"comm.machine={INPUTS}/machines/lassen.toml"
HOPPER = f"comm.machine={INPUTS}/machines/hopper.toml"


class MergedBoxes(KeelTest):
    """multigrid.agglomerate: boxes of coarse levels become one on fewer ranks."""

    DECK = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "run.deterministic=true", *ONCE]
    MERGED = "multigrid.agglomerate=1"

    def test_odd_numbers_of_boxes_merge_as_far_as_they_go(self) -> None:
        odd = [word for word in self.DECK if not word.startswith("problem.boxes")]
        run = self.valid(2, *odd, "problem.boundary=dirichlet", "problem.boxes=[3,3,3]", self.MERGED)
        self.assertEqual([(level["box"], level["merged"], level["ranks"]) for level in run.facts["levels"]],
                         [(8, 1, 2), (12, 3, 1), (6, 1, 1)])  # fmt: skip
        remark = "multigrid.agglomerate = 1: without effect: [8,8,1] boxes tile no larger cubes"
        plan = self.planned(2, "problem.box=8", "problem.boxes=[8,8,1]", self.MERGED)
        self.assertTrue(any(line.startswith(remark) for line in plan["remarks"]), plan["remarks"])

    def test_levels_say_what_is_merged_and_who_is_left(self) -> None:
        run = self.valid(8, *self.DECK, self.MERGED, "problem.boundary=dirichlet")
        self.assertEqual(run.facts["levels"], [
            {"cells": [16, 16, 16], "box": 8, "merged": 1, "ranks": 8}, {"cells": [8, 8, 8], "box": 8, "merged": 2, "ranks": 1},
            {"cells": [4, 4, 4], "box": 4, "merged": 1, "ranks": 1}])  # fmt: skip
        self.assertIn("agglomerated level 1: 8 x 4^3 -> 1 x 8^3, on 1 of 8 ranks\n", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^on ranks +8 +1 +1$")
        # A single rank that is left sends nothing but the correction.
        sent = run.timer("exchange.send")
        cycles = run.record("solve")["cycles"]
        self.assertEqual((sent[1]["all_messages"], sent[1]["messages"]), (14 * cycles, 7 * cycles))
        self.assertEqual(sent[1]["all_bytes"], 2 * 7 * 64 * 8 * cycles)
        self.assertNotIn(2, sent)

    def test_other_studies_merge_too(self) -> None:
        judged = ["problem.boxes=[2,2,2]", "multigrid.agglomerate=1000000"]  # on levels that two of three ranks have none of
        self.valid(3, INPUTS / "smoke/full_multigrid.toml", *judged)
        for words in (["run.mode=survey", "run.survey=['bicgstab','ca_cg']"],
                      ["run.mode=krylov", "bottom.preconditioner=v_cycle", "bottom.solver=cg", "bottom.scaling=none"],
                      ["run.steps=2", "run.start=last", "problem.drift=[0.1,0,0]", "problem.rhs=wave"],
                      ["run.mode=fixed_point", "problem.equation=linear", "run.map=cycle"], ["comm.scheme=auto", LASSEN],
                      ["comm.scheme=tuned", "comm.ranks_per_node=2"]):  # fmt: skip
            with self.subTest(words=words):
                self.valid(3, *self.DECK, *words, self.MERGED)

    def test_levels_of_many_ranks_are_predicted_by_few(self) -> None:
        words = ["problem.box=16", "problem.ranks=64", "comm.ranks_per_node=4", "bottom.solver=cg", HOPPER]
        for cells in (1, 600):  # on eight ranks from boxes of 4^3 and of 8^3 on
            alone, together = (self.dry_run(ranks, *words, f"multigrid.agglomerate={cells}") for ranks in (None, 3))
            rows, others = ({(row["op"], row["level"]): row for row in run.records("timer")} for run in (alone, together))
            self.assertEqual(rows.keys(), others.keys())
            for place, row in rows.items():
                for name in ("calls", "words", "all_messages", "all_bytes", "t_mean"):
                    self.assertAlmostEqual(row[name], others[place][name], delta=1e-9 * abs(row[name]), msg=(place, name))
        # One rank alone waits for no late one: only the norms of cycles are late.
        solve = alone.record("solve")
        late = solve["delayed"][2]["seconds"] - solve["delayed"][0]["seconds"]
        self.assertAlmostEqual(late, 200e-6 * rows["reduction", 0]["calls"], delta=1e-9)
        self.assertEqual(solve["delayed"][2]["bottom_seconds"], solve["delayed"][0]["bottom_seconds"])

    def test_a_large_bottom_that_would_shrink_is_remarked(self) -> None:
        remark = "4096 unknowns at the bottom; with multigrid.agglomerate = 512 there would be 64"
        for ranks, more, remarked in ((64, [], True), (27, [], False), (64, ["multigrid.agglomerate=512"], False)):
            with self.subTest(ranks=ranks, more=more):
                plan = self.planned(None, "problem.box=16", "comm.ranks_per_node=16", f"problem.ranks={ranks}", *more)
                self.assertEqual(remark in plan["remarks"], remarked, plan["remarks"])

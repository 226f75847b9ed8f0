"""Coarse levels in merged boxes on fewer ranks: what they solve, send, keep and refuse."""

from keel_runner import INPUTS, ONCE, KeelTest

LASSEN = f"comm.machine={INPUTS}/machines/lassen.toml"
HOPPER = f"comm.machine={INPUTS}/machines/hopper.toml"


class MergedBoxes(KeelTest):
    """multigrid.agglomerate: boxes of coarse levels become one on fewer ranks."""

    DECK = ["problem.box=8", "problem.boxes=[2,2,2]", "problem.coefficients=smooth", "run.deterministic=true", *ONCE]
    MERGED = "multigrid.agglomerate=1"

    def test_a_solve_is_that_of_one_large_box(self) -> None:
        large = [*(word for word in self.DECK if "box" not in word), "problem.box=16", "problem.boxes=[1,1,1]"]
        mixed = ["problem.boundary=dirichlet", "multigrid.precision=mixed"]
        for words, numbers in ((["problem.rhs=manufactured"], (3, 8)), (mixed, (1, 4))):
            reference = self.valid(1, *large, *words).record("solve")
            for ranks in numbers:
                with self.subTest(words=words, ranks=ranks):
                    solve = self.valid(ranks, *self.DECK, *words, self.MERGED).record("solve")
                    for name in ("residuals", "bottom_iterations", "missed_bottoms"):
                        self.assertEqual(solve[name], reference[name])

    def test_odd_numbers_of_boxes_merge_as_far_as_they_go(self) -> None:
        words = ["problem.boundary=dirichlet", "problem.a=0.0", "problem.rhs=random", "run.deterministic=true",
                 "bottom.solver=ca_bicgstab", "bottom.powers=matrix_powers", *ONCE]  # fmt: skip
        odd = [*words, "problem.box=8", "problem.boxes=[3,3,3]"]
        reference = self.valid(1, *words, "problem.box=24", "problem.boxes=[1,1,1]", "multigrid.bottom_box=6").record("solve")
        for ranks in (1, 2, 3):
            for cells in (1, 100000):
                with self.subTest(ranks=ranks, cells=cells):
                    run = self.valid(ranks, *odd, f"multigrid.agglomerate={cells}")
                    self.assertEqual([(level["box"], level["merged"], level["ranks"]) for level in run.facts["levels"]],
                                     [(8, 1, ranks), (12, 3, 1), (6, 1, 1)])  # fmt: skip
                    for name in ("residuals", "bottom_iterations", "missed_bottoms"):
                        self.assertEqual(run.record("solve")[name], reference[name])
        remark = "multigrid.agglomerate = 1: without effect: [8,8,1] boxes tile no larger cubes"
        run = self.valid(2, *words, "problem.box=8", "problem.boxes=[8,8,1]", self.MERGED)
        self.assertTrue(any(line.startswith(remark) for line in run.facts["remarks"]), run.facts["remarks"])

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

    def test_messages_are_those_of_the_plans(self) -> None:
        for scheme, ranks, cells in (("three_step", 4, 1), ("split", 8, 1000), ("staged_axes", 4, 1000)):
            with self.subTest(scheme=scheme, ranks=ranks):
                words = [*self.DECK, "problem.boxes=[4,2,2]", f"multigrid.agglomerate={cells}", "comm.ranks_per_node=3",
                         f"comm.scheme={scheme}", "multigrid.ghost_colours=both"]  # fmt: skip
                words.remove("problem.boxes=[2,2,2]")
                run = self.valid(ranks, *words)
                moves = [row for row in run.records("scheme")
                         if row["chosen_by"] == "deck" and row["purpose"] in ("to_merged", "from_merged")]  # fmt: skip
                plan = self.planned(ranks, *words)
                self.assertEqual([(row["purpose"], row["ranks"]) for row in plan["levels"] if row["level"] == 1][:2],
                                 [("to_merged", ranks), ("from_merged", ranks)])  # fmt: skip
                sent = run.timer("exchange.send")[1]
                cycles = run.record("solve")["cycles"]
                ghosts = [row for row in run.records("scheme") if row["chosen_by"] == "deck" and row["level"] == 1
                          and row["purpose"] == "stencil"]  # fmt: skip
                per_cycle = [row["exchanges_per_cycle"] for row in plan["levels"] if row["level"] == 1 and row["purpose"] == "stencil"]
                for number in ("messages", "bytes", "off_node_messages", "off_node_bytes"):
                    planned = sum(row["all"][number] for row in moves) + per_cycle[0] * ghosts[0]["all"][number]
                    self.assertEqual(sent[f"all_{number}"], cycles * planned)

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

    def test_what_is_predicted_is_counted_like_a_run_of_so_many_ranks(self) -> None:
        linear = ["multigrid.interpolation=linear", "problem.boundary=dirichlet", "comm.allreduce=recursive_doubling"]
        for ranks, boxes, more in (
            (8, "[2,2,2]", ["bottom.solver=cg", "multigrid.agglomerate=1", "comm.ranks_per_node=4"]),  # on one rank
            (8, "[6,4,2]", ["bottom.solver=bicgstab", "multigrid.agglomerate=1", "comm.ranks_per_node=3"]),  # on six, then on three
            (4, "[6,2,2]", ["bottom.solver=ca_cg", "multigrid.agglomerate=1000", "comm.ranks_per_node=2", *linear]),
            (3, "[3,3,3]", ["bottom.solver=ca_cg", "bottom.powers=matrix_powers", "multigrid.agglomerate=1", "comm.ranks_per_node=2"]),
            (8, "[6,4,4]", ["bottom.solver=deep_pipelined_cg", "multigrid.agglomerate=512", "comm.ranks_per_node=4",
                            "comm.allreduce=node_aware", "multigrid.cycle=F", "multigrid.precision=mixed"]),
            (8, "[4,2,2]", ["bottom.solver=cg", "multigrid.bottom_grid=consolidate", "comm.ranks_per_node=4"]),
            (8, "[6,4,2]", ["bottom.solver=bicgstab", "multigrid.bottom_grid=3", "comm.ranks_per_node=3", *linear]),
            (4, "[6,2,2]", ["bottom.solver=ca_cg", "multigrid.bottom_grid=replicate", "comm.ranks_per_node=2"]),
            (4, "[6,2,2]", ["multigrid.bottom_grid=gather", "multigrid.precision=mixed", "comm.ranks_per_node=2"]),
        ):  # fmt: skip
            with self.subTest(ranks=ranks, boxes=boxes):
                words = ["problem.box=8", f"problem.boxes={boxes}", "run.deterministic=true", HOPPER, *more]
                ran = self.valid(ranks, *words, *ONCE)
                predicted = self.run_keel(None, "--dry-run", *words, f"problem.ranks={ranks}")
                self.assertEqual((predicted.status, predicted.stderr), (0, ""), predicted)
                solve, measured = predicted.record("solve"), ran.record("solve")
                for name in ("cycles", "bottom_iterations", "reductions", "reduction_words", "exchanges"):
                    self.assertEqual(solve[name], measured[name], name)
                seen = {(row["op"], row["level"]): row for row in ran.records("timer") if row["op"] != "other"}
                rows = predicted.records("timer")
                self.assertEqual({(row["op"], row["level"]) for row in rows if "wait" not in row["op"]},
                                 {place for place in seen if "wait" not in place[0]})  # fmt: skip
                for row in rows:
                    place = row["op"], row["level"]
                    for name in ("words", "all_messages", "all_bytes", "all_off_node_messages", "all_off_node_bytes"):
                        self.assertEqual(row[name], seen[place][name], (place, name))
                    if boxes == "[2,2,2]" or "pack" not in row["op"]:  # a run's calls are those of rank 0
                        self.assertEqual(row["calls"], seen[place]["calls"], place)
                    # Another rank may be busiest with ghosts than with boxes that travel.
                    for name in ("messages", "bytes", "off_node_messages", "off_node_bytes"):
                        self.assertLessEqual(abs(row[name] - seen[place][name]), 0.25 * seen[place][name], (place, name))
                self.assertAlmostEqual(sum(row["t_mean"] for row in rows), solve["seconds"], delta=1e-12)
                merged = sum(row["t_mean"] for row in rows if row["level"] > 0)
                self.assertAlmostEqual(merged, solve["bottom_seconds"], delta=1e-12)

    def test_levels_of_many_ranks_are_predicted_by_few(self) -> None:
        words = ["problem.box=16", "problem.ranks=64", "comm.ranks_per_node=4", "bottom.solver=cg", HOPPER]
        for cells in (1, 600):  # on eight ranks from boxes of 4^3 and of 8^3 on
            alone, together = (self.run_keel(ranks, "--dry-run", *words, f"multigrid.agglomerate={cells}") for ranks in (None, 3))
            for run in (alone, together):
                self.assertEqual((run.status, run.stderr), (0, ""), run)
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

    def test_iterations_can_be_given_where_levels_are_merged(self) -> None:
        words = ["--dry-run", "problem.box=16", "problem.ranks=64", "comm.ranks_per_node=16", "bottom.solver=cg", self.MERGED, HOPPER]
        computed = self.run_keel(None, *words).record("solve")
        given = self.run_keel(None, *words, f"bottom.assumed_iterations={computed['bottom_iterations']:.0f}").record("solve")
        self.assertEqual((given["iterations_assumed"], given["cycles"]), (True, computed["cycles"]))
        for name in ("seconds", "bottom_seconds", "reductions", "exchanges"):
            self.assertAlmostEqual(given[name], computed[name], delta=1e-9 * computed[name])

    def test_a_large_bottom_that_would_shrink_is_remarked(self) -> None:
        remark = "4096 unknowns at the bottom; with multigrid.agglomerate = 512 there would be 64"
        for ranks, more, remarked in ((64, [], True), (27, [], False), (64, ["multigrid.agglomerate=512"], False)):
            with self.subTest(ranks=ranks, more=more):
                plan = self.planned(None, "problem.box=16", "comm.ranks_per_node=16", f"problem.ranks={ranks}", *more)
                self.assertEqual(remark in plan["remarks"], remarked, plan["remarks"])

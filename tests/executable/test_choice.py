"""Schemes compared before a run and in it: traffic, predicted times, who chose, refusals."""

from keel_runner import INPUTS, ONCE, KeelTest, Record, Run, shown_schemes

SCHEMES = ["standard", "two_step", "two_step/max_need", "three_step", "split", "split/always", "staged_axes"]
LASSEN = f"comm.machine={INPUTS}/machines/lassen.toml"
BLUE_WATERS = f"comm.machine={INPUTS}/machines/blue_waters.toml"
BOXES = ["problem.box=8", "problem.boxes=[3,2,2]", "problem.placement=scattered", "comm.neighbours=all",
         "comm.message_cap=200", "multigrid.interpolation=linear"]  # fmt: skip
SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def least(rows: list[Record]) -> Record:
    """The row of least predicted time; the first of those that rounding alone tells apart."""
    best = min(row["predicted_seconds"] for row in rows)
    return next(row for row in rows if row["predicted_seconds"] <= best * (1 + 1e-11))


class Comparison(KeelTest):
    def test_a_dry_run_of_4096_virtual_ranks_compares_the_schemes_on_every_level(self) -> None:
        words = ["problem.ranks=4096", "comm.ranks_per_node=16", "problem.box=16", "multigrid.bottom_box=8"]
        text, rows = self.compared(None, *words, LASSEN)
        self.assertIn("4096 ranks, 256 nodes, 16 ranks per node", text)
        self.assertIn("of the first 1 ranks", text)
        self.assertEqual([(row["level"], row["scheme"]) for row in rows], [(l, s) for l in (0, 1) for s in SCHEMES])
        for level in (0, 1):
            standard = rows[level * len(SCHEMES)]
            # A node has 4 x 2 x 2 boxes, and a surface of as many faces.
            self.assertEqual(standard["all"]["messages"], 6 * 4096)
            self.assertEqual(standard["all"]["off_node_messages"], 2 * (4 + 8 + 8) * 256)
            self.assertEqual(standard["all"]["bytes"], 6 * 4096 * 8 * (16 >> level) ** 2)
            marked = [scheme for at, _, scheme in shown_schemes(text) if at == str(level) and scheme.endswith("*")]
            self.assertEqual(marked, [f"{least(rows[level * len(SCHEMES) :][: len(SCHEMES)])['scheme']} *"])

    def test_table_and_records_agree_and_do_not_depend_on_who_plans(self) -> None:
        words = [*BOXES, "comm.ranks_per_node=3", BLUE_WATERS]
        text, rows = self.compared(4, *words)
        virtual, same_rows = self.compared(2, *words, "problem.ranks=4")
        self.assertEqual(rows, same_rows)
        shown = shown_schemes(text)
        self.assertEqual(shown, shown_schemes(virtual))
        self.assertEqual(len(shown), 3 * len(SCHEMES))
        for row, ((level, purpose, scheme), cells) in zip(rows, shown.items(), strict=True):
            self.assertEqual((str(row["level"]), row["purpose"], row["scheme"]), (level, purpose, scheme.removesuffix(" *")))
            counts = [row["all"]["messages"], row["all"]["off_node_messages"], row["most_sent"]["off_node_messages"]]
            self.assertEqual([cells[0], cells[1], cells[4]], [f"{count:.0f}" for count in counts])
            sizes = (row["all"]["bytes"], row["all"]["off_node_bytes"], row["most_sent"]["off_node_bytes"])
            for cell, size in zip((cells[2], cells[3], cells[5]), sizes, strict=True):
                number, unit = cell.split()
                self.assertAlmostEqual(float(number) * SIZES[unit], size, delta=0.051 * SIZES[unit])
            self.assertEqual(cells[6], row["chosen_by"] or "-")
            self.assertAlmostEqual(float(cells[7]), row["predicted_seconds"] * 1e6, delta=0.006)

    def test_the_pattern_is_counted_for_messages_between_nodes_of_a_machine(self) -> None:
        for words, counted in (([LASSEN], False), (["comm.ranks_per_node=2"], False), ([LASSEN, "comm.ranks_per_node=2"], True)):
            _, rows = self.compared(4, *BOXES, *words)
            self.assertEqual({row["scheme"] for row in rows if row["pattern"]}, {"standard"} if counted else set())

    def test_the_deep_ghosts_of_matrix_powers_are_compared_like_all_others(self) -> None:
        deck = INPUTS / "smoke/ca_bicgstab_matrix_powers.toml"
        text, rows = self.compared(8, deck, "comm.ranks_per_node=3", LASSEN)
        powers = [row for row in rows if row["purpose"] == "powers"]
        self.assertEqual([row["scheme"] for row in powers], SCHEMES)
        self.assertEqual({(row["level"], row["depth"], row["neighbours"]) for row in powers}, {(2, 3, "all")})
        # 3 layers of a box of 4^3 cells from 26 neighbours: in x and z there is one, in y there are two; all but 4^3 of 7 x 10 x 7
        # cells, and across the periodic direction only 8 of 10 cells to send.
        # A three-term recurrence in each of two Krylov spaces goes on from two vectors.
        self.assertEqual((powers[0]["columns"], powers[0]["most_sent"]["bytes"]), (4, 4 * 8 * (7 * 8 * 7 - 4**3)))
        self.assertGreater(powers[0]["predicted_seconds"], 0)
        shown = [scheme.removesuffix(" *") for _, exchange, scheme in shown_schemes(text) if exchange == "powers, 3 layers, 4 fields"]
        self.assertEqual(shown, SCHEMES)

    def test_traffic_of_several_nodes_is_compared_without_a_machine(self) -> None:
        text, rows = self.compared(4, *BOXES, "comm.ranks_per_node=2")
        self.assertEqual({row["predicted_seconds"] for row in rows}, {None})
        self.assertNotIn("least predicted time", text)
        one_node, none = self.compared(1, *BOXES)
        self.assertEqual(none, [])
        self.assertNotIn("Schemes: one exchange", one_node)

    def test_virtual_ranks_do_not_run(self) -> None:
        self.refused(2, "problem.ranks=8", "comm.ranks_per_node=4", expected=[
            "problem.ranks = 8: this run has 2; start as many, or plan for them with --dry-run"])  # fmt: skip


class Choice(KeelTest):
    """comm.scheme = auto and tuned: who chooses what, and that the solution is none the worse."""

    NODES = "comm.ranks_per_node=2"

    def chosen(self, run: Run) -> list[Record]:
        return [row for row in run.records("scheme") if row["chosen_by"] is not None]

    def test_the_model_chooses_what_it_predicts_to_be_fastest(self) -> None:
        for machine, ranks in ((LASSEN, 4), (BLUE_WATERS, 4), (LASSEN, 2)):
            with self.subTest(machine=machine, ranks=ranks):
                run = self.valid(ranks, *BOXES, *ONCE, self.NODES, machine, "comm.scheme=auto")
                rows = run.records("scheme")
                _, planned = self.compared(1, *BOXES, self.NODES, machine, "comm.scheme=auto", f"problem.ranks={ranks}")
                self.assertEqual([row["chosen_by"] for row in rows], [row["chosen_by"] for row in planned])
                self.assertEqual([row["all"] for row in rows], [row["all"] for row in planned])
                chosen = self.chosen(run)
                self.assertEqual(len(chosen), 3)  # ghosts of two levels, and those of interpolation
                for row in chosen:
                    self.assertEqual(row["chosen_by"], "auto")
                    rivals = [r for r in rows if (r["level"], r["purpose"]) == (row["level"], row["purpose"])]
                    self.assertEqual(row["scheme"], least(rivals)["scheme"])
                self.assertEqual([row["rounds"] for row in rows], [None] * len(rows))

    def test_messages_sent_are_those_of_the_chosen_schemes(self) -> None:
        words = [*(word for word in BOXES if "interpolation" not in word), *ONCE, self.NODES, LASSEN,
                 "multigrid.ghost_colours=both"]  # fmt: skip
        run = self.valid(4, *words, "comm.scheme=auto")
        solve = run.record("solve")
        exchanges = [10 * solve["cycles"], sum(visit["exchanges"] for visit in solve["bottom"])]
        for row in self.chosen(run):
            sent = run.timer("exchange.send")[row["level"]]
            self.assertEqual(sent["all_messages"], exchanges[row["level"]] * row["all"]["messages"])
            self.assertEqual(sent["all_off_node_bytes"], exchanges[row["level"]] * row["all"]["off_node_bytes"])

    def test_tuned_tries_every_scheme_and_keeps_the_fastest(self) -> None:
        for ranks in (1, 2, 4):
            run = self.valid(ranks, *BOXES, *ONCE, *([self.NODES] if ranks > 1 else []), "comm.scheme=tuned")
            rows = run.records("scheme")
            self.assertEqual(len(rows), 3 * len(SCHEMES))
            for row in self.chosen(run):
                self.assertEqual(row["chosen_by"], "tuned")
                rivals = [r for r in rows if (r["level"], r["purpose"]) == (row["level"], row["purpose"])]
                self.assertEqual({len(r["rounds"]) for r in rivals}, {3})
                self.assertEqual(min(row["rounds"]), min(min(r["rounds"]) for r in rivals))
            self.assertGreater(run.facts["tuning_seconds"], 0)
            self.assertRegex(run.stdout, r"(?m)^trying the schemes took \d")
            self.assertRegex(run.stdout, r"(?m)^CHECK  ghosts_of_schemes +PASS")

    def test_auto_tries_every_transport_of_the_scheme_and_keeps_the_fastest(self) -> None:
        for ranks in (1, 2, 3, 8):
            run = self.valid(ranks, *BOXES, *ONCE, "comm.transport=auto")
            rows = run.records("scheme")
            ways = {row["transport"] for row in rows}
            self.assertLessEqual({"isend", "persistent", "neighbour", "shared", "put"}, ways)
            self.assertEqual(len(rows), 3 * len(ways))
            self.assertEqual({row["scheme"] for row in rows}, {"standard"})
            for row in self.chosen(run):
                rivals = [r for r in rows if (r["level"], r["purpose"]) == (row["level"], row["purpose"])]
                self.assertEqual(min(row["rounds"]), min(min(r["rounds"]) for r in rivals))
                self.assertRegex(run.stdout, rf"(?m)^ +{row['level']}  .* {row['transport']} .* deck\b")
            self.assertRegex(run.stdout, r"(?m)^trying the transports took \d")
            self.assertRegex(run.stdout, r"(?m)^CHECK  ghosts_of_schemes +PASS")

    def test_ghosts_of_matrix_powers_have_a_scheme_of_their_own(self) -> None:
        deck = INPUTS / "smoke/ca_bicgstab_matrix_powers.toml"
        reference = self.valid(8, deck, *ONCE).record("solve")["residuals"]
        run = self.valid(8, deck, *ONCE, "comm.scheme=auto", "comm.ranks_per_node=4", BLUE_WATERS)
        self.assertEqual(run.record("solve")["residuals"], reference)
        chosen = {row["purpose"]: row["scheme"] for row in self.chosen(run) if row["level"] == 2}
        self.assertEqual(set(chosen), {"stencil", "powers"})
        self.assertNotEqual(chosen["stencil"], chosen["powers"])


class BottomGrid(KeelTest):
    """multigrid.bottom_grid: the bottom level solved on other ranks than its boxes."""

    DECK = ["problem.box=8", "problem.boxes=[4,2,2]", "problem.coefficients=smooth", "run.deterministic=true",
            "comm.ranks_per_node=3", *ONCE]  # fmt: skip
    MOVED = [*SCHEMES[:-1]]

    def places(self, ranks: int) -> list[list[str]]:
        return [["multigrid.bottom_grid=gather"], ["multigrid.bottom_grid=replicate"],
                [f"multigrid.bottom_grid={(ranks + 1) // 2}"]]

    def test_a_dry_run_compares_the_schemes_there_and_back(self) -> None:
        words = ["problem.ranks=512", "comm.ranks_per_node=16", "problem.box=8", BLUE_WATERS]
        _, rows = self.compared(None, *words, "multigrid.bottom_grid=gather")
        there = [row for row in rows if row["purpose"] == "to_bottom"]
        self.assertEqual([row["scheme"] for row in there], self.MOVED)
        # All send to one rank; another node sends it one message, and to send is not what takes time.
        self.assertEqual((there[0]["all"]["messages"], there[0]["most_received"]["off_node_messages"]), (511, 496))
        self.assertEqual((there[0]["most_sent"]["off_node_messages"], there[3]["all"]["off_node_messages"]), (1, 31))
        self.assertLess(10 * there[3]["predicted_seconds"], there[0]["predicted_seconds"])
        _, rows = self.compared(None, *words, "multigrid.bottom_grid=replicate")
        moves = [row for row in rows if row["purpose"] in ("to_bottom", "from_bottom")]
        self.assertEqual([row["purpose"] for row in moves], ["to_bottom"] * len(self.MOVED) + ["from_bottom"] * len(self.MOVED))
        self.assertEqual(sum(row["all"]["messages"] for row in moves[len(self.MOVED):]), 0)
        self.assertEqual([row["most_sent"]["off_node_messages"] for row in moves[:4]], [496, 31, 31, 2])
        self.assertEqual(moves[3]["all"]["off_node_bytes"] * 16, moves[0]["all"]["off_node_bytes"])

    def test_model_and_tuned_choose_for_the_boxes_too(self) -> None:
        for words in (["comm.scheme=auto", LASSEN], ["comm.scheme=tuned"]):
            for place in self.places(4):
                run = self.valid(4, *self.DECK, *words, *place)
                chosen = {row["purpose"] for row in run.records("scheme") if row["chosen_by"] is not None}
                self.assertEqual(chosen, {"stencil", "to_bottom", "from_bottom"})

    def test_what_cannot_be_is_refused(self) -> None:
        self.refused(4, "multigrid.bottom_grid=5", expected=["multigrid.bottom_grid = 5: there are only 4 ranks; choose at most that"])
        self.refused(None, "--dry-run", "multigrid.bottom_grid=replicate", "problem.ranks=8192", expected=[
            'multigrid.bottom_grid = "replicate": 8192 boxes on each of 8192 virtual ranks are too many'])  # fmt: skip


class ExchangeMode(KeelTest):
    WORDS = [*BOXES, "run.mode=exchange", "run.repeats=4", "comm.ghost_depth=2"]

    def test_every_scheme_is_timed_on_every_level(self) -> None:
        for ranks in (1, 2, 4):
            nodes = ["comm.ranks_per_node=2", LASSEN] if ranks == 4 else []
            run = self.valid(ranks, *self.WORDS, *nodes, "problem.columns=3")
            rows = run.records("scheme")
            self.assertEqual([(r["level"], r["purpose"], r["scheme"]) for r in rows],
                             [(l, p, s) for l, p in ((0, "stencil"), (1, "stencil"), (1, "interpolation")) for s in SCHEMES])  # fmt: skip
            for row in rows:
                self.assertEqual(len(row["rounds"]), 4)
                self.assertGreater(min(row["rounds"]), 0)
                self.assertEqual((row["columns"], row["chosen_by"]), (3, None))
                self.assertEqual(row["predicted_seconds"] is not None, ranks == 4)
            self.assertRegex(run.stdout, r"(?m)^CHECK  ghosts_of_schemes +PASS")
            self.assertIsNone(run.record("result")["fom"])
            self.assertEqual(run.records("solve"), [])

    def test_boxes_of_the_bottom_level_are_moved_by_every_scheme(self) -> None:
        for ranks in (2, 4):
            run = self.valid(ranks, *self.WORDS, "multigrid.bottom_grid=gather", "problem.columns=3")
            rows = [row for row in run.records("scheme") if row["level"] == 1]
            self.assertEqual([(row["purpose"], row["scheme"]) for row in rows if "bottom" in row["purpose"]],
                             [(p, s) for p in ("to_bottom", "from_bottom") for s in SCHEMES[:-1]])  # fmt: skip
            for row in rows:
                self.assertEqual(len(row["rounds"]), 4)
            self.assertRegex(run.stdout, r"(?m)^CHECK  ghosts_of_schemes +PASS")

    def test_columns_multiply_bytes_and_no_messages(self) -> None:
        words = [word for word in self.WORDS if "message_cap" not in word]
        one, four = (self.valid(2, *words, "comm.ranks_per_node=1", "comm.message_cap=1000000", f"problem.columns={t}")
                     .records("scheme") for t in (1, 4))  # fmt: skip
        for a, b in zip(one, four, strict=True):
            self.assertEqual(4 * a["all"]["bytes"], b["all"]["bytes"])
            self.assertEqual(a["all"]["messages"], b["all"]["messages"])

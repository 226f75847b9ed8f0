"""Schemes compared before a run and in it: traffic, predicted times, who chose, refusals."""

import re
import tempfile
from pathlib import Path

from keel_runner import INPUTS, KeelTest, Record, strict_json

SCHEMES = ["standard", "two_step", "two_step/max_need", "three_step", "split", "split/always", "staged_axes"]
LASSEN = f"comm.machine={INPUTS}/machines/lassen.toml"
BLUE_WATERS = f"comm.machine={INPUTS}/machines/blue_waters.toml"
BOXES = ["problem.box=8", "problem.boxes=[3,2,2]", "problem.placement=scattered", "comm.neighbours=all",
         "comm.message_cap=200", "multigrid.interpolation=linear"]  # fmt: skip
MARKS = {"": "stencil", " i": "interpolation", " p": "powers"}
TABLE_LINE = re.compile(r" +(\d+) +(6|26) (\d)( [ip])? (\S+)( \*)? +([\d.-]+(?: +[\d.-]+)*)$", re.MULTILINE)


class Comparison(KeelTest):
    def dry_run(self, ranks: int | None, *words: object) -> tuple[str, list[Record]]:
        run = self.run_keel(ranks, "--dry-run", *words)
        self.assertEqual((run.status, run.stderr), (0, ""), run)
        return run.stdout, [strict_json(line) for line in run.lines]

    def test_a_dry_run_of_4096_imaginary_ranks_compares_the_schemes_on_every_level(self) -> None:
        words = ["problem.ranks=4096", "comm.ranks_per_node=16", "problem.box=16", "multigrid.bottom_box=8"]
        text, rows = self.dry_run(None, *words, LASSEN)
        self.assertIn("4096 ranks, 256 nodes, 16 ranks per node", text)
        self.assertIn("of the first 1 ranks", text)
        self.assertEqual([(row["level"], row["scheme"]) for row in rows], [(l, s) for l in (0, 1) for s in SCHEMES])
        for level in (0, 1):
            standard = rows[level * len(SCHEMES)]
            # A node has 4 x 2 x 2 boxes, and a surface of as many faces.
            self.assertEqual(standard["all"]["messages"], 6 * 4096)
            self.assertEqual(standard["all"]["off_node_messages"], 2 * (4 + 8 + 8) * 256)
            self.assertEqual(standard["all"]["bytes"], 6 * 4096 * 8 * (16 >> level) ** 2)
            best = min(rows[level * len(SCHEMES):][:len(SCHEMES)], key=lambda row: row["predicted_seconds"])
            self.assertEqual(re.findall(rf"(?m)^ +{level} +6 1 +(\S+) \*", text), [best["scheme"]])

    def test_table_and_records_agree_and_do_not_depend_on_who_plans(self) -> None:
        words = [*BOXES, "comm.ranks_per_node=3", BLUE_WATERS]
        text, rows = self.dry_run(4, *words)
        imagined, same_rows = self.dry_run(2, *words, "problem.ranks=4")
        self.assertEqual(rows, same_rows)
        self.assertEqual(TABLE_LINE.findall(text), TABLE_LINE.findall(imagined))
        shown = [
            (int(level), MARKS[mark], scheme, [float(n) for n in numbers.split()])
            for level, _, _, mark, scheme, _, numbers in TABLE_LINE.findall(text)
        ]
        self.assertEqual(len(shown), 3 * len(SCHEMES))
        for row, (level, purpose, scheme, numbers) in zip(rows, shown, strict=True):
            self.assertEqual((row["level"], row["purpose"], row["scheme"]), (level, purpose, scheme))
            self.assertEqual(numbers[:5], [row["all"]["messages"], row["all"]["off_node_messages"],
                                           row["all"]["bytes"], row["all"]["off_node_bytes"], row["duplicate_bytes"]])  # fmt: skip
            self.assertAlmostEqual(numbers[-1], row["predicted_seconds"] * 1e6, delta=0.006)

    def test_the_deep_ghosts_of_matrix_powers_are_compared_like_all_others(self) -> None:
        deck = INPUTS / "smoke/ca_bicgstab_matrix_powers.toml"
        text, rows = self.dry_run(8, deck, "comm.ranks_per_node=3", LASSEN)
        powers = [row for row in rows if row["purpose"] == "powers"]
        self.assertEqual([row["scheme"] for row in powers], SCHEMES)
        self.assertEqual({(row["level"], row["depth"], row["neighbours"]) for row in powers}, {(2, 3, "all")})
        # What one rank sends is in test_decks.py.
        self.assertEqual(powers[0]["most_sent"]["bytes"], 8 * (7 * 8 * 7 - 4**3))
        self.assertGreater(powers[0]["predicted_seconds"], 0)
        self.assertEqual(len(re.findall(r"(?m)^ +2 +26 3 p ", text)), len(SCHEMES))

    def test_traffic_of_several_nodes_is_compared_without_a_machine(self) -> None:
        text, rows = self.dry_run(4, *BOXES, "comm.ranks_per_node=2")
        self.assertEqual({row["predicted_seconds"] for row in rows}, {None})
        self.assertNotIn("least predicted time", text)
        one_node, none = self.dry_run(1, *BOXES)
        self.assertEqual(none, [])
        self.assertNotIn("Schemes, one exchange", one_node)

    def test_imaginary_ranks_do_not_run(self) -> None:
        self.refused(2, "problem.ranks=8", "comm.ranks_per_node=4", expected=[
            "problem.ranks = 8: this run has 2; start as many, or imagine them with --dry-run"])  # fmt: skip

    def test_a_machine_of_which_too_little_is_known_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            machine = Path(folder) / "half.toml"
            machine.write_text(
                "[host]\neager_from = 0\nrendezvous_from = 9\n[host.node]\n"
                "eager = { alpha = 1e-6, beta = 1e-9 }\nrendezvous = { alpha = 1e-6, beta = 1e-9 }\n"
            )
            words = [*BOXES, f"comm.machine={machine}"]
            for option in ([], ["--dry-run"]):
                self.refused(4, *option, *words, "comm.ranks_per_node=2",
                             expected=["comm.machine: machine half: host.off_node.eager is not known; add it to the "
                                       "machine's file, or measure it with run.mode = network"])  # fmt: skip
            self.dry_run(4, *words, "comm.ranks_per_node=4")


class PrintedPlans(KeelTest):
    def test_a_printed_plan_names_every_message_of_the_rank(self) -> None:
        words = [*BOXES, "comm.scheme=two_step", "comm.ranks_per_node=2"]
        text = self.text(1, "--print-plan=3", *words, "problem.ranks=5")
        self.assertEqual(text, self.text(5, *words, "--print-plan=3"))
        self.assertIn("rank 3 of 5, on node 1 with ranks 2, 3\n", text)
        self.assertIn("level 0, boxes of 8^3, 1 layers from 26 neighbours for the stencil: two_step\n", text)
        sent = [int(size) for size in re.findall(r"(?m)^    to   rank \d on node \d: (\d+) bytes", text.split("level 1")[0])]
        run = self.run_keel(5, *words, "run.warmup=0", "run.repeats=1")
        self.assertEqual(run.status, 0, run)
        rank = self.text(1, "--print-plan", *words, "problem.ranks=5")
        self.assertTrue(rank.startswith("rank 0 of 5, on node 0 with ranks 0, 1\n"))
        self.assertGreater(len(sent), 3)

    def test_what_cannot_be_printed_is_refused(self) -> None:
        self.refused(2, "--print-plan=2", *BOXES, expected=["command line: --print-plan=2: there are 2 ranks"])
        self.refused(1, "--print-plan", "run.mode=network", expected=["run.mode = network and spmv have no ghost cells"])
        self.refused(1, "--print-plan=x", *BOXES, expected=["command line: --print-plan=x: unknown option"])

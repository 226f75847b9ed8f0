"""run.mode = spmv: the same products on any ranks and schemes, counts, memory, refusals of files by line."""

import re
import tempfile
from pathlib import Path

from keel_runner import INPUTS, ONCE, KeelTest

RANDOM = ["run.mode=spmv", "problem.matrix=random", "problem.rows=700", "problem.ordering=random", *ONCE]
SOLVE = ["run.solve=true", "bottom.solver=cg", "bottom.tolerance=1e-8"]


class Spmv(KeelTest):
    def test_ranks_and_schemes_change_messages_but_no_product_and_no_solution(self) -> None:
        alone = self.valid(1, *RANDOM, *SOLVE)
        self.assertEqual(alone.record("spmv")["all"]["messages"], 0)
        for scheme in ("standard", "two_step", "three_step", "split"):
            with self.subTest(scheme=scheme):
                run = self.valid(4, *RANDOM, *SOLVE, f"comm.scheme={scheme}", "comm.ranks_per_node=2")
                spmv = run.record("spmv")
                self.assertEqual([spmv[key] for key in ("rows", "nonzeros")], [700, alone.record("spmv")["nonzeros"]])
                sent = run.timer("exchange.send")[0]
                self.assertEqual(sent["all_messages"], spmv["all"]["messages"])
                self.assertEqual(sent["all_off_node_bytes"], spmv["all"]["off_node_bytes"])
                iterations = [r.record("solve")["iterations"] for r in (run, alone)]
                self.assertLessEqual(abs(iterations[0] - iterations[1]), 1)
                self.assertIn("FOM    spmv.nonzeros_per_second", run.stdout)

    def test_columns_travel_together(self) -> None:
        one, three = (self.valid(3, *RANDOM, f"problem.columns={t}").record("spmv") for t in (1, 3))
        self.assertEqual(one["all"]["messages"], three["all"]["messages"])
        self.assertEqual(3 * one["all"]["bytes"], three["all"]["bytes"])
        self.assertEqual(one["all"]["bytes"], 8 * one["all_ghosts"])

    def test_more_ranks_than_rows(self) -> None:
        self.valid(4, "run.mode=spmv", "problem.matrix=arrow", "problem.rows=3", *ONCE)

    def test_a_file_that_is_missing_or_malformed_is_refused_with_its_line(self) -> None:
        self.refused(2, "run.mode=spmv", "problem.matrix=none.mtx", expected=["none.mtx\": cannot be read"])
        with tempfile.TemporaryDirectory() as folder:
            matrix = Path(folder) / "bad.mtx"
            matrix.write_text("%%MatrixMarket matrix coordinate real general\n% rows, columns, entries\n2 2 1\n1 3 1\n")
            for words in ([], ["--dry-run"], SOLVE):
                self.refused(2, *words, "run.mode=spmv", f"problem.matrix={matrix}",
                             expected=["bad.mtx:4: column = 3: must be an integer from 1 to 2"],
                             records="--dry-run" not in words)  # fmt: skip

    def test_a_zero_on_the_diagonal_is_refused_where_it_would_be_divided_by(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            matrix = Path(folder) / "zero.mtx"
            entries = [f"{row} {row} {0 if row == 7 else 2}" for row in range(1, 9)]
            matrix.write_text("\n".join(["%%MatrixMarket matrix coordinate real symmetric", "8 8 8", *entries, ""]))
            words = ("run.mode=spmv", f"problem.matrix={matrix}", *ONCE)
            self.valid(2, *words)
            # The second of two ranks has the row.
            self.refused(2, *words, *SOLVE, expected=["zero.mtx:9: the diagonal entry of row 7 is 0"])
            self.refused(1, *words, "run.solve=true", "bottom.solver=bicgstab", expected=["zero.mtx:9: "])

    def test_a_file_gives_the_matrix_that_it_holds(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            matrix = Path(folder) / "line.mtx"
            entries = [f"{row} {row} 2" for row in range(1, 41)] + [f"{row + 1} {row} -1" for row in range(1, 40)]
            head = ["%%MatrixMarket matrix coordinate real symmetric", f"40 40 {len(entries)}"]
            matrix.write_text("\n".join([*head, *entries, ""]))
            for ordering in ("natural", "random", "rcm"):
                run = self.valid(
                    3, "run.mode=spmv", f"problem.matrix={matrix}", f"problem.ordering={ordering}", *SOLVE, *ONCE
                )
                self.assertEqual(run.record("spmv")["nonzeros"], 118)

    def test_memory_predicted_is_memory_used_within_a_tenth(self) -> None:
        for words in (["problem.columns=3"], ["problem.matrix=stencil27", *SOLVE], ["problem.ordering=random"],
                      ["problem.matrix=random"]):  # fmt: skip
            with self.subTest(words=words):
                grid = [] if "problem.matrix=random" in words else ["problem.box=40"]
                words = ["run.mode=spmv", *grid, *words]
                (predicted,) = re.findall(r"(?m)^memory: ([\d.]+) MB a rank", self.text(2, "--dry-run", *words))
                facts = self.valid(2, *words, *ONCE).record("run")
                self.assertAlmostEqual(1e6 * float(predicted), facts["predicted_bytes"], delta=0.06e6)
                self.assertAlmostEqual(
                    facts["predicted_bytes"], facts["measured_bytes"], delta=0.1 * facts["measured_bytes"]
                )

    def test_a_matrix_of_more_than_any_memory_holds_is_refused_and_can_be_tried_dry(self) -> None:
        words = ("run.mode=spmv", "problem.matrix=banded", "problem.rows=1099511627776")
        self.refused(2, *words, expected=["1099511627776 rows and 18691697672120 entries on 2 ranks: at least"])
        self.assertIn("1099511627776 rows", self.text(2, "--dry-run", *words))

    def test_keys_of_other_modes_are_refused(self) -> None:
        self.refused(1, "problem.columns=2", expected=["problem.columns: needs run.mode = spmv"])
        self.refused(1, "run.mode=spmv", "multigrid.pre=1", expected=["multigrid.pre: plays no part"])
        self.refused(1, "run.mode=spmv", "problem.rows=9", expected=["problem.rows: the matrix has rows of its own"])

    def test_solvers_that_do_not_suit_the_matrix_are_refused(self) -> None:
        arrow = ("run.mode=spmv", "problem.matrix=arrow", "problem.rows=20", "run.solve=true", "bottom.solver=ca_cg")
        self.refused(1, *arrow, "bottom.s=16",
                     expected=["33 basis vectors over the 20 rows of the matrix are dependent; choose at most 9"])  # fmt: skip
        self.refused(1, *arrow, "bottom.powers=matrix_powers", expected=["only grids have ghosts so deep"])
        self.refused(1, *arrow[:-1], "bottom.solver=smooth", expected=["relaxes grids only"])

    def test_the_deck_runs_and_can_be_tried_dry(self) -> None:
        words = (INPUTS / "spmv.toml", "problem.box=8", "comm.ranks_per_node=2")
        run = self.valid(4, *words, "run.repeats=1")
        text = self.text(4, "--dry-run", *words)
        self.assertEqual(re.findall(r"(?m)^(standard|two_step|three_step|split) ", text),
                         ["standard", "two_step", "three_step", "split"])  # fmt: skip
        spmv = run.record("spmv")
        (counts,) = re.findall(r"(?m)^three_step (.*)$", text)
        self.assertEqual(
            [int(number) for number in re.findall(r"\d+", counts)],
            [spmv[who][key] for key in ("messages", "bytes", "off_node_messages", "off_node_bytes")
             for who in ("busiest", "all")])  # fmt: skip

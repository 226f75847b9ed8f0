"""Dry runs that are refused by what they would take, estimated from sizes, and those that must not be."""

import unittest

from keel_runner import INPUTS, NIGHTLY, KeelTest

HOPPER = "comm.machine=hopper"
SPMV = "run.mode=spmv"
MILLION = f"problem.ranks={1 << 20}"
# Seconds of a processor and address space, half of which a dry run may take: what a wrong estimate would exceed by far.
REFUSED = ["bash", "-c", 'ulimit -t 20 -v 4500000; exec "$@"', "-"]
ACCEPTED = ["bash", "-c", 'ulimit -t 120 -v 4500000; exec "$@"', "-"]


class DryRunLimit(KeelTest):
    def bounded(self, under: list[str], *words: object) -> tuple[int, str, str]:
        run = self.run_keel(None, "--dry-run", *words, records=False, quick=False, under=under)
        self.assertNotIn("internal", run.stderr)
        return run.status, run.stdout, run.stderr

    def test_what_takes_too_long_or_too_much_is_refused_before_any_work(self) -> None:
        for words, expected in (
            ((MILLION, "problem.boxes=[1024,1024,1024]", "comm.ranks_per_node=16"), "1073741824 boxes: a dry run takes about"),
            (("problem.ranks=1000000", "problem.boxes=[1000,1000,1000]", "comm.ranks_per_node=16"), "1000000000 boxes"),
            (("problem.shape=tags", "problem.boxes=[512,512,512]", "problem.box=8"), "fewer problem.boxes"),
            ((SPMV, "problem.matrix=arrow", "problem.rows=10000000", MILLION, "comm.ranks_per_node=16"), "choose fewer rows"),
            ((SPMV, "problem.matrix=random", "problem.rows=10000000", MILLION, "comm.ranks_per_node=16"), "choose fewer rows"),
        ):  # fmt: skip
            with self.subTest(words=words):
                status, stdout, stderr = self.bounded(REFUSED, *words)
                self.assertEqual((status, stdout), (2, ""), stderr)
                self.assertIn(expected, stderr)
                self.assertRegex(stderr, r"a dry run takes about \d+ s of a processor and \S+ .B, and may take 60 s and 2\.0 GB: "
                                         r"choose .*, or run\.dry_run_limit = \d+\n")  # fmt: skip

    def test_a_smaller_bound_refuses_what_a_larger_one_accepts(self) -> None:
        words = ["problem.ranks=4096", "comm.ranks_per_node=24", "problem.box=16"]
        self.assertEqual(self.bounded(ACCEPTED, *words)[0], 0)
        status, _, stderr = self.bounded(REFUSED, *words, "run.dry_run_limit=0.01")
        self.assertEqual(status, 2, stderr)
        self.assertRegex(stderr, r"may take 1 s and 20\.0 MB: choose .* run\.dry_run_limit = 1\n")
        self.refused(None, *words[2:], "run.dry_run_limit=2", expected=["run.dry_run_limit: plays a part in --dry-run alone"])

    def test_solves_that_take_too_long_are_made_on_fewer_boxes_or_left_out(self) -> None:
        # To plan takes 28 s of a processor at night, 1 by day; either limit is beyond that, and below what solves take.
        ranks, few, limit = (65536, 1024, 0.5) if NIGHTLY else (4096, 64, 0.03)
        for words in (
            ("problem.dimensions=2", f"problem.ranks={ranks}", "comm.ranks_per_node=24", HOPPER, f"run.dry_run_limit={limit}"),
            ("run.mode=survey", f"problem.ranks={few}", "comm.ranks_per_node=16", HOPPER, f"run.dry_run_limit={limit}"),
        ):
            with self.subTest(words=words):
                status, stdout, stderr = self.bounded(ACCEPTED, *words)
                self.assertEqual((status, stderr), (0, ""))
                self.assertIn("assumed, since solving on all boxes would exceed run.dry_run_limit: Krylov methods take", " ".join(stdout.split()))
                self.assertIn("Predicted solves", stdout)
        for words in (
            # Boxes on which no dry run of 2 GB can solve, which takes several fields.
            ("problem.box=512", "problem.ranks=64", "comm.ranks_per_node=4", HOPPER),
            ("problem.dimensions=2", "problem.box=16384", "problem.ranks=64", "comm.ranks_per_node=4", HOPPER),
        ):
            with self.subTest(words=words):
                status, stdout, stderr = self.bounded(ACCEPTED, *words)
                self.assertEqual((status, stderr), (0, ""))
                text = " ".join(stdout.split())
                self.assertIn("remark: no seconds are predicted, iterations not known: with the solves that count them", text)
                self.assertIn("choose bottom.assumed_iterations", text)
                self.assertNotIn("Predicted solves", stdout)

    def test_what_the_pages_name_is_accepted(self) -> None:
        named = (
            ((INPUTS / "papers/seed_weak.toml", MILLION, "comm.ranks_per_node=16", HOPPER, "bottom.solver=cg",
              "bottom.assumed_iterations=100"), "Predicted solves"),
            ((SPMV, "problem.matrix=arrow", "problem.rows=200000", "problem.ranks=65536", "comm.ranks_per_node=16"), "matrix"),
            ((INPUTS / "papers/seed_weak.toml", "problem.ranks=512", "comm.ranks_per_node=4", HOPPER), "Predicted solves"),
            ((INPUTS / "spmv.toml", "problem.box=8", "problem.ranks=64", "comm.ranks_per_node=16", "comm.machine=lassen"), "matrix"),
        )  # fmt: skip
        for words, predicted in named if NIGHTLY else named[:2]:  # the others solve, for 20 s of a processor
            with self.subTest(words=words):
                status, stdout, stderr = self.bounded(ACCEPTED, *words)
                self.assertEqual((status, stderr), (0, ""))
                self.assertIn(predicted, stdout)
                self.assertNotIn("not known", stdout)

    @unittest.skipUnless(NIGHTLY, "9 s of a processor; by day tests/comm/test_exchange.cpp holds the bound")
    def test_a_message_of_more_values_than_mpi_counts_is_refused(self) -> None:
        # A rank needs 2.2 million rows of the other, of 1000 columns each.
        words = [SPMV, "problem.matrix=arrow", "problem.rows=4400000", "problem.columns=1000", "problem.ranks=2", "comm.ranks_per_node=1"]
        status, stdout, stderr = self.bounded(REFUSED, *words)
        self.assertEqual((status, stdout), (2, ""), stderr)
        self.assertIn('comm.scheme = "standard", level 0, product: a message of 2200000000 values, and MPI counts at most '
                      "2147483647; choose fewer problem.columns or more ranks, or comm.scheme", stderr)  # fmt: skip

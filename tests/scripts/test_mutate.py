"""scripts/mutate.py: what it changes, that it puts everything back, and that the semantic mistakes still fit the sources."""

import unittest

import mutate
from support import InFolder

SOURCE = """\
#include <vector>  // a < b
double half(double x) {
    check(x > 0, "x > 0");
    // x - 1
    if (x < 1) return 0.5 * x;
    reserve(x, y);
    return -x;
}
"""


def changed(source: str) -> set[tuple[int, str, str]]:
    return {(p.mutant.line, p.mutant.old, p.mutant.new) for p in mutate.mechanical("a.cpp", source)}


def test(name: str, *command: str, labels: tuple[str, ...] = (), seconds: float = 0.0) -> mutate.Test:
    return mutate.Test(name, list(command), {}, list(labels), seconds)


class Mechanical(InFolder):
    def test_every_operator_number_sign_call_and_statement_is_changed_and_nothing_else(self) -> None:
        self.assertEqual(changed(SOURCE), {(5, "<", "<="), (5, "1", "0"), (5, "0.5", "1.0"), (5, "*", "/"),
                                           (6, "(x, y)", "(y, x)"), (6, "reserve(x, y);", ";"), (7, "-", "")})

    def test_a_text_differs_from_its_source_by_the_change_alone(self) -> None:
        for placed in mutate.mechanical("a.cpp", SOURCE):
            lines = zip(SOURCE.splitlines(), placed.text.splitlines(), strict=True)
            self.assertEqual([n for n, (a, b) in enumerate(lines, 1) if a != b], [placed.mutant.line])

    def test_declarations_and_parts_of_statements_are_not_deleted(self) -> None:
        deleted = {old for _, old, new in changed("f(a,\n  b);\nconst auto x = f(y);\nint n;\nn += 2;\n") if new == ";"}
        self.assertEqual(deleted, {"n += 2;"})

    def test_arguments_whose_order_does_not_matter_are_not_swapped(self) -> None:
        self.assertEqual([p.mutant.what for p in mutate.mechanical("a.cpp", "x = std::max(a, b);\n")],
                         ["deleted statement, column 1", "word, column 5"])

    def test_a_draw_is_the_same_for_the_same_seed_only(self) -> None:
        self.file("a.cpp", 20 * SOURCE)
        one, same, other = (mutate.sampled(self.folder, ["a.cpp"], 10, seed) for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        self.assertEqual(len(one), 10)


class Semantic(InFolder):
    def test_all_rows_fit_the_sources(self) -> None:
        placed = mutate.semantic(mutate.ROOT, mutate.SEMANTIC)
        self.assertGreaterEqual(len(placed), 30)
        names = [p.mutant.what for p in placed]
        self.assertEqual(len(names), len(set(names)))
        for p in placed:
            self.assertTrue(mutate.Workshop.executables(p.mutant.file))
            self.assertNotEqual(p.text, (mutate.ROOT / p.mutant.file).read_text())

    def test_rows_that_no_longer_fit_are_named_all(self) -> None:
        rows = "".join(f'[[mutant]]\nname = "{name}"\nfile = "a.cpp"\nold = "{old}"\nnew = ""\n'
                       for name, old in (("gone", "y"), ("twice", "a"), ("fits", "b")))  # fmt: skip
        self.file("a.cpp", "a a b")
        with self.assertRaises(SystemExit) as refused:
            mutate.semantic(self.folder, self.file("rows.toml", rows))
        self.assertRegex(str(refused.exception), "gone: its old text is found 0 times in a.cpp(.|\n)*twice: .* 2 times")
        self.assertNotIn("fits", str(refused.exception))


class Running(InFolder):
    def test_a_file_is_put_back_whatever_happens(self) -> None:
        path = self.file("a.cpp", "right")
        with self.assertRaises(KeyboardInterrupt), mutate.written(path, "wrong"):
            self.assertEqual(path.read_text(), "wrong")
            raise KeyboardInterrupt
        self.assertEqual(path.read_text(), "right")

    def test_a_test_passes_fails_is_skipped_or_does_not_end(self) -> None:
        endings = {"true": "passed", "exit 3": "failed", "exit 77": "passed", "kill -11 $$": "failed", "sleep 60": "timed out"}
        for command, ending in endings.items():
            self.assertEqual(mutate.run(test(command, "sh", "-c", command), 0.5 if "sleep" in command else 60), ending)

    def test_the_test_of_the_same_name_comes_first_then_what_told_last_then_the_shortest(self) -> None:
        tests = [test("a.8", labels=("slow",)), test("long", seconds=9), test("short", seconds=1), test("told", seconds=10),
                 test("solvers.cg", labels=("cg",), seconds=20)]
        mutant = mutate.Mutant("solvers/krylov/cg/cg.cpp", 1, "", "", "")
        names = [t.name for t in mutate.in_order(tests, mutant, ["told"])]
        self.assertEqual(names, ["solvers.cg", "told", "short", "long", "a.8"])

    def test_what_is_left_to_the_night_is_left_out_with_what_is_slow(self) -> None:
        self.assertTrue(test("solvers.openmp.4.exhaustive", labels=("solvers", "nightly")).long())
        self.assertTrue(test("comm.openmp.8", labels=("comm", "slow")).long())
        self.assertFalse(test("solvers.cg", labels=("solvers", "cg")).long())

    def test_messages_are_tried_on_three_and_four_ranks_as_well(self) -> None:
        two = test("comm.exchange", "mpiexec", "-n", "2", "tests/test_comm", "[#test_exchange]")
        self.assertEqual([(t.name, t.command[2]) for t in mutate.on_more_ranks(two)],
                         [("comm.exchange on 3 ranks", "3"), ("comm.exchange on 4 ranks", "4")])
        self.assertEqual(mutate.on_more_ranks(test("solvers.cg", "mpiexec", "-n", "2", "tests/test_solvers")), [])

    def test_messages_are_tried_with_the_tests_that_send_some_first(self) -> None:
        self.assertEqual(mutate.Workshop.executables("comm/carry/exchanger.cpp")[0], "test_comm")
        self.assertEqual(mutate.Workshop.executables("comm/plans/schemes/split.cpp")[0], "test_plans")


class Score(unittest.TestCase):
    def test_what_does_not_compile_does_not_count(self) -> None:
        outcomes = ["killed", "killed", "timed out", "survived", "did not compile"]
        self.assertEqual(mutate.summary([{"outcome": outcome} for outcome in outcomes]),
                         "2 killed, 1 timed out, 1 survived, 1 did not compile; noticed: 3 of 4, 75.0 %")

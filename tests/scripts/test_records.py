"""scripts/studies/records.py on whole, cut and foreign files; scripts/studies/statistics.py by hand."""

import contextlib
import io
import json
import re
import unittest
from pathlib import Path

from studies.records import UnreadableRecords, differing_keys, read_all, read_runs, short_names
from studies.statistics import order_of_interval, remark, spread
from support import InFolder

RUN = '{"record":"run","deck":{"bottom":{"solver":"cg","s":4},"run":{"mode":"solve"}},"cells":[2,2,2]}\n'
SOLVE = '{"record":"solve","seconds":1.0}\n'
RESULT = '{"record":"result","valid":true}\n'


class Reading(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "run.json"

    def test_a_run_begins_with_its_run_record(self) -> None:
        self.path.write_text(RUN + SOLVE + RESULT + RUN + SOLVE)
        first, second = read_runs(self.path)
        self.assertEqual((first.verdict, second.verdict), ("VALID", "KILLED"))
        self.assertEqual(first.solvers(), ["cg"])  # old records leave the solver to the deck
        self.assertEqual(first.unknowns, 8)

    def test_steps_in_time_are_one_solve_a_repeat(self) -> None:
        step = '{"record":"step","schema":1,"solver":"cg","repeat":%d,"step":%d,"seconds":%s,"cycles":%d,"converged":%s}\n'
        self.path.write_text(RUN + step % (0, 0, "1.0", 9, "true") + step % (0, 1, "2.0", 5, "false") + step % (1, 0, "4.0", 9, "true"))
        (run,) = read_runs(self.path)
        self.assertEqual(run.solvers(), ["cg"])
        self.assertEqual([(s["repeat"], s["seconds"], s["cycles"], s["converged"]) for s in run.solves("cg")],
                         [(0, 1.5, 7, False), (1, 4.0, 9, True)])  # fmt: skip

    def test_unknowns_are_those_of_the_boxes_that_there_are(self) -> None:
        self.path.write_text(RUN.replace('"cells"', '"domain":{"cells":7},"cells"'))
        self.assertEqual(read_runs(self.path)[0].unknowns, 7)

    def test_a_file_cut_at_any_byte_is_read_as_far_as_it_goes(self) -> None:
        whole = (RUN + SOLVE + RESULT).encode()
        for size in range(len(RUN), len(whole)):
            self.path.write_bytes(whole[:size])
            (run,) = read_runs(self.path)
            self.assertEqual(len(run.records), 1 + (size >= len(RUN + SOLVE) - 1) + (size >= len(whole) - 1))
            self.assertEqual(run.verdict, "VALID" if size == len(whole) - 1 else "KILLED")

    def test_a_line_that_is_no_record_is_told_with_its_place(self) -> None:
        self.path.write_text(RUN + "mpiexec: oops\n" + "[1]\n" + RESULT)
        (run,) = read_runs(self.path)
        self.assertEqual(run.damage, [f"{self.path}:2: no record: 'mpiexec: oops'", f"{self.path}:3: no record: '[1]'"])
        self.assertEqual(run.verdict, "VALID")

    def test_a_line_ends_at_a_line_feed_alone(self) -> None:
        label = "".join(map(chr, (0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029)))
        whole = json.dumps({"record": "run", "label": f"a{label[5:]}b", "deck": {}}, ensure_ascii=False)
        self.path.write_bytes(f"{whole}\r\n{SOLVE}{RESULT}{RUN}noise{label}\n{RESULT}".encode())
        first, second = read_runs(self.path)
        self.assertEqual((first.head["label"], first.verdict, first.damage), (f"a{label[5:]}b", "VALID", []))
        self.assertEqual(second.damage, [f"{self.path}:5: no record: {'noise' + label!r}"])

    def test_a_last_line_without_its_end_is_pending_beside_a_run_and_cut_off_behind_it(self) -> None:
        for end, pending, after in (('{"record":"sol', [], ["{path}:2: cut off: '{{\"record\":\"sol'"]),
                                    ("{\n", ["{path}:2: no record: '{{'"], ["{path}:2: no record: '{{'"])):  # fmt: skip
            self.path.write_text(RUN + end)
            for writing, damage in ((True, pending), (False, after)):
                (run,) = read_runs(self.path, writing)
                self.assertEqual(run.damage, [line.format(path=self.path) for line in damage])

    def test_records_behind_a_damaged_run_record_are_no_other_runs(self) -> None:
        self.path.write_text(RUN + SOLVE + RESULT + RUN[:30] + "\n" + SOLVE + SOLVE + RESULT)
        first, second = read_runs(self.path)
        self.assertEqual((len(first.solves("cg")), first.verdict, first.damage), (1, "VALID", []))
        self.assertEqual((len(second.of("solve")), second.verdict, len(second.damage)), (2, "DAMAGED", 1))

    def test_each_line_that_is_no_record_is_told_with_its_number(self) -> None:
        self.path.write_text("noise\n" + RUN + "[1]\n" + RESULT + "more\n" + RUN + '{"record":"so')
        with contextlib.redirect_stderr(io.StringIO()) as told:
            self.assertEqual([run.verdict for run in read_all([self.path])], ["VALID", "KILLED"])
        self.assertEqual([line.partition(": ")[0] for line in told.getvalue().splitlines()],
                         [f"{self.path}:{number}" for number in (1, 3, 5, 7)])  # fmt: skip

    def test_values_that_keel_does_not_write_are_refused_with_their_place(self) -> None:
        for old, new, told in (('"solver":"cg"', '"solver":7', None),  # a value of a key may be anything
                               ('"seconds":1.0', '"seconds":"fast"', 'solve.seconds = "fast"'),
                               ('"seconds":1.0', '"seconds":true', "solve.seconds = true"),
                               ('"seconds":1.0', '"seconds":1.0,"solver":7', "solve.solver = 7"),
                               ('"seconds":1.0', '"seconds":1.0,"residuals":[1,"x"]', "solve.residuals = "),
                               ('"deck":{', '"deck":{"multigrid":7,', "run.deck = "), ("[2,2,2]", '"2"', 'run.cells = "2"'),
                               ('"valid":true', '"valid":"yes"', 'result.valid = "yes"')):  # fmt: skip
            with self.subTest(new):
                self.path.write_text((RUN + SOLVE + RESULT).replace(old, new))
                if told is None:
                    self.assertEqual(len(read_runs(self.path)), 1)
                    continue
                with self.assertRaisesRegex(UnreadableRecords, rf"run.json:[123]: {re.escape(told)}.*: keel writes no such value"):
                    read_runs(self.path)

    def test_numbers_and_depths_beyond_limits_are_no_records(self) -> None:
        for value in ("NaN", "-Infinity", "1e400", "1" + 400 * "0", "1" + 5000 * "0", 100_000 * "["):
            self.path.write_text(RUN + f'{{"record":"solve","seconds":{value}}}\n')
            (run,) = read_runs(self.path)
            self.assertEqual((len(run.records), len(run.damage)), (1, 1), value[:20])

    def test_records_of_a_dry_run_have_no_head(self) -> None:
        plan = '{"record":"plan","unknowns":%d,"deck":{"bottom":{"s":4}}}\n'
        scheme = '{"record":"scheme","level":0}\n'
        for text, sizes in ((scheme, [None]), (plan % 8 + scheme + plan % 64 + scheme, [8, 64])):
            self.path.write_text(text)
            runs = read_runs(self.path)
            self.assertEqual([run.plan.get("unknowns") for run in runs], sizes)
            for run in runs:
                self.assertEqual((run.verdict, run.mode, run.of("scheme")[0]["level"]), ("DRY", "dry run", 0))
        self.assertEqual(runs[0].key("bottom.s"), 4)
        self.path.write_text(plan % 8 + '{"record":"solve","predicted":true,"solver":"cg","seconds":1.0}\n')
        (run,) = read_runs(self.path)
        self.assertEqual((run.verdict, run.mode, run.solvers()), ("PREDICTED", "dry run", ["cg"]))

    def test_seconds_of_two_clocks_are_not_compared(self) -> None:
        simulated = RUN.replace('"cells"', '"simulation":{"platform":"torus","machine":"hopper"},"cells"')
        for text, mixed in ((RUN + RUN, False), (simulated + simulated.replace("torus", "tree"), False), (RUN + simulated, True)):
            self.path.write_text(text)
            if not mixed:
                self.assertEqual(len(read_all([self.path])), 2)
                continue
            with self.assertRaisesRegex(UnreadableRecords, "run.json: real; .*run.json: simulated on torus by hopper; give only"):
                read_all([self.path])

    def test_what_holds_no_record_is_refused(self) -> None:
        for text, why in (("", "it is empty"), ("half a li", "no record in it")):
            self.path.write_text(text)
            with self.assertRaisesRegex(UnreadableRecords, why):
                read_runs(self.path)

    def test_keys_that_differ_are_what_was_swept(self) -> None:
        self.path.write_text(RUN + RUN.replace('"s":4', '"s":8,"depth":2'))
        self.assertEqual(differing_keys(read_runs(self.path)), ["bottom.s"])
        self.assertEqual(differing_keys(read_runs(self.path), besides=["bottom.s"]), [])


class Names(unittest.TestCase):
    def test_files_have_short_names_that_no_other_has(self) -> None:
        for files, names in ((["x/a.json", "x/b.jsonl"], ["a", "b"]), (["x/y/a.json", "z/y/a.json", "b.json"], ["x/y/a", "z/y/a", "b"]),
                             (["x/a.json", "x/a.json", "y/a.json"], ["x/a (1)", "x/a (2)", "y/a"]),
                             (["a.1.json"], ["a.1"]), (["a.json", "a.jsonl"], ["a (1)", "a (2)"])):  # fmt: skip
            self.assertEqual(short_names([Path(file) for file in files]), names)


class Statistics(unittest.TestCase):
    def test_orders_of_the_interval_are_those_of_the_tables(self) -> None:
        # E.g. table A.1 of Le Boudec 2010: none below 6; 6: 1, 9: 2, 12: 3, 20: 6.
        self.assertEqual([order_of_interval(n) for n in (1, 5, 6, 8, 9, 11, 12, 20)], [None, None, 1, 1, 2, 2, 3, 6])

    def test_few_values_have_no_interval_and_a_remark(self) -> None:
        one = spread([3.0, 1.0, 2.0])
        self.assertEqual((one.median, one.low, one.bars), (2.0, None, (1.0, 3.0)))
        self.assertIn("3 measurements, 6 are needed", remark([3, 3]))
        self.assertIn("1 of 2 points: 3 measurements", remark([3, 6]))
        self.assertEqual(remark([6, 7]), "")
        self.assertEqual(spread([1, 2, 3, 4, 5, 6, 7, 8, 9]).bars, (2, 8))

"""scripts/report builds, records before and after: what counts as a difference."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(Path(__file__).parent)]
import fake_keel  # noqa: E402
from studies.views import command  # noqa: E402
from studies.views.builds import TIMES, differences  # noqa: E402

SOLVE = {"record": "solve", "seconds": 0.5, "residuals": [1.0, 0.25], "bottom": [{"iterations": 7}], "cycles": 1}
RUN = {"record": "run", "revision": "a", "deck": {"bottom": {"s": 4}, "output": {"json": "a"}}}


class Differences(unittest.TestCase):
    def test_times_and_builds_may_differ(self) -> None:
        other = [RUN | {"revision": "b", "deck": {"bottom": {"s": 4}, "output": {"json": "b"}}}, SOLVE | {"seconds": 9.0}]
        self.assertEqual(differences([RUN, SOLVE], other), ([], set()))

    def test_every_bit_of_a_result_counts(self) -> None:
        found, _ = differences([SOLVE], [SOLVE | {"residuals": [1.0, 0.25 + 2**-54]}])
        self.assertEqual(found, ["record 0 (solve): residuals: [1.0, 0.25] before, [1.0, 0.25000000000000006] after"])

    def test_keys_of_the_deck_are_told_by_name(self) -> None:
        found, _ = differences([RUN], [RUN | {"deck": {"bottom": {"s": 8}, "output": {}}}])
        self.assertEqual(found, ["record 0 (run): deck.bottom.s: 4 before, 8 after"])

    def test_a_field_that_is_gone_is_a_difference_and_a_new_one_is_not(self) -> None:
        less = {key: value for key, value in SOLVE.items() if key != "cycles"}
        self.assertEqual(differences([SOLVE], [less])[0], ["record 0 (solve): cycles is gone"])
        self.assertEqual(differences([less], [SOLVE]), ([], {"solve.cycles"}))

    def test_a_leaf_that_is_made_of_a_time_is_left_out(self) -> None:
        def result(bytes_: int, share: float) -> dict[str, object]:
            return {"record": "result", "moved": {"bytes": bytes_, "triad_share": share}}

        self.assertEqual(differences([result(1, 0.5)], [result(1, 0.6)]), ([], set()))
        self.assertEqual(differences([result(1, 0.5)], [result(2, 0.6)])[0],
                         ["record 0 (result): moved.bytes: 1 before, 2 after"])  # fmt: skip

    def test_another_number_of_records_is_a_difference(self) -> None:
        self.assertEqual(differences([SOLVE], [SOLVE, SOLVE])[0], ["1 records before, 2 after"])

    def test_what_the_schema_calls_seconds_is_known_to_be_a_time(self) -> None:
        schema = json.loads((ROOT / "docs/reference/records.schema.json").read_text())
        timed = [(one["properties"]["record"]["const"], field)
                 for name, one in schema["$defs"].items() if not name.startswith("predicted_")
                 for field in ("seconds", "parts", "t_mean") if field in one.get("properties", {}) and "const" in
                 one["properties"].get("record", {})]  # fmt: skip
        self.assertIn(("rank_timer", "seconds"), timed)
        self.assertEqual([(kind, field) for kind, field in timed if field not in TIMES.get(kind, set())], [])


class Builds(unittest.TestCase):
    def report(self, *words: str | Path) -> tuple[int, str]:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            status = command.main(["builds", "--mpiexec", str(self.top / "mpiexec"), "--ranks", "1,2", *map(str, words)])
        return status, out.getvalue()

    def test_a_deck_is_run_by_both_and_a_changed_count_is_found(self) -> None:
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        keel, deck = fake_keel.make(self.top), self.top / "deck.toml"
        other = self.top / "other"
        other.write_text(keel.read_text().replace('"cycles":5', '"cycles":6').replace('.5,"converged"', '.7,"converged"'))
        other.chmod(0o755)
        same = "deck.toml, 1 ranks: 9 records, same\ndeck.toml, 2 ranks: 9 records, same\n"
        end = "2 runs, 0 differ; fields that only the second has: none\n"
        self.assertEqual(self.report(keel, keel, deck, "bottom.solver=bicgstab"), (0, same + end))
        status, told = self.report(keel, other, deck)
        self.assertEqual((status, told.count("DIFFERENT"), told.count("record 1 (solve): cycles: 5 before, 6 after")), (1, 2, 2))
        self.assertEqual(self.report(keel, other, "bottom.solver=cg")[0], 2)


if __name__ == "__main__":
    unittest.main()

"""scripts/report schemes against golden text."""

import json
import tempfile
import unittest
from pathlib import Path

from studies.evaluate.figures import partners
from studies.records import UnreadableRecords
from studies.views import schemes


def row(
    scheme: str, messages: int, off_node_bytes: int, seconds: float | None, box: int | None = 8, columns: int = 1,
    purpose: str | None = None, on_one_socket: float | None = None,
) -> str:  # fmt: skip
    record = {
        "record": "scheme",
        "level": 0,
        "box": box,
        "purpose": purpose or ("stencil" if box else "product"),
        "columns": columns,
        "scheme": scheme,
        "all": {"messages": messages, "bytes": 3e6, "off_node_messages": 30, "off_node_bytes": off_node_bytes},
        "most_sent": {"off_node_messages": 3},
        "most_received": {"off_node_messages": 4},
        "predicted_seconds": seconds,
        "predicted_on_one_socket": on_one_socket,
    }
    return json.dumps(record) + "\n"

ALL = """\
| ranks/node | boxes | scheme | messages | off-node | MB | off-node MB | duplicates removed | \
most sent off node | most received off node | near us | gain | far us | gain |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 4 | 8^3 | standard | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 20.0 | 1.00 | 40.0 | 1.00 |
| 4 | 8^3 | two_step/max_need | 90 | 30 | 3.00 | 1.50 | 25.0 % | 3 | 4 | 40.0 | 0.50 | 10.0 | 4.00 |
| 4 | 8^3 | staged_axes | 60 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 10.0 | 2.00 | 20.0 | 2.00 |
"""

BEST = """\
| workload | ranks/node | boxes | near: standard us | fastest, gain | fastest node-aware, gain | \
far: standard us | fastest, gain | fastest node-aware, gain |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| faces | 4 | 8^3 | 20.0 | staged_axes 2.00 | two_step/max_need 0.50 | 40.0 | two_step/max_need 4.00 | \
two_step/max_need 4.00 |
"""


MOVES = """\
| workload | ranks/node | boxes | near: standard us | fastest, gain | fastest node-aware, gain |
| --- | --- | --- | --- | --- | --- |
| gather | 4 | 8^3 there | 20.0 | three_step 4.00 | three_step 4.00 |
| gather | 4 | 8^3 back | 30.0 | standard 1.00 | three_step 1.00 |
"""

MATRICES = """\
| workload | ranks/node | vectors | scheme | messages | off-node | MB | off-node MB | duplicates removed | \
most sent off node | most received off node | near us | gain |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| arrow | 4 | t = 1 | standard | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 20.0 | 1.00 |
| arrow | 4 | t = 1 | three_step | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 10.0 | 2.00 |
| arrow | 4 | t = 20 | standard | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 50.0 | 1.00 |
| arrow | 4 | t = 20 | three_step | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 40.0 | 1.25 |
| random | 4 | t = 1 | standard | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 30.0 | 1.00 |
"""

BEST_OF_MATRICES = """\
| workload | ranks/node | vectors | near: standard us | fastest, gain | fastest node-aware, gain |
| --- | --- | --- | --- | --- | --- |
| arrow | 4 | t = 1 | 20.0 | three_step 2.00 | three_step 2.00 |
| arrow | 4 | t = 20 | 50.0 | three_step 1.25 | three_step 1.25 |
"""

BOUNDS = """\
| ranks/node | boxes | scheme | messages | off-node | MB | off-node MB | duplicates removed | \
most sent off node | most received off node | near us | gain | gain by sockets |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 4 | 8^3 | standard | 100 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 20.0 | 1.00 | 1.00 to 1.00 |
| 4 | 8^3 | split | 90 | 30 | 3.00 | 1.50 | 25.0 % | 3 | 4 | 16.0 | 1.25 | 0.75 to 4.00 |
| 4 | 8^3 | staged_axes | 60 | 30 | 3.00 | 2.00 | 0.0 % | 3 | 4 | 10.0 | 2.00 | 1.00 to 2.00 |
"""

BEST_BY_BOUNDS = """\
| workload | ranks/node | boxes | near: standard us | fastest, gain | fastest node-aware, gain | none share a socket | all of a node do |
| --- | --- | --- | --- | --- | --- | --- | --- |
| faces | 4 | 8^3 | 20.0 | staged_axes 2.00 | split 1.25 | standard 1.00; split 0.75 | split 4.00 |
"""


class Tables(unittest.TestCase):
    def test_where_nobody_knows_the_sockets_there_are_two_bounds(self) -> None:
        def three(times: tuple[float, float, float], together: tuple[float | None, ...]) -> str:
            return (row("standard", 100, 2000000, times[0], on_one_socket=together[0])
                    + row("split", 90, 1500000, times[1], on_one_socket=together[1])
                    + row("staged_axes", 60, 2000000, times[2], on_one_socket=together[2]))  # fmt: skip

        with tempfile.TemporaryDirectory() as folder:
            known, bounds = (Path(folder) / name / "faces.4.near.json" for name in ("known", "bounds"))
            other = Path(folder) / "curve.4.near.json"
            for path in (known, bounds):
                path.parent.mkdir()
            known.write_text(three((2e-5, 1.6e-5, 1e-5), (None, None, None)))
            other.write_text(three((2e-5, 1.6e-5, 1e-5), (None, None, None)))
            bounds.write_text(three((3e-5, 4e-5, 3e-5), (1.6e-5, 4e-6, 8e-6)))
            found = schemes.comparisons([known, bounds])
            self.assertEqual(schemes.all_schemes(found), BOUNDS)
            self.assertEqual(schemes.best_schemes(found), BEST_BY_BOUNDS)
            with self.assertRaisesRegex(UnreadableRecords, "curve.4.near.json: wanted twice"):
                schemes.comparisons([known, bounds, other])

    def test_matrices_of_several_numbers_of_vectors_stand_below_each_other(self) -> None:
        def of_matrix(scheme: str, seconds: float, columns: int) -> str:
            return row(scheme, 100, 2000000, seconds, None, columns)

        with tempfile.TemporaryDirectory() as folder:
            arrow, random = (Path(folder) / f"{name}.4.near.json" for name in ("arrow", "random"))
            arrow.write_text(
                of_matrix("standard", 2e-5, 1) + of_matrix("three_step", 1e-5, 1)
                + of_matrix("standard", 5e-5, 20) + of_matrix("three_step", 4e-5, 20)
            )  # fmt: skip
            random.write_text(of_matrix("standard", 3e-5, 1))
            found = schemes.comparisons([arrow, random])
            self.assertEqual(schemes.all_schemes(found), MATRICES)
            self.assertEqual(schemes.best_schemes(found[:2]), BEST_OF_MATRICES)

    def test_machines_stand_side_by_side(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for machine, times in {"near": (2e-5, 4e-5, 1e-5), "far": (4e-5, 1e-5, 2e-5)}.items():
                paths.append(Path(folder) / f"faces.4.{machine}.json")
                paths[-1].write_text(
                    row("standard", 100, 2000000, times[0])
                    + row("two_step/max_need", 90, 1500000, times[1])
                    + row("staged_axes", 60, 2000000, times[2])
                )
            found = schemes.comparisons(paths)
            self.assertEqual(schemes.all_schemes(found), ALL)
            self.assertEqual(schemes.best_schemes(found), BEST)

    def test_of_moved_boxes_the_way_there_and_back_alone_are_shown(self) -> None:
        def move(purpose: str, standard: float, three_step: float) -> str:
            return (row("standard", 100, 0, standard, purpose=purpose)
                    + row("three_step", 100, 0, three_step, purpose=purpose))  # fmt: skip

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gather.4.near.json"
            rounded = 3e-5 * (1 - 1e-13)  # the scheme before is as good
            path.write_text(row("standard", 9, 0, 1e-5) + move("to_bottom", 2e-5, 5e-6) + move("from_bottom", 3e-5, rounded))
            self.assertEqual(schemes.best_schemes(schemes.comparisons([path])), MOVES)

    def test_records_without_times_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "faces.4.none.json"
            path.write_text(row("standard", 100, 0, None))
            with self.assertRaisesRegex(UnreadableRecords, "no predicted times"):
                schemes.comparisons([path])

    def test_who_sends_to_whom_is_drawn_for_each_scheme(self) -> None:
        def of_scheme(name: str, pairs: list[list[float]]) -> str:
            return json.dumps({**json.loads(row(name, len(pairs), 0, None, box=None)), "pairs": pairs}) + "\n"

        with tempfile.TemporaryDirectory() as folder:
            path, picture = Path(folder) / "dry.json", Path(folder) / "pairs.svg"
            plan = json.dumps({"record": "plan", "ranks": 4, "nodes": 2}) + "\n"
            path.write_text(plan + of_scheme("standard", [[0, 2, 1, 80], [1, 2, 1, 80]]) + of_scheme("two_step", [[0, 1, 1, 80], [1, 2, 2, 160]]))
            schemes.draw_pairs([path], picture)
            self.assertRegex(picture.read_text(), "(?s)standard: 2 pairs.*two_step: 2 pairs")
            table = partners.sent({"pairs": [[1, 2, 1, 80]]}, 3)
            self.assertEqual(table[1][2], 80)
            self.assertEqual(sum(size != size for line in table for size in line), 8)
            path.write_text(plan + row("standard", 9, 0, None))
            with self.assertRaisesRegex(UnreadableRecords, "no scheme record with pairs of ranks; keel --dry-run"):
                schemes.draw_pairs([path], picture)
            with self.assertRaisesRegex(UnreadableRecords, "wants to end in .svg"):
                schemes.draw_pairs([path], Path(folder) / "pairs.gif")

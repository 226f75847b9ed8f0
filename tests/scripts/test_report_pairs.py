"""scripts/report pairs: a map for each scheme of made-up records."""

from studies.evaluate.figures import partners
from studies.records import UnreadableRecords
from studies.views import pairs
from support import InFolder, lines, needs

needs("matplotlib")


class Pairs(InFolder):
    def test_who_sends_to_whom_is_drawn_for_each_scheme(self) -> None:
        plan = {"record": "plan", "ranks": 4, "nodes": 2}
        schemes = [
            {"record": "scheme", "purpose": "product", "scheme": scheme, "pairs": sent}
            for scheme, sent in (("standard", [[0, 2, 1, 80], [1, 2, 1, 80]]), ("two_step", [[0, 1, 1, 80], [1, 2, 2, 160]]))
        ]
        picture = self.folder / "pairs.svg"
        pairs.draw(self.file("dry.json", lines([plan, *schemes])), picture)
        self.assertRegex(picture.read_text(), "(?s)standard: 2 pairs.*two_step: 2 pairs")
        path = self.file("plan.json", lines([plan]))
        with self.assertRaisesRegex(UnreadableRecords, "no scheme record with pairs of ranks; keel --dry-run"):
            pairs.draw(path, picture)
        with self.assertRaisesRegex(UnreadableRecords, "wants to end in .svg"):
            pairs.draw(path, self.folder / "pairs.gif")
        table = partners.sent({"pairs": [[1, 2, 1, 80]]}, 3)
        self.assertEqual(table[1][2], 80)
        self.assertEqual(sum(size != size for line in table for size in line), 8)

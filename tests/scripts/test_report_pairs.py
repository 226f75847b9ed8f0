"""scripts/report pairs: a map for each scheme of made-up records."""

import json
import tempfile
import unittest
from pathlib import Path

from studies.evaluate.figures import partners
from studies.records import UnreadableRecords
from studies.views import pairs
from support import needs

needs("matplotlib")


class Pairs(unittest.TestCase):
    def test_who_sends_to_whom_is_drawn_for_each_scheme(self) -> None:
        made = [{"record": "plan", "ranks": 4, "nodes": 2}] + [
            {"record": "scheme", "purpose": "product", "scheme": scheme, "pairs": sent}
            for scheme, sent in (("standard", [[0, 2, 1, 80], [1, 2, 1, 80]]), ("two_step", [[0, 1, 1, 80], [1, 2, 2, 160]]))
        ]
        with tempfile.TemporaryDirectory() as folder:
            path, picture = Path(folder) / "dry.json", Path(folder) / "pairs.svg"
            path.write_text("".join(json.dumps(record) + "\n" for record in made))
            pairs.draw(path, picture)
            self.assertRegex(picture.read_text(), "(?s)standard: 2 pairs.*two_step: 2 pairs")
            path.write_text(json.dumps(made[0]) + "\n")
            with self.assertRaisesRegex(UnreadableRecords, "no scheme record with pairs of ranks; keel --dry-run"):
                pairs.draw(path, picture)
            with self.assertRaisesRegex(UnreadableRecords, "wants to end in .svg"):
                pairs.draw(path, Path(folder) / "pairs.gif")
        table = partners.sent({"pairs": [[1, 2, 1, 80]]}, 3)
        self.assertEqual(table[1][2], 80)
        self.assertEqual(sum(size != size for line in table for size in line), 8)

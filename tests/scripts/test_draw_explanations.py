"""The pictures of docs/explanations are those that scripts/draw_explanations.py draws, and each page shows its own."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRAWN = ROOT / "docs/figures"


class Pictures(unittest.TestCase):
    def test_are_those_drawn_and_shown(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / "scripts/draw_explanations.py", folder], check=True)
            pictures = sorted(Path(folder).iterdir())
            self.assertEqual([page.stem for page in sorted((ROOT / "docs/explanations").glob("*.md"))], [p.stem for p in pictures])
            for picture in pictures:
                self.assertEqual(picture.read_text(), (DRAWN / picture.name).read_text(), picture.name)
                page = (ROOT / "docs/explanations" / picture.stem).with_suffix(".md").read_text()
                self.assertIn(f"(../figures/{picture.name})", page)

"""The timelines of docs/explanations are those that scripts/draw_explanations.py draws, and each page shows its own picture."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/figures"


class Pictures(unittest.TestCase):
    def test_are_those_drawn_and_shown(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / "scripts/draw_explanations.py", folder], check=True)
            drawn = sorted(Path(folder).iterdir())
            self.assertEqual([picture.name for picture in drawn], ["pipelining.svg", "s-step.svg"])
            for picture in drawn:
                self.assertEqual(picture.read_text(), (FIGURES / picture.name).read_text(), picture.name)
        for page in (ROOT / "docs/explanations").glob("*.md"):
            self.assertIn(f"(../figures/{page.stem}.svg)", page.read_text())
            self.assertTrue((FIGURES / f"{page.stem}.svg").exists(), page)

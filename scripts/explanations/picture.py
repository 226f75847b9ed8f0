"""A picture: shapes and texts in the colours of the page around, written as SVG."""

from pathlib import Path

BLUE, RED, YELLOW, GREY = "#0072B2", "#D55E00", "#E69F00", "#8b949e"


class Picture:
    def __init__(self, title: str, height: float, width: float = 400) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def add(self, text: str) -> None:
        self.parts.append(text)

    def rect(self, x: float, y: float, w: float, h: float, fill: str = "none", stroke: str = "none", width: float = 1.0,
             dash: str = "") -> None:  # fmt: skip
        self.add(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"'
            + f' fill="{fill}"'
            + (f' stroke="{stroke}" stroke-width="{width:g}"' if stroke != "none" else "")
            + (f' stroke-dasharray="{dash}"' if dash else "")
            + "/>"
        )

    def text(self, x: float, y: float, words: str, anchor: str = "start", size: float = 0.0, bold: bool = False,
             fill: str = "currentColor") -> None:  # fmt: skip
        self.add(
            f'<text x="{x:g}" y="{y:g}" fill="{fill}"'
            + (f' text-anchor="{anchor}"' if anchor != "start" else "")
            + (f' font-size="{size:g}"' if size else "")
            + (' font-weight="bold"' if bold else "")
            + f">{words}</text>"
        )

    def path(self, d: str, stroke: str, width: float) -> None:
        self.add(f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{width:g}"/>')

    def write(self, path: Path) -> None:
        path.write_text(
            "\n".join(
                [
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width * 1.35:g}" '
                    f'height="{self.height * 1.35:g}" font-family="DejaVu Sans, Arial, sans-serif" font-size="12">',
                    "<style>svg{color:#1f2328}.ground{fill:#ffffff}.blue{fill:#0072B2}"
                    "@media(prefers-color-scheme:dark){svg{color:#e6e6e6}.ground{fill:#1e2129}.blue{fill:#56B4E9}}</style>",
                    f"<title>{self.title}</title>",
                    f'<rect class="ground" width="{self.width}" height="{self.height}" rx="6"/>',
                    *self.parts,
                    "</svg>",
                    "",
                ]
            )
        )

"""A picture: shapes and texts in the colours of the page around, written as SVG."""

from pathlib import Path

BLUE, RED, GREEN, YELLOW, PINK, SKY, GREY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#AA4499", "#56B4E9", "#8b949e"


class Picture:
    def __init__(self, title: str, height: float, width: float = 400) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def add(self, text: str) -> None:
        self.parts.append(text)

    def rect(self, x: float, y: float, w: float, h: float, fill: str = "none", stroke: str = "none", opacity: float = 1.0,
             r: float = 0, width: float = 1.0, dash: str = "") -> None:  # fmt: skip
        self.add(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"'
            + (f' rx="{r:g}"' if r else "")
            + f' fill="{fill}"'
            + (f' fill-opacity="{opacity:g}"' if opacity < 1 and fill != "none" else "")
            + (f' stroke="{stroke}" stroke-width="{width:g}"' if stroke != "none" else "")
            + (f' stroke-dasharray="{dash}"' if dash else "")
            + "/>"
        )

    def text(self, x: float, y: float, words: str, anchor: str = "start", size: float = 0.0, bold: bool = False,
             italic: bool = False, fill: str = "currentColor") -> None:  # fmt: skip
        ink = 'class="blue"' if fill == BLUE else f'fill="{fill}"'
        self.add(
            f'<text x="{x:g}" y="{y:g}" {ink}'
            + (f' text-anchor="{anchor}"' if anchor != "start" else "")
            + (f' font-size="{size:g}"' if size else "")
            + (' font-weight="bold"' if bold else "")
            + (' font-style="italic"' if italic else "")
            + f">{words}</text>"
        )

    def path(self, d: str, stroke: str = "currentColor", width: float = 1.5, arrow: bool = False, dash: str = "",
             opacity: float = 1.0) -> None:  # fmt: skip
        marker = {"currentColor": "a", RED: "r", BLUE: "b"}[stroke] if arrow else ""
        self.add(
            f'<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{width:g}"'
            + (f' stroke-opacity="{opacity:g}"' if opacity < 1 else "")
            + (f' marker-end="url(#{marker})"' if arrow else "")
            + (f' stroke-dasharray="{dash}"' if dash else "")
            + "/>"
        )

    def circle(self, x: float, y: float, r: float, fill: str, opacity: float = 1.0, stroke: str = "none") -> None:
        self.add(
            f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{fill}"'
            + (f' fill-opacity="{opacity:g}"' if opacity < 1 else "")
            + (f' stroke="{stroke}" stroke-width="1.2"' if stroke != "none" else "")
            + "/>"
        )

    def write(self, path: Path) -> None:
        heads = "".join(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="7.5" refY="4" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{colour}"/></marker>'
            for name, colour in (("a", "currentColor"), ("r", RED), ("b", BLUE))
            if f"url(#{name})" in "".join(self.parts)
        )
        path.write_text(
            "\n".join(
                [
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width * 1.35:g}" '
                    f'height="{self.height * 1.35:g}" font-family="DejaVu Sans, Arial, sans-serif" font-size="12">',
                    "<style>svg{color:#1f2328}.ground{fill:#ffffff}.blue{fill:#0072B2}"
                    "@media(prefers-color-scheme:dark){svg{color:#e6e6e6}.ground{fill:#1e2129}.blue{fill:#56B4E9}}</style>",
                    f"<title>{self.title}</title>",
                    f"<defs>{heads}</defs>" if heads else "",
                    f'<rect class="ground" width="{self.width}" height="{self.height}" rx="6"/>',
                    *self.parts,
                    "</svg>",
                    "",
                ]
            ).replace("\n\n", "\n")
        )

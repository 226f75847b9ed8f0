"""Renders a page, one HTML file with its figures inside, and writes the figures beside it."""

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from studies.define.checked_toml import Refused
from studies.evaluate.figures import Drawn
from studies.evaluate.figures.style import FORMATS
from studies.execute.folder import renderer, write_new


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "numbers") -> str:
    """The first cell of each row is its name. Text in a table of the kind `facts` is broken into lines."""
    names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>' + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:]) + "</tr>\n"
        for row in rows
    )
    return f'<table class="{kind}"><thead><tr>{names}</tr></thead>\n<tbody>\n{body}</tbody></table>'


def write_page(path: Path, template: str, drawn: Sequence[Drawn], **context: Any) -> Path:
    page = renderer().get_template(template).render(figures=drawn, **context)
    return write_new(path, str(page))


def write_figures(folder: Path, drawn: Sequence[Drawn], forms: Sequence[str]) -> list[Path]:
    if forms:
        folder.mkdir(exist_ok=True)
    return [write_new(folder / f"{one.name}.{form}", one.picture.saved(form)) for one in drawn for form in forms]


def forms_of(words: str) -> list[str]:
    """The formats of --figures."""
    forms = [word for word in words.split(",") if word]
    wrong = [form for form in forms if form not in FORMATS]
    if wrong:
        raise Refused(f"--figures {words}: no format {', '.join(wrong)}; choose {', '.join(FORMATS)}")
    return forms

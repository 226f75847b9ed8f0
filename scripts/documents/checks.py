"""Checks of the pages of docs/, and of the links of all pages of the site."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from documents.layout import FENCE, LINK, files_outside_docs, is_elsewhere, place_in_site, resolved
from documents.records import PAGE, SCHEMA, block_of, fields_in, unexplained

MOST_WORDS = 27000  # with generated tables
LIST_ITEM = re.compile(r"(?:[*+-]|\d+\.) +\S")
HEADING = re.compile(r"^#+ +(.*?)(?: +#+)?$", re.MULTILINE)


def pages(root: Path) -> list[str]:
    """Paths of all pages of the site."""
    found = {*files_outside_docs(root), *(path.relative_to(root).as_posix() for path in root.glob("docs/**/*.md"))}
    return sorted(path for path in found if path.endswith(".md") and (root / path).exists())


def without_code(text: str) -> str:
    """`text` without its blocks of code; the other lines keep their numbers."""
    return FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)


def words(root: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").split()) for path in root.glob("docs/**/*.md"))


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors that a forge, and the site, give to the headings of a page."""
    headings = HEADING.findall(FENCE.sub("", path.read_text(encoding="utf-8")))
    plain = (LINK.sub(lambda link: link["text"] or link[0], heading) for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain)


def wrong_links(root: Path, page: str) -> Iterator[str]:
    text = (root / page).read_text(encoding="utf-8")
    for link in LINK.finditer(without_code(text)):
        if link["code"] or is_elsewhere(link["target"]):
            continue
        path, mark, anchor = link["target"].partition("#")
        target = resolved(page, path) if path else page
        if not (root / target).exists():
            yield f"{link['target']} does not exist"
        elif mark and target.endswith(".md") and anchor not in anchors(root / target):
            yield f"{target} has no heading #{anchor}"


def lost_lists(text: str) -> Iterator[int]:
    """Lines of items that MkDocs would take for the end of a paragraph, which a forge does not."""
    before = ""
    for number, line in enumerate(without_code(text).split("\n"), 1):
        goes_on = before.startswith(("  ", "#", "<!--")) or LIST_ITEM.match(before)
        if LIST_ITEM.match(line) and before.strip() and not goes_on:
            yield number
        before = line


def mistakes(root: Path) -> list[str]:
    found = []
    navigation = re.findall(r"^ +- [^:]+: (\S+\.md)$", (root / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    places = {place_in_site(page) for page in pages(root)}
    found += [f"mkdocs.yml: {name} stands twice" for name in sorted(set(navigation)) if navigation.count(name) > 1]
    found += [f"mkdocs.yml: there is no page {name}" for name in sorted(set(navigation) - places)]
    found += [f"mkdocs.yml: nav lacks {name}" for name in sorted(place for place in places if place and place not in navigation)]
    for page in pages(root):
        found += [f"{page}: {wrong}" for wrong in wrong_links(root, page)]
        if page.startswith("docs/"):
            text = (root / page).read_text(encoding="utf-8")
            found += [f"{page}:{number}: a list needs an empty line before it" for number in lost_lists(text)]
    shown = "".join((root / page).read_text(encoding="utf-8") for page in pages(root))
    for figure in sorted(root.glob("docs/figures/*.svg")):
        name = figure.relative_to(root).as_posix()
        if figure.name not in shown:
            found.append(f"{name}: no page shows it")
        if "prefers-color-scheme" not in figure.read_text(encoding="utf-8"):
            found.append(f"{name}: has no colours for a dark ground (prefers-color-scheme)")
    if fields_in(root) != block_of(root):
        found.append(f"{PAGE}: its fields are not those of the schema; run scripts/docs --tables")
    found += [f"{SCHEMA}: a field without description: {row}" for row in unexplained(root)]
    if (count := words(root)) > MOST_WORDS:
        found.append(f"docs/: {count} words; at most {MOST_WORDS}")
    return found

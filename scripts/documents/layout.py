"""The place in the site of each file of the sources, for the checks and for the hooks of MkDocs."""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
MORE = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "packaging/README.md": "project/packaging.md",
    "packaging/modules.md": "project/modules.md",
    "scripts/documents/site.css": "site.css",
}
LINK = re.compile(r"(?P<code>`+).*?(?P=code)|(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)", re.DOTALL)
# A block between fences, or an indented one.
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ \t]*$|(?<=\n\n)(?:    [^\n]*\n)+", re.MULTILINE | re.DOTALL)


def place_in_site(path: str) -> str | None:
    """The place in the site of a file, by its path from the root of the sources; None if it is no part of the site."""
    first, _, rest = path.partition("/")
    if first == "docs":
        return rest
    if first == "results" and path.endswith("/README.md"):
        return path.removesuffix("/README.md") + ".md"
    if first == "results" and path.endswith(".svg"):
        return path
    return MORE.get(path)


def files_outside_docs(root: Path) -> list[str]:
    """Paths of the files of the site that do not lie in docs/."""
    found = [root / path for path in MORE]
    found += [*root.glob("results/*/README.md"), *root.glob("results/*/*.svg")]
    return sorted(path.relative_to(root).as_posix() for path in found if path.exists())


def resolved(source: str, target: str) -> str:
    """The path from the root of what `target` names in the file `source`; it begins with ".." if it is outside."""
    parts: list[str] = []
    for part in (PurePosixPath(source).parent / target).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def relative(source: str, target: str) -> str:
    """The way from the file `source` to the file `target`."""
    here, there = PurePosixPath(source).parent.parts, PurePosixPath(target).parts
    same = 0
    while same < min(len(here), len(there) - 1) and here[same] == there[same]:
        same += 1
    return "/".join([".."] * (len(here) - same) + list(there[same:]))


def is_elsewhere(target: str) -> bool:
    return re.match(r"[a-z][a-z+.-]*:", target) is not None


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """`text` with everything changed that is not in a block of code."""
    made, end = [], 0
    for block in FENCE.finditer(text):
        made += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*made, change(text[end:])])


def in_site(source: str, text: str) -> str:
    """The Markdown of the file `source` with its links as they are in the site. Of a link to a file that is no part of the
    site the text stays."""
    place = place_in_site(source) or source

    def changed(link: re.Match[str]) -> str:
        if link["code"] or is_elsewhere(link["target"]) or link["target"].startswith("#"):
            return link[0]
        path, mark, anchor = link["target"].partition("#")
        target = place_in_site(resolved(source, path))
        if target is None:
            return link["text"]
        return f"{link['picture']}[{LINK.sub(changed, link['text'])}]({relative(place, target)}{mark}{anchor})"

    return outside_code(text, lambda part: LINK.sub(changed, part))

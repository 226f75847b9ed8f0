"""The fields in docs/reference/records.md, from the schema of records, which alone has those of objects, and types."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE, SCHEMA = "docs/reference/records.md", "docs/reference/records.schema.json"
BEGIN, END = "<!-- begin: scripts/docs --tables -->\n", "<!-- end -->"
BLOCK = re.compile(re.escape(BEGIN) + r"(.*?)" + re.escape(END), re.DOTALL)
# The forms of a solve: the letter on the page, the definition in the schema, and who solves.
SOLVES = {
    "m": ("solve_by_multigrid", "multigrid"),
    "k": ("solve_of_grid", "a Krylov method on a grid"),
    "s": ("solve_of_matrix", "a Krylov method of `spmv`"),
    "f": ("solve_of_fixed_point", "a fixed point"),
    "p": ("predicted_solve", "a predicted solve"),
    "q": ("predicted_fixed_point", "a predicted fixed point"),
}
KINDS = {
    "run": "first, of all but dry runs",
    "plan": "first, of a dry run",
    "solve": "one a measured or predicted solve; `predicted` is true in the latter",
    "step": "one a step of each repeat, in place of `solve`, with `run.steps`; the fields of a solve by multigrid",
    "survey": "one a solver of a survey",
    "timer": "one an operation and level",
    "rank_timer": "with `output.details`, one a rank behind each `timer`",
    "kernel": "one a kernel of a Krylov method; of multigrid the bottom's",
    "verdict": "one a table of times; of a survey that of the fastest solver",
    "scheme": "one a level and scheme, where schemes are compared",
    "spmv": "one a run of `spmv`",
    "amg": "one a hierarchy of algebraic multigrid",
    "network": "of `network`, by `what`",
    "orthogonalise": 'one a method, with `anderson.orthogonalisation = "all"`',
    "check": "one a check",
    "accuracy": "one a grid on which one full multigrid cycle is judged",
    "benchmark": "one a run of `benchmark`, and RESULT.json",
    "peer": "alone, of `keel_hypre`, `keel_boomeramg` and `keel_kinsol`",
    "result": "last, unless the run was killed",
}
NOT_SHOWN = ("record", "schema", "what")  # a heading says them

Node = dict[str, Any]


class Fields:
    def __init__(self, schema: Node):
        self.schema = schema

    def rows(self, node: Node, prefix: str = "") -> Iterator[tuple[str, str]]:
        """Name and meaning of each field, those of objects in it behind it."""
        node = node.get("items", node)
        for name, field in node.get("properties", {}).items():
            if prefix or name not in NOT_SHOWN:
                yield prefix + name, self.meaning(field)
                yield from self.rows(field, f"{prefix}{name}.")

    def meaning(self, field: Node) -> str:
        if "$ref" in field and "description" not in field:
            field = self.schema["$defs"][field["$ref"].rpartition("/")[2]]
        return str(field.get("description", ""))

    def text(self, node: Node) -> list[str]:
        return [*(f"* `{name}`: {meaning}" for name, meaning in self.rows(node) if "." not in name), ""]

    def solves(self) -> dict[str, tuple[str, str]]:
        """The forms of a solve, merged: of each field the letters of its forms, and its meaning."""
        merged: dict[str, tuple[str, str]] = {}
        for letter, (definition, _) in SOLVES.items():
            for name, meaning in self.rows(self.schema["$defs"][definition]):
                letters, known = merged.get(name, ("", ""))
                merged[name] = letters + letter, known or meaning
        return merged

    def text_of_solves(self) -> list[str]:
        letters = ", ".join(f"{letter}: {words}" for letter, (_, words) in SOLVES.items())
        of_all = "".join(SOLVES)
        rows = [f"* `{name}` ({of.replace(of_all, 'all')}): {meaning}" for name, (of, meaning) in self.solves().items() if "." not in name]
        return [f"Fields of {letters}:", "", *rows, ""]

    def lines(self) -> Iterator[str]:
        for kind in self.schema["properties"]["record"]["enum"]:
            yield from [f"### {kind}", "", KINDS[kind][0].upper() + KINDS[kind][1:] + ".", ""]
            if kind == "solve":
                yield from self.text_of_solves()
            elif kind == "network":
                for one in self.schema["$defs"][kind]["oneOf"]:
                    yield from [f"`{one['properties']['what']['const']}`:", "", *self.text(one)]
            elif kind != "step":
                yield from self.text(self.schema["$defs"][kind])

    def unexplained(self) -> Iterator[str]:
        """Fields without a meaning, those of objects, too."""
        forms = {definition for definition, _ in SOLVES.values()}
        for name, node in self.schema["$defs"].items():
            for one in [] if name in forms else [node] if "properties" in node else node.get("oneOf", []):
                yield from (f"{name}: {field}" for field, meaning in self.rows(one) if not meaning)
        if forms <= self.schema["$defs"].keys():
            yield from (f"solve: {field}" for field, (_, meaning) in self.solves().items() if not meaning)


def unexplained(root: Path) -> list[str]:
    return list(Fields(json.loads((root / SCHEMA).read_text(encoding="utf-8"))).unexplained())


def fields_in(root: Path) -> str:
    """The text as the schema has it."""
    return "\n".join(Fields(json.loads((root / SCHEMA).read_text(encoding="utf-8"))).lines())


def block_of(root: Path) -> str:
    """The text as the page has it; empty if the page or its block is not there."""
    page = root / PAGE
    found = BLOCK.search(page.read_text(encoding="utf-8")) if page.exists() else None
    return found[1] if found else ""


def write_fields(root: Path) -> None:
    page = root / PAGE
    page.write_text(BLOCK.sub(lambda _: BEGIN + fields_in(root) + END, page.read_text(encoding="utf-8")), encoding="utf-8")

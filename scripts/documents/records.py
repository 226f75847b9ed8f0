"""The table of docs/reference/records.md, from the schema of records."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE, SCHEMA = "docs/reference/records.md", "docs/reference/records.schema.json"
BEGIN, END = "<!-- begin: scripts/docs --tables -->\n", "<!-- end -->"
BLOCK = re.compile(re.escape(BEGIN) + r"(.*?)" + re.escape(END), re.DOTALL)
WORDS = {"string": "text", "boolean": "true or false", **{word: word for word in ("integer", "number", "null", "object")}}
PLURALS = {"text": "texts", "integer": "integers", "number": "numbers", "object": "objects", "number or null": "numbers or null"}
# The forms of a solve: the letter in the table, the definition in the schema, and who solves.
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


class Table:
    def __init__(self, schema: Node):
        self.schema = schema
        self.shared: list[str] = []  # definitions that a field names, in the order of their first use

    def name_of(self, node: Node) -> str | None:
        return node["$ref"].rpartition("/")[2] if "$ref" in node else None

    def type_of(self, node: Node) -> str:
        if name := self.name_of(node):
            if name == "index":
                return "three integers"
            if name == "deck":
                return "object"
            if name not in (*self.shared, *KINDS):
                self.shared.append(name)
            return f"[{name}](#{name})"
        if "const" in node:
            return f"`{json.dumps(node['const'])}`"
        if "enum" in node:
            return ", ".join(f"`{word}`" if isinstance(word, str) else json.dumps(word) for word in node["enum"])
        if "oneOf" in node:
            return " or ".join(self.type_of(one) for one in node["oneOf"])
        types = node["type"] if isinstance(node["type"], list) else [node["type"]]
        return " or ".join(self.list_of(node["items"]) if kind == "array" else WORDS[kind] for kind in types)

    def list_of(self, items: Node) -> str:
        kind = self.type_of(items)
        return f"list of {PLURALS.get(kind, kind)}"

    def rows(self, node: Node, prefix: str = "") -> Iterator[tuple[str, str, str]]:
        """Name, type and meaning of each field, those of objects in it behind it."""
        for name, field in node.get("properties", {}).items():
            if not prefix and name in NOT_SHOWN:
                continue
            kind = self.type_of(field)
            yield prefix + name, kind, self.meaning(field)
            inner = field.get("items", field)
            if "properties" in inner and "$ref" not in inner:
                yield from self.rows(inner, f"{prefix}{name}.")

    def meaning(self, field: Node) -> str:
        if "description" in field:
            return str(field["description"]).replace("|", "\\|")
        name = self.name_of(field)
        return str(self.schema["$defs"][name].get("description", "")).replace("|", "\\|") if name else ""

    def text(self, node: Node) -> list[str]:
        node = node.get("items", node)
        rows = [f"| `{name}` | {kind} | {meaning} |" for name, kind, meaning in self.rows(node)]
        return ["| field | type | meaning |", "| --- | --- | --- |", *rows, ""]

    def solves(self) -> list[str]:
        """The forms of a solve, merged: a field has one row, and the letters of its forms."""
        merged: dict[str, list[Any]] = {}
        for letter, (definition, _) in SOLVES.items():
            for name, kind, meaning in self.rows(self.schema["$defs"][definition]):
                row = merged.setdefault(name, ["", kind, ""])
                row[0] += letter
                row[2] = row[2] or meaning
        letters = ", ".join(f"{letter}: {words}" for letter, (_, words) in SOLVES.items())
        of_all = "".join(SOLVES)
        rows = [f"| `{name}` | {of.replace(of_all, 'all')} | {kind} | {meaning} |" for name, (of, kind, meaning) in merged.items()]
        return [f"Of {letters}.", "", "| field | of | type | meaning |", "| --- | --- | --- | --- |", *rows, ""]

    def lines(self) -> Iterator[str]:
        for kind in self.schema["properties"]["record"]["enum"]:
            yield from [f"### {kind}", "", KINDS[kind][0].upper() + KINDS[kind][1:] + ".", ""]
            if kind == "solve":
                yield from self.solves()
            elif kind == "network":
                for one in self.schema["$defs"][kind]["oneOf"]:
                    yield from [f"`{one['properties']['what']['const']}`:", "", *self.text(one)]
            elif kind != "step":
                yield from self.text(self.schema["$defs"][kind])
        yield from ["## Objects in records", ""]
        for name in self.shared:  # grows while it is read
            definition = self.schema["$defs"][name]
            yield from [f"### {name}", ""]
            if about := definition.get("description"):
                yield from [about[0].upper() + about[1:].replace("|", "\\|") + ".", ""]
            yield from self.text(definition)


def unexplained(root: Path) -> list[str]:
    """Fields of the table without a meaning."""
    return [row for row in table_in(root).split("\n") if re.search(r"[^\\]\|  \|$", row)]


def table_in(root: Path) -> str:
    """The table as the schema has it."""
    return "\n".join(Table(json.loads((root / SCHEMA).read_text(encoding="utf-8"))).lines())


def block_of(root: Path) -> str:
    """The table as the page has it; empty if the page or its block is not there."""
    page = root / PAGE
    found = BLOCK.search(page.read_text(encoding="utf-8")) if page.exists() else None
    return found[1] if found else ""


def write_table(root: Path) -> None:
    page = root / PAGE
    page.write_text(BLOCK.sub(lambda _: BEGIN + table_in(root) + END, page.read_text(encoding="utf-8")), encoding="utf-8")

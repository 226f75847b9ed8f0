"""docs/reference/records.schema.json, which every record must be as."""

import json
from collections.abc import Sequence

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from keel_runner import ROOT, Record

RECORDS = Draft202012Validator(json.loads((ROOT / "docs/reference/records.schema.json").read_text()))


def against_schema(records: Sequence[Record]) -> list[str]:
    """Mistakes in records by docs/reference/records.schema.json, each with the likeliest reason."""
    return [
        f"{record['record']}: {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
        for record in records
        if (error := best_match(RECORDS.iter_errors(record)))
    ]

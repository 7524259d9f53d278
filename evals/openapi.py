"""OpenAPI for operations that read their body and write their answer themselves."""

from typing import Any

import msgspec

from evals.parsers import FORMATS
from evals.receiving import CHOICES, KNOWN, NUMBERS, SHARD
from evals.schemas import ImportOut

REF = "#/components/schemas/{name}"


def answer(*types: type) -> dict[str, Any]:
    """Describe a 200 answer: the first type is the answer, the others what its lists hold."""
    (schema, *_), definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    content = {"schema": {**schema, "$defs": definitions}}
    return {"responses": {200: {"description": "OK", "content": {"application/json": content}}}}


def parameters(*names: str) -> dict[str, Any]:
    """Describe optional query parameters."""
    return {"parameters": [_parameter(name, {"type": "string"}) for name in names]}


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def import_body() -> dict[str, Any]:
    """Describe the upload: any known format as the body or as multipart field `file`, and its query."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    form = {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}
    titles = ", ".join(format.title for format in FORMATS.values())
    described = [_parameter(name, _schema_of(name)) for name in KNOWN]
    return {
        **answer(ImportOut),
        "requestBody": {
            "required": True,
            "description": f"Formats: {titles}. Content-Encoding gzip is read.",
            "content": {"application/octet-stream": binary, "application/json": binary, "multipart/form-data": form},
        },
        "parameters": [*described, {**_parameter("Idempotency-Key", {"type": "string"}), "in": "header"}],
    }


def _schema_of(name: str) -> dict[str, Any]:
    if name in CHOICES:
        return {"type": "string", "enum": list(CHOICES[name])}
    if name in NUMBERS:
        return {"type": "integer", "minimum": 0, "maximum": NUMBERS[name]}
    if name == "shard":
        return {"type": "string", "pattern": f"^{SHARD.pattern}$"}
    return {"type": "string", "maxLength": 2000 if name == "ci_url" else 200}

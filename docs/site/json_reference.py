"""Writes docs/json.md from the schemas of the JSON documents: `python docs/site/json_reference.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "json.md"
_DOCUMENTS = ("diagnostics", "facts", "diff", "confirm")
_HEAD = """\
# JSON

For programs that read what cudalint prints. This page is made from the schemas in
[cudalint/schemas](../cudalint/schemas), which are JSON Schemas that validators understand. A document's `schema` is its
number: fields may be added without another one, so pass over those that you don't know
([what stays](stability.md)). Fields without a `?` are always there.

```sh
cudalint check src --format json | jq '.diagnostics[] | {code, path, line, message}'
cudalint facts src --format json | jq '.files[].kernels[] | {name, accesses: (.accesses | length)}'
```
"""


def page() -> str:
    return "\n".join([_HEAD, *(line for name in _DOCUMENTS for line in _document(name))])


def _document(name: str) -> Iterator[str]:
    schema = json.loads((_ROOT / "cudalint" / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    yield f"## {schema['title'].removeprefix('cudalint ').capitalize()}"
    yield ""
    yield schema["description"]
    yield ""
    yield from _table(schema, name)
    for record, definition in schema["$defs"].items():
        yield f"### {name}: {record}"
        yield ""
        if "description" in definition:
            yield definition["description"]
            yield ""
        if "properties" in definition:
            yield from _table(definition, name)
        else:
            yield _kind(definition, name)
            yield ""


def _table(schema: Mapping[str, Any], document: str) -> Iterator[str]:
    yield "| field | type | |"
    yield "|---|---|---|"
    yield from _rows(schema, "", document)
    yield ""


def _rows(schema: Mapping[str, Any], prefix: str, document: str) -> Iterator[str]:
    """A row for each field, and below it those of records that have no name of their own."""
    for name, field in schema["properties"].items():
        optional = "" if name in schema.get("required", ()) else "?"
        text = field.get("description", "").replace("|", "\\|")
        yield f"| `{prefix}{name}`{optional} | {_kind(field, document)} | {text} |"
        inside, mark = _inside(field)
        if "properties" in inside:
            yield from _rows(inside, f"{prefix}{name}{mark}.", document)


def _inside(field: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    choices = [each for each in field.get("oneOf", ()) if each.get("type") != "null"]
    if len(choices) == 1:
        return _inside(choices[0])
    return (field["items"], "[]") if isinstance(field.get("items"), dict) else (field, "")


def _kind(field: Mapping[str, Any], document: str) -> str:
    if "$ref" in field:
        record = field["$ref"].rpartition("/")[2]
        return f"[{record}](#{document}-{record})"
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    choices = field.get("oneOf") or field.get("anyOf")
    if choices:
        last = sorted(choices, key=lambda each: each.get("type") == "null")
        return " or ".join(_kind(each, document) for each in last)
    kinds = field.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else sorted(kinds, key=lambda kind: kind == "null")
    if names[0] == "array" and isinstance(field.get("items"), dict):
        names[0] = f"array of {_kind(field['items'], document)}"
    return " or ".join(names)


if __name__ == "__main__":
    _PAGE.write_text(page(), encoding="utf-8")

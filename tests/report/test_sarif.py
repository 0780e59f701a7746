"""SARIF, read by OASIS's schema, by sarif-tools and by GitHub's rules."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from handmade import column_read
from msgspec.structs import replace
from schemas import sarif_schema

from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import sarif
from cudalint.report.formats.line_hashes import line_hashes
from cudalint.report.formats.presentation import Presentation

Json = Any


def _document(result: CheckResult, sources: SourceLines) -> Json:
    document = json.loads("\n".join(sarif.render(result, sources, Presentation())))
    schema = sarif_schema()
    jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker()).validate(document)
    return document


def test_an_empty_result_is_valid(sources: SourceLines) -> None:
    (run,) = _document(CheckResult("a100"), sources)["runs"]
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_rules_lead_to_their_pages(sources: SourceLines, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where whoever reads the report can reach them; the text is there in any case."""
    for given, expected in (("https://example.org/r", "https://example.org/r/CL201-bank-conflict.html"), ("", "https://")):
        monkeypatch.setenv("CUDALINT_RULE_PAGES", given)
        (run,) = _document(CheckResult("a100"), sources)["runs"]
        (rule,) = (rule for rule in run["tool"]["driver"]["rules"] if rule["id"] == "CL201")
        assert rule["helpUri"].startswith(expected)
        assert rule["help"]["text"]


def test_the_schema_refuses_what_is_wrong(sources: SourceLines) -> None:
    document = json.loads("\n".join(sarif.render(CheckResult("a100", (column_read(),)), sources, Presentation())))
    document["runs"][0]["results"][0]["level"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, sarif_schema())


def test_places(awkward: CheckResult, sources: SourceLines) -> None:
    (run,) = _document(awkward, sources)["runs"]
    over_two_lines, first, second, info, _ = run["results"]
    assert run["columnKind"] == "utf16CodeUnits"
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "sub%2C%20dir/100%25%3A%20a%20%C3%A9.cu", "uriBaseId": "%SRCROOT%"}
    text = Path(unquote(where["artifactLocation"]["uri"])).read_text().splitlines()[where["region"]["startLine"] - 1]
    units = text.encode("utf-16-le")
    start, end = where["region"]["startColumn"] - 1, where["region"]["endColumn"] - 1
    assert units[2 * start : 2 * end].decode("utf-16-le") == "b[i]"
    assert over_two_lines["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 4, "startColumn": 3, "endLine": 5, "endColumn": 7,
    }  # fmt: skip
    assert info["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///elsewhere/b.cu"}
    assert [related["message"]["text"] for related in second["relatedLocations"]] == ["the kernel", "elsewhere"]
    assert first["locations"][0]["logicalLocations"] == [{"name": "tile32", "kind": "function"}]


def test_a_fix_replaces_what_it_says(awkward: CheckResult, sources: SourceLines) -> None:
    first = _document(awkward, sources)["runs"][0]["results"][1]
    (fix,) = first["fixes"]
    changes = {change["artifactLocation"]["uri"]: change["replacements"] for change in fix["artifactChanges"]}
    ((strange, (replacement,)),) = ((uri, r) for uri, r in changes.items() if uri != "a.cu")
    line = Path(unquote(strange)).read_text().splitlines()[2]
    region = replacement["deletedRegion"]
    units = line.encode("utf-16-le")
    new = replacement["insertedContent"]["text"].encode("utf-16-le")
    changed = units[: 2 * (region["startColumn"] - 1)] + new + units[2 * (region["endColumn"] - 1) :]
    assert changed.decode("utf-16-le") == "/* é𝄞 */ a[i] = b[j];"


def test_suppressions_carry_their_justification(awkward: CheckResult, sources: SourceLines) -> None:
    results = _document(awkward, sources)["runs"][0]["results"]
    (suppression,) = results[-1]["suppressions"]
    assert (suppression["kind"], suppression["justification"]) == ("inSource", 'measured: "fine"')
    assert suppression["location"]["physicalLocation"]["region"]["startLine"] == 5
    assert not any("suppressions" in result for result in results[:-1])


def test_fingerprints_differ_and_stay_when_lines_move(awkward: CheckResult, sources: SourceLines) -> None:
    def marks(document: Json) -> list[dict[str, str]]:
        return [result["partialFingerprints"] for result in document["runs"][0]["results"]]

    before = marks(_document(awkward, sources))
    assert len({mark["cudalint/v1"] for mark in before}) == len(before)
    path = Path(awkward.diagnostics[0].place.path)
    path.write_text("\n\n" + path.read_text())
    moved = [
        replace(d, place=d.place._replace(line=d.place.line + 2, end_line=d.place.end_line + 2))
        for d in awkward.diagnostics
    ]
    after = marks(_document(replace(awkward, diagnostics=tuple(moved), suppressed=()), SourceLines()))
    assert after[:3] == before[:3]


def test_failures_are_notifications(awkward: CheckResult, sources: SourceLines) -> None:
    (invocation,) = _document(awkward, sources)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "none, at all.cu: no such\nfile"


def test_rules_keep_githubs_limits(sources: SourceLines) -> None:
    rules = _document(CheckResult("a100"), sources)["runs"][0]["tool"]["driver"]["rules"]
    assert {"CL101", "CL201"} <= {rule["id"] for rule in rules}
    for rule in rules:
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 20
        assert rule["properties"]["problem.severity"] in ("error", "warning", "recommendation")


def test_of_too_many_findings_the_worst_stay(sources: SourceLines) -> None:
    many = (*[column_read()] * 25_000, replace(column_read(), severity="error"))
    document = json.loads("\n".join(sarif.render(CheckResult("a100", many), sources, Presentation())))
    (run,) = document["runs"]
    assert len(run["results"]) == 25_000
    assert run["results"][0]["level"] == "error"
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == "1 more findings are left out"


def test_sarif_tools_read_the_same(awkward: CheckResult, sources: SourceLines, tmp_path: Path) -> None:
    pytest.importorskip("sarif", reason="sarif-tools come with the extra `dev`")
    from sarif.loader import load_sarif_file

    (tmp_path / "out.sarif").write_text("\n".join(sarif.render(awkward, sources, Presentation())))
    records = load_sarif_file(str(tmp_path / "out.sarif")).get_records()
    assert [(r["Severity"], r["Code"], r["Line"]) for r in records if r["Code"]][:4] == [
        ("error", "CL201", 4), ("warning", "CL101", 3), ("warning", "CL101", 3), ("note", "CL201", 10)
    ]  # fmt: skip


# --- the hash of a line ----------------------------------------------------------------------------------

_GREETINGS = [
    "e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1", "e20e36e16fcb0cc8:1", "b3edc88f2938467e:1",
    "c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["c129715d7a2bc9a3:1"]),
        (" a\nb\n  \t\tc\n d", ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]),
        (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", _GREETINGS),
        (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", _GREETINGS),
        (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", _GREETINGS),
        (
            "Lorem ipsum dolor sit amet.\n" * 10,
            [
                *(f"a7f2ff13bc495cf2:{n}" for n in range(1, 7)), "a7f2ff1481e87703:1", "a9cf91f7bbf1862b:1",
                "55ec222b86bcae53:1", "cc97dc7b1d7d8f7b:1", "c129715d7a2bc9a3:1",
            ],
        ),
    ],
)  # fmt: skip
def test_line_hashes_are_those_of_githubs_action(text: str, expected: list[str]) -> None:
    """The expectations are those of github/codeql-action, src/fingerprints.test.ts."""
    assert line_hashes(text) == expected


def _plainly(text: str) -> list[str]:
    """The same hash as the action computes it: one code unit after the other through a ring of 100."""
    ring, owners = [0] * 100, [0] * 100
    state = {"hash": 0, "index": 0, "line": 0}
    found: list[int] = []
    factor, out = 37, pow(37, 100, 1 << 64)

    def put(unit: int) -> None:
        index = state["index"]
        if owners[index]:
            found.append(state["hash"])
            owners[index] = 0
        state["hash"] = (factor * state["hash"] + unit - out * ring[index]) % (1 << 64)
        ring[index] = unit

    def step() -> None:
        state["index"] = (state["index"] + 1) % 100

    start = True
    for unit in [*(ord(c) for c in text if c not in " \t"), 65535]:
        index = state["index"]
        pending, owners[index] = owners[index], 0
        if pending:
            found.append(state["hash"])
        if start:
            state["line"] += 1
            owners_now = state["line"]
        else:
            owners_now = 0
        start = unit == ord("\n")
        put(unit)
        owners[index] = owners_now
        step()
    for _ in range(100):
        put(0)
        step()
    return [f"{value:x}" for value in found]


def test_line_hashes_of_long_texts() -> None:
    choose: Callable[[str], str] = random.Random(1).choice
    text = "".join(choose("abc \t\n") for _ in range(3000))
    assert [value.split(":")[0] for value in line_hashes(text)] == _plainly(text)

"""An error in one part costs that part: a finding of a report, a rule of a kernel, a kernel of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cudalint import registry
from cudalint.diagnostics import Diagnostic
from cudalint.facts import KernelFacts
from cudalint.registry import RuleClass
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import concise, sarif
from cudalint.report.formats.html import sections
from cudalint.report.formats.presentation import Presentation
from cudalint.rule import Rule, RuleContext
from cudalint.run.kernel_analysis import KernelAnalysis

Check = Callable[..., Any]

_TWO = """\
__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }
__global__ void other(float *p) { atomicAdd(&p[threadIdx.x * 32], 1.0f); }
"""


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    (folder / "a.cu").write_text(_TWO)
    (folder / "b.cu").write_text(_TWO.replace("strided", "apart").replace("threadIdx.x * 32", "32 * threadIdx.x"))


class _Brittle(Rule):
    """A rule with an error that one kernel brings out."""

    code, name, severity, summary = "CL198", "brittle", "warning", "a double"

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        if kernel.name == "other":
            raise IndexError("out of\nrange")
        yield from ()


def test_an_error_in_a_rule_costs_that_rule_on_that_kernel(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    rules: tuple[RuleClass, ...] = (_Brittle, *registry.all_rules())
    monkeypatch.setattr(registry, "all_rules", lambda: rules)
    result = check("a.cu")
    assert result.status == 2
    # A rule of somebody else's, which these tests are: the line is theirs to mend.
    line = _Brittle.check.__code__.co_firstlineno + 2
    reason = f"IndexError: out of range, raised at {__file__}:{line} (CUDALINT_DEBUG=1 shows how)"
    assert f"a.cu: CL198 is not checked for `other`: {reason}" in result.err
    assert result.err.count("CL198") == 1
    assert [line for line in result.out.splitlines() if "CL101" in line][1].startswith("a.cu:2:")


def test_an_error_in_a_kernel_costs_that_kernel(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = KernelAnalysis.facts

    def brittle(analysis: KernelAnalysis) -> KernelFacts:
        if analysis.function.name == "strided":
            raise ZeroDivisionError
        return facts(analysis)

    monkeypatch.setattr(KernelAnalysis, "facts", brittle)
    result = check("a.cu")
    assert result.status == 2
    assert "a.cu: `strided` is not evaluated: internal error: ZeroDivisionError" in result.err
    assert "a.cu:2:35: warning: CL101" in result.out
    assert "a.cu:1:37: warning: CL101" not in result.out


@pytest.mark.parametrize("also", [[], ["--output", "junit=report.xml"]])
def test_a_finding_that_a_report_cannot_take_costs_that_finding(
    also: list[str], check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = sarif._Report._result

    def brittle(report: sarif._Report, diagnostic: Diagnostic, mark: str) -> dict[str, Any]:
        if diagnostic.place.line == 2 and diagnostic.code == "CL101" and diagnostic.place.path == "b.cu":
            raise IndexError
        return taken(report, diagnostic, mark)

    monkeypatch.setattr(sarif._Report, "_result", brittle)
    result = check("--format", "sarif", "a.cu", "b.cu", *also)
    [run] = json.loads(result.out)["runs"]
    places = [place["physicalLocation"] for found in run["results"] for place in found["locations"]
              if found["ruleId"] == "CL101"]  # fmt: skip
    lines = [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places]
    assert sorted(lines) == [("a.cu", 1), ("a.cu", 2), ("b.cu", 1)]
    assert not run["invocations"][0]["executionSuccessful"]
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "b.cu: CL101 at line 2 is left out: internal error: IndexError" in result.err


def test_a_report_that_cannot_be_made_at_all_costs_no_other(
    folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sarif, "_driver", lambda: 1 // 0)
    result = check("a.cu", "--output", "sarif=report.sarif", "--output", "json=report.json")
    assert result.status == 2
    assert "--format sarif: the report can't be made: internal error: ZeroDivisionError" in result.err
    assert "a.cu:1:37: warning: CL101" in result.out
    assert json.loads((folder / "report.json").read_text())["diagnostics"]


def test_nothing_is_left_out_of_a_report_that_can_be_made(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finding is written once."""
    calls: list[int] = []
    render = concise.render

    def counted(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
        calls.append(1)
        yield from render(result, sources, shown)

    monkeypatch.setattr(concise, "render", counted)
    assert check("a.cu").status == 1
    assert calls == [1]


def test_a_kernel_that_a_page_cannot_show_costs_the_kernels(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings are still told."""
    monkeypatch.setattr(sections, "_lead", lambda *_: 1 // 0)
    result = check("--format", "html", "a.cu")
    assert result.status == 2
    assert "--format html: kernels are left out: internal error: ZeroDivisionError" in result.err
    assert result.out.count('data-code="CL101"') == 2

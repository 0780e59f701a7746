"""Facts on demand: each rule has those that it reads, and finds with them what it finds with all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts, KernelFacts, Place, Resources
from cudalint.hardware.targets import find_target
from cudalint.kinds import EVERY_KIND, Kind
from cudalint.measure.providers.providers import PROVIDERS, providers_of
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import RuleClass, Selection, all_rules
from cudalint.report.findings.results import CheckResult, Coverage, FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import diagnostics_json
from cudalint.report.formats.presentation import Presentation
from cudalint.rule import Rule
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.rule_findings import rule_findings
from cudalint.run.unchecked import Unchecked

_FIXTURES = Path(__file__).parents[1] / "fixtures"
_EVERY = 8
"""Each test analyses a file with all rules: so many fixtures of a rule have one that is tried."""
_EVERYTHING = Selection(("ALL",))


class _Guarded(KernelFacts, frozen=True, eq=False):
    """Facts of which some must not be looked at."""

    forbidden: frozenset[str] = frozenset()

    def __getattribute__(self, name: str) -> Any:
        if name in KernelFacts.__struct_fields__ and name in super().__getattribute__("forbidden"):
            raise AssertionError(f"it reads `{name}`")
        return super().__getattribute__(name)


def _fields(kind: Kind) -> set[str]:
    """The parts of a kernel's facts that the provider of a kind fills."""
    of_kernel = {"function": SimpleNamespace(name="k"), "graph": None}
    subject: Any = SimpleNamespace(options=AnalysisOptions(), target=find_target("a100"), **of_kernel)
    marks: Any = {name: object() for name in KernelFacts.__struct_fields__}
    before = KernelFacts(**(marks | {"launches": (), "resources": Resources(None)}))
    if not (providers := providers_of([kind])):
        return set()  # of host code
    provider = providers[-1]
    after = provider.of(subject).put_into(before)
    return {name for name in marks if getattr(after, name) is not getattr(before, name)}


def _without(kernel: KernelFacts, kinds: frozenset[Kind]) -> _Guarded:
    forbidden = frozenset(name for kind in EVERY_KIND - kinds for name in _fields(kind))
    values = {name: getattr(kernel, name) for name in KernelFacts.__struct_fields__}
    return _Guarded(**values, forbidden=forbidden)


def _findings(path: Path, selection: Selection, code: str) -> list[Diagnostic]:
    report = check_file(CheckJob(str(path), AnalysisOptions(), selection, pictures=False))
    assert isinstance(report, FileReport)
    assert report.failures == ()
    return [diagnostic for diagnostic in report.diagnostics if diagnostic.code == code]


def _rendered(diagnostics: Sequence[Diagnostic]) -> list[str]:
    result = CheckResult("a100", tuple(diagnostics), (), 1, Coverage())
    return list(diagnostics_json.render(result, SourceLines(), Presentation()))


def _like(alone: Diagnostic, other: Diagnostic) -> Diagnostic:
    """A finding with the other's suggestion, and with why that has no edits, where one of them has none: edits may
    bring a finding of another rule that is asked for, and trials end when their time does."""
    has, may = (bool(found.suggestion and found.suggestion.edits) for found in (alone, other))
    return replace(alone, suggestion=other.suggestion, no_edit=other.no_edit) if has != may else alone


def _rules() -> Iterator[tuple[RuleClass, Path]]:
    for rule in all_rules():
        for path in sorted((_FIXTURES / rule.name).glob("*.cu"))[::_EVERY]:
            yield rule, path


@pytest.mark.parametrize(("rule", "path"), [pytest.param(*each, id=each[1].stem) for each in _rules()])
def test_a_rule_finds_alone_what_it_finds_among_all(rule: RuleClass, path: Path) -> None:
    alone, among = _findings(path, Selection((rule.code,)), rule.code), _findings(path, _EVERYTHING, rule.code)
    assert _rendered([*map(_like, alone, among)]) == _rendered(among)
    assert len(alone) == len(among)


@pytest.mark.parametrize(("rule", "path"), [pytest.param(*each, id=each[1].stem) for each in _rules()])
def test_a_rule_reads_what_it_names(rule: RuleClass, path: Path) -> None:
    if not issubclass(rule, Rule):
        assert rule.reads == frozenset()
        return
    facts = analyse(str(path), AnalysisOptions())
    assert isinstance(facts, FileFacts)
    # What findings cost is told of by the engine.
    read = rule.reads | {"costs"} if rule.is_waste else rule.reads
    kernels = tuple(_without(kernel, read) for kernel in facts.kernels)
    unchecked = Unchecked()
    job = CheckJob(str(path), AnalysisOptions(), _EVERYTHING, pictures=False)
    list(rule_findings(FileFacts(facts.path, facts.status, facts.problems, kernels), job, [rule], unchecked))
    assert list(unchecked.shortfalls()) == []


def test_the_guard_sees_a_rule_that_reads_too_much() -> None:
    """Else the test above can't fail."""
    place = Place("a.cu", 1, 1, 1, 1)
    kernel = _without(KernelFacts("k", "k", place, place, (), (), Resources(None)), frozenset({"branches"}))
    assert kernel.branches is None
    for name in ("accesses", "misalignments", "out_of_bounds", "pitches", "barriers", "unmasked_calls", "races"):
        with pytest.raises(AssertionError):
            getattr(kernel, name)


def test_a_provider_comes_behind_what_it_needs() -> None:
    for position, provider in enumerate(PROVIDERS):
        before = {each.kind for each in PROVIDERS[:position]}
        assert before.issuperset(provider.needs)
    # What is about host code has no provider.
    assert {provider.kind for provider in PROVIDERS} == EVERY_KIND - {"host", "launch_order", "host_faults"}
    assert [provider.kind for provider in providers_of(["races"])] == ["barriers", "races"]

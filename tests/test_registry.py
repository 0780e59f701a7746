"""Finding rules and choosing among them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cudalint import registry
from cudalint.catalogue import NAME_OF_CODE
from cudalint.registry import Selection, UnknownRule, all_rules, check_selectors, find_rule, is_known

_THIRD_PARTY = '''
from cudalint.rule import Rule

class Abstract(Rule):
    """No rule, since it lacks its check."""

class OwnRule(Rule):
    """A rule of somebody else."""
    code, name, severity, summary = "XY101", "own-rule", "info", "an example"
    def check(self, kernel, context):
        return iter(())
'''


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package = tmp_path / "third_party_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "xy101.py").write_text(_THIRD_PARTY)
    (package / "uses_it.py").write_text("from third_party_rules.xy101 import OwnRule\n")
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("xy", "third_party_rules", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    all_rules.cache_clear()
    yield
    all_rules.cache_clear()
    for name in [name for name in sys.modules if name.startswith("third_party_rules")]:
        del sys.modules[name]


def test_built_in_rules_fit_the_catalogue() -> None:
    rules = all_rules()
    assert [rule.code for rule in rules] == sorted(rule.code for rule in rules)
    for rule in rules:
        assert NAME_OF_CODE[rule.code] == rule.name
        assert rule.severity in ("error", "warning", "info")
        assert rule.summary
        assert not rule.summary.endswith(".")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_has_a_page(rule: type) -> None:
    page = rule.__doc__ or ""
    assert re.match(r"[^\n]+\.\n\n", page), "the page starts with one sentence"
    assert "Example" in page


def test_file_names_say_code_and_name() -> None:
    rules = all_rules()
    assert rules
    for rule in rules:
        expected = f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
        assert rule.__module__.rpartition(".")[2] == expected


@pytest.mark.usefixtures("third_party")
def test_rules_of_third_parties() -> None:
    codes = [rule.code for rule in all_rules()]
    assert codes.count("XY101") == 1
    assert "CL901" in codes
    check_selectors(["XY1", "own-rule"])
    assert is_known("own-rule")
    assert find_rule("xy101").name == "own-rule"


@pytest.mark.parametrize("selector", ["CL101", "cl1", "CL", "bank-conflict", "BANK-CONFLICT", "all"])
def test_selectors(selector: str) -> None:
    check_selectors([selector])


@pytest.mark.parametrize("selector", ["CL999", "bank", "", " ", "x"])
def test_selectors_that_fit_nothing(selector: str) -> None:
    with pytest.raises(UnknownRule):
        check_selectors([selector])


@pytest.mark.parametrize(("name", "known"), [("CL301", True), ("shared-race", True), ("CL3", False), ("races", False)])
def test_names_in_suppressions(name: str, known: bool) -> None:
    assert is_known(name) is known


def test_find_rule() -> None:
    assert find_rule("cl901") is find_rule("unused-suppression")
    with pytest.raises(UnknownRule, match="cudalint rules"):
        find_rule("CL9")


def test_ignore_wins_over_select() -> None:
    rule = find_rule("CL901")
    assert Selection().wants(rule)
    assert Selection(select=("CL9",)).wants(rule)
    assert not Selection(select=("CL1",)).wants(rule)
    assert not Selection(select=("CL901",), ignore=("unused-suppression",)).wants(rule)

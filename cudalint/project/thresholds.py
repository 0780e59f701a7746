"""The thresholds of rules: which there are, and what users set them to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cudalint.catalogue import NAME_OF_CODE
from cudalint.registry import UnknownRule, find_rule

Thresholds = Mapping[str, Mapping[str, float]]
"""By the rule's code, then by the threshold's name."""


class UnknownThreshold(ValueError):
    """A rule that there is not, or that has no such threshold."""


def check_threshold(rule: str, name: str) -> None:
    """Raises `UnknownThreshold` unless the rule of this code or name has a threshold of this name."""
    try:
        known = find_rule(rule).thresholds
    except UnknownRule as error:
        raise UnknownThreshold(str(error)) from None
    if name in known:
        return
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    if close:
        raise UnknownThreshold(f"{rule} has no threshold `{name}`; did you mean `{close[0]}`?")
    raise UnknownThreshold(f"{rule} has no threshold `{name}`; it has {', '.join(known) or 'none'}")


def code_of(rule: str) -> str:
    """The code of the rule with this code or name."""
    for code, name in NAME_OF_CODE.items():
        if rule.upper() == code or rule.lower() == name:
            return code
    try:
        return find_rule(rule).code
    except UnknownRule as error:
        raise UnknownThreshold(str(error)) from None


def by_rule(settings: Iterable[tuple[str, str, float]]) -> Thresholds:
    """Rule, threshold and value as a mapping; where one is set twice, the last counts."""
    found: dict[str, dict[str, float]] = {}
    for rule, name, value in settings:
        found.setdefault(code_of(rule), {})[name] = value
    return found

"""Which rules there are, and which of them a run wants.

Rules come in through the entry point group `cudalint.rules`: each entry names a package (or module), every module
of which is imported. The built-in rules use the same way as a third party's.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import entry_points
from types import ModuleType

from msgspec import Struct

from cudalint.catalogue import BUILT_IN, NAME_OF_CODE, hint
from cudalint.kinds import NO_KIND, Kinds
from cudalint.rule import RuleBase

ENTRY_POINT_GROUP = "cudalint.rules"

RuleClass = type[RuleBase]


class UnknownRule(ValueError):
    """A code, prefix or name that fits no rule."""


_added: list[str] = []


def add_package(package: str) -> None:
    """Counts a package's rules in that is not installed, such as one that is just being written."""
    _added.append(package)
    all_rules.cache_clear()


@lru_cache(maxsize=1)
def all_rules() -> tuple[RuleClass, ...]:
    """Every rule of every installed package, by code."""
    rules = {rule.code: rule for package in rule_packages() for rule in _rules_of(package)}
    return tuple(rules[code] for code in sorted(rules))


def rule_packages() -> tuple[str, ...]:
    """The names of the packages and modules that have rules."""
    packages = {entry.module: None for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if NAME_OF_CODE:
        # Run from an installation without metadata (a zipped or vendored copy), the built-in rules count too.
        packages.setdefault(BUILT_IN)
    return tuple(packages | dict.fromkeys(_added))


def _rules_of(package: str) -> Iterator[RuleClass]:
    root = importlib.import_module(package)
    yield from _rules_in(root)
    for module in pkgutil.iter_modules(getattr(root, "__path__", ()), prefix=f"{package}."):
        yield from _rules_in(importlib.import_module(module.name))


def _rules_in(module: ModuleType) -> Iterator[RuleClass]:
    """The concrete rules that this module defines; those that it imports belong elsewhere."""
    for value in vars(module).values():
        if not (inspect.isclass(value) and issubclass(value, RuleBase)) or inspect.isabstract(value):
            continue
        if value.__module__ == module.__name__:
            yield value


def matches(selector: str, code: str, name: str) -> bool:
    """Whether a selector (a code, the start of a code, a name, or ALL) means the rule."""
    upper = selector.upper()
    return upper == "ALL" or code.startswith(upper) or selector.lower() == name


class Selection(Struct, frozen=True):
    """What `select`, `ignore` and `extend-select` say; without `select`, the rules that are on by default."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    base: Selection | None = None
    """What yields to this one, as a configuration file does to the command line."""

    def wants(self, rule: RuleClass) -> bool:
        if _fits(rule, self.ignore):
            return False
        if self.select:
            return _fits(rule, (*self.select, *self.extend_select))
        if _fits(rule, self.extend_select):
            return True
        return rule.on_by_default if self.base is None else self.base.wants(rule)


def _fits(rule: RuleClass, selectors: Iterable[str]) -> bool:
    return any(matches(selector, rule.code, rule.name) for selector in selectors)


def selected_rules(selection: Selection) -> tuple[RuleClass, ...]:
    return tuple(rule for rule in all_rules() if selection.wants(rule))


def kinds_read_by(rules: Iterable[RuleClass]) -> Kinds:
    """The kinds of facts that some rules need."""
    return NO_KIND.union(*(rule.reads for rule in rules))


def find_rule(selector: str) -> RuleClass:
    """The rule with this code or name; raises `UnknownRule`."""
    for rule in all_rules():
        if selector.upper() == rule.code or selector.lower() == rule.name:
            return rule
    raise UnknownRule(f"no rule is called `{selector}`; {hint(selector)}")


def rules_named(text: str) -> tuple[RuleClass, ...]:
    """The rules that a part of a code or of a name means: the one that is called so; or else those that begin so; or
    else those that have it anywhere, words in any order. Raises `UnknownRule` where there is none."""
    rules = all_rules()
    words = text.lower().replace("-", " ").replace("_", " ").split()
    if not words:
        raise UnknownRule(f"`{text}` is no part of a rule's name; {hint(text)}")
    joined = "-".join(words)
    for fits in (
        lambda rule: joined in (rule.code.lower(), rule.name),
        lambda rule: rule.code.lower().startswith(joined) or rule.name.startswith(joined),
        lambda rule: all(word in rule.name or word in rule.code.lower() for word in words),
    ):
        found = tuple(rule for rule in rules if fits(rule))
        if found:
            return found
    raise UnknownRule(f"no rule's code or name has `{text}` in it; {hint(text)}")


def check_selectors(selectors: Iterable[str]) -> None:
    """Raises `UnknownRule` for one that means no rule. Looks at installed rules only if the catalogue fails."""
    for selector in selectors:
        if not selector.strip():
            raise UnknownRule("a rule's code or name is empty")
        if any(matches(selector, code, name) for code, name in NAME_OF_CODE.items()):
            continue
        if not any(matches(selector, rule.code, rule.name) for rule in all_rules()):
            raise UnknownRule(f"no rule's code or name fits `{selector}`; {hint(selector)}")


def is_known(identifier: str) -> bool:
    """Whether a suppression may name this: the full code or the name of a rule."""
    if identifier.upper() in NAME_OF_CODE or identifier.lower() in NAME_OF_CODE.values():
        return True
    return any(identifier.upper() == rule.code or identifier.lower() == rule.name for rule in all_rules())

"""Gates: conditions on figures of the new version, such as `registers <= 168` or `time <= 1.05`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cudalint.cli.comparing.figures import KINDS, OF_FINDINGS, differ
from cudalint.cli.comparing.pairing import Compared, Comparison, Pair
from cudalint.facts import LaunchFacts
from cudalint.numerals import figure
from cudalint.regexes import regex

_NUMBER = r"\d+(?:\.\d+)?"
_GATE = regex(r"(?:(?P<kernel>.*\S)\s*:\s*)?(?P<name>[A-Za-z_]+)\s*(?P<sign><=|>=|==|<|>)\s*(?P<value>.+)")
_VALUE = regex(
    rf"(?P<number>{_NUMBER})(?P<percent>%?)|base(?:\s*\*\s*(?P<factor>{_NUMBER}))?"
    rf"(?:\s*(?P<plus>[-+])\s*(?P<more>{_NUMBER}))?"
)
_SIGNS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
NAMES: Final = tuple(KINDS)


class GateError(ValueError):
    """An expression that is no gate; the message is one line."""


class Gate(Struct, frozen=True):
    """One condition. What it compares with is `number`, or `factor * base + more`."""

    text: str
    name: str
    sign: str
    number: float | None
    factor: float = 1.0
    more: float = 0.0
    kernel: str | None = None
    """A pattern that its name, or its name with template arguments, has to match."""

    def is_for(self, pair: Pair) -> bool:
        facts = [each.facts for each in pair if each is not None]
        names = {name for each in facts for name in (each.name, each.instantiation)}
        return self.kernel is None or any(fnmatchcase(name, self.kernel) for name in names)

    @property
    def needs_base(self) -> bool:
        return self.number is None or KINDS[self.name].is_relative

    @property
    def is_kept_by_the_same(self) -> bool:
        """Whether a kernel of which nothing has changed passes it, whatever its figures are: none is negative."""
        if self.name == "new_findings":
            return self.number is not None and _SIGNS[self.sign](0.0, self.number)
        if not self.needs_base:
            return False
        factor = self.factor if self.number is None else self.number
        is_at_most, is_at_least = factor >= 1 and self.more >= 0, factor <= 1 and self.more <= 0
        return {"<=": is_at_most, ">=": is_at_least, "==": is_at_most and is_at_least}.get(self.sign, False)


class Verdict(Struct, frozen=True, eq=False):
    """A gate that a kernel doesn't pass, or that can't be checked for it, and why."""

    gate: Gate
    pair: Pair
    reason: str
    """With `{}` for the kernel's name where it can't be checked, as that is told of several at once."""
    is_checked: bool = True
    launch: LaunchFacts | None = None
    """The one that is furthest from passing; None for what is no launch's own."""
    value: float | None = None
    """Of the figure; None where it isn't known."""
    more: int = 0
    """How many more of its launches this is so of."""
    excess: float = 0.0
    """By how much it misses what it is compared with, as a share of that."""


def parse(text: str) -> Gate:
    """Raises GateError."""
    match = _GATE.fullmatch(text.strip())
    value = _VALUE.fullmatch(match["value"].strip()) if match else None
    if match is None or value is None:
        raise GateError(
            f"`{text}` is no gate such as 'registers <= 168', 'time <= 1.05', 'occupancy >= base' or "
            "'sgemm: shared <= base + 1024'"
        )
    name = match["name"]
    if name not in KINDS:
        close = get_close_matches(name, NAMES, 1)
        hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(NAMES)}"
        raise GateError(f"no figure is called `{name}`; {hint}")
    if value["number"] is not None:
        number = float(value["number"]) / (100 if value["percent"] else 1)
        return Gate(text.strip(), name, match["sign"], number, kernel=match["kernel"])
    more = float(value["more"] or 0) * (-1 if value["plus"] == "-" else 1)
    if name in OF_FINDINGS and name == "new_findings":
        raise GateError("`new_findings` has no base; compare it with a number")
    return Gate(text.strip(), name, match["sign"], None, float(value["factor"] or 1), more, match["kernel"])


def judged(gates: Sequence[Gate], comparison: Comparison, how_to_know: str) -> Iterator[Verdict]:
    """What doesn't pass, and what can't be checked: for each gate and kernel one, of its worst launch. Kernels that are
    gone pass, and those that are new what compares with a base.

    Nothing can be said of a figure that isn't known, nor of kernels that were not evaluated in full."""
    by_pair: dict[int, list[Compared]] = {}
    for each in comparison.launches:
        by_pair.setdefault(id(each.pair), []).append(each)
    for gate in gates:
        for launches in by_pair.values():
            if gate.is_for(launches[0].pair):
                yield from _worst(gate, [verdict for each in launches for verdict in _verdict(gate, each, how_to_know)])
        for pair in comparison.cut:
            if gate.is_for(pair) and pair.new is not None:
                reason = "the time limit cut the evaluation of {} short; --time-limit gives more time"
                yield Verdict(gate, pair, reason, is_checked=False)


def _worst(gate: Gate, found: Sequence[Verdict]) -> Iterator[Verdict]:
    for is_checked in (True, False):
        alike = [each for each in found if each.is_checked is is_checked]
        if alike:
            worst = max(alike, key=lambda each: each.excess)
            is_of_kernel = gate.name in OF_FINDINGS
            yield replace(worst, launch=None) if is_of_kernel else replace(worst, more=len(alike) - 1)


def _verdict(gate: Gate, compared: Compared, how_to_know: str) -> Iterator[Verdict]:
    """None where it passes."""
    if compared.new is None or (gate.needs_base and compared.old is None):
        return
    value, base = (_value(gate.name, compared, is_old) for is_old in (False, True))
    if value is None or (gate.needs_base and base is None):
        title = KINDS[gate.name].title
        are = "are" if title.partition(" per ")[0].endswith("s") else "is"
        where = " in the old version" if value is not None else ""
        hint = how_to_know if gate.name in ("registers", "spills", "stack") else ""
        reason = f"{title} of {{}} {are} not known{where}{hint}"
        yield Verdict(gate, compared.pair, reason, False, compared.new_launch, value)
        return
    if gate.needs_base and base is not None and not differ(base, value):
        value = base  # What isn't told as a difference is none.
    limit = _limit(gate, base or 0.0)
    if not _SIGNS[gate.sign](value, limit):
        excess = abs(value - limit) / (abs(limit) or 1.0)
        reason = _reason(gate, value, base or 0.0)
        yield Verdict(gate, compared.pair, reason, True, compared.new_launch, value, excess=excess)


def _value(name: str, compared: Compared, is_old: bool) -> float | None:
    if name in OF_FINDINGS:
        return _findings(name, compared, is_old)
    figures = compared.old if is_old else compared.new
    return figures.get(name) if figures is not None else None


def _findings(name: str, compared: Compared, is_old: bool) -> float:
    if name == "new_findings":
        return 0.0 if is_old else float(len(compared.appeared))
    return float(len(compared.old_findings if is_old else compared.new_findings))


def _limit(gate: Gate, base: float) -> float:
    if gate.number is None:
        return gate.factor * base + gate.more
    return gate.number * base if KINDS[gate.name].is_relative else gate.number


def _reason(gate: Gate, value: float, base: float) -> str:
    """`time is 1.31x of the base (80 us, before 61 us)`, `registers is 180`."""
    kind = KINDS[gate.name]
    before = f" (before {kind.shown(base)})" if gate.needs_base else ""
    if gate.needs_base and kind.is_relative and base:
        return f"{gate.name} is {figure(value / base)}x of the base: {kind.shown(value)}{before}"
    return f"{gate.name} is {kind.shown(value)}{before}"

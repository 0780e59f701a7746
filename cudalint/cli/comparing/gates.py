"""Gates: conditions on figures of the new version, such as `registers <= 168` or `time <= 1.05`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

from cudalint.cli.comparing.figures import KINDS, OF_FINDINGS, differ
from cudalint.cli.comparing.pairing import Compared
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

    def is_for(self, compared: Compared) -> bool:
        facts = [each.facts for each in compared.pair if each is not None]
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


class Failed(Struct, frozen=True, eq=False):
    """A gate that a launch of a kernel doesn't pass, and why."""

    gate: Gate
    compared: Compared
    value: float | None
    """Of the figure; None where it isn't known."""
    reason: str


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


def failed(gates: Sequence[Gate], launches: Sequence[Compared], how_to_know: str) -> Iterator[Failed]:
    """What doesn't pass. Kernels that are gone pass, and those that are new what compares with a base.

    What is not known passes no gate but one that compares with a base of which nothing is known either."""
    for gate in gates:
        for compared in launches:
            if not gate.is_for(compared) or compared.new is None:
                continue
            if gate.needs_base and compared.old is None:
                continue
            value, base = (_value(gate.name, compared, is_old) for is_old in (False, True))
            if gate.needs_base and not differ(base, value):
                value = base  # What isn't told as a difference is none.
            if value is None:
                if gate.needs_base and base is None:
                    continue
                hint = how_to_know if gate.name in ("registers", "spills", "stack") else ""
                yield Failed(gate, compared, None, f"{gate.name} is not known{hint}")
            elif gate.needs_base and base is None:
                yield Failed(gate, compared, value, f"{gate.name} of the base is not known")
            elif not _passes(gate, value, base or 0.0):
                yield Failed(gate, compared, value, _reason(gate, value, base or 0.0))


def _value(name: str, compared: Compared, is_old: bool) -> float | None:
    if name in OF_FINDINGS:
        return _findings(name, compared, is_old)
    figures = compared.old if is_old else compared.new
    return figures.get(name) if figures is not None else None


def _findings(name: str, compared: Compared, is_old: bool) -> float:
    if name == "new_findings":
        return 0.0 if is_old else float(len(compared.appeared))
    return float(len(compared.old_findings if is_old else compared.new_findings))


def _passes(gate: Gate, value: float, base: float) -> bool:
    compares = _SIGNS[gate.sign]
    if gate.number is None:
        return compares(value, gate.factor * base + gate.more)
    if KINDS[gate.name].is_relative:
        return compares(value, gate.number * base)
    return compares(value, gate.number)


def _reason(gate: Gate, value: float, base: float) -> str:
    """`time is 1.31x of the base (80 us, before 61 us)`, `registers is 180`."""
    kind = KINDS[gate.name]
    before = f" (before {kind.shown(base)})" if gate.needs_base else ""
    if gate.needs_base and kind.is_relative and base:
        return f"{gate.name} is {figure(value / base)}x of the base: {kind.shown(value)}{before}"
    return f"{gate.name} is {kind.shown(value)}{before}"

"""Numbers by which host code chooses between ways, as `layout == ROWS ? pitch : 1` does: each way is one to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from cudalint.host.values.nodes import Node, Uniform, render, without_cast
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.worlds.choosing import Number
from cudalint.worlds.needs import Need

_MOST_NODES = 10_000


class Flag(Struct, frozen=True):
    """One of them."""

    symbol: Node
    cases: tuple[int, ...]
    """What it is compared with."""
    is_size: bool
    """Whether a launch is made of it in other ways, too."""

    def other(self) -> int:
        """What none of the cases is about."""
        return next(number for number in range(len(self.cases) + 1) if number not in self.cases)

    def tried(self) -> tuple[Number, ...]:
        return (False, True) if self.symbol.kind.code == "b" else (self.other(), *self.cases)


def flags_of(configuration: Configuration, open_: OpenNumbers) -> list[Flag]:
    """Those of what a launch and its arguments are computed of, in the order in which they are met."""
    sized, cases, seen = 0, dict[Node, dict[int, None]](), set[int]()
    pending = [configuration.shared, *reversed(configuration.grid), *reversed(open_.computed)]
    while pending and len(seen) < _MOST_NODES:
        node = pending.pop()
        if node.index in seen or not node.bits & open_.open_bits:
            continue
        seen.add(node.index)
        if isinstance(node.payload, Uniform):
            sized |= node.bits
        parts: Iterable[Node] = node.args
        if node.op == "select":
            test, *parts = node.args
            for compared, case in _comparisons(test):
                if case is None:
                    pending.append(compared)
                elif compared.bits & open_.open_bits:
                    cases.setdefault(compared, {})[case] = None
        pending += reversed(list(parts))
    return [Flag(symbol, tuple(own), bool(symbol.bits & sized)) for symbol, own in cases.items()]


def _comparisons(test: Node) -> Iterator[tuple[Node, int | None]]:
    """The numbers that a condition compares with constants; other parts of it with None."""
    pending = [test]
    while pending:
        node = pending.pop()
        bare = without_cast(node)
        if isinstance(bare.payload, Uniform):
            yield bare, 0
        elif node.op in ("&&", "||", "!"):
            pending += node.args
        elif node.op in ("==", "!="):
            sides = [without_cast(side) for side in node.args]
            symbol = next((side for side in sides if isinstance(side.payload, Uniform)), None)
            case = next((side.whole for side in sides if side.is_const), None)
            if symbol is not None and case is not None and not symbol.kind.is_float:
                yield symbol, case
            else:
                yield node, None
        else:
            yield node, None


def needs_of_flags(flags: Iterable[Flag]) -> Iterator[Need]:
    """Worlds on both sides of each comparison."""
    for flag in flags:
        about: Any = (flag.symbol,)
        for case in flag.cases:
            name = render(flag.symbol)
            yield Need(f"{name} == {case}", about, lambda values, f=flag, c=case: values[f.symbol] == c)  # type: ignore[misc]
            yield Need(f"{name} != {case}", about, lambda values, f=flag, c=case: values[f.symbol] != c)  # type: ignore[misc]


def cases_by_name(flags: Iterable[Flag]) -> Mapping[str, tuple[int, ...]]:
    return {render(flag.symbol): flag.cases for flag in flags}

"""Which of the numbers that a kernel is given go into the addresses of an access, whoever gets there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

from cudalint.execute.trace import Stack
from cudalint.ir import nodes as ir
from cudalint.ir.walk import walk, without_casts
from cudalint.measure.amounts import amount_of
from cudalint.measure.numbers import numbers_of, parameters_of
from cudalint.worlds.records import Batch
from cudalint.worlds.text import text_of


class Addresses:
    """Of one kernel under one launch."""

    def __init__(self, kernel: ir.Function, batch: Batch, given: Set[str] = frozenset()) -> None:
        """`given` are the parameters whose numbers the launch gives."""
        self._origins = text_of(kernel).uses.origins
        self._given = given
        self._numbers = numbers_of(batch)
        self._parameters = parameters_of(batch)

    def rest_on(self, node: Any, stack: Stack) -> frozenset[str]:
        """The open numbers that go into an address, by the names of the kernel's parameters."""
        found: set[str] = set()
        for place in _places(node):
            found.update(p.name for p in self._origins.moving(place).sources)
        for call in stack:
            for argument in _pointers(call.arguments):
                found.update(p.name for p in self._origins.of(argument).sources)
        return frozenset(found - self._given)

    def are_of(self, parameters: Iterable[str], names: Set[str]) -> bool:
        """Whether these parameters are nothing but some open numbers, or computed of those."""
        own = {name: values for name, values in self._numbers.items() if name in names}
        for parameter in parameters:
            values = self._parameters.get(parameter)
            if parameter in names:
                continue
            if values is None or len(set(values)) == 1 or amount_of([int(v) for v in values], own) is None:
                return False
        return True


def _places(node: Any) -> Iterator[ir.Expr]:
    """What is accessed: of a call, what its arguments lead to."""
    if isinstance(node, (ir.Call, ir.Construct)):
        yield from _pointers(node.arguments)
    elif isinstance(node, ir.Asm):
        yield from (each for each in walk(node) if isinstance(each, ir.Name))
    elif node is not None:
        yield node


def _pointers(arguments: Iterable[ir.Expr]) -> Iterator[ir.Expr]:
    for argument in arguments:
        if isinstance(argument.type, ir.PointerType):
            inner = without_casts(argument)
            yield inner.operand if isinstance(inner, ir.Unary) and inner.op == "&" else inner

"""The terms of sums that a kernel computes: products of loaded numbers that are added to what was added before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from cudalint.evaluate.requests.execution import Execution
from cudalint.facts.products import Precision
from cudalint.interpreter.device.events import Computation, Loop
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.reasons import ReasonKind
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, OPAQUE_BIT, THREAD_BITS, Node, Reason

_MOST_PARTS = 256
"""Of a sum or a factor that are looked at."""
_FUSED = frozenset({"__hfma", "__hfma2", "__hfma_relu", "__hfma2_relu"})
_PRODUCTS = frozenset({"operator*", "__hmul", "__hmul2"})
_SUMS = frozenset({"operator+", "operator+=", "operator-", "operator-=", "__hadd", "__hadd2", "__hsub", "__hsub2"})


class Source(Struct, frozen=True, eq=False):
    """What tells the values of a factor apart."""

    memory: tuple[object, ...]
    """What it is loaded from; () for a number of the thread's own."""
    place: Node
    """Where in there, or the number."""
    base: Node | None = None
    """Where the memory is, if that is loaded, too."""
    bytes: int = 4

    @property
    def array(self) -> Allocation | None:
        first = self.memory[0] if self.memory else None
        return first if isinstance(first, Allocation) else None


Factor = tuple[Source, ...]


class Term(Struct, frozen=True, eq=False):
    """One addition of a product to a sum."""

    computation: Computation
    left: Factor
    right: Factor
    position: int
    """Among the terms of its sum that are written out, or that the compiler unrolls."""
    over: frozenset[int]
    """The loops that the sum goes over, by their counters."""
    precision: Precision


def terms_of(execution: Execution) -> list[Term]:
    return _Terms(execution).found


class _Terms:
    """The additions of an execution that add a product of loaded numbers to what was added before."""

    def __init__(self, execution: Execution) -> None:
        self._graph: Graph = execution.view.graph
        self._products: dict[int, tuple[Node, ...]] = {}
        """Results of functions that multiply, with what they multiply."""
        self.found: list[Term] = []
        for computation in execution.computations:
            self._look_at(computation)

    def _look_at(self, computation: Computation) -> None:
        code, operands = computation.code, computation.operands
        match code:
            case ir.Binary(op="+" | "-") | ir.Assign(op="+" | "-") if len(operands) == 2:
                self._add(computation, operands[0], operands[1], "fp32")
            case ir.Call(name=name) if len(operands) == 1:
                self._call(computation, name, operands[0])
            case _:
                pass

    def _call(self, computation: Computation, name: str, result: Node) -> None:
        args = result.args
        if result.op == "+" and result.kind.is_float:
            self._add(computation, args[0], args[1], "fp32")
        elif name in _PRODUCTS and len(args) == 2:
            self._products[result.index] = args
        elif name in _FUSED and len(args) == 3:
            self._note(computation, [args[:2]], args[2:], 0, "fp16")
        elif name in _SUMS and len(args) == 2:
            self._add(computation, args[0], args[1], "fp16")

    def _add(self, computation: Computation, a: Node, b: Node, precision: Precision) -> None:
        if precision == "fp32" and not (_is_float(a) and _is_float(b)):
            return
        (own, rest), (others, before) = self._summands(b), self._summands(a)
        if rest:
            (own, rest), (others, before) = (others, before), (own, rest)
        if not rest and own:
            self._note(computation, own, before, len(others), precision)

    def _summands(self, node: Node) -> tuple[list[tuple[Node, ...]], list[Node]]:
        """The products in a sum, and what else is in it."""
        products: list[tuple[Node, ...]] = []
        others: list[Node] = []
        pending = [node]
        while pending and len(products) + len(others) < _MOST_PARTS:
            part = pending.pop()
            if (part.op in ("+", "-") and part.kind.is_float) or _is_widened(part):
                pending += part.args
            elif part.op == "*" and part.kind.is_float:
                products.append(part.args)
            elif part.index in self._products:
                products.append(self._products[part.index])
            elif not part.is_const or part.value:
                others.append(part)
        return products, others

    def _note(
        self, computation: Computation, products: Sequence[tuple[Node, ...]], before: Sequence[Node], position: int,
        precision: Precision,
    ) -> None:  # fmt: skip
        for number, factors in enumerate(products):
            for left, right in self._splits(factors, {loop.counter for loop in computation.loops}):
                over = _summed_over(before, left, right, computation.loops)
                self.found.append(Term(computation, left, right, position + number, over, precision))

    def _splits(self, factors: Sequence[Node], counters: Set[Node]) -> Iterator[tuple[Factor, Factor]]:
        """The ways to see a product of some factors as one of two: a scale belongs to either."""
        parts: list[Factor] = []
        for node in self._factors(factors):
            sources = self._sources(node, counters)
            if sources is None:
                return
            if any(source.array is not None for source in sources):
                parts.append(sources)
            elif sources:
                return
        if len(parts) == 2:
            yield parts[0], parts[1]
        elif len(parts) == 3:
            for alone in range(3):
                others = [part for place, part in enumerate(parts) if place != alone]
                yield parts[alone], others[0] + others[1]

    def _factors(self, factors: Sequence[Node]) -> Iterator[Node]:
        pending = list(reversed(factors))
        while pending:
            node = pending.pop()
            if node.op == "*" and node.kind.is_float:
                pending += reversed(node.args)
            elif node.index in self._products:
                pending += reversed(self._products[node.index])
            elif _is_widened(node):
                pending += node.args
            else:
                yield node

    def _sources(self, node: Node, counters: Set[Node]) -> Factor | None:
        """What a factor is made of; None for what is no number of which is known where it comes from. `counters` are
        those of the loops around: what others have left, as elements of an array in registers, stays as it is."""
        found: list[Source] = []
        opaque, own = self._graph.opaque_bits, THREAD_BITS | BLOCK_BITS | self._graph.loop_bits
        pending, seen = [node], set[int]()
        while pending:
            part = pending.pop()
            if part.index in seen or not part.bits & (own | opaque):
                continue
            seen.add(part.index)
            if len(seen) > _MOST_PARTS or part.op == "shuffle":
                return None
            if part.op == "opaque":
                reason = part.payload
                assert isinstance(reason, Reason)
                if reason.kind == "iteration" and part.args[-1] in counters:
                    return None
                if reason.kind == "iteration":
                    pending += part.args[:-1]
                elif not reason.memory:
                    pending += part.args
                elif part.args[0].bits & opaque:
                    return None
                else:
                    base = part.args[1] if len(part.args) > 1 else None
                    found.append(Source(reason.memory, part.args[0], base, part.kind.bytes))
            elif not part.kind.is_float and not part.bits & opaque:
                found.append(Source((), part))
            elif part.op == "select":
                # What it is where the condition does not hold, mostly a zero beyond an edge, is no other element.
                pending += part.args[1:]
            else:
                pending += part.args
        return tuple(found)


def _is_float(node: Node) -> bool:
    return node.kind.is_float and node.kind.bytes <= 4


def _is_widened(node: Node) -> bool:
    return node.op == "cast" and _is_float(node.args[0])


def _summed_over(before: Sequence[Node], left: Factor, right: Factor, loops: Sequence[Loop]) -> frozenset[int]:
    """The loops from one iteration to the next of which a sum is kept: in a variable, or in memory. Of a sum in an
    array of which the elements are not told apart, those that go over elements of both factors, and those around them
    that go over none: then they are in another tile."""
    found: set[int] = set()
    for node in before:
        while _is_opaque(node, "iteration"):
            found.add(node.args[-1].index)
            node = node.args[0]
        if _is_opaque(node, "loaded") and node.args:
            found |= {loop.counter.index for loop in loops if not node.args[0].bits & loop.counter.bits}
        elif node.bits & OPAQUE_BIT:
            both = [depth for depth, loop in enumerate(loops) if _moves(left, loop) and _moves(right, loop)]
            around = [loop for loop in loops[: max(both, default=0)] if not _moves(left, loop) | _moves(right, loop)]
            found |= {loop.counter.index for loop in (*around, *(loops[depth] for depth in both))}
    return frozenset(found)


def _is_opaque(node: Node, kind: ReasonKind) -> bool:
    return node.op == "opaque" and isinstance(node.payload, Reason) and node.payload.kind == kind


def _moves(factor: Factor, loop: Loop) -> bool:
    return any(source.place.bits & loop.counter.bits for source in factor)

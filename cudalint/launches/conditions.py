"""What has to hold in every world of a launch: its guards, what users state, what the device takes, and that products
fit into their types."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.hardware.targets import Target
from cudalint.host.values.assumptions import is_large
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import conjuncts
from cudalint.host.values.nodes import Node, below
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.worlds.choosing import Number
from cudalint.worlds.intervals import Intervals, may_be
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText
from cudalint.worlds.uses import Uses

MOST_THREADS = 1 << 24
"""Of a launch whose grid nothing gives: one for each of 4096 x 4096 pixels. Larger sizes that each make sense by
themselves make none together, and what such a launch costs is reported for this grid."""
_TOO_LARGE = {4: 2.0**31, 8: 2.0**63}
"""By the bytes of a type: products of unsigned sizes are counted in an `int` sooner or later."""
_MOST_PRODUCTS = 64


class Condition(Struct, frozen=True, eq=False):
    """One of them, that open numbers go into."""

    bits: int
    """Those that do."""
    holds: Callable[[Evaluated], Any]
    """By world."""
    node: Node | None = None
    """What host code or a user says."""
    product: ir.Binary | None = None
    """Of the kernel, that has to fit into its type."""


def stated(configuration: Configuration, open_: OpenNumbers, statements: Iterable[Node]) -> Iterator[Condition]:
    """The guards of a launch, and statements. What data decides may be either way."""
    graph = open_.graph
    parts = (part for each in (*configuration.guards, *statements) for part in conjuncts(graph, each))
    for part in dict.fromkeys(parts):
        if part.bits & open_.open_bits and not part.bits & graph.opaque_bits and not is_large(part):
            yield Condition(part.bits, lambda evaluated, part=part: evaluated.array(part) != 0, part)  # type: ignore[misc]


def of_device(configuration: Configuration, open_: OpenNumbers, target: Target) -> Iterator[Condition]:
    """There are blocks, and no more of them, or of shared memory, than a launch can have."""
    for node, most in zip(configuration.grid, target.max_grid_dimensions, strict=True):
        if _is_open(node, open_):
            yield Condition(node.bits, _between(node, 1, most))
    if _is_open(configuration.shared, open_):
        node = configuration.shared
        yield Condition(node.bits, _between(node, 0, target.shared_per_block_opt_in))


def few_threads(configuration: Configuration, open_: OpenNumbers) -> Iterator[Condition]:
    """No more threads than make sense, where open numbers make the grid."""
    bits = 0
    for node in configuration.grid:
        bits |= node.bits
    if bits & open_.open_bits and not bits & open_.graph.opaque_bits:
        threads = prod(configuration.block)

        def holds(evaluated: Evaluated) -> Any:
            x, y, z = (evaluated.array(node).astype(np.float64) for node in configuration.grid)
            return x * y * z * threads <= max(MOST_THREADS, threads)

        yield Condition(bits, holds)


def products_that_fit(configuration: Configuration, open_: OpenNumbers) -> Iterator[Condition]:
    """Those that host code computes for a launch."""
    roots = [n for n in (*configuration.grid, configuration.shared, *open_.computed) if _is_open(n, open_)]
    products = (
        node
        for node in itertools.islice(below(roots, open_.open_bits), 10 * _MOST_PRODUCTS)
        if node.op == "*" and node.kind.bytes in _TOO_LARGE and not node.kind.is_float
        and all(_is_open(part, open_) for part in node.args)
    )  # fmt: skip
    for node in itertools.islice(products, _MOST_PRODUCTS):
        yield Condition(node.bits, _fits(node))


def kernel_products_that_fit(configuration: Configuration, open_: OpenNumbers, text: KernelText) -> Iterator[Condition]:
    """Those of the kernel, as far as its text says how large their factors can be."""
    uses = text.uses
    grid = 0
    for axis in configuration.grid:
        grid |= axis.bits
    grid &= open_.open_bits

    def bits_of_both(node: ir.Binary) -> int:
        found = _open_bits(open_, uses, node)
        return found | grid if "block" in uses.origins.of(node).varies else found

    products = [
        node
        for node in uses.code.nodes
        if isinstance(node, ir.Binary) and node.op == "*" and isinstance(node.type, ir.Scalar)
        and node.type.kind in ("int", "uint") and node.type.bytes == 4
        and bits_of_both(node)
    ]  # fmt: skip
    if not products:
        return
    bounds = Bounds(configuration, open_, text)
    for node in products[:_MOST_PRODUCTS]:
        yield Condition(
            bits_of_both(node), lambda evaluated, node=node: bounds.fits(node, evaluated), None, node  # type: ignore[misc]
        )


class Bounds:
    """The bounds of a kernel's values in some worlds, kept for the products that are asked for in turn."""

    def __init__(self, configuration: Configuration, open_: OpenNumbers, text: KernelText) -> None:
        self._configuration, self._open, self._text = configuration, open_, text
        self._last: tuple[Evaluated, Intervals] | None = None

    def admits(self, conditions: Iterable[tuple[ir.Expr, bool]], evaluated: Evaluated) -> Any:
        """[C]: whether each of some conditions may come out as wanted for some thread; so may what is not known."""
        held, intervals = np.ones(evaluated.count, bool), self._of(evaluated)
        with np.errstate(all="ignore"):
            for condition, wanted in conditions:
                may = may_be(condition, wanted, intervals)
                held &= True if may is None else may
        return held

    def knows(self, conditions: Iterable[tuple[ir.Expr, bool]], evaluated: Evaluated) -> bool:
        """Whether something is known of each of some conditions."""
        intervals = self._of(evaluated)
        with np.errstate(all="ignore"):
            return all(may_be(condition, wanted, intervals) is not None for condition, wanted in conditions)

    def _of(self, evaluated: Evaluated) -> Intervals:
        if self._last is None or self._last[0] is not evaluated:
            self._last = evaluated, self._intervals(evaluated)
        return self._last[1]

    def fits(self, product: ir.Binary, evaluated: Evaluated) -> Any:
        intervals = self._of(evaluated)
        with np.errstate(all="ignore"):
            one, other = intervals.of(product.left), intervals.of(product.right)
            if one is None or other is None:
                return np.ones(evaluated.count, bool)
            largest = np.maximum(np.abs(one[0]), np.abs(one[1])) * np.maximum(np.abs(other[0]), np.abs(other[1]))
        return np.broadcast_to(largest < _TOO_LARGE[4], evaluated.count)

    def _intervals(self, evaluated: Evaluated) -> Intervals:
        values = _Floats(self._open, evaluated)
        grid = [np.maximum(1.0, evaluated.array(node).astype(np.float64)) for node in self._configuration.grid]
        places = [(np.zeros(evaluated.count), extent - 1) for extent in grid]
        block = self._configuration.block
        return Intervals(self._text.uses.origins, self._text.definitions, values, block, grid, places)


class _Floats(Mapping[Parameter, Any]):
    """What the kernel is given, as far as it is asked for."""

    def __init__(self, open_: OpenNumbers, evaluated: Evaluated) -> None:
        self._nodes, self._evaluated = open_.parameters, evaluated
        self._known: dict[Parameter, Any] = {}

    def __getitem__(self, parameter: Parameter) -> Any:
        if parameter not in self._known:
            self._known[parameter] = self._evaluated.array(self._nodes[parameter]).astype(np.float64)
        return self._known[parameter]

    def __contains__(self, parameter: object) -> bool:
        return parameter in self._nodes

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


def holding(conditions: Sequence[Condition], open_: OpenNumbers, usual: Mapping[Node, Number]) -> list[Condition]:
    """All but those on products that usual numbers break."""
    evaluated = open_.evaluated(usual)
    return [each for each in conditions if each.node is not None or bool(np.all(each.holds(evaluated)))]


def _open_bits(open_: OpenNumbers, uses: Uses, expression: ir.Expr) -> int:
    found = 0
    for parameter in uses.origins.of(expression).sources:
        node = open_.parameters.get(parameter)
        found |= node.bits & open_.open_bits if node is not None else 0
    return found


def _is_open(node: Node, open_: OpenNumbers) -> bool:
    return bool(node.bits & open_.open_bits) and not node.bits & open_.graph.opaque_bits


def _between(node: Node, least: int, most: int) -> Callable[[Evaluated], Any]:
    def holds(evaluated: Evaluated) -> Any:
        value = evaluated.array(node)
        return (value >= least) & (value <= most)

    return holds


def _fits(node: Node) -> Callable[[Evaluated], Any]:
    def holds(evaluated: Evaluated) -> Any:
        one, other = (evaluated.array(part).astype(np.float64) for part in node.args)
        with np.errstate(all="ignore"):
            return np.abs(one * other) < _TOO_LARGE[node.kind.bytes]

    return holds

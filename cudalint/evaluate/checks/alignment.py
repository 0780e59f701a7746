"""Whether the addresses of an access are multiples of its width, and what that takes of the launch's arguments.

The hardware faults ("misaligned address") where they are not. Most accesses are proven aligned by the residues of
their offset alone. The others are evaluated: for generic sizes, and for sizes with other remainders. The condition on
the sizes is derived from the offset as a polynomial, and only believed if it tells right from wrong in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.checks.probes import (
    Offender,
    Seen,
    Values,
    allowed,
    inputs,
    look,
    residues,
    symbols,
)
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.situations import DEEP, QUICK, THOROUGH, Effort, mask_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import AccessEvent
from cudalint.ir import nodes as ir
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Uniform, below, bits_of, without_cast
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import Monomial, is_address, spelled, terms_of

_MAX_SYMBOLS = 5
_MAX_TEXT = 40
_PERIOD = 32
"""All that widths and the residues that are tried divide."""
_NAME = re.compile(r"[A-Za-z_](?:[\w.>-]|\[\d+\])*")
_CALL = re.compile(r"[a-z0-9]\(")
"""What only the evaluator has a name for: `select(...)`."""


class Verdict(Struct, frozen=True):
    """An access that is not always aligned."""

    condition: str | None
    """What the arguments have to fulfil; None where it is misaligned whatever they are."""
    offender: Offender
    """A thread that is misaligned."""
    values: tuple[tuple[str, int], ...]
    """The values for which it is, if that depends on them."""


class Declared(Struct, frozen=True):
    """What the program says of an array and of its rows."""

    unit: int
    """What it is declared to hold, in bytes; 0 if that is not known."""
    counted: tuple[Node, ...] | None
    """With what threads and blocks are counted and places compared: sizes in there count elements, or whole vectors.
    None if that is not known."""

    @property
    def counts(self) -> int:
        """The leaves of all that."""
        return ~0 if self.counted is None else bits_of(self.counted)


_UNKNOWN = Declared(0, None)


class _Requirement(Struct, frozen=True):
    """`expression % divisor == rest`."""

    text: str
    value: Node
    divisor: int
    rest: int

    def __str__(self) -> str:
        return f"{self.text} % {self.divisor} == {self.rest}"


def natural_width(size: int) -> int:
    """The alignment that an access of so many bytes needs: the largest power of two that divides it, at most 16."""
    return min(size & -size, 16) if size else 1


def alignment_verdict(
    event: AccessEvent, width: int, base: int, view: LaunchView, declared: Declared = _UNKNOWN
) -> Verdict | None:
    """Where and when an access of `width` bytes is misaligned, its array starting `base` bytes off; None where it never
    is, or where that cannot be told. Rows whose length is counted in bytes are taken for aligned, as those that
    cudaMallocPitch makes."""
    on = dependence(event.context, event.offset, view.graph)
    if on.is_never or _looks_at_address(event, view.graph):
        return None
    chosen, by_data = inputs(view.graph, on.bits), on.value_by_data

    def see(values: Values | None, effort: Effort = QUICK) -> Seen:
        return look(view, event.context, event.offset, offends, values, effort)

    def offends(rows: Rows) -> NDArray[np.bool_]:
        wrong: NDArray[np.bool_] = (rows.integers(event.offset) + base) % width != 0
        return wrong

    if not chosen and symbols(view.graph, on.bits):
        return None
    if not chosen:
        found = see(None).offender or see(None, DEEP if len(event.context.loops) > 1 else THOROUGH).offender
        return Verdict(None, found, ()) if found is not None and not by_data else None
    if len(chosen) > _MAX_SYMBOLS:
        return None
    # Quotients of the generic sizes are sizes, too; those of sizes that are moved may be anything.
    usual: Values = {symbol: view.graph.generic(symbol) for symbol in chosen}
    tried = [(values, see(values)) for values in (usual, *residues(view, chosen, width)) if allowed(view, values)]
    tried = [(values, seen) for values, seen in tried if seen.reached]
    bad = [(values, seen.offender) for values, seen in tried if seen.offender is not None]
    if not bad:
        return None
    values, offender = bad[0]
    requirements = _requirements(event, width, base, view, declared)
    if len(bad) == len(tried):
        if by_data:
            return None
        # Generic sizes are multiples, and their quotients needn't be.
        tried += [(met, seen) for met in _meeting(view, requirements, usual) if (seen := see(met)).reached]
        if all(seen.offender is not None for _, seen in tried):
            # What is no polynomial of sizes stays in the coefficients.
            left = [event.offset] if requirements else list(terms_of(view.graph, event.offset).values())
            if _divides_sizes(left, view.graph):
                return None
            return Verdict(None, offender, _example(values, symbols(view.graph, event.offset.bits)))
    outcomes = [(values, seen.offender is None) for values, seen in tried]
    needed = requirements and _weakest(view.graph, requirements, outcomes)
    if not needed or not all(_is_readable(view.graph, r) for r in needed):
        return None
    needed = [requirement for requirement in needed if not _is_in_vectors(requirement, declared, view.graph)]
    if not needed:
        return None
    deciding = [u for u in chosen if any(u.bits & r.value.bits for r in needed)]
    for smaller in _smaller(view, values, deciding):
        found = see(smaller).offender
        if found is not None:
            values, offender = smaller, found
            break
    return Verdict(" && ".join(map(str, needed)), offender, _example(values, deciding))


def _smaller(view: LaunchView, values: Values, deciding: Sequence[Node]) -> Iterator[dict[Node, int | float]]:
    """The same with sizes that are easier to read, if the launch is one for such sizes too."""
    for start in alternatives.WITNESSES:
        moved = {u: start + int(values[u]) % _PERIOD for u in deciding if values[u] > start + _PERIOD}
        smaller: dict[Node, int | float] = {**values, **moved}
        if moved and allowed(view, smaller) and _makes_a_grid(view, smaller):
            yield smaller


def _meeting(
    view: LaunchView, requirements: Sequence[_Requirement], usual: Values
) -> Iterator[dict[Node, int | float]]:
    """Sizes that fulfil all requirements, one of them moved off its usual number: a multiple of all others, about as
    large, or the smallest."""
    sizes = [symbol for symbol in usual if any(symbol.bits & r.value.bits for r in requirements)]
    unit = math.lcm(*(r.divisor for r in requirements))
    for symbol in sizes:
        product = math.prod(int(usual[other]) for other in sizes if other is not symbol) * unit
        for times in dict.fromkeys((round(usual[symbol] / product), 1)) if product > 0 else ():
            values: dict[Node, int | float] = {**usual, symbol: times * product}
            if times and allowed(view, values) and all(_is_met(view.graph, r, values) for r in requirements):
                yield values


def _divides_sizes(numbers: Sequence[Node], graph: Graph) -> bool:
    """Whether a quotient of sizes goes into these, which all those that were tried may have left as it was."""
    uniform = graph.uniform_bits
    quotients = (node for node in below(numbers, uniform) if node.op == "/" and not node.bits & ~uniform)
    return any(node.args[1].bits for node in quotients)


def _makes_a_grid(view: LaunchView, values: Values) -> bool:
    rows = Rows.of_one_block(view.graph, values)
    return all(int(np.asarray(rows.value(axis)).flat[0]) > 0 for axis in view.grid)


def _example(values: Values, deciding: Sequence[Node]) -> tuple[tuple[str, int], ...]:
    return tuple((spelled((u,)), int(values[u])) for u in deciding)


def _looks_at_address(event: AccessEvent, graph: Graph) -> bool:
    """Whether the program asks for an address on the way, in a condition that cannot be evaluated."""
    doubtful = [c for c in event.context.conditions if c.bits & graph.opaque_bits]
    return any(is_address(atom) for c in doubtful for atom in graph.atoms(c.bits, graph.uniform_bits))


def _is_readable(graph: Graph, requirement: _Requirement) -> bool:
    """Whether it consists of names that stand in the source, and of few enough to be understood."""
    names = [spelled((u,)) for u in graph.atoms(requirement.value.bits, graph.uniform_bits)]
    plain = all(_NAME.fullmatch(name) for name in names) and not _CALL.search(requirement.text)
    return plain and len(requirement.text) <= _MAX_TEXT


# --- the condition -----------------------------------------------------------------------------------


def _weakest(
    graph: Graph, requirements: Sequence[_Requirement], outcomes: Sequence[tuple[Values, bool]]
) -> list[_Requirement]:
    """As few of the requirements as are enough for every set of values tried; none where even all are not."""
    met = np.array([[_is_met(graph, r, values) for r in requirements] for values, _ in outcomes])
    aligned = np.array([fine for _, fine in outcomes])
    if (met.all(axis=1) & ~aligned).any() or not met.all(axis=1).any():
        return []
    kept = list(range(len(requirements)))
    for position in range(len(requirements)):
        others = [i for i in kept if i != position]
        if others and not (met[:, others].all(axis=1) & ~aligned).any():
            kept = others
    return [requirements[i] for i in kept]


def _is_met(graph: Graph, requirement: _Requirement, values: Values) -> bool:
    rows = Rows.of_one_block(graph, values)
    number = int(np.asarray(rows.value(requirement.value)).flat[0])
    return number % requirement.divisor == requirement.rest


def _requirements(
    event: AccessEvent, width: int, base: int, view: LaunchView, declared: Declared
) -> list[_Requirement]:
    """What each part of the offset that the arguments decide has to be a multiple of; none if that is not enough."""
    graph = view.graph
    terms = {m: c for m, c in terms_of(graph, event.offset).items() if not any(is_address(a) for a in m)}
    constant = terms.pop((), graph.zero)
    coefficients = _active_values(event, [*terms.values(), constant], view)
    if coefficients is None or not terms:
        return []
    *factors, rest = (c % width for c in coefficients)
    rest = (rest + base) % width
    counts, bounds = declared.counts, _bounds(event, graph)
    for monomial in terms:
        others = bits_of((constant, *(node for other, node in terms.items() if other is not monomial)))
        is_bounded = declared.unit == 1 or bounds or _extents(view, others)
        if is_bounded and _is_distance(monomial, counts):
            return []
    # What a program divides up among others is no distance that somebody has rounded up.
    pitches = [
        coefficient
        for monomial, coefficient in zip(terms, coefficients, strict=False)
        if all(isinstance(factor.payload, Uniform) for factor in monomial)
    ]
    if any(_is_counted_in_bytes(event, coefficient, declared.unit) for coefficient in pitches):
        return []
    return list(_grouped(graph, list(terms), factors, rest, width))


def _bounds(event: AccessEvent, graph: Graph) -> int:
    """The sizes with which the threads or iterations that make an access are compared."""
    return bits_of(c for c in event.context.deciding if c.bits & ~graph.uniform_bits) & graph.uniform_bits


def _extents(view: LaunchView, places: int) -> int:
    """The sizes of the grid along the axes along which places differ by block."""
    axes = zip(view.graph.block, view.grid, strict=True)
    return bits_of(extent for axis, extent in axes if axis.bits & places) & view.graph.uniform_bits


def _is_distance(monomial: Monomial, counts: int) -> bool:
    """Whether a size only says how far apart rows lie, and nothing is counted by it: those of a view whose length is
    another size, by which the access or the grid is bounded, or of a wider type than the array's, in bytes:
    `(float *)((char *)image + y * step)`. Who makes it so begins rows where their elements may begin, as far as one can
    see."""
    return any(not symbol.bits & counts for symbol in monomial)


def _is_in_vectors(requirement: _Requirement, declared: Declared, graph: Graph) -> bool:
    """Whether a size is counted in whole vectors and in nothing else: `n / 4` of them, of which the program would leave
    some elements out if 4 did not divide `n`. So the program is for such sizes."""
    if requirement.rest or declared.counted is None:
        return False
    factors = terms_of(graph, requirement.value)
    return len(factors) == 1 and any(
        _all_divided(symbol, requirement.divisor, declared.counted) for symbol in next(iter(factors))
    )


def _all_divided(symbol: Node, divisor: int, counted: Sequence[Node]) -> bool:
    pending, seen, found = list(counted), set[int](), False
    while pending:
        node = pending.pop()
        if not node.bits & symbol.bits or node.index in seen:
            continue
        seen.add(node.index)
        if node is symbol:
            return False
        if _counts_vectors(node, symbol, divisor):
            found = True
            continue
        pending += node.args
    return found


def _counts_vectors(node: Node, symbol: Node, divisor: int) -> bool:
    """`n / 4`, or `rows * n / 4`."""
    if node.op not in ("/", ">>") or not node.args[1].is_const:
        return False
    by = int(node.args[1].value)
    by = by if node.op == "/" else 1 << by if 0 <= by < _PERIOD else 0
    return by > 0 and by % divisor == 0 and symbol in _factors(node.args[0])


def _factors(node: Node) -> list[Node]:
    """Of a product, or the number itself."""
    node = without_cast(node)
    return [factor for part in node.args for factor in _factors(part)] if node.op == "*" else [node]


def _is_counted_in_bytes(event: AccessEvent, coefficient: NDArray[np.int64], unit: int) -> bool:
    """Whether a size that lanes multiply so counts bytes, of an array of something larger."""
    common = int(np.gcd.reduce(coefficient))
    if unit > 1:
        return common % unit != 0
    return not isinstance(event.element, ir.RecordType) and len(set(coefficient.tolist())) > 1 and common % 2 != 0


def _active_values(event: AccessEvent, nodes: Sequence[Node], view: LaunchView) -> list[NDArray[np.int64]] | None:
    """What the active lanes see of some values, each [lanes]; None where no lane is active."""
    rows = view.quick().rows(event.context.loops)
    conditions = dependence(event.context, event.offset, view.graph).known
    active = mask_of(rows, [c for c in conditions if not c.bits & view.graph.uniform_bits]) & (
        rows.weights[:, None] > 0
    )
    return [rows.integers(node)[active] for node in nodes] if active.any() else None


def _grouped(
    graph: Graph,
    monomials: Sequence[Monomial],
    factors: Sequence[NDArray[np.int64]],
    rest: NDArray[np.int64],
    width: int,
) -> Iterator[_Requirement]:
    """Parts that all lanes see alike have to be right together with the rest; those that lanes multiply by different
    numbers have to be right one by one."""
    common: dict[Monomial, int] = {}
    varying: list[tuple[list[Monomial], NDArray[np.int64]]] = []
    for monomial, factor in zip(monomials, factors, strict=True):
        if (factor == factor[0]).all():
            common[monomial] = int(factor[0])
        else:
            same = next((group for group, other in varying if np.array_equal(other, factor)), None)
            if same is None:
                varying.append(([monomial], factor))
            else:
                same.append(monomial)
    for group, factor in varying:
        divisor = width // math.gcd(width, int(np.gcd.reduce(factor)))
        if divisor > 1:
            yield _requirement(graph, dict.fromkeys(group, 1), divisor, 0)
    if (rest == rest[0]).all():
        yield from _common(graph, common, int(rest[0]), width)


def _common(graph: Graph, parts: Mapping[Monomial, int], rest: int, width: int) -> Iterator[_Requirement]:
    """c1 * K + c2 * H + rest has to be a multiple of the width."""
    shared = math.gcd(width, *parts.values())
    divisor = width // shared
    left = {m: c // shared for m, c in parts.items() if c // shared % divisor}
    if divisor == 1 or not left or rest % shared:
        return
    wanted = -rest // shared % divisor
    if len(left) == 1:
        ((monomial, factor),) = left.items()
        wanted, left = wanted * pow(factor, -1, divisor) % divisor, {monomial: 1}
    yield _requirement(graph, left, divisor, wanted)


def _requirement(graph: Graph, parts: Mapping[Monomial, int], divisor: int, rest: int) -> _Requirement:
    total = graph.zero
    texts = []
    for monomial, factor in parts.items():
        product = graph.const(factor, I8)
        for atom in monomial:
            product = graph.binary("*", product, atom, I8)
        total = graph.binary("+", total, product, I8)
        texts.append(spelled(monomial) if factor == 1 else f"{factor} * {spelled(monomial)}")
    text = texts[0] if len(texts) == 1 else f"({' + '.join(texts)})"
    return _Requirement(text, total, divisor, rest)

"""Generic problem sizes that fit together: quotients of them are sizes again, products fit into their types."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from cudalint.host.choosing.draft import Draft
from cudalint.host.choosing.radii import radii
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.assumptions import is_large
from cudalint.host.values.nodes import GRANULE, Node, Uniform
from cudalint.host.values.operations import OPERATIONS
from cudalint.host.values.size_uses import Window

_FEW = 8
_LARGEST = 1 << 28
"""Sizes beyond would overflow soon where they are multiplied."""
_LARGEST_GRANULE = 1 << 12
"""What is divided by more is no size of tiles: the bytes of a megabyte."""
_BITS, _FEW_BITS = 16, 4
"""Of what is shifted by a number that nothing gives: `1 << bits` is a size then, and `size >> level` still is one."""
_ROUNDS = 4
"""Making sizes smaller undoes what was made of their quotients, and the other way round: tried so often."""


def choose_sizes(draft: Draft, conditions: Iterable[Node] = (), blocks: Set[Node] = frozenset()) -> None:
    """Chooses numbers for sizes with which a program computes what it is meant to. What the `conditions` of launches
    say sizes to be multiples of, they stay multiples of, and what holds of them goes on to hold. `blocks` are the sizes
    of which each is as many blocks by itself."""
    conditions = tuple(conditions)
    multiples, held = _multiples(conditions), _held(draft, dict.fromkeys(conditions))
    draft.graph.uses.sort_quotients(draft.graph.nodes())
    for symbol, is_right in draft.graph.uses.exponents.items():
        _use(draft, symbol, _FEW_BITS if is_right else _BITS)
    for _ in range(_ROUNDS):
        _fit_quotients(draft, blocks)
        if not _shrink(draft, multiples):
            break
    for condition, values in held.items():
        if not draft.holds(condition):
            for size, value in values.items():
                _use(draft, size, value)


def _held(draft: Draft, conditions: Iterable[Node]) -> dict[Node, dict[Node, int | float]]:
    """The conditions that hold for generic values, with these."""
    found: dict[Node, dict[Node, int | float]] = {}
    for condition in conditions:
        if not condition.is_const and not is_large(condition) and draft.holds(condition):
            symbols = draft.graph.atoms(condition.bits, draft.graph.uniform_bits)
            found[condition] = {symbol: draft.choice(symbol).value for symbol in symbols}
    return found


def _multiples(conditions: Iterable[Node]) -> dict[Node, int]:
    """`length % 128 == 0`: the sizes that are some number of times another number."""
    found: dict[Node, int] = {}
    for condition in conditions:
        if condition.op != "==":
            continue
        rest, number = condition.args if condition.args[1].is_const else condition.args[::-1]
        if rest.op != "%" or not number.is_const or number.value or not rest.args[1].is_const:
            continue
        size, modulus = rest.args[0], int(rest.args[1].value)
        if isinstance(size.payload, Uniform) and 0 < modulus < _LARGEST:
            found[size] = math.lcm(found.get(size, 1), modulus)
    return found


def _use(draft: Draft, size: Node, value: int | float) -> None:
    draft.choose(size, value, "use")


def _fit_quotients(draft: Draft, blocks: Set[Node]) -> None:
    """Gives sizes that are divided by others (`channels / heads`) generic values that they divide: the quotient is a
    size as well, large and a multiple of 32. Where it is a scale (`float(width) / new_width`), the sizes are equal."""
    for dividend, numbers in draft.graph.uses.shares.items():
        _fit_whole(draft, dividend, numbers)
    for dividend, divisors in draft.graph.uses.quotients.values():
        if dividend.is_const:
            _fit_share(draft, int(dividend.value), divisors[0])
        elif not _is_shared(draft, dividend, divisors):
            for divisor in divisors:
                if divisor not in blocks:
                    _use(draft, divisor, draft.granule(divisor))
            least = GRANULE * math.prod(map(draft.of, divisors))
            is_shared = _is_shared(draft, dividend, divisors)
            if not is_shared and least < _LARGEST and not blocks.isdisjoint(divisors):
                # One that is a grid stays as large as it is, and what it divides is a multiple of it and nothing else.
                _use(draft, dividend, least)
    for size, number in radii(draft.graph, draft.graph.uses.loops):
        _use(draft, size, _FEW * number)
    for stride, windows in draft.graph.uses.windows.items():
        _fit_windows(draft, stride, windows)
    for dividend, divisor in draft.graph.uses.ratios.values():
        if isinstance(dividend.payload, Uniform) and isinstance(divisor.payload, Uniform):
            _use(draft, dividend, draft.of(divisor))


def _fit_windows(draft: Draft, stride: Node, windows: Collection[Window]) -> None:
    """Makes windows small that are moved over images, and their margins: what is added to the width as well as to the
    height is one. They are moved by less than their size."""
    _use(draft, stride, 1)
    margins = frozenset.intersection(*(window.wholes for window in windows))
    if any(window.wholes == margins for window in windows):
        margins = frozenset()
    for part in margins.union(*(window.parts for window in windows)) - {stride}:
        _use(draft, part, _FEW)


def _is_shared(draft: Draft, whole: Node, parts: Sequence[Node]) -> bool:
    """Whether a size is as many times 32 as the product of others, or can be made so."""
    value, product = draft.of(whole), math.prod(map(draft.of, parts))
    if value <= 0 or product <= 0 or value % (GRANULE * product) == 0 or _remainder(draft, whole):
        return True
    multiple = math.lcm(value, GRANULE * product)
    if multiple >= _LARGEST:
        return False
    _use(draft, whole, multiple)
    return True


def _fit_whole(draft: Draft, whole: Node, divisors: Collection[int]) -> None:
    """`length / 1024`: what is divided is as many times 32 as what it is divided by."""
    number = math.lcm(*divisors)
    granule = GRANULE * number
    if math.lcm(granule, draft.granule(whole)) <= GRANULE * _LARGEST_GRANULE:
        draft.mark_granule(whole, number)
    value = -(-draft.of(whole) // granule) * granule
    if draft.of(whole) > 0 and value < _LARGEST and not _remainder(draft, whole):
        _use(draft, whole, value)


def _fit_share(draft: Draft, whole: int, parts: Node) -> None:
    """`4096 / parts`: a known size is divided up into a few parts."""
    if draft.of(parts) > _FEW and whole // draft.of(parts) < GRANULE <= whole // _FEW:
        _use(draft, parts, _FEW)


def _shrink(draft: Draft, multiples: Mapping[Node, int]) -> bool:
    """Halves the largest sizes of 32-bit products that would overflow (`batch * heads * length * width`): a program is
    written for sizes of which the products fit. Whether there were any."""
    shrunk = False
    divisors: dict[Node, list[tuple[Node, ...]]] = {}
    for dividend, parts in draft.graph.uses.quotients.values():
        if isinstance(dividend.payload, Uniform):
            divisors.setdefault(dividend, []).append(parts)
    for product in draft.graph.uses.products:
        factors = [a for a in draft.graph.atoms(product.bits, draft.graph.uniform_bits) if not a.kind.is_float]
        while _overflows(draft, product) and any(
            _halve(draft, factor, divisors, multiples) for factor in sorted(factors, key=draft.of)[::-1]
        ):
            shrunk = True
    return shrunk


def _halve(
    draft: Draft, size: Node, divisors: Mapping[Node, Sequence[tuple[Node, ...]]], multiples: Mapping[Node, int]
) -> bool:
    """Makes a size about half as large, and what it is divided by with it, so that it stays a multiple; whether there
    was anything to take away."""
    own = divisors.get(size, ())
    for divisor in dict.fromkeys(divisor for parts in own for divisor in parts):
        _halve(draft, divisor, {}, multiples)
    products = (math.prod(map(draft.of, parts)) for parts in own)
    granule = math.lcm(draft.granule(size), multiples.get(size, 1), *(GRANULE * product for product in products))
    smaller = max(granule, draft.of(size) // 2 // granule * granule) + _remainder(draft, size)
    if not draft.is_open(size, "use") or not 0 < smaller < draft.of(size):
        return False
    _use(draft, size, smaller)
    return True


def _remainder(draft: Draft, size: Node) -> int:
    """What a size is more than a multiple: a launch is for such sizes alone, with `n % 4 != 0` around it, say."""
    return draft.of(size) % GRANULE


def _overflows(draft: Draft, product: Node) -> bool:
    """Whether a value is beyond what its type and the signed type of its width have in common: products of unsigned
    sizes are counted in an `int` sooner or later (`int total = batch * heads * length`)."""
    value = _exact(draft, product, {})
    return value is not None and value > (1 << 8 * product.kind.bytes - 1) - 1


def _exact(draft: Draft, node: Node, known: dict[int, int | None]) -> int | None:
    """What a value would be in a type without bounds; None for what is not computed by sums, products,
    quotients and choices."""
    if node.index not in known:
        known[node.index] = _computed(draft, node, known)
    return known[node.index]


def _computed(draft: Draft, node: Node, known: dict[int, int | None]) -> int | None:
    if node.kind.is_float:
        return None
    if node.is_const:
        return int(node.value)
    if node.op == "uniform":
        return draft.of(node)
    if node.op not in _EXACT and node.op not in ("select", "cast"):
        return None
    parts = [_exact(draft, argument, known) for argument in node.args]
    numbers = [part for part in parts if part is not None]
    if len(numbers) < len(parts) or (node.op in ("/", "%") and 0 in numbers[1:]):
        return None
    if node.op not in _EXACT:
        return numbers[0] if node.op == "cast" else numbers[1 if numbers[0] else 2]
    a, b = numbers
    if node.op in ("/", "%"):
        # Of lengths that are below 0 while sizes are looked for: a shorter one is not to have as many blocks.
        return a // b if node.op == "/" else a % b
    return int(OPERATIONS[node.op].number(a, b, I8))


_EXACT = frozenset({"+", "-", "*", "/", "%", "==", "!=", "<", "<=", "min", "max"})

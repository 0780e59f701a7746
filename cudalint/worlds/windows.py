"""Windows that are moved over images, and places among as many as one size says that become places among as many as
another one says: what the text of a kernel says of how large sizes are beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.worlds.origins import Origins
from cudalint.worlds.records import Parameter


class Window(Struct, frozen=True):
    """How often one fits into an image: `(width + 2 * pad - size) / stride + 1`."""

    step: Parameter
    """By how much it is moved."""
    parts: frozenset[Parameter]
    """What is taken away, and margins of which a number of times is added."""
    wholes: frozenset[Parameter]
    """The image's size, and perhaps margins."""


def windows_in(nodes: Iterable[Any], origins: Origins) -> dict[Parameter, frozenset[Parameter]]:
    """By the steps of windows, their sizes and margins: what is added to one extent of an image as well as to another
    one is a margin."""
    by_step: dict[Parameter, list[Window]] = {}
    for node in dict.fromkeys(nodes):
        found = _window(node, origins)
        if found is not None:
            by_step.setdefault(found.step, []).append(found)
    sizes: dict[Parameter, frozenset[Parameter]] = {}
    for step, own in by_step.items():
        margins = frozenset.intersection(*(window.wholes for window in own))
        if any(window.wholes == margins for window in own):
            margins = frozenset()
        sizes[step] = margins.union(*(window.parts for window in own)) - {step}
    return sizes


def _window(node: Any, origins: Origins) -> Window | None:
    """Of one more than a quotient. `(end - begin - 1) / chunk + 1` is one that is rounded up."""
    if not isinstance(node, ir.Binary) or node.op != "+" or origins.of(node.right).constant != 1:
        return None
    quotient = without_casts(node.left)
    if not isinstance(quotient, ir.Binary) or quotient.op != "/" or not _is_whole(quotient.type):
        return None
    step = origins.of(quotient.right).plain
    parts: set[Parameter] = set()
    wholes: set[Parameter] = set()
    is_taken_from = is_plain = is_one_less = False
    for term, is_taken in _terms(quotient.left):
        origin = origins.of(term)
        if origin.varies:
            return None
        is_one_less |= origin.constant == (1 if is_taken else -1)
        if is_taken or origin.plain is None:
            parts |= origin.sources
            is_taken_from |= is_taken and bool(origin.sources)
            is_plain |= is_taken and origin.plain is not None
        else:
            wholes.add(origin.plain)
    if step is None or step in wholes or not is_taken_from or not wholes or (is_plain and is_one_less):
        return None
    return Window(step, frozenset(parts), frozenset(wholes))


def _is_whole(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint")


def _terms(expression: ir.Expr, is_taken: bool = False) -> Iterator[tuple[ir.Expr, bool]]:
    """What is added up, and whether it is taken away."""
    bare = without_casts(expression)
    if isinstance(bare, ir.Binary) and bare.op in ("+", "-"):
        yield from _terms(bare.left, is_taken)
        yield from _terms(bare.right, is_taken ^ (bare.op == "-"))
    else:
        yield bare, is_taken


def scales_in(nodes: Iterable[Any], origins: Origins) -> Iterator[tuple[Parameter, Parameter]]:
    """The sizes by which places of threads are multiplied, and those by which they are divided: `x / width * wide`, or
    `x * wide / width`."""
    for node in nodes:
        if not isinstance(node, ir.Binary) or node.op not in ("*", "/"):
            continue
        for first, second in ((node.left, node.right), (node.right, node.left))[: 2 if node.op == "*" else 1]:
            inner = without_casts(first)
            if isinstance(inner, ir.Binary) and inner.op == ("/" if node.op == "*" else "*"):
                yield from _scaled(node.op, inner, second, origins)


def _scaled(op: str, inner: ir.Binary, outer: ir.Expr, origins: Origins) -> Iterator[tuple[Parameter, Parameter]]:
    """How a place is scaled: as a quotient that is multiplied, or a product that is divided."""
    ways = [(inner.left, outer, inner.right)]
    if op == "/":
        ways = [(inner.left, inner.right, outer), (inner.right, inner.left, outer)]
    for place, by, of in ways:
        one, other = (origins.of(without_casts(each)).plain for each in (by, of))
        varies = origins.of(without_casts(place)).varies
        if one is not None and other is not None and one != other and varies & {"thread", "block"}:
            yield one, other

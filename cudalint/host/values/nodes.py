"""Nodes, the values of an expression graph: what each is, and walks over what it is computed from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct, field

from cudalint.host.values.arithmetic import Kind, Number
from cudalint.reasons import ReasonKind

OPAQUE_BIT = 1
"""All opaque values share one."""
GRANULE = 32
"""Generic sizes are multiples of it, unless the launch is for others."""
_MOST_STEPS = 1 << 20
"""Up to which the nodes of a value are counted."""
Stride = Literal["any", "outer", "inner"]
"""Of the innermost dimension, of another one, or of one of which that is not known."""


Basis = Literal["given", "launch", "program", "check", "use", "name", "default"]
"""Why a number stands for a symbol, the strongest reason first (`cudalint.host.choosing.draft`): a user gives it; a
launch needs it for its block; the program has it unless an option says otherwise; host code checks it; it is used as a
stride, a radius or a part of another size; it is called what is few of something; or it is large and a multiple of 32,
and stands for any."""


UNREAD_EXTENT = "launch"
"""The name of what stands for an extent, or for bytes, of a launch that the host code gives and that could not be read.
"""


class Choice(Struct, frozen=True):
    """A number that stands for a uniform symbol."""

    value: Number
    basis: Basis = "default"
    place: str = ""
    """Where it is said, if not by the program itself: `Makefile:12`."""
    granule: int = 1
    """What the program divides it by as if nothing were left: it stays a multiple of that when it is made smaller."""

    @property
    def is_default(self) -> bool:
        """Whether it is the one that the program itself has for it, unless an option says otherwise."""
        return self.basis == "program"

    @property
    def is_known(self) -> bool:
        """Whether the program itself has it, or a user gives it."""
        return self.basis in ("given", "program")


class Uniform(Struct, frozen=True):
    """A uniform symbol: a number that nothing determines."""

    name: str
    first: Choice
    """What stands for it unless something else is chosen (`Graph.choice`)."""
    is_computed: bool = False
    """A loop that was not followed makes it, so that it need not be any number: a power of two, perhaps."""
    stride: Stride | None = None
    """It is the distance between a tensor's elements along one of its dimensions."""


class Valuation(Struct, frozen=True, eq=False):
    """What stands for each uniform symbol: what was chosen for it, or else what it was made with."""

    chosen: Mapping[Node, Choice] = field(default_factory=dict)

    def of(self, symbol: Node) -> Choice:
        choice = self.chosen.get(symbol)
        if choice is None:
            assert isinstance(symbol.payload, Uniform)
            return symbol.payload.first
        return choice

    def having(self, chosen: Mapping[Node, Choice]) -> Valuation:
        """The same with other choices for some symbols."""
        return Valuation({**self.chosen, **chosen}) if chosen else self


class Reason(Struct, frozen=True):
    """Why a value is unknown."""

    text: str
    origin: object = None
    """What distinguishes this value from others with the same text: the place that it comes from."""
    kind: ReasonKind = "other"


UNINITIALISED = Reason("it is not initialised")


class Node:
    """One value of the graph; equal nodes are the same object."""

    __slots__ = ("args", "bits", "index", "is_const", "kind", "op", "payload", "size")

    def __init__(self, op: str, args: tuple[Node, ...], payload: object, kind: Kind, bits: int, index: int) -> None:
        self.op = op
        self.args = args
        self.payload = payload
        self.kind = kind
        self.bits = bits
        self.index = index
        self.is_const = op == "const"
        size = 1
        for argument in args:
            size += argument.size
        self.size: int = min(size, _MOST_STEPS) if op != "opaque" else 1
        """How many nodes it would take to write it out, up to a limit."""

    @property
    def value(self) -> Number:
        """The number of a constant node."""
        assert self.op == "const"
        return self.payload  # type: ignore[return-value]

    @property
    def whole(self) -> int | None:
        """The number of a constant node as an integer; None for any other node, and where no integer is near it."""
        return int(self.value) if self.is_const and math.isfinite(self.value) else None

    def __repr__(self) -> str:
        return render(self)


def bits_of(nodes: Iterable[Node]) -> int:
    """The leaves that some values depend on, as a bit set."""
    bits = 0
    for node in nodes:
        bits |= node.bits
    return bits


def own_bit(leaf: Node) -> int:
    """The bit by which a leaf is found in the nodes that depend on it; 0 for a node that is no leaf."""
    own = leaf.bits & ~OPAQUE_BIT
    for argument in leaf.args:
        own &= ~argument.bits
    return own or (OPAQUE_BIT if leaf.op == "opaque" else 0)


def without_cast(node: Node) -> Node:
    """What a conversion converts, or the node itself."""
    return node.args[0] if node.op == "cast" else node


def without_not(node: Node) -> Node:
    """What a negation negates, or the condition itself."""
    return node.args[0] if node.op == "!" else node


def below(nodes: Iterable[Node], bits: int) -> Iterator[Node]:
    """All nodes that these are computed from, themselves included, as far as they depend on `bits`."""
    seen: set[int] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node.bits & bits and node.index not in seen:
            seen.add(node.index)
            yield node
            pending.extend(node.args)


def render(node: Node, depth: int = 0, most: int = 6) -> str:
    """A short C-like text of a node, for messages; what lies deeper than `most` is left out."""
    if node.op == "const":
        return str(node.payload)
    if isinstance(node.payload, Uniform):
        return node.payload.name.removeprefix("?")
    if node.op == "cast" and not node.kind.is_float:
        return render(node.args[0], depth, most)
    if node.op == "loop":
        return "k"
    if node.op == "placeholder":
        return "?"
    if depth > most:
        return "..."
    parts = [render(a, depth + 1, most) for a in node.args]
    if node.op == "opaque":
        return f"opaque({', '.join(parts)})"
    if len(parts) == 2 and not node.op.isidentifier():
        return f"({parts[0]} {node.op} {parts[1]})"
    name = node.payload if node.op == "function" else node.op
    return f"{name}({', '.join(parts)})"

"""What host code hands to the launches of one kernel, as a key: equal for texts whose host code differs only in what
the kernel has nothing to do with.

Objects are numbered in the order in which one comes to them, and lines of host code too: which number a
line has says nothing about a kernel, and what is kept of it is reported with the new ones.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from cudalint.host.executor.launching import HostLaunch
from cudalint.host.values.evaluation import holds
from cudalint.host.values.nodes import Choice, Node, Uniform, bits_of
from cudalint.ir import nodes as ir
from cudalint.regexes import regex
from cudalint.run.file_analysis import FileAnalysis

_IR: Final = ir.__name__
_TYPES: Final = (ir.PointerType, ir.ArrayType, ir.Field, ir.RecordType, ir.OpaqueType, ir.Scalar)
_LINE_IN_TEXT: Final = regex(r"\b(lines? )(\d+)")
_QUOTIENTS: Final = ("/", "%")
_PLAIN: Final = (str, bytes, int, float, bool, type(None))


class NoKey(Exception):
    """Something is passed that no key is made of."""


class Launched(Struct, frozen=True):
    """What one kernel is given by host code."""

    key: str
    lines: tuple[int, ...]
    """The lines of host code in it, in the order in which the key has them."""
    symbols: tuple[Node, ...]
    """The uniform symbols in it, in the same order."""


def launched(
    analysis: FileAnalysis, ref: ir.FunctionRef, path: str, position: Callable[[int], object | None]
) -> Launched:
    """`position` tells where a line of the file is among those that count for all kernels, or in the kernel's own body;
    None for one of host code. Raises `NoKey`."""
    reader = Reader(analysis, path, position)
    going_on = {(span.path, span.line) for span in analysis.unfollowed}
    launches = [launch for launch in analysis.launches if launch.kernel.name == ref.name]
    for launch in launches:
        reader.read(replace(launch, guards=()))
        reader.read((launch.span.path, launch.span.line) in going_on)
    reader.read_guards(launches)
    amounts = analysis.opt_ins.amounts
    for kernel in (ref, *(analysis.unit.instantiations(ref.key) if ref.templated else ())):
        reader.read(tuple(amounts[kernel.key]) if kernel.key in amounts else None)
    reader.read(analysis.opt_ins.is_named_in(path))
    reader.read_uses()
    return reader.found()


class Reader:
    """Writes down values, the parts of each where it is met first."""

    def __init__(self, analysis: FileAnalysis, path: str, position: Callable[[int], object | None]) -> None:
        self._graph, self._shared = analysis.graph, analysis.shared
        self._valuation = analysis.shared.valuation.having(analysis.graph.chosen_for_all(analysis.shared))
        self._path, self._position = path, position
        self._lines_in_text = LinesInText(path, self._line)
        self._parts: list[object] = []
        self._met: dict[int, int] = {}
        self._kept: list[object] = []
        """So that nothing else gets their addresses."""
        self._nodes: list[Node] = []
        self._lines: dict[int, int] = {}
        self._functions: dict[int, int] = {}

    def found(self) -> Launched:
        symbols = tuple([node for node in self._nodes if isinstance(node.payload, Uniform)])
        # Several are reported in this order.
        order = sorted(range(len(symbols)), key=lambda at: symbols[at].index)
        choices = [self._valuation.of(symbol) for symbol in symbols]
        self._add("order", order)
        for choice in choices:
            self.read(choice)
        return Launched(repr(self._parts), tuple(self._lines), symbols)

    def read_uses(self) -> None:
        """What host code makes of the symbols that were met: what a size is used as has a say in which number stands
        for it."""
        bits = self._own_bits()
        for node in list(self._shared.nodes.values()):
            is_choosing = node in self._shared.choosing
            if node.bits & bits and (is_choosing or _says_what_for(node)):
                self.read(node)
                self._add(is_choosing)

    def read_guards(self, launches: Sequence[HostLaunch]) -> None:
        """The conditions of some launches whose other parts were read. Those that are about nothing that the kernel is
        given count for whether they hold."""
        open_ = [guard for launch in launches for guard in launch.guards]
        uniform = self._shared.uniform_bits
        bits, before = self._own_bits(), -1
        while bits != before:
            before = bits
            for guard in open_:
                if guard.bits & bits:
                    bits |= guard.bits & uniform
        for launch in launches:
            others: list[Node] = []
            for guard in launch.guards:
                if guard.bits & ~uniform or guard.bits & bits or not guard.bits:
                    self.read(guard)
                else:
                    others.append(guard)
            graph = self._graph
            self._add(
                "others", bool(launch.guards), all(holds(graph, guard, {}) for guard in others),
                any(map(graph.rests_on_defaults, others)),
            )  # fmt: skip

    def _own_bits(self) -> int:
        symbols = [node for node in self._nodes if isinstance(node.payload, Uniform)]
        return bits_of(symbols) & self._shared.uniform_bits

    def read(self, value: object) -> None:
        if isinstance(value, str):
            self._add(self._lines_in_text.renamed(value))
        elif isinstance(value, _PLAIN):
            self._add(type(value).__name__, value)
        elif isinstance(value, ir.Span):
            self._span(value)
        elif isinstance(value, tuple | list):
            self._add("(", len(value))
            for part in value:
                self.read(part)
        elif isinstance(value, Mapping):
            self._add("{", len(value))
            for name, part in value.items():
                self.read(name)
                self.read(part)
        elif not self._is_known(value):
            self._open(value)

    def _add(self, *parts: object) -> None:
        self._parts += parts

    def _is_known(self, value: object) -> bool:
        number = self._met.setdefault(id(value), len(self._met))
        is_new = number == len(self._kept)
        if is_new:
            self._kept.append(value)
        self._add("new" if is_new else number)
        return not is_new

    def _open(self, value: object) -> None:
        if isinstance(value, Node):
            self._node(value)
        elif isinstance(value, ir.FunctionRef):
            if value.kind != "kernel" and value.span.path == self._path and self._position(value.span.line) is None:
                raise NoKey  # Its code is what the key leaves out.
            self._add("function", value.name, value.usr, value.kind, value.templated)
        elif isinstance(value, ir.Symbol):
            self._add("symbol", value.name, value.storage, value.align, value.is_const, value.is_restrict)
            self._add(value.stands_in)
            self.read(value.type)
            self.read(value.span)
        elif isinstance(value, np.ndarray) or not isinstance(value, Struct):
            raise NoKey
        elif type(value).__module__ == _IR and not isinstance(value, _TYPES):
            self._add(type(value).__name__)
            self.read(getattr(value, "span", None))
        else:
            self._struct(value)

    def _struct(self, value: Struct) -> None:
        self._add(type(value).__name__)
        for name in value.__struct_fields__:
            part = getattr(value, name)
            if name == "function" and isinstance(part, int):
                # Counted through the file: it only tells one from another.
                self._add(self._functions.setdefault(part, len(self._functions)))
            elif not name.startswith("_"):
                self.read(part)

    def _node(self, node: Node) -> None:
        self._nodes.append(node)
        self._add("node", node.op, node.kind)
        if node.op == "opaque":
            # The numbers that are made up for it go by this one.
            self._add(node.index - self._shared.count)
        self.read(node.payload)
        self.read(node.args)

    def _span(self, span: ir.Span) -> None:
        if span.path != self._path:
            self._add("span", *span)
        else:
            self._add("span", self._line(span.line), span.column, self._line(span.end_line), span.end_column)

    def _line(self, line: int) -> object:
        position = self._position(line)
        return self._lines.setdefault(line, len(self._lines)) if position is None else position


def _says_what_for(node: Node) -> bool:
    """Whether a value says what sizes are used as: they go into it themselves, or it is a quotient, or computed of one
    (`cudalint.host.choosing.sizes`, `options`)."""
    return node.op in _QUOTIENTS or any(part.op == "uniform" or part.op in _QUOTIENTS for part in node.args)


class LinesInText:
    """Lines of one file that are named in texts, by other names."""

    def __init__(self, path: str, other: Callable[[int], object]) -> None:
        self._named = re.compile(rf"({re.escape(os.path.basename(path))}:)(\d+)")
        self._other = other

    def renamed(self, text: str) -> str:
        """A text may say lines of any file; those without a name are of this one if all places are."""
        if ":" in text:
            text = self._named.sub(self._replaced, text)
        if "line" in text:
            text = _LINE_IN_TEXT.sub(self._replaced, text)
        return text

    def _replaced(self, match: re.Match[str]) -> str:
        return f"{match[1]}{self._other(int(match[2]))}"


def by_position(choices: Mapping[Node, Choice], found: Launched) -> dict[int, Choice] | None:
    """Choices for symbols by their positions in what a kernel is given; None where there is one for another symbol."""
    positions = {symbol: position for position, symbol in enumerate(found.symbols)}
    if not choices.keys() <= positions.keys():
        return None
    return {positions[symbol]: choice for symbol, choice in choices.items()}

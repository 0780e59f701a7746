"""Code that conditions about the architecture leave out: kernels of which nothing is there for the target's.

Such a kernel is for a newer GPU, and there is nothing to say of it until it is parsed for that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from cudalint.execute.ptx_text import instructions
from cudalint.facts.needs import Capability, Need, Support
from cudalint.frontend.source_text import source_text
from cudalint.hardware.targets import Target, find_target, target_names
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.units import Unit
from cudalint.ir.walk import children, nodes_in
from cudalint.options.analysis import AnalysisOptions
from cudalint.regexes import regex
from cudalint.source.lines import Lines

_MOST_FUNCTIONS = 2_000
"""Functions that are looked through in one file."""
_DIRECTIVE: Final = regex(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b[ \t]*(.*\b\w*(?:ARCH|SM_?\d)\w*.*)$")
_NUMBERS: Final = regex(r"(?<![A-Za-z0-9])(\d{3,4})\b|SM_?(\d{2,3})A?(?![0-9])")
"""`__CUDA_ARCH__ >= 900`, `__CUDA_ARCH_FEAT_SM90_ALL`."""
_KERNEL: Final = regex(
    r"\b__global__\b(?:\s+(?:void|static|inline|__forceinline__|__\w+__\s*(?:\((?:[^()]|\([^()]*\))*\))?))*\s+(\w+)\s*\("
)
"""The name of a kernel that is declared."""
_FAILING: Final = frozenset({"__trap", "__brkpt", "__assert_fail", "assert"})
_SAYING: Final = frozenset({"printf", *_FAILING})
_TOUCHED: Final = frozenset({ir.Index, ir.Lambda, ir.Construct, ir.UnknownExpr, st.UnknownStmt})
_TRAPS: Final = frozenset({"trap", "brkpt", "exit"})
_LONGEST_TEXT: Final = 72
"""Of a condition that is shown."""

Ranges = tuple[tuple[int, int], ...]
"""First and last line of each piece that conditions leave out, with the directives around it."""


class LeftOut(Struct, frozen=True):
    """What one parse of a file leaves out."""

    pieces: Mapping[str, Sequence[tuple[int, int, str]]] = field(default_factory=dict)
    """By the path of the file, or of a header of the user's, where conditions are about the architecture: first and
    last line, and the condition."""
    lacking: frozenset[str] = frozenset()
    """The functions of which nothing is there, or nothing but what says that it does not work, by file and line; and
    the names of kernels that are left out altogether."""
    asked: frozenset[int] = frozenset()
    """The architectures that conditions in or around these name: 90 for 900."""
    kernels: frozenset[str] = frozenset()
    """The names of those that are, or may call, such a function."""

    @classmethod
    def of(cls, unit: Unit, ranges: Mapping[str, Ranges], options: AnalysisOptions) -> LeftOut:
        lines = {path: Lines(source_text(path, options)) for path in ranges}
        lines = {path: found for path, found in lines.items() if any(map(_DIRECTIVE.match, found))}
        pieces = {path: list(_with_conditions(ranges[path], found)) for path, found in lines.items()}
        asked: dict[str, set[int]] = {}
        kernels: dict[str, None] = {}
        others: dict[str, set[int]] = {}
        for path, found in lines.items():
            for begin, end, _ in pieces[path]:
                numbers = set(_asked_in(found.line(begin)))
                names = _KERNEL.findall(found.between(begin + 1, end).replace("\n", " ")) if numbers else ()
                others |= {name: others.get(name, set()) | numbers for name in names}

        def is_lacking(function: ir.Function) -> bool:
            path, first, last = function.span.path, function.span.line, function.span.end_line
            if any(first <= begin and end <= last for begin, end, _ in pieces.get(path, ())):
                numbers = set(_asked_in(lines[path].between(first, last)))
            else:
                # What stands in for a kernel of the name.
                numbers = others.get(function.name, set()) if function.kind == "kernel" else set()
            if not numbers or not _does_nothing(function):
                return False
            asked[f"{path}:{first}"] = numbers
            return True

        if any(next(_asked_in(line), None) is not None for found in lines.values() for line in found):
            calls = _Calls(is_lacking)
            kernels = {ref.name: None for ref in unit.kernels if calls.lead_to(ref)}
            present = {ref.name for ref in unit.kernels}
            asked |= {name: numbers for name, numbers in others.items() if name not in present}
        return cls(pieces, frozenset(asked), frozenset().union(*asked.values()), frozenset(kernels))

    def targets(self, configured: Target) -> list[Target]:
        """The GPUs beyond the configured one that the conditions may mean, the smallest first."""
        known = {find_target(name) for name in target_names() if name.startswith("sm_")}
        newer = sorted(
            (target for target in known if target.compute_capability > configured.compute_capability),
            key=lambda target: target.compute_capability,
        )
        wanted = set[Target]()
        for number in self.asked:
            # `> 890` begins with the next one.
            wanted.update([target for target in newer if target.compute_capability >= divmod(number, 10)][:2])
        return [target for target in newer if target in wanted]

    def beside(self, other: LeftOut, least: Capability) -> ConditionalCode:
        """What this parse, for a GPU from `least` on, has in it or leaves out otherwise than another one."""
        pieces = {
            path: sorted(set(self.pieces.get(path, ())) ^ set(other.pieces.get(path, ())))
            for path in self.pieces.keys() | other.pieces.keys()
        }
        return ConditionalCode(Support(least), pieces)


class ConditionalCode(Struct, frozen=True):
    """The pieces of a file that are there for one GPU and not for another one, or the other way round."""

    support: Support = Support((0, 0))
    pieces: Mapping[str, Sequence[tuple[int, int, str]]] = field(default_factory=dict)
    """By path: first and last line, and the condition."""

    def need_of(self, function: ir.Function) -> Need | None:
        """The GPU that a function was parsed for, if it would be another one without that."""
        path, begin, end = function.span.path, function.span.line, function.span.end_line
        for first, last, condition in self.pieces.get(path, ()):
            if (begin <= first <= end or first <= begin <= last) and len(condition) <= _LONGEST_TEXT:
                return Need(condition, self.support, path, first)
        return None


def _with_conditions(ranges: Ranges, lines: Lines[str]) -> Iterator[tuple[int, int, str]]:
    for first, last in ranges:
        match = _DIRECTIVE.match(lines.line(first))
        yield first, last, match[1].strip() if match else "#else"


def _asked_in(text: str) -> Iterator[int]:
    for match in filter(None, map(_DIRECTIVE.match, text.split("\n"))):
        for capability, name in _NUMBERS.findall(match[1]):
            yield int(capability) // 10 if capability else int(name)


class _Calls(Struct):
    """Which functions the user's functions call, each looked through once."""

    is_lacking: Callable[[ir.Function], bool]
    known: dict[str, tuple[bool, tuple[ir.FunctionRef, ...]]] = field(default_factory=dict)
    """By key: whether nothing of a function is there, and what it calls."""

    def lead_to(self, kernel: ir.FunctionRef) -> bool:
        """Whether a kernel is, or may call, one of which nothing is there."""
        pending, seen, found = [kernel], {kernel.key}, False
        while pending:
            ref = pending.pop()
            if ref.key not in self.known and len(self.known) < _MOST_FUNCTIONS:
                function = ref.load()
                called = () if function is None else tuple(_called(function))
                self.known[ref.key] = function is not None and self.is_lacking(function), called
            is_lacking, called = self.known.get(ref.key, (False, ()))
            found = found or is_lacking
            for other in called:
                if other.is_user and other.key not in seen:
                    seen.add(other.key)
                    pending.append(other)
        return found


def _called(function: ir.Function) -> Iterator[ir.FunctionRef]:
    for node in nodes_in(function):
        if type(node) is ir.Call and node.function is not None and node.function.kind == "device":
            yield node.function


def _does_nothing(function: ir.Function) -> bool:
    """Whether a kernel touches no memory and calls nothing that might; or whether another function says that it does
    not work, and does nothing else. Without a word, that may be what is meant (`griddepcontrol` for those that have
    it)."""
    fails = function.kind == "kernel"
    pending: list[Any] = [function.body]
    while pending:
        node = pending.pop()
        if type(node) is ir.Call:
            if node.name not in _SAYING:
                return False
            fails = fails or node.name in _FAILING
            continue
        if type(node) in _TOUCHED or (type(node) is ir.Unary and node.op == "*"):
            return False
        if type(node) is st.Asm:
            names = {instruction.name for instruction in instructions(node.text)}
            if not names <= _TRAPS:
                return False
            fails = fails or bool(names)
        pending += children(node)
    return fails

"""Launches that only the text has: clang leaves out a function of which it doesn't know a parameter's type, and with it
the launches that it makes. Their blocks and grids are mostly numbers and names all the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.hardware.requests import WARP_LANES
from cudalint.heuristics import heuristic
from cudalint.host.executor.function_names import is_of_warps, rounds_up
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.launching import HostLaunch, whole_number
from cudalint.host.values.arithmetic import I4, I8, U4, U8, Kind, kind_of
from cudalint.host.values.assumptions import UnknownName, evaluate_expression
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import UNREAD_EXTENT, Node
from cudalint.ir import nodes as ir
from cudalint.ir.units import SourceText, Unit
from cudalint.numerals import whole
from cudalint.options.expressions import (
    BinaryOp,
    CallOp,
    ElementRef,
    Expression,
    ExpressionError,
    MemberRef,
    NameRef,
    Number,
    parse_expression,
    parts_of,
)
from cudalint.regexes import regex
from cudalint.source.brackets import parts_of_list
from cudalint.source.comments import COMMENT
from cudalint.source.launches import LaunchText, Site, Use, launches_in, uses_of
from cudalint.system.processes.deadline import NEVER, Deadline

_HEURISTIC = heuristic("launches-in-text", "launches in functions that clang leaves out")
_MOST_STEPS: Final = 8
"""Names that stand for names are followed so far."""
_MOST_LAUNCHES: Final = 8
"""Of one kernel."""
_MOST_CALLS: Final = 3
_MOST_USES: Final = 8
"""Of one function in one text."""
_LONGEST: Final = 400
"""Of an expression that is read."""
_OF_TWO: Final = 2
Extents = tuple[Node, Node, Node]
_AXES: Final = "xyz"
_IN_ANGLES: Final = r"<[^<>;{}]*(?:<[^<>;{}]*>[^<>;{}]*)*>"
_CASTS: Final = regex(rf"\b(?:static|const|reinterpret)_cast\s*{_IN_ANGLES}\s*(?=\()")
_QUALIFIERS: Final = regex(r"(?:\b[A-Za-z_]\w*\s*)?::\s*(?=[A-Za-z_])")
_OF_TEMPLATE: Final = regex(rf"\b([A-Za-z_]\w*)\s*{_IN_ANGLES}\s*(?=[({{])")
_C_CAST: Final = regex(r"(?<![\w)\]])\(\s*(?:const\s+)?[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*\s*\)\s*(?=[\w(])")
_MADE: Final = regex(
    r"\b(?:unsigned\s+)?(?:int|unsigned|long|size_t|s?size_type|u?int(?:8|16|32|64)_t|float|double)\s*(?=[({])"
)
_ASKED: Final = regex(r"(?:\b[A-Za-z_]\w*(?:\(\)|\[\w+\])?\s*(?:\.|->)\s*)*\b([A-Za-z_]\w*)\(\s*\)")
_CEILINGS: Final = frozenset({"ceil", "ceilf"})
_EXTENTS: Final = regex(r"(?:::\s*)?(?:dim3\s*)?[({](.*)[)}]\s*\Z", re.DOTALL)
_OF_CONSTANTS: Final = regex(r"[A-Z][A-Z0-9_]+|k[A-Z]\w*")
_MADE_WITH: Final = regex(r"(\w+) = ([^,]+)")


class TextLaunches(Struct, eq=False):
    """Reads launches of one file's kernels."""

    unit: Unit
    graph: Graph
    generics: Generics
    constant: Callable[[str], Expression | None]
    """What else is known by a name in the file."""
    deadline: Deadline = NEVER
    _constants: dict[str, Expression | None] = field(default_factory=dict)
    _in_texts: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def constant_named(self, name: str) -> Expression | None:
        """What is known by a name in the file: it is looked for once, and a template has hundreds of instances."""
        if name not in self._constants:
            self._constants[name] = self.constant(name)
        return self._constants[name]

    def constants_in(self, text: str, name: str) -> list[str]:
        """What a text defines a constant or macro as, each value once."""
        key = (text, name)
        if key not in self._in_texts:
            self._in_texts[key] = _constants_in(text, name)
        return self._in_texts[key]

    def of(self, kernels: Collection[str], texts: Iterable[SourceText]) -> list[HostLaunch]:
        """The launches of kernels of these names that texts have; of those that no host code launches, the launches
        that kernels make (dynamic parallelism), which clang leaves out as well."""
        if not kernels or not _HEURISTIC.is_on:
            return []
        found: dict[str, list[HostLaunch]] = {}
        by_kernels: dict[str, list[HostLaunch]] = {}
        texts = tuple(texts)
        for path, text in texts:
            program = (text, *(each.text for each in texts if each.path != path))
            for launch in launches_in(text):
                named = launch.kernels(kernels)
                if not named:
                    continue
                if self.deadline.is_over():
                    break
                of_site = by_kernels if launch.site.is_on_device() else found
                for name, given in named:
                    if len(of_site.setdefault(name, [])) < _MOST_LAUNCHES:
                        of_site[name] += self._launches(path, program, launch, name, given)
        return [launch for launches in (by_kernels | found).values() for launch in launches]

    def _launches(
        self, path: str, program: Sequence[str], launch: LaunchText, name: str, given: Sequence[str]
    ) -> Iterator[HostLaunch]:
        named = [(ref, len(ref.parameter_types())) for ref in self.unit.kernels if ref.name == name]
        arguments = len(launch.arguments or ())
        fitting = [ref for ref, count in named if count == arguments]
        fitting = fitting or [ref for ref, count in named if count > arguments]
        for ref in [ref for ref in fitting if ref.span.path == path] or fitting:
            for instance in (self.unit.instantiations(ref.key) if ref.templated else ()) or (ref,):
                names = _Names(self, launch.site, program, dict(self._made_with(instance, given)))
                block = names.block(launch.extents[1])
                if not launch.is_certain and not all(extent.is_const for extent in block):
                    continue
                grid = names.grid(launch.extents[0])
                shared = next(map(names.bytes, launch.extents[2:3]), self.graph.zero)
                passed = tuple(map(names.argument, launch.arguments or (), instance.parameter_types()))
                yield HostLaunch(instance, grid, block, shared, passed, ir.Span(path, *launch.place[1:]), taken=True)

    def _made_with(self, instance: ir.FunctionRef, given: Sequence[str]) -> Iterator[tuple[str, Node]]:
        """The numbers that an instance was made with of which the launch has names."""
        function = instance.load()
        made = _MADE_WITH.findall(function.made_with or "") if function is not None else ()
        for name, (_, value) in zip(given, made, strict=False):
            number = whole(value)
            if name.isidentifier() and number is not None:
                yield name, self.graph.const(number, I4)


class _Names(Struct, eq=False):
    """What names mean at a place of a text."""

    launches: TextLaunches
    site: Site
    texts: Sequence[str]
    """That of the launch, and others of the program."""
    known: dict[str, Node]
    """What names are that were looked up before."""
    calls: int = 0
    """How many calls away the launch is."""

    def block(self, spelled: str) -> Extents:
        """One that callers may have a say in."""
        return self._extents(spelled, asks=True)

    def grid(self, spelled: str) -> Extents:
        return self._extents(spelled, asks=False)

    def _extents(self, spelled: str, *, asks: bool, depth: int = 0) -> Extents:
        match = _EXTENTS.match(spelled)
        if match is not None:
            parts = [*parts_of_list(f"<{match[1]}>"), "1", "1", "1"][:3]
            x, y, z = (self._extent(part, asks=asks) for part in parts)
            return x, y, z
        name = spelled.strip()
        if depth < _MOST_STEPS and name.isidentifier():
            value = self.site.initial(name)
            if value is not None and value != name:
                return self._extents(value, asks=asks, depth=depth + 1)
            axes = [self.site.initial(f"{name}.{axis}") for axis in _AXES]
            if any(axes):
                x, y, z = (self._extent(axis or "1", asks=asks) for axis in axes)
                return x, y, z
            passed = self._passed(name) if asks else ()
            found = (names.block(part) for names, part in passed)
            known = next((extents for extents in found if all(extent.is_const for extent in extents)), None)
            if known is not None:
                return known
        one = self.launches.graph.one
        return self._extent(spelled, asks=asks), one, one

    def _extent(self, spelled: str, *, asks: bool) -> Node:
        node = whole_number(self.launches.graph, self.number(spelled, asks=asks), U4)
        is_size = node is not None and not node.kind.is_float and not (node.is_const and node.value < 1)
        return node if node is not None and is_size else self._unknown(UNREAD_EXTENT, I4)

    def bytes(self, spelled: str) -> Node:
        """Those of dynamic shared memory."""
        node = whole_number(self.launches.graph, self.number(spelled), U8)
        return node if node is not None and not node.kind.is_float else self._unknown(spelled, I4)

    def argument(self, spelled: str, type_: ir.Type) -> Node:
        """What a kernel is given for a parameter of a type; anything for one that is no number."""
        return self.number(spelled, kind_of(type_)) if isinstance(type_, ir.Scalar) else self._unknown(spelled, I8)

    def number(self, spelled: str, kind: Kind = I4, depth: int = 0, *, asks: bool = False) -> Node:
        """What an expression comes to: an unknown number where that isn't known."""
        named: dict[str, Node] = {}

        def closed(part: Expression) -> Expression:
            """With nothing in it but numbers, operations and the names in `named`."""
            if isinstance(part, NameRef):
                named[part.name] = self._value(part.name, kind, depth, asks=asks)
                return part
            if isinstance(part, CallOp):
                rounded = _rounded_up_in(part)
                if rounded is not None:
                    return closed(rounded)
                if part.name in ("min", "max"):
                    return replace(part, arguments=tuple(map(closed, part.arguments)))
            if isinstance(part, (CallOp, ElementRef, MemberRef)):
                name = f"_{len(named)}"
                named[name] = self._unknown(_spelled(part), kind)
                return NameRef(name)
            parts = {name: closed(each) for name, each in parts_of(part).items() if not isinstance(each, tuple)}
            return replace(part, **parts) if parts else part

        try:
            return evaluate_expression(self.launches.graph, closed(parse_expression(as_c(spelled))), named)
        except (ExpressionError, UnknownName):
            return self._unknown(" ".join(spelled.split()), kind)

    def _value(self, name: str, kind: Kind, depth: int, *, asks: bool) -> Node:
        if name not in self.known:
            found = self._looked_up(name, kind, depth, asks=asks) if depth < _MOST_STEPS else None
            self.known.setdefault(name, found if found is not None else self._unknown(name, kind))
        return self.known[name]

    def _looked_up(self, name: str, kind: Kind, depth: int, *, asks: bool) -> Node | None:
        value = self.site.initial(name)
        if value is None:
            given = self._given(name, kind)
            if given is not None:
                return given
            if any(parameter.name == name for parameter in self.site.function()[1]):
                passed = self._passed(name) if asks else ()
                numbers = (names.number(part, kind, asks=True) for names, part in passed)
                return next((number for number in numbers if number.is_const), None)
            if is_of_warps(name):
                return self.launches.graph.const(WARP_LANES, I4)
            value = self._constant(name)
        if value is not None:
            return self.number(value, kind, depth + 1, asks=asks)
        constant = self.launches.constant_named(name)
        try:
            return evaluate_expression(self.launches.graph, constant, {}) if constant is not None else None
        except UnknownName:
            return None

    def _given(self, name: str, kind: Kind) -> Node | None:
        """The first number that a template around is given for its parameter, or what that has by default."""
        for template, parameter, position in self.site.template_parameters():
            if parameter.name == name:
                uses = list(self._uses(template))
                parts = [(names, use.template_arguments[position:]) for names, use in uses]
                given = (names.number(each[0], kind) for names, each in parts if each)
                default = (self.number(each, kind) for each in (parameter.default,) if each is not None)
                return next((number for number in (*given, *default) if number.is_const), None)
        return None

    def _passed(self, name: str) -> Iterator[tuple[_Names, str]]:
        """What the callers of the function around pass for a parameter, or what that has by default."""
        function, parameters = self.site.function()
        position = next((at for at, each in enumerate(parameters) if each.name == name), None)
        if position is None:
            return
        for names, use in self._uses(function):
            if len(use.arguments) > position:
                yield names, use.arguments[position]
        default = parameters[position].default
        if default is not None:
            yield self, default

    def _uses(self, name: str) -> Iterator[tuple[_Names, Use]]:
        """Where a function is called, or a template is given something, and what names mean there."""
        if not name or self.calls >= _MOST_CALLS:
            return
        for text in self.texts:
            others = (text, *(each for each in self.texts if each is not text))
            for use in uses_of(text, name)[:_MOST_USES]:
                yield _Names(self.launches, use.site, others, {}, self.calls + 1), use

    def _constant(self, name: str) -> str | None:
        """What a constant of the launch's text is, or else one of others, if all that have it agree."""
        own, *others = (self.launches.constants_in(text, name) for text in self.texts)
        found = own or list(dict.fromkeys(value for values in others for value in values))
        return found[0] if len(found) == 1 else None

    def _unknown(self, name: str, kind: Kind) -> Node:
        if name not in self.known:
            self.known[name] = self.launches.generics.make(name, kind)
        return self.known[name]


def _rounded_up_in(call: CallOp) -> Expression | None:
    """The quotient rounded up that a function is called for: `ceildiv(n, 256)`, `ceil((float)n / 256)`."""
    if rounds_up(call.name) and len(call.arguments) == _OF_TWO:
        return _rounded_up(*call.arguments)
    inner = call.arguments[0] if call.name in _CEILINGS and len(call.arguments) == 1 else None
    return _rounded_up(inner.left, inner.right) if isinstance(inner, BinaryOp) and inner.op == "/" else None


def _rounded_up(a: Expression, b: Expression) -> Expression:
    return BinaryOp("/", BinaryOp("-", BinaryOp("+", a, b), Number(1)), b)


def _spelled(expression: Expression) -> str:
    """What an unknown number is called."""
    if isinstance(expression, MemberRef):
        return f"{_spelled(expression.base)}.{expression.field}"
    if isinstance(expression, ElementRef):
        return f"{_spelled(expression.base)}[{_spelled(expression.index)}]"
    if isinstance(expression, CallOp):
        return f"{expression.name}({', '.join(map(_spelled, expression.arguments))})"
    if isinstance(expression, Number):
        return str(expression.value)
    return expression.name if isinstance(expression, NameRef) else "launch"


def as_c(spelled: str) -> str:
    """An expression of C++ without what C doesn't have, as far as that changes no size: conversions, qualifiers, the
    arguments of templates. What is asked of an object without arguments is called after the function."""
    text = _CASTS.sub("", spelled[:_LONGEST])
    for pattern, instead in ((_OF_TEMPLATE, r"\1"), (_QUALIFIERS, ""), (_ASKED, r"\1"), (_MADE, "")):
        text = pattern.sub(instead, text)
    text = _C_CAST.sub("", text)
    return text.replace("{", "(").replace("}", ")").replace("'", "")


def _constants_in(text: str, name: str) -> list[str]:
    """What a text defines a constant or macro as, each value once."""
    if name not in text:
        return []
    escaped = re.escape(name)
    declared = r"\b(?:constexpr|const)\b"
    if _OF_CONSTANTS.fullmatch(name):
        declared = r"\b(?:constexpr|const|int|unsigned|size_t|u?int\d+_t)\b"
    values = re.findall(rf"{declared}[^;=(){{}}]*\b{escaped}\s*(?:=\s*|\{{)([^;{{}}]+)[;}}]", text)
    values += re.findall(rf"^[ \t]*#[ \t]*define[ \t]+{escaped}[ \t]+([^\n\\]+)$", text, re.MULTILINE)
    return list(dict.fromkeys(" ".join(COMMENT.sub(" ", value).split()) for value in values))

"""What a template that nothing instantiates says of the types that it is for: `if constexpr (std::is_same_v<T, half>)`,
`static_assert(sizeof(T) == 2)`, or the same in an `enable_if` among the template's parameters or behind `requires`.

Its own tests tell more than a guess: a branch for `half` is no branch for a type of 4 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower import declarations
from cudalint.frontend.lower.types import BOOL, INT
from cudalint.ir import nodes as ir
from cudalint.numerals import whole
from cudalint.regexes import regex
from cudalint.source.brackets import closing

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_SAME: Final = (
    r"\b(?:std\s*::\s*)?(?:is_same(?:_v)?|same_as)\s*<\s*(\w+)\s*,\s*([\w\s:]+?)\s*>"
    r"(?:\s*::\s*value\b|\s*\{\})?"
)
_SIZE: Final = r"\bsizeof\s*\(\s*(\w+)\s*\)\s*==\s*(\d+)\b(?!\s*[*+/<>-])"
_SAME_ONLY: Final = regex(rf"(!\s*)?{_SAME}")
_TEST: Final = regex(rf"(!\s*)?(?:{_SAME}|{_SIZE})")
_HEAD: Final = regex(r"\b(?:if\s+constexpr\s*|static_assert\s*|enable_if(?:_t)?\s*)(?=[(<])")
_REQUIRES: Final = regex(
    r"\brequires\b(.*?)(?=[{;]|\b(?:__\w+__|void|auto|inline|static|constexpr|template)\b)", re.DOTALL
)
_NO_CODE: Final = regex(
    r"//[^\n]*|/\*.*?\*/|\b(?:static_assert|assert|printf|__trap|__builtin_unreachable)\s*\([^;]*;", re.DOTALL
)
_CLASS: Final = regex(r"(?<!::)(?<!:: )\b(\w+)\s*::")
_PAIRS: Final = {"(": "()", "<": "<>"}
_NAMING: Final = frozenset({kinds.TYPE_REF})
_BRANCHES: Final = frozenset({kinds.IF_STMT})


class _Test(NamedTuple):
    """That a parameter is a type of so many bytes, or that it isn't a certain one of them."""

    name: str
    bytes: int
    is_negated: bool
    is_all: bool
    """Whether the text that it stands in says nothing else."""


class TypeTests:
    """The tests of one unit's templates on the types of their parameters."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._taken: Mapping[str, int] = {}
        """Of the parameters of the template that is being lowered, the sizes that they are taken to have."""
        self._named: Mapping[str, int] = {}
        """The types that it names, with their sizes."""
        self._open: dict[str, ir.Symbol] = {}
        """Which types its parameters are: numbers that nobody gives."""
        self._said: dict[str, ir.Symbol] = {}
        """What else depends on them, by how it is spelled."""
        self._numbers: dict[str, int] = {}
        """Of types, by their names."""

    @contextmanager
    def of(self, definition: Cursor) -> Iterator[None]:
        """While a template is lowered, its parameters are types that it asks for, unless it is for all others too."""
        before = self._taken, self._named, self._open, self._said
        sizes = self._take(definition)
        try:
            with self._context.types.taking(sizes):
                yield
        finally:
            self._taken, self._named, self._open, self._said = before

    def decided(self, condition: Cursor) -> bool | None:
        """Whether types of the sizes that the parameters are taken to have meet a condition, where that is certain:
        they don't if each of the cases that it allows asks for another size."""
        text = self._context.sources.text(condition) if self._taken else ""
        if not text:
            return None
        if all(any(self._differs(test) and not test.is_negated for test in self._tests(c)) for c in text.split("||")):
            return False
        alone = next((test for test in self._tests(text) if test.is_all), None)
        return True if alone is not None and alone.is_negated and self._differs(alone) else None

    def left_open(self, condition: Cursor) -> ir.Expr | None:
        """A condition that asks which type one of the parameters is, and nothing else: one type is no other."""
        text = self._context.sources.text(condition) if self._open else ""
        wanted = [_SAME_ONLY.fullmatch(part.strip()) for part in text.split("||")]
        tests = [match for match in wanted if match is not None and match[2] in self._open]
        if len(tests) < len(wanted):
            return None
        where = self._context.sources.where(condition)
        first, *others = (self._is_type(match, where) for match in tests)
        return reduce(lambda a, b: ir.Binary("||", a, b, BOOL, where), others, first)

    def said_by_arguments(self, cursor: Cursor) -> ir.Expr | None:
        """In a template that nothing instantiates: a name that means nothing before its parameters do, such as
        `Traits::width`."""
        context = self._context
        text = "".join(context.sources.text(cursor).split()) if self._open else ""
        if "::" not in text and "<" not in text:
            return None
        symbol = self._said.get(text)
        if symbol is None:
            type_ = context.types.of(cursor)
            symbol = ir.Symbol(text, type_, "template", context.sources.span(cursor), is_const=True)
            self._said[text] = symbol
        return ir.Name(symbol, symbol.type, context.sources.where(cursor))

    def _is_type(self, match: re.Match[str], where: ir.Where) -> ir.Expr:
        negated, name, other = match.groups()
        number = self._numbers.setdefault("".join(other.split()).split("::")[-1], len(self._numbers) + 1)
        parameter, constant = ir.Name(self._open[name], INT, where), ir.Constant(number, INT, where)
        return ir.Binary("!=" if negated else "==", parameter, constant, BOOL, where)

    def _differs(self, test: _Test) -> bool:
        return self._taken.get(test.name, test.bytes) != test.bytes

    def _take(self, definition: Cursor) -> dict[str, int]:
        """Sets what is known of a template; the parameters, as clang calls them, that have an unusual size."""
        self._taken, self._named, self._open, self._said = {}, {}, {}, {}
        parameters = [
            p for p in declarations.template_parameters(definition) if p.kind == kinds.TEMPLATE_TYPE_PARAMETER
        ]
        if declarations.is_pattern(definition):
            span = self._context.sources.span(definition)
            names = map(cursors.spelling, parameters)
            self._open = {name: ir.Symbol(name, INT, "template", span, is_const=True) for name in names}
        text = self._context.sources.text(definition) if parameters else ""
        asked = [_bracketed(text, match.end()) for match in _HEAD.finditer(text)] + _REQUIRES.findall(text)
        classes = self._classes_of(parameters, text) if self._open else {}
        if not asked:
            return classes
        self._named = self._names_in(definition)
        tests = [test for each in asked for test in self._tests(each)]
        open_ = self._open_in(definition) | {test.name for test in tests if test.is_negated}
        taken: dict[str, int] = {}
        found = classes
        for parameter in parameters:
            name = cursors.spelling(parameter)
            usual = self._context.types.of(parameter).bytes
            sizes = [test.bytes for test in tests if test.name == name]
            is_usual = not sizes or name in open_ or usual in sizes
            taken[name] = usual if is_usual else sizes[0]
            if not is_usual:
                found[_as_clang_calls_it(parameter)] = sizes[0]
        self._taken = taken
        return found

    def _classes_of(self, parameters: Iterable[Cursor], text: str) -> dict[str, int]:
        """The parameters of which members are named (`T::sum(a, b)`), without a size: a class may have any."""
        named = set(_CLASS.findall(text))
        return {_as_clang_calls_it(p): 0 for p in parameters if cursors.spelling(p) in named}

    def _tests(self, text: str) -> Iterator[_Test]:
        for match in _TEST.finditer(text):
            negated, same, other, sized, number = match.groups()
            size = whole(number) if sized else self._size(other)
            if size:
                yield _Test(sized or same, size, bool(negated), match[0].strip() == text.strip())

    def _size(self, name: str) -> int:
        name = " ".join(name.split())
        return self._context.types.scalar_bytes(name) or self._named.get(name.split("::")[-1].strip(), 0)

    def _names_in(self, definition: Cursor) -> dict[str, int]:
        found: dict[str, int] = {}
        for reference in cursors.descendants(definition, _NAMING):
            type_ = self._context.types.of(reference)
            if not isinstance(type_, ir.OpaqueType):
                found.setdefault(cursors.spelling(reference).split("::")[-1].split()[-1], type_.bytes)
        return found

    def _open_in(self, definition: Cursor) -> set[str]:
        """The parameters for which some branch is for all types but those that are asked for before it."""
        found: set[str] = set()
        text = self._context.sources.text
        for branch in cursors.descendants(definition, _BRANCHES):
            parts = cursors.children(branch)
            is_last = len(parts) == 3 and parts[2].kind != kinds.IF_STMT
            if is_last and _NO_CODE.sub("", text(parts[2])).strip("{}; \t\r\n"):
                found |= {test.name for test in self._tests(text(parts[0]))}
        return found


def _as_clang_calls_it(parameter: Cursor) -> str:
    return cursors.type_spelling(cursors.canonical_type(cursors.type_of(parameter)))


def _bracketed(text: str, start: int) -> str:
    """What stands between the bracket at `start` and the one that closes it."""
    end = closing(text, start, _PAIRS[text[start]])
    return text[start + 1 : end - 1] if end is not None else ""

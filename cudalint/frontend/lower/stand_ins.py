"""Numbers that stand for names that nothing declares, and the functions that were made with them.

A template must have numbers for its arguments at once, so that a missing name among them is given one. A value that is
computed from it rests on it by itself; what clang made of it does not, and is found here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower.uses import uses_in

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_NAMES: Final = frozenset({kinds.DECL_REF_EXPR})
_NONE: Final[frozenset[str]] = frozenset()


class StandIns:
    def __init__(self, context: Context, values: Mapping[str, int]) -> None:
        """`values` are the numbers, by the names that they stand for."""
        self._context = context
        self._values = values
        self._named: dict[int | None, frozenset[str]] = {}
        self.functions: Iterable[Cursor] = ()
        """Definitions of the unit, in which instantiations are named."""

    def value(self, variable: Cursor) -> int | None:
        """The number of a variable that is a stand-in."""
        if not self._values or self._context.sources.is_user_code(variable):
            return None
        return self._values.get(cursors.spelling(variable))

    def in_variable(self, variable: Cursor) -> frozenset[str]:
        """The stand-ins that a variable's value comes from."""
        if not self._values:
            return _NONE
        if variable.handle not in self._named:
            self._named[variable.handle] = _NONE  # For one that names itself.
            is_one = self.value(variable) is not None
            own = frozenset({cursors.spelling(variable)}) if is_one else self._in(cursors.initializer(variable))
            self._named[variable.handle] = own
        return self._named[variable.handle]

    def in_function(self, key: str, definition: Cursor) -> frozenset[str]:
        """Those that a function was made with: its body has them or what it calls, or the arguments of its template."""
        if not self._values:
            return _NONE
        functions = self._context.functions
        found, waiting, seen = self._instantiated.get(key, _NONE), [definition], {key}
        while waiting:
            current = waiting.pop()
            found |= self._in(current)
            for ref, callee in ((functions.ref(one), one) for one in uses_in(current).functions):
                if ref.is_user and ref.key not in seen:
                    seen.add(ref.key)
                    waiting.append(cursors.definition(callee))
        return found

    def numbers(self, names: Collection[str]) -> tuple[tuple[str, int], ...]:
        return tuple((name, self._values[name]) for name in sorted(names))

    def _in(self, node: Cursor) -> frozenset[str]:
        """Those that an expression or a body names, itself or through variables."""
        named = (cursors.referenced(name) for name in (node, *cursors.descendants(node, _NAMES)))
        return _NONE.union(*(self.in_variable(one) for one in named if one.kind == kinds.VAR_DECL))

    @cached_property
    def _instantiated(self) -> dict[str, frozenset[str]]:
        """By the keys of functions, the stand-ins among the arguments of their template, or of what names them."""
        found: dict[str, frozenset[str]] = {}
        waiting: list[tuple[Cursor, frozenset[str]]] = []
        for function in self.functions:
            for name in cursors.descendants(function, _NAMES):
                callee = cursors.referenced(name)
                given = self._in(name) if callee.kind in kinds.FUNCTION_DECLS else _NONE
                if given:
                    waiting.append((callee, given))
        while waiting:
            callee, given = waiting.pop()
            key = self._context.functions.ref(callee).key
            if not given <= found.get(key, _NONE):
                found[key] = found.get(key, _NONE) | given
                waiting += [(one, given) for one in uses_in(cursors.definition(callee)).functions]
        return found

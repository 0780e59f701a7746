"""Numbers and types that stand for names that nothing declares, and the functions that were made with them.

A template must have its arguments at once, so that a missing name among them is given a number, or taken as a type. A
value that is computed from a number rests on it by itself; what clang made of it, or of a type, does not, and is found
here. Clang takes a type that it doesn't know as `int`, which is no better.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_NAMES: Final = frozenset({kinds.DECL_REF_EXPR})
_TYPES: Final = frozenset({kinds.TYPE_REF})
_NAMES_AND_TYPES: Final = _NAMES | _TYPES
_ALIASES: Final = frozenset({kinds.TYPEDEF_DECL, kinds.TYPE_ALIAS_DECL})
_AS_CLANG_TAKES_IT: Final = "int"
_NONE: Final[frozenset[str]] = frozenset()


class StandIns:
    def __init__(self, context: Context, values: Mapping[str, int | str], has_unknown_types: bool) -> None:
        """`values` are the numbers and types, by the names that they stand for; `has_unknown_types`: there may be names
        of types for which nothing stands."""
        self._context = context
        self._values = values
        self._is_needed = bool(values) or has_unknown_types
        self._has_types = has_unknown_types or any(isinstance(value, str) for value in values.values())
        self._named: dict[int | None, frozenset[str]] = {}
        self._of_bodies: dict[int | None, tuple[frozenset[str], list[tuple[str, Cursor]]]] = {}
        self.functions: Iterable[Cursor] = ()
        """Definitions of the unit, in which instantiations are named."""

    def value(self, variable: Cursor) -> int | None:
        """The number of a variable that is a stand-in."""
        if not self._values or self._context.sources.is_user_code(variable):
            return None
        value = self._values.get(cursors.spelling(variable))
        return value if isinstance(value, int) else None

    def in_variable(self, variable: Cursor) -> frozenset[str]:
        """The stand-ins that a variable's value comes from."""
        if not self._is_needed:
            return _NONE
        if variable.handle not in self._named:
            self._named[variable.handle] = _NONE  # For one that names itself.
            is_one = self.value(variable) is not None
            own = frozenset({cursors.spelling(variable)}) if is_one else self._in(cursors.initializer(variable))
            self._named[variable.handle] = own
        return self._named[variable.handle]

    def in_function(self, key: str, definition: Cursor) -> frozenset[str]:
        """Those that a function was made with: its body has them or what it calls, or the arguments of its template."""
        if not self._is_needed:
            return _NONE
        found, waiting, seen = self._instantiated.get(key, _NONE), [definition], {key}
        while waiting:
            own, called = self._of_body(waiting.pop())
            found |= own
            for other, callee in called:
                if other not in seen:
                    seen.add(other)
                    waiting.append(cursors.definition(callee))
        return found

    def _of_body(self, definition: Cursor) -> tuple[frozenset[str], list[tuple[str, Cursor]]]:
        """Those that a function's own body names, and the user's functions that it calls, with their keys. What many
        call is asked for with each of these."""
        found = self._of_bodies.get(definition.handle)
        if found is None:
            functions = self._context.functions
            refs = ((functions.ref(one), one) for one in functions.uses_in(definition).functions)
            called = {ref.key: one for ref, one in refs if ref.is_user}
            found = self._of_bodies[definition.handle] = self._in(definition), list(called.items())
        return found

    def what_stands(self, names: Collection[str]) -> tuple[tuple[str, int | str], ...]:
        """The numbers and types, each with its name."""
        return tuple((name, self._values.get(name, _AS_CLANG_TAKES_IT)) for name in sorted(names))

    def numbers_among(self, names: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in names if isinstance(self._values.get(name), int))

    def _in(self, node: Cursor) -> frozenset[str]:
        """Those that an expression or a body names, itself or through variables."""
        below = cursors.descendants(node, _NAMES_AND_TYPES if self._has_types else _NAMES)
        return _NONE.union(*(self._in_named(cursors.referenced(name)) for name in (node, *below)))

    def _in_named(self, named: Cursor) -> frozenset[str]:
        if named.kind == kinds.VAR_DECL:
            return self.in_variable(named)
        return self._in_type(named) if self._has_types and named.kind in _ALIASES else _NONE

    def _types_in(self, node: Cursor) -> frozenset[str]:
        named = (cursors.referenced(name) for name in cursors.descendants(node, _TYPES))
        return _NONE.union(*(self._in_type(one) for one in named if one.kind in _ALIASES))

    def _in_type(self, alias: Cursor) -> frozenset[str]:
        """The stand-ins that a named type comes from."""
        if alias.handle not in self._named:
            self._named[alias.handle] = _NONE
            name = cursors.spelling(alias)
            is_own = self._context.sources.is_user_code(alias)
            stands_in = cursors.is_invalid(alias) if is_own else isinstance(self._values.get(name), str)
            self._named[alias.handle] = frozenset({name}) if stands_in else self._types_in(alias) if is_own else _NONE
        return self._named[alias.handle]

    @cached_property
    def _instantiated(self) -> dict[str, frozenset[str]]:
        """By the keys of functions, the stand-ins among the arguments of their template, or of what names them."""
        found: dict[str, frozenset[str]] = {}
        waiting: list[tuple[Cursor, frozenset[str]]] = []
        for function in self.functions:
            types = self._types_in(function) if self._has_types else _NONE
            for name in cursors.descendants(function, _NAMES):
                callee = cursors.referenced(name)
                given = self._in(name) if callee.kind in kinds.FUNCTION_DECLS else _NONE
                if types and not cursors.children(name) and _is_instance(callee):
                    # The arguments of the call say what those of the template are made of.
                    given |= types
                if given:
                    waiting.append((callee, given))
        while waiting:
            callee, given = waiting.pop()
            key = self._context.functions.ref(callee).key
            if not given <= found.get(key, _NONE):
                found[key] = found.get(key, _NONE) | given
                uses = self._context.functions.uses_in(cursors.definition(callee))
                waiting += [(one, given) for one in uses.functions]
        return found


def _is_instance(callee: Cursor) -> bool:
    return callee.kind in kinds.FUNCTION_DECLS and kinds.is_declaration(cursors.specialized_template(callee).kind)

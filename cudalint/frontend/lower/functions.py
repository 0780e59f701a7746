"""Functions: references to them, their definitions, and which of them launch kernels."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cudalint import ir
from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_LAUNCH_BOUNDS: Final = "cudalint.launch_bounds"
"""The annotation that the bundled `__launch_bounds__` adds: clang keeps the attribute's own arguments to itself."""

_NUMBER_SUFFIX: Final = re.compile(r"\b(\d+)[UL]+\b")
_CALLS: Final = frozenset({kinds.CALL_EXPR, kinds.DECL_REF_EXPR})
_PATTERN_PARENTS: Final = frozenset({kinds.CLASS_TEMPLATE, kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION})
_RECORDS: Final = frozenset({kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.UNION_DECL}) | _PATTERN_PARENTS
_DEPTH: Final = 100_000
"""Python's limit on nested calls while a function is lowered. Its own calls take no room on the C stack."""


@dataclass(slots=True)
class _Parts:
    """The children of a function's declaration."""

    attributes: list[Cursor]
    parameters: list[Cursor]
    initializers: list[Cursor]
    """Between the parameters and the body of a constructor: names and expressions in turn."""
    body: Cursor | None


@dataclass(slots=True)
class _Uses:
    """What a raw walk over a function's body shows."""

    launches: bool
    functions: list[Cursor]


class Functions:
    """All functions of one unit that somebody names, each once; definitions are lowered when they are asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._refs: dict[int | None, ir.FunctionRef] = {}
        self._loaded: dict[str, ir.Function | None] = {}
        self._captures: dict[int | None, tuple[ir.Capture, ...]] = {}
        self._uses: dict[int | None, _Uses] = {}
        self._has_launch: dict[str, bool] = {}
        self._definitions: dict[str, Cursor] = {}
        self._trivial: dict[int | None, bool] = {}
        self._this: ir.Symbol | None = None

    # --- references --------------------------------------------------------------------------------

    def ref(self, declaration: Cursor) -> ir.FunctionRef:
        found = self._refs.get(declaration.handle)
        if found is None:
            first = cursors.canonical_cursor(declaration)
            found = self._refs.get(first.handle)
            if found is None:
                found = self._refs[first.handle] = self._new_ref(declaration)
            self._refs[declaration.handle] = found
        return found

    def _new_ref(self, declaration: Cursor) -> ir.FunctionRef:
        definition = cursors.definition(declaration)
        shown = definition if kinds.is_declaration(definition.kind) else declaration
        sources = self._context.sources
        start = sources.start(shown)
        name = cursors.spelling(shown)
        key = f"{cursors.usr(declaration)}@{start.file.path}:{start.offset}"
        self._definitions.setdefault(key, shown)
        return ir.FunctionRef(
            name=name,
            kind=_function_kind(shown),
            span=sources.span(shown),
            key=key,
            is_user=start.file.is_user and not name.startswith("__builtin_"),
            load=lambda: self._load(key),
            has_launch=lambda: self._launches(key),
            templated=_is_pattern(shown),
        )

    def note_captures(self, call_operator: Cursor, captures: tuple[ir.Capture, ...]) -> None:
        self._captures[call_operator.handle] = captures

    def _captures_of(self, definition: Cursor) -> tuple[ir.Capture, ...]:
        """What a lambda captures; the instantiations of a generic one capture the same."""
        captures = self._captures.get(definition.handle)
        if captures is None:
            captures = self._captures.get(cursors.specialized_template(definition).handle, ())
        return captures

    def current_this(self) -> ir.Symbol | None:
        """The object of the method that is being lowered."""
        return self._this

    def default_argument(self, callee: Cursor, position: int, node: Cursor) -> ir.Expr:
        """The expression that a parameter's declaration gives for a missing argument."""
        context = self._context
        for declaration in (callee, cursors.canonical_cursor(callee)):
            parameters = [child for child in cursors.children(declaration) if child.kind == kinds.PARM_DECL]
            if position < len(parameters):
                values = cursors.expressions(parameters[position])
                if values:
                    return context.expressions.lower(values[-1])
        return ir.UnknownExpr("default argument", (), context.types.of(node), context.sources.span(callee))

    # --- definitions -------------------------------------------------------------------------------

    def _load(self, key: str) -> ir.Function | None:
        if key not in self._loaded:
            with _deep_recursion(), _no_collection(), self._object_of(self._definitions[key]) as this:
                self._loaded[key] = self._lower(self._definitions[key], this)
        return self._loaded[key]

    def _lower(self, definition: Cursor, this: ir.Symbol | None) -> ir.Function | None:
        parts = _split(definition)
        if parts.body is None and not _is_implicit_constructor(definition):
            return None
        context = self._context
        max_threads, min_blocks = self._launch_bounds(parts.attributes)
        span = context.sources.span(definition)
        return ir.Function(
            name=cursors.spelling(definition),
            instantiation=_instantiation_name(definition),
            kind=_function_kind(definition, parts),
            parameters=tuple([context.symbols.symbol(parameter) for parameter in parts.parameters]),
            result=context.types.lower(cursors.result_type(definition)),
            body=context.statements.block(parts.body) if parts.body is not None else ir.Block((), span),
            span=span,
            name_span=context.sources.name_span(definition),
            this=this,
            member_initializers=self._member_initializers(definition, parts),
            max_threads=max_threads,
            min_blocks=min_blocks,
            is_template_pattern=_is_pattern(definition),
            captures=self._captures_of(definition),
            problems=context.problems_within(span),
        )

    @contextmanager
    def _object_of(self, definition: Cursor) -> Iterator[ir.Symbol | None]:
        """Sets what `this` means in a body: for a lambda's, the object of the method around it."""
        before = self._this
        own = self._own_object(definition)
        self._this = self._enclosing_object(definition) if own is not None and _is_lambda(definition) else own
        try:
            yield own
        finally:
            self._this = before

    def _own_object(self, definition: Cursor) -> ir.Symbol | None:
        if cursors.semantic_parent(definition).kind not in _RECORDS or cursors.is_static_method(definition):
            return None
        return self._context.symbols.this(definition)

    def _enclosing_object(self, definition: Cursor) -> ir.Symbol | None:
        around = cursors.semantic_parent(cursors.semantic_parent(definition))
        while _is_lambda(around):
            around = cursors.semantic_parent(cursors.semantic_parent(around))
        if around.kind not in kinds.FUNCTION_DECLS and around.kind != kinds.FUNCTION_TEMPLATE:
            return None
        return self._own_object(around)

    @staticmethod
    def _launch_bounds(attributes: list[Cursor]) -> tuple[int | None, int | None]:
        for attribute in attributes:
            if attribute.kind == kinds.ANNOTATE_ATTR and cursors.spelling(attribute) == _LAUNCH_BOUNDS:
                bounds = [cursors.evaluate(argument) for argument in cursors.expressions(attribute)]
                numbers = [int(bound) if bound is not None and bound > 0 else None for bound in bounds]
                numbers += [None, None]
                return numbers[0], numbers[1]
        return None, None

    # --- constructors ------------------------------------------------------------------------------

    def is_trivial_default(self, constructor: Cursor) -> bool:
        """Whether a default constructor leaves everything as it is."""
        if not cursors.is_defaulted(constructor) or _split(constructor).parameters:
            return False
        return self._is_trivial_class(cursors.semantic_parent(constructor))

    def _is_trivial_class(self, record: Cursor) -> bool:
        """Whether no initializer and no constructor that somebody wrote runs for an object that is declared
        without one: not the class's own and not that of a base or a field."""
        known = self._trivial.get(record.handle)
        if known is None:
            known = all(self._is_trivial_member(child) for child in cursors.children(record))
            self._trivial[record.handle] = known
        return known

    def _is_trivial_member(self, child: Cursor) -> bool:
        if child.kind == kinds.CONSTRUCTOR:
            return bool(cursors.is_defaulted(child)) or not _is_default_constructor(child)
        if child.kind not in (kinds.CXX_BASE_SPECIFIER, kinds.FIELD_DECL):
            return True
        if child.kind == kinds.FIELD_DECL and _field_initializer(child) is not None:
            return False
        inner = _record_of(cursors.type_of(child))
        return inner is None or self._is_trivial_class(inner)

    def _member_initializers(self, definition: Cursor, parts: _Parts) -> tuple[tuple[str, ir.Expr], ...]:
        """A constructor's initializers as written, then those that the class gives for fields not among them."""
        if definition.kind != kinds.CONSTRUCTOR:
            return ()
        lower = self._context.expressions.lower
        pairs: dict[str, ir.Expr] = {}
        name = ""
        for node in parts.initializers:
            if kinds.is_expression(node.kind):
                pairs[name] = lower(node)
            elif node.kind in (kinds.MEMBER_REF, kinds.TYPE_REF):
                name = cursors.spelling(node).removeprefix("struct ").removeprefix("class ")
        for name, node in self._class_initializers(definition):
            if name not in pairs:
                pairs[name] = lower(node)
        return tuple(pairs.items())

    @staticmethod
    def _class_initializers(constructor: Cursor) -> list[tuple[str, Cursor]]:
        """Fields with an initializer in the class itself (`int n = 3;`)."""
        found: list[tuple[str, Cursor]] = []
        for field in cursors.children(cursors.semantic_parent(constructor)):
            if field.kind == kinds.FIELD_DECL:
                values = _field_initializer(field)
                if values is not None:
                    found.append((cursors.spelling(field), values))
        return found

    # --- launches ----------------------------------------------------------------------------------

    def _launches(self, key: str) -> bool:
        """Whether a function launches a kernel, itself or through the user functions that it calls."""
        known = self._has_launch.get(key)
        if known is None:
            known = self._search_launch(key)
            self._has_launch[key] = known
        return known

    def _search_launch(self, key: str) -> bool:
        seen = {key}
        waiting = [key]
        while waiting:
            current = waiting.pop()
            known = self._has_launch.get(current)
            uses = self._uses_of(current)
            if known or uses.launches:
                return True
            if known is False:
                continue
            for callee in uses.functions:
                ref = self.ref(callee)
                if ref.is_user and ref.key not in seen:
                    seen.add(ref.key)
                    waiting.append(ref.key)
        return False

    def _uses_of(self, key: str) -> _Uses:
        definition = self._definitions[key]
        found = self._uses.get(definition.handle)
        if found is None:
            found = self._uses[definition.handle] = _scan(definition)
        return found

    def named_functions(self, key: str) -> list[Cursor]:
        """The functions that a function's body calls or names."""
        return self._uses_of(key).functions

    def pattern_of(self, ref: ir.FunctionRef) -> str | None:
        """The key of the template that a function was instantiated from."""
        pattern = cursors.specialized_template(self._definitions[ref.key])
        return self.ref(pattern).key if kinds.is_declaration(pattern.kind) else None

    @staticmethod
    def named_in(declaration: Cursor) -> list[Cursor]:
        """The functions that the initializer of a variable names."""
        return _scan(declaration).functions


def _scan(definition: Cursor) -> _Uses:
    uses = _Uses(False, [])
    seen: set[int | None] = set()
    for node in cursors.descendants(definition, _CALLS):
        callee = cursors.referenced(node)
        if callee.handle in seen or callee.kind not in kinds.FUNCTION_DECLS:
            continue
        seen.add(callee.handle)
        if callee.kind == kinds.FUNCTION_DECL and _is_launch(cursors.spelling(callee)):
            uses.launches = True
        else:
            uses.functions.append(callee)
    return uses


def _is_launch(name: str) -> bool:
    return name.startswith(("cudaLaunch", "cuLaunch", "cudaConfigureCall", "__cudaPushCall"))


def _split(declaration: Cursor) -> _Parts:
    parts = _Parts([], [], [], None)
    for child in cursors.children(declaration):
        kind = child.kind
        if kind == kinds.PARM_DECL:
            parts.parameters.append(child)
        elif kind == kinds.COMPOUND_STMT:
            parts.body = child
        elif kind == kinds.CXX_TRY_STMT:
            parts.body = cursors.children(child)[0]
        elif kinds.is_attribute(kind):
            parts.attributes.append(child)
        else:
            parts.initializers.append(child)
    return parts


def _function_kind(declaration: Cursor, parts: _Parts | None = None) -> ir.FunctionKind:
    attributes = {attribute.kind for attribute in (parts or _split(declaration)).attributes}
    if kinds.CUDA_GLOBAL_ATTR in attributes:
        return "kernel"
    return "device" if kinds.CUDA_DEVICE_ATTR in attributes else "host"


def _is_pattern(declaration: Cursor) -> bool:
    """Whether a declaration is a template, or a member of one, rather than an instantiation."""
    node = declaration
    while node.kind in kinds.FUNCTION_DECLS or node.kind in _RECORDS or node.kind == kinds.FUNCTION_TEMPLATE:
        if node.kind == kinds.FUNCTION_TEMPLATE or node.kind in _PATTERN_PARENTS:
            return True
        node = cursors.semantic_parent(node)
    return False


def _is_lambda(declaration: Cursor) -> bool:
    parent = cursors.semantic_parent(declaration)
    return parent.kind == kinds.CLASS_DECL and "(lambda at " in cursors.spelling(parent)


def _is_implicit_constructor(definition: Cursor) -> bool:
    return definition.kind == kinds.CONSTRUCTOR and bool(cursors.is_defaulted(definition))


def _is_default_constructor(constructor: Cursor) -> bool:
    """Whether a constructor can be called without arguments."""
    return all(cursors.expressions(parameter) for parameter in _split(constructor).parameters)


def _field_initializer(field: Cursor) -> Cursor | None:
    """The initializer of a field in its class. The children of a field also hold its array extents and the width of
    a bit-field, which come first."""
    values = cursors.expressions(field)
    type_ = cursors.canonical_type(cursors.type_of(field))
    extents = 0
    while type_.kind in (kinds.T_CONSTANT_ARRAY, kinds.T_DEPENDENT_SIZED_ARRAY):
        extents += 1
        type_ = cursors.array_element_type(type_)
    if cursors.is_bit_field(field):
        extents += 1
    return values[-1] if len(values) > extents else None


def _record_of(type_: cursors.CxType) -> Cursor | None:
    canonical = cursors.canonical_type(type_)
    while canonical.kind == kinds.T_CONSTANT_ARRAY:
        canonical = cursors.array_element_type(canonical)
    return cursors.type_declaration(canonical) if canonical.kind == kinds.T_RECORD else None


def _instantiation_name(definition: Cursor) -> str:
    """`tile<float, 32>`, cut out of the declaration as clang prints it."""
    name = cursors.spelling(definition)
    if cursors.template_argument_count(definition) <= 0:
        return name
    printed = cursors.printed_declaration(definition)
    match = re.search(rf"\b{re.escape(name)}<", printed)
    if match is None:
        return name
    return name + _NUMBER_SUFFIX.sub(r"\1", _bracketed(printed, match.end() - 1))


def _bracketed(text: str, start: int) -> str:
    """The balanced `<...>` that begins at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"<": 1, ">": -1, "(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[start : position + 1]
    return text[start:]


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room for deeply nested expressions and `else if` chains."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection meanwhile: the lowering makes no cycles that it drops, and a collection that walks all
    nodes again and again costs a third of the time on large functions."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()

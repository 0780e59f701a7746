"""A whole file: its kernels and its host functions."""

from __future__ import annotations

from typing import Final

from cudalint import ir
from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower.context import Context
from cudalint.frontend.parse import ParsedFile

_CONTAINERS: Final = frozenset(
    {
        kinds.NAMESPACE,
        kinds.LINKAGE_SPEC,
        kinds.UNEXPOSED_DECL,
        kinds.STRUCT_DECL,
        kinds.CLASS_DECL,
        kinds.UNION_DECL,
        kinds.CLASS_TEMPLATE,
        kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
    }
)
_FUNCTIONS: Final = kinds.FUNCTION_DECLS | {kinds.FUNCTION_TEMPLATE}
_TOP_LEVEL: Final = _CONTAINERS | _FUNCTIONS
"""Half of what stands at the top are macros."""


def lower_unit(parsed: ParsedFile) -> ir.Unit:
    """Lists what a file defines; bodies are lowered when somebody asks for them."""
    context = Context(parsed)
    kernels: dict[tuple[str, int, int], ir.FunctionRef] = {}
    hosts: dict[tuple[str, int, int], ir.FunctionRef] = {}
    for definition in _user_functions(context):
        ref = context.functions.ref(definition)
        place = (ref.span.path, ref.span.line, ref.span.column)
        if ref.kind == "kernel":
            kernels.setdefault(place, ref)
        elif ref.kind == "host" and not ref.templated:
            hosts.setdefault(place, ref)
    host_functions = tuple(hosts.values())
    return ir.Unit(
        path=parsed.path,
        problems=tuple([ir.Problem(p.path, p.line, p.column, p.message) for p in parsed.problems]),
        kernels=tuple(kernels.values()),
        host_functions=host_functions,
        instantiations=lambda key: _instantiations(context, host_functions, key),
    )


def _user_functions(context: Context) -> list[Cursor]:
    """The function definitions in the user's files, in source order."""
    found: list[Cursor] = []
    waiting = context.sources.user_code(cursors.children_of_kinds(context.root, _TOP_LEVEL))[::-1]
    while waiting:
        node = waiting.pop()
        if node.kind in _FUNCTIONS:
            if cursors.is_definition(node):
                found.append(node)
        elif node.kind in _CONTAINERS:
            waiting += reversed(cursors.children(node))
    return found


def _instantiations(context: Context, roots: tuple[ir.FunctionRef, ...], key: str) -> tuple[ir.FunctionRef, ...]:
    """The instantiations of a kernel template that host code names, launched or not."""
    found: dict[str, ir.FunctionRef] = {}
    seen = {root.key for root in roots}
    waiting = list(seen)
    while waiting:
        for callee in context.functions.named_functions(waiting.pop()):
            ref = context.functions.ref(callee)
            if ref.kind == "kernel":
                if _pattern_key(context, callee) == key:
                    found.setdefault(ref.key, ref)
            elif ref.is_user and ref.key not in seen:
                seen.add(ref.key)
                waiting.append(ref.key)
    return tuple(found.values())


def _pattern_key(context: Context, instantiation: Cursor) -> str | None:
    pattern = cursors.specialized_template(instantiation)
    return context.functions.ref(pattern).key if kinds.is_declaration(pattern.kind) else None

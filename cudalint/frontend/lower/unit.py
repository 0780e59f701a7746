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
_TOP_LEVEL: Final = _CONTAINERS | _FUNCTIONS | {kinds.VAR_DECL}
"""Half of what stands at the top are macros."""


def lower_unit(parsed: ParsedFile) -> ir.Unit:
    """Lists what a file defines; bodies are lowered when somebody asks for them."""
    context = Context(parsed)
    functions, variables = _user_definitions(context)
    kernels: dict[tuple[ir.Span, str], ir.FunctionRef] = {}
    hosts: dict[tuple[ir.Span, str], ir.FunctionRef] = {}
    for definition in functions:  # A file that includes itself repeats its functions.
        ref = context.functions.ref(definition)
        if ref.kind == "kernel":
            kernels.setdefault((ref.span, ref.name), ref)
        elif ref.kind == "host" and not ref.templated:
            hosts.setdefault((ref.span, ref.name), ref)
    roots = [ref for ref in (*hosts.values(), *kernels.values()) if not ref.templated]
    return ir.Unit(
        path=parsed.path,
        problems=tuple([ir.Problem(p.path, p.line, p.column, p.message) for p in parsed.problems]),
        kernels=tuple(kernels.values()),
        host_functions=tuple(hosts.values()),
        instantiations=lambda key: _instantiations(context, roots, variables, key),
    )


def _user_definitions(context: Context) -> tuple[list[Cursor], list[Cursor]]:
    """The functions that the user's files define, and their variables outside of functions, in source order."""
    functions: list[Cursor] = []
    variables: list[Cursor] = []
    waiting = context.sources.user_code(cursors.children_of_kinds(context.root, _TOP_LEVEL))[::-1]
    while waiting:
        node = waiting.pop()
        if node.kind == kinds.VAR_DECL:
            variables.append(node)
        elif node.kind in _CONTAINERS:
            waiting += cursors.children_of_kinds(node, _TOP_LEVEL)[::-1]
        elif cursors.is_definition(node):
            functions.append(node)
    return functions, variables


def _instantiations(
    context: Context, roots: list[ir.FunctionRef], variables: list[Cursor], key: str
) -> tuple[ir.FunctionRef, ...]:
    """The instantiations of a kernel template that anything in the file names, launched or not: functions, those
    that they call, and the initializers of variables (tables of kernels)."""
    found: dict[str, ir.FunctionRef] = {}
    seen = {root.key for root in roots}
    named = [one for variable in variables for one in context.functions.named_in(variable)]
    waiting = [root.key for root in reversed(roots)]
    while named or waiting:
        for callee in named:
            ref = context.functions.ref(callee)
            if ref.kind == "kernel" and _pattern_key(context, callee) == key:
                found.setdefault(ref.key, ref)
            if ref.is_user and ref.key not in seen:
                seen.add(ref.key)
                waiting.append(ref.key)
        named = context.functions.named_functions(waiting.pop()) if waiting else []
    return tuple(found.values())


def _pattern_key(context: Context, instantiation: Cursor) -> str | None:
    pattern = cursors.specialized_template(instantiation)
    return context.functions.ref(pattern).key if kinds.is_declaration(pattern.kind) else None

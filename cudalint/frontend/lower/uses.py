"""Which functions and variables a function names, and whether it launches a kernel: answers that cost no lowering."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.ir.builtins import launches_a_kernel

_NAMING: Final = frozenset({kinds.CALL_EXPR, kinds.DECL_REF_EXPR, kinds.CXX_THROW_EXPR})
_CONFIGURING: Final = ("cudaConfigureCall", "__cudaPushCall")


class Uses(Struct):
    launches: bool
    launched: list[Cursor]
    """What is launched, for each launch: a kernel, or what it is an instance of; else nobody knows which kernel it is.
    """
    throws: bool
    functions: list[Cursor]
    """What is called or otherwise named, each once."""
    values: list[Cursor]
    """What is named to be passed on, and templates of kernels of which nobody knows which instance is meant."""
    variables: list[Cursor]
    """Those that outlive the function, each once."""


def uses_in(declaration: Cursor) -> Uses:
    """The uses in the body of a function or in the initializer of a variable."""
    uses = Uses(False, [], False, [], [], [])
    functions: set[int | None] = set()
    configuring: set[int | None] = set()
    seen: set[int | None] = set()
    last = called = declaration
    """What the last two calls call: that of a launch stands in front of the one that takes its extents."""
    referenced = cursors.referenced
    for node in cursors.descendants(declaration, _NAMING):
        if node.kind == kinds.CXX_THROW_EXPR:
            uses.throws = True
            continue
        callee = referenced(node)
        handle = callee.handle
        if node.kind == kinds.CALL_EXPR:
            last, called = called, callee
            if handle in configuring:
                uses.launched.append(last)
        elif handle in functions and handle != called.handle:
            uses.values.append(callee)
        if handle in seen:
            continue  # As most are: a call names what the name within it does.
        seen.add(handle)
        kind = callee.kind
        if kind == kinds.OVERLOADED_DECL_REF:
            callee = cursors.only_overload(callee)
            if callee.handle != handle and callee.handle in seen:
                continue
            seen.add(callee.handle)
            kind = callee.kind
        if kind == kinds.VAR_DECL:
            if cursors.has_global_storage(callee):
                uses.variables.append(callee)
            continue
        if kind not in kinds.FUNCTION_DECLS and not _is_host_template(callee):
            if kind == kinds.FUNCTION_TEMPLATE:
                uses.values.append(callee)
            continue
        name = cursors.spelling(callee) if kind == kinds.FUNCTION_DECL else ""
        if name.startswith(_CONFIGURING):
            uses.launches = True
            uses.launched.append(last)
            configuring.add(handle)
        elif launches_a_kernel(name):
            uses.launches = True
            uses.launched.append(callee)
        else:
            uses.functions.append(callee)
            functions.add(handle)
            if node.kind != kinds.CALL_EXPR:
                uses.values.append(callee)
    return uses


def _is_host_template(callee: Cursor) -> bool:
    """Whether a template of host code is named without a word on which of its instantiations is meant, as in a list of
    functions. Of kernels, those that are instantiated are looked at, launched or not."""
    if callee.kind != kinds.FUNCTION_TEMPLATE:
        return False
    return all(child.kind != kinds.CUDA_GLOBAL_ATTR for child in cursors.children(callee))

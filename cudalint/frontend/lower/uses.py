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
    launches_any: bool
    """Of these, one that doesn't name its kernel: the kernel is an argument, or comes out of a table."""
    throws: bool
    functions: list[Cursor]
    """What is called or otherwise named, each once."""
    variables: list[Cursor]
    """Those that outlive the function, each once."""


def uses_in(declaration: Cursor) -> Uses:
    """The uses in the body of a function or in the initializer of a variable."""
    uses = Uses(False, False, False, [], [])
    seen: set[int | None] = set()
    configuring: set[int | None] = set()
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
                uses.launches_any = uses.launches_any or not _is_kernel(last)
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
            continue
        name = cursors.spelling(callee) if kind == kinds.FUNCTION_DECL else ""
        if name.startswith(_CONFIGURING):
            configuring.add(handle)
            uses.launches = True
            uses.launches_any = uses.launches_any or not _is_kernel(last)
        elif launches_a_kernel(name):
            uses.launches = uses.launches_any = True
        else:
            uses.functions.append(callee)
    return uses


def _is_kernel(callee: Cursor) -> bool:
    """Whether it is known which kernel a call means."""
    is_function = callee.kind == kinds.FUNCTION_DECL
    return is_function and any(child.kind == kinds.CUDA_GLOBAL_ATTR for child in cursors.children(callee))


def _is_host_template(callee: Cursor) -> bool:
    """Whether a template of host code is named without a word on which of its instantiations is meant, as in a list of
    functions. Of kernels, those that are instantiated are looked at, launched or not."""
    if callee.kind != kinds.FUNCTION_TEMPLATE:
        return False
    return all(child.kind != kinds.CUDA_GLOBAL_ATTR for child in cursors.children(callee))

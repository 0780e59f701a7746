"""Which functions and variables a function names, and whether it launches a kernel: answers that cost no lowering."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from msgspec import Struct

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor

_NAMING: Final = frozenset({kinds.CALL_EXPR, kinds.DECL_REF_EXPR, kinds.CXX_THROW_EXPR})
_NOTHING: Final = (0, Cursor())
_LAUNCHING: Final = ("cudaLaunch", "cuLaunch", "cudaConfigureCall", "__cudaPushCall")


class Uses(Struct):
    launches: bool
    launches_any: bool
    """Whether it launches what it doesn't name: a kernel that it is given, or what a runtime function launches."""
    throws: bool
    functions: list[Cursor]
    """What is called or otherwise named, each once."""
    variables: list[Cursor]
    """Those that outlive the function, each once."""


def uses_in(declaration: Cursor) -> Uses:
    """The uses in the body of a function or in the initializer of a variable."""
    uses = Uses(False, False, False, [], [])
    seen: set[int | None] = set()
    naming: list[tuple[int, Cursor]] = []
    referenced = cursors.referenced
    for node in cursors.descendants(declaration, _NAMING):
        if node.kind == kinds.CXX_THROW_EXPR:
            uses.throws = True
            continue
        callee = referenced(node)
        if callee.kind == kinds.OVERLOADED_DECL_REF:
            callee = cursors.only_overload(callee)
        naming.append((node.kind, callee))
        handle, kind = callee.handle, callee.kind
        if handle in seen:
            continue  # As most are: a call names what the name within it does.
        seen.add(handle)
        if kind == kinds.VAR_DECL:
            if cursors.has_global_storage(callee):
                uses.variables.append(callee)
            continue
        if kind not in kinds.FUNCTION_DECLS and not _is_host_template(callee):
            continue
        if kind == kinds.FUNCTION_DECL and cursors.spelling(callee).startswith(_LAUNCHING):
            uses.launches = True
        else:
            uses.functions.append(callee)
    uses.launches_any = uses.launches and not _are_named(naming)
    return uses


def _are_named(naming: list[tuple[int, Cursor]]) -> bool:
    """Whether all kernels that are launched among such nodes are named where that is done: a launch is a call of the
    kernel, and has the kernel's name and then the call that configures it as its first children, with that one's name.
    """
    kernel: int | None = None
    called: int | None = None
    for (kind, callee), (next_kind, following) in pairwise([*naming, _NOTHING]):
        is_call = kind == kinds.CALL_EXPR
        if callee.kind == kinds.FUNCTION_DECL and cursors.spelling(callee).startswith(_LAUNCHING):
            if kernel is None if is_call else called != callee.handle:
                return False
            kernel = None
        elif is_call:
            is_named = next_kind == kinds.DECL_REF_EXPR and callee.handle == following.handle
            kernel = callee.handle if is_named and _is_kernel(callee) else None
        called = callee.handle if is_call else None
    return True


def _is_kernel(callee: Cursor) -> bool:
    return callee.kind == kinds.FUNCTION_DECL and any(
        child.kind == kinds.CUDA_GLOBAL_ATTR for child in cursors.children(callee)
    )


def _is_host_template(callee: Cursor) -> bool:
    """Whether a template of host code is named without a word on which of its instantiations is meant, as in a list of
    functions. Of kernels, those that are instantiated are looked at, launched or not."""
    if callee.kind != kinds.FUNCTION_TEMPLATE:
        return False
    return all(child.kind != kinds.CUDA_GLOBAL_ATTR for child in cursors.children(callee))

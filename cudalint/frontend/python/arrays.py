"""Arrays of NumPy and CuPy, as far as their making says what they look like: extents, strides, and bytes of an element.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from cudalint.frontend.python.scopes import Scope
from cudalint.numerals import whole

if TYPE_CHECKING:
    from cudalint.frontend.python.values import Values

_DEEPEST: Final = 20
_LIBRARIES: Final = frozenset({"np", "numpy", "cp", "cupy", "gpuarray", "cuda", "random"})
_MADE: Final = {"zeros": 1, "ones": 1, "empty": 1, "full": 2}
"""Where the type stands behind the shape, if it has no name."""
_DRAWN: Final = frozenset({"randn", "rand"})
_ALIKE: Final = frozenset({"zeros_like", "ones_like", "empty_like"})
_CONVERTED: Final = frozenset({"asarray", "array", "ascontiguousarray", "to_gpu", "to_device", "asnumpy"})
_BYTES: Final = {"single": 4, "double": 8, "half": 2, "float": 8, "bool": 1, "bool_": 1, "int": 8, "byte": 1}
_DEFAULT_BYTES: Final = 8


class Extent(NamedTuple):
    """How long an array is along an axis."""

    node: ast.expr
    scope: Scope


class Array(NamedTuple):
    """What is known of one. The stride of an axis is a product: bytes, and extents."""

    extents: tuple[Extent, ...]
    bytes: int
    strides: tuple[tuple[Extent, ...], ...]


def array_of(node: ast.AST, scope: Scope, values: Values, depth: int = 0) -> Array | None:
    """The array that an expression gives, or a part of it; None where its making isn't plain."""
    node, scope = values.names.resolve(node, scope)
    if depth > _DEEPEST:
        return None
    match node:
        case ast.Attribute(value=inner, attr="T"):
            found = array_of(inner, scope, values, depth + 1)
            return found and Array(found.extents[::-1], found.bytes, found.strides[::-1])
        case ast.Subscript(value=inner, slice=index):
            found = array_of(inner, scope, values, depth + 1)
            return found and _part(found, index.elts if isinstance(index, ast.Tuple) else [index])
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            return _called(node, inner, name, scope, values, depth + 1)
    return None


def _called(node: ast.Call, inner: ast.expr, name: str, scope: Scope, values: Values, depth: int) -> Array | None:
    if name == "astype" and node.args:
        found = array_of(inner, scope, values, depth)
        size = _bytes_of(node.args[0])
        return _contiguous(found.extents, size) if found is not None and size is not None else None
    if name == "copy" and not node.args:
        found = array_of(inner, scope, values, depth)
        return found and _contiguous(found.extents, found.bytes)
    if ast.unparse(inner).rpartition(".")[2] not in _LIBRARIES or not node.args:
        return None
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    if not named.keys() <= {"dtype"}:
        return None
    if name in _ALIKE or name in _CONVERTED:
        found = array_of(node.args[0], scope, values, depth)
        size = _bytes_of(named["dtype"]) if "dtype" in named else found and found.bytes
        return _contiguous(found.extents, size) if found is not None and size and len(node.args) == 1 else None
    if name in _DRAWN:
        return _contiguous(tuple(Extent(each, scope) for each in node.args), _DEFAULT_BYTES)
    if name not in _MADE:
        return None
    place = _MADE[name]
    type_ = named.get("dtype", node.args[place] if len(node.args) > place else None)
    size = _bytes_of(type_) if type_ is not None else _DEFAULT_BYTES
    shape, inner_scope = values.names.resolve(node.args[0], scope)
    extents = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [node.args[0]]
    if size is None or (name == "full" and type_ is None) or any(isinstance(each, ast.Starred) for each in extents):
        return None
    own = inner_scope if isinstance(shape, (ast.Tuple, ast.List)) else scope
    return _contiguous(tuple(Extent(each, own) for each in extents), size)


def _contiguous(extents: tuple[Extent, ...], bytes_: int) -> Array:
    return Array(extents, bytes_, tuple(extents[axis + 1 :] for axis in range(len(extents))))


def _part(array: Array, indices: list[ast.expr]) -> Array | None:
    """`a[:, 3]`: whole axes stay, those with a number go. Other slices are not plain."""
    if len(indices) > len(array.extents):
        return None
    kept: list[int] = []
    for axis, index in enumerate(indices):
        if isinstance(index, ast.Slice):
            if index.lower or index.upper or index.step:
                return None
            kept.append(axis)
        elif not isinstance(index, (ast.Constant, ast.UnaryOp)):
            return None
    kept += range(len(indices), len(array.extents))
    if not kept:
        return None
    return Array(tuple(array.extents[axis] for axis in kept), array.bytes, tuple(array.strides[axis] for axis in kept))


def _bytes_of(type_: ast.expr) -> int | None:
    """`np.float32`, `cp.int64`, `'float32'`, `float`."""
    if isinstance(type_, ast.Constant) and isinstance(type_.value, str):
        name = type_.value
    else:
        name = ast.unparse(type_).rpartition(".")[2]
    bits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
    number = whole(bits) if bits.isdecimal() else None
    if number is None:
        return _BYTES.get(name)
    return number // 8 if number in (8, 16, 32, 64, 128) else None

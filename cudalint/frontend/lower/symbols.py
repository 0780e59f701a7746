"""Declared variables: one symbol for one declaration, with its storage, alignment and initializer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor, CxType
from cudalint.frontend.lower.declarations import is_const
from cudalint.ir import nodes as ir
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_BUILTINS: Final = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
_ALIGN_ANNOTATION: Final = "cudalint.align"
_MANAGED_ANNOTATION: Final = "cudalint.managed"
_SAID_BY: Final = {"cudalint.shared": kinds.CUDA_SHARED_ATTR}
"""Attributes that the front end has clang read as annotations."""
_ALIGNAS: Final = regex(r"(?:alignas|_alnas_|_Alignas|aligned|__aligned__)\s*\(\s*([^()]*)")


class Symbols:
    """Symbols by declaration. The instantiations of a template have declarations of their own, although they share
    their places in the source."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._symbols: dict[int | None, ir.Symbol] = {}
        self._this: dict[int | None, ir.Symbol] = {}
        self._constants: dict[int | None, int | float | None] = {}
        self._bindings: dict[int | None, tuple[ir.Symbol, int]] = {}

    def symbol(self, declaration: Cursor) -> ir.Symbol:
        found = self._symbols.get(declaration.handle)
        if found is None:
            found = self._canonical(declaration)
            self._symbols[declaration.handle] = found
        return found

    def _canonical(self, declaration: Cursor) -> ir.Symbol:
        """Several declarations of one global variable are one symbol. Of shared memory that launches ask for each
        function has a name of its own, declared in its body: which function is lowered first says nothing of it."""
        if declaration.kind != kinds.VAR_DECL or not cursors.has_global_storage(declaration):
            return self._new(declaration)
        in_function = cursors.lexical_parent(declaration).kind in kinds.FUNCTION_DECLS
        if in_function and kinds.CUDA_SHARED_ATTR in self._attributes(declaration):
            return self._new(declaration)
        first = cursors.canonical_cursor(declaration)
        found = self._symbols.get(first.handle)
        if found is None:
            definition = cursors.definition(first)
            shown = definition if definition.kind == kinds.VAR_DECL else declaration
            found = self._symbols[first.handle] = self._new(shown)
        return found

    def _new(self, declaration: Cursor) -> ir.Symbol:
        context = self._context
        declared = cursors.type_of(declaration)
        attributes = self._attributes(declaration)
        name = cursors.spelling(declaration)
        storage = self._storage(declaration, name, attributes)
        symbol = ir.Symbol(
            name,
            self._type(declaration, declared),
            storage,
            context.sources.span(declaration),
            align=self._alignment(attributes),
            is_const=is_const(declared) or declaration.kind == kinds.TEMPLATE_NON_TYPE_PARAMETER,
            is_restrict=bool(cursors.is_restrict_qualified(cursors.canonical_type(declared))),
        )
        symbol.is_managed = storage == "device" and _is_managed(declaration)
        symbol.stands_in = context.stand_ins.value(declaration)
        if storage in ("constant", "device", "global", "static", "template"):
            symbol.initializer = lambda: self._initializer(declaration, name)
        return symbol

    def _initializer(self, declaration: Cursor, name: str) -> ir.Expr | None:
        """What a variable outside of functions starts with; another file may say so of a constant."""
        context = self._context
        found = context.expressions.initializer(declaration)
        if found is None and cursors.storage_class(declaration) == cursors.STORAGE_EXTERN:
            is_here = kinds.is_declaration(cursors.definition(declaration).kind)
            if not is_here and context.sources.is_user_code(declaration) and is_const_variable(declaration):
                return context.constant_elsewhere(name, cursors.usr(declaration))
        return found

    def _type(self, declaration: Cursor, declared: CxType) -> ir.Type:
        """The type of a variable; a parameter that is declared as an array is a pointer."""
        type_ = self._context.types.lower(declared)
        if declaration.kind == kinds.PARM_DECL and isinstance(type_, ir.ArrayType):
            return self._context.types.pointer(type_.element)
        return type_

    @staticmethod
    def _attributes(declaration: Cursor) -> dict[int, Cursor]:
        if not cursors.has_attributes(declaration):
            return {}
        found = [child for child in cursors.children(declaration) if kinds.is_attribute(child.kind)]
        return {_SAID_BY.get(cursors.spelling(child), child.kind): child for child in found}

    def _storage(self, declaration: Cursor, name: str, attributes: dict[int, Cursor]) -> ir.Storage:
        if declaration.kind == kinds.PARM_DECL:
            return "parameter"
        if declaration.kind == kinds.TEMPLATE_NON_TYPE_PARAMETER:
            return "template"
        if declaration.kind != kinds.VAR_DECL:
            return "local"
        is_extern = cursors.storage_class(declaration) == cursors.STORAGE_EXTERN
        first = cursors.canonical_cursor(declaration)
        if name in _BUILTINS and is_extern and not self._context.sources.is_user_code(first):
            return "builtin"
        if kinds.CUDA_SHARED_ATTR in attributes:
            return "dynamic-shared" if is_extern else "shared"
        if kinds.CUDA_CONSTANT_ATTR in attributes:
            return "constant"
        if kinds.CUDA_DEVICE_ATTR in attributes:
            return "device"
        if not cursors.has_global_storage(declaration):
            return "local"
        in_function = cursors.semantic_parent(declaration).kind in kinds.FUNCTION_DECLS
        return "static" if in_function and not is_extern else "global"

    def _alignment(self, attributes: dict[int, Cursor]) -> int:
        """The argument of `__align__(16)`, which the bundled headers also annotate, or of `alignas(16)`. The tree
        hides the latter, so that it is read from the text; a type's name stands for its alignment."""
        annotation = attributes.get(kinds.ANNOTATE_ATTR)
        if annotation is not None and cursors.spelling(annotation) == _ALIGN_ANNOTATION:
            values = [cursors.evaluate(argument) for argument in cursors.expressions(annotation)]
            return int(values[0] or 0) if values else 0
        if kinds.ALIGNED_ATTR not in attributes:
            return 0
        for file, offset in self._context.sources.readings(attributes[kinds.ALIGNED_ATTR]):
            match = _ALIGNAS.match(file.text, offset)
            if match is not None:
                argument = match.group(1).strip()
                return int(argument) if argument.isdigit() else self._context.types.alignment_of(argument)
        return 0

    # --- `this`, constants, structured bindings ------------------------------------------------

    def this(self, method: Cursor) -> ir.Symbol:
        """The object of a method, as a pointer."""
        found = self._this.get(method.handle)
        if found is None:
            context = self._context
            record = context.types.of(cursors.semantic_parent(method))
            found = ir.Symbol("this", context.types.pointer(record), "parameter", context.sources.name_span(method))
            self._this[method.handle] = found
        return found

    def constant(self, reference: Cursor, declaration: Cursor) -> int | float | None:
        """The value of a constant that clang can fold, so that `Traits<T>::N` needs no lookup of its own."""
        key = declaration.handle
        if key not in self._constants:
            self._constants[key] = self._fold(reference, declaration)
        return self._constants[key]

    def _fold(self, reference: Cursor, declaration: Cursor) -> int | float | None:
        if declaration.kind == kinds.PARM_DECL or self._context.stand_ins.in_variable(declaration):
            return None
        declared = cursors.type_of(declaration)
        if not cursors.is_const_qualified(cursors.canonical_type(declared)):
            return None
        if not isinstance(self._context.types.lower(declared), ir.Scalar):
            return None
        return cursors.evaluate(reference)

    def bind(self, binding: Cursor, whole: ir.Symbol, position: int) -> None:
        """Notes that a structured binding means one element of `whole`."""
        self._bindings[binding.handle] = (whole, position)

    def binding(self, declaration: Cursor) -> tuple[ir.Symbol, int] | None:
        return self._bindings.get(declaration.handle)


def is_const_variable(declaration: Cursor) -> bool:
    """Whether no assignment changes a variable: `const`, or in the device's constant memory."""
    attributes = cursors.children(declaration)
    return is_const(cursors.type_of(declaration)) or any(one.kind == kinds.CUDA_CONSTANT_ATTR for one in attributes)


def _is_managed(declaration: Cursor) -> bool:
    """Whether the bundled headers say of it that it is `__managed__`."""
    found = (child for child in cursors.children(declaration) if child.kind == kinds.ANNOTATE_ATTR)
    return any(cursors.spelling(child) == _MANAGED_ANNOTATION for child in found)

"""C++ types as the IR has them: canonical, without qualifiers, one object for one type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor, CxType
from cudalint.frontend.lower.layouts import Layouts
from cudalint.ir import nodes as ir

_SCALAR_TABLE: Final[tuple[tuple[str, str, int, ir.ScalarKind], ...]] = (
    ("VOID", "void", 0, "void"),
    ("BOOL", "bool", 1, "bool"),
    ("CHAR_U", "char", 1, "uint"),
    ("CHAR_S", "char", 1, "int"),
    ("SCHAR", "signed char", 1, "int"),
    ("UCHAR", "unsigned char", 1, "uint"),
    ("WCHAR", "wchar_t", 4, "int"),
    ("CHAR16", "char16_t", 2, "uint"),
    ("CHAR32", "char32_t", 4, "uint"),
    ("SHORT", "short", 2, "int"),
    ("USHORT", "unsigned short", 2, "uint"),
    ("INT", "int", 4, "int"),
    ("UINT", "unsigned int", 4, "uint"),
    ("LONG", "long", 8, "int"),
    ("ULONG", "unsigned long", 8, "uint"),
    ("LONGLONG", "long long", 8, "int"),
    ("ULONGLONG", "unsigned long long", 8, "uint"),
    ("INT128", "__int128", 16, "int"),
    ("UINT128", "unsigned __int128", 16, "uint"),
    ("FLOAT", "float", 4, "float"),
    ("DOUBLE", "double", 8, "float"),
    ("LONGDOUBLE", "long double", 16, "float"),
    ("HALF", "__fp16", 2, "float"),
    ("FLOAT128", "__float128", 16, "float"),
)
_SCALARS: Final = {name: ir.Scalar(text, size, kind) for name, text, size, kind in _SCALAR_TABLE}
_SCALAR_KINDS: Final = {kinds.type_kind(name): scalar for name, scalar in _SCALARS.items()}

VOID: Final = _SCALARS["VOID"]
BOOL: Final = _SCALARS["BOOL"]
INT: Final = _SCALARS["INT"]

_NO_TYPE: Final = ir.OpaqueType("")

_TYPE_PARAMETER: Final = "type-parameter-"
"""How clang calls the canonical type of `T` in a template that is not instantiated."""

ASSUMED_BYTES: Final = 4
"""What it is taken for there: most are instantiated with `float` or `int`."""

_ARRAYS: Final = frozenset(
    {kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY, kinds.T_DEPENDENT_SIZED_ARRAY}
)
_VECTORS: Final = frozenset({kinds.T_VECTOR, kinds.T_EXT_VECTOR})
_REFERENCES: Final = frozenset({kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE})
_NAMED: Final = frozenset({kinds.T_TYPEDEF, kinds.T_ELABORATED})
_ALIASES: Final = frozenset({kinds.TYPEDEF_DECL, kinds.TYPE_ALIAS_DECL})
_VECTOR_FIELDS: Final = ("x", "y", "z", "w")


class Types:
    """Lowers types, each once: equal C++ types, qualifiers aside, are the same IR object."""

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self._lowered: dict[int, ir.Type] = {}
        self._pointers: dict[tuple[ir.Type, bool], ir.PointerType] = {}
        self._arrays: dict[tuple[ir.Type, int | None], ir.ArrayType] = {}
        self._volatile: set[int] = set()
        """Of the types that were lowered, those that are declared `volatile`, by their handle."""
        self._sizes: Mapping[str, int] = {}
        """Of parameters of templates, those that are not taken for what most of them are."""
        self._base_bytes: dict[ir.RecordType, int] = {}
        """Instances of class templates whose bases depend on its parameters, which libclang 18 doesn't tell; and the
        bytes of those bases that were found."""

    def of(self, cursor: Cursor) -> ir.Type:
        """The type of an expression or a declared variable."""
        type_ = cursors.type_of(cursor)
        found = self._lowered.get(type_.handle)
        return found if found is not None else self.lower(type_)

    def lower(self, type_: CxType) -> ir.Type:
        if type_.kind == kinds.T_INVALID:  # libclang itself doesn't survive some questions about these.
            return _NO_TYPE
        found = self._lowered.get(type_.handle)
        if found is None:
            canonical = cursors.canonical_type(type_)
            if cursors.is_volatile_qualified(canonical):
                self._volatile.add(type_.handle)
            found = self._replaced(type_) or self._lower_canonical(cursors.unqualified_type(canonical))
            self._lowered[type_.handle] = found
        return found

    def _replaced(self, type_: CxType) -> ir.Type | None:
        """What is unknown where clang has taken `int` for a type that it could not make out: `using V = typename
        Vector<T, 4>::Type`, of whose template it only has the declaration. None for all other types."""
        if type_.kind == kinds.T_POINTER or type_.kind in _REFERENCES:
            inner = self._replaced(cursors.pointee_type(type_))
            return self.pointer(inner, type_.kind in _REFERENCES) if inner is not None else None
        if type_.kind not in _NAMED:
            return None
        declaration = cursors.type_declaration(type_)
        if declaration.kind not in _ALIASES or not cursors.is_invalid(declaration):
            return None
        return ir.OpaqueType(cursors.spelling(declaration))

    def is_volatile(self, cursor: Cursor) -> bool:
        """Whether an expression that was lowered names an object that is declared `volatile`."""
        return bool(self._volatile) and cursors.type_of(cursor).handle in self._volatile

    def may_be_unsized(self) -> bool:
        """Whether there may be records of which nobody knows the size."""
        return self._layouts.may_have_gaps

    def pointer(self, pointee: ir.Type, reference: bool = False) -> ir.PointerType:
        key = (pointee, reference)
        found = self._pointers.get(key)
        if found is None:
            found = self._pointers[key] = ir.PointerType(pointee, reference)
        return found

    @contextmanager
    def taking(self, sizes: Mapping[str, int]) -> Iterator[None]:
        """Meanwhile, parameters of templates, as clang calls them, are types of these sizes."""
        if not sizes and not self._sizes:
            yield
            return
        usual, before = self._lowered, self._sizes
        self._lowered, self._sizes = {h: t for h, t in usual.items() if not _is_of_parameters(t)}, sizes
        try:
            yield
        finally:
            usual.update((h, t) for h, t in self._lowered.items() if not _is_of_parameters(t))
            self._lowered, self._sizes = usual, before

    def scalar_bytes(self, name: str) -> int:
        """The size of a built-in type of that name, 0 where there is none."""
        return next((scalar.bytes for scalar in _SCALARS.values() if scalar.name == name), 0)

    def alignment_of(self, name: str) -> int:
        """The alignment of the type of that name, 0 where none that was lowered has it."""
        for type_ in self._lowered.values():
            if isinstance(type_, ir.RecordType) and type_.name == name:
                return type_.align
        return next((scalar.bytes for scalar in _SCALARS.values() if scalar.name == name), 0)

    def _lower_canonical(self, type_: CxType) -> ir.Type:
        found = self._lowered.get(type_.handle)
        if found is None:
            found = self._build(type_)
            self._lowered[type_.handle] = found
        return found

    def _build(self, type_: CxType) -> ir.Type:
        kind = type_.kind
        scalar = _SCALAR_KINDS.get(kind)
        if scalar is not None:
            return scalar
        if kind == kinds.T_POINTER:
            return self.pointer(self.lower(cursors.pointee_type(type_)))
        if kind in _REFERENCES:
            return self.pointer(self.lower(cursors.pointee_type(type_)), reference=True)
        if kind in _ARRAYS:
            return self._array(type_)
        if kind == kinds.T_RECORD:
            return self._record(type_)
        if kind == kinds.T_ENUM:
            return self.lower(cursors.enum_type(cursors.type_declaration(type_)))
        if kind in _VECTORS:
            return self._vector(type_)
        if kind == kinds.T_NULL_PTR:
            return self.pointer(VOID)
        return self._other(type_)

    def _array(self, type_: CxType) -> ir.Type:
        element = self.lower(cursors.array_element_type(type_))
        size = cursors.array_size(type_) if type_.kind == kinds.T_CONSTANT_ARRAY else -1
        count = size if size >= 0 else None
        key = (element, count)
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = ir.ArrayType(element, count, element.bytes * (count or 0))
        return found

    def _vector(self, type_: CxType) -> ir.Type:
        """A vector extension type, as a record of its elements."""
        element = self.lower(cursors.element_type(type_))
        count = max(cursors.element_count(type_), 0)
        names = _VECTOR_FIELDS if count <= len(_VECTOR_FIELDS) else tuple(f"s{i}" for i in range(count))
        fields = tuple(ir.Field(names[i], element, i * element.bytes) for i in range(count))
        return ir.RecordType(cursors.type_spelling(type_), _size(type_), _align(type_), fields)

    def _other(self, type_: CxType) -> ir.Type:
        name = cursors.type_spelling(type_)
        if name in ("_Float16", "__bf16"):
            return ir.Scalar(name, 2, "float")
        if name.startswith(_TYPE_PARAMETER):
            return ir.OpaqueType(name, self._sizes.get(name, ASSUMED_BYTES))
        return ir.OpaqueType(name, 16 if type_.kind == kinds.T_MEMBER_POINTER else 0)

    # --- records -------------------------------------------------------------------------------

    def _record(self, type_: CxType) -> ir.RecordType:
        declaration = cursors.type_declaration(type_)
        # With a field of a type that nothing declares, nobody knows where the others are, although clang says 1 byte.
        is_laid_out = not cursors.is_invalid(declaration)
        record = ir.RecordType(
            cursors.type_spelling(type_),
            _size(type_) if is_laid_out else 0,
            _align(type_),
            is_union=declaration.kind == kinds.UNION_DECL,
        )
        self._lowered[type_.handle] = record  # Before its fields, which may point to it.
        if record.bytes:
            own = cursors.fields(type_)
            record.fields = self._fields(own, declaration)
            if self.may_be_unsized():
                self._note_gap(record, declaration, own)
            record.has_open_bases = _has_dependent_base(declaration)
            if record.has_open_bases:
                self._base_bytes[record] = 0
        return record

    def _note_gap(self, record: ir.RecordType, declaration: Cursor, own: Sequence[Cursor]) -> None:
        """What is missing for the layout of a record, of which clang gives the size of the rest."""
        record.unsized = self._layouts.gap(declaration, [(cursor, self.of(cursor)) for cursor in own])
        if not record.unsized:
            bases = (self.of(c) for c in cursors.children(declaration) if c.kind == kinds.CXX_BASE_SPECIFIER)
            record.unsized = next((b.unsized for b in bases if isinstance(b, ir.RecordType) and b.unsized), "")
        if record.unsized:
            record.bytes, record.align = 0, 1

    def note_base(self, record: ir.Type, base: ir.Type) -> None:
        """Gives a record, or what a pointer leads to, the fields of a base that it was seen to have: it turns into one
        by itself, a constructor initialises it, or it has a member of it."""
        if not has_open_bases(record):
            return
        record, base = _pointed_to(record), _pointed_to(base)
        if not isinstance(record, ir.RecordType) or not isinstance(base, ir.RecordType) or base is record:
            return
        inherited = [field for field in base.fields if record.field(field.name) is None]
        if inherited:
            start = _aligned(self._base_bytes[record], base.align)
            inherited = [replace(field, offset=start + field.offset) for field in inherited]
            record.extend(tuple(inherited))
            self._base_bytes[record] = start + base.bytes

    def _fields(self, own: Sequence[Cursor], declaration: Cursor) -> tuple[ir.Field, ...]:
        fields = self._base_fields(declaration)
        for cursor in own:
            fields += self._field(cursor)
        return tuple(fields)

    def _field(self, cursor: Cursor) -> list[ir.Field]:
        """A field, or those of an anonymous struct or union, which C++ names as if they were the record's own."""
        declared = cursors.type_of(cursor)
        field_type = self.lower(declared)
        start = max(cursors.field_bit_offset(cursor), 0)
        offset = start // 8
        if isinstance(field_type, ir.RecordType) and is_anonymous(declared):
            return [replace(inner, offset=offset + inner.offset) for inner in field_type.fields]
        if not cursors.is_bit_field(cursor):
            return [ir.Field(cursors.spelling(cursor), field_type, offset)]
        # It is accessed together with the others of its unit.
        offset -= offset % max(field_type.bytes, 1)
        bits = cursors.bit_field_width(cursor)
        return [ir.Field(cursors.spelling(cursor), field_type, offset, bits, start - 8 * offset)]

    def _base_fields(self, declaration: Cursor) -> list[ir.Field]:
        """The fields of the base classes. libclang 18 doesn't tell where a base stands; without virtual functions it
        is at the next aligned byte, and empty bases take no room."""
        fields: list[ir.Field] = []
        end = 0
        for child in cursors.children(declaration):
            if child.kind != kinds.CXX_BASE_SPECIFIER:
                continue
            base = self.of(child)
            if not isinstance(base, ir.RecordType) or not base.fields:
                continue
            start = _aligned(end, base.align)
            fields += [replace(inner, offset=start + inner.offset) for inner in base.fields]
            end = start + base.bytes
        return fields


def _is_of_parameters(type_: ir.Type) -> bool:
    """Whether a type is a parameter of a template, or leads to one."""
    while isinstance(type_, (ir.PointerType, ir.ArrayType)):
        type_ = type_.pointee if isinstance(type_, ir.PointerType) else type_.element
    return isinstance(type_, ir.OpaqueType) and type_.name.startswith(_TYPE_PARAMETER)


def has_open_bases(type_: ir.Type) -> bool:
    """Whether an object, or what a pointer leads to, has bases that may still be found."""
    record = _pointed_to(type_)
    return isinstance(record, ir.RecordType) and record.has_open_bases


def _pointed_to(type_: ir.Type) -> ir.Type:
    return type_.pointee if isinstance(type_, ir.PointerType) else type_


def _has_dependent_base(declaration: Cursor) -> bool:
    """Whether a class is an instance of a template with a base that depends on its parameters."""
    template = cursors.specialized_template(declaration)
    if not kinds.is_declaration(template.kind) or cursors.children(declaration):
        return False
    return any(child.kind == kinds.CXX_BASE_SPECIFIER for child in cursors.children(template))


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align if align else offset


def _size(type_: CxType) -> int:
    """Bytes; 0 for what has no size, such as an incomplete or a dependent type."""
    return max(cursors.size_of(type_), 0)


def _align(type_: CxType) -> int:
    return max(cursors.align_of(type_), 1)


def is_anonymous(type_: CxType) -> bool:
    """Whether a field's type is `struct {...};` without a name for the field."""
    return bool(cursors.is_anonymous_record(cursors.type_declaration(type_)))

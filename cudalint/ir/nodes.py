"""The kernel IR: types, functions and expressions of CUDA code, with source spans; `statements.py` has the rest.

The front end builds this from libclang's tree and nothing after it sees a cursor. The IR stays
close to C++: an expression node is one operation of the source, lvalues are not loaded implicitly
(the evaluator decides from the context whether an lvalue is read, written or only named), and
templates appear only as the instantiations that somebody names.

Nodes compare by identity. They are immutable after the front end has finished a function; records
are completed in place because C++ lets a record point to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeGuard, get_args

from msgspec import Struct

from cudalint.reasons import Problem

if TYPE_CHECKING:
    from cudalint.ir.statements import Stmt


class Span(NamedTuple):
    """A half-open piece of source: lines and columns start at 1, columns count bytes."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


# --- types -----------------------------------------------------------------------------------

ScalarKind = Literal["int", "uint", "float", "bool", "void"]


class Scalar(Struct, frozen=True):
    """An arithmetic type or `void`; enumerations appear as their underlying integer type."""

    name: str
    bytes: int
    kind: ScalarKind


class PointerType(Struct, frozen=True, eq=False):
    """A pointer, or a reference where `reference` is set."""

    pointee: Type
    reference: bool = False
    bytes: int = 8


class ArrayType(Struct, frozen=True, eq=False):
    """An array; `count` is None where the source leaves the extent open (`extern __shared__ T a[]`)."""

    element: Type
    count: int | None
    bytes: int


class Field(Struct, frozen=True, eq=False):
    """A member of a record."""

    name: str
    type: Type
    offset: int
    """Bytes from the start of the record."""
    bits: int | None = None
    """The width of a bit-field."""
    first_bit: int = 0
    """How many bits come before those of a bit-field, from its offset on."""


class RecordType(Struct, eq=False):
    """A struct, class or union. `fields` has the direct fields and those of base classes, with offsets
    from the start of this record; it is filled in after the record is first named."""

    name: str
    bytes: int
    align: int
    fields: tuple[Field, ...] = ()
    is_union: bool = False
    has_open_bases: bool = False
    """It has bases that are found only when somebody names what it inherits: an instance of a class template."""
    unsized: str = ""
    """Why nobody knows how large it is, and where its fields are: `bytes` is 0 then."""
    _overlapping: dict[str, tuple[Field, ...]] | None = None

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)

    def extend(self, inherited: tuple[Field, ...]) -> None:
        """Puts fields of a base that was found later before its own."""
        self.fields, self._overlapping = (*inherited, *self.fields), None

    def overlapping(self, name: str) -> tuple[Field, ...]:
        """The other fields that share bytes with one, as those of unions do."""
        if self._overlapping is None:
            self._overlapping = {f.name: tuple(o for o in self.fields if _overlap(f, o)) for f in self.fields}
        return self._overlapping.get(name, ())


def _overlap(a: Field, b: Field) -> bool:
    """Bit-fields of one unit don't, although they are accessed together."""
    if a is b or a.bits is not None or b.bits is not None:
        return False
    return a.offset < b.offset + b.type.bytes and b.offset < a.offset + a.type.bytes


class OpaqueType(Struct, frozen=True):
    """A type that the evaluator need not understand: functions, dependent and unknown types."""

    name: str
    bytes: int = 0


Type = Scalar | PointerType | ArrayType | RecordType | OpaqueType


def type_name(type_: Type) -> str:
    """The type as C++ spells it, more or less: `float*`, `int[4]`."""
    if isinstance(type_, PointerType):
        return f"{type_name(type_.pointee)}*"
    if isinstance(type_, ArrayType):
        return f"{type_name(type_.element)}[{type_.count or ''}]"
    return type_.name


def is_reference(type_: Type) -> TypeGuard[PointerType]:
    return isinstance(type_, PointerType) and type_.reference


def referent(type_: Type) -> Type:
    """The type of an expression that names a variable of this type: a reference means what it refers to."""
    return type_.pointee if is_reference(type_) else type_


def pointee(type_: Type) -> Type:
    """What a pointer or a reference leads to; an unknown type for everything else."""
    return type_.pointee if isinstance(type_, PointerType) else OpaqueType("?")


# --- symbols and functions ---------------------------------------------------------------------

Storage = Literal[
    "local", "parameter", "shared", "dynamic-shared", "constant", "device", "global", "static", "builtin", "template"
]


class Symbol(Struct, eq=False):
    """One declared variable (or `this`). Two uses mean the same variable if they hold the same object.

    Storage: `shared` is a static `__shared__` variable, `dynamic-shared` an `extern __shared__` one, `constant`
    and `device` are `__constant__`/`__device__` variables at file scope, `global` is a host variable at file or
    class scope, `static` a function's static local, `builtin` is threadIdx, blockIdx, blockDim, gridDim, warpSize.
    `template` is what the arguments of a template say that nothing instantiates.
    """

    name: str
    type: Type
    storage: Storage
    span: Span
    align: int = 0
    """From `alignas`/`__align__`; 0 where the type's own alignment holds."""
    is_const: bool = False
    is_restrict: bool = False
    """A pointer such that nothing else points to what it does."""
    initializer: Callable[[], Expr | None] | None = None
    """For variables that live outside of a function's statements (globals, constexpr, statics): their
    initializer, lowered when it is asked for."""
    is_managed: bool = False
    """Of a `device` variable: the host reads and writes it, too."""
    stands_in: int | None = None
    """The number that was made up for a name that nothing declares."""


FunctionKind = Literal["kernel", "device", "host"]


class Function(Struct, eq=False):
    """A function definition with its body; for a template, one instantiation."""

    name: str
    """The plain name, without namespaces and template arguments."""
    instantiation: str
    """The name as a person would write this instantiation, e.g. `tile<float, 32>`."""
    kind: FunctionKind
    """`device` also covers `__host__ __device__` functions."""
    parameters: tuple[Symbol, ...]
    result: Type
    body: Stmt
    span: Span
    """From the first token of the declaration to the closing brace."""
    name_span: Span
    this: Symbol | None = None
    """For a non-static method or a lambda: the object, as a symbol of pointer type."""
    member_initializers: tuple[tuple[str, Expr], ...] = ()
    """For a constructor: field (or base class) name and initializer, in order."""
    max_threads: int | None = None
    """First argument of `__launch_bounds__`."""
    min_blocks: int | None = None
    in_clusters: bool = False
    """`__cluster_dims__` says that its blocks are launched in clusters."""
    cluster: tuple[int, int, int] | None = None
    """How many blocks along each axis that says, where it is known."""
    is_template_pattern: bool = False
    """The uninstantiated template itself: its types may be dependent."""
    template_values: tuple[Symbol, ...] = ()
    """For a pattern: its parameters that stand for values."""
    template_types: tuple[tuple[str, OpaqueType], ...] = ()
    """For a pattern: its parameters that stand for types, by name."""
    captures: tuple[Capture, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Front-end errors inside the body; statements may be missing from it."""
    launches_kernels: bool = False
    """Launches of other kernels are missing from the body."""
    stand_ins: tuple[tuple[str, int | str], ...] = ()
    """Names that nothing declares, and the numbers and types that were made up for them to make this instantiation."""
    made_up: tuple[str, ...] = ()
    """Names of parameters of its template whose numbers are usual ones, for want of a text that says them."""
    made_with: str = ""
    """The arguments of an instance that was made to be evaluated, as nothing instantiates the template."""
    volatile: Set[Span] = frozenset()
    """Where an object that is declared `volatile` is read or written, in what was lowered so far of the file."""


class Signature(Struct, frozen=True, eq=False):
    """What the head of a function's definition says, which is known without its body."""

    instantiation: str
    parameters: tuple[Symbol, ...]


class FunctionRef(Struct, eq=False):
    """A function that can be named and, where its definition is in sight, lowered on demand."""

    name: str
    kind: FunctionKind
    place: Callable[[], Span]
    """Where it is declared (memoised); `span` for short."""
    key: str
    """Equal for all references to the same instantiation in one file."""
    usr: str
    """libclang's name for it, equal in all files of a program."""
    is_user: bool
    """Defined in the user's code, not in the bundled or the toolkit's headers."""
    load: Callable[[], Function | None]
    """Lowers the definition (memoised), None where there is none in sight."""
    signature: Callable[[], Signature | None]
    """That of the definition (memoised), None where there is none in sight: an instantiation may be launched and never
    be evaluated, and to lower its body is most of the work."""
    has_launch: Callable[[], bool]
    """Whether its body, or a user function that it calls, launches a kernel, and may launch one in question where the
    file is looked into for the sake of another one (memoised)."""
    acts: Callable[[], bool]
    """Whether these use variables that outlive them, or end the program (memoised)."""
    names: Callable[[], frozenset[str]]
    """What the functions are called that its body names, without lowering it (memoised)."""
    names_numbers: Callable[[], bool]
    """Whether its own body names numbers of the user's that outlive it and that it may set, without lowering it."""
    named: Callable[[], Sequence[FunctionRef]]
    """The functions that its body calls or names, without lowering it."""
    never_returns: Callable[[], bool]
    """Whether it is declared so (memoised)."""
    parameter_types: Callable[[], tuple[Type, ...]]
    """Of its parameters, without lowering its body (memoised)."""
    templated: bool = False
    """The reference names a template pattern rather than an instantiation."""
    outputs: Callable[[], frozenset[int]] = frozenset
    """Positions of the parameters that are references to what is not constant (memoised)."""
    is_const: Callable[[], bool] = bool
    """Whether it is a method that is declared not to change its object."""
    linkage_name: Callable[[], str] = str
    """What it is called in compiled code; empty where that is not known, and for a pattern, which isn't there."""

    @property
    def span(self) -> Span:
        return self.place()


# --- expressions -------------------------------------------------------------------------------

Where = Span | Callable[[], Span]
"""A span, or what finds it out (memoised): of most expressions nobody ever asks where they stand."""


class _Located:
    """Something that stands somewhere."""

    __slots__ = ()
    where: Where

    @property
    def span(self) -> Span:
        return self.where if isinstance(self.where, Span) else self.where()



class Constant(_Located, Struct, frozen=True, eq=False):
    """A literal, or what the front end could fold."""

    value: int | float | str
    type: Type
    where: Where
    of_variable: bool = False
    """A variable is named that is declared to have this value."""


class Name(_Located, Struct, frozen=True, eq=False):
    """A variable that is named."""

    symbol: Symbol
    type: Type
    where: Where


class Member(_Located, Struct, frozen=True, eq=False):
    """`base.field` or `base->field` (`arrow`); `this->` is made explicit."""

    base: Expr
    field: str
    arrow: bool
    type: Type
    where: Where


class Index(_Located, Struct, frozen=True, eq=False):
    """The built-in `base[index]`; an overloaded one is a `Call`."""

    base: Expr
    index: Expr
    type: Type
    where: Where


UnaryOp = Literal["-", "+", "!", "~", "*", "&", "++x", "--x", "x++", "x--"]
UNARY_OPERATORS: Final = frozenset(get_args(UnaryOp))


class Unary(_Located, Struct, frozen=True, eq=False):
    """A built-in unary operator."""

    op: UnaryOp
    operand: Expr
    type: Type
    where: Where


class Binary(_Located, Struct, frozen=True, eq=False):
    """A built-in binary operator: arithmetic, comparison, `&&`, `||` or `,`."""

    op: str
    left: Expr
    right: Expr
    type: Type
    where: Where


class Assign(_Located, Struct, frozen=True, eq=False):
    """`target = value`, or `target op= value` where `op` is not empty. Struct assignment too."""

    op: str
    target: Expr
    value: Expr
    type: Type
    where: Where


class Conditional(_Located, Struct, frozen=True, eq=False):
    """`condition ? then : otherwise`."""

    condition: Expr
    then: Expr
    otherwise: Expr
    type: Type
    where: Where


class Cast(_Located, Struct, frozen=True, eq=False):
    """A conversion that changes the type, explicit or implicit; array-to-pointer decay too."""

    operand: Expr
    type: Type
    explicit: bool
    where: Where


class Call(_Located, Struct, frozen=True, eq=False):
    """A call. `function` is the callee where it is known statically, `receiver` the object of a method call (an
    lvalue expression, `this->` removed), `callee` the called expression where it is not a plain function name
    (a function pointer). A call of a lambda or functor has its `operator()` as `function` and the object as
    `receiver`."""

    name: str
    function: FunctionRef | None
    receiver: Expr | None
    callee: Expr | None
    arguments: tuple[Expr, ...]
    type: Type
    where: Where
    is_virtual: bool = False
    """The object decides at run time which function it is: `function`, or one that overrides it."""


class Construct(_Located, Struct, frozen=True, eq=False):
    """`T(args)` or `T x(args)` of a class; `constructor` is None for trivial copies and aggregate defaults."""

    constructor: FunctionRef | None
    arguments: tuple[Expr, ...]
    type: Type
    where: Where


class InitList(_Located, Struct, frozen=True, eq=False):
    """`{a, b, c}` for a scalar, an array or an aggregate, in the order of elements or direct fields."""

    elements: tuple[Expr, ...]
    type: Type
    where: Where


class Capture(Struct, frozen=True, eq=False):
    """One capture of a lambda: uses of `symbol` in the body mean the enclosing function's variable."""

    symbol: Symbol
    by_reference: bool


class StatementExpr(_Located, Struct, frozen=True, eq=False):
    """`({ statements; value; })`, where a statement among them is none that an expression could be made of; `value` is
    None where that ends in none."""

    statements: tuple[Stmt, ...]
    value: Expr | None
    type: Type
    where: Where


class Lambda(_Located, Struct, frozen=True, eq=False):
    """A closure object; its body is that of its call operator."""

    function: FunctionRef
    captures: tuple[Capture, ...]
    type: Type
    where: Where


class Launch(_Located, Struct, frozen=True, eq=False):
    """`kernel<<<grid, block, shared, stream>>>(arguments)`; omitted parts are None. `callee` is set instead of
    `kernel` where the kernel is an expression (a template parameter, a function pointer), and `overloads` where it is
    one of several functions of one name, as the types of the arguments are unknown."""

    kernel: FunctionRef | None
    callee: Expr | None
    grid: Expr
    block: Expr
    shared: Expr | None
    stream: Expr | None
    arguments: tuple[Expr, ...]
    type: Type
    where: Where
    overloads: tuple[FunctionRef, ...] = ()


class FunctionName(_Located, Struct, frozen=True, eq=False):
    """A function used as a value: an argument of `cudaLaunchKernel`, a function pointer."""

    function: FunctionRef
    type: Type
    where: Where


class New(_Located, Struct, frozen=True, eq=False):
    """`new T`, `new T(…)` or `new T[count]` (host code)."""

    element: Type
    count: Expr | None
    initial: Expr | None
    type: Type
    where: Where


class UnknownExpr(_Located, Struct, frozen=True, eq=False):
    """What the front end could not lower; the children are still evaluated for their accesses."""

    reason: str
    children: tuple[Expr, ...]
    type: Type
    where: Where


Expr = (
    Constant | Name | Member | Index | Unary | Binary | Assign | Conditional | Cast | Call | Construct | InitList
    | StatementExpr | Lambda | Launch | FunctionName | New | UnknownExpr
)

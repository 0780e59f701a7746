"""The kernel IR: statements. Like expressions they compare by identity."""

from __future__ import annotations

from msgspec import Struct

from cudalint.ir.nodes import Expr, Span, Symbol


class Declare(Struct, frozen=True, eq=False):
    """One declared variable; `initializer` is None where it starts uninitialised (or is shared)."""

    symbol: Symbol
    initializer: Expr | None
    span: Span


class ExprStmt(Struct, frozen=True, eq=False):
    """An expression that is evaluated for its effects."""

    expr: Expr
    span: Span


class Block(Struct, frozen=True, eq=False):
    """Statements in order."""

    statements: tuple[Stmt, ...]
    span: Span


class If(Struct, frozen=True, eq=False):
    """`if constexpr` appears as its chosen branch. A declaration in the condition is a Declare before it, in a
    Block."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None
    span: Span


class For(Struct, frozen=True, eq=False, weakref=True):
    """The classic loop, with any of its parts missing."""

    init: Stmt | None
    condition: Expr | None
    increment: Expr | None
    body: Stmt
    span: Span
    unroll: int | None = None
    """From `#pragma unroll N`; 0 for one without a factor, None where there is none."""


class RangeFor(Struct, frozen=True, eq=False):
    """`for (symbol : range)`."""

    symbol: Symbol
    range: Expr
    body: Stmt
    span: Span


class While(Struct, frozen=True, eq=False):
    """A loop that is tested before each pass."""

    condition: Expr
    body: Stmt
    span: Span
    unroll: int | None = None
    """As that of `For`."""


class DoWhile(Struct, frozen=True, eq=False):
    """A loop that is tested after each pass."""

    body: Stmt
    condition: Expr
    span: Span
    unroll: int | None = None
    """As that of `For`."""


class Case(Struct, frozen=True, eq=False):
    """A group of labels and the statements up to the next label; control falls through to the next case."""

    values: tuple[Expr, ...]
    is_default: bool
    body: tuple[Stmt, ...]


class Switch(Struct, frozen=True, eq=False):
    """A jump to one of the cases."""

    condition: Expr
    cases: tuple[Case, ...]
    span: Span


class Return(Struct, frozen=True, eq=False):
    """The end of a function."""

    value: Expr | None
    span: Span


class Break(Struct, frozen=True, eq=False):
    """The end of the innermost loop or switch."""

    span: Span


class Continue(Struct, frozen=True, eq=False):
    """The end of an iteration."""

    span: Span


class Asm(Struct, frozen=True, eq=False):
    """Inline PTX: its text and its operands, as far as the tree shows them."""

    text: str
    operands: tuple[Expr, ...]
    is_volatile: bool
    """Whether it stays in its place: without that, the compiler takes it for arithmetic."""
    span: Span


class UnknownStmt(Struct, frozen=True, eq=False):
    """What the front end could not lower; the children are still executed."""

    reason: str
    children: tuple[Stmt, ...]
    span: Span
    is_jump: bool = False
    """Threads go elsewhere from there, or come from elsewhere: which of them execute what follows is not known."""
    label: str = ""
    """Of `goto` and of what it leads to."""


Stmt = (
    Declare | ExprStmt | Block | If | For | RangeFor | While | DoWhile | Switch | Return | Break | Continue | Asm
    | UnknownStmt
)

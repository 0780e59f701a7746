"""Hypothesis strategies for whole small kernels with their launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from hypothesis import strategies as st

from reference_c.ctypes_ import INT, LONG, UCHAR, UINT, CType
from reference_c.expressions import Binary, Cast, Conditional, Element, Expr, Extremum, Lit, Var
from reference_c.generate import Shape, expressions
from reference_c.kernels import Extents, Kernel
from reference_c.statements import (
    Access,
    Array,
    Assign,
    AssignElement,
    CallHelper,
    Declare,
    DeclareArray,
    DeclarePointer,
    Helper,
    If,
    Leave,
    Loop,
    MovePointer,
    Statement,
    Switch,
)

_GLOBAL = (
    Array("a", "float", 4, "global"),
    Array("b", "double", 8, "global"),
    Array("c", "unsigned char", 1, "global"),
)
_SHARED = (Array("s", "float", 4, "shared", (256,)), Array("tile", "float", 4, "shared", (32, 33)))
_HELPED = Array("h", "float", 4, "global")
_BLOCKS = (
    (32, 1, 1),
    (64, 1, 1),
    (48, 1, 1),
    (16, 4, 1),
    (8, 8, 1),
    (33, 2, 1),
    (5, 3, 1),
    (4, 4, 4),
    (100, 1, 1),
)
_GRIDS = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1))
_TYPES = (INT, INT, INT, UINT, LONG, UCHAR)


@dataclass(frozen=True)
class Features:
    """Which statements a kernel may have."""

    loops: bool = True
    nested: int = 2
    """Loops inside of loops, at most."""
    turns: int = 5
    """Of a loop, at most, where its bound is a plain number."""
    leaving: bool = True
    """`break`, `continue` and early `return`."""
    switches: bool = True
    arrays: bool = True
    pointers: bool = True
    helpers: bool = True


@dataclass(frozen=True)
class Scope:
    """What is in sight at some place of a kernel."""

    readable: tuple[Var, ...]
    writable: tuple[Var, ...] = ()
    arrays: tuple[tuple[str, int], ...] = ()
    """Local arrays with their lengths."""
    pointers: tuple[str, ...] = ()
    loops: int = 0
    depth: int = 0
    in_switch: bool = False
    may_break: bool = False
    """Inside of a loop that assigns nothing which is read after it."""
    in_helper: bool = False

    def knows(self, variable: Var) -> Scope:
        return replace(self, readable=(*self.readable, variable), writable=(*self.writable, variable))


@dataclass
class Maker:
    """Draws the parts of one kernel."""

    draw: st.DrawFn
    features: Features
    helpers: Sequence[Helper] = ()
    _names: int = 0
    _kinds: dict[str, Callable[[Scope, list[Statement]], Scope]] = field(default_factory=dict)

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    # expressions

    def any_expression(self, scope: Scope, depth: int = 2) -> Expr:
        shape = Shape(scope.readable, (INT, UINT, LONG, UCHAR), literal_types=(INT, INT, UINT))
        return self.draw(expressions(shape, depth))

    def variable(self, scope: Scope) -> Expr:
        if scope.arrays and not self.number(0, 5):
            name, count = self.draw(st.sampled_from(scope.arrays))
            return Element(name, count, INT, self.small_index(scope, count))
        return self.draw(st.sampled_from(scope.readable))

    def small_index(self, scope: Scope, count: int) -> Expr:
        """An index within 0..count-1, often a plain number."""
        if self.number(0, 1):
            return Lit(self.number(0, count - 1), INT)
        return Binary("%", Cast(UINT, self.draw(st.sampled_from(scope.readable))), Lit(count, UINT))

    def value(self, scope: Scope) -> Expr:
        """What a variable is set to: mostly simple."""
        form = self.number(0, 5)
        variable = self.variable(scope)
        if form == 0:
            return Lit(self.number(-3, 40), INT)
        if form == 1:
            return Binary("+", variable, Binary("*", self.variable(scope), Lit(self.number(1, 9), INT)))
        if form == 2:
            return Binary(self.one_of("+", "-", "*", "^"), variable, Lit(self.number(0, 20), INT))
        if form == 3:
            return Binary(self.one_of("%", "/", ">>", "&"), variable, Lit(self.number(1, 7), INT))
        if form == 4:
            return Conditional(self.condition(scope), variable, self.variable(scope))
        return Binary("%", self.any_expression(scope), Lit(self.number(2, 99), INT))

    def condition(self, scope: Scope) -> Expr:
        form = self.number(0, 5)
        variable = self.variable(scope)
        if form <= 2:
            return Binary(
                self.one_of("<", "<=", ">", ">=", "==", "!="), variable, Lit(self.number(0, 40), INT)
            )
        if form == 3:
            low = Binary("&", variable, Lit(self.number(1, 7), INT))
            return Binary(self.one_of("==", "!=", "<"), low, Lit(self.number(0, 4), INT))
        if form == 4:
            left = Binary(self.one_of("<", ">="), variable, Lit(self.number(0, 40), INT))
            right = Binary(self.one_of("<", "!="), self.variable(scope), Lit(self.number(0, 20), INT))
            return Binary(self.one_of("&&", "||"), left, right)
        return Binary(self.one_of("<", ">", "!="), self.any_expression(scope, 1), self.variable(scope))

    def index(self, scope: Scope) -> Expr:
        """The subscript of an access: linear in variables, or anything within bounds."""
        form = self.number(0, 4)
        if form == 0:
            return self.variable(scope)
        if form == 1:
            return Binary(
                "+", Binary("*", self.variable(scope), Lit(self.number(1, 33), INT)), self.variable(scope)
            )
        if form == 2:
            return Binary("*", self.variable(scope), Lit(self.number(1, 40), INT))
        if form == 3:
            return Extremum(self.one_of("min", "max"), self.value(scope), Lit(self.number(0, 30), INT))
        return Binary("%", Cast(UINT, self.any_expression(scope)), Lit(self.number(1, 300), UINT))

    # statements

    def body(self, scope: Scope, most: int) -> list[Statement]:
        """A few statements with an access at the end."""
        statements: list[Statement] = []
        for _ in range(self.number(0, most)):
            scope = self.statement(scope, statements)
        self.access(scope, statements)
        return statements

    def statement(self, scope: Scope, into: list[Statement]) -> Scope:
        kinds: list[Callable[[Scope, list[Statement]], Scope]] = [
            self.declare, self.assign, self.assign, self.access,
        ]  # fmt: skip
        features, deep = self.features, scope.depth >= 3
        kinds += [self.branch] * (0 if deep else 2)
        if features.loops and scope.loops < features.nested and not deep:
            kinds += [self.loop] * 3
        if features.switches and not deep:
            kinds.append(self.switch)
        if features.leaving and scope.depth:
            kinds += [self.leave] * 2
        kinds += [self.local_array] if features.arrays else []
        kinds += [self.pointer] * 2 if features.pointers else []
        kinds += [self.call] if features.helpers and self.helpers and not scope.in_helper else []
        return self.draw(st.sampled_from(kinds))(scope, into)

    def declare(self, scope: Scope, into: list[Statement]) -> Scope:
        variable = Var(self.name("v"), self.draw(st.sampled_from(_TYPES)))
        into.append(Declare(variable.name, variable.type, self.value(scope)))
        return scope.knows(variable)

    def assign(self, scope: Scope, into: list[Statement]) -> Scope:
        if not scope.writable:
            return self.declare(scope, into)
        target = self.draw(st.sampled_from(scope.writable))
        into.append(self.draw(st.sampled_from((self._step, self._step, self._set)))(scope, target))
        return scope

    def _set(self, scope: Scope, target: Var) -> Statement:
        form = self.number(0, 3)
        if form == 0:
            moved = Binary("+", target, Lit(self.number(1, 5), INT))
            return Assign(target.name, target.type, "", Binary("%", moved, Lit(self.number(2, 9), INT)))
        if form == 1:
            return Assign(target.name, target.type, "", Binary("-", Lit(self.number(0, 9), INT), target))
        return Assign(target.name, target.type, "", self.value(scope))

    def _step(self, scope: Scope, target: Var) -> Statement:
        op = self.one_of("+", "+", "+", "-", "*", "<<", ">>", "^", "/", "&", "|", "%")
        if op in ("+", "-") and self.number(0, 2) == 0:
            return Assign(target.name, target.type, op, self.variable(scope))
        return Assign(
            target.name, target.type, op, Lit(self.number(1, 3 if op in ("<<", ">>", "*") else 9), INT)
        )

    def access(self, scope: Scope, into: list[Statement]) -> Scope:
        operation: Literal["load", "store"] = self.draw(st.sampled_from(("load", "store")))
        if scope.pointers and self.number(0, 1):
            base: Array | str = self.draw(st.sampled_from(scope.pointers))
            into.append(Access(base, operation, [self.index(scope)]))
            return scope
        if scope.in_helper:
            into.append(Access("mem", operation, [self.index(scope)]))
            return scope
        array = self.draw(st.sampled_from((*_GLOBAL, *_SHARED)))
        count = max(1, len(array.extents))
        into.append(Access(array, operation, [self.index(scope) for _ in range(count)]))
        return scope

    def branch(self, scope: Scope, into: list[Statement]) -> Scope:
        inner = replace(scope, depth=scope.depth + 1)
        otherwise = self.body(inner, 1) if self.number(0, 1) else []
        into.append(If(self.condition(scope), self.body(inner, 2), otherwise))
        return scope

    def leave(self, scope: Scope, into: list[Statement]) -> Scope:
        ways: list[Literal["break", "continue", "return"]] = []
        # Known difference: lanes that return inside of a loop or a switch come back, or all go, after it;
        # so do lanes that continue inside of a switch.
        if not scope.in_helper and not scope.in_switch and not scope.loops:
            ways.append("return")
        if scope.loops and not scope.in_switch:
            ways.append("continue")
        # Known difference: what lanes assigned before a `break` in a loop or a switch is lost or done twice.
        if scope.may_break and not scope.in_switch:
            ways += ["break", "break"]
        if not ways:
            return scope
        into.append(If(self.condition(scope), [Leave(self.draw(st.sampled_from(ways)))]))
        return scope

    def switch(self, scope: Scope, into: list[Statement]) -> Scope:
        inner = replace(scope, depth=scope.depth + 1, in_switch=True)
        labels: list[int | None] = list(range(self.number(1, 3)))
        if self.number(0, 1):
            labels.append(None)
        cases = []
        for label in labels:
            body = self.body(inner, 1)
            if self.number(0, 3):
                body.append(Leave("break"))
            cases.append((label, body))
        into.append(Switch(Binary("&", self.variable(scope), Lit(3, INT)), cases))
        return scope

    def local_array(self, scope: Scope, into: list[Statement]) -> Scope:
        if scope.arrays and self.number(0, 1):
            name, count = self.draw(st.sampled_from(scope.arrays))
            index = self.small_index(scope, count)
            into.append(AssignElement(name, INT, count, index, self.value(scope)))
            return scope
        name, count = self.name("r"), self.number(2, 4)
        into.append(DeclareArray(name, INT, [self.value(scope) for _ in range(count)]))
        return replace(scope, arrays=(*scope.arrays, (name, count)))

    def pointer(self, scope: Scope, into: list[Statement]) -> Scope:
        if scope.pointers and self.number(0, 1) and not scope.may_break:
            name = self.draw(st.sampled_from(scope.pointers))
            op: Literal["+", "-"] = self.draw(st.sampled_from(("+", "+", "-")))
            into.append(MovePointer(name, op, self.value(scope)))
            return scope
        if scope.in_helper:
            return scope
        name = self.name("p")
        into.append(DeclarePointer(name, self.draw(st.sampled_from(_GLOBAL)), self.value(scope)))
        return replace(scope, pointers=(*scope.pointers, name))

    def call(self, scope: Scope, into: list[Statement]) -> Scope:
        helper = self.draw(st.sampled_from(list(self.helpers)))
        result = Var(self.name("q"), helper.type)
        arguments = [self.value(scope) for _ in helper.parameters]
        into.append(CallHelper(result.name, helper, self.value(scope), arguments))
        return scope.knows(result)

    # loops

    def loop(self, scope: Scope, into: list[Statement]) -> Scope:
        form = self.one_of("count", "count", "count", "halve", "double", "while", "do", "stride")
        inner = replace(scope, depth=scope.depth + 1, loops=scope.loops + 1, in_switch=False)
        inner = replace(inner, may_break=bool(self.number(0, 1)))
        if inner.may_break:
            inner = replace(inner, writable=(), arrays=(), pointers=("mem",) if scope.in_helper else ())
        if form in ("while", "do"):
            into.append(self._tested(scope, inner, into, "while" if form == "while" else "do"))
        else:
            into.append(self._counted(form, scope, inner))
        return scope

    def _bound(self, scope: Scope) -> Expr:
        """How far a loop goes: a number, or a few steps that depend on the lane."""
        form = self.number(0, 3)
        if form == 0:
            return Binary("%", Cast(UINT, self.variable(scope)), Lit(self.number(2, 5), UINT))
        if form == 1:
            return Binary("&", self.variable(scope), Lit(3, INT))
        return Lit(self.number(0, self.features.turns), INT)

    def _counted(self, form: str, scope: Scope, inner: Scope) -> Statement:
        i = Var(self.name("i"), self.draw(st.sampled_from((INT, INT, UINT))))
        inner = replace(inner, readable=(*inner.readable, i))
        body = self.body(inner, 3)
        if form == "halve":
            start = Declare(i.name, i.type, Lit(self.draw(st.sampled_from((1, 5, 8, 16, 32))), INT))
            step = Assign(i.name, i.type, self.one_of(">>", "/"), Lit(1, INT))
            step = Assign(i.name, i.type, "/", Lit(2, INT)) if step.op == "/" else step
            return Loop("for", Binary(">", i, Lit(0, INT)), body, start, step)
        if form == "double":
            start = Declare(i.name, i.type, Lit(1, INT))
            step = Assign(i.name, i.type, self.one_of("<<", "*"), Lit(1, INT))
            step = Assign(i.name, i.type, "*", Lit(2, INT)) if step.op == "*" else step
            return Loop("for", Binary("<", i, Lit(self.number(2, 32), INT)), body, start, step)
        if form == "stride":
            start = Declare(i.name, i.type, self.draw(st.sampled_from(scope.readable)))
            width = self.number(16, 40)
            return Loop(
                "for",
                Binary("<", i, Lit(2 * width, INT)),
                body,
                start,
                Assign(i.name, i.type, "+", Lit(width, INT)),
            )
        start = Declare(i.name, i.type, self._start(scope))
        step = Assign(i.name, i.type, "+", Lit(self.number(1, 3), INT))
        return Loop(
            "for", Binary(self.one_of("<", "<", "<="), i, Cast(i.type, self._bound(scope))), body, start, step
        )

    def _start(self, scope: Scope) -> Expr:
        if self.number(0, 2):
            return Lit(self.number(0, 2), INT)
        return Binary("&", self.variable(scope), Lit(self.number(1, 3), INT))

    def _tested(
        self, scope: Scope, inner: Scope, into: list[Statement], form: Literal["while", "do"]
    ) -> Statement:
        """A loop that counts a variable of its own at the start of its body."""
        w = Var(self.name("w"), INT)
        into.append(Declare(w.name, INT, Lit(0, INT)))
        inner = replace(inner, readable=(*inner.readable, w))
        count = Assign(w.name, INT, "+", Lit(1, INT))
        body: list[Statement] = [count, *self.body(inner, 3)]
        return Loop(form, Binary("<", w, Cast(INT, self._bound(scope))), body)

    def helper(self) -> Helper:
        parameters = [(self.name("x"), self.draw(st.sampled_from((INT, UINT, LONG)))) for _ in range(2)]
        known = (*(Var(n, t) for n, t in parameters), Var("threadIdx.x", UINT))
        scope = Scope(known, pointers=("mem",), in_helper=True)
        own = Maker(self.draw, replace(self.features, helpers=False, nested=1), (), self._names)
        body = own.body(scope, 2)
        self._names = own._names
        early = (self.condition(scope), self.value(scope)) if self.number(0, 1) else None
        return Helper(self.name("help"), parameters, _HELPED, body, INT, self.value(scope), early)


@st.composite
def kernels(draw: st.DrawFn, features: Features = Features()) -> Kernel:
    """A kernel of a dozen statements, launched once with numbers for all of its arguments."""
    maker = Maker(draw, features)
    if features.helpers and draw(st.booleans()):
        maker.helpers = [maker.helper()]
    parameters: list[tuple[str, CType, int]] = [
        ("n", INT, draw(st.integers(0, 70))),
        ("m", UINT, draw(st.integers(1, 40))),
    ]
    known = [Var(name, type_) for name, type_, _ in parameters]
    block: Extents = draw(st.sampled_from(_BLOCKS))
    grid: Extents = draw(st.sampled_from(_GRIDS))
    for axis, extent in zip("xyz", block, strict=True):
        known += [Var(f"threadIdx.{axis}", UINT)] * (2 if extent > 1 else 0)
    for axis, extent in zip("xyz", grid, strict=True):
        known += [Var(f"blockIdx.{axis}", UINT)] if extent > 1 else []
    t = Var("t", INT)
    linear = Binary(
        "+", Var("threadIdx.x", UINT), Binary("*", Var("threadIdx.y", UINT), Var("blockDim.x", UINT))
    )
    body: list[Statement] = [Declare("t", INT, linear)]
    scope = Scope((*known, t, t), ())
    for _ in range(draw(st.integers(2, 5))):
        scope = maker.statement(scope, body)
    maker.access(scope, body)
    return Kernel("kernel", block, grid, (*_GLOBAL, _HELPED, *_SHARED), parameters, maker.helpers, body)

"""Where values of a kernel come from: the numbers that it takes, and what differs between threads, blocks and turns.

It is found out by the text alone, whatever the order of statements: what a variable may be is all that is ever assigned
to it, and what a function's parameter may be is all that its calls hand over.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import children, effects, nodes_in, root, walk, without_casts
from cudalint.worlds.records import Parameter

Variation = Literal["thread", "block", "loop", "data"]

_MOST_FUNCTIONS = 300
"""That are looked at below one kernel."""
_MOST_ROUNDS = 8
"""Of handing on what is known of variables: one for each assignment in a row is enough."""
_FOLDED: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_IN_MEMORY: Final = frozenset({"shared", "dynamic-shared", "constant", "device", "static"})
_BUILT_IN: Final[dict[str, tuple[Variation, ...]]] = {"threadIdx": ("thread",), "blockIdx": ("block",)}


class Origin(Struct, frozen=True):
    """What a value depends on."""

    sources: frozenset[Parameter] = frozenset()
    varies: frozenset[Variation] = frozenset()
    plain: Parameter | None = None
    """The parameter that it is, as it was given."""
    constant: int | None = None
    added: frozenset[Parameter] = frozenset()
    """The parameters that it is a sum of, or that fixed parts of it are computed of, with whatever else."""
    beyond: int = 0
    """The constant that it is a sum of, beside these."""

    @property
    def name(self) -> str | None:
        return self.plain.name if self.plain is not None else None

    def joined(self, other: Origin) -> Origin:
        """It is one or the other."""
        if self == other:
            return self
        both = self.with_(other)
        return Origin(
            both.sources, both.varies, self.plain if self.plain == other.plain else None,
            self.constant if self.constant == other.constant else None, self.added | other.added,
            self.beyond if self.beyond == other.beyond else 0,
        )  # fmt: skip

    def with_(self, other: Origin) -> Origin:
        """It is computed of both."""
        return Origin(self.sources | other.sources, self.varies | other.varies)


def _plain(parameter: Parameter) -> Origin:
    own = frozenset({parameter})
    return Origin(own, plain=parameter, added=own)


def _sum(part: Origin) -> int:
    """The constant that a part brings into a sum."""
    return part.constant if part.constant is not None else part.beyond


NOTHING: Final = Origin()
_DATA: Final = Origin(varies=frozenset({"data"}))


class Code(Struct, frozen=True, eq=False):
    """The text of a kernel with that of all functions that it calls."""

    functions: tuple[ir.Function, ...]
    nodes: tuple[Any, ...]
    """All their statements and expressions, function by function."""
    bound: tuple[tuple[ir.Symbol, ir.Expr], ...]
    """What calls hand over to parameters."""

    @classmethod
    def of(cls, kernel: ir.Function) -> Code:
        functions: dict[ir.Function, None] = {kernel: None}
        nodes: list[Any] = []
        bound: list[tuple[ir.Symbol, ir.Expr]] = []
        pending = [kernel]
        while pending:
            own = nodes_in(pending.pop(0))
            nodes += own
            for node in own:
                callee = _callee(node)
                if callee is None:
                    continue
                bound += zip(callee.parameters, node.arguments, strict=False)
                if callee.this is not None and isinstance(node, ir.Call) and node.receiver is not None:
                    bound.append((callee.this, node.receiver))
                if callee not in functions and len(functions) < _MOST_FUNCTIONS:
                    functions[callee] = None
                    pending.append(callee)
        return cls(tuple(functions), tuple(nodes), tuple(bound))


def _callee(node: Any) -> ir.Function | None:
    """The function that a node calls, if its body is in sight."""
    if isinstance(node, ir.Call):
        return node.function.load() if node.function is not None else None
    return node.constructor.load() if isinstance(node, ir.Construct) and node.constructor is not None else None


def numbers_of(kernel: ir.Function) -> tuple[Parameter, ...]:
    """The numbers that a kernel takes, in the order of their declarations."""
    return tuple(p for symbol in kernel.parameters for p in _numbers_in(Parameter(symbol), symbol.type))


def _numbers_in(parameter: Parameter, type_: ir.Type) -> Iterator[Parameter]:
    if isinstance(type_, ir.RecordType):
        for field in type_.fields:
            yield from _numbers_in(Parameter(parameter.symbol, (*parameter.path, field.name)), field.type)
    elif isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint", "bool"):
        yield parameter


class Origins:
    """The origins of a kernel's values."""

    def __init__(self, kernel: ir.Function, code: Code) -> None:
        self.parameters = numbers_of(kernel)
        self._numbers = frozenset(self.parameters)
        self._known: dict[Any, Origin] = {}
        self._variables: dict[ir.Symbol, Origin] = {}
        self._returned: dict[ir.Function, Origin] = {}
        self._records: dict[ir.Symbol, set[Parameter]] = {}
        """The records among a kernel's parameters, or their parts, that a variable may be, or point to."""
        for symbol in kernel.parameters:
            if isinstance(symbol.type, ir.RecordType):
                self._records[symbol] = {Parameter(symbol)}
            elif Parameter(symbol) in self._numbers:
                self._variables[symbol] = _plain(Parameter(symbol))
        self._turning = frozenset(_turning(code.nodes))
        self._follow(code)

    def of(self, expression: ir.Expr) -> Origin:
        """The origin of a value."""
        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = self._of(expression)
        return found

    def moving(self, place: ir.Expr) -> Origin:
        """That of the address of an lvalue, or of a pointer."""
        match place:
            case ir.Index():
                return self.moving(place.base).with_(self.of(place.index))
            case ir.Member():
                return self.of(place.base) if place.arrow else self.moving(place.base)
            case ir.Unary(op="*"):
                return self.of(place.operand)
            case ir.Cast():
                return self.moving(place.operand)
        return self.of(place)

    # --- variables ---------------------------------------------------------------------------------

    def _follow(self, code: Code) -> None:
        """Passes on what is assigned to variables until nothing new comes of it."""
        returns = [
            (function, node.value)
            for function in code.functions[1:]
            for node in nodes_in(function)
            if isinstance(node, st.Return) and node.value is not None
        ]
        assigned = [*code.bound, *_assigned(code.nodes)]
        for _ in range(_MOST_ROUNDS):
            self._known.clear()
            changed = False
            for symbol, value in assigned:
                changed |= self._is_record(symbol, value) or self._join(self._variables, symbol, self._of(value))
            for function, value in returns:
                changed |= self._join(self._returned, function, self._of(value))
            if not changed:
                break
        self._known.clear()

    def _join(self, known: dict[Any, Origin], key: Any, new: Origin) -> bool:
        old = known.get(key)
        both = new if old is None else old.joined(new)
        if both == old:
            return False
        known[key] = both
        return True

    def _is_record(self, symbol: ir.Symbol, value: ir.Expr) -> bool:
        """Whether more is known now of which of the kernel's records a variable is."""
        type_ = ir.pointee(symbol.type) if isinstance(symbol.type, ir.PointerType) else symbol.type
        if not isinstance(type_, ir.RecordType):
            return False
        known = self._records.get(symbol, set())
        new = self._part(value) - known
        if new:
            self._records[symbol] = known | new
        return bool(new)

    def _part(self, expression: ir.Expr) -> set[Parameter]:
        """The kernel's records, or numbers in them, that an expression names, or points to."""
        inner = without_casts(expression)
        while isinstance(inner, ir.Unary) and inner.op in ("&", "*"):
            inner = without_casts(inner.operand)
        if isinstance(inner, ir.Construct) and inner.constructor is None and len(inner.arguments) == 1:
            return self._part(inner.arguments[0])
        if isinstance(inner, ir.Name):
            return self._records.get(inner.symbol, set())
        if isinstance(inner, ir.Member):
            return {Parameter(p.symbol, (*p.path, inner.field)) for p in self._part(inner.base)}
        return set()

    # --- expressions -------------------------------------------------------------------------------

    def _of(self, e: Any) -> Origin:
        match e:
            case ir.Constant():
                return Origin(constant=int(e.value)) if isinstance(e.value, int) else NOTHING
            case ir.Name():
                return self._variable(e.symbol)
            case ir.Member():
                return self._member(e)
            case ir.Index():
                return self._held(e) if is_local(e) else _DATA
            case ir.Unary():
                return self._unary(e)
            case ir.Binary(op=","):
                return self.of(e.right)
            case ir.Binary():
                return self._computed(e.op, self.of(e.left), self.of(e.right))
            case ir.Assign():
                value = self.of(e.value)
                if not e.op:
                    return value
                both = self._computed(e.op, self.of(e.target), value)
                # What is added on the way, as in each turn of a loop, is not where it begins.
                return Origin(both.sources, both.varies, constant=both.constant, added=self.of(e.target).added)
            case ir.Conditional():
                either = self.of(e.then).joined(self.of(e.otherwise))
                varies = either.varies | self.of(e.condition).varies
                return Origin(either.sources, varies, either.plain, either.constant, either.added, either.beyond)
            case ir.Cast():
                own = self.of(e.operand)
                is_number = isinstance(e.type, ir.Scalar) and e.type.kind != "float"
                return own if is_number or isinstance(e.type, ir.PointerType) else own.with_(NOTHING)
            case ir.Call():
                return self._call(e)
            case ir.InitList() | ir.Construct():
                return self._all(children(e))
        return _DATA

    def _variable(self, symbol: ir.Symbol) -> Origin:
        if symbol.storage == "builtin":
            varies = _BUILT_IN.get(symbol.name)
            return Origin(varies=frozenset(varies)) if varies else NOTHING
        found = self._variables.get(symbol)
        # No element of a table stands for all of it: what may be long is not even looked at.
        is_table = isinstance(symbol.type, ir.ArrayType) and symbol.storage in _IN_MEMORY
        if found is None and symbol.initializer is not None and symbol.is_const and not is_table:
            value = symbol.initializer()
            found = self._of(value) if value is not None else None
        if symbol.storage in _IN_MEMORY:
            is_array = isinstance(symbol.type, ir.ArrayType)
            return found if found is not None and found.constant is not None else NOTHING if is_array else _DATA
        found = found or NOTHING
        turned = Origin(found.sources, found.varies | {"loop"})
        return turned if symbol in self._turning else found

    def _member(self, e: ir.Member) -> Origin:
        found: Origin | None = None
        for parameter in self._part(e):
            own = _plain(parameter) if parameter in self._numbers else NOTHING
            found = own if found is None else found.joined(own)
        if found is not None:
            return found
        base = root(e)
        if base is not None and base.storage == "builtin":
            return self._variable(base)
        return self._held(e) if is_local(e) else _DATA

    def _held(self, e: ir.Expr) -> Origin:
        """Something of a local array or record: all of it is one."""
        base = root(e)
        found = self._variable(base) if base is not None else _DATA
        return found.with_(NOTHING)

    def _unary(self, e: ir.Unary) -> Origin:
        if e.op == "&":
            return self.moving(e.operand)
        if e.op == "*":
            return self._held(e) if is_local(e) else _DATA
        own = self.of(e.operand)
        if e.op == "-" and own.constant is not None:
            return Origin(constant=-own.constant)
        if e.op == "~" and own.constant is not None:
            return Origin(constant=~own.constant)
        return own if e.op == "+" else own.with_(NOTHING)

    def _computed(self, op: str, left: Origin, right: Origin) -> Origin:
        both = left.with_(right)
        if op in ("+", "-"):
            beyond = _sum(left) + _sum(right) * (1 if op == "+" else -1)
            both = Origin(both.sources, both.varies, added=left.added | right.added, beyond=beyond)
        elif not both.varies:
            both = Origin(both.sources, added=both.sources)
        if left.constant is None or right.constant is None or op not in _FOLDED:
            return both
        return Origin(both.sources, both.varies, constant=_FOLDED[op](left.constant, right.constant))

    def _call(self, e: ir.Call) -> Origin:
        body = _callee(e)
        if body is not None and body in self._returned:
            return self._returned[body]
        given = self._all(e.arguments)
        if any(isinstance(argument.type, (ir.PointerType, ir.ArrayType)) for argument in e.arguments):
            return _DATA
        if e.receiver is not None or "shfl" in e.name:
            # What groups of threads say of a thread, and what it gets from another.
            return given.with_(Origin(varies=frozenset({"thread"})))
        return given

    def _all(self, parts: Iterable[Any]) -> Origin:
        found = NOTHING
        for part in parts:
            found = found.with_(self.of(part))
        return found


def is_local(e: ir.Expr) -> bool:
    """Whether an lvalue is part of a variable that a thread has to itself."""
    while True:
        if isinstance(e, ir.Name):
            return e.symbol.storage in ("local", "parameter") and not isinstance(e.symbol.type, ir.PointerType)
        if isinstance(e, ir.Member) and not e.arrow:
            e = e.base
        elif isinstance(e, (ir.Index, ir.Cast)):
            e = e.base if isinstance(e, ir.Index) else e.operand
        else:
            return False


def _assigned(nodes: Iterable[Any]) -> Iterator[tuple[ir.Symbol, ir.Expr]]:
    """All that is assigned to variables, or to parts of them."""
    for node in nodes:
        if isinstance(node, st.Declare) and node.initializer is not None:
            yield node.symbol, node.initializer
        elif isinstance(node, ir.Assign):
            symbol = root(node.target)
            if symbol is not None and (is_local(node.target) or isinstance(node.target, ir.Name)):
                yield symbol, node


def _turning(nodes: Iterable[Any]) -> Iterator[ir.Symbol]:
    """Variables that a loop changes and that are declared outside of its body."""
    for node in nodes:
        if isinstance(node, (st.For, st.While, st.DoWhile)):
            own = {each.symbol for each in walk(node.body) if isinstance(each, st.Declare)}
            increment = node.increment if isinstance(node, st.For) else None
            yield from (s for s in effects(increment, node.condition, node.body).assigned if s not in own)

"""Statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower import headers
from cudalint.frontend.lower.ranges import over_iterators
from cudalint.frontend.lower.sources import Place
from cudalint.frontend.range_loops import over_array
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_UNROLL: Final = regex(r"unroll\b\s*\(?\s*(\d*)")
_STD_ARRAY: Final = regex(r"(cuda::)?std::array<")
_CONSTEXPR_IF: Final = regex(r"if\s+constexpr\b")
_CASES: Final = frozenset({kinds.CASE_STMT, kinds.DEFAULT_STMT})
_JUMPS: Final = {
    kinds.GOTO_STMT: "goto",
    kinds.LABEL_STMT: "label",
    **dict.fromkeys(_CASES, "a case label inside of another statement"),
}
"""What has no place in a tree of branches and loops, by what it is called."""


class Statements:
    """Lowers statements; each kind of node has its own method, found through a table.

    One node may be several statements (`int a, b;`), hence lists.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._span = context.sources.span
        self._asms_seen: dict[Place, int] = {}
        """How many `asm` statements of a use of a macro were lowered."""
        self._methods: dict[int, Callable[[Cursor], list[st.Stmt]]] = {
            kinds.COMPOUND_STMT: self._compound,
            kinds.DECL_STMT: self._declarations,
            kinds.NULL_STMT: lambda cursor: [],
            kinds.IF_STMT: self._if,
            kinds.FOR_STMT: self._for,
            kinds.CXX_FOR_RANGE_STMT: self._range_for,
            kinds.WHILE_STMT: self._while,
            kinds.DO_STMT: self._do,
            kinds.SWITCH_STMT: self._switch,
            kinds.RETURN_STMT: self._return,
            kinds.BREAK_STMT: lambda cursor: [st.Break(self._span(cursor))],
            kinds.CONTINUE_STMT: lambda cursor: [st.Continue(self._span(cursor))],
            kinds.ASM_STMT: self._asm,
            kinds.UNEXPOSED_STMT: self._attributed,
            kinds.CXX_TRY_STMT: self._try,
            kinds.VAR_DECL: self._variable,
            kinds.UNEXPOSED_DECL: self._decomposition,
        }

    def lower(self, cursor: Cursor) -> list[st.Stmt]:
        """The statements of one node. What no method was written for costs that statement and nothing else."""
        method = self._methods.get(cursor.kind)
        try:
            if method is not None:
                return method(cursor)
            if kinds.is_expression(cursor.kind):
                return [st.ExprStmt(self._context.expressions.lower(cursor), self._span(cursor))]
            return self._unknown(cursor)
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            return [st.UnknownStmt(f"not understood ({type(error).__name__}: {error})", (), self._span(cursor))]

    def block(self, cursor: Cursor) -> st.Stmt:
        """A node as one statement: the body of a loop, a branch, a function."""
        statements = self.lower(cursor)
        if len(statements) == 1:
            return statements[0]
        return st.Block(tuple(statements), self._span(cursor))

    def _unknown(self, cursor: Cursor) -> list[st.Stmt]:
        jump = _JUMPS.get(cursor.kind)
        reason = jump or f"statement of libclang kind {cursor.kind}"
        inner = cursors.children(cursor)
        children = tuple(self._all(inner))
        named = (node for node in (cursor, *inner) if node.kind in (kinds.LABEL_STMT, kinds.LABEL_REF))
        label = next(map(cursors.spelling, named), "")
        return [st.UnknownStmt(reason, children, self._span(cursor), jump is not None, label)]

    def _all(self, nodes: list[Cursor]) -> list[st.Stmt]:
        statements: list[st.Stmt] = []
        for node in nodes:
            if not kinds.is_reference(node.kind) and not kinds.is_attribute(node.kind):
                statements += self.lower(node)
        return statements

    def _compound(self, cursor: Cursor) -> list[st.Stmt]:
        return [st.Block(tuple(self._all(cursors.children(cursor))), self._span(cursor))]

    def _attributed(self, cursor: Cursor) -> list[st.Stmt]:
        """A statement with an attribute (`[[likely]]`) or a pragma for the loop that follows."""
        inner = [child for child in cursors.children(cursor) if not kinds.is_attribute(child.kind)]
        if len(inner) != 1:
            return self._unknown(cursor)
        if inner[0].kind == kinds.FOR_STMT:
            return self._for(inner[0], self._unroll_factor(cursor))
        if inner[0].kind == kinds.WHILE_STMT:
            return self._while(inner[0], self._unroll_factor(cursor))
        if inner[0].kind == kinds.DO_STMT:
            return self._do(inner[0], self._unroll_factor(cursor))
        return self.lower(inner[0])

    def _try(self, cursor: Cursor) -> list[st.Stmt]:
        """Only the guarded block: handlers run when something fails."""
        return self.lower(cursors.children(cursor)[0])

    # --- declarations --------------------------------------------------------------------------------

    def _declarations(self, cursor: Cursor) -> list[st.Stmt]:
        statements: list[st.Stmt] = []
        for child in cursors.children(cursor):
            if child.kind == kinds.VAR_DECL:
                statements += self._variable(child)
            elif child.kind == kinds.UNEXPOSED_DECL:
                statements += self._decomposition(child)
        return statements

    def _variable(self, cursor: Cursor) -> list[st.Stmt]:
        symbol = self._context.symbols.symbol(cursor)
        value = None
        if symbol.storage not in ("shared", "dynamic-shared"):
            value = self._context.expressions.initializer(cursor)
        return [st.Declare(symbol, value, self._span(cursor))]

    def _decomposition(self, cursor: Cursor) -> list[st.Stmt]:
        """`auto [a, b] = pair;` declares an unnamed variable; `a` and `b` mean its parts."""
        children = cursors.children(cursor)
        bindings = [child for child in children if child.kind == kinds.UNEXPOSED_DECL]
        if not bindings:
            return []
        whole = self._context.symbols.symbol(cursor)
        for position, binding in enumerate(bindings):
            self._context.symbols.bind(binding, whole, position)
        values = [child for child in children if kinds.is_expression(child.kind)]
        value = self._context.expressions.lower(values[-1]) if values else None
        return [st.Declare(whole, value, self._span(cursor))]

    # --- branches --------------------------------------------------------------------------------------

    def _if(self, cursor: Cursor) -> list[st.Stmt]:
        """An `if`; a chain of `else if` is walked in a loop, as generated code has long ones."""
        nodes = cursors.children(cursor)
        before, nodes, _ = self._condition_declaration(nodes)
        if len(nodes) == 4:  # An expression as the init-statement.
            before += self.lower(nodes.pop(0))
        if not nodes:
            return self._unknown(cursor)
        if self._is_constexpr(cursor):
            return self._scoped(before, self._chosen_branch(nodes), cursor)
        condition = self._context.expressions.lower(nodes[0])
        then = self.block(nodes[1]) if len(nodes) > 1 else st.Block((), self._span(cursor))
        otherwise = self.block(nodes[2]) if len(nodes) > 2 else None
        return self._scoped(before, [st.If(condition, then, otherwise, self._span(cursor))], cursor)

    def _chosen_branch(self, nodes: list[Cursor]) -> list[st.Stmt]:
        """The branch of an `if constexpr` that is compiled."""
        value = cursors.evaluate(nodes[0])
        branches = nodes[1:]
        if value is None:
            value = self._context.type_tests.decided(nodes[0])
        if value is None:  # In a template itself: both are possible.
            condition = self._context.type_tests.left_open(nodes[0]) or self._context.expressions.lower(nodes[0])
            lowered = [self.block(branch) for branch in branches] + [None, None]
            then = lowered[0] or st.Block((), condition.span)
            return [st.If(condition, then, lowered[1], self._span(nodes[0]))]
        position = 0 if value else 1
        return self.lower(branches[position]) if position < len(branches) else []

    def _is_constexpr(self, cursor: Cursor) -> bool:
        return any(_CONSTEXPR_IF.match(file.text, offset) for file, offset in self._context.sources.readings(cursor))

    def _condition_declaration(self, nodes: list[Cursor]) -> tuple[list[st.Stmt], list[Cursor], st.Declare | None]:
        """Splits `if (init; T x = value)`: the declarations before the condition, and the other nodes."""
        before: list[st.Stmt] = []
        declared = None
        nodes = list(nodes)
        if nodes and nodes[0].kind == kinds.DECL_STMT:
            before += self.lower(nodes.pop(0))
        if nodes and nodes[0].kind == kinds.VAR_DECL:
            variable = self._variable(nodes.pop(0))[0]
            declared = variable if isinstance(variable, st.Declare) else None
            before.append(variable)
        return before, nodes, declared

    def _scoped(self, before: list[st.Stmt], statements: list[st.Stmt], cursor: Cursor) -> list[st.Stmt]:
        if not before:
            return statements
        return [st.Block((*before, *statements), self._span(cursor))]

    def _switch(self, cursor: Cursor) -> list[st.Stmt]:
        before, nodes, _ = self._condition_declaration(cursors.children(cursor))
        if len(nodes) < 2:
            return self._unknown(cursor)
        condition = self._context.expressions.lower(nodes[-2])
        cases = _Cases(self._context.expressions.lower, self.lower)
        body = nodes[-1]
        for node in cursors.children(body) if body.kind == kinds.COMPOUND_STMT else [body]:
            cases.add(node)
        return self._scoped(before, [st.Switch(condition, cases.finish(), self._span(cursor))], cursor)

    # --- loops -----------------------------------------------------------------------------------------

    def _for(self, cursor: Cursor, unroll: int | None = None) -> list[st.Stmt]:
        nodes = cursors.children(cursor)
        if not nodes:
            return self._unknown(cursor)
        parts = headers.for_parts(self._context.sources, cursor, nodes[:-1])
        body = self.block(nodes[-1])
        condition = self._context.expressions.lower(parts.condition) if parts.condition is not None else None
        if parts.declaration is not None and condition is not None:
            condition, body = self._declared_in_loop(parts.declaration, condition, body)
        init = self.block(parts.init) if parts.init is not None else None
        increment = self._context.expressions.lower(parts.increment) if parts.increment is not None else None
        return [st.For(init, condition, increment, body, self._span(cursor), unroll)]

    def _unroll_factor(self, attributed: Cursor) -> int | None:
        """The factor of `#pragma unroll`, which only the text has; 0 where it isn't a number."""
        for file, offset in self._context.sources.readings(attributed):
            match = _UNROLL.search(file.text, offset, offset + 60)
            if match is not None:
                return int(match.group(1) or 0)
        return None

    def _declared_in_loop(self, node: Cursor, condition: ir.Expr, body: st.Stmt) -> tuple[ir.Expr, st.Stmt]:
        """`while (T x = next())` as the condition `(x = next(), x)`."""
        symbol = self._context.symbols.symbol(node)
        value = self._context.expressions.initializer(node)
        if value is None:
            return condition, body
        assign = self._context.expressions.assigned(symbol, value, self._span(node))
        return ir.Binary(",", assign, condition, condition.type, condition.span), body

    def _range_for(self, cursor: Cursor) -> list[st.Stmt]:
        nodes = cursors.children(cursor)
        position = next((i for i, node in enumerate(nodes) if node.kind == kinds.VAR_DECL), None)
        if position is None or len(nodes) < position + 3:
            return self._unknown(cursor)
        symbol = self._context.symbols.symbol(nodes[position])
        range_ = self._context.expressions.lower(nodes[position + 1])
        body = self.block(nodes[-1])
        before = self._all(nodes[:position])
        span = self._span(cursor)
        array = _array_of(range_)
        if array is None:
            loop = over_iterators(self._context, nodes[position], range_, body, span)
            if loop is not None:
                return self._scoped([*before, *loop[:-1]], loop[-1:], cursor)
            return self._scoped(before, [st.RangeFor(symbol, range_, body, span)], cursor)
        if isinstance(array, ir.InitList):
            listed = ir.Symbol("range", array.type, "local", array.span)
            before.append(st.Declare(listed, array, array.span))
            array = ir.Name(listed, array.type, array.span)
        return self._scoped(before, [over_array(symbol, array, body, span)], cursor)

    def _while(self, cursor: Cursor, unroll: int | None = None) -> list[st.Stmt]:
        nodes = cursors.children(cursor)
        if len(nodes) < 2:
            return self._unknown(cursor)
        condition = self._context.expressions.lower(nodes[-2])
        body = self.block(nodes[-1])
        if nodes[0].kind == kinds.VAR_DECL:
            condition, body = self._declared_in_loop(nodes[0], condition, body)
            declared = st.Declare(self._context.symbols.symbol(nodes[0]), None, self._span(nodes[0]))
            loop = st.While(condition, body, self._span(cursor), unroll)
            return [st.Block((declared, loop), self._span(cursor))]
        return [st.While(condition, body, self._span(cursor), unroll)]

    def _do(self, cursor: Cursor, unroll: int | None = None) -> list[st.Stmt]:
        nodes = cursors.children(cursor)
        if len(nodes) != 2:
            return self._unknown(cursor)
        body = self.block(nodes[0])
        return [st.DoWhile(body, self._context.expressions.lower(nodes[1]), self._span(cursor), unroll)]

    # --- the rest ----------------------------------------------------------------------------------------

    def _return(self, cursor: Cursor) -> list[st.Stmt]:
        values = cursors.expressions(cursor)
        value = self._context.expressions.lower(values[-1]) if values else None
        return [st.Return(value, self._span(cursor))]

    def _asm(self, cursor: Cursor) -> list[st.Stmt]:
        readings = self._context.sources.readings(cursor)
        written = (headers.assembly(file.text, offset) for file, offset in readings)
        found = next((each for each in written if each), None) or self._asm_of_macro(cursor)
        operands = self._context.expressions.lower_all(cursors.expressions(cursor))
        return [st.Asm(found.template, operands, found.is_volatile, self._span(cursor))]

    def _asm_of_macro(self, cursor: Cursor) -> headers.Assembly:
        """Those of one use of a macro come one after the other."""
        place = self._context.sources.begin(cursor)
        statements = self._context.macros.assemblies(place.word)
        if not statements:
            return headers.Assembly("", is_volatile=True)
        number = self._asms_seen.get(place, 0)
        self._asms_seen[place] = number + 1
        return statements[number % len(statements)]


def _array_of(range_: ir.Expr) -> ir.Name | ir.Member | ir.Index | ir.InitList | None:
    """The array that a range-based `for` walks along: a named one, that of a `std::array`, or the list in braces that
    stands there."""
    if isinstance(range_, (ir.Cast, ir.Construct)):
        inner = (range_.operand,) if isinstance(range_, ir.Cast) else range_.arguments
        return inner[0] if len(inner) == 1 and isinstance(inner[0], ir.InitList) and _has_extent(inner[0]) else None
    if not isinstance(range_, (ir.Name, ir.Member, ir.Index)):
        return None
    if isinstance(range_.type, ir.RecordType) and _STD_ARRAY.match(range_.type.name) and len(range_.type.fields) == 1:
        elements = range_.type.fields[0]
        range_ = ir.Member(range_, elements.name, False, elements.type, range_.span)
    return range_ if _has_extent(range_) else None


def _has_extent(expr: ir.Expr) -> bool:
    return isinstance(expr.type, ir.ArrayType) and expr.type.count is not None


class _Cases:
    """Collects the labels and statements of a switch into cases."""

    def __init__(self, expression: Callable[[Cursor], ir.Expr], statements: Callable[[Cursor], list[st.Stmt]]) -> None:
        self._expression = expression
        self._statements = statements
        self._cases: list[st.Case] = []
        self._values: list[ir.Expr] = []
        self._is_default = False
        self._body: list[st.Stmt] = []

    def add(self, node: Cursor) -> None:
        """Adds one statement of the switch's body; labels nest (`case 1: case 2: f();`)."""
        while node.kind in _CASES:
            if self._body:
                self._close()
            children = cursors.children(node)
            if node.kind == kinds.CASE_STMT:
                self._values.append(self._expression(children[0]))
            else:
                self._is_default = True
            if not children or children[-1].kind in (kinds.NULL_STMT,):
                return
            node = children[-1]
        self._body += self._statements(node)

    def finish(self) -> tuple[st.Case, ...]:
        self._close()
        return tuple(self._cases)

    def _close(self) -> None:
        if self._values or self._is_default or self._body:
            self._cases.append(st.Case(tuple(self._values), self._is_default, tuple(self._body)))
        self._values, self._is_default, self._body = [], False, []

"""The kernel IR as text, one line for each statement: for tests and for people who debug the front end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

_INDENT: Final = "  "


def dump_function(function: ir.Function) -> str:
    """A function with its signature and body."""
    parameters = ", ".join(f"{p.name}: {type_name(p.type)}" for p in function.parameters)
    lines = [f"{function.kind} {function.instantiation}({parameters}) -> {type_name(function.result)}"]
    if function.max_threads is not None:
        lines.append(f"{_INDENT}launch bounds {function.max_threads}, {function.min_blocks}")
    lines += [f"{_INDENT}init {name} = {expression(value)}" for name, value in function.member_initializers]
    lines += [f"{_INDENT}problem {problem}" for problem in function.problems]
    return "\n".join([*lines, *_statement(function.body, 1)])


# --- types -----------------------------------------------------------------------------------------


def type_name(type_: ir.Type) -> str:
    if isinstance(type_, ir.PointerType):
        return type_name(type_.pointee) + ("&" if type_.reference else "*")
    if isinstance(type_, ir.ArrayType):
        extents = ""
        while isinstance(type_, ir.ArrayType):
            extents += f"[{'' if type_.count is None else type_.count}]"
            type_ = type_.element
        return type_name(type_) + extents
    return type_.name


# --- expressions -----------------------------------------------------------------------------------


def expression(expr: ir.Expr) -> str:
    """One expression, with every operator in parentheses; implicit conversions as `type(x)`, explicit ones as
    `(type)x`."""
    return _EXPRESSIONS[type(expr)](expr)


def _base(expr: ir.Expr) -> str:
    """An expression before `.`, `->` or `[`."""
    text = expression(expr)
    is_prefixed = isinstance(expr, ir.Unary | ir.Assign) or (isinstance(expr, ir.Cast) and expr.explicit)
    return f"({text})" if is_prefixed else text


def _list(expressions: tuple[ir.Expr, ...]) -> str:
    return ", ".join([expression(expr) for expr in expressions])


def _unary(expr: ir.Unary) -> str:
    operand = expression(expr.operand)
    return expr.op.replace("x", operand) if "x" in expr.op else f"{expr.op}{operand}"


def _binary(expr: ir.Binary) -> str:
    """Long sums lean to the left, so that they are written in a loop."""
    rights: list[str] = []
    node: ir.Expr = expr
    while isinstance(node, ir.Binary):
        rights.append(f" {node.op} {expression(node.right)})")
        node = node.left
    return "(" * len(rights) + expression(node) + "".join(reversed(rights))


def _call(expr: ir.Call) -> str:
    name = expression(expr.callee) if expr.callee is not None else expr.name
    receiver = f"{_base(expr.receiver)}." if expr.receiver is not None else ""
    return f"{receiver}{name}({_list(expr.arguments)})"


def _construct(expr: ir.Construct) -> str:
    return f"{'new-trivial ' if expr.constructor is None else ''}{type_name(expr.type)}({_list(expr.arguments)})"


def _launch(expr: ir.Launch) -> str:
    kernel = expr.kernel.name if expr.kernel is not None else expression(expr.callee) if expr.callee else "?"
    parts = (expr.grid, expr.block, expr.shared, expr.stream)
    configuration = ", ".join(["-" if part is None else expression(part) for part in parts])
    return f"{kernel}<<<{configuration}>>>({_list(expr.arguments)})"


def _lambda(expr: ir.Lambda) -> str:
    captures = ", ".join(f"{'&' if c.by_reference else ''}{c.symbol.name}" for c in expr.captures)
    return f"lambda[{captures}]"


_EXPRESSIONS: Final[dict[type, Callable[[Any], str]]] = {
    ir.Constant: lambda e: str(e.value),
    ir.Name: lambda e: e.symbol.name,
    ir.Member: lambda e: f"{_base(e.base)}{'->' if e.arrow else '.'}{e.field}",
    ir.Index: lambda e: f"{_base(e.base)}[{expression(e.index)}]",
    ir.Unary: _unary,
    ir.Binary: _binary,
    ir.Assign: lambda e: f"{expression(e.target)} {e.op}= {expression(e.value)}",
    ir.Conditional: lambda e: f"({expression(e.condition)} ? {expression(e.then)} : {expression(e.otherwise)})",
    ir.Cast: lambda e: (
        f"({type_name(e.type)}){expression(e.operand)}"
        if e.explicit
        else f"{type_name(e.type)}({expression(e.operand)})"
    ),
    ir.Call: _call,
    ir.Construct: _construct,
    ir.InitList: lambda e: f"{{{_list(e.elements)}}}",
    ir.Lambda: _lambda,
    ir.Launch: _launch,
    ir.FunctionName: lambda e: f"&{e.function.name}",
    ir.New: lambda e: f"new {type_name(e.element)}{f'[{expression(e.count)}]' if e.count is not None else ''}",
    ir.UnknownExpr: lambda e: f"<unknown {e.reason}: {_list(e.children)}>",
}

# --- statements ------------------------------------------------------------------------------------


def _statement(statement: st.Stmt, depth: int) -> Iterator[str]:
    for level, text in _STATEMENTS[type(statement)](statement):
        yield _INDENT * (depth + level) + text


def _nested(statement: st.Stmt) -> Iterator[tuple[int, str]]:
    """The lines of a statement inside of another, without the braces of a block."""
    for inner in statement.statements if isinstance(statement, st.Block) else (statement,):
        for level, text in _STATEMENTS[type(inner)](inner):
            yield level + 1, text


def _declare(statement: st.Declare) -> Iterator[tuple[int, str]]:
    symbol = statement.symbol
    storage = "" if symbol.storage == "local" else f"{symbol.storage} "
    align = f" align {symbol.align}" if symbol.align else ""
    value = f" = {expression(statement.initializer)}" if statement.initializer is not None else ""
    yield 0, f"{storage}{symbol.name}: {type_name(symbol.type)}{align}{value}"


def _block(statement: st.Block) -> Iterator[tuple[int, str]]:
    yield 0, "block"
    yield from _nested(statement)


def _if(statement: st.If) -> Iterator[tuple[int, str]]:
    yield 0, f"if {expression(statement.condition)}"
    yield from _nested(statement.then)
    if statement.otherwise is not None:
        yield 0, "else"
        yield from _nested(statement.otherwise)


def _inline(statement: st.Stmt | None) -> str:
    """A statement in the head of a loop."""
    if statement is None:
        return ""
    return ", ".join(text for _, text in _nested(statement))


def _for(statement: st.For) -> Iterator[tuple[int, str]]:
    condition = expression(statement.condition) if statement.condition is not None else ""
    increment = expression(statement.increment) if statement.increment is not None else ""
    unroll = "" if statement.unroll is None else f" unroll {statement.unroll}"
    yield 0, f"for {_inline(statement.init)}; {condition}; {increment}{unroll}"
    yield from _nested(statement.body)


def _range_for(statement: st.RangeFor) -> Iterator[tuple[int, str]]:
    yield (
        0,
        f"for {statement.symbol.name}: {type_name(statement.symbol.type)} in {expression(statement.range)}",
    )
    yield from _nested(statement.body)


def _while(statement: st.While) -> Iterator[tuple[int, str]]:
    yield 0, f"while {expression(statement.condition)}"
    yield from _nested(statement.body)


def _do(statement: st.DoWhile) -> Iterator[tuple[int, str]]:
    yield 0, "do"
    yield from _nested(statement.body)
    yield 0, f"while {expression(statement.condition)}"


def _switch(statement: st.Switch) -> Iterator[tuple[int, str]]:
    yield 0, f"switch {expression(statement.condition)}"
    for case in statement.cases:
        labels = [f"case {expression(value)}" for value in case.values] + ["default"] * case.is_default
        yield 1, ", ".join(labels) or "unreachable"
        for inner in case.body:
            for level, text in _nested(inner):
                yield level + 1, text


def _unknown(statement: st.UnknownStmt) -> Iterator[tuple[int, str]]:
    yield 0, f"unknown {statement.reason}"
    for inner in statement.children:
        yield from _nested(inner)


_STATEMENTS: Final[dict[type, Callable[[Any], Iterator[tuple[int, str]]]]] = {
    st.Declare: _declare,
    st.ExprStmt: lambda s: iter([(0, expression(s.expr))]),
    st.Block: _block,
    st.If: _if,
    st.For: _for,
    st.RangeFor: _range_for,
    st.While: _while,
    st.DoWhile: _do,
    st.Switch: _switch,
    st.Return: lambda s: iter([(0, f"return {expression(s.value)}" if s.value is not None else "return")]),
    st.Break: lambda s: iter([(0, "break")]),
    st.Continue: lambda s: iter([(0, "continue")]),
    st.Asm: lambda s: iter([(0, f"asm {s.text!r} ({_list(s.operands)})")]),
    st.UnknownStmt: _unknown,
}

"""Which function evaluates which kind of expression, and which executes which kind of statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudalint.host.executor import (
    branches,
    calls,
    command_line,
    device,
    expressions,
    heap,
    lambdas,
    launching,
    lists,
    names,
    objects,
    operators,
    statements,
    switches,
)
from cudalint.host.executor.values import Place, Value
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

VALUE_HANDLERS: Mapping[type, Callable[..., Value]] = {
    ir.Constant: objects.literal_value,
    ir.Name: command_line.name_value,
    ir.Member: device.member_value,
    ir.Index: device.index_value,
    ir.Unary: operators.unary_value,
    ir.Binary: operators.binary_value,
    ir.Assign: operators.assign_value,
    ir.Conditional: operators.conditional_value,
    ir.Cast: lists.cast_value,
    ir.Call: calls.call_value,
    ir.Construct: lists.construct_value,
    ir.InitList: objects.init_list_value,
    ir.StatementExpr: objects.statements_value,
    ir.Lambda: lambdas.noted,
    ir.Launch: launching.launched,
    ir.FunctionName: names.function_value,
    ir.New: heap.new_value,
    ir.UnknownExpr: expressions.unknown_value,
}
"""All that have a value."""
PLACE_HANDLERS: Mapping[type, Callable[..., Place]] = {
    ir.Name: names.name_place,
    ir.Member: names.member_place,
    ir.Index: names.index_place,
    ir.Unary: operators.unary_place,
    ir.Assign: operators.assign_place,
    ir.Conditional: operators.conditional_place,
    ir.Cast: operators.cast_place,
    ir.Call: calls.call_place,
    ir.Construct: calls.construct_place,
}
"""Those that may denote a place."""
STATEMENT_HANDLERS: Mapping[type, Callable[..., None]] = {
    st.Declare: statements.declare,
    st.ExprStmt: statements.expression,
    st.Block: statements.block,
    st.If: branches.if_,
    st.For: statements.for_,
    st.RangeFor: statements.range_for,
    st.While: statements.while_,
    st.DoWhile: statements.do_while,
    st.Switch: switches.follow,
    st.Return: statements.return_,
    st.Break: statements.break_,
    st.Continue: statements.continue_,
    st.Asm: statements.assembly,
    st.UnknownStmt: statements.unknown,
}

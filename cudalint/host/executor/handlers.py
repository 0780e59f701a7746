"""Which function evaluates which kind of expression: all that have a value, and those that may denote a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudalint.host.executor import calls, expressions, names, objects, operators
from cudalint.host.executor.values import Place, Value
from cudalint.ir import nodes as ir

VALUE_HANDLERS: Mapping[type, Callable[..., Value]] = {
    ir.Constant: objects.literal_value,
    ir.Name: names.name_value,
    ir.Member: names.member_value,
    ir.Unary: operators.unary_value,
    ir.Binary: operators.binary_value,
    ir.Assign: operators.assign_value,
    ir.Conditional: operators.conditional_value,
    ir.Cast: operators.cast_value,
    ir.Call: calls.call_value,
    ir.Construct: calls.construct_value,
    ir.InitList: objects.init_list_value,
    ir.StatementExpr: objects.statements_value,
    ir.Lambda: objects.lambda_value,
    ir.Launch: calls.launch,
    ir.FunctionName: names.function_value,
    ir.New: objects.new_value,
    ir.UnknownExpr: expressions.unknown_value,
}
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

"""Lists of what a program is tried with: `std::vector<int> sizes = {256, 512};`, and the loops over them; and sets of
what is supported.

The value of such a list is a record with one field that its type doesn't have, an array. What changes a list and is not
followed here makes its value an unknown one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from cudalint.frontend.range_loops import over_array
from cudalint.heuristics import heuristic
from cudalint.host.executor import calls, expressions, heap
from cudalint.host.executor.intrinsics import Handler
from cudalint.host.executor.values import ArrayValue, Place, RecordValue, Value
from cudalint.host.values.arithmetic import BOOL, kind_of
from cudalint.host.values.nodes import UNINITIALISED, Node
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_ELEMENTS = "(elements)"
_SETS = ("std::set<", "std::unordered_set<")
_LISTS = ("std::vector<", "std::initializer_list<", *_SETS)
_LONGEST = 64
"""Elements of a list; longer ones hold data."""


def construct_value(ex: Execution, expr: ir.Construct) -> Value:
    """A list that is given its elements in braces."""
    listed = _listed(ex, expr.type, expr.arguments[0]) if expr.arguments else None
    return calls.construct_value(ex, expr) if listed is None else listed


def cast_value(ex: Execution, expr: ir.Cast) -> Value:
    """`auto sizes = {256, 512};`."""
    listed = _listed(ex, expr.type, expr.operand)
    return heap.cast_value(ex, expr) if listed is None else listed


def _listed(ex: Execution, type_: ir.Type, expr: ir.Expr) -> Value | None:
    if not _is_list(type_):
        return None
    listed = walk.without_casts(expr)
    if not isinstance(listed, ir.InitList) or not isinstance(listed.type, ir.ArrayType):
        return None
    return _list_of(type_, expressions.evaluate(ex, listed)) if len(listed.elements) <= _LONGEST else None


def _is_list(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RecordType) and type_.name.startswith(_LISTS)


def _list_of(type_: ir.Type, elements: Value) -> RecordValue:
    assert isinstance(type_, ir.RecordType)
    return RecordValue(type_, {_ELEMENTS: elements})


@heuristic("lists-of-sizes", "lists of sizes that host code tries").otherwise(False)
def follow_range(ex: Execution, statement: st.RangeFor) -> bool:
    """Executes the loop over a list whose elements are known; False for any other."""
    array = _elements(ex, statement.range)
    if array is None:
        return False
    listed = ir.Symbol("range", array.type, "local", statement.range.span)
    ex.state.variables[listed] = array
    name = ir.Name(listed, array.type, statement.range.span)
    ex.statement(over_array(statement.symbol, name, statement.body, statement.span))
    return True


def _elements(ex: Execution, expr: ir.Expr | None) -> ArrayValue | None:
    expr = None if expr is None else _object(expr)
    value = expressions.evaluate(ex, expr) if expr is not None and _is_list(_bare(expr.type)) else None
    elements = value.fields.get(_ELEMENTS) if isinstance(value, RecordValue) else None
    return elements if isinstance(elements, ArrayValue) else None


def _object(expr: ir.Expr) -> ir.Expr:
    """A list as it was declared: a method may be one of its base class."""
    return walk.without_casts(expr)


def _bare(type_: ir.Type) -> ir.Type:
    return type_.pointee if isinstance(type_, ir.PointerType) else type_


def _size(ex: Execution, call: ir.Call) -> Value | None:
    array = _elements(ex, call.receiver)
    return None if array is None else ex.graph.const(array.type.count or 0, kind_of(call.type))


def _element(ex: Execution, call: ir.Call) -> Value | None:
    array = _elements(ex, call.receiver)
    position = expressions.number(ex, call.arguments[0]) if array is not None else ex.graph.zero
    return array.elements.get(position.whole) if array is not None and position.whole is not None else None


def _first(ex: Execution, call: ir.Call) -> Value | None:
    array = _elements(ex, call.receiver)
    return None if array is None else array.elements.get(0)


def _has(ex: Execution, call: ir.Call) -> Value | None:
    """`if (!widths.count(n)) throw ...;` with a set of the sizes that are supported."""
    array = _elements(ex, call.receiver)
    if array is None:
        return None
    asked = expressions.number(ex, call.arguments[0])
    found = ex.graph.false
    for element in array.elements.values():
        if not isinstance(element, Node):
            return None
        found = ex.graph.binary("||", found, ex.graph.binary("==", asked, element, BOOL), BOOL)
    return ex.graph.convert(found, kind_of(call.type))


def is_found(ex: Execution, call: ir.Call) -> Value | None:
    """`widths.find(n) == widths.end()`: it isn't in the set."""
    sides = [walk.without_casts(side) for side in (call.receiver, *call.arguments) if side is not None]
    by_name = {side.name: side for side in sides if isinstance(side, ir.Call)}
    if by_name.keys() != {"find", "end"}:
        return None
    found = _has(ex, replace(by_name["find"], type=call.type))
    assert found is None or isinstance(found, Node)
    return ex.graph.negate(found) if found is not None and call.name == "operator==" else found


def _append(ex: Execution, call: ir.Call) -> Value | None:
    """`sizes.push_back(4096)`."""
    array = _elements(ex, call.receiver)
    if array is None or call.receiver is None:
        return None
    count = len(array.elements)
    type_ = ir.ArrayType(array.type.element, count + 1, (count + 1) * array.type.element.bytes)
    elements = {**array.elements, count: expressions.evaluate(ex, call.arguments[0])}
    _set(ex, call, _list_of(_bare(call.receiver.type), ArrayValue(type_, elements, array.rest)))
    return ex.graph.zero


def _change(ex: Execution, call: ir.Call) -> Value | None:
    if call.receiver is not None and _elements(ex, call.receiver) is not None:
        _set(ex, call, ex.memory.unknown(_bare(_object(call.receiver).type), UNINITIALISED))
    return None


def _set(ex: Execution, call: ir.Call, value: Value) -> None:
    assert call.receiver is not None
    where: Place = expressions.place(ex, _object(call.receiver))
    expressions.write(ex, where, value)


LISTS: Mapping[str, Handler] = {
    "size-of-list": _size, "element-of-list": _element, "first-of-list": _first, "appended": _append, "has": _has,
    "list-changed": _change,
}  # fmt: skip
"""Handlers by effect."""

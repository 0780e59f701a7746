"""Calls of functions whose bodies are in sight: executed where they are called, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cudalint.host.executor import euclid, joins, objects
from cudalint.host.executor.outcomes import is_refusal, outcome
from cudalint.host.executor.state import FunctionScope
from cudalint.host.executor.values import Choice, FunctionValue, LocalPlace, Place, TemporaryPlace, Value
from cudalint.host.values.graph import conjuncts
from cudalint.host.values.nodes import UNINITIALISED, Node, without_cast, without_not
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_MAX_DEPTH = 24
"""Calls are inlined to this depth."""
Bind = Callable[[ir.Function], Mapping[ir.Symbol, Value | Place]]
"""Makes a function's parameters of the arguments of a call."""


def inline(ex: Execution, ref: ir.FunctionRef, bind: Bind, call: ir.Span) -> Value | Place | None:
    """Executes the body of a called function; None where there is an obstacle, or nothing in it decides a launch."""
    ref = ex.code.outside.definition(ref)
    function, state = ref.load(), ex.state
    is_active = any(scope.key == ref.key for scope in state.functions)
    if is_active and function is not None:
        return euclid.divide_again(ex, function, bind)
    if ref.is_user and ref.has_launch():
        if not ex.taken and ref.key in ex.found.executed:
            # Where the known values don't lead, its launches are looked for once, and not in all combinations of
            # cases that it takes to get there.
            return None
        ex.code.sort(ref)
        ex.found.executed.add(ref.key)
    elif not ex.code.is_worth_it(ref, _is_plain(ex)):
        return None
    if function is None or is_active or len(state.functions) >= _MAX_DEPTH or function.is_template_pattern:
        return None
    ex.code.note_jumps(ref.key, function)
    scope = FunctionScope(
        ref.key, is_instance(ref, function), guards=state.guards, outer=dict.fromkeys(state.variables, None),
        returns_place=ir.is_reference(function.result),
    )  # fmt: skip
    # What arguments are computed by may put other variables in the place of these.
    bound = bind(function)
    scope.call = call if ref.is_user else None
    scope.given = frozenset(key for value in bound.values() for key in _functions_in(ex, value))
    state.variables.update(bound)
    frames, library_call = state.frames, state.library_call
    loop_scopes, state.loop_scopes = state.loop_scopes, []
    if ref.is_user:
        state.frames = (call, *frames)
    else:
        state.library_call = library_call or call
    state.functions.append(scope)
    _initialise_members(ex, function)
    ex.statement(function.body)
    scope.reaches_end = not state.dead
    state.functions.pop()
    state.loop_scopes, state.frames, state.library_call = loop_scopes, frames, library_call
    state.dead = state.dead and not scope.returns
    return _result(ex, scope, function)


def _functions_in(ex: Execution, value: Value | Place | None) -> Iterator[str]:
    """Keys of the functions that an argument may be."""
    if isinstance(value, FunctionValue):
        yield value.function.key
    elif isinstance(value, Choice):
        yield from _functions_in(ex, value.a)
        yield from _functions_in(ex, value.b)
    elif isinstance(value, TemporaryPlace):
        yield from _functions_in(ex, value.value)
    elif isinstance(value, LocalPlace) and not value.path:
        variable = ex.state.variables.get(value.symbol)
        if isinstance(variable, (FunctionValue, Choice)):
            yield from _functions_in(ex, variable)


def _is_plain(ex: Execution) -> bool:
    """Whether only such functions without launches are executed now as compute something by themselves."""
    if ex.following != "own":
        return ex.following == "launches"
    return not any(scope.key in ex.code.linked for scope in ex.state.functions)


def is_instance(ref: ir.FunctionRef, function: ir.Function) -> bool:
    """Whether a function is a template with certain arguments; a member's are in its USR only."""
    return "<" in function.instantiation or f"@F@{ref.name}<" in ref.usr


def _initialise_members(ex: Execution, function: ir.Function) -> None:
    if function.this is None or not function.member_initializers:
        return
    this = objects.this_place(ex, function.this)
    for name, initializer in function.member_initializers:
        objects.initialise_field(ex, this, name, initializer)


def _result(ex: Execution, scope: FunctionScope, function: ir.Function) -> Value | Place:
    """What the last `return` gives: earlier ones report errors, as a rule, unless it is the last that does so
    (`return {-1, 0};`). A function all of whose results are numbers is a table (`if (n <= 32) return 32; if (n <= 64)
    return 64; return -1;`), and so is one all of whose results are computed (`if (n % b == 0) return n / b; return n /
    b + 1;`), or that gives the smaller of two, and one that picks a kernel, and perhaps none."""
    returns = scope.returns
    if returns:
        ends = [ex.graph.conjunction(ex.state.guards[len(scope.guards) :])] if scope.reaches_end else []
        ex.state.guards = (*scope.guards, *_met_by_all(ex, [*(guard for guard, _ in returns), *ends]))
    values = [value for _, value in returns if value is not None]
    if not values:
        return ex.memory.unknown(function.result, UNINITIALISED)
    kernels = [(guard, value) for guard, value in returns if isinstance(value, FunctionValue)]
    if len(kernels) > 1:
        return _one_of(ex, kernels, values[-1])
    layout = joins.one_layout(ex, returns)
    if layout is not None:
        return layout
    table = [(guard, value) for guard, value in returns if isinstance(value, Node)]
    is_mixed = len({value.is_const for _, value in table}) > 1 and not _is_smaller_or_larger(table)
    if len(table) < len(returns) or is_mixed:
        usual = next((value for value in reversed(values) if not is_refusal(value)), values[-1])
        said = outcome(ex.graph, returns, usual)
        return usual if said is None else said
    if not all(joins.is_plain(ex.graph, guard) for guard, _ in table[:-1]):
        return values[-1]
    result = table[-1][1]
    for guard, number in table[-2::-1]:
        result = ex.graph.select(guard, number, result)
    return result


def _met_by_all(ex: Execution, guards: Sequence[Node]) -> list[Node]:
    """What holds wherever a function returns, as it ends the program or throws otherwise."""
    first, *others = (conjuncts(ex.graph, guard) for guard in guards)
    return [part for part in first if not part.is_const and all(part in other for other in others)]


def _one_of(ex: Execution, kernels: Sequence[tuple[Node, Value]], last: Value | Place) -> Value:
    """The first of some whose condition holds; the last one where none does, if that is a kernel."""
    chosen = kernels[: joins.MOST_KERNELS]
    result: Value = ex.graph.zero
    if last is chosen[-1][1]:
        *chosen, (_, result) = chosen
    for depth, (guard, kernel) in enumerate(reversed(chosen), 1):
        result = Choice(guard, kernel, result, depth)
    return result


def _is_smaller_or_larger(table: Sequence[tuple[Node, Node]]) -> bool:
    """Whether two numbers are returned that are compared with each other: `if (n < most) return n; return most;`."""
    if len(table) != 2:
        return False
    (guard, first), (_, second) = table
    compared = without_not(guard)
    numbers = {without_cast(first), without_cast(second)}
    return compared.op in ("<", "<=") and {without_cast(argument) for argument in compared.args} == numbers

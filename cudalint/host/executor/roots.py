"""The roots of a file's host code: what it is executed from, in which order, and for how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from cudalint.heuristics import heuristic
from cudalint.host.executor import command_line
from cudalint.host.executor.code import Outside
from cudalint.host.executor.execution import MAX_STATEMENTS, Execution, Following, GaveUp
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.inlining import is_instance
from cudalint.host.executor.launching import Found, HostLaunch
from cudalint.host.executor.state import FunctionScope, State
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.system.processes.deadline import NEVER, Deadline

_FOLLOWING: Final[tuple[Following, ...]] = ("all", "own", "launches")
_MAX_ALL_STATEMENTS = 20_000
"""Statements from all roots together."""


def run_host(
    graph: Graph, functions: tuple[ir.FunctionRef, ...], generics: Generics, properties: Mapping[str, int],
    outside: Outside, executed: Collection[str] = (), deadline: Deadline = NEVER,
) -> Found:  # fmt: skip
    """Executes the host code of a file, from `main` first, then from functions that no other one calls, which check
    what they pass on, and then from whatever still holds launches: functions of the file that others have called, with
    known arguments, are in `executed`; what other files have is in `outside`. What is left at the deadline is not
    executed."""
    ex = Execution(graph, generics, properties, outside, executed, deadline)
    called = _called_by_others(functions)
    roots = sorted(functions, key=lambda f: (f.name != "main", called.get(f.key, -1)))
    if roots and roots[0].name != "main":
        for symbol in _set_elsewhere(roots):
            # Other files have set it, by calling functions of this one.
            reason = Reason("set by another function")
            ex.state.variables[symbol] = ex.memory.unknown(symbol.type, reason, (), symbol.name)
    for ref in roots:
        leads = ref.has_launch() or ex.code.leads_to_linked(ref)
        is_done = ref.key in ex.found.executed or ref.key in ex.found.ruled_out
        if leads and not is_done and ex.found.statements < _MAX_ALL_STATEMENTS:
            if deadline.is_over():
                break
            _run(ex, ref, deadline)
    return ex.found


def _run(ex: Execution, ref: ir.FunctionRef, deadline: Deadline) -> None:
    """Executes a root, and those that are too long once more without what they call on the way: what this is needed for
    is unknown then, and the launches are there. The next root will call the same. What the file itself does between its
    functions and the launches is left last: it is most of what is known of these."""
    before = len(ex.found.launches)
    for following in _FOLLOWING[_FOLLOWING.index(ex.following) :]:
        if following == "own" and not ex.code.linked:
            continue
        ex.following, ex.most_statements = following, MAX_STATEMENTS * (2 if following == "own" else 1)
        ex.gave_up, ex.statements = False, 0
        ex.deadline = deadline if following == "launches" else deadline.halfway()
        found, ex.found.launches = ex.found.launches, []
        _run_once(ex, ref)
        ex.found.launches = found + _further(found[before:], ex.found.launches)
        if not ex.gave_up:
            break
    ex.found.statements += ex.statements


def _further(known: Sequence[HostLaunch], launches: Sequence[HostLaunch]) -> list[HostLaunch]:
    """What comes behind launches that are known, where the same is executed once more: as many of a kernel at one place
    are the same ones."""
    left = Counter((launch.kernel.key, launch.span) for launch in known)
    further: list[HostLaunch] = []
    for launch in launches:
        where = (launch.kernel.key, launch.span)
        if left[where]:
            left[where] -= 1
        else:
            further.append(launch)
    return further


def _run_once(ex: Execution, ref: ir.FunctionRef) -> None:
    """Executes a function from outside, its parameters unknown; of a template that nothing instantiates, the types are
    so as well."""
    function = ref.load()
    if function is None or (function.is_template_pattern and not ref.templated):
        return
    ex.found.executed.add(ref.key)
    ex.code.note_jumps(ref.key, function)
    ex.state.variables.update(ex.unknown_parameters(function.parameters))
    if function.name == "main":
        command = ex.code.outside.run_command(ref.span.path)
        if command is not None:
            command_line.give(ex, function, command)
        given = (ex.state.variables[symbol] for symbol in function.parameters)
        ex.options.arguments.update(value for value in given if isinstance(value, Node))
    ex.state.functions.append(FunctionScope(ref.key, is_instance(ref, function), is_root=True))
    try:
        body = ex.code.up_to_launches(function.body)
        ex.code.idle |= ex.code.relevance.idle(body)
        ex.statement(body)
    except GaveUp:
        ex.gave_up = True
    finally:
        ex.state = State(ex.state.variables)
        ex.iterations.clear()


def _called_by_others(functions: Iterable[ir.FunctionRef]) -> Mapping[str, int]:
    """Keys of the functions that are called by others among these which lead to launches, with a number that is higher
    for what is called than for what calls it, but for recursion."""
    calls: dict[str, list[str]] = {}
    for ref in functions:
        if not ref.templated and ref.has_launch():
            calls[ref.key] = [called.key for called in ref.named() if called.key != ref.key]
    left: dict[str, None] = {}
    for root in calls:
        waiting = [(root, iter(calls[root]))]
        entered = {root}
        while waiting:
            others = waiting[-1][1]
            other = next((each for each in others if each not in left and each not in entered), None)
            if other is None:
                left.setdefault(waiting.pop()[0])
            else:
                entered.add(other)
                waiting.append((other, iter(calls.get(other, ()))))
    place = {key: -number for number, key in enumerate(left)}
    first = min(place.values(), default=0)
    return {key: place[key] - first for others in calls.values() for key in others}


@heuristic("numbers-set-elsewhere", "libraries whose set-up and run are two functions").otherwise(())
def _set_elsewhere(functions: Iterable[ir.FunctionRef]) -> Iterator[ir.Symbol]:
    """The numbers outside of functions that some of these functions set to what they are given, and that are 0 before:
    nobody launches anything with that, but after `setup(n)` with `run()`. Where they are something else, that is a
    default."""
    for ref in functions:
        function = ref.load() if ref.names_numbers() else None
        for node in walk.nodes_in(function) if function is not None else ():
            if isinstance(node, ir.Assign) and not node.op and isinstance(node.target, ir.Name):
                symbol = node.target.symbol
                is_given = not isinstance(walk.without_casts(node.value), ir.Constant)
                if is_given and symbol.storage == "global" and _is_zero_at_first(symbol):
                    yield symbol


def _is_zero_at_first(symbol: ir.Symbol) -> bool:
    if not isinstance(symbol.type, ir.Scalar) or symbol.type.kind == "bool" or symbol.initializer is None:
        return False
    first = symbol.initializer()
    plain = walk.without_casts(first) if first is not None else None
    return isinstance(plain, ir.Constant) and plain.value == 0

"""Arrays of a thread that the compiler can't keep in registers, since they are indexed by what it doesn't know.

Loops of known length are laid out turn by turn, so that an index by their counters is known; what is left is an index
that a loop of unknown length, an argument, the thread's number or data decide about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import Executions, Site
from cudalint.execute.values import leaves
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.measure.work import compiler
from cudalint.measure.work.counts import Laid, times_executed
from cudalint.measure.work.graph import Indexed
from cudalint.measure.work.terms import Loops, Term

_CHOOSING = heuristic("local-arrays", "ptxas 13.0 -v: small arrays that few accesses index are in registers, see below")
_MOST_IN_LOOPS: Final = 16
"""Elements of an array, from which on one that is indexed in a loop that it is declared outside of is in memory.
Evidence: stack frames by ptxas 13.0 (sm_80) for arrays of 2 to 200 elements that 1 to 16 accesses index."""
_MOST_READ_IN_ORDER: Final = 32
"""The same for one that loops read from one element to the next, and that nothing else indexes."""
_WORK_IN_LOOPS: Final = 32
"""The same for elements times accesses, where smaller ones are in memory."""
_OUTSIDE: Final = ((97, 1), (16, 4), (8, 8))
"""Elements and accesses, from which on both an array is in memory that is indexed outside of such loops."""


class LaidArray(Struct, frozen=True, eq=False):
    """One of them."""

    symbol: ir.Symbol
    bytes: int
    elements: int
    accesses: tuple[Indexed, ...]
    """By an index that isn't known."""
    is_small: bool
    """Whether the assembler puts it into registers all the same."""
    memories: frozenset[Allocation]
    """One, or, of an array that is declared in a loop, one for each turn that is laid out."""


def local_arrays(laid: Laid) -> list[LaidArray]:
    """Those that somebody reads, in the order of the code."""
    by_memory: dict[Allocation, list[Indexed]] = {}
    for each in laid.graph.indexed():
        by_memory.setdefault(each.memory, []).append(each)
    by_symbol: dict[ir.Symbol, list[Allocation]] = {}
    for memory, accesses in by_memory.items():
        if memory.symbol is not None and _is_read(accesses) and any(each.is_open for each in accesses):
            by_symbol.setdefault(memory.symbol, []).append(memory)
    return [_array(symbol, memories, by_memory, laid) for symbol, memories in by_symbol.items()]


def _is_read(accesses: list[Indexed]) -> bool:
    """Whether a load finds there what isn't known to be in a register: what the same turn has stored at the same place
    is. Stores that nobody reads are left out."""
    stored: set[tuple[object, Loops]] = set()
    for each in accesses:
        place = id(each.offset) if isinstance(each.offset, Term) else each.offset, each.loops
        if each.operation == "store":
            stored.add(place)
        elif place not in stored:
            return True
    return False


def _array(
    symbol: ir.Symbol, memories: list[Allocation], accesses: Mapping[Allocation, list[Indexed]], laid: Laid
) -> LaidArray:
    type_ = memories[0].type
    elements = _elements(type_)
    are_small = [_is_small(elements, memory, accesses[memory], laid) for memory in memories]
    found = (each for memory in memories for each in accesses[memory] if each.is_open)
    return LaidArray(
        symbol, type_.bytes if type_ is not None else 0, elements, tuple(found), all(are_small), frozenset(memories)
    )


def _elements(type_: ir.Type | None) -> int:
    if isinstance(type_, ir.ArrayType) and isinstance(type_.element, ir.Scalar):
        return type_.bytes // max(1, type_.element.bytes)
    return sum(1 for _ in leaves(type_)) if type_ is not None else 0


def _is_small(elements: int, memory: Allocation, accesses: list[Indexed], laid: Laid) -> bool:
    if not _CHOOSING.is_on:
        return False
    open_ = [each for each in accesses if each.is_open]
    if elements < _MOST_READ_IN_ORDER and all(each.operation == "load" and _goes_on(each) for each in open_):
        return True
    in_loops = outside = 0
    around = laid.declared.get(memory, frozenset())
    for each in open_:
        if each.loop is not None and each.loops - around:
            in_loops += compiler.copies(each.loop)
        else:
            outside += 1
    if in_loops and (elements >= _MOST_IN_LOOPS or elements * in_loops >= _WORK_IN_LOOPS):
        return False
    return not any(elements >= least and outside >= number for least, number in _OUTSIDE)


def _goes_on(access: Indexed) -> bool:
    """Whether each turn of the loops around it takes it to an element at the same distance."""
    variables = [part.term for part in access.offset.parts if part.term.op == "variable"]
    steps = [variable.info.steps.get(variable) for variable in variables]
    return len(variables) == len(access.offset.parts) and all(type(step) is int for step in steps)


def requests_of(
    arrays: list[LaidArray], laid: Laid, executed: Mapping[Site, Executions], world: int = 0
) -> Iterator[float]:
    """How many loads and stores of each array the warps of a world make."""
    of: dict[Any, int] = {memory: number for number, each in enumerate(arrays) for memory in each.memories}
    found = [0.0] * len(arrays)
    executions = {site: own.counts[:, world] for site, own in executed.items()}
    for charge in laid.graph.charges.values():
        term = charge.term
        number = of.get(term.info.memory) if term.op in ("load", "store") else None
        if number is not None:
            found[number] += times_executed(charge.place, laid, executions)[0]
    yield from found

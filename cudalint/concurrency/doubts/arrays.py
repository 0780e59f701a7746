"""Whether the addresses of a race stay in their array, or reach into the next one, or meet only for made-up strides."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts.doubt import Doubt, conditions_of, is_there_again
from cudalint.concurrency.doubts.sizes import fits, is_bound, is_given
from cudalint.concurrency.trial import Trial
from cudalint.concurrency.tried_sizes import is_in_range, leaves
from cudalint.concurrency.unfold import TooLarge
from cudalint.evaluate.checks.probes import symbols
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.scenarios import alternatives
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Uniform, bits_of, render
from cudalint.values.opaque_parts import without_data
from cudalint.values.polynomial import terms_of


@heuristic("doubt-extent", "races beyond an array's end").otherwise(None)
def extent(conflict: Conflict, trial: Trial, size: int | None) -> Doubt | None:
    """Sizes for which threads leave the array: the program is not meant for them."""
    try:
        ends = (conflict.first, conflict.second)
        is_by_data = any(end.offset.bits & trial.graph.opaque_bits for end in ends)
        if (conflict.address < 0 and not is_by_data) or any(leaves(end, trial, size) for end in ends):
            return Doubt("with the sizes that were taken, threads leave the array")
    except TooLarge:
        pass
    return None


@heuristic("doubt-next-array", "races that run into the next array").otherwise(None)
def next_array(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    """The same for one array of several in a buffer: as many threads as a size says come to its elements, which reach
    into the array behind it if there are too many. The program is not meant for such sizes either."""
    first, second = conflict.first, conflict.second
    graph = trial.graph
    if not _is_of_bytes(first.target) or start_of(first.offset, graph) is start_of(second.offset, graph):
        return None
    bounds = [part for end in (first, second) for part in conditions_of(graph, end) if is_bound(part, graph)]
    found = symbols(graph, bits_of(bounds))
    for symbol in found:
        is_fixed = is_given(symbol, graph) or is_in_range(symbol, execution)
        for number in () if is_fixed else alternatives.ELEMENTS_OF_A_PART:
            other = trial.under({symbol: number})
            if fits(graph, conflict, other.values) and not is_there_again(conflict, other, touches, size):
                return Doubt(f"for as many as `{render(symbol)}` was taken for, the array has no room in its buffer")
    return None


def _is_of_bytes(array: Allocation) -> bool:
    """Whether shared memory is declared as bytes, for arrays of other types to be put into it."""
    declared = array.symbol.type if array.space == "shared" and array.symbol is not None else None
    return isinstance(declared, ir.ArrayType) and declared.element.bytes == 1


def start_of(offset: Node, graph: Graph) -> Node:
    """Where the array begins of which an element is chosen by the thread, by how often a loop went round, or by data:
    the address without them."""
    bare = without_data(graph, offset)
    leaves = (*graph.thread, *graph.block, *graph.atoms(bare.bits, graph.loop_bits))
    return graph.substitute(bare, {leaf: graph.const(0, leaf.kind) for leaf in leaves})


@heuristic("doubt-layout", "races that meet for made-up strides only").otherwise(None)
def layout(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> Doubt | None:
    """Strides, between elements that don't overlap: a race that is there for generic strides only is none. Those of a
    tensor are known to be some, others are numbers that only ever multiply an index."""
    found = symbols(trial.graph, conflict.first.offset.bits | conflict.second.offset.bits)
    strides = [s for s in found if isinstance(s.payload, Uniform) and s.payload.stride in ("any", "outer")]
    likely = [s for s in found if s not in strides and _is_like_a_stride(s, conflict, trial)]
    for numbers in alternatives.unrelated(len(strides) + len(likely)) if strides or likely else ():
        values: dict[Node, int | float] = dict(zip([*strides, *likely], numbers, strict=True))
        if not is_there_again(conflict, trial.under(values), touches, size):
            if not likely:
                return Doubt("the elements of a tensor do not overlap", excludes=True)
            return Doubt(f"it depends on how far apart elements are: on {_listed(likely)}, which nothing gives")
    return None


def _is_like_a_stride(symbol: Node, conflict: Conflict, trial: Trial) -> bool:
    """Whether a number that nothing gives is but multiplied by indices, and compared with nothing, as the length of a
    row would be."""
    ends = (conflict.first, conflict.second)
    if symbol.kind.is_float or is_given(symbol, trial.graph) or symbol in trial.values:
        return False
    if any(part.bits & symbol.bits for end in ends for part in conditions_of(trial.graph, end)):
        return False
    if any(axis.bits & symbol.bits for axis in trial.grid):
        return False
    return any(moves_by(symbol, end.offset, trial.graph) for end in ends)


def moves_by(stride: Node, offset: Node, graph: Graph) -> bool:
    """Whether something that differs between threads or iterations is multiplied by a number, or by what is made of it
    alone: of strides in bytes, the elements (`i * (stride / 4)`)."""
    moving = THREAD_BITS | BLOCK_BITS | graph.loop_bits | graph.opaque_bits
    for monomial, factor in terms_of(graph, offset).items():
        is_factor = any(part.bits & stride.bits and not part.bits & moving for part in monomial)
        if is_factor and (factor.bits & moving or any(other.bits & moving for other in monomial)):
            return True
    return False


def _listed(symbols_: Sequence[Node]) -> str:
    return " and ".join(f"`{render(symbol)}`" for symbol in symbols_)

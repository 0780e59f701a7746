"""What could be done about a branch that splits warps: conditions that keep warps whole, and values that are chosen."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from cudalint.evaluate.branches.divergence import LOOPS, judge_condition, known
from cudalint.evaluate.branches.work import WorkMeter
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.situations import mask_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import BranchEvent, Side
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.values.arithmetic import BOOL
from cudalint.values.graph import Graph
from cudalint.values.nodes import THREAD_BITS, Node, render

_NEAR = 0.5
"""A condition that holds for so much more or less of the threads is another one."""
_SHORT = 16.0
"""Instructions of a side that all lanes may as well execute."""


# --- conditions that keep warps whole ---------------------------------------------------------------------


def aligned_condition(event: BranchEvent, view: LaunchView) -> str | None:
    """The nearest condition on which the lanes of every warp agree, if there is a plain one.

    Where the condition repeats (`threadIdx.x % 2`, or `threadIdx.y % 2` with two rows to a warp), that is the same one
    with the number of the warp in the place of the thread's, or of as many threads or rows as it takes
    (`threadIdx.x % 32 < 16` splits none with pairs of threads); where it is a limit, the nearest multiple of a warp.
    Each is evaluated before it is named.
    """
    graph, condition = view.graph, event.condition
    if event.kind in LOOPS or event.kind == "switch" or dependence(event.context, event.condition, graph).is_astray:
        return None
    if condition.bits & (graph.opaque_bits | graph.loop_bits | graph.uniform_bits):
        return None
    before = _taken(event, view, condition)
    for changed in (_rounded(graph, condition, view.block), *_by_groups(graph, condition, view.block)):
        if changed is None or changed.is_const or changed is condition:
            continue
        altered = replace(event, condition=changed)
        if judge_condition(altered, view.quick(), event.context.conditions).verdict == "divergent":
            continue
        if abs(_taken(event, view, changed) - before) <= _NEAR * before:
            return _unwrapped(render(changed))
    return None


def _unwrapped(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _taken(event: BranchEvent, view: LaunchView, condition: Node) -> float:
    """How many threads of a block the condition holds for."""
    rows = view.quick().rows(event.context.loops)
    mask = mask_of(rows, [*known(view.graph, event.context.conditions), condition])
    return float(mask.sum()) / rows.count


def _granules(graph: Graph, condition: Node, block: tuple[int, int, int]) -> Iterator[tuple[Node, int]]:
    """The thread's coordinates in a condition, each with how far it has to go for the next warp to begin. Nothing
    where rows of the block begin in the middle of a warp."""
    stride = 1
    for leaf, extent in zip(graph.thread, block, strict=True):
        if condition.bits & leaf.bits:
            if stride % WARP_LANES and WARP_LANES % stride:
                return
            yield leaf, max(1, WARP_LANES // stride)
        stride *= extent


def _by_groups(graph: Graph, condition: Node, block: tuple[int, int, int]) -> Iterator[Node]:
    """The condition with the number of a warp in the place of the thread's, then with those of smaller groups."""
    granules = list(_granules(graph, condition, block))
    share = 1
    while any(granule > share for _, granule in granules):
        yield graph.substitute(
            condition,
            {
                leaf: graph.binary("/", leaf, graph.const(granule // share, leaf.kind), leaf.kind)
                for leaf, granule in granules
                if granule > share
            },
        )
        share *= 2


def _rounded(graph: Graph, condition: Node, block: tuple[int, int, int]) -> Node | None:
    """`threadIdx.x < 48` with the nearest multiple of 32 that isn't 0."""
    if condition.op == "!":
        inner = _rounded(graph, condition.args[0], block)
        return None if inner is None else graph.negate(inner)
    if condition.op not in ("<", "<="):
        return None
    left, right = condition.args
    while left.op == "cast":
        left = left.args[0]
    granules = [granule for _, granule in _granules(graph, left, block)]
    if not granules or not right.is_const:
        return None
    step = granules[0]
    limit = int(right.value) + (condition.op == "<=")
    return graph.binary("<", left, graph.const(max(step, round(limit / step) * step), left.kind), BOOL)


# --- what a branch is for ---------------------------------------------------------------------------------


def is_by_lane(condition: Node) -> bool:
    """Whether the thread's number in its warp decides, spelled as such (`threadIdx.x % 32 == 0`, a tile's rank): the
    work is divided among warps, and what one lane does can't be given to another warp."""
    pending, found = [condition], False
    while pending:
        node = pending.pop()
        if not node.bits & THREAD_BITS:
            continue
        if node.op == "thread":
            return False
        if (node.op, *(a.value for a in node.args[1:] if a.is_const)) in (("%", WARP_LANES), ("&", WARP_LANES - 1)):
            found = True
        else:
            pending.extend(node.args)
    return found


def chosen_variable(event: BranchEvent, meter: WorkMeter) -> str | None:
    """The variable that is all that an `if` sets, where both sides are short arithmetic that every lane may execute."""
    if event.kind != "if" or not event.sides or any(side.leaves for side in event.sides):
        return None
    names = {_set_by(side, event, meter) for side in event.sides}
    return names.pop() if len(names) == 1 else None


def _set_by(side: Side, event: BranchEvent, meter: WorkMeter) -> str | None:
    steps = [meter.steps[place] for place in side.steps]
    if len(steps) != 1 or steps[0].loops != event.context.loops or not meter.fits(side.steps, _SHORT):
        return None
    match steps[0].code:
        case ir.ExprStmt(expr=ir.Assign(target=ir.Name(symbol=symbol), value=value)) if not _is_more(value):
            return symbol.name
    return None


def _is_more(value: ir.Expr) -> bool:
    """Whether an expression does more than to compute from numbers at hand: it may reach memory or change something."""
    nodes = list(walk.walk(value))
    return any(isinstance(node, _MORE) or (isinstance(node, ir.Unary) and node.op in _REACHES) for node in nodes)


_MORE = (ir.Index, ir.Assign, ir.Call)
_REACHES = frozenset({"*", "++x", "--x", "x++", "x--"})

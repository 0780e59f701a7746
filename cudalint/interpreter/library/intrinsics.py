"""What the built-in device functions do to values and memory, by effect and by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from cudalint.facts import LibraryCall
from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.conversions import as_number
from cudalint.interpreter.device.events import Scope
from cudalint.interpreter.device.pointers import pointer_place
from cudalint.interpreter.device.positions import warp_index
from cudalint.interpreter.device.values import Choice, LocalPlace, MemoryPlace, Pointer, Value, nodes_of
from cudalint.interpreter.library import ptx, wmma
from cudalint.interpreter.library.bits import of_a_word
from cudalint.interpreter.library.bulk import BULK_ACCESSES
from cudalint.interpreter.library.specifications import SPECIFICATIONS
from cudalint.interpreter.library.synchronisation import (
    FOR_GROUPS,
    SYNCHRONISATION,
    converges,
    unmasked,
    warp_converges,
)
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS, Builtin
from cudalint.values.arithmetic import BOOL, F8, I8, U4, kind_of
from cudalint.values.nodes import THREAD_BITS, Counter, Node, Reason, Stride, without_cast
from cudalint.values.opaque_parts import asks_for_a_number

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

Handler = Callable[..., Any]
"""Takes the executor and the call; returns a value or a place, or None to let the call be treated as any other."""


# --- memory ---------------------------------------------------------------------------------------------


def _load(ex: Executor, call: ir.Call) -> Value:
    where = pointer_place(ex, expressions.evaluate(ex, call.arguments[0]), call.arguments[0].type)
    return expressions.read(ex, where, call.span)


def _store(ex: Executor, call: ir.Call) -> Value:
    where = pointer_place(ex, expressions.evaluate(ex, call.arguments[0]), call.arguments[0].type)
    expressions.write(ex, where, expressions.evaluate(ex, call.arguments[1]), call.span)
    return ex.graph.zero


def _atomic(ex: Executor, call: ir.Call) -> Value:
    """The result differs from lane to lane, since the lanes' operations are serialised."""
    pointer = expressions.evaluate(ex, call.arguments[0])
    seen: list[Node] = []
    for argument in call.arguments[1:]:
        value = expressions.evaluate(ex, argument)
        if isinstance(value, Node):
            seen.append(value)
    where = pointer_place(ex, pointer, call.arguments[0].type)
    if isinstance(where, MemoryPlace):
        ex.memory.access(where, ex.context(call.span), "atomic", atomic_scope=_scope(ex, call))
        seen.append(where.pointer.offset)
    counter = None
    if isinstance(where, MemoryPlace) and _draws_numbers(call, seen):
        counter = Counter(where.pointer.target, len(seen) - 1, call.name.startswith(_NV_ATOMIC))
    reason = Reason(True, f"it is the result of `{call.name}`", kind="atomic", counter=counter)
    if isinstance(where, MemoryPlace) and _changes_nothing(call, seen):
        return ex.memory.unknown(call.type, reason, (where.pointer.offset,))
    if isinstance(where, MemoryPlace) and _counts_lanes(ex, call, seen):
        return _ticket(ex, call, seen, reason)
    return ex.memory.unknown(call.type, reason, (*seen, *ex.graph.thread))


_NV_ATOMIC = "__nv_atomic_"
"""Built-in functions to which memory order and scope are arguments."""
_SCOPE_BLOCK = 1
"""__NV_THREAD_SCOPE_BLOCK; a thread's own scope is 0."""


def _scope(ex: Executor, call: ir.Call) -> Scope:
    if not call.name.startswith(_NV_ATOMIC):
        return "block" if call.name.endswith("_block") else "grid"
    scope = expressions.number(ex, call.arguments[-1])
    return "block" if scope.is_const and scope.value <= _SCOPE_BLOCK else "grid"


def _nv_atomic(ex: Executor, call: ir.Call) -> Value:
    """An atomic that may be told where to put its result, which is unknown after it."""
    is_load = call.name.removeprefix(_NV_ATOMIC) in ("load", "load_n")
    result = _nv_atomic_load(ex, call) if is_load else _atomic(ex, call)
    # The address comes first, order and scope last.
    for argument in call.arguments[1:]:
        if isinstance(argument.type, ir.PointerType):
            where = pointer_place(ex, expressions.evaluate(ex, argument), argument.type)
            if isinstance(where, LocalPlace):
                seen = tuple(n for n in nodes_of(result) if not n.is_const)
                expressions.write(ex, where, ex.opaque(f"`{call.name}` sets it", where.type, seen), call.span)
    return result


def _nv_atomic_load(ex: Executor, call: ir.Call) -> Value:
    """All threads that read one address see one value."""
    where = pointer_place(ex, expressions.evaluate(ex, call.arguments[0]), call.arguments[0].type)
    if not isinstance(where, MemoryPlace):
        return expressions.read(ex, where, call.span)
    ex.memory.access(where, ex.context(call.span), "atomic", atomic_scope=_scope(ex, call))
    reason = Reason(True, f"it is the result of `{call.name}`", kind="atomic")
    return ex.memory.unknown(call.type, reason, (where.pointer.offset,))


def _without_scope(name: str) -> str:
    return name.removesuffix("_block").removesuffix("_system")


def _changes_nothing(call: ir.Call, arguments: Sequence[Node]) -> bool:
    """`atomicAdd(p, 0)` and the like are loads: all threads see one value."""
    neutral = {"atomicAdd": 0, "atomicSub": 0, "atomicOr": 0, "atomicXor": 0, "atomicAnd": -1}
    name = _without_scope(call.name)
    return name in neutral and arguments[0].is_const and arguments[0].value == neutral[name]


_COUNTING = ("atomicAdd", "gpuAtomicAdd", "__nv_atomic_add", "__nv_atomic_fetch_add")


def _counts_lanes(ex: Executor, call: ir.Call, seen: Sequence[Node]) -> bool:
    """Whether the lanes of a warp add one number to one counter."""
    if len(seen) < 2:  # What is added is a pair of numbers, as `__half2` is.
        return False
    increment, *_, address = seen
    if _without_scope(call.name) not in _COUNTING or increment.kind.is_float:
        return False
    return not (increment.bits | address.bits) & THREAD_BITS


def _draws_numbers(call: ir.Call, seen: Sequence[Node]) -> bool:
    """Whether no two threads find the same number in one counter. Where `atomicInc` starts again, all have come."""
    name = _without_scope(call.name)
    if name == "atomicInc":
        return True
    added = seen[0]
    return name in (*_COUNTING, "atomicSub") and added.is_const and not added.kind.is_float and bool(added.value)


def _ticket(ex: Executor, call: ir.Call, seen: Sequence[Node], reason: Reason) -> Value:
    """The lanes that come draw numbers one after another: what the counter was before, which nobody knows, and as many
    times the increment as others have drawn. In which order they do is not said anywhere; the compiler, which makes one
    operation of those of a warp where it sees that the address is the same (NVIDIA, "Voting and Shuffling to Optimize
    Atomic Operations"), numbers them by lane."""
    before = ex.memory.unknown(call.type, reason, (*seen, warp_index(ex)))
    if not isinstance(before, Node):
        return before
    graph, kind = ex.graph, before.kind
    place = graph.convert(_rank(ex), kind)
    return graph.binary("+", before, graph.binary("*", place, graph.convert(seen[0], kind), kind), kind)


def _rank(ex: Executor) -> Node:
    """How many of the lanes that come here are before a lane."""
    guards = tuple(condition for condition in ex.state.conditions if not asks_for_a_number(ex.graph, condition))
    return ex.graph.rank(ex.graph.conjunction(guards))


def _rank_here(ex: Executor, call: ir.Call) -> Value:
    """`_cudalint_rank()` of the bundled headers."""
    return ex.graph.convert(_rank(ex), kind_of(call.type))


def _of_rank(ex: Executor, call: ir.Call) -> Value:
    """`_cudalint_of_rank(value, rank)` of the bundled headers: one value for all lanes that name one rank."""
    value, rank = (expressions.evaluate(ex, argument) for argument in call.arguments)
    warp_converges(ex, call.span)
    is_data = any(part.bits & ex.graph.opaque_bits for part in nodes_of(value))
    named = tuple(part for part in nodes_of(rank) if not part.is_const)
    return ex.memory.unknown(call.type, Reason(is_data, "it comes from a shuffle"), (warp_index(ex), *named))


def _pipeline_copy(ex: Executor, call: ir.Call) -> Value | None:
    """`__pipeline_memcpy_async(dst_shared, src_global, size)`: one async copy, seen in both spaces."""
    size = expressions.number(ex, call.arguments[2])
    target, source = (expressions.evaluate(ex, a) for a in call.arguments[:2])
    if not size.is_const:
        return None
    copied_from: Node | None = None
    for pointer in (source, target):
        where = pointer_place(ex, pointer, ir.PointerType(ir.Scalar("char", 1, "int")))
        if isinstance(where, MemoryPlace):
            ex.memory.access(where, ex.context(call.span), "async-copy", int(size.value), copied_from=copied_from)
            copied_from = where.pointer.offset
    return ex.graph.zero


# --- arithmetic -------------------------------------------------------------------------------------------


def _numbers(ex: Executor, call: ir.Call) -> list[Node]:
    return [expressions.number(ex, a) for a in call.arguments]


def _extremum(op: str) -> Handler:
    def handler(ex: Executor, call: ir.Call) -> Value | None:
        if len(call.arguments) < 2 or not isinstance(ir.referent(call.type), ir.Scalar):
            return None
        a, b = _numbers(ex, call)[:2]
        # std::min returns a reference.
        return ex.graph.binary(op, a, b, kind_of(ir.referent(call.type)))

    return handler


def _absolute(ex: Executor, call: ir.Call) -> Value | None:
    if not isinstance(call.type, ir.Scalar):
        return None
    graph, kind = ex.graph, kind_of(call.type)
    a = graph.convert(_numbers(ex, call)[0], kind)
    negative = graph.binary("<", a, graph.const(0, kind), BOOL)
    return graph.select(negative, graph.binary("-", graph.const(0, kind), a, kind), a)


def _function(name: str) -> Handler:
    def handler(ex: Executor, call: ir.Call) -> Value | None:
        if len(call.arguments) != 1 or not isinstance(call.type, ir.Scalar):
            return None
        return ex.graph.function(name, _numbers(ex, call)[0], kind_of(call.type))

    return handler


def _rounded(name: str) -> Handler:
    """__float2int_rd and the like: round, then convert."""

    def handler(ex: Executor, call: ir.Call) -> Value:
        a = _numbers(ex, call)[0]
        if name and a.kind.is_float:
            a = ex.graph.function(name, a, F8)
        return ex.graph.convert(a, kind_of(call.type))

    return handler


def _operator(op: str) -> Handler:
    def handler(ex: Executor, call: ir.Call) -> Value | None:
        if not isinstance(call.type, ir.Scalar):
            return None
        a, b = _numbers(ex, call)[:2]
        return ex.graph.binary(op, a, b, kind_of(call.type))

    return handler


def _fused(ex: Executor, call: ir.Call) -> Value | None:
    if not isinstance(call.type, ir.Scalar):
        return None
    a, b, c = _numbers(ex, call)[:3]
    kind = kind_of(call.type)
    return ex.graph.binary("+", ex.graph.binary("*", a, b, kind), c, kind)


def _high_product(ex: Executor, call: ir.Call) -> Value | None:
    if call.type.bytes != 4:
        return None
    a, b = _numbers(ex, call)[:2]
    wide = ex.graph.binary("*", a, b, I8)
    return ex.graph.convert(ex.graph.binary(">>", wide, ex.graph.const(32), I8), kind_of(call.type))


def _power(ex: Executor, call: ir.Call) -> Value | None:
    numbers = _numbers(ex, call)
    if len(numbers) != 2:
        return None
    base, exponent, kind = *numbers, kind_of(call.type)
    if exponent.is_const and exponent.value == 2:
        base = ex.graph.convert(base, kind)
        return ex.graph.binary("*", base, base, kind)
    if (base.bits | exponent.bits) & ex.graph.opaque_bits:
        return ex.opaque("of `pow`", call.type, (base, exponent))
    return ex.graph.binary("pow", base, exponent, kind)


# --- warps and blocks --------------------------------------------------------------------------------------


def _shuffle(mode: str, skip: int) -> Handler:
    """`skip` arguments (the mask) come before the value."""

    def handler(ex: Executor, call: ir.Call) -> Value | None:
        values = [expressions.evaluate(ex, a) for a in call.arguments]
        if len(values) < skip + 2:
            return None
        value, lane = values[skip], values[skip + 1]
        if not isinstance(lane, Node):
            return None
        width = values[skip + 2] if len(values) > skip + 2 else ex.graph.const(32)
        if isinstance(value, Node) and isinstance(width, Node):
            return ex.graph.shuffle(mode, value, lane, width)
        return ex.opaque(f"it comes from `{call.name}`", call.type, (*ex.graph.thread,))

    return handler


def _vote(ex: Executor, call: ir.Call) -> Value:
    """The lanes of a warp get one answer."""
    args = [n for n in _numbers(ex, call) if n.bits & ex.graph.opaque_bits]
    return ex.memory.unknown(call.type, Reason(bool(args), f"it is the result of `{call.name}`"), (warp_index(ex),))


def _active_mask(ex: Executor, call: ir.Call) -> Value:
    """`__activemask()`: the lanes of a warp that get to it, if no data says so. Those that can run together do."""
    context = ex.context(call.span)
    deciding = [*context.conditions, *(loop.condition for loop in context.loops)]
    if any(condition.bits & ex.graph.opaque_bits for condition in deciding):
        return _vote(ex, call)
    if not any(condition.bits & THREAD_BITS for condition in deciding):
        return ex.graph.const(_WHOLE_WARP, U4)
    return ex.graph.match(ex.graph.conjunction(tuple(deciding)))


def _match(ex: Executor, call: ir.Call) -> Value | None:
    """`__match_any_sync(mask, value)` of whole warps; which lanes take part under another mask is not followed."""
    if len(call.arguments) != 2:
        return None
    mask, value = (expressions.evaluate(ex, argument) for argument in call.arguments)
    is_whole = isinstance(mask, Node) and mask.is_const and int(mask.value) & _WHOLE_WARP == _WHOLE_WARP
    return ex.graph.match(value) if is_whole and isinstance(value, Node) else None


_WHOLE_WARP = 0xFFFFFFFF


def _nothing(ex: Executor, call: ir.Call) -> Value:
    for argument in call.arguments:
        expressions.evaluate(ex, argument)
    return ex.graph.zero


def _end(ex: Executor, call: ir.Call) -> Value:
    ex.state.dead = True
    return ex.graph.zero


def _first(ex: Executor, call: ir.Call) -> Value:
    """Functions that hand their argument through: conversions between address spaces, __builtin_expect."""
    values = [expressions.evaluate(ex, a) for a in call.arguments]
    if isinstance(call.type, ir.Scalar) and isinstance(values[0], (Pointer, Choice)):
        return as_number(ex, values[0], call.arguments[0].type)
    return values[0]


_STRIDES: Sequence[Stride] = ("any", "outer", "inner")
"""As the bundled headers number them."""


def _stride(ex: Executor, call: ir.Call) -> Value:
    """`_cudalint_stride(stride, kind)` of the bundled headers: notes that the first argument is a tensor's stride."""
    value, kind = _numbers(ex, call)
    bare = without_cast(value)
    if bare.op == "uniform" and not ex.graph.choice(bare).is_default and kind.is_const:
        ex.graph.mark_stride(bare, _STRIDES[int(kind.value)])
    return value


def _assume_aligned(ex: Executor, call: ir.Call) -> Value:
    """`__builtin_assume_aligned(pointer, n)`: the offset is rounded down to what the program promises that it is."""
    value, *promised = [expressions.evaluate(ex, a) for a in call.arguments]
    if len(promised) != 1 or not isinstance(value, Pointer):
        return value
    (width,) = promised
    if not isinstance(width, Node) or not width.is_const or width.value not in (2, 4, 8, 16, 32, 64, 128, 256):
        return value
    size = ex.graph.const(width.value, I8)
    offset = ex.graph.binary("*", ex.graph.binary("/", value.offset, size, I8), size, I8)
    return replace(value, offset=offset, subscripts=None)


def _set_pair(ex: Executor, call: ir.Call) -> Value | None:
    """sincosf(x, &s, &c)."""
    values = [expressions.evaluate(ex, a) for a in call.arguments]
    if not isinstance(values[0], Node):
        return None
    for name, target, argument in zip(("sin", "cos"), values[1:], call.arguments[1:], strict=False):
        where = pointer_place(ex, target, argument.type)
        if isinstance(where, (LocalPlace, MemoryPlace)):
            value = ex.graph.function(name, values[0], values[0].kind)
            expressions.write(ex, where, value, call.span)
    return ex.graph.zero


def _signed(handler: Handler) -> Handler:
    """The handler, with its name in the accesses that it makes: the toolkit defines such functions inline."""

    def signing(ex: Executor, call: ir.Call) -> Value | None:
        first = len(ex.memory.events)
        result: Value | None = handler(ex, call)
        types = tuple(ir.type_name(argument.type) for argument in call.arguments)
        ex.memory.sign(first, (call.span,), LibraryCall(call.name, types))
        return result

    return signing


HANDLERS: Mapping[str, Handler] = {
    "load": _signed(_load), "store": _signed(_store), "atomic": _signed(_atomic), "nv-atomic": _signed(_nv_atomic),
    "pipeline-copy": _pipeline_copy, "assembly": ptx.run,
    "load-matrix": _signed(wmma.load), "store-matrix": _signed(wmma.store),
    "absolute": _absolute, "fused": _fused, "high-product": _high_product, "power": _power,
    "sine-and-cosine": _set_pair, "converted": _rounded(""),
    "masked-vote": converges(_vote), "unmasked-vote": unmasked(_vote), "match": converges(_match),
    "active-mask": _active_mask,
    "nothing": _nothing, "end": _end, "first-argument": _first, "assumed-alignment": _assume_aligned,
    "stride": _stride, "rank": _rank_here, "of-rank": _of_rank,
    **SYNCHRONISATION, **SPECIFICATIONS, **BULK_ACCESSES,
}  # fmt: skip
"""By effect (`cudalint.ir.builtins`)."""
MAKERS: Mapping[str, Callable[[str], Handler]] = {
    "extremum": _extremum, "operator": _operator, "function": _function, "rounded": _rounded, "bits": of_a_word,
    "shuffle": lambda direction: unmasked(_shuffle(direction, 0)),
    "masked-shuffle": lambda direction: converges(_shuffle(direction, 1)),
    **FOR_GROUPS,
}  # fmt: skip
"""The same for effects that an operand tells more of: from that to the handler."""


def _handler(known: Builtin) -> Handler:
    return MAKERS[known.effect](known.operand) if known.effect in MAKERS else HANDLERS[known.effect]


DEVICE_LIBRARY: Mapping[str, Handler] = {name: _handler(known) for name, known in BUILTINS.items() if known.effect}
"""By the functions' names."""

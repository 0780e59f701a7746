"""What functions of the CUDA runtime and of the C library do with memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cudalint.facts import Place
from cudalint.facts.host_faults import HostSpace
from cudalint.host.memory import copying, touching
from cudalint.host.memory.launching import launch_by_pointer, stream_of
from cudalint.host.memory.places import SOMEWHERE, Memory, as_pointer
from cudalint.host.memory.pointers import LED_TO, Address, Allocation, Key, Pointer, Stream, Value
from cudalint.host.memory.quantities import Quantity, product
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

Handler = Callable[["Analysis", ir.Call], Value]
_MAPPED = 2
"""cudaHostAllocMapped."""


def _target(an: Analysis, argument: ir.Expr) -> Key | None:
    """The pointer that a function sets through its address."""
    found = an.value(argument)
    if isinstance(found, Address):
        return found.key
    bare = walk.without_casts(argument)
    if found is None and isinstance(bare, (ir.Name, ir.Member)):
        where = an.place(bare)
        return (*where, LED_TO) if isinstance(where, tuple) else None
    return None


def _set(an: Analysis, key: Key | None, value: Value) -> None:
    if key is None:
        return
    if SOMEWHERE in key:
        an.state.forget(key[: key.index(SOMEWHERE)])
    elif key[0] not in an.captured:
        an.state.set(key, value)


def _allocates(space: HostSpace, size: int | None = 1, pointer: int = 0) -> Handler:
    """`cudaMalloc(&p, bytes)` and its like: at which positions both are."""

    def handler(an: Analysis, call: ir.Call) -> Value:
        key = _target(an, call.arguments[pointer])
        bytes_ = None
        for position, argument in enumerate(call.arguments):
            if position == size:
                bytes_ = an.number(argument)
            elif position != pointer:
                an.value(argument)
        allocation = Allocation(_space(space, call), call.name, Place(*call.span), key)
        an.allocated(allocation, bytes_)
        _set(an, key, Pointer(frozenset({allocation})))
        return None

    return handler


def _space(space: HostSpace, call: ir.Call) -> HostSpace:
    """Pinned memory that is mapped says so by a flag; one that is not known may."""
    if call.name != "cudaHostAlloc" or len(call.arguments) < 3:
        return space
    flags = walk.without_casts(call.arguments[2])
    is_plain = isinstance(flags, ir.Constant) and not int(flags.value) & _MAPPED
    return space if is_plain else "mapped"


def _gives(factors: Sequence[int]) -> Handler:
    """`malloc(bytes)` and `calloc(count, bytes)`: which arguments make the size."""

    def handler(an: Analysis, call: ir.Call) -> Value:
        numbers = [an.number(argument) for argument in call.arguments]
        size: Quantity | None = None
        for position in factors:
            size = numbers[position] if size is None else product(size, numbers[position])
        allocation = Allocation("pageable", call.name, Place(*call.span))
        an.allocated(allocation, size)
        return Pointer(frozenset({allocation}))

    return handler


def _reallocates(an: Analysis, call: ir.Call) -> Value:
    an.value(call.arguments[0])
    allocation = Allocation("pageable", call.name, Place(*call.span))
    an.allocated(allocation, an.number(call.arguments[1]))
    return Pointer(frozenset({allocation}))


def _releases(*spaces: HostSpace) -> Handler:
    """`free(p)` and its like: which memory it takes."""

    def handler(an: Analysis, call: ir.Call) -> Value:
        pointer = as_pointer(an, an.value(call.arguments[0])) if call.arguments else None
        if call.name in ("cudaFree", "cudaFreeHost"):
            _wait(an)
        if pointer is not None:
            touching.release(an, pointer, call.arguments[0], call.name, spaces)
        return None

    return handler


def _wait(an: Analysis) -> None:
    an.state.pending = ()


def _waits(an: Analysis, call: ir.Call) -> Value:
    """The host waits for the device."""
    for argument in call.arguments:
        found = an.value(argument)
        if isinstance(found, Address):
            an.state.forget(found.key)
    _wait(an)
    return None


def _waits_for_stream(an: Analysis, call: ir.Call) -> Value:
    stream = stream_of(an, call.arguments[0])
    if stream is None:
        _wait(an)
    an.state.pending = tuple(each for each in an.state.pending if each.stream is not stream)
    return None


def _orders(an: Analysis, call: ir.Call) -> Value:
    """A stream waits for another one."""
    for argument in call.arguments:
        an.value(argument)
    an.state.ordered |= frozenset(an.state.pending)
    return None


def _nothing(an: Analysis, call: ir.Call) -> Value:
    """Sets what it is given the address of, and does nothing that matters."""
    for argument in call.arguments:
        found = an.value(argument)
        if isinstance(found, Address):
            an.state.forget(found.key)
    return None


def _names_symbol(an: Analysis, call: ir.Call) -> Value:
    """`cudaGetSymbolAddress(&p, symbol)`."""
    _set(an, _target(an, call.arguments[0]), None)
    return None


def _makes_stream(an: Analysis, call: ir.Call) -> Value:
    key = _target(an, call.arguments[0])
    bare = walk.without_casts(call.arguments[0])
    name = bare.operand if isinstance(bare, ir.Unary) else bare
    _set(an, key, Stream(an.text_of(Place(*name.span)) or "a stream"))
    return None


def _maps(an: Analysis, call: ir.Call) -> Value:
    """`cudaHostGetDevicePointer(&d, h, 0)`: the same memory."""
    found = an.value(call.arguments[1])
    _set(an, _target(an, call.arguments[0]), found if isinstance(found, Pointer) else None)
    return None


def _pins(an: Analysis, call: ir.Call) -> Value:
    """`cudaHostRegister(p, bytes, flags)`."""
    pointer = as_pointer(an, an.value(call.arguments[0]))
    if pointer is not None:
        an.handed_on |= pointer.targets
    return None


def _touches(reads: Collection[int], writes: Collection[int], result: int | None = None) -> Handler:
    """Functions of the host that read and write memory which they are given."""

    def handler(an: Analysis, call: ir.Call) -> Value:
        values = [an.value(argument) for argument in call.arguments]
        for positions, is_written in ((reads, False), (writes, True)):
            for position in positions:
                found = values[position] if position < len(values) else None
                if isinstance(found, Pointer):
                    touching.by_host(an, found, call.arguments[position], is_written, call.name)
                elif isinstance(found, Address) and is_written:
                    an.state.forget(found.key)
        return values[result] if result is not None and result < len(values) else None

    return handler


def _moved_variable(an: Analysis, call: ir.Call) -> Value:
    """`std::move(x)` and `std::forward<T>(x)` are `x`."""
    where = an.place(call.arguments[0]) if call.arguments else None
    return an.read(where, call.arguments[0]) if isinstance(where, (tuple, Memory)) else None


_HANDLERS: Final[Mapping[str, Handler]] = {
    "cudaMalloc": _allocates("device"),
    "cudaMallocAsync": _allocates("device"),
    "cudaMallocPitch": _allocates("device", None),
    "cudaMallocHost": _allocates("pinned"),
    "cudaHostAlloc": _allocates("pinned"),
    "cudaMallocManaged": _allocates("managed"),
    "posix_memalign": _allocates("pageable", 2),
    "malloc": _gives((0,)),
    "calloc": _gives((0, 1)),
    "aligned_alloc": _gives((1,)),
    "realloc": _reallocates,
    "free": _releases("pageable"),
    "operator delete": _releases("pageable"),
    "cudaFree": _releases("device", "managed"),
    "cudaFreeHost": _releases("pinned", "mapped"),
    "cudaStreamSynchronize": _waits_for_stream,
    "cudaStreamWaitEvent": _orders,
    "cudaHostGetDevicePointer": _maps,
    "cudaHostRegister": _pins,
    "cudaGetSymbolAddress": _names_symbol,
    "memcpy": _touches((1,), (0,), 0),
    "memmove": _touches((1,), (0,), 0),
    "memset": _touches((), (0,), 0),
    "memcmp": _touches((0, 1), ()),
    "fread": _touches((), (0,)),
    "fwrite": _touches((0,), ()),
    "cudaLaunchKernel": launch_by_pointer,
    "cudaLaunchCooperativeKernel": launch_by_pointer,
    "move": _moved_variable,
    "forward": _moved_variable,
    **copying.COPIES,
    **dict.fromkeys(
        ("cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"), _makes_stream
    ),
    **dict.fromkeys(
        ("cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString", "cudaGetErrorName", "cudaEventCreate",
         "cudaEventCreateWithFlags", "cudaEventRecord", "cudaMemPrefetchAsync", "cudaMemAdvise", "cudaSetDevice",
         "cudaGetDevice", "cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2",
         "cudaFuncSetAttribute", "cudaDeviceGetAttribute", "cudaFreeAsync", "cudaMemGetInfo"),
        _nothing,
    ),
    **dict.fromkeys(
        ("cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaEventSynchronize", "cudaStreamQuery",
         "cudaEventQuery", "cudaEventElapsedTime", "cudaDeviceReset", "cudaStreamDestroy"),
        _waits,
    ),
}  # fmt: skip


def _guarded(handler: Handler) -> Handler:
    """A call that doesn't compile lacks arguments."""

    def guarded(an: Analysis, call: ir.Call) -> Value:
        try:
            return handler(an, call)
        except IndexError:
            return None

    return guarded


FUNCTIONS: Final[Mapping[str, Handler]] = {name: _guarded(handler) for name, handler in _HANDLERS.items()}
"""By name."""

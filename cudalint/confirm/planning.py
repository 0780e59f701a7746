"""Arguments for a kernel that nobody gave data to: buffers as large as the evaluated addresses reach, and scalars as
they were evaluated. Generic sizes are real ones here, so that predictions that assume them can be held to."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from cudalint.confirm.trials import Argument, Buffer, Pointed
from cudalint.facts import ArgumentValue, KernelFacts, LaunchFacts, LeafFacts, ParameterFacts

UNKNOWN_BYTES = 16 << 20
"""For a pointer whose addresses depend on data, or that only functions see that were not evaluated."""
_ALIGNMENT = 256
"""Of allocations, as the CUDA C++ Programming Guide says (section "Device Memory Accesses")."""
_MOST_BYTES = 1 << 30
SMALL_SIZE = 1024
"""For sizes that nothing determines, where the generic ones would take too much memory."""
TINY_SIZE = 64
"""The same for sizes that place something in shared memory."""

_ALL_BLOCKS = 4
"""Of larger grids only some blocks are evaluated: under a guard, another one may reach further."""
_MOST_ROOM = 64 << 20

_FORMATS = {
    ("int", 1): "b", ("int", 2): "h", ("int", 4): "i", ("int", 8): "q",
    ("uint", 1): "B", ("uint", 2): "H", ("uint", 4): "I", ("uint", 8): "Q",
    ("float", 2): "e", ("float", 4): "f", ("float", 8): "d", ("bool", 1): "?",
}  # fmt: skip


class CannotRun(Exception):
    """Why a kernel can't be given arguments; one line."""


class TooLarge(CannotRun):
    """Its arguments, or its indices into dynamic shared memory, are beyond what there is with the generic sizes."""

    def __init__(self, message: str, try_instead: int) -> None:
        super().__init__(message)
        self.try_instead = try_instead
        """A value for the sizes that nothing determines, which may do."""


class Plan(Struct, frozen=True):
    arguments: tuple[Argument, ...]
    buffers: tuple[Buffer, ...]
    zero_integers: bool
    dynamic_shared: int
    assumed: tuple[str, ...]
    """Which scalars nothing determined, with the value that they got."""


def plan_arguments(
    kernel: KernelFacts, launch: int, exact: bool = False, values: Mapping[str, ArgumentValue] | None = None
) -> Plan:
    """The arguments of a kernel under one of its launches. With `exact`, buffers are as large as the program allocates
    them, although the kernel is seen to reach beyond. `values` are those that a predicted error depends on."""
    facts = kernel.launches[launch]
    facts = replace(facts, arguments={**facts.arguments, **(values or {})})
    ranges = _as_allocated(_ranges(kernel, launch), facts, exact)
    buffers: list[Buffer] = []
    arguments = [_argument(p, facts.arguments, ranges, buffers) for p in kernel.parameters]
    total = sum(buffer.bytes for buffer in buffers)
    loaded = total > _MOST_BYTES and not open_sizes(kernel, launch) and _has_loaded_base(kernel, launch)
    if loaded:
        # No size is to blame, so the base of some access is loaded: of integers that are zero, it is the start.
        ranges = {name: None if _is_far(reach) else reach for name, reach in ranges.items()}
        buffers.clear()
        arguments = [_argument(p, facts.arguments, ranges, buffers) for p in kernel.parameters]
    elif total > _MOST_BYTES:
        raise TooLarge(f"its arguments would take {total / 2**30:.1f} GiB", SMALL_SIZE)
    _check_shared(kernel, launch)
    results = [result for access in kernel.accesses for result in access.results if result.launch == launch]
    by_data = loaded or any(result.status in ("data-dependent", "unknown", "range") for result in results)
    assumed = tuple(f"{name} = {facts.arguments[name]}" for name in open_sizes(kernel, launch))
    return Plan(tuple(arguments), tuple(buffers), by_data, _dynamic_shared(kernel, launch), assumed)


def _check_shared(kernel: KernelFacts, launch: int) -> None:
    """Dynamic shared memory has the launch's size, whatever was assumed about the indices into it."""
    facts = kernel.launches[launch]
    room, needed = _dynamic_shared(kernel, launch), _reach_into_dynamic(kernel, launch)
    sizes = ", ".join(f"{name} = {facts.arguments[name]}" for name in open_sizes(kernel, launch))
    if needed > room and sizes and facts.site is not None:
        raise TooLarge(f"with {sizes}, indices leave the launch's {room} bytes of shared memory", TINY_SIZE)


def _dynamic_shared(kernel: KernelFacts, launch: int) -> int:
    """What the launch gives; where that is open, what the kernel uses."""
    facts = kernel.launches[launch]
    if facts.site is not None and facts.site.dynamic_shared_bytes is None:
        return _reach_into_dynamic(kernel, launch)
    return facts.dynamic_shared_bytes


def _reach_into_dynamic(kernel: KernelFacts, launch: int) -> int:
    reached = [0]
    for access in kernel.accesses:
        if access.space == "shared" and access.declaration is not None and not access.declaration.total_bytes:
            ranges = [r.offset_range for r in access.results if r.launch == launch]
            reached += [reach[1] for reach in ranges if reach is not None]
    return max(reached)


def _is_far(reach: tuple[int, int] | None) -> bool:
    return reach is not None and reach[1] - min(reach[0], 0) > _MOST_BYTES


def _has_loaded_base(kernel: KernelFacts, launch: int) -> bool:
    """Whether an access is far from the start of its array because of a number from memory. Sizes alone leave some
    thread at the start, and none far ahead of it."""
    results = [r for access in kernel.accesses for r in access.results if access.space == "global"]
    reaches = [(r.status, r.offset_range) for r in results if r.launch == launch and r.offset_range is not None]
    return any(
        high > _MOST_BYTES and (status == "range" or low > 0 or low < -_MOST_BYTES) for status, (low, high) in reaches
    )


def open_sizes(kernel: KernelFacts, launch: int) -> tuple[str, ...]:
    """The integers among the parameters that nothing determines."""
    facts = kernel.launches[launch]
    return tuple(
        leaf.name
        for parameter in kernel.parameters
        for leaf in parameter.leaves
        if leaf.kind in ("int", "uint") and leaf.name not in facts.parameters and leaf.name in facts.arguments
    )


def _ranges(kernel: KernelFacts, launch: int) -> dict[str, tuple[int, int] | None]:
    """The bytes that the accesses of each array reach; None where some of them are unknown."""
    found: dict[str, tuple[int, int] | None] = {}
    for access in kernel.accesses:
        if access.space not in ("global", "generic"):
            continue
        for result in access.results:
            if result.launch != launch or result.status == "unreached":
                continue
            reach = result.offset_range
            known = found.get(access.array, (0, 0))
            both = reach and known and (min(known[0], reach[0]), max(known[1], reach[1]))
            found[access.array] = both or None
    return found


def _as_allocated(
    ranges: Mapping[str, tuple[int, int] | None], facts: LaunchFacts, exact: bool
) -> dict[str, tuple[int, int] | None]:
    """The ranges with what the host code in sight allocates, and else with room for what was not evaluated."""
    found: dict[str, tuple[int, int] | None] = dict(ranges)
    for name, reach in ranges.items():
        allocated = facts.allocated.get(name)
        if reach is None or (_is_far(reach) and not exact):
            continue
        if allocated is not None:
            found[name] = (0, allocated) if exact else (reach[0], max(reach[1], allocated))
        elif math.prod(facts.grid) > _ALL_BLOCKS:
            found[name] = (reach[0], reach[1] + min(reach[1], _MOST_ROOM))
    return found


def _argument(
    parameter: ParameterFacts,
    values: Mapping[str, ArgumentValue],
    ranges: Mapping[str, tuple[int, int] | None],
    buffers: list[Buffer],
) -> Argument:
    if not parameter.leaves and parameter.bytes:
        raise CannotRun(f"the type of its parameter `{parameter.name}` is not known")
    image = bytearray(parameter.bytes)
    pointers: list[Pointed] = []
    for leaf in parameter.leaves:
        value = values.get(leaf.name, 0)
        if leaf.kind == "pointer":
            if value is None:
                continue  # A null pointer is eight zero bytes.
            pointers.append(Pointed(leaf.offset, len(buffers), int(value)))
            buffers.append(_buffer(leaf, int(value), ranges.get(leaf.name, (0, 0))))
        else:
            _write_scalar(image, leaf, value)
    return Argument(bytes(image), tuple(pointers))


def _buffer(leaf: LeafFacts, base: int, reach: tuple[int, int] | None) -> Buffer:
    low, high = reach if reach is not None else (0, UNKNOWN_BYTES)
    low, high = min(low, base), max(high, base + leaf.pointee_bytes)
    low = low // _ALIGNMENT * _ALIGNMENT if low < 0 else 0
    return Buffer(leaf.name, low, max(high, low + 1), leaf.element_kind, leaf.element_bytes)


def _write_scalar(image: bytearray, leaf: LeafFacts, value: ArgumentValue) -> None:
    format_ = _FORMATS.get((leaf.kind, leaf.bytes))
    if format_ is None:
        return  # Padding, or a type that no kernel computes addresses with.
    number = value or 0
    if leaf.kind in ("int", "uint"):
        bits = 8 * leaf.bytes
        number = int(number) % (1 << bits)
        if leaf.kind == "int" and number >= 1 << (bits - 1):
            number -= 1 << bits
    struct.pack_into(f"<{format_}", image, leaf.offset, number)

"""CL501: block sizes that leave lanes of the last warp without work."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts
from cudalint.hardware.targets import Target
from cudalint.launchkit import Seen, launch_finding, percent, seen_launches
from cudalint.numerals import count, dimensions
from cudalint.rule import Rule, RuleContext

Block = tuple[int, int, int]


class BlockNotWarpMultiple(Rule):
    """A block whose threads don't fill its warps.

    What it does
        Counts the lanes of the last warp of each block that have no thread. Only blocks in sight count, and a launch
        whose threads would all fit into a single warp is left alone: nobody waits for its lanes. So is a block with
        fewer idle lanes than the threshold: one in fifty where the block is a plain number of threads, and one in ten
        where it has two or three extents, whose shape (16x25) follows the data.

    Why is this bad
        Threads run in warps of 32. The hardware issues every instruction for the whole warp, and reserves registers
        for the whole warp, whether or not all of its lanes have a thread. A block of 100 threads takes the room and
        the time of 128.

    Example
        scale<<<(n + 99) / 100, 100>>>(data, n);         // 28 of 128 lanes idle

    Use instead
        scale<<<(n + 127) / 128, 128>>>(data, n);
    """

    code = "CL501"
    name = "block-not-warp-multiple"
    severity = "warning"
    summary = "blocks whose last warp has idle lanes"
    by_hand = "the size of the block is part of how the work is divided"
    reads = frozenset({"occupancy"})
    is_waste = True
    thresholds = {"idle": 0.02, "shaped": 0.1}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        warp = context.target.warp_size
        limits = self.limits(context)
        for seen in seen_launches(kernel):
            threads = seen.site.threads
            if threads is None or threads % warp == 0 or threads > context.target.max_threads_per_block:
                continue
            if seen.site.blocks is not None and seen.site.blocks * threads <= warp:
                continue
            has_shape = sum(extent != 1 for extent in seen.site.block) > 1
            least = limits["shaped" if has_shape else "idle"]
            if -threads % warp < least * (threads + -threads % warp):
                continue
            yield self._diagnostic(kernel, seen, threads, context.target)

    def _diagnostic(self, kernel: KernelFacts, seen: Seen, threads: int, target: Target) -> Diagnostic:
        lanes = -(-threads // target.warp_size) * target.warp_size
        idle = lanes - threads
        share = idle / lanes
        message = (
            f"a block of {count(threads, 'thread')} is no multiple of {target.warp_size}: "
            f"{idle} of {lanes} lanes have no thread ({percent(share)})"
        )
        figures = {"threads": float(threads), "idle_lanes": float(idle), "idle_fraction": share}
        x, y, z = seen.site.block
        assert x is not None and y is not None and z is not None
        # A kernel that never asks for the block's size is written for this one.
        suggestion = _suggestion((x, y, z), share, target, kernel) if kernel.asks_block_size else None
        # Launches with a block of one size, such as those of a macro that is used again and again, have one cause.
        return launch_finding(self, kernel, seen, message, figures, suggestion, common=dimensions((x, y, z)))


def _suggestion(block: Block, share: float, target: Target, kernel: KernelFacts) -> Suggestion | None:
    most = kernel.resources.max_threads or target.max_threads_per_block
    sizes = [size for size in nearest_full_blocks(block, target) if _threads(size) <= most]
    if not sizes:
        return None
    text = " or ".join(_size(size) for size in sizes)
    before, after = {"idle_lanes_percent": 100 * share}, {"idle_lanes_percent": 0.0}
    return Suggestion(f"the nearest sizes that fill their warps: {text}", before=before, after=after)


def nearest_full_blocks(block: Block, target: Target) -> list[Block]:
    """The nearest smaller and larger block of whole warps that differs from this one in a single extent."""
    smaller: list[Block] = []
    larger: list[Block] = []
    for axis, extent in enumerate(block):
        if extent == 1 and axis != 0:
            continue
        step = target.warp_size // gcd(target.warp_size, _threads(block) // extent)
        for nearest, found in (((extent - 1) // step * step, smaller), (-(-extent // step) * step, larger)):
            x, y, z = (nearest if i == axis else old for i, old in enumerate(block))
            if 1 <= nearest <= target.max_block_dimensions[axis] and x * y * z <= target.max_threads_per_block:
                found.append((x, y, z))
    return [*([max(smaller, key=_threads)] if smaller else []), *([min(larger, key=_threads)] if larger else [])]


def _size(block: Block) -> str:
    shape = dimensions(block)
    return f"{shape} threads" if shape.isdecimal() else f"{shape} ({_threads(block)} threads)"


def _threads(block: Block) -> int:
    x, y, z = block
    return x * y * z

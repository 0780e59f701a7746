"""CL502: launches that no GPU, or not this kernel, allows."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, LaunchFault, LaunchSite
from cudalint.hardware.occupancy import occupancy
from cudalint.hardware.targets import Target
from cudalint.launchkit import Seen, counted_registers, fault_finding, for_sizes, launch_finding, seen_launches
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count


class LaunchLimit(Rule):
    """A launch that fails, because it asks for more than a block or a grid may have.

    What it does
        Compares the sizes of launches in sight with the target's limits: threads per block, the extents of blocks
        and grids, the kernel's own `__launch_bounds__`, and, where the registers are known (`--registers`, `--cubin`,
        `--ptxas`), the registers that all threads of a block take together; and the grid with the clusters that it is
        divided into. Shared memory is CL202's.

        Where host code leaves sizes open, it looks for the smallest ones that get past its checks and with which the
        launch fails: a quotient of a grid or block that is rounded down to 0 although there is something to do, and
        more blocks in y or z than the 65535 that there may be.

    Why is this bad
        The kernel does not run. The launch itself returns nothing, so that a program that doesn't ask
        `cudaGetLastError` goes on with whatever its buffers held before.

    Example
        dim3 block(64, 32);                                // 2048 threads
        blur<<<grid, block>>>(out, in, n);                 // invalid configuration argument

    Use instead
        dim3 block(32, 32);
        blur<<<grid, block>>>(out, in, n);

    What is not reported
        - Launches of nothing, as for `n == 0` with `(n + 255) / 256` blocks: nearly every launch would be one.
        - Quotients that are rounded down of a number that the kernel compares its index with: they leave out the last
          elements of larger sizes, too, which CL108 tells.
        - By default, launches that fail for sizes that may be none that anybody means: a grid of `n / 256` of a kernel
          that compares no index with `n`, and so is written for whole blocks; one of `n / 4`, for fewer elements than
          a warp has lanes; more than 65535 heads, or rows beside columns in x, unless another axis is held below such
          a limit; an axis of a vector (`size.y`), or what is held below another number. `--all` lists them.
        - More than 65535 tiles in y or z, unless another axis is held below such a limit: images are not that high.
    """

    code = "CL502"
    name = "launch-limit"
    severity = "error"
    summary = "launches that fail for their sizes"
    by_hand = "how the work is divided among blocks has to change"
    reads = frozenset({"occupancy", "launch_faults", "coverage"})
    judges_by_target = True

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for seen in seen_launches(kernel):
            excesses = list(_excesses(kernel, seen, context.target))
            if excesses:
                yield self._diagnostic(kernel, seen, excesses, context.target)
        for fault in kernel.launch_faults:
            if fault.kind != "shared" and not _is_left_out(kernel, fault):
                yield self._of_sizes(kernel, fault, context.target)

    def _of_sizes(self, kernel: KernelFacts, fault: LaunchFault, target: Target) -> Diagnostic:
        what = "threads" if fault.of_block else "blocks"
        axis = fault.axis or "x"
        if fault.kind == "nothing":
            said = f"0 {what} in {axis}: a quotient is rounded down to 0 although there is something to do"
            advice = Suggestion("round the quotient up, `(a + b - 1) / b`, or take at least 1")
        else:
            most = target.max_grid_dimensions["xyz".index(axis)]
            said = f"{fault.amount} blocks in {axis}, at most {most}"
            advice = Suggestion(f"hold it at {most} and let blocks go on in a loop, or let x be the long axis")
        message = f"the launch of `{kernel.name}` fails{for_sizes(fault.sizes)}: {said}"
        return fault_finding(self, kernel, fault, message, {what: float(fault.amount)}, advice)

    def _diagnostic(self, kernel: KernelFacts, seen: Seen, excesses: list[str], target: Target) -> Diagnostic:
        figures = {"largest_block": float(_largest_block(kernel, target))}
        if seen.site.threads is not None:
            figures["threads"] = float(seen.site.threads)
        message = f"the launch of `{kernel.name}` fails: {'; '.join(excesses)}"
        return launch_finding(self, kernel, seen, message, figures, _suggestion(kernel, seen, target))


def _is_left_out(kernel: KernelFacts, fault: LaunchFault) -> bool:
    """Whether the last elements are left out for a quotient that is rounded down, which CL108 tells: the launch only
    fails where these are all."""
    return fault.kind == "nothing" and any(
        each.kind == "rounded-down" and each.place == fault.place and each.axis == fault.axis
        for each in kernel.uncovered
    )


def _excesses(kernel: KernelFacts, seen: Seen, target: Target) -> Iterator[str]:
    site = seen.site
    threads = site.threads
    if threads is not None and threads > target.max_threads_per_block:
        yield f"{threads} threads per block, at most {target.max_threads_per_block}"
    for axis, extent, most in zip("xyz", site.block, target.max_block_dimensions, strict=True):
        too_many = threads is not None and threads > target.max_threads_per_block
        if extent is not None and extent > most and not (too_many and axis != "z"):
            yield f"{extent} threads in {axis}, at most {most}"
    for axis, extent, most in zip("xyz", site.grid, target.max_grid_dimensions, strict=True):
        if extent is not None and extent > most:
            yield f"{extent} blocks in {axis}, at most {most}"
    yield from _of_clusters(site)
    if threads is None or threads > target.max_threads_per_block:
        return
    bound = kernel.resources.max_threads
    if bound is not None and threads > bound:
        yield f"{threads} threads per block, at most {bound} by the kernel's __launch_bounds__"
    registers = counted_registers(kernel.resources)
    if registers is not None:
        # Shared memory is left out here: its limits are another rule's.
        obstacles = occupancy(target, threads, registers).obstacles
        yield from (f"{obstacle} ({registers} per thread)" for obstacle in obstacles)


_MOST_IN_CLUSTER = 16
"""Blocks, of which more than 8 take cudaFuncAttributeNonPortableClusterSizeAllowed (CUDA C++ Programming Guide, "Thread
Block Clusters")."""


def _of_clusters(site: LaunchSite) -> Iterator[str]:
    """What is wrong with how a grid is divided into clusters, of which it has to have a whole number along each axis.
    """
    if site.cluster is None:
        return
    for axis, extent, own in zip("xyz", site.grid, site.cluster, strict=True):
        if extent is not None and own is not None and extent % own:
            yield f"{count(extent, 'block')} in {axis} can't be divided into clusters of {own}"
    x, y, z = site.cluster
    if x is not None and y is not None and z is not None and x * y * z > _MOST_IN_CLUSTER:
        yield f"{x * y * z} blocks in a cluster, at most {_MOST_IN_CLUSTER}"


def _largest_block(kernel: KernelFacts, target: Target) -> int:
    """The most threads, in whole warps, with which a block of the kernel can be launched."""
    most = min(kernel.resources.max_threads or target.max_threads_per_block, target.max_threads_per_block)
    registers = counted_registers(kernel.resources)
    whole = range(most // target.warp_size * target.warp_size, 0, -target.warp_size)
    return next((threads for threads in whole if occupancy(target, threads, registers).launchable), most)


def _suggestion(kernel: KernelFacts, seen: Seen, target: Target) -> Suggestion | None:
    threads = seen.site.threads
    largest = _largest_block(kernel, target)
    if threads is not None and threads > largest:
        return Suggestion(f"the largest block that can be launched has {count(largest, 'thread')}")
    x, y, z = seen.site.grid
    most_x, most_y, most_z = target.max_grid_dimensions
    if (y is not None and y > most_y) or (z is not None and z > most_z):
        return Suggestion(f"let x be the long axis of the grid: it may have {most_x} blocks")
    if x is not None and x > most_x:
        return Suggestion("launch fewer blocks and let each thread loop over several elements (a grid-stride loop)")
    return None

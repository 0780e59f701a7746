"""CL202: more shared memory than a block may have."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import ArrayFacts, KernelFacts, LaunchFault
from cudalint.fixes.obstacles import Obstacle, edited
from cudalint.hardware.targets import Target
from cudalint.launchkit import Seen, fault_finding, for_sizes, launch_finding, seen_launches
from cudalint.rule import Rule, RuleContext


class SharedMemoryLimit(Rule):
    """A kernel, or a launch, that asks for more shared memory than a block may have.

    What it does
        Adds up the kernel's `__shared__` variables, and the dynamic shared memory of launches in sight. Static
        shared memory ends at 48 KB on every GPU. Beyond that, shared memory must be dynamic, and the kernel's limit
        raised by `cudaFuncSetAttribute`; and the target has its own maximum. A launch over 48 KB is reported if
        the attribute isn't named anywhere in the file and its headers, or is raised to less than the launch takes.

        Where host code leaves sizes open that make the dynamic shared memory, and nothing raises the limit, it looks
        for the smallest ones that get past its checks and take more than 48 KB.

    Why is this bad
        Too much static shared memory does not compile ("uses too much shared data"). A launch with too much dynamic
        shared memory fails with "invalid argument", and the kernel does not run.

    Example
        product<<<grid, block, 64 * 1024>>>(a, b, c);   // without the attribute: fails

    Use instead
        cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
        product<<<grid, block, 64 * 1024>>>(a, b, c);

    What is not reported
        - Memory for as many heads, or whatever else there are few of, as would take more than 48 KB.
        - Arrays of a template that nothing in sight instantiates and whose numbers are usual ones.
        - By default, open sizes that are no rows of data: of tables, windows and numbers of bytes nothing says that
          they get so large, or that a caller doesn't know the limit. A row is what lies between the data of one block
          and that of the next, `x[blockIdx.x * n + i]`. `--all` lists the others.
    """

    code = "CL202"
    name = "shared-memory-limit"
    severity = "error"
    summary = "more shared memory than a block may have"
    guide = ("occupancy",)
    by_hand = "smaller arrays are another program"
    reads = frozenset({"accesses", "occupancy", "launch_faults"})
    judges_by_target = True

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        static = kernel.resources.static_shared_bytes or 0
        if static > context.target.shared_per_block:
            if not all(launch.made_up for launch in kernel.launches) or not kernel.launches:
                yield self._static(kernel, static, context.target)
            return
        for seen in seen_launches(kernel):
            dynamic = seen.site.dynamic_shared_bytes
            if dynamic:
                yield from self._dynamic(kernel, seen, static, dynamic, context)
        for fault in kernel.launch_faults:
            if fault.kind == "shared":
                yield self._of_sizes(kernel, fault, context.target)

    def _of_sizes(self, kernel: KernelFacts, fault: LaunchFault, target: Target) -> Diagnostic:
        most = target.shared_per_block
        message = (
            f"the launch of `{kernel.name}` fails{for_sizes(fault.sizes)}: {fault.amount} bytes of dynamic shared "
            f"memory, over {most}, and nothing in sight raises its limit"
        )
        figures = {"shared_bytes": float(fault.amount), "limit_bytes": float(most)}
        call = f"cudaFuncSetAttribute({kernel.name}, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
        advice = Suggestion(f"call `{call}` before the launch, and look at what it returns")
        return fault_finding(self, kernel, fault, message, figures, advice)

    def _static(self, kernel: KernelFacts, static: int, target: Target) -> Diagnostic:
        largest = _largest_array(kernel)
        most = target.shared_per_block
        message = f"`{kernel.name}` declares {static} bytes of static shared memory, and a block may have {most}"
        related: tuple[Related, ...] = ()
        if largest is not None:
            related = (Related(largest.place, f"`{largest.name}` has {largest.total_bytes} bytes"),)
        return self.finding(
            kernel,
            place=largest.place if largest is not None else kernel.name_place,
            message=message,
            figures={"static_shared_bytes": float(static), "limit_bytes": float(most)},
            related=related,
            suggestion=_smaller(largest, static, most, target),
        )

    def _dynamic(
        self, kernel: KernelFacts, seen: Seen, static: int, dynamic: int, context: RuleContext
    ) -> Iterator[Diagnostic]:
        target = context.target
        total = static + dynamic
        takes = f"{total} bytes of shared memory" + (f" ({static} static, {dynamic} dynamic)" if static else "")
        figures = {"shared_bytes": float(total), "limit_bytes": float(target.shared_per_block)}
        opted_in = seen.site.opted_in_bytes
        if total > target.shared_per_block_opt_in:
            most = target.shared_per_block_opt_in
            message = f"the launch of `{kernel.name}` fails: {takes}, and a block of {target.name} may have {most}"
            figures["limit_bytes"] = float(most)
            yield launch_finding(self, kernel, seen, message, figures, _less_dynamic(seen, static, dynamic, most))
        elif total > target.shared_per_block and opted_in is not None and opted_in < dynamic:
            raised = f"its limit is only raised to {opted_in}" if opted_in else "nothing in sight raises its limit"
            limit = max(target.shared_per_block, static + opted_in)
            message = f"the launch of `{kernel.name}` fails: {takes}, over {limit}, and {raised}"
            figures["limit_bytes"] = float(limit)
            call = f"cudaFuncSetAttribute({kernel.name}, cudaFuncAttributeMaxDynamicSharedMemorySize, {dynamic})"
            before, after = {"blocks_per_sm": 0.0}, {"blocks_per_sm": float(seen.occupancy.blocks_per_sm or 0)}
            advice = edited(
                Suggestion(f"call `{call}` before the launch", (), before, after),
                lambda: _raised(opted_in, seen, context),
            )
            yield launch_finding(self, kernel, seen, message, figures, advice)


def _raised(opted_in: int, seen: Seen, context: RuleContext) -> tuple[Edit, ...]:
    from cudalint.fixes.opt_in_edits import raised_limit

    if opted_in:
        raise Obstacle(f"it is raised elsewhere, to {opted_in} bytes only")
    return raised_limit(seen.site.place, context.text_of)


def _largest_array(kernel: KernelFacts) -> ArrayFacts | None:
    arrays = (access.declaration for access in kernel.accesses if access.space == "shared" and access.declaration)
    return max((a for a in arrays if a.total_bytes), key=lambda a: a.total_bytes or 0, default=None)


def _smaller(array: ArrayFacts | None, static: int, most: int, target: Target) -> Suggestion | None:
    """The largest size of the array that fits, or dynamic memory if that is enough."""
    parts = []
    if array is not None and array.total_bytes and array.extents:
        room = most - (static - array.total_bytes)
        extents = _largest_extents(array, room)
        if extents is not None:
            parts.append(f"the largest that fits is `{array.name}{''.join(f'[{extent}]' for extent in extents)}`")
    if static <= target.shared_per_block_opt_in:
        parts.append(f"as dynamic shared memory with the attribute raised, {static} bytes fit on {target.name}")
    return Suggestion("; ".join(parts)) if parts else None


def _largest_extents(array: ArrayFacts, room: int) -> tuple[int, ...] | None:
    """Square tiles stay square, with their padding; other arrays give up rows."""
    *outer, rows, row = (1, *array.extents)
    if not array.total_bytes or room <= 0 or 0 in array.extents:
        return None
    planes = array.total_bytes // (rows * row * array.element_bytes)
    elements = room // (planes * array.element_bytes)
    padding = row - rows
    if len(array.extents) > 1 and 0 <= padding <= rows // 8:
        # The largest n with n * (n + padding) elements.
        side = (isqrt(padding * padding + 4 * elements) - padding) // 2
        last = (side, side + padding)
    elif len(array.extents) > 1:
        last = (elements // row, row)
    else:
        last = (1, elements)
    found = (*outer, *last)[1:]
    return found if min(found) > 0 else None


def _less_dynamic(seen: Seen, static: int, dynamic: int, most: int) -> Suggestion | None:
    room = most - static
    threads = seen.site.threads
    if room <= 0:
        return None
    text = f"at most {room} bytes of dynamic shared memory fit"
    if threads and dynamic % threads == 0:
        each = dynamic // threads
        fitting = min(room // each, threads) // 32 * 32
        if fitting:
            text += f": with {each} bytes per thread, blocks of {fitting} threads"
    return Suggestion(text)

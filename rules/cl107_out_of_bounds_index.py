"""CL107: indices that leave an array of known extent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts, OutOfBounds
from cudalint.fixes.obstacles import Obstacle, edited
from cudalint.fixes.spelling import NAME
from cudalint.numerals import thread
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count, frames_related, in_kernel, with_values


class OutOfBoundsIndex(Rule):
    """An index that leaves an array of known extent, for a thread of a launch in sight or of any launch.

    What it does
        Compares the bytes that every active lane touches with the size of the array, and names the first thread
        that leaves it. Sizes are known of shared arrays (of `extern` ones from the launch), constant and device
        variables, arrays in registers, and allocations that the host code shows, also as an expression
        (`n * sizeof(float)`). Reports only what is certain: the launch is known, or the element is the same for all
        threads of any block, neither the index nor a condition on the way there depends on loaded data, and no number
        goes into the index that doesn't go into the size. Of an array without room for one element (dynamic shared
        memory that the launch forgets) conditions don't matter.

        An index that was loaded is a warning where the code itself holds it, and too high: by a mask (`x & 127` of 64
        elements), a remainder, a clamp at the number of elements, or a guard with `<=`.

    Why is this bad
        The thread reads or overwrites whatever lies beside the array: another array, or nothing that belongs to the
        program, which compute-sanitizer reports as an invalid access. Results are wrong without any message, on some
        GPUs, for some sizes.

    Example
        __shared__ float s[256];
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = s[threadIdx.x + 1] - s[threadIdx.x];   // thread 255 reads s[256]

    Use instead
        __shared__ float s[256 + 1];                     // with a last element that somebody writes

        The help names the condition to ask in front of it where the kernel's parameters have the array's size, in this
        launch: `if (x < n && y < n)` before `out[x * n + y]` with n * n elements. With one launch in sight there is an
        edit under the conditions of CL106.

    What it leaves out
        An index that leaves its row but not the array, and whatever only a part of the arguments decides. A tail that
        no guard keeps inside is CL106, and an index for which 32 bits have no room is CL111.
    """

    code = "CL107"
    name = "out-of-bounds-index"
    severity = "error"
    summary = "an index that provably leaves an array of known extent"
    by_hand = "whether the index or the array is wrong is not known"
    reads = frozenset({"bounds", "overflows"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for found in kernel.out_of_bounds:
            is_explained = any(each.explains(found.launch, found.place) for each in kernel.overflows)
            if found.kind == "data":
                yield self._by_data(kernel, found)
            elif found.kind == "always" and found.is_allocated and not is_explained:
                yield self._diagnostic(kernel, found, context)

    def _by_data(self, kernel: KernelFacts, found: OutOfBounds) -> Diagnostic:
        verb = "reads" if found.operation == "load" else "writes"
        size = f"`{found.array}` has {count(found.extent, 'byte')}"
        declared = (Related(found.declaration, size),) if found.declaration is not None else ()
        elements = count(found.extent // found.element_bytes, "element")
        return self.finding(
            kernel,
            severity="warning",
            place=found.place,
            message=f"data may lead beyond `{found.array}`, which has {elements}: the code holds the index at most at"
            f" {found.offset // found.element_bytes}, where it {verb} {_touched(found)}",
            launches=(kernel.launches[found.launch],),
            figures={"offset_bytes": float(found.offset), "size_bytes": float(found.extent)},
            related=(*declared, *frames_related(found.inlined_from)),
            suggestion=Suggestion("hold the index below the number of elements, or give the array that many more"),
            causes=(in_kernel(kernel, f"data, {found.array}, {found.extent}"),),
        )

    def _diagnostic(self, kernel: KernelFacts, found: OutOfBounds, context: RuleContext) -> Diagnostic:
        unit = "element" if found.space == "local" else "byte"
        size = f"`{found.array}` has {count(found.extent, unit)}"
        declared = (Related(found.declaration, size),) if found.declaration is not None else ()
        scale = found.element_bytes if found.space == "local" else 1
        suggestion = _forgotten_size(kernel, found)
        guard = _guard(kernel, found, context) if suggestion is None else None
        return self.finding(
            kernel,
            place=found.place,
            message=_message(found),
            launches=(kernel.launches[found.launch],),
            figures={"offset_bytes": float(found.offset * scale), "size_bytes": float(found.extent * scale)},
            related=(*declared, *frames_related(found.inlined_from)),
            suggestion=suggestion or guard,
            about=found.array,
            causes=(in_kernel(kernel, f"{_touched(found)} of {found.array}, {found.extent}"),),
        )


def _forgotten_size(kernel: KernelFacts, found: OutOfBounds) -> Suggestion | None:
    """What a launch has to say that leaves out how much dynamic shared memory the kernel has."""
    launch = kernel.launches[found.launch]
    if found.space != "shared" or found.extent or launch.dynamic_shared_bytes or launch.source != "launch-site":
        return None
    return Suggestion(f"the launch has to say how many bytes `{found.array}` has: `<<<grid, block, bytes>>>`")


def _guard(kernel: KernelFacts, found: OutOfBounds, context: RuleContext) -> Suggestion | None:
    """What to ask in front of an index, by numbers that the kernel has of what its launch allocates: of all accesses
    that leave an array at once, where no barrier parts them."""
    from cudalint.fixes.guard_edits import guard_edits
    from cudalint.fixes.guards import condition_of

    if found.space != "global":
        return None
    others = [
        one for one in kernel.out_of_bounds
        if one.launch == found.launch and one.kind == "always" and one.space == "global" and one.is_allocated
    ]  # fmt: skip
    names = {**kernel.launches[found.launch].parameters, **dict(found.defaults)}
    for together in ([found],) if kernel.barriers else (others, [found]):
        try:
            condition = condition_of(kernel, together, context.text_of)
        except Obstacle:
            continue
        sizes = [name for name in dict.fromkeys(NAME.findall(condition)) if name in names]
        values = " and ".join(f"`{name}` is {names[name]}" for name in sizes)
        where = f": {values} in this launch" if values else ""
        advice = Suggestion(f"guard it with `if ({condition})`{where}", drops_tail=True)
        if len(kernel.launches) > 1:
            return replace(advice, no_edit="those numbers need not be the arrays' sizes in other launches")
        return edited(advice, partial(guard_edits, kernel, others, context.text_of), "unsafe")
    return None


def _message(found: OutOfBounds) -> str:
    verb = {"load": "reads", "async-copy": "copies"}.get(found.operation, "writes")
    where = _touched(found)
    if found.dimensions > 1:
        where += ", counted through all rows"
    elements = count(found.extent // found.element_bytes, "element")
    if found.values:
        elements = f"{found.elements} elements" if found.elements else elements
    leaves = f"{thread(found.thread, found.block)} {verb} {where} of `{found.array}`, which has {elements}"
    return f"{leaves}{with_values(found.values)}"


def _touched(found: OutOfBounds) -> str:
    """`element 64`, `elements 64 to 67` of a wide access, or `bytes 4 to 7 of element 64` for a field of a struct."""
    first, start = divmod(found.offset, found.element_bytes)
    last, end = divmod(found.offset + found.length - 1, found.element_bytes)
    if last > first:
        return f"elements {first} to {last}"
    if found.length == found.element_bytes:
        return f"element {first}"
    return f"byte {start} of element {first}" if start == end else f"bytes {start} to {end} of element {first}"

"""CL106: grids that are rounded up, with no guard that keeps the last block inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts, OutOfBounds
from cudalint.fixes.obstacles import Obstacle, edited
from cudalint.numerals import enumeration, thread
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related, with_values


class UnguardedTail(Rule):
    """A grid that is rounded up to whole blocks, and a kernel in which the last block leaves its arrays.

    What it does
        Evaluates the addresses for a size that the block divides, and for one element more: if all threads stay
        inside the array at first and threads of the last block leave it then, no guard keeps them inside. The size
        of the array is that of the allocation in sight; where there is none, that of what a grid without a
        remainder touches, if this is exactly the number that the grid is computed from. Of a product of sizes, all are
        made odd; where the launch leaves the block open, its size is assumed.

    Why is this bad
        Up to a block of threads reads and writes behind the array, for all sizes but the multiples of the block.
        Tests with round sizes pass.

    Example
        scale<<<(n + 255) / 256, 256>>>(a, n);
        ...
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        a[i] *= 2;

    Use instead
        if (i < n) {
            a[i] *= 2;
        }

    What it leaves out
        Kernels that nobody in sight launches, and sizes that are numbers: then CL107 says what is certain. One finding
        stands for all arrays that the same launch overruns. There is an edit (`if (i >= n) return;`) where all that the
        kernel writes is written at an index that runs over, a parameter tells the array's size, and no thread waits
        for others: elsewhere somebody has to see what threads behind the end are there for.
    """

    code = "CL106"
    name = "unguarded-tail"
    severity = "warning"
    summary = "a grid that is rounded up, and no guard that keeps the last block inside"
    by_hand = "the size that a guard would compare with is not among the kernel's arguments for certain"
    reads = frozenset({"accesses", "barriers", "bounds", "collectives"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        by_launch: dict[int, list[OutOfBounds]] = {}
        for found in kernel.out_of_bounds:
            if found.kind == "tail":
                by_launch.setdefault(found.launch, []).append(found)
        for launch, tails in by_launch.items():
            from cudalint.fixes.guard_edits import guard_edits

            first, *others = sorted(tails, key=lambda t: (t.operation == "load", t.place))
            assumed = () if first.is_allocated else (f"`{first.array}` has {first.elements} elements",)
            assumed = (*kernel.launches[launch].assumptions, *assumed)
            condition = _condition(kernel, tails, context)
            guard = edited(
                Suggestion(f"guard it with `if ({condition})`", drops_tail=True),
                partial(guard_edits, kernel, tails, context.text_of),
                "unsafe",
            )
            yield self.finding(
                kernel,
                place=first.place,
                message=_message(first, others),
                launches=(kernel.launches[launch],),
                assumptions=assumed,
                figures={"offset_bytes": float(first.offset), "size_bytes": float(first.extent)},
                related=(
                    *(Related(o.place, f"so does this {o.operation} of `{o.array}`") for o in others),
                    *frames_related(first.inlined_from),
                ),
                suggestion=guard if condition else None,
                no_edit=guard.no_edit,
                habit="a tail without a guard",
                about=first.array,
            )


def _condition(kernel: KernelFacts, tails: Sequence[OutOfBounds], context: RuleContext) -> str:
    """What to ask in front of all that runs over, or of the first of it where a barrier parts them or one has no plain
    index; nothing where that has none."""
    from cudalint.fixes.guards import condition_of

    for together in (tails[:1],) if kernel.barriers else (tails, tails[:1]):
        try:
            return condition_of(kernel, together, context.text_of)
        except Obstacle:
            continue
    return ""


def _message(found: OutOfBounds, others: Sequence[OutOfBounds]) -> str:
    unless = f" unless `{found.condition}`" if found.condition else ""
    arrays = enumeration([f"`{found.array}`", *sorted({f"`{o.array}`" for o in others if o.array != found.array})])
    verb = "reads" if found.operation == "load" else "writes"
    size = f"which has {found.elements or found.extent // found.element_bytes} elements"
    element = found.offset // found.element_bytes
    numbers = dict(found.values)
    usual = [f"`{name}` is {value}" for name, value in found.defaults if numbers.get(name, value) != value]
    default = f"; by default {enumeration(usual)}" if usual else ""
    return (
        f"no guard keeps the last block inside {arrays}{unless}: {thread(found.thread, found.block)} {verb} "
        f"element {element} of `{found.array}`, {size}{with_values(found.values)}{default}"
    )

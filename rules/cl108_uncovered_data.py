"""CL108: elements that a kernel's condition lets through, and that no block comes to."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts, Uncovered
from cudalint.launchkit import and_joined, launch_at
from cudalint.numerals import count
from cudalint.rule import Rule, RuleContext


class UncoveredData(Rule):
    """A grid that does not come to all elements that its kernel's condition would let through.

    What it does
        Reads the conditions around a kernel's body that compare its place in the grid with a number (`if (i < n)`, or
        `if (i >= n) return;`), and sets them beside the launch. If the block behind the last one would be let in, too,
        it had something to do that is not done. That is reported where the grid is made of the number in the condition
        and rounded down, or held below a limit without a loop that goes on; and where the sizes of two axes have
        changed places. Sizes that host code leaves open are the smallest for which it happens.

    Why is this bad
        The last elements keep what they had before. Nothing fails, and with sizes that are multiples of the block,
        which is what most tests have, all is well.

    Example
        __global__ void scale(float *data, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) data[i] *= 2.0f;
        }
        scale<<<n / 256, 256>>>(data, n);             // n = 1000: elements 768 to 999 are left out

    Use instead
        scale<<<(n + 255) / 256, 256>>>(data, n);

    What is not reported
        - Kernels that ask for the extent of the grid, or whose loops begin where their block says: they may go on to
          what other blocks would have done.
        - One element more than the grid is rounded up for (`i <= n`): the condition may be what is wrong.
        - Grids whose extents nothing in sight connects with the condition.
        - Sizes that the host code checks to be multiples of the block, or whose rest it computes, as for a second
          launch.
    """

    code = "CL108"
    name = "uncovered-data"
    severity = "error"
    summary = "grids that leave out elements that the kernel's condition lets through"
    by_hand = "either the launch or the condition may be what was meant"
    reads = frozenset({"coverage"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for found in kernel.uncovered:
            yield self._diagnostic(kernel, found)

    def _diagnostic(self, kernel: KernelFacts, found: Uncovered) -> Diagnostic:
        last = found.end - 1
        left = f"{found.first} to {last}" if last > found.first else f"{found.first}"
        sizes = f", with {and_joined(found.sizes)}" if found.sizes else ""
        message = (
            f"no block of `{kernel.name}` comes to `{found.index}` = {left}, which its condition lets through{sizes}: "
            f"{count(found.blocks, 'block')} in {found.axis} where it takes {found.needed}"
        )
        return self.finding(
            kernel,
            severity="warning" if found.sizes else self.severity,
            place=found.place,
            message=message,
            launches=(launch_at(kernel, found.launch, found.place),),
            figures={"blocks": float(found.blocks), "needed_blocks": float(found.needed)},
            related=(Related(found.guard, f"the condition, `{found.index}` below `{found.bound}`"),),
            suggestion=Suggestion(_ADVICE[found.kind]),
        )


_ADVICE = {
    "rounded-down": "round the number of blocks up, `(n + threads - 1) / threads`",
    "exchanged": "let the extents of the grid change places, or the axes that the kernel reads",
    "limited": "let blocks go on in a loop, by as many elements as the grid has threads",
}

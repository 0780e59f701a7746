"""CL104: elements that many threads of a block load from global memory at once."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts
from cudalint.numerals import figure
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class RedundantGlobalLoad(Rule):
    """A load in a loop whose elements many threads of a block want, each for itself.

    What it does
        Takes one iteration of a loop in one block, and divides the threads that load by the different elements that
        they load. Where that is at least the threshold, and the loop goes on to other elements, a tile in shared
        memory that the threads of the block load together brings each element once: the loads of global memory fall
        by that factor. In a matrix product that computes one element per thread in blocks of T x T it is T, for both
        factors.

    Why is this bad
        Every request goes to L1, whichever thread asked for the same before. A naive matrix product does 2 operations
        for 8 bytes that it asks for, a quarter of an operation per byte; with tiles of T x T it is T / 4.

    Why it is off by default
        L1 and L2 keep much of what is asked for again. Whether the requests are what the kernel waits for depends on
        its size, and where each lane of a warp wants the same element, they are few.

    Example
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + column];      // each element is loaded by blockDim threads

    Use instead
        for (int k0 = 0; k0 < n; k0 += T) {
            ta[threadIdx.y][threadIdx.x] = a[row * n + k0 + threadIdx.x];
            tb[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + column];
            __syncthreads();
            for (int k = 0; k < T; k++)
                sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
            __syncthreads();
        }
    """

    code = "CL104"
    name = "redundant-global-load"
    severity = "info"
    summary = "elements that many threads of a block load at once"
    guide = ("product",)
    by_hand = "a tile takes a change of the kernel's loops"
    reads = frozenset({"reuse"})
    on_by_default = False
    thresholds = {"threads": 8.0, "iterations": 16.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for site, result in ((each, result) for each in kernel.reuse for result in each.results):
            if result.threads < limits["threads"] or result.iterations < limits["iterations"]:
                continue
            factor = figure(result.threads)
            yield self.finding(
                kernel,
                place=site.place,
                message=(
                    f"each element of `{site.array}` that a block loads here is loaded by {factor} of its threads in "
                    "the same iteration"
                ),
                launches=(kernel.launches[result.launch],),
                assumptions=result.assumptions,
                figures={"threads": result.threads},
                related=frames_related(site.inlined_from),
                suggestion=Suggestion(
                    f"load a tile of `{site.array}` into shared memory together: {factor} times fewer global loads",
                    before={"loads": result.threads},
                    after={"loads": 1.0},
                ),
            )

"""CL606: arrays of a thread that aren't in registers, and registers that are spilled."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts, LocalArray, LocalArrayResult, Place, Resources
from cudalint.facts.resources import SpillPlace
from cudalint.launchkit import percent
from cudalint.numerals import count
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related

_NAMED = 3
"""Accesses that a finding lists besides the first."""


class LocalMemory(Rule):
    """An array of a thread that the compiler can't keep in registers, or registers that it spills.

    What it does
        Lays loops of known length out as the compiler does, and looks for arrays of a thread that are indexed all the
        same by what isn't known then: by the counter of a loop of unknown length, an argument, the thread's number or
        data. Loads and stores of such an array are counted, and reported where they are a larger part of what a warp
        executes in the kernel than the threshold. With `--ptxas` the compiler has its say: where its stack frame is
        empty the array is in registers after all, and registers that it spills are reported, too, with their lines
        where nvdisasm is beside nvcc or in PATH.

    Why is this bad
        Registers have no addresses. An array that is indexed by what the compiler doesn't know is in local memory,
        which is a part of global memory that L1 keeps: an element takes some 30 clocks in place of none, each access
        is an instruction with its address, and the arrays of all threads of an SM want room in L1. Spills are the
        same for single registers, where `__launch_bounds__` or `-maxrregcount` leaves too few.

    Example
        float best[8];
        for (int k = 0; k < n; k++) {
            int j = 7;
            while (j > 0 && best[j - 1] > in[k]) {          // j is known to nobody
                best[j] = best[j - 1];
                j--;
            }
            best[j] = in[k];
        }

    Use instead
        for (int k = 0; k < n; k++) {
            float value = in[k];
            #pragma unroll
            for (int j = 0; j < 8; j++)                     // each j is a constant
                if (value < best[j]) { float other = best[j]; best[j] = value; value = other; }
        }

        Or keep the array in shared memory, with the elements of a thread `blockDim.x` apart, so that the threads of a
        warp are in different banks.

    What is not reported
        - Arrays so small, with so few such accesses, that ptxas puts them into registers and chooses among these: up
          to 15 elements in a loop, if elements times accesses are less than 32, up to 31 that loops only read in
          order, and more outside of loops (stack frames of nvcc 13.0). With `--ptxas` the compiler decides.
        - Indices that are put together of conditions (`(x > 0) * 2 + (y > 0)`), elements that are read in the turn of
          a loop that stores them, and arrays that nobody reads: these are in registers, too.
        - Arrays whose address is given to a function that isn't in sight or isn't inlined.
        - Spills without `--ptxas`: registers are the compiler's own decision. A cubin says nothing of them.
    """

    code = "CL606"
    name = "local-memory"
    severity = "warning"
    summary = "arrays of a thread that aren't in registers, and spilled registers"
    by_hand = "the loop has to be written with indices that the compiler knows, or the array put elsewhere"
    reads = frozenset({"local_arrays"})
    thresholds = {"share": 0.05, "spilled-bytes": 16.0}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for array in kernel.local_arrays:
            if not _is_in_memory(array, kernel.resources):
                continue
            for result in array.results:
                if result.share >= limits["share"]:
                    yield self._of_array(kernel, array, result)
        spilled = max(kernel.resources.spill_store_bytes or 0, kernel.resources.spill_load_bytes or 0)
        if spilled and spilled >= limits["spilled-bytes"]:
            yield self._of_spills(kernel, kernel.resources, spilled)

    def _of_array(self, kernel: KernelFacts, array: LocalArray, result: LocalArrayResult) -> Diagnostic:
        first, *others = array.accesses
        size = count(array.bytes, "byte")
        return self.finding(
            kernel,
            place=first.place,
            message=(
                f"`{array.name}` ({size} of each thread) is in local memory, as the compiler doesn't know this index: "
                f"{percent(min(1.0, result.share))} of what a warp executes in this kernel loads or stores it"
            ),
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"local_share": result.share, "local_requests": result.requests, "bytes": float(array.bytes)},
            related=(
                Related(array.place, f"`{array.name}` is declared here"),
                *(Related(each.place, f"another {each.operation} of it") for each in others[:_NAMED]),
                *frames_related(first.inlined_from),
            ),
            suggestion=Suggestion(
                f"index `{array.name}` by constants, as a loop of known length does that is unrolled, or keep it in "
                "shared memory"
            ),
            about=array.name,
        )

    def _of_spills(self, kernel: KernelFacts, resources: Resources, spilled: int) -> Diagnostic:
        stores, loads = resources.spill_store_bytes or 0, resources.spill_load_bytes or 0
        worst = sorted(resources.spills, key=lambda each: (-each.stores - each.loads, each.path, each.line))[:_NAMED]
        return self.finding(
            kernel,
            place=kernel.name_place,
            message=(
                f"with {count(resources.registers or 0, 'register')} per thread the compiler spills: it stores "
                f"{count(stores, 'byte')} of each thread to local memory, and loads {loads}"
            ),
            launches=kernel.launches,
            figures={"spill_store_bytes": float(stores), "spill_load_bytes": float(loads)},
            related=tuple(map(_spilled_at, worst)),
            suggestion=Suggestion(
                "let the compiler take more registers (`__launch_bounds__` with fewer blocks, a larger "
                "`-maxrregcount`), or keep less at a time: smaller tiles, fewer unrolled turns"
            ),
        )


def _spilled_at(place: SpillPlace) -> Related:
    """`12 stores and 3 loads of spilled registers`."""
    parts = [count(place.stores, "store")] * bool(place.stores) + [count(place.loads, "load")] * bool(place.loads)
    return Related(
        Place(place.path, place.line, 1, place.line, 1), f"{' and '.join(parts)} of spilled registers in the code of it"
    )


def _is_in_memory(array: LocalArray, resources: Resources) -> bool:
    """What the compiler has made of it, where that is known."""
    if resources.stack_bytes is not None:
        return resources.stack_bytes >= array.bytes
    return not array.is_small

"""CL506: functions for a whole block that were made for blocks of another size than is launched."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import CollectiveCall, CollectiveResult, KernelFacts, LaunchFacts
from cudalint.numerals import count, dimensions
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class BlockSizeMismatch(Rule):
    """A collective of CUB that was told another block size than is launched.

    What it does
        Compares the threads of a block for which `cub::BlockReduce`, `BlockScan`, `BlockRadixSort` and their like
        are made, by the arguments of their types, with the block of each launch in sight that calls them.

    Why is this bad
        The size is compiled in. With more threads than that, the others write beyond the collective's shared storage;
        with fewer, it takes in what no thread has written there; and a block of 16x8 threads that it takes for one of
        128 has eight threads of each number. Each time the result is wrong, and nothing says so.

    Example
        using Reduce = cub::BlockReduce<float, 128>;
        __shared__ Reduce::TempStorage storage;
        float sum = Reduce(storage).Sum(x[i]);
        ...
        total<<<grid, 256>>>(x, sums);              // four warps of eight have no place in the storage

    Use instead
        template <int Threads> __global__ void total(const float *x, float *sums) {
            using Reduce = cub::BlockReduce<float, Threads>;
            ...
        total<256><<<grid, 256>>>(x, sums);

    How sure it is
        It was not seen to be wrong. In 9 files of CV-CUDA, FasterTransformer and TransformerEngine all 174 pairs of a
        collective and a launch of known size agree; nothing is reported in 50 files with such collectives of HeCBench,
        lightseq, CTranslate2, gsplat, Open3D, PyTorch3D and TurboTransformers; and of 13 launches and collectives in
        these repositories that were changed to another size, all 13 are reported.

    What is not reported
        - Blocks that no launch in sight, annotation or option gives.
        - Fewer threads where the call says how many have something to add: `Sum(x, blockDim.x)`.
        - Loads and stores by block that take no storage.
    """

    code = "CL506"
    name = "block-size-mismatch"
    severity = "error"
    summary = "functions for a block that were made for another size than is launched"
    by_hand = "either of the two sizes may be the right one"
    reads = frozenset({"collectives"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for call in kernel.collectives:
            for result in call.results:
                launch = kernel.launches[result.launch]
                if not launch.block_is_made_up and not launch.is_made_up and _differs(call, result, launch):
                    yield self._diagnostic(kernel, call, result, launch)

    def _diagnostic(
        self, kernel: KernelFacts, call: CollectiveCall, result: CollectiveResult, launch: LaunchFacts
    ) -> Diagnostic:
        threads, site = prod(launch.block), launch.site.place if launch.site is not None else None
        return self.finding(
            kernel,
            place=call.place,
            message=_message(call, launch.block),
            launches=(launch,),
            assumptions=result.assumptions,
            figures={"threads": float(threads), "made_for": float(prod(call.made_for))},
            related=(
                *frames_related(call.inlined_from),
                *((Related(site, f"blocks of {_extents(launch.block)} are launched here"),) if site else ()),
            ),
            suggestion=Suggestion(
                f"launch blocks of {_extents(call.made_for)}, or make it for {_extents(launch.block)}: "
                "one constant for both keeps them alike"
            ),
        )


def _differs(call: CollectiveCall, result: CollectiveResult, launch: LaunchFacts) -> bool:
    """Whether the block is another one, and the threads that come are not as many as it was made for, either: of those
    that don't come another rule reports (CL302)."""
    expected = prod(call.made_for)
    if _repeated(call.made_for, launch.block):
        return True
    if expected in (result.threads, prod(launch.block)):
        return False
    return not (call.or_fewer and result.threads < expected)


def _repeated(expected: tuple[int, int, int], launched: tuple[int, int, int]) -> int:
    """The threads that have the numbers of others: a collective numbers them by the block that it was made for, and
    asks for their `y` only if that has more than one."""
    (x, y, z), extents = expected, [range(extent) for extent in launched]
    numbers = {i + x * j * (y > 1) + x * y * k * (z > 1) for k in extents[2] for j in extents[1] for i in extents[0]}
    return prod(launched) - len(numbers)


def _message(call: CollectiveCall, launched: tuple[int, int, int]) -> str:
    more, repeated = prod(launched) - prod(call.made_for), _repeated(call.made_for, launched)
    if repeated:
        what = f"{count(repeated, 'thread')} take the numbers of others"
    elif more > 0:
        what = f"{count(more, 'thread')} write beyond its storage"
    else:
        what = f"it takes in what {count(-more, 'thread')} should give that are not there"
    return (
        f"`{call.name}` is made for blocks of {_extents(call.made_for)}, "
        f"and blocks of {_extents(launched)} are launched: {what}"
    )


def _extents(block: tuple[int, int, int]) -> str:
    """`128 threads`, `16x8 threads`."""
    return f"{dimensions(block)} threads"

"""CL101: global memory requests that touch more sectors than their bytes need."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Diagnostic
from cudalint.facts import AccessResult, KernelFacts
from cudalint.fixes.one_access import Texts
from cudalint.fixes.patterns import ALONG_ROWS, Pattern, pattern_of
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import (
    Evaluated,
    array_key,
    blamed,
    evaluated,
    figure,
    in_function,
    is_rare,
    picture_of,
    sectors,
    what_is_asked,
)


class UncoalescedAccess(Rule):
    """A global load, store or atomic whose requests touch more 32-byte sectors than they need.

    What it does
        Counts the sectors that the active lanes of each warp touch, over all warps and blocks of the launch, and
        reports an access where that is more than 1.25 times the ideal. The message names the pattern: a stride, the
        column of a row-major matrix, a field of a struct, exchanged roles of x and y, a base off its sector. Where a
        call hands the address on into another file (`positions[i] += step` of a library's vectors), the finding stands
        at the argument.

    Why is this bad
        A warp's request moves whole sectors of 32 bytes. 32 lanes that read neighbouring floats touch 4 of them; 32
        lanes that read a column touch 32, of which 28 bytes each are moved for nothing: 88% of the traffic. Memory
        bandwidth limits most kernels, so such a kernel is up to eight times slower than it has to be.

        The ideal is what the active lanes' bytes would fill: `min(sectors, ceil(lanes * bytes / 32))`. Reading one
        address in all lanes is 1 sector and fine.

    In a profile
        The sectors per request of all loads of the kernel are
        `l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio`, of all stores `_op_st`; `cudalint facts`
        has both below its table.

    Example
        int row = blockIdx.x * 16 + threadIdx.x;
        int col = blockIdx.y * 16 + threadIdx.y;
        out[row * width + col] = 0.0f;            // 16 sectors per request, ideal 4

    Use instead
        int row = blockIdx.y * 16 + threadIdx.y;
        int col = blockIdx.x * 16 + threadIdx.x;
        out[row * width + col] = 0.0f;            // 4 sectors per request

    What it leaves out
        An excess of one sector or less (`in[i + 1]` takes 5 instead of 4), and requests that are rare beside the
        kernel's others, such as a tail done by few threads: the excess of all requests of an access has to be 1% of
        what the kernel's costliest access moves. Fields of a record that a thread takes whole, one by one, where no
        wider load is possible: L1 keeps the sectors from one field to the next, and where it is done before the memory
        has brought them, arrays of fields would save nothing. The limits are options, as the factor is. An access
        whose addresses depend on loaded data is counted as such, and never reported; where only the active lanes do,
        the figure is the mean over uniform data. Where the stride is an
        argument that nothing gives (`x[i * incx]`, which may well be 1), or a flag chooses the layout
        (`layout == COLUMNS ? 1 : pitch`), the finding is conditional: it names what decides (`incx > 1`), and is told
        as a requirement of its kernel. One that is only made with other sizes than the launch has, beside a wider
        access to the array that is made with those, is left out.
    """

    code = "CL101"
    name = "uncoalesced-access"
    severity = "warning"
    summary = "global requests that touch more sectors than they need"
    guide = ("transpose", "product", "memory", "faults")
    reads = frozenset({"accesses", "costs"})
    is_waste = True
    thresholds = {"factor": 1.25, "excess-sectors": 1.0, "share": 0.01}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        everything = list(evaluated(kernel, "global"))
        limits = self.limits(context)
        paths = context.file.path, *context.file.sources.values()
        texts = Texts(paths, context.text_of, context.file.kernels)
        for one in everything:
            if not _exceeds(one.result, limits["factor"], limits["excess-sectors"]):
                continue
            if is_rare(kernel, one, everything, sectors, limits["share"]) or _is_for_other_sizes(one, everything):
                continue
            from cudalint.fixes.coalescing import by_hand, suggest
            from cudalint.fixes.records import is_absorbed

            pattern = pattern_of(one)
            absorbed = is_absorbed(kernel, one, context.target, limits["factor"], limits["excess-sectors"])
            remedy = suggest(kernel, one, pattern, texts, absorbed)
            if remedy is None and absorbed:
                continue
            access, result, launch = one
            actual, ideal = sectors(result)
            wasted = 1 - ideal / actual
            worded = (
                "{sectors_per_request} sectors per request, ideal {ideal_sectors}: {wasted_traffic_share} of the "
                f"traffic of `{access.array}` is wasted ({pattern.text})"
            )
            place, related = blamed(access)
            yield self.finding(
                kernel,
                place=place,
                message=_message(worded, actual, ideal, wasted),
                launches=(launch,),
                assumptions=result.assumptions,
                figures={"sectors_per_request": actual, "ideal_sectors": ideal, "wasted_traffic_share": wasted},
                related=related,
                suggestion=remedy,
                picture=picture_of(access, result.sample),
                causes=tuple(_causes(kernel, one, pattern, what_is_asked(remedy), absorbed, context)),
                about=access.array,
                worded=worded,
                no_edit=by_hand(kernel, one, pattern),
                condition=result.condition,
                habit=f"{access.operation}, {pattern.kind}",
            )


def _is_for_other_sizes(one: Evaluated, everything: Sequence[Evaluated]) -> bool:
    """Whether it is only made with other sizes than the launch has, beside an access to the array that is made with
    those: the way for rows of other lengths beside that for rows of vectors."""
    if not one.result.reached_otherwise:
        return False
    mine = array_key(one.access), one.access.operation, one.result.launch
    return any(
        (array_key(other.access), other.access.operation, other.result.launch) == mine
        and not other.result.reached_otherwise
        and other.access.bytes > one.access.bytes
        for other in everything
    )


def _exceeds(result: AccessResult, factor: float, excess: float) -> bool:
    """Whether the figure is beyond both limits."""
    actual, ideal = sectors(result)
    # Where blocks or loops end, figures are off by little: 10.01 of 8 is not worse than 1.25 times the ideal.
    return round(actual / ideal, 2) > factor and round(actual - ideal, 2) > excess


def _causes(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, remedy: str, absorbed: bool, context: RuleContext
) -> Iterator[str]:
    """The struct that is to be declared anew, how a file reads the fields of records of one length, or else how the
    function walks, or walks through an array: what one change of its indices mends. Then how rows lie in what one
    function of the host passes to several kernels that walk through it the same way, such as the variants of one
    kernel, of which it launches one or the other."""
    from cudalint.fixes.float_edits import function_around
    from cudalint.fixes.launch_texts import arguments_of

    access = one.access
    if pattern.kind in ("field", "copy") and remedy:
        # Types of one name are one in a folder, and may be others in another program.
        yield f"{os.path.dirname(access.place.path)}: {access.record} of {access.record_bytes} bytes: {remedy}"
    elif absorbed and remedy and pattern.step:
        yield f"{access.place.path}: {abs(pattern.step)} bytes of a thread: {remedy}"
    else:
        of_text = pattern.kind in ("field", "copy", "strided", "column") and not remedy
        how = pattern.text if of_text else pattern.kind
        yield from (in_function(access, cause) for cause in (f"{how}: {remedy}", f"{how} of {access.array}"))
    site = one.launch.site
    if pattern.kind in ALONG_ROWS and site is not None and one.launch.source == "launch-site":
        argument = arguments_of(kernel, site.place, context.text_of).get(access.array)
        path, begin = function_around(site.place, context.text_of)
        if argument is not None and begin >= 0:
            yield f"{path}: {begin}: {access.operation} of {argument}: {pattern.text}"


def _message(worded: str, actual: float, ideal: float, wasted: float) -> str:
    worded = worded.replace("{sectors_per_request}", figure(actual)).replace("{ideal_sectors}", figure(ideal))
    return worded.replace("{wasted_traffic_share}", f"{wasted:.0%}")

"""CL201: shared memory requests that pass the banks in more wavefronts than they need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import Access, AccessResult, ArrayFacts, KernelFacts
from cudalint.fixes.obstacles import Obstacle
from cudalint.hardware.banks import BANK_BYTES, BANKS, occupied_parts, shared_request
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import (
    Evaluated,
    array_key,
    blamed,
    count,
    evaluated,
    figure,
    in_function,
    in_kernel,
    is_rare,
    noun,
    picture_of,
    wavefronts,
)
from cudalint.system.processes.time_limit import OutOfTime, interruptible

if TYPE_CHECKING:
    from cudalint.fixes.layouts import Proposal

_WORTH_A_WORD = 0.9
"""A layout that is better for the whole array is only mentioned at accesses that it brings under this share."""


class BankConflict(Rule):
    """A shared load, store or atomic whose lanes meet in the same bank.

    What it does
        Puts the addresses of the 32 lanes of each warp into the 32 banks of shared memory and counts the wavefronts,
        by the rules that were measured for loads, stores and atomics of 1 to 16 bytes. Reports an access that takes
        at least 1.25 times the ideal, and suggests the cheapest layout (padding, transposition, XOR swizzle) that
        takes the fewest wavefronts over all accesses of the array, if none of them gets worse by it. Edits come along
        where every use of the array is a plain subscript, spelled in the terms of its declaration: not where something
        relies on how it lies (`memset`, `sizeof`, a cast, a pointer to a row). Where every launch says how many bytes
        there are, all launches have to be in sight, and ask for more.

    Why is this bad
        A bank serves one 4-byte word per wavefront. Lanes that want different words of one bank wait for each other:
        in an n-way conflict a request takes n wavefronts instead of one, and shared memory has 1/n of its bandwidth.
        Lanes that want the same word share it, at no cost. What one thread does over time does not matter; only the
        lanes of one warp at one moment do.

    In a profile
        The wavefronts are `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`, of stores `_op_st`, and the requests
        `smsp__inst_executed_op_shared_ld.sum`; their quotient is the mean over all accesses of the kernel, which
        `cudalint facts` has below its table.

    Example
        __shared__ float t[32][32];
        t[threadIdx.y][threadIdx.x] = in[y * width + x];
        __syncthreads();
        out[x * width + y] = t[threadIdx.x][threadIdx.y];   // a column: 32 wavefronts

    Use instead
        __shared__ float t[32][33];                          // rows shifted by a bank: 1 wavefront

    Not every textbook's cure is one: `t[16][17]` in a 16x16 block leaves a 2-way conflict in rows and columns, as a
    warp spans two rows. That is why every layout is tried on every access before it is suggested.
    """

    code = "CL201"
    name = "bank-conflict"
    severity = "warning"
    summary = "shared requests whose lanes meet in the same bank"
    guide = ("banks", "transpose", "faults")
    reads = frozenset({"accesses", "costs"})
    is_waste = True
    thresholds = {"ways": 1.25, "share": 0.01}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        everything = list(evaluated(kernel, "shared"))
        limits = self.limits(context)
        remedies: dict[object, _Remedy] = {}
        for one in everything:
            if not _conflicts(one.result, limits["ways"]) or not _meets(one, limits["ways"]):
                continue
            if is_rare(kernel, one, everything, wavefronts, limits["share"]):
                continue
            key = array_key(one.access)
            if key not in remedies:
                remedies[key] = _remedy(kernel, one.access, context)
            yield self._diagnostic(kernel, one, remedies[key])

    def _diagnostic(self, kernel: KernelFacts, one: Evaluated, remedy: _Remedy) -> Diagnostic:
        access, result, launch = one
        place, calls = blamed(access)
        worded = _worded(access, one.result)
        return self.finding(
            kernel,
            place=place,
            message=_message(worded, one),
            launches=(launch,),
            assumptions=result.assumptions,
            figures={
                "wavefronts_per_request": wavefronts(result).actual,
                "ideal_wavefronts": wavefronts(result).ideal,
                "conflict_ways": _ways(result),
            },
            related=(*_related(access), *calls),
            suggestion=_suggestion(one, remedy),
            no_edit=remedy.no_edit or "another layout helps the array's other accesses, and not this one",
            picture=picture_of(access, result.sample),
            causes=tuple(_causes(kernel, access)),
            about=access.array,
            worded=worded,
            condition=result.condition,
        )


def _ways(result: AccessResult) -> float:
    actual, ideal = wavefronts(result)
    return actual / ideal


def _conflicts(result: AccessResult, ways: float) -> bool:
    """Whether the conflict is beyond the limit."""
    actual, ideal = wavefronts(result)
    return actual >= ways * ideal


def _meets(one: Evaluated, ways: float) -> bool:
    """Whether lanes wait for each other's banks. A request of 8 or 16 bytes goes in halves or quarters, of which each
    with an active lane takes a wavefront: that few lanes spread over them is no conflict, and no layout changes it."""
    sample, access = one.result.sample, one.access
    if sample is None or not len(sample.weights) or access.bytes <= BANK_BYTES:
        return True
    taken, ideal = shared_request(sample.addresses, sample.mask, access.bytes, access.operation)
    least = np.minimum(taken, np.maximum(ideal, occupied_parts(sample.mask, access.bytes)))
    # Of an asynchronous copy of 16 bytes it isn't known here where it reads, and what is not known is no number.
    return not (taken * sample.weights).sum() < ways * (least * sample.weights).sum()


def _causes(kernel: KernelFacts, access: Access) -> Iterator[str]:
    """The declaration of the array, which all that access it share, or arrays that an index walks the same way."""
    from cudalint.fixes.layout_edits import is_of_the_launch

    declaration = access.declaration
    if declaration is None or is_of_the_launch(declaration):
        yield in_kernel(kernel, access.array)
    else:
        place = declaration.place
        yield f"{place.path}:{place.line}:{place.column}: {declaration.name}"
    _, array, index = access.expression.partition(access.array)
    if array and index.startswith("["):
        yield in_function(access, f"the index {''.join(index.split())}")


def _worded(access: Access, result: AccessResult) -> str:
    """A request takes whole wavefronts; what is no whole number is the mean of many requests."""
    mean = "" if figure(wavefronts(result).actual).isdigit() else "on average "
    figures = f"{mean}{{wavefronts_per_request}} wavefronts per request, ideal {{ideal_wavefronts}}"
    return f"{{conflict_ways}}-way bank conflict on `{access.array}` ({figures})"


def _message(worded: str, one: Evaluated) -> str:
    actual, ideal = wavefronts(one.result)
    worded = worded.replace("{wavefronts_per_request}", figure(actual)).replace("{ideal_wavefronts}", figure(ideal))
    return worded.replace("{conflict_ways}", figure(_ways(one.result)))


def _related(access: Access) -> Iterator[Related]:
    """The length of a row, which is what decides about columns."""
    declaration = access.declaration
    if declaration is None or len(declaration.extents) < 2 or not all(declaration.extents):
        return
    row = declaration.extents[-1] * declaration.element_bytes
    if row % BANK_BYTES:
        yield Related(declaration.place, f"a row of `{declaration.name}` is {count(row, 'byte')}")
        return
    words = row // BANK_BYTES
    # One row further is so many banks further, and a column comes back to the first bank after BANKS / gcd rows.
    banks = BANKS // math.gcd(words, BANKS) * max(1, declaration.element_bytes // BANK_BYTES)
    column = f", so a column lies in {'one' if banks == 1 else banks} of the {BANKS} banks" if banks < BANKS else ""
    yield Related(declaration.place, f"a row of `{declaration.name}` is {count(words, 'word')}{column}")


# --- the suggestion --------------------------------------------------------------------------------------


class _Remedy(Struct, frozen=True, eq=False):
    """What helps all accesses of an array, and the edits that make it so, or what is in the way of either."""

    proposal: Proposal | None = None
    edits: tuple[Edit, ...] = ()
    no_edit: str = ""


def _remedy(kernel: KernelFacts, access: Access, context: RuleContext) -> _Remedy:
    from cudalint.fixes.layout_edits import layout_edits
    from cudalint.fixes.layouts import propose_layout, uses_of

    declaration = access.declaration
    if declaration is None:
        return _Remedy(no_edit=f"the declaration of `{access.array}` is not in sight")
    try:
        with interruptible():
            uses = uses_of(kernel, access)
            proposal = propose_layout(uses, declaration, _room(kernel, declaration, context)) if uses else None
            if uses is None:
                return _Remedy(no_edit=f"not all that is done with `{access.array}` could be evaluated")
            if proposal is None:
                return _Remedy(no_edit=f"no padding, transposition or swizzle of `{access.array}` was found that helps")
            try:
                return _Remedy(proposal, layout_edits(proposal.layout, access, context.file.kernels, context.text_of))
            except Obstacle as obstacle:
                return _Remedy(proposal, no_edit=str(obstacle))
    except OutOfTime:
        return _Remedy(no_edit="the search for another layout took too long")


def _room(kernel: KernelFacts, declaration: ArrayFacts, context: RuleContext) -> int:
    """Bytes that the array may take beside the kernel's other shared memory, without an opt-in."""
    others = (kernel.resources.static_shared_bytes or 0) - (declaration.total_bytes or 0)
    dynamic = max((launch.dynamic_shared_bytes for launch in kernel.launches), default=0)
    if declaration.total_bytes is None:
        return context.target.shared_per_block
    return context.target.shared_per_block - others - dynamic


def _suggestion(one: Evaluated, remedy: _Remedy) -> Suggestion | None:
    from cudalint.fixes.layout_edits import is_of_the_launch

    proposal, edits = remedy.proposal, remedy.edits
    if proposal is None:
        return None
    figures = proposal.figures_of(one.access, one.result)
    if figures is None or figures[1] > figures[0] * _WORTH_A_WORD:
        return None
    before, after = figures
    advice = proposal.layout.advice(one.access.array)
    declaration = one.access.declaration
    is_dynamic = declaration is not None and is_of_the_launch(declaration)
    if is_dynamic and proposal.layout.is_larger:
        advice += ", and let every launch ask for the bytes that this adds"
    change = f"{figure(before)} to {count(after, 'wavefront')} on this {noun(one.access)}"
    total_before, total_after = proposal.totals
    return Suggestion(
        f"{advice}: {change}, and no access of `{one.access.array}` gets worse",
        edits,
        {"wavefronts": total_before},
        {"wavefronts": total_after},
        "safe" if edits else "display",
        remedy.no_edit,
        relaunches=is_dynamic,
        of_launches=is_dynamic,
    )

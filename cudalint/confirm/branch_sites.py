"""Branches in the instrumented build: each condition reports whether the lanes that come to it together agree.

`if (a < b)` becomes `if (cudalint_branch<3>(bool((a < b))))`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from cudalint.confirm.rows import Row, Verdict, agree, verdict_on
from cudalint.confirm.trials import BranchCount
from cudalint.facts import Branch, KernelFacts, Place
from cudalint.regexes import regex
from cudalint.source.code import CodeText

RECORDER = """
__device__ unsigned int cudalint_visits[CUDALINT_SITES], cudalint_splits[CUDALINT_SITES];
template <unsigned int site> __device__ __noinline__ bool cudalint_branch(bool taken)
{
    unsigned int mask = __activemask(), taking = __ballot_sync(mask, taken), lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == __ffs(mask) - 1) {
        atomicAdd(&cudalint_visits[site], 1u);
        if (taking && taking != mask)
            atomicAdd(&cudalint_splits[site], 1u);
    }
    __syncwarp(mask);
    return taken;
}
"""
VERDICTS = ("uniform", "warp-uniform", "divergent")
"""Those that a count can contradict."""
_HEAD = regex(r"(?:if|for|while)\s*(?=\()")
_Extent = tuple[int, int]


class BranchSite(Struct, frozen=True):
    index: int
    place: Place
    kind: str


def branch_sites(kernel: KernelFacts, launch: int) -> tuple[BranchSite, ...]:
    """The branches with a prediction that a count can contradict."""
    kinds = {branch.place: branch.kind for branch, _ in _predicted(kernel, launch) if branch.kind != "switch"}
    return tuple(BranchSite(n, place, kind) for n, (place, kind) in enumerate(sorted(kinds.items())))


def _predicted(kernel: KernelFacts, launch: int) -> Iterator[tuple[Branch, float]]:
    for branch in kernel.branches or ():
        for result in branch.results:
            if result.launch == launch and result.verdict in VERDICTS:
                yield branch, result.divergent_warps or 0.0


# --- the text ----------------------------------------------------------------------------------------------------


def reporting_condition(source: CodeText, site: BranchSite) -> Iterator[tuple[int, int, bytes]]:
    """What is inserted around a condition: offset, order, text (as `instrument` puts them in)."""
    found = _condition(source, *source.extent(site.place), site.kind)
    if found is None or not source.code[found[0] : found[1]].strip():
        return
    # One more than its length: an access that is all of the condition stays inside.
    length = found[1] - found[0] + 1
    yield found[0], 1_000_000 - length, b"cudalint_branch<%d>(bool((" % site.index
    yield found[1], length - 1_000_000, b")))"


def _condition(source: CodeText, begin: int, end: int, kind: str) -> _Extent | None:
    if kind == "do":
        return begin, end
    if kind == "conditional":
        questions = source.find("?", begin, end)
        return (begin, questions[0]) if questions else None
    head = _HEAD.match(source.code, begin)
    closed = source.close(head.end()) if head else None
    if head is None or closed is None:
        return None
    inside = head.end() + 1, closed - 1
    if kind != "for":
        return inside
    semicolons = source.find(";", *inside)
    return (semicolons[0] + 1, semicolons[1]) if len(semicolons) == 2 else None


# --- rows --------------------------------------------------------------------------------------------------------


def rows(
    kernel: KernelFacts,
    launch: int,
    sites: Sequence[BranchSite],
    counts: Mapping[int, BranchCount],
    otherwise: str = "no lane came to it, or its condition has no text of its own",
) -> Iterator[Row]:
    """Whether warps split where the linter says so; `otherwise` is why there is no count."""
    facts = kernel.launches[launch]
    parting = _parting(kernel, launch)
    for site in sites:
        found = [(branch, share) for branch, share in _predicted(kernel, launch) if branch.place == site.place]
        branch, predicted = found[0]
        count = counts.get(site.index)
        measured: float | None = None
        verdict: Verdict = "not measured"
        if count is None:
            note = otherwise
        elif len({round(share, 4) for _, share in found}) > 1:
            note = "several calls of the function share it"
        else:
            measured, verdict, note = _compared(predicted, count, branch.is_loop, bool(parting - {site.place}))
        yield Row(
            site.place.path, site.place.line, site.place.column, kernel.instantiation, facts.block, facts.grid,
            "divergent warps", site.kind, round(predicted, 4), measured, verdict, "instrumented build", note,
        )  # fmt: skip


def _parting(kernel: KernelFacts, launch: int) -> set[Place]:
    """The branches that part the lanes of some warp, as far as the linter knows."""
    return {
        branch.place
        for branch in kernel.branches or ()
        for result in branch.results
        if result.launch == launch and result.verdict not in ("uniform", "warp-uniform")
    }


def _compared(
    predicted: float, count: BranchCount, is_loop: bool, is_parted: bool
) -> tuple[float | None, Verdict, str]:
    """What was measured, the verdict and a note. Where another branch has parted lanes (`is_parted`), it is up to the
    compiler which of them come to this one together, and in which of their iterations."""
    measured = round(count.splits / count.visits, 4)
    if is_loop and predicted:
        return measured, "equal" if measured else "off", "per jump; the prediction is per warp"
    if is_parted and not agree(predicted, measured):
        counted = f"{count.splits} of {count.visits} executions split"
        return None, "not measured", f"the instrumented build keeps lanes separate that a branch has split: {counted}"
    return measured, verdict_on(predicted, measured), ""

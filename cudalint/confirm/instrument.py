"""The instrumented build: a kernel whose accesses report their addresses.

`t[y][x]` becomes `(cudalint_at<3>(t[y][x]))`, which is the same lvalue. The lanes that are together write one record:
the site, the mask, the width and 32 addresses. (Each site has a function of its own: calls of one function, on two ways
through a kernel, are made one call by the compiler.) It needs no permission and no profiler, and it counts what the
source says: accesses that the compiler would merge stay separate here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.confirm import branch_sites
from cudalint.confirm.branch_sites import BranchSite
from cudalint.confirm.trials import BranchCount, Log, Trial
from cudalint.facts import Access, KernelFacts, Place
from cudalint.hardware.requests import WARP_LANES
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.system.disk.encoding import to_text

CAPACITY = 200_000
"""Records of one run. Every access has an equal part of it; where it makes more requests, a share of them is kept."""
HEAD_WORDS = 4

RECORDER = """
__device__ unsigned long long *cudalint_addresses;
__device__ unsigned int *cudalint_heads;
__device__ unsigned int cudalint_count, cudalint_capacity;
__device__ unsigned int cudalint_totals[CUDALINT_SITES], cudalint_shares[CUDALINT_SITES];
template <unsigned int site, class T> __device__ __noinline__ void cudalint_record(T *target)
{
    unsigned int mask = __activemask(), lane, slot = 0xffffffffu, leader = __ffs(mask) - 1;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == leader) {
        unsigned int number = atomicAdd(&cudalint_totals[site], 1u);
        if (cudalint_capacity && (number * 2654435761u >> 12) % cudalint_shares[site] == 0)
            slot = atomicAdd(&cudalint_count, 1u);
    }
    slot = __shfl_sync(mask, slot, leader);
    if (slot >= cudalint_capacity)
        return;
    const void *address = (const void *)target;
    bool shared = __isShared(address);
    cudalint_addresses[slot * 32ull + lane] =
        shared ? (unsigned long long)__cvta_generic_to_shared(address) : (unsigned long long)address;
    if (lane == leader) {
        cudalint_heads[slot * 4ull] = site;
        cudalint_heads[slot * 4ull + 1] = mask;
        cudalint_heads[slot * 4ull + 2] = sizeof(T);
        cudalint_heads[slot * 4ull + 3] = shared;
    }
}
template <unsigned int site, class T> __device__ __forceinline__ T &cudalint_at(T &target)
{
    cudalint_record<site>(&target);
    return target;
}
template <unsigned int site, class T> __device__ __forceinline__ T *cudalint_to(T *target)
{
    cudalint_record<site>(target);
    return target;
}
"""

_CALL = regex(r"(?:::)?(?:atomic\w+|__ldg|__ldc[agsv]|__ldlu|__st\w+)\s*\(")
"""Functions whose first argument is the address of what they access."""
_NOT_LVALUE = regex(r"^(?:async|__pipeline|cp_async|(?:__)?asm\b)|=[^=]|^\W*$")


class Site(Struct, frozen=True):
    """An access of the source that reports."""

    index: int
    place: Place
    space: str
    array: str


AnySite = Site | BranchSite


def sites_of(kernel: KernelFacts) -> tuple[Site, ...]:
    """The accesses that can be distinguished by their place: two arrays at one place are a macro's."""
    by_place: dict[Place, list[Access]] = {}
    for access in kernel.accesses:
        if access.space in ("global", "shared") and access.operation != "async-copy":
            by_place.setdefault(access.place, []).append(access)
    places = [(place, found[0]) for place, found in sorted(by_place.items()) if len({a.space for a in found}) == 1]
    return tuple(Site(index, place, access.space, access.array) for index, (place, access) in enumerate(places))


def instrumented(trial: Trial, sites: Sequence[AnySite]) -> Trial:
    """The same trial with a build whose accesses and branches report."""
    build = trial.build
    files = {
        name: _with_reports(text, [site for site in sites if site.place.path == build.paths[name]])
        for name, text in build.files.items()
    }
    count = 1 + max((site.index for site in sites), default=0)
    recorder = f"#define CUDALINT_SITES {count}\n{RECORDER}{branch_sites.RECORDER}"
    changed = replace(build, files=files, prelude=f"{build.prelude}\n{recorder}")
    # A folder of its own keeps the line information of both builds separate.
    return replace(trial, build=changed, folder=f"{trial.folder}i", sites=count, timed=False)


def _with_reports(text: bytes, sites: Sequence[AnySite]) -> bytes:
    source = code_text(to_text(text))
    insertions: list[tuple[int, int, bytes]] = []
    for site in sites:
        if isinstance(site, BranchSite):
            insertions += branch_sites.reporting_condition(source, site)
        else:
            insertions += _wrapping(source, site)
    # At one offset, what closes stands before what opens, inner closings before outer, outer openings before inner.
    result, position = bytearray(), 0
    for offset, _, inserted in sorted(insertions):
        result += text[position:offset] + inserted
        position = offset
    return bytes(result + text[position:])


def _wrapping(source: CodeText, site: Site) -> Iterator[tuple[int, int, bytes]]:
    begin, end = source.extent(site.place)
    piece = source.code[begin:end]
    call = _CALL.match(piece)
    name = b"cudalint_at"
    if call is not None:
        # The first argument.
        name, opened = b"cudalint_to", begin + call.end() - 1
        closed = (source.close(opened) or end + 1) - 1
        begin, end = opened + 1, next(iter(source.find(",", opened + 1, closed)), closed)
    elif _NOT_LVALUE.search(piece):
        return
    length = end - begin
    yield begin, 1_000_000 - length, b"(%s<%d>(" % (name, site.index)
    yield end, length - 1_000_000, b"))"


def decode(
    addresses: NDArray[np.uint64],
    heads: NDArray[np.uint32],
    count: int,
    branches: Mapping[int, BranchCount] | None = None,
) -> Log:
    """The records of a run; those behind the capacity were not written."""
    count = min(count, len(heads) // HEAD_WORDS)
    head = heads[: count * HEAD_WORDS].reshape(count, HEAD_WORDS)
    masks = (head[:, 1:2] >> np.arange(WARP_LANES, dtype=np.uint32)) & 1
    return Log(
        sites=head[:, 0].astype(np.int64),
        widths=head[:, 2].astype(np.int64),
        masks=masks.astype(bool),
        shared=head[:, 3].astype(bool),
        addresses=addresses[: count * WARP_LANES].reshape(count, WARP_LANES).astype(np.int64),
        branches=branches or {},
    )


def without_lines(sites: Iterable[AnySite], complaint: str) -> tuple[AnySite, ...]:
    """The sites that stand on other lines than the one that a compiler complains about."""
    lines = {int(number) for number in re.findall(r"\((\d+)\)", complaint)}
    return tuple(site for site in sites if site.place.line not in lines)


class SiteFigures(Struct, frozen=True):
    """What the hardware model counts from the recorded requests of a site."""

    width: int
    requests: int
    figure: float
    """Sectors or wavefronts per request."""
    ideal: float
    active_lanes: float


def count(log: Log, operation_of: Mapping[int, str]) -> dict[int, list[SiteFigures]]:
    """Sectors and wavefronts of the recorded requests, by site, one entry for each width."""
    from cudalint.hardware.banks import shared_request
    from cudalint.hardware.sectors import global_request

    found: dict[int, list[SiteFigures]] = {}
    for site in np.unique(log.sites).tolist():
        at_site = log.sites == site
        for width in np.unique(log.widths[at_site]).tolist():
            rows = at_site & (log.widths == width)
            addresses, masks = log.addresses[rows], log.masks[rows]
            figures: tuple[NDArray[np.float64] | NDArray[np.int64], NDArray[np.float64] | NDArray[np.int64]]
            if log.shared[rows][0]:
                if width not in (1, 2, 4, 8, 16):
                    continue
                figures = shared_request(addresses, masks, width, operation_of.get(site, "load"))  # type: ignore[arg-type]
            else:
                figures = global_request(addresses, masks, width)
            figure, ideal = (float(values.mean()) for values in figures)
            lanes = float(masks.sum(axis=1).mean())
            found.setdefault(site, []).append(SiteFigures(width, int(rows.sum()), figure, ideal, lanes))
    return found

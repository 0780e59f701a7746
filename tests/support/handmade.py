"""Facts and diagnostics made by hand, for tests of everything that comes after the analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Picture, Related, Suggestion
from cudalint.facts import (
    Access,
    AccessResult,
    FileFacts,
    Frame,
    KernelFacts,
    LaunchFacts,
    Place,
    Resources,
    Sample,
    Status,
)

TILE_SOURCE = """\
#include <cuda_runtime.h>

// Transposes 32 x 32 tiles.
__global__ void tile32(float *out, const float *in, int width)
{
    __shared__ float t[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    t[y][x] = in[y * width + x];
    __syncthreads();
    out[y * width + x] = t[x][y];
}

void launch(float *out, const float *in)
{
    tile32<<<dim3(8, 8), dim3(32, 32)>>>(out, in, 1024);
}
"""


def place(line: int, column: int, end_column: int, path: str = "tile.cu") -> Place:
    return Place(path, line, column, line, end_column)


def place_of(source: str, text: str, path: str = "tile.cu") -> Place:
    """Where a piece of one line stands in a source, in which it stands once; columns count bytes."""
    start = source.index(text)
    assert source.count(text) == 1
    line = source.count("\n", 0, start) + 1
    column = len(source[source.rfind("\n", 0, start) + 1 : start].encode()) + 1
    return Place(path, line, column, line, column + len(text.encode()))


def launch(path: str = "tile.cu", line: int = 15, **changes: object) -> LaunchFacts:
    known = LaunchFacts((32, 32, 1), (8, 8, 1), 0, "launch-site", path, line, {"width": 1024})
    return replace(known, **changes)


def sample(address: Callable[[int], int], active: int = 32) -> Sample:
    """One request of warp 0: the address of each lane, of which the first `active` take part."""
    return Sample(
        addresses=np.array([[address(lane) for lane in range(32)]], dtype=np.int64),
        mask=np.array([[lane < active for lane in range(32)]]),
        weights=np.ones(1),
        warps=np.zeros(1, dtype=np.int64),
    )


def column_read(path: str = "tile.cu") -> Diagnostic:
    """The 32-way conflict of TILE_SOURCE, with everything that a diagnostic can have."""
    return Diagnostic(
        code="CL201",
        name="bank-conflict",
        severity="warning",
        place=place(10, 26, 33, path),
        message="32-way bank conflict on `t` (32 wavefronts per request, ideal 1)",
        kernel="tile32",
        instantiation="tile32",
        launches=(launch(path),),
        figures={"wavefronts_per_request": 32.0, "ideal_wavefronts": 1.0, "conflict_ways": 32.0},
        related=(Related(place(6, 28, 30, path), "row stride is 32 words"),),
        suggestion=Suggestion(
            "pad the row to 33; no access gets worse",
            (Edit(place(6, 28, 30, path), "33"),),
            {"wavefronts": 33.0},
            {"wavefronts": 2.0},
        ),
        picture=Picture("banks", sample(lambda lane: 128 * lane), 0, 4),
    )


def strided_load(path: str = "tile.cu") -> Diagnostic:
    """A load of every eighth float, under two launches and an assumption."""
    return Diagnostic(
        code="CL101",
        name="uncoalesced-access",
        severity="warning",
        place=place(8, 15, 32, path),
        message="32 sectors per request, ideal 4: 88% of the traffic of `in` is wasted (stride 8)",
        kernel="tile32",
        instantiation="tile32",
        launches=(launch(path), launch(path, line=30, block=(256, 1, 1), dynamic_shared_bytes=4096)),
        assumptions=("width % 8 == 0",),
        figures={"sectors_per_request": 32.0, "ideal_sectors": 4.0},
        picture=Picture("sectors", sample(lambda lane: 32 * lane), 0, 4),
    )


def access(line: int, status: Status = "exact", **changes: object) -> Access:
    result = AccessResult(
        launch=0,
        status=status,
        sectors_per_request=None,
        wavefronts_per_request=32.0 if status == "exact" else None,
        wavefronts_range=(32.0, 32.0) if status == "exact" else None,
        ideal_wavefronts=1.0 if status == "exact" else None,
        conflict_ways=32.0 if status == "exact" else None,
        active_lanes=32.0,
        active_request_fraction=1.0,
        reason=None if status == "exact" else "index is loaded from `cols` at line 8",
    )
    known = Access(
        place(line, 26, 33),
        "tile32",
        (),
        "shared",
        "load",
        "t",
        "float",
        4,
        (result,),
        expression="t[x][y]",
    )
    return replace(known, **changes)


def kernel(
    path: str = "tile.cu", accesses: Sequence[Access] = (), first_line: int = 4, last_line: int = 11, **changes: object
) -> KernelFacts:
    known = KernelFacts(
        name="tile32",
        instantiation="tile32",
        place=Place(path, first_line, 1, last_line, 2),
        name_place=place(first_line, 17, 23, path),
        launches=(launch(path),),
        accesses=tuple(accesses) or (access(8, "data-dependent", inlined_from=(Frame(path, 9),)), access(10)),
        resources=Resources(static_shared_bytes=4096),
    )
    return replace(known, **changes)


def file_facts(path: str = "tile.cu", **changes: object) -> FileFacts:
    known = FileFacts(path, "ok", kernels=(kernel(path),), sources={path: path})
    return replace(known, **changes)

"""The lines that a toolkit's headers give to the accesses of its functions.

The toolkit here is one of a few lines with the forms that NVIDIA's have; where nvcc 13.0 puts the instructions of each
form was read with nvdisasm -g (-O3 -lineinfo -arch=sm_90).
"""

from __future__ import annotations

from pathlib import Path

import header_lines as toolkit_lines
import pytest
from header_lines import headers_folder, place_inside, with_toolkit_lines

from cudalint.facts import LibraryCall
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

HEADERS = {
    "cuda_runtime_api.h": "",
    "device_atomic_functions.hpp": """\
/* atomicAdd(int *address, int val) { no definition } */
DECL int atomicAdd(int *address, int val);
DECL int atomicAdd(int *address, int val)
{
  return __iAtomicAdd(address, val); // @ints
}
DECL unsigned long long int atomicAdd(unsigned long long int *address, unsigned long long int val)
{
  return __ullAtomicAdd(address, val); // @longs
}
""",
    "sm_32_intrinsics.hpp": """\
DECL int __ldg(const int *ptr) { int ret; asm volatile ("ld" : "=r"(ret) : "l" (ptr)); return ret; }
DECL float4 __ldg(const float4 *ptr) { float4 ret; asm ("ld" : : "l" (ptr)); return ret; } // @quads
""",
    "crt/mma.hpp": """\
  DECL void load_matrix_sync(fragment<matrix_a, 16, 16, 16, __half, col_major>& a, const __half* p, unsigned ldm) {
    __ld_a((int *)&a, (const int *)p, ldm, 1);
  }
  DECL void load_matrix_sync(fragment<matrix_a,16, 16, 16, __half, row_major>& a, const __half* p, unsigned ldm) {
    __ld_a((int *)&a, (const int *)p, ldm, 0); // @rows
  }
""",
    "cccl/cub/block/specializations/block_reduce_warp_reductions.cuh": """\
T ApplyWarpAggregates(ReductionOp reduction_op, T warp_aggregate, int num_valid, constant_t<SUCCESSOR_WARP>)
{
  T addend = temp_storage.warp_aggregates[SUCCESSOR_WARP]; // @read
  return ApplyWarpAggregates<FULL_TILE>(op, warp_aggregate, num_valid, constant_v<SUCCESSOR_WARP + 1>); // @next
}
T ApplyWarpAggregates(ReductionOp reduction_op, T warp_aggregate, int num_valid)
{
  if (lane_id == 0)
    detail::uninitialized_copy_single(temp_storage.warp_aggregates + warp_id, warp_aggregate); // @write
  if (linear_tid == 0)
    warp_aggregate = ApplyWarpAggregates<FULL_TILE>(op, warp_aggregate, num_valid, constant_v<1>); // @first
}
""",
    "cccl/cub/detail/uninitialized_copy.cuh": """\
void uninitialized_copy_single(T* ptr, U&& val)
{
  *ptr = ::cuda::std::forward<U>(val); // @single
}
""",
    "cooperative_groups/details/sync.h": """\
STATIC unsigned int sync_grids_arrive(volatile barrier_t *arrived) {
    if (is_cta_master()) {
NV_IF_ELSE_TARGET(NV_PROVIDES_SM_70, // @arrived
        asm volatile("atom" : : "l"((unsigned int*)arrived));
        ,
        oldArrive = atomicAdd((unsigned int*)arrived, nb);
        );
    }
}
STATIC void sync_grids_wait(unsigned int oldArrive, volatile barrier_t *arrived) {
NV_IF_ELSE_TARGET(NV_PROVIDES_SM_70, // @waited
        asm volatile("ld" : : "l"((unsigned int *)arrived));)
}
""",
    "cooperative_groups/details/helpers.h": """        STATIC void barrier_wait(unsigned int token, unsigned int *bar) {
            details::sync_grids_wait(token, bar);
        }
        STATIC void sync(unsigned int *bar) {
            unsigned int token = details::sync_grids_arrive(bar);
            details::sync_grids_wait(token, bar); // @synced
        }
""",
    "cuda_fp16.h": """\
struct __half2 {
    DECL __half2() { }
    DECL __half2(const __half &a, const __half &b) : x(a), y(b) { }
    DECL __half2(const __half2 &src) {
NV_IF_ELSE_TARGET(NV_IS_DEVICE, // @copied
    TO_UI(*this) = TO_CUI(src);
,
    this->x = src.x;
)
    }
};
""",
    "cuda_fp16.hpp": """\
DECL __half::operator float() const { return __half2float(*this); } // @to_float
DECL __half2 atomicAdd(__half2 *const address, const __half2 val) {
NV_IF_ELSE_TARGET(NV_PROVIDES_SM_60, // @pairs
    asm volatile ("{ atom }" : : "l"(address), "r"(TO_CUI(val)));)
}
DECL __half &__half::operator=(const double f) { __x = __double2half(f).__x; return *this; }
DECL __half &__half::operator=(const float f) { __x = __float2half(f).__x; return *this; } // @from_float
DECL __half2 &__half2::operator=(const __half2 &&src) {
NV_IF_ELSE_TARGET(NV_IS_DEVICE, // @moved
    TO_UI(*this) = std::move(TO_CUI(src));)
}
DECL __half2 &__half2::operator=(const __half2 &src) {
NV_IF_ELSE_TARGET(NV_IS_DEVICE, // @assigned
    TO_UI(*this) = TO_CUI(src);)
}
DECL __half operator+(const __half &lh, const __half &rh) { return __hadd(lh, rh); } // @add
DECL __half2 operator+(const __half2 &lh, const __half2 &rh) { return __hadd2(lh, rh); } // @add2
DECL __half2 &operator+=(__half2 &lh, const __half2 &rh) { lh = __hadd2(lh, rh); return lh; } // @add2_to
""",
}


@pytest.fixture(name="toolkit")
def _toolkit(tmp_path: Path) -> Path:
    for name, text in HEADERS.items():
        path = tmp_path / "toolkit" / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "toolkit"


def _marked(mark: str) -> tuple[str, int]:
    [found] = [
        (Path(name).name, number)
        for name, text in HEADERS.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith(f"// @{mark}") or f"// @{mark} " in line
    ]
    return found


def _entries(statement: str, toolkit: Path) -> list[tuple[tuple[str, int], str, list[int]]]:
    """Of each access in a header: its place, what it does, and the lines of the calls."""
    source = toolkit.parent / "k.cu"
    source.write_text(
        "#define BOTH(p) atomicAdd(p, 1), atomicAdd((half2*)(p), x)\n"
        "#include <cooperative_groups.h>\n#include <cub/cub.cuh>\n#include <cuda_fp16.h>\n#include <mma.h>\n"
        "__global__ void k(int* a, unsigned long long* u, float4* f4, float* f, half* h, half2* h2, const half2* g2)\n"
        "{ using namespace nvcuda; int t = threadIdx.x; half2 x(h[0], h[1]); "
        "wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> w;\n"
        f"\n{statement}\n}}\n"
    )
    facts = with_toolkit_lines(analyse_file(str(source), AnalysisOptions()), str(toolkit))
    assert not facts.problems
    folder = str(toolkit / "include")
    return [
        ((Path(a.place.path).name, a.place.line), a.operation, [frame.line for frame in a.inlined_from])
        for a in facts.kernels[0].accesses
        if a.place.path.startswith(folder)
    ]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("atomicAdd(a + t, 1);", [("ints", "atomic")]),
        ("atomicAdd(&u[a[t]], 1);", [("longs", "atomic")]),
        ("f[t] = __ldg(f4 + t).x;", [("quads", "load")]),
        ("wmma::load_matrix_sync(w, h, 16);", [("rows", "load")]),
        ("f[t] = h[t];", [("to_float", "load")]),
        ("h[t] = f[t];", [("from_float", "store")]),
        ("h[t] = h[t + 1] + h[t + 2];", [("add", "load"), ("add", "load")]),
        ("x = g2[t];", [("assigned", "load")]),
        ("half2 y = g2[t]; f[t] = __low2float(y);", [("copied", "load")]),
        ("h2[t] = x;", [("assigned", "store")]),
        ("h2[t] = __hadd2(x, g2[t]);", [("copied", "load"), ("moved", "store")]),
        ("BOTH(a + t);", [("ints", "atomic"), ("pairs", "atomic")]),
        ("atomicAdd(h2 + t, h2[0]);", [("pairs", "atomic"), ("copied", "load")]),
        ("h2[t] = g2[t];", [("assigned", "load"), ("assigned", "store")]),
    ],
)
def test_an_access_stands_where_the_toolkit_makes_it(
    statement: str, expected: list[tuple[str, str]], toolkit: Path
) -> None:
    found = sorted((place, operation) for place, operation, calls in _entries(statement, toolkit) if calls == [9])
    assert found == sorted((_marked(mark), operation) for mark, operation in expected)


def test_what_a_function_calls_has_the_function_among_its_calls(toolkit: Path) -> None:
    entries = _entries("h2[t] += x;", toolkit)
    operator = _marked("add2_to")
    assert sorted(entries) == sorted(
        [
            (operator, "load", [9]),
            (operator, "store", [9]),
            (_marked("copied"), "load", [operator[1], 9]),
            (_marked("moved"), "store", [operator[1], 9]),
        ]
    )


def test_a_reduction_stands_where_cub_shares_the_results_of_warps(toolkit: Path) -> None:
    reduction = "__shared__ cub::BlockReduce<int, 64>::TempStorage s; cub::BlockReduce<int, 64>(s).Sum(a[t]);"
    first, following, write = (_marked(mark)[1] for mark in ("first", "next", "write"))
    assert sorted(_entries(reduction, toolkit)) == sorted(
        [
            (_marked("first"), "load", [9]),
            (_marked("next"), "load", [first, 9]),
            (_marked("read"), "load", [following, first, 9]),
            (_marked("write"), "store", [9]),
            (_marked("single"), "store", [write, 9]),
        ]
    )


def test_a_barrier_of_the_grid_stands_where_it_counts_and_waits(toolkit: Path) -> None:
    synced = _marked("synced")
    assert sorted(_entries("cooperative_groups::this_grid().sync();", toolkit)) == sorted(
        [(_marked("arrived"), "atomic", [9]), (synced, "load", [9]), (_marked("waited"), "load", [synced[1], 9])]
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("atomicAdd", ("float*", "float")),
        ("atomicSub", ("int*", "int")),
        ("load_matrix_sync", ("nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half>", "__half*", "int")),
        ("__half::operator float", ("int",)),
        ("__half::operator=", ("int",)),
        ("__half2", ("__half2&&",)),
    ],
)
def test_what_no_header_defines_has_no_line(name: str, arguments: tuple[str, ...], toolkit: Path) -> None:
    assert place_inside(str(toolkit / "include"), LibraryCall(name, arguments)) is None


def test_where_no_toolkit_is_found_nothing_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit_lines, "_USUAL_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert headers_folder(None) is None
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(int* a) { atomicAdd(a + threadIdx.x, 1); }\n")
    facts = analyse_file(str(source), AnalysisOptions())
    assert with_toolkit_lines(facts, None) is facts


def test_headers_that_cannot_be_read_are_passed_over(toolkit: Path) -> None:
    include = toolkit / "include"
    (include / "device_atomic_functions.hpp").write_bytes(b"\xff\xfe{{{ atomicAdd((((")
    (include / "sm_32_intrinsics.hpp").unlink()
    (include / "sm_32_intrinsics.hpp").mkdir()
    assert _entries("atomicAdd(a + t, 1); f[t] = __ldg(f4 + t).x;", toolkit) == []


def test_an_installed_toolkit_is_found_beside_its_compiler(toolkit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (toolkit / "bin").mkdir()
    (toolkit / "bin" / "nvcc").write_text("#!/bin/sh\n")
    (toolkit / "bin" / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(toolkit / "bin"))
    assert headers_folder(None) == str(toolkit / "include")

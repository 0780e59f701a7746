"""Inline PTX: what it does to memory and to variables."""

from __future__ import annotations

from executing import execute, kernel_in, stored

from cudalint.execute.trace import Trace
from cudalint.execute.values import Data


def _run(body: str, head: str = "") -> Trace:
    source = f"{head}\n__global__ void kernel(const float4* a, float4* b, int n) {{ {body} }}"
    return execute(kernel_in(source), (32, 1, 1), (1, 1, 1))


def _accesses(trace: Trace) -> list[tuple[str, str, int]]:
    return [(each.operation, each.allocation.name, each.bytes) for each in trace.accesses]


SHARED = "__shared__ __align__(16) float s[512]; unsigned at = __cvta_generic_to_shared(s + 4 * threadIdx.x);"


def test_an_asynchronous_copy() -> None:
    trace = _run(SHARED + r"""
        asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" :: "r"(at), "l"(a + threadIdx.x), "n"(16));
        asm volatile("cp.async.commit_group;\n");
        asm volatile("cp.async.wait_group %0;\n" :: "n"(1));""")
    assert _accesses(trace) == [("async-copy", "a", 16), ("async-copy", "s", 16)]
    assert trace.accesses[1].offset[0].tolist() == [16 * lane for lane in range(32)]
    assert [event.kept for event in trace.copies] == [None, 1]
    assert not trace.unknown


def test_copies_of_nothing_read_nothing() -> None:
    """PTX ISA, "cp.async": bytes beyond those that are read are set to zero."""
    trace = _run(SHARED + r"""
        int bytes = threadIdx.x < 5 ? 16 : 0;
        asm("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(a + threadIdx.x), "r"(bytes));""")
    assert [int(each.mask.sum()) for each in trace.accesses] == [5, 32]


def test_loads_of_matrices() -> None:
    """Of `x2` the first sixteen lanes point to a row of 16 bytes each."""
    trace = _run(SHARED + r"""
        int r[4];
        asm("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
        asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + 32];"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
        b[r[3]] = a[0];""")
    loads = [each for each in trace.accesses if each.allocation.name == "s"]
    assert [(each.bytes, int(each.mask.sum())) for each in loads] == [(16, 16), (16, 32)]
    assert loads[1].offset[0].tolist() == [32 + 16 * lane for lane in range(32)]
    assert isinstance(trace.accesses[-1].offset, Data)


def test_loads_and_stores_of_vectors() -> None:
    trace = _run(r"""
        float x, y, z, w;
        asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(a + threadIdx.x));
        asm("st.global.v2.f32 [%0], {%1, %2};" :: "l"(b + threadIdx.x), "f"(x), "f"(y));
        asm("red.global.add.f32 [%0], %1;" :: "l"(b + threadIdx.x), "f"(x));""")
    assert _accesses(trace) == [("load", "a", 16), ("store", "b", 8), ("atomic", "b", 4)]


def test_predicates() -> None:
    trace = _run(r"""
        asm("{ .reg .pred p; setp.lt.s32 p, %2, 7;\n @p st.global.b32 [%0], %1;\n @!p st.global.b64 [%0], %1; }"
            :: "l"(b + threadIdx.x), "r"(n), "r"((int)threadIdx.x));""")
    assert [(each.bytes, int(each.mask.sum())) for each in trace.accesses] == [(4, 7), (8, 25)]


def test_arithmetic() -> None:
    lane = 'unsigned l; asm("mov.u32 %0, %%laneid;" : "=r"(l));'
    assert stored(f"{lane} out[t] = l;", (64, 1, 1)) == [t % 32 for t in range(64)]
    sum_ = 'int x; asm("{ .reg .s32 r; mul.lo.s32 r, %1, 3; add.s32 %0, r, 1; }" : "=r"(x) : "r"(t)); out[t] = x;'
    assert stored(sum_) == [3 * t + 1 for t in range(32)]
    shuffle = 'int x; asm("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(x) : "r"(t)); out[t] = x;'
    assert stored(shuffle) == [t ^ 1 for t in range(32)]
    parts = 'int x; asm("shfl.sync.up.b32 %0, %1, 1, 0x1800, 0xffffffff;" : "=r"(x) : "r"(t)); out[t] = x;'
    assert stored(parts) == [t - 1 if t % 8 else t for t in range(32)]


def test_what_is_not_known_sets_its_result_to_data() -> None:
    (found, *_) = stored('int x; asm("lop3.b32 %0, %1, %1, %1, 0x6a;" : "=r"(x) : "r"(t)); out[t] = x;')
    assert isinstance(found, Data)
    trace = _run('asm("multimem.red.global.add.f32 [%0], %1;" :: "l"(b), "f"(1.f));')
    assert list(trace.unknown) == ["its inline PTX (`multimem.red.global.add.f32`) accesses memory"]


def test_barriers() -> None:
    trace = _run(r"""
        asm volatile("bar.sync 1, 64;"); b[0] = a[0];
        asm volatile("bar.arrive 1, 64;"); b[0] = a[0];
        asm volatile("bar.warp.sync 0xff;"); asm volatile("membar.gl;");""")
    assert [(each.kind, each.part) for each in trace.barriers] == [
        ("named", "whole"), ("named", "arrive"), ("syncwarp", "whole"),
    ]  # fmt: skip
    assert [each.interval for each in trace.accesses] == [1, 1, 1, 1]
    assert trace.barriers[2].named == 0xFF
    assert len(trace.fences) == 1

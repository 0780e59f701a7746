"""What inline PTX does to memory and to variables."""

from __future__ import annotations

import pytest

from cudalint.execute.ptx_text import Instruction, instructions
from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_HEAD = "// cudalint: launch(block = 32, grid = 1)\n__global__ void k(float *a, unsigned *o, int n) { "


def facts(body: str, before: str = "") -> KernelFacts:
    [found] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", f"{before}\n{_HEAD}{body} }}"),))).kernels
    return found


def stores_of(kernel: KernelFacts) -> list[tuple[str, float | None]]:
    results = [access.results[0] for access in kernel.accesses if access.operation == "store"]
    return [(result.status, result.sectors_per_request) for result in results]


def test_instructions_with_scopes_labels_predicates_and_comments() -> None:
    text = """{ .reg .pred p; // a predicate
        setp.ne.b32 p, %4, 0;
        @!p ld.global.v4.f32 {%0, %1, %2, %3}, [%5 + 16]; /* four */ DONE: }"""
    assert list(instructions(text)) == [
        Instruction("setp.ne.b32", ("p", "%4", "0")),
        Instruction("ld.global.v4.f32", ("{%0, %1, %2, %3}", "[%5 + 16]"), "p", True),
    ]


@pytest.mark.parametrize(
    ("name", "bytes_"),
    [
        ("ld.global.nc.v4.f32", 16), ("st.shared.v2.u16", 4), ("ld.volatile.global.b64", 8), ("st.global.u8", 1),
        ("red.global.add.f16x2", 4), ("prefetch.global.L2", 0),
    ],
)  # fmt: skip
def test_what_a_thread_moves(name: str, bytes_: int) -> None:
    assert Instruction(name, ()).bytes == bytes_


def test_the_number_of_the_lane_is_known() -> None:
    body = 'unsigned lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane)); a[2 * lane] = 1;'
    # 32 floats, 8 bytes apart.
    assert stores_of(facts(body)) == [("exact", 8.0)]


def test_integers_are_computed() -> None:
    text = "{ .reg .u32 t; shl.b32 t, %1, 1; add.u32 %0, t, 8; }"
    body = f'unsigned i; asm("{text}" : "=r"(i) : "r"(threadIdx.x)); a[i] = 1;'
    assert stores_of(facts(body)) == [("exact", 8.0)]


def test_what_an_unknown_instruction_sets_is_unknown() -> None:
    body = 'int i = 0; asm("popc.b32 %0, %1;" : "=r"(i) : "r"(threadIdx.x)); a[i] = 1;'
    # Not the 0 that it held before.
    assert stores_of(facts(body))[0][0] in ("unknown", "data-dependent")


def test_a_predicate_says_which_lanes_take_part() -> None:
    body = (
        'asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 8; @p st.global.f32 [%0], 0f00000000; }"'
        ' :: "l"(a + threadIdx.x), "r"(threadIdx.x));'
    )
    assert stores_of(facts(body)) == [("exact", 1.0)]
    # The other lanes, from the second sector on.
    assert stores_of(facts(body.replace("@p", "@!p"))) == [("exact", 3.0)]


def test_an_unknown_predicate_may_leave_any_lanes() -> None:
    body = (
        'asm volatile("{ .reg .pred p; vote.sync.any.pred p, p, -1; @p st.global.f32 [%0], 0f00000000; }"'
        ' :: "l"(a + threadIdx.x));'
    )
    assert stores_of(facts(body)) == [("range", 4.0)]


@pytest.mark.parametrize(
    ("operands", "sectors"),
    [
        # Lane i reads from lane i ^ 1: two neighbours exchange their floats, four sectors as before.
        ("bfly.b32 %0, %1, 1, 0x1f, 0xffffffff", 4.0),
        # All read what lane 0 has.
        ("idx.b32 %0, %1, 0, 0x1f, 0xffffffff", 1.0),
        # Parts of 8 lanes, as 32 - 8 = 0x18 says: their first ones have 0, 8, 16 and 24, each in a sector of its own.
        ("idx.b32 %0|p, %1, 0, 0x181f, 0xffffffff", 4.0),
        # Lanes 0 to 23 have 8 to 31 then, and the others, behind which there are no eight more, keep their own.
        ("down.b32 %0, %1, 8, 0x1f, 0xffffffff", 3.0),
    ],
)
def test_shuffles_give_what_another_lane_has(operands: str, sectors: float) -> None:
    shuffle = f'asm volatile("{{ .reg .pred p; shfl.sync.{operands}; }}" : "=r"(i) : "r"(i));'
    assert stores_of(facts(f"int i = threadIdx.x; {shuffle} a[i] = 1;")) == [("exact", sectors)]


def test_asm_statements_of_a_macro_come_in_their_order() -> None:
    macros = '#define PUT(p) asm volatile("st.global.f32 [%0], 0f00000000;" :: "l"(p))\n'
    macros += '#define TWO(p) do { \\\n  PUT(p); \\\n  asm volatile("st.global.u64 [%0], 0;" :: "l"(p)); } while (0)'
    # 32 floats, and 32 times 8 bytes.
    assert stores_of(facts("TWO(a + 2 * threadIdx.x);", macros)) == [("exact", 8.0), ("exact", 8.0)]
    assert stores_of(facts("PUT(a + threadIdx.x); PUT(a + 64 + threadIdx.x);", macros)) == [("exact", 4.0)] * 2


@pytest.mark.xfail(reason="a second volatile load of one address is taken for the first one's", strict=True)
def test_instructions_that_stand_there_are_all_executed() -> None:
    load = 'asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(o + threadIdx.x)); sum += x;'
    found = facts(f"unsigned x, sum = 0; {load} {load} a[threadIdx.x] = sum;")
    assert [a.results[0].status for a in found.accesses if a.operation == "load"] == ["exact", "exact"]


@pytest.mark.parametrize(
    "text",
    ["", ";;;", "{", "@p", "ld.global.f32", "ld.global.f32 %9, [%9];", "st.global.f32 [], 1;", "setp p;", "mov %0",
     "shfl.sync", "shfl.sync.bfly.b32 %0, %0;", "vote.sync.any.pred", "bar.warp.sync"],
)
def test_broken_assembly_is_no_crash(text: str) -> None:
    assert facts(f'asm volatile("{text}"); a[threadIdx.x] = 1;').accesses


@pytest.mark.parametrize(
    "text",
    [
        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%0];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%0];",
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %2, 1;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%2, %2, %2, %2}, %1, %1, 1, 1, 1, 0, 0;",
    ],
)
def test_what_units_do_by_themselves_is_listed_apart(text: str) -> None:
    # No lane makes an access there, and there are none to be evaluated.
    body = f'int i; asm volatile("{text}" :: "r"(0), "l"(a), "r"(i)); a[threadIdx.x] = 1;'
    found = facts(body)
    assert [gap.kind for gap in found.gaps] == ["unit"]
    assert stores_of(found) == [("exact", 4.0)]


@pytest.mark.parametrize(
    "text",
    ["tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];", "tcgen05.wait::ld.sync.aligned;",
     "tcgen05.st.sync.aligned.32x32b.x1.b32 [%1], {%0};", "cp.async.bulk.wait_group.read 0;"],
)  # fmt: skip
def test_tensor_memory_is_neither_shared_nor_global(text: str) -> None:
    assert not facts(f'int i = 0; asm volatile("{text}" : "+r"(i) : "r"(0)); a[threadIdx.x] = i;').gaps

"""CL606: arrays of a thread and spills, with what the compiler says where it was asked."""

from __future__ import annotations

import pytest
from cudalint.rules.cl606_local_memory import LocalMemory
from msgspec.structs import replace

from cudalint.facts import FileFacts, KernelFacts
from cudalint.facts.resources import SpillPlace
from cudalint.hardware.targets import find_target
from cudalint.options.analysis import AnalysisOptions
from cudalint.rule import RuleContext
from cudalint.run.file_facts import analyse

_SORTED = """__global__ void kept(float *out, const float *in, int n) {
    float best[8];
    for (int i = 0; i < 8; i++) best[i] = 1e30f;
    for (int k = 0; k < n; k++) {
        int j = 7;
        while (j > 0 && best[j - 1] > in[k]) { best[j] = best[j - 1]; j--; }
        best[j] = in[k];
    }
    for (int i = 0; i < 8; i++) out[i * 128 + threadIdx.x] = best[i];
}
__global__ void few(float *out, const float *in, const int *index, int n) {
    float w[4];
    for (int i = 0; i < 4; i++) w[i] = in[i * 7];
    float sum = 0;
    for (int k = 0; k < n; k++) sum += w[index[k]];
    out[threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelFacts]:
    path = tmp_path_factory.mktemp("local") / "a.cu"
    path.write_text(_SORTED)
    facts = analyse(str(path), AnalysisOptions(kinds=frozenset({"local_arrays"})))
    assert isinstance(facts, FileFacts)
    return {kernel.name: kernel for kernel in facts.kernels}


def _messages(kernel: KernelFacts, **thresholds: float) -> list[str]:
    context = RuleContext(FileFacts("a.cu", "ok"), find_target("a100"), thresholds)
    return [found.message for found in LocalMemory().check(kernel, context)]


def _compiled(kernel: KernelFacts, stack: int, stores: int | None = 0, loads: int | None = 0) -> KernelFacts:
    resources = replace(
        kernel.resources, registers=32, stack_bytes=stack, spill_store_bytes=stores, spill_load_bytes=loads
    )
    return replace(kernel, resources=resources)


def test_the_array_and_its_accesses(kernels: dict[str, KernelFacts]) -> None:
    (array,) = kernels["kept"].local_arrays
    assert (array.name, array.bytes, array.elements, array.is_small) == ("best", 32, 8, False)
    assert [(each.place.line, each.operation) for each in array.accesses] == [
        (6, "load"), (6, "load"), (6, "store"), (7, "store"),
    ]  # fmt: skip
    assert kernels["few"].local_arrays[0].is_small


def test_the_compiler_has_the_last_word(kernels: dict[str, KernelFacts]) -> None:
    assert len(_messages(kernels["kept"])) == 1
    assert _messages(_compiled(kernels["kept"], 0)) == []
    assert len(_messages(_compiled(kernels["kept"], 32))) == 1
    assert _messages(kernels["few"]) == []
    assert "`w` (16 bytes of each thread)" in _messages(_compiled(kernels["few"], 16))[0]


def test_a_small_part_of_the_kernel_is_nothing(kernels: dict[str, KernelFacts]) -> None:
    assert _messages(kernels["kept"], share=0.9) == []


def test_lines_of_spills_are_told_the_worst_first(kernels: dict[str, KernelFacts]) -> None:
    compiled = _compiled(kernels["few"], 8, 40, 64)
    spills = tuple(SpillPlace("a.cu", line, line, line % 2) for line in (2, 9, 5, 4))
    context = RuleContext(FileFacts("a.cu", "ok"), find_target("a100"))
    kernel = replace(compiled, resources=replace(compiled.resources, spills=spills))
    (found,) = LocalMemory().check(kernel, context)
    assert [(each.place.line, each.message) for each in found.related] == [
        (9, "9 stores and 1 load of spilled registers in the code of it"),
        (5, "5 stores and 1 load of spilled registers in the code of it"),
        (4, "4 stores of spilled registers in the code of it"),
    ]


def test_spills(kernels: dict[str, KernelFacts]) -> None:
    assert _messages(_compiled(kernels["few"], 8, 40, 64)) == [
        (
            "with 32 registers per thread the compiler spills: it stores 40 bytes of each thread to local memory, and "
            "loads 64"
        )
    ]
    assert _messages(_compiled(kernels["few"], 8, 8, 8)) == []
    assert len(_messages(_compiled(kernels["few"], 8, 8, 8), **{"spilled-bytes": 8})) == 1
    assert _messages(_compiled(kernels["few"], 8, None, None)) == []

"""Host code that asks for the device's properties learns those of the target."""

from __future__ import annotations

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_KERNEL = "__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"


def _launch(statements: str, target: str) -> LaunchFacts:
    source = f"{_KERNEL}int main() {{ {statements} }}"
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),), target=target))
    (launch,) = facts.kernels[0].launches
    return launch


@pytest.mark.parametrize(("target", "multiprocessors"), [("a100", 108), ("h100", 132), ("t4", 40)])
def test_multiprocessors(target: str, multiprocessors: int) -> None:
    by_record = "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); k<<<2 * p.multiProcessorCount, 64>>>(0);"
    assert _launch(by_record, target).grid == (2 * multiprocessors, 1, 1)


def test_branches_on_the_architecture() -> None:
    by_architecture = """
    int major; cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    k<<<64, major >= 8 ? 256 : 128>>>(0);
    """
    assert _launch(by_architecture, "a100").block == (256, 1, 1)
    assert _launch(by_architecture, "v100").block == (128, 1, 1)


def test_the_whole_of_the_shared_memory() -> None:
    source = """
    __global__ void k(float *a) { extern __shared__ float s[]; s[threadIdx.x] = a[0]; a[1] = s[threadIdx.x ^ 1]; }
    int main() {
        cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
        cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, p.sharedMemPerBlockOptin);
        k<<<64, 256, 96 * 1024>>>(0);
    }
    """
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),), target="rtx3090"))
    site = facts.kernels[0].launches[0].site
    assert site is not None and site.opted_in_bytes == 101376


def test_what_the_target_says_nothing_of_is_unknown() -> None:
    launch = _launch("int n; cudaDeviceGetAttribute(&n, cudaDevAttrClockRate, 0); k<<<n, 64>>>(0);", "a100")
    assert launch.site is not None and launch.site.grid[0] is None


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_largest_block_along_an_axis(axis: int) -> None:
    """1024, 1024 and 64 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""
    by_record = f"cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); k<<<64, min(128, p.maxThreadsDim[{axis}])>>>(0);"
    by_attribute = f"int n; cudaDeviceGetAttribute(&n, (cudaDeviceAttr){2 + axis}, 0); k<<<64, min(128, n)>>>(0);"
    for statements in (by_record, by_attribute):
        assert _launch(statements, "a100").block == ((128, 128, 64)[axis], 1, 1)


@pytest.mark.parametrize("asked", ["of(0).warpSize", "kept->warpSize", "devices[1].properties.warpSize"])
def test_properties_that_other_code_hands_out(asked: str) -> None:
    """A warp has 32 threads, whoever has asked for the properties of the device."""
    source = f"""
    struct Device {{ int number; cudaDeviceProp properties; }};
    const cudaDeviceProp& of(int device);
    extern cudaDeviceProp *kept;
    extern Device *devices;
    {_KERNEL}
    void run() {{ const unsigned size = {asked}; k<<<64, size < 64 ? 64 : size>>>(0); }}
    """
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),), target="a100"))
    (launch,) = facts.kernels[0].launches
    assert launch.block == (64, 1, 1) and launch.source == "launch-site"


@pytest.mark.parametrize("asked", ["of(0).maxGridSize[1]", "kept->maxGridSize[1]", "copied.maxGridSize[axis]"])
def test_elements_of_properties_that_other_code_hands_out(asked: str) -> None:
    source = f"""
    const cudaDeviceProp& of(int device);
    extern cudaDeviceProp *kept;
    {_KERNEL}
    void run(int rows) {{
        const cudaDeviceProp copied = of(0);
        const int axis = 1;
        k<<<dim3(1, {asked}), 64>>>(0);
    }}
    """
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),), target="a100"))
    (launch,) = facts.kernels[0].launches
    assert launch.grid == (1, 65535, 1)

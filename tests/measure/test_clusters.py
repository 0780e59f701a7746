"""Accesses to the shared memory of other blocks of a cluster."""

from __future__ import annotations

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


def _kernel(body: str) -> KernelFacts:
    source = f"""
    #include <cooperative_groups.h>
    #include <cuda/barrier>
    __global__ void __cluster_dims__(2, 1, 1) k(const float *in, float *out) {{
        __shared__ float a[64];
        auto cluster = cooperative_groups::this_cluster();
        float *other = cluster.map_shared_rank(a, cluster.block_rank() ^ 1);
        int t = threadIdx.x;
        {body}
    }}
    void run(const float *in, float *out) {{ k<<<4, 64>>>(in, out); }}
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    return kernel


def _kinds(body: str) -> list[str]:
    return [found.kind for found in _kernel(body).cluster_races]


def test_distributed_shared_memory_is_no_global_memory() -> None:
    kernel = _kernel("a[t] = in[t]; cluster.sync(); float x = other[t]; cluster.sync(); out[t] = x;")
    assert {access.array for access in kernel.accesses} == {"in", "a", "out"}
    assert not kernel.cluster_races


def test_a_block_has_to_begin_before_and_may_not_end_before() -> None:
    assert _kinds("a[t] = in[t]; __syncthreads(); float x = other[t]; cluster.sync(); out[t] = x;")[0] == "before"
    assert _kinds("a[t] = in[t]; cluster.sync(); out[t] = other[t];") == ["after"]


def test_halves_of_a_barrier_are_one() -> None:
    body = "a[t] = in[t]; cluster.barrier_arrive(); cluster.barrier_wait(); float x = other[t]; cluster.sync();"
    assert not _kinds(body + "out[t] = x;")


def test_bytes_that_the_block_writes_itself_between_the_same_barriers() -> None:
    assert _kinds("cluster.sync(); other[t] = in[t]; out[t] = a[t]; cluster.sync();") == ["beside"]
    assert not _kinds("cluster.sync(); other[t] = in[t]; cluster.sync(); out[t] = a[t];")


def test_barriers_in_memory_may_order_blocks() -> None:
    wait = "__shared__ cuda::barrier<cuda::thread_scope_block> bar; bar.arrive_and_wait();"
    assert not _kinds(f"a[t] = in[t]; cluster.sync(); {wait} out[t] = other[t];")


def test_the_rank_of_a_block_is_known() -> None:
    """Of four blocks of clusters of two, one of each writes, each to a place of its own."""
    kernel = _kernel("if (cluster.block_rank() == 0) out[blockIdx.x / 2 * 64 + t] = in[t];")
    assert not [race for race in kernel.races or () if race.is_reportable]

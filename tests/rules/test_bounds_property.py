"""CL102 and CL107 against counting: every thread's address of random kernels, one by one."""

from __future__ import annotations

import itertools
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cudalint.facts import KernelFacts
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.assumptions import evaluate_expression
from cudalint.host.values.graph import Graph
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.expressions import parse_expression
from cudalint.run.analysis import analyse_file


def _kernel(source: str) -> KernelFacts:
    (kernel,) = analyse_file("k.cu", AnalysisOptions(unsaved=(("k.cu", source),))).kernels
    return kernel


@given(
    block=st.tuples(st.sampled_from([1, 5, 8, 32]), st.integers(1, 4)),
    grid=st.integers(1, 3),
    factors=st.tuples(st.integers(-2, 3), st.integers(0, 40), st.integers(0, 70)),
    start=st.integers(-3, 3),
    guard=st.integers(0, 40),
    size=st.integers(1, 300),
)
@settings(max_examples=60, deadline=None)
def test_the_first_thread_that_leaves_the_array(
    block: tuple[int, int], grid: int, factors: tuple[int, int, int], start: int, guard: int, size: int
) -> None:
    x, y, z = factors
    kernel = _kernel(f"""
        __global__ void k(float *a) {{
            if (threadIdx.x + threadIdx.y < {guard})
                a[{x} * (int)threadIdx.x + {y} * (int)threadIdx.y + {z} * (int)blockIdx.x + {start}] = 1;
        }}
        int main() {{
            float *a;
            cudaMalloc(&a, {size} * sizeof(float));
            k<<<{grid}, dim3({block[0]}, {block[1]})>>>(a);
        }}""")
    threads = [t for t in itertools.product(range(grid), range(block[1]), range(block[0])) if t[1] + t[2] < guard]
    indices = [(x * tx + y * ty + z * b + start, (tx, ty, 0)) for b, ty, tx in threads]
    outside = [(index, thread) for index, thread in indices if not 0 <= index < size]
    found = [(o.offset // 4, o.thread) for o in kernel.out_of_bounds if o.kind == "always"]
    assert found == outside[:1]


@given(
    width=st.sampled_from(["float2", "float4"]),
    lanes=st.integers(0, 5),
    k=st.integers(0, 5),
    h=st.integers(0, 5),
    both=st.sampled_from([0, 1, 2, 4]),
    start=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_the_condition_is_the_weakest_one(width: str, lanes: int, k: int, h: int, both: int, start: int) -> None:
    kernel = _kernel(f"""
        __global__ void k(float *a, {width} *out, int K, int H) {{
            int i = {lanes} * threadIdx.x + {k} * K + {h} * H + {both} * K * H + {start};
            out[threadIdx.x] = *({width} *)(a + i);
        }}
        void launch(float *a, {width} *out, int K, int H) {{ k<<<1, 32>>>(a, out, K, H); }}""")
    elements = int(width[-1])
    for sizes in itertools.product(range(8), repeat=2):
        starts = {lanes * t + k * sizes[0] + h * sizes[1] + both * sizes[0] * sizes[1] + start for t in range(32)}
        aligned = all(first % elements == 0 for first in starts)
        assert _is_said_to_be_aligned(kernel, *sizes) in (aligned, None), (sizes, kernel.misalignments)


def _is_said_to_be_aligned(kernel: KernelFacts, k: int, h: int) -> bool | None:
    """None where nothing is found although only some sizes are right: that is how a condition in many parts ends."""
    if not kernel.misalignments:
        return None
    (found,) = kernel.misalignments
    if found.condition is None:
        return False
    graph = Graph()
    names = {"K": graph.const(k, I8), "H": graph.const(h, I8)}
    parts = [parse_expression(part) for part in re.split(r" && ", found.condition)]
    return all(evaluate_expression(graph, part, names).value for part in parts)


@given(lanes=st.integers(0, 8), k=st.integers(0, 8), start=st.integers(0, 8))
@example(lanes=0, k=2, start=1)
@example(lanes=0, k=6, start=3)
@settings(max_examples=40, deadline=None)
def test_one_size_is_always_decided(lanes: int, k: int, start: int) -> None:
    kernel = _kernel(f"""
        __global__ void k(float *a, float4 *out, int K) {{
            out[threadIdx.x] = *(float4 *)(a + {lanes} * threadIdx.x + {k} * K + {start});
        }}
        void launch(float *a, float4 *out, int K) {{ k<<<1, 32>>>(a, out, K); }}""")
    for size in range(8):
        aligned = all((lanes * t + k * size + start) % 4 == 0 for t in range(32))
        said = True if not kernel.misalignments else _is_said_to_be_aligned(kernel, size, 0)
        assert said is aligned, (size, kernel.misalignments)

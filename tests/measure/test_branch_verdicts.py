"""Verdicts on branches where no counter says more than arithmetic; the expected figures are worked out beside them."""

from __future__ import annotations

import numpy as np
import pytest
from evaluating import evaluate
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.facts import Branch, BranchResult, KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_BUSY = "for (int q = 0; q < m; q++) b[t] += a[q];"


def _branches(kernel: KernelFacts, kind: str) -> list[Branch]:
    assert kernel.branches is not None
    return [branch for branch in kernel.branches if branch.kind == kind]


def _only(kernel: KernelFacts, kind: str = "if") -> BranchResult:
    (branch,) = _branches(kernel, kind)
    (result,) = branch.results
    return result


def _verdict(kernel: KernelFacts, kind: str = "if") -> tuple[str, float | None]:
    result = _only(kernel, kind)
    return result.verdict, result.divergent_warps


def test_a_kernel_without_branches_has_none() -> None:
    assert evaluate("a[t] = n;").branches == ()


@pytest.mark.parametrize(
    ("condition", "verdict", "share"),
    [
        ("a[t] > 0", "data-dependent", None),
        # One address: whatever is there, all lanes see the same.
        ("a[blockIdx.x] > 0", "uniform", 0.0),
        ("a[t / 32] > 0", "uniform", 0.0),
        # The value is uniform, but where it cuts the lanes off depends on it.
        ("t < (int)a[0]", "data-dependent", None),
        ("t / 32 < (int)a[0]", "uniform", 0.0),
        ("n == 5", "uniform", 0.0),
        ("unseen(t) == 3", "unknown", None),
        # Ten of the numbers below 32 have three bits set, and ten of the next 32, which have the sixth bit, two others.
        ("__popc(t) == 3", "divergent", 1.0),
    ],
)
def test_unknown_values(condition: str, verdict: str, share: float | None) -> None:
    body = f"if ({condition}) {{ {_BUSY} }} a[t] = 1;"
    found = _verdict(evaluate(body, block=(64, 1, 1), before="__device__ int unseen(int);"))
    assert found[0] in (verdict, "warp-uniform" if verdict == "uniform" else verdict)
    assert found[1] == share


def test_a_size_that_is_not_known_is_a_multiple_of_32_at_an_edge() -> None:
    # One warp of thousands splits at another size: the verdict stays and says what it rests on.
    source = f"""
        __global__ void k(float *a, float *b, int n, int m) {{
            int t = blockIdx.x * blockDim.x + threadIdx.x;
            if (t < n) {{ {_BUSY} }}
            a[t] = 1;
        }}
        void launch(float *a, float *b, int unknown) {{ k<<<(unknown + 255) / 256, 256>>>(a, b, unknown, 7); }}
    """
    (kernel,) = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    result = _only(kernel)
    assert (result.verdict, result.divergent_warps) == ("uniform", 0.0)
    assert result.assumptions == ("n % 32 == 0",)


def test_a_size_that_is_not_known_splits_every_warp_of_a_strided_loop() -> None:
    kernel = evaluate("for (int j = t % 32; j < n; j += 32) a[j] += 1;", (256, 1, 1), arguments="unknown, 7")
    result = _only(kernel, "for")
    assert (result.verdict, result.divergent_warps) == ("divergent", 1.0)
    assert result.assumptions == ("n % 32 != 0",)


def test_trip_counts() -> None:
    # Lanes 0..31 make 1..32 iterations: 32 over a mean of 16.5.
    result = _only(evaluate("for (int k = 0; k <= t; k++) b[t] += a[k];"), "for")
    assert result.divergence is not None
    assert result.divergence.slowest == pytest.approx(32 / 16.5)


def test_trip_counts_of_a_nested_loop() -> None:
    # Row r of 0..9 takes lane t max(0, r - t) iterations: 45 for the slowest lanes, 165 / 32 for the mean ones.
    body = "for (int r = 0; r < n; r++) {\nfor (int k = t; k < r; k++) b[t] += a[k];\na[r] = 1; }"
    outer, inner = _branches(evaluate(body, arguments="10, 7"), "for")
    assert outer.results[0].verdict == "uniform"
    assert inner.results[0].divergence is not None
    assert inner.results[0].divergence.slowest == pytest.approx(45 / (165 / 32))


def test_neighbours_in_a_tree() -> None:
    # Of 8 warps, all split while partners are up to 16 apart (5 steps), then 4, 2 and 1: 47 of 64. They have 16, 8, 4,
    # 2, and from then on 1 lane at work.
    body = "for (int w = 1; w < 256; w *= 2) if (t % (2 * w) == 0) for (int q = 0; q < m; q++) a[t] += a[t + w];"
    result = _only(evaluate(body, (256, 1, 1)))
    assert result.divergent_warps == pytest.approx(47 / 64)
    assert result.divergence is not None
    assert result.divergence.lanes[0] == pytest.approx((8 * 31 + 4 + 2 + 1) / 47)


def test_loops_that_are_counted_out_are_uniform() -> None:
    # `swap` has no closed form, so the three iterations are executed one by one.
    kernel = evaluate("int x = t; for (int k = 0; k < 3; k++) { if (x & 1) a[x] = 1; x = x * x + 1; } a[x] = 2;")
    assert _verdict(kernel, "for") == ("uniform", 0.0)


def test_inlined_functions_know_their_callers() -> None:
    helper = "__device__ void f(float* p, int x, int m) { if (x & 1) for (int q = 0; q < m; q++) p[q] += 1; }"
    kernel = evaluate("f(a, t, m);\nf(b, t / 32, m);\nf(b, n, m);", block=(64, 1, 1), before=helper)
    found = {branch.inlined_from[0].line: branch.results[0].verdict for branch in _branches(kernel, "if")}
    assert sorted(found.values()) == ["divergent", "uniform", "warp-uniform"]
    assert [found[line] for line in sorted(found)] == ["divergent", "warp-uniform", "uniform"]


def test_a_switch_is_one_branch() -> None:
    body = "switch (t / {0}) {{ case 0: a[t] = 1; case 1: a[t] = 2; break; default: b[t] = 3; }}"
    assert _verdict(evaluate(body.format(32), (128, 1, 1)), "switch") == ("warp-uniform", 0.0)
    # 0..39, 40..79, 80..: the second and the third warp of four are cut.
    assert _verdict(evaluate(body.format(40), (128, 1, 1)), "switch") == ("divergent", 0.5)


def test_only_lanes_that_get_there_count() -> None:
    kernel = evaluate("if (t >= 16) return;\nif (t < 16) a[t] = 1; b[t] = 2;")
    first, second = _branches(kernel, "if")
    assert (first.results[0].verdict, second.results[0].verdict) == ("divergent", "uniform")


def test_what_is_never_reached_splits_nothing() -> None:
    kernel = evaluate(f"if (t >= 32) {{ if (t & 1) {{ {_BUSY} }} }} a[t] = 1;")
    assert [branch.results[0].verdict for branch in _branches(kernel, "if")] == ["uniform", "uniform"]


def test_short_circuits() -> None:
    kernel = evaluate("if (t > 0 && a[t - 1] > 0) { b[t] = 1; } a[t] = 1;")
    assert _verdict(kernel, "if")[0] == "data-dependent"
    assert _verdict(kernel, "conditional") == ("divergent", 1.0)
    # Without a load on the right there is nothing to jump over.
    assert _branches(evaluate("if (t > 0 && t < 7) a[t] = 1; b[t] = 1;"), "conditional") == []


def test_floats_that_a_loop_changes_may_differ_from_lane_to_lane() -> None:
    body = "float z = 0; for (int k = 0; k < m; k++) { z = z * z + {0}; if (z > 4) { a[t] = k; break; } b[t] = z; }"
    # Beyond 4 is z in the first turn where t is 5, in the second one where it is 3, and never where it is 0.
    assert _verdict(evaluate(body.replace("{0}", "t")))[0] == "divergent"
    assert _verdict(evaluate(body.replace("{0}", "n")))[0] == "uniform"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(64, 1, 1), (48, 1, 1), (16, 8, 1), (8, 4, 3), (33, 2, 1)]),
    st.sampled_from(["threadIdx.x", "threadIdx.y", "(threadIdx.x + 2 * threadIdx.y)", "(threadIdx.x / 4)"]),
    st.sampled_from(["<", ">=", "==", "&", "%"]),
    st.integers(1, 40),
)
def test_the_share_is_that_of_counting(block: tuple[int, int, int], value: str, operator: str, limit: int) -> None:
    kernel = evaluate(f"if ({value} {operator} {limit}) {{ {_BUSY} }} a[0] = 1;", block)
    linear = np.arange(block[0] * block[1] * block[2])
    x, y = linear % block[0], linear // block[0] % block[1]
    python = value.replace("threadIdx.", "").replace("/", "//")
    taken = eval(f"{python} {operator} {limit}", {"x": x, "y": y}) != 0
    warps = [taken[start : start + 32] for start in range(0, len(linear), 32)]
    split = sum(bool(warp.any() and not warp.all()) for warp in warps)
    assert _verdict(kernel)[1] == pytest.approx(split / len(warps))
    assert (_verdict(kernel)[0] == "divergent") == (split > 0)


def test_grids_beyond_what_a_machine_word_counts() -> None:
    source = """
        __global__ void kernel(float *a, int n) {
            if ((blockIdx.x + blockIdx.y + threadIdx.x) % 2)
                for (int k = 0; k < n; k++) a[threadIdx.x] += a[k];
            a[threadIdx.x] = 1;
        }
        void launch(float *a, long x, long y, long z, int n) { kernel<<<dim3(x, y, z), 64>>>(a, n); }
    """
    (kernel,) = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert _verdict(kernel) == ("divergent", 1.0)

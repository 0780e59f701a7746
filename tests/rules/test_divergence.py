"""CL401 and CL402: the figures of a finding, and conditions that keep warps whole, tried on the model."""

from __future__ import annotations

import pytest
from linting import advice, lint

from cudalint.diagnostics import Diagnostic


def _source(condition: str, block: str = "256", otherwise: str = "else x = work(x, 2 * n);") -> str:
    return f"""
        __device__ float work(float x, int n) {{
            for (int k = 0; k < n; k++) x = x * 1.5f + 0.25f;
            return x;
        }}
        __global__ void kernel(float *out, int n) {{
            int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
            float x = out[i];
            if ({condition}) x = work(x, n);
            {otherwise}
            out[i] = x;
        }}
        void launch(float *out) {{ kernel<<<8, {block}>>>(out, 40); }}
    """


def _only(source: str, code: str = "CL401") -> Diagnostic:
    (diagnostic,) = lint(source, code)
    return diagnostic


def test_figures() -> None:
    diagnostic = _only(_source("t % 2"))
    assert diagnostic.figures["divergent_warps"] == 1.0
    # Of n + 2n, half of the lanes need n and half 2n: half of it is for lanes that wait, and little is done besides.
    assert diagnostic.figures["wasted_share"] == pytest.approx(0.5, abs=0.05)
    assert diagnostic.launches[0].block == (256, 1, 1)


@pytest.mark.parametrize(
    ("condition", "aligned"),
    [
        ("t % 2", "((threadIdx.x / 32) % 2) != 0"),
        ("(t & 4) == 0", "((threadIdx.x / 32) & 4) == 0"),
    ],
)
def test_the_nearest_condition_that_keeps_warps_whole(condition: str, aligned: str) -> None:
    assert advice(_only(_source(condition))) == f"give the work to whole warps: `{aligned}` splits none"


def test_a_limit_is_rounded() -> None:
    assert "`threadIdx.x < 32`" in advice(_only(_source("t < 40", "64")))


@pytest.mark.parametrize(
    ("condition", "block", "aligned"),
    [
        # A warp has two rows of 16 threads.
        ("threadIdx.y % 2", "dim3(16, 8)", "((threadIdx.y / 2) % 2) != 0"),
        ("threadIdx.y < 3", "dim3(16, 4)", "threadIdx.y < 4"),
        ("threadIdx.z % 2", "dim3(4, 4, 8)", "((threadIdx.z / 2) % 2) != 0"),
    ],
)
def test_rows_of_which_a_warp_has_several(condition: str, block: str, aligned: str) -> None:
    assert advice(_only(_source(condition, block))) == f"give the work to whole warps: `{aligned}` splits none"


def test_rows_that_begin_in_the_middle_of_a_warp_cannot_be_kept_together() -> None:
    assert _only(_source("threadIdx.y % 2", "dim3(24, 8)")).suggestion is None


def test_a_leader_of_each_warp_is_reported_where_little_else_is_done() -> None:
    leader = _source("t % 32 == 0", otherwise="")
    assert _only(leader).message.startswith("every warp splits: 1 of 32 lanes do the work: ")
    # As much is done by all lanes before and after it: a quarter of the slots is the leader's.
    assert lint(leader.replace("float x = out[i];", "float x = work(work(out[i], n), n);"), "CL401") == ()


def test_one_lane_that_goes_another_way() -> None:
    condition, rest = "t % 32 == 31", "x = work(work(x, n), n);"
    assert lint(_source(condition).replace("float x = out[i];", f"float x = out[i]; {rest}"), "CL401") == ()


def test_a_variable_that_is_chosen() -> None:
    source = """
        __global__ void kernel(float *out) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            float x = out[i], y;
            if (i % 3) y = x * x * x * x * x * x * x + 1;
            else y = (x - 1) * (x - 2) * (x - 3) * (x - 4);
            out[i] = y;
        }
        void launch(float *out) { kernel<<<8, 256>>>(out); }
    """
    assert advice(_only(source)) == "compute for all lanes and choose (`y = ... ? ... : ...`), which takes no jump"
    # Lanes that don't go there may have no such element.
    assert "compute for all lanes" not in advice(_only(source.replace("y = x *", "y = out[i + 1] *")))


def test_no_condition_is_suggested_that_takes_far_fewer_threads() -> None:
    # A block of a single warp has no warp 4: `(threadIdx.x / 32) & 4` would never hold.
    assert _only(_source("t & 4", "32")).suggestion is None


@pytest.mark.parametrize(
    ("condition", "block", "aligned"),
    [
        # A block of two warps has no warp 4, but a group of eight threads with that number.
        ("t & 4", "64", "((threadIdx.x / 8) & 4) != 0"),
        ("t % 32 < 16", "256", "((threadIdx.x / 8) % 32) < 16"),
        ("t % 32 < 8", "1024", "((threadIdx.x / 32) % 32) < 8"),
    ],
)
def test_groups_smaller_than_a_warp_where_warps_are_too_few(condition: str, block: str, aligned: str) -> None:
    assert advice(_only(_source(condition, block))) == f"give the work to whole warps: `{aligned}` splits none"


@pytest.mark.parametrize(
    ("condition", "block", "otherwise"),
    [
        ("t / 32 % 2", "256", "else x = work(x, 2 * n);"),
        ("blockIdx.x % 2", "256", "else x = work(x, 2 * n);"),
        ("x > 0", "256", "else x = work(x, 2 * n);"),
        ("t < 16", "256", ""),
        ("t == 0", "256", ""),
        ("t % 2", "32", ""),
    ],
)
def test_no_finding(condition: str, block: str, otherwise: str) -> None:
    assert lint(_source(condition, block, otherwise), "CL401") == ()


def test_work_of_few_lanes_that_would_fit_into_fewer_warps() -> None:
    diagnostic = _only(_source("t % 8 == 0", otherwise=""))
    assert diagnostic.message.startswith("every warp splits: 4 of 32 lanes do the work: ")


def test_calls_are_named() -> None:
    inner = "if (threadIdx.x % 2) x = sinf(x); else x = cosf(x);"
    source = _source("t / 32 % 2").replace("x = x * 1.5f + 0.25f;", inner)
    diagnostic, *_ = lint(source, "CL401")
    assert [related.message for related in diagnostic.related] == ["called from here"]


def _strided(size: str) -> str:
    return f"""
        __global__ void kernel(float *out, int n) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            float x = 0;
            for (int k = threadIdx.x % 32; k < 65536 / n; k += 32) x += out[k] * out[k] + 1;
            out[i] = x;
        }}
        void launch(float *out, int size) {{ kernel<<<8, 256>>>(out, {size}); }}
    """


def test_a_loop_whose_length_is_known() -> None:
    # 65536 / 8192 = 8 elements for 32 lanes.
    assert "4 times the iterations" in _only(_strided("8192"), "CL402").message


def test_no_finding_rests_on_a_size_that_nobody_knows() -> None:
    # The size that stands for all others leaves one element; a small one leaves thousands, evenly spread.
    assert lint(_strided("size"), "CL402") == ()

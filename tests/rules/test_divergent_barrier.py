"""What CL302 suggests, for threads that go another way and for those that have left."""

from __future__ import annotations

import pytest
from linting import advice, lint

from cudalint.facts import Place
from cudalint.fixes.branch_edits import hoisted_barrier
from cudalint.fixes.edits import apply_edits
from cudalint.fixes.obstacles import Obstacle


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("if (threadIdx.x < 40) { s[threadIdx.x] = 0; __syncthreads(); }", "let every thread come to it"),
        ("if (threadIdx.x > 40) return; s[threadIdx.x] = 0; __syncthreads();", "let the threads that have no"),
    ],
)
def test_suggestions(body: str, start: str) -> None:
    source = f"__global__ void k() {{ __shared__ float s[64]; {body} }}\nvoid run() {{ k<<<1, 64>>>(); }}"
    (found,) = lint(source, "CL302")
    assert advice(found).startswith(start)


def test_a_number_of_the_host_code_is_not_taken_for_the_parameter_of_its_name() -> None:
    """Of the 1 << n elements, half are sorted: with n = 1, one thread comes. The kernel's own n is 2 then."""
    source = (
        "__global__ void k(float *o, int n) { if (threadIdx.x < n / 2) { o[threadIdx.x] = 0; __syncthreads(); } }\n"
        "void run(float *o, int n) { k<<<1, 64>>>(o, 1 << n); }"
    )
    (found,) = lint(source, "CL302")
    assert found.message.endswith("thread (0, 0, 0) waits, thread (1, 0, 0) does not come where the host's n = 1")


def test_who_skips_a_store_has_to_store_too() -> None:
    """Once the barrier is moved out, nothing writes the elements of the threads behind the end of the data."""
    source = """
        __global__ void sum(const float *a, float *out, int n) {
            __shared__ float s[256];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) { %s __syncthreads(); }
            if (threadIdx.x == 0) out[blockIdx.x] = s[255];
        }
        void run(float *a, float *out) { sum<<<4, 256>>>(a, out, 1000); }
    """
    (found,) = lint(source % "s[threadIdx.x] = a[i];", "CL302")
    assert "If others read all of `s` then, the threads that skip the branch have to store there too" in advice(found)
    (found,) = lint(source % "", "CL302")
    assert "store there too" not in advice(found)


@pytest.mark.parametrize(
    ("condition", "behind", "severity"),
    [
        # Warps 1 to 3 leave the kernel, and no longer count.
        ("threadIdx.x < 32", "", "warning"),
        # Lanes of one warp: those that go on wait for the others (the H200 hangs, branches.sanitizer.json).
        ("threadIdx.x < 48", "", "error"),
        # Warps 1 to 3 wait at the next barrier, at which warp 0 is not.
        ("threadIdx.x < 32", "__syncthreads();", "error"),
        ("threadIdx.x < 32", "else { __syncthreads(); }", "error"),
    ],
)
def test_whole_warps_that_leave_the_kernel_are_no_error(condition: str, behind: str, severity: str) -> None:
    source = f"""
        __global__ void k(float *a) {{
            if ({condition}) {{ a[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] += 1; }}
            {behind}
        }}
        void run(float *a) {{ k<<<1, 128>>>(a); }}
    """
    found = lint(source, "CL302")
    assert {each.severity for each in found} == {severity}


def test_only_stores_since_the_barrier_before_are_named() -> None:
    source = """
        __global__ void sum(const float *a, float *out) {
            __shared__ float s[256], t[256];
            s[threadIdx.x] = a[threadIdx.x];
            __syncthreads();
            if (threadIdx.x < 200) {
                t[threadIdx.x] = s[255 - threadIdx.x];
                __syncthreads();
                out[threadIdx.x] = t[199 - threadIdx.x];
            }
        }
        void run(float *a, float *out) { sum<<<1, 256>>>(a, out); }
    """
    (found,) = lint(source, "CL302")
    assert "If others read all of `t` then" in advice(found)


@pytest.mark.parametrize(("condition", "is_parted"), [("t < 192", True), ("s[0] > t", False), ("*most > t", False)])
def test_a_condition_on_memory_is_not_asked_again(condition: str, is_parted: bool) -> None:
    """Behind the barrier it may be another one, since other threads have stored."""
    source = f"""__global__ void k(float *s, float *most, float *out) {{
    int t = threadIdx.x;
    if ({condition}) {{
        s[t] = 0;
        __syncthreads();
        out[t] = s[0];
    }}
}}
"""
    barrier = Place("a.cu", 5, 9, 5, 24)
    if is_parted:
        (edit,) = hoisted_barrier(barrier, lambda path: source)
        assert edit.text.count(f"if ({condition}) {{") == 1
    else:
        with pytest.raises(Obstacle, match="other threads may change"):
            hoisted_barrier(barrier, lambda path: source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if (t < 9) {|    s[t] = 0;|    BAR|}", "if (t < 9) {|    s[t] = 0;|}|BAR"),
        ("if (t < 9) {|    s[t] = 0;|    BAR  // all|}", "if (t < 9) {|    s[t] = 0;|}|BAR  // all"),
        ("if (t < 9) {|    s[t] = 0;|BAR }", "if (t < 9) {|    s[t] = 0;|}|BAR"),
        ("if (t < 9) {|    BAR|}", "BAR"),
        ("if (t < 9) { BAR }", "BAR"),
        ("if (t < 9) {|    BAR|    s[t] = 0;|}", "BAR|if (t < 9) {|    s[t] = 0;|}"),
        (
            "if (t < 9) {|    if (t > 2) {|        BAR|    }|    s[t] = 0;|}",
            "BAR|if (t < 9) {|    s[t] = 0;|}",
        ),
        (
            "if (t < 9) {|    if (t > 2) {|        s[t] = 1;|        BAR|    }|    s[t] = 0;|}",
            "if (t < 9) {|    if (t > 2) {|        s[t] = 1;|    }|}|BAR|if (t < 9) {|    s[t] = 0;|}",
        ),
        ("if (t < 9) { s[t] = 0; BAR }", "if (t < 9) { s[t] = 0; } BAR"),
    ],
)
def test_no_branch_is_left_empty(before: str, after: str) -> None:
    head = "__global__ void k(float *s) {\n    int t = threadIdx.x;\n    "
    source, wanted = (f"{head}{each}\n}}\n".replace("|", "\n    ") for each in (before, after))
    source, wanted = (each.replace("BAR", "__syncthreads();") for each in (source, wanted))
    line = source[: source.index("__sync")].count("\n") + 1
    column = source.index("__sync") - source.rindex("\n", 0, source.index("__sync"))
    edits = hoisted_barrier(Place("a.cu", line, column, line, column + 15), lambda path: source)
    assert apply_edits(source, edits) == wanted

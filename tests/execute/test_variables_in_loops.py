"""What variables are in each iteration of a loop, and after it."""

from __future__ import annotations

import pytest
from evaluating import elements, evaluate, only, uniform_elements

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

ITERATIONS = [
    ("a step", "for (int i = 0; i < 5; i++) a[3 * i] = 1;", [0, 3, 6, 9, 12]),
    ("a step down", "for (int i = 6; i >= 0; i -= 3) a[i] = 1;", [6, 3, 0]),
    (
        "a step of an unsigned number",
        "unsigned x = 9; for (int i = 0; i < 3; i++) { a[x] = 1; x -= 2; }",
        [9, 7, 5],
    ),
    ("a step that grows", "int x = 1; for (int i = 0; i < 5; i++) { a[x] = 1; x += 3 * i; }", [1, 1, 4, 10, 19]),
    ("a step that shrinks", "int x = 9; for (int i = 0; i < 4; i++) { x += 4 - 2 * i; a[x] = 1; }", [13, 15, 15, 13]),
    ("a shift to the right", "for (int i = 20; i > 0; i >>= 1) a[i] = 1;", [20, 10, 5, 2, 1]),
    ("a division", "for (int i = 20; i > 0; i /= 2) a[i] = 1;", [20, 10, 5, 2, 1]),
    ("a shift to the left", "for (int i = 1; i < 20; i <<= 1) a[i] = 1;", [1, 2, 4, 8, 16]),
    ("a multiplication", "for (int i = 3; i < 50; i *= 2) a[i] = 1;", [3, 6, 12, 24, 48]),
    ("a toggle", "int x = 1; for (int i = 0; i < 4; i++) { a[x] = 1; x = 1 - x; }", [1, 0, 1, 0]),
    ("a toggle of bits", "int x = 5; for (int i = 0; i < 4; i++) { a[x] = 1; x ^= 3; }", [5, 6, 5, 6]),
    ("a negation", "int x = 0; for (int i = 0; i < 4; i++) { a[x] = 1; x = !x; }", [0, 1, 0, 1]),
    ("a cycle", "int x = 1; for (int i = 0; i < 5; i++) { a[x] = 1; x = (x + 2) % 5; }", [1, 3, 0, 2, 4]),
    (
        "an exchange",
        "int x = 3, y = 8; for (int i = 0; i < 4; i++) { a[x] = 1; int z = x; x = y; y = z; }",
        [3, 8, 3, 8],
    ),
    (
        "a prefetch",
        "int next = 7; for (int i = 0; i < 4; i++) { a[next] = 1; next = i * 3; }",
        [7, 0, 3, 6],
    ),
    (
        "a delay of one",
        "int last = 9, x = 1; for (int i = 0; i < 4; i++) { a[last] = 1; last = x; x += 5; }",
        [9, 1, 6, 11],
    ),
    (
        "a guarded step",
        "int x = 0; for (int i = 0; i < 4; i++) { a[x] = 1; if (n > 2) x += 4; }",
        [0, 4, 8, 12],
    ),
    (
        "no step behind a guard",
        "int x = 2; for (int i = 0; i < 3; i++) { a[x] = 1; if (n < 2) x += 4; }",
        [2, 2, 2],
    ),
    ("a test at the end", "int x = 0; do { a[x] = 1; x += 2; } while (x < 6);", [0, 2, 4]),
    ("a test at the end that fails at once", "int x = 9; do { a[x] = 1; x += 2; } while (x < 6);", [9]),
    ("a test of a variable of the body", "int x = 10; while (x > 0) { a[x] = 1; x -= 4; }", [10, 6, 2]),
    ("`continue`", "for (int i = 0; i < 6; i++) { if (i % 2) continue; a[i] = 1; }", [0, 2, 4]),
    ("`break`", "for (int i = 0; i < 6; i++) { if (i == 3) break; a[i] = 1; }", [0, 1, 2]),
    ("`break` at the end", "for (int i = 0; ; i++) { a[i] = 1; if (i == 3) break; }", [0, 1, 2, 3]),
    (
        "a pointer that walks",
        "float* p = a; for (int i = 0; i < 4; i++) { *p = 1; p += 6; }",
        [0, 6, 12, 18],
    ),
    ("a pointer that walks by `++`", "float* p = a + 2; for (int i = 0; i < 3; i++) *p++ = 1;", [2, 3, 4]),
    (
        "a nest",
        "for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) a[10 * i + j] = 1;",
        [0, 1, 2, 10, 11, 12],
    ),
    (
        "a triangle",
        "for (int i = 0; i < 3; i++) for (int j = 0; j <= i; j++) a[10 * i + j] = 1;",
        [0, 10, 11, 20, 21, 22],
    ),
    (
        "a variable carried through a nest",
        "int x = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) a[x++] = 1;",
        [0, 1, 2, 3, 4, 5],
    ),
    ("no iteration", "for (int i = 0; i < n - 5; i++) b[i] = 1; a[3] = 1;", [3]),
]


@pytest.mark.parametrize(("body", "expected"), [i[1:] for i in ITERATIONS], ids=[i[0] for i in ITERATIONS])
def test_the_elements_of_each_iteration(body: str, expected: list[int]) -> None:
    result = only(evaluate(body))
    assert result.status == "exact"
    assert uniform_elements(result) == expected
    assert result.requests == len(expected)


AFTER = [
    ("a step", "int x = 1; for (int i = 0; i < 5; i++) x += 3; a[x] = 1;", [16] * 32),
    ("the counter", "int i; for (i = 2; i < 9; i += 3) ; a[i] = 1;", [11] * 32),
    ("a shift", "int x = 64; for (int i = 0; i < 3; i++) x >>= 1; a[x] = 1;", [8] * 32),
    ("a test at the end", "int x = 0; do x += 4; while (x < 10); a[x] = 1;", [12] * 32),
    ("one that never ran", "int x = 7; for (int i = 0; i < n - 5; i++) x += 3; a[x] = 1;", [7] * 32),
    (
        "each lane its own",
        "int x = 0; for (int i = 0; i < t; i++) x += 2; a[x] = 1;",
        [2 * t for t in range(32)],
    ),
    (
        "a stride of lanes",
        "int i; for (i = t; i < 100; i += 32) ; a[i] = 1;",
        [t + 32 * -(-(100 - t) // 32) for t in range(32)],
    ),
    (
        # One iteration before they begin, these would not begin either.
        "lanes that never begin beside some that go on for long",
        "unsigned i = t < 16 ? 0 : 600; for (; i * i < 90000; i++) ; a[i] = 1;",
        [300] * 16 + [600] * 16,
    ),
    (
        "a nest",
        "int x = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) x += 2; a[x] = 1;",
        [24] * 32,
    ),
]


@pytest.mark.parametrize(("body", "expected"), [i[1:] for i in AFTER], ids=[i[0] for i in AFTER])
def test_variables_after_a_loop(body: str, expected: list[int]) -> None:
    assert elements(only(evaluate(body))) == [expected]


def test_lanes_leave_a_loop_at_their_own_time() -> None:
    """Lane t runs t % 4 times: of 32 lanes 24, 16 and 8 take part."""
    result = only(evaluate("for (int i = 0; i < t % 4; i++) a[t] = 1;"))
    assert (result.requests, result.active_lanes) == (3, 16)


def test_a_stride_over_the_rows_of_a_tile() -> None:
    result = only(
        evaluate("for (int y = threadIdx.y; y < 30; y += blockDim.y) a[64 * y + t] = 1;", block=(32, 8, 1))
    )
    assert (result.requests, result.sectors_per_request, result.active_lanes) == (30, 4, 32)


@pytest.mark.parametrize("trips", [3, 7, 40, 1000])
def test_the_requests_of_a_loop_are_those_of_all_its_iterations(trips: int) -> None:
    result = only(evaluate(f"for (int i = 0; i < {trips}; i++) a[32 * i + t] = 1;"))
    assert (result.requests, result.sectors_per_request) == (trips, 4)


def test_a_tree_reduction_counts_its_shrinking_rounds() -> None:
    """Of 256 threads 128 pass the first round's guard: 4 warps, then 2, 1, and parts of one."""
    result = only(evaluate("for (int d = blockDim.x / 2; d > 0; d >>= 1) if (t < d) a[t] = 1;", (256, 1, 1)))
    assert result.requests == 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1
    assert result.active_lanes == pytest.approx((7 * 32 + 16 + 8 + 4 + 2 + 1) / 12)


@pytest.mark.parametrize("size", [1000, 2048, 2049, 50_000])
@pytest.mark.parametrize("bound", ["ceil({} / 16.0f)", "{} / 16.0f", "{} * 0.0625"])
def test_the_trips_to_a_bound_in_floating_point(bound: str, size: int) -> None:
    """Nothing solves these: the last iteration is looked for, beyond those that are tried one by one too."""
    result = only(evaluate(f"for (int i = 0; i < {bound.format('n')}; i++) a[32 * i + t] = 1;", arguments=f"{size}, 7"))
    assert result.requests == -(-size // 16)


def test_lanes_find_the_end_of_such_a_loop_each_for_itself() -> None:
    """Lane t makes 100 * (t + 1) iterations, the warp 3200, and half of its lanes take part on the mean."""
    result = only(evaluate("for (int i = 0; i < (t + 1) * 100.0f; i++) a[32 * i + t] = 1;"))
    assert result.requests == 3200
    assert result.active_lanes == pytest.approx(16.5, rel=0.05)


def test_copies_of_an_unrolled_load_are_executed_equally_often() -> None:
    """Even columns of a row of 33 halves are 2 bytes off a word in every second row only, odd ones in all others: one
    wavefront and two in turn. Whatever was drawn of the loops around, there are as many of each."""
    source = """
        __global__ void k(const unsigned short *in, float *out, int n) {
            __shared__ unsigned short rows[32][33];
            float sum = 0;
            for (int at = 0; at < n; at += 32) {
                rows[threadIdx.y][threadIdx.x] = in[at * 32 + threadIdx.y * 32 + threadIdx.x];
                __syncthreads();
                for (int i = 0; i < 8; i++)
                    for (int j = 0; j < 4; j++)
                        sum += rows[threadIdx.x][i * 4 + j];
                __syncthreads();
            }
            out[threadIdx.y * 32 + threadIdx.x] = sum;
        }
        void run(unsigned short *in, float *out, int n) { k<<<1, dim3(32, 32)>>>(in, out, n); }
    """
    (kernel,) = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    (load,) = (a for a in kernel.accesses if a.array == "rows" and a.operation == "load")
    requests = [result.requests or 0 for result in load.results]
    waves = [result.wavefronts_per_request or 0 for result in load.results]
    assert sum(map(float.__mul__, waves, requests)) == pytest.approx(1.5 * sum(requests))


@pytest.mark.parametrize(
    "body",
    [
        "Four c, d; c.v[0] = t; for (int i = 0; i < 4; i++) d.v[i] = c.v[i] * 2; a[d.v[0]] = 1;",
        "Four c; c.v[0] = t; a[twice(c).v[0]] = 1;",
        "int c[4], d[4]; c[0] = t; for (int i = 0; i < 4; i++) d[i] = c[i] * 2; a[d[0]] = 1;",
    ],
)
def test_elements_of_an_array_in_a_structure_are_followed_one_by_one(body: str) -> None:
    before = """struct Four { int v[4]; };
        __device__ Four twice(Four c) { Four d; for (int i = 0; i < 4; i++) d.v[i] = c.v[i] * 2; return d; }"""
    kernel = evaluate(body, before=before)
    # 32 floats, 8 bytes apart.
    assert [access.results[0].sectors_per_request for access in kernel.accesses] == [8.0]


def test_a_counter_at_the_end_of_its_type_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    """The least number of 64 bits has no opposite, so what numpy thinks of the difference is no news to users."""
    loop = "for (long long i = -9223372036854775807LL - 1; i != 0; i--) a[threadIdx.x] = i;"
    source = f"__global__ void k(long long *a) {{ {loop} }}\n"
    analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    assert [str(each.message) for each in recwarn] == []

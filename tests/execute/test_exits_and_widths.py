"""Lanes that leave early, and numbers at the edges of their types: what an evaluation easily gets wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from evaluating import elements, evaluate, results

from cudalint.host.values.arithmetic import BOOL, I4, I8, U4
from cudalint.host.values.evaluation import number_of
from cudalint.host.values.graph import Graph

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

LANES = range(32)
CASES: list[tuple[str, str, Sequence[Sequence[int]]]] = [
    ("the counter after `break`", "int i; for (i = 0; i < 10; i++) if (i == 3) break; a[i] = 1;", [[3] * 32]),
    (
        "the counter after a `break` of each lane",
        "int i; for (i = 0; i < 10; i++) if (i == t % 4) break; a[i] = 1;",
        [[t % 4 for t in LANES]],
    ),
    (
        "a variable that `break` spares",
        "int x = 0, y = 0; for (;;) { x++; if (x >= 5) break; y++; } a[y] = 1;",
        [[4] * 32],
    ),
    (
        "a `return` in a loop that some lanes never enter",
        "for (int i = 0; i < t; i++) { if (n > 2) return; } a[t] = 1;",
        [[0]],
    ),
    (
        "a `return` in a loop that no lane enters",
        "for (int i = 0; i < n - 5; i++) { return; } a[t] = 1;",
        [list(LANES)],
    ),
    (
        "a `return` in a loop in a loop",
        "for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) { if (t < 16) return; } a[t] = 1;",
        [list(range(16, 32))],
    ),
    (
        "a `return` before the `break` of a case",
        "switch (t & 3) { case 0: if (t < 8) return; break; } a[t] = 1;",
        [[t for t in LANES if t % 4 or t >= 8]],
    ),
    (
        "a `continue` in a case",
        "for (int i = 0; i < 1; i++) { switch (t & 1) { case 0: if (t < 8) continue; break; } a[t] = 1; }",
        [[t for t in LANES if t % 2 or t >= 8]],
    ),
    (
        "a conditional `break` of a case",
        "int x = 0; switch (t & 1) { case 0: if (t < 8) break; x = 100; break; default: x = 200; } a[x] = 1;",
        [[200 if t % 2 else 0 if t < 8 else 100 for t in LANES]],
    ),
    (
        "a `break` out of `do ... while (0)`",
        "int x = 0; do { if (t < 8) break; x = 100; } while (0); a[x + t] = 1;",
        [[t if t < 8 else 100 + t for t in LANES]],
    ),
    (
        "a `return` out of `do ... while (0)` that has a `break`",
        "do { if (t < 4) return; if (t < 8) break; } while (0); a[t] = 1;",
        [list(range(4, 32))],
    ),
    (
        "an assignment behind `&&`",
        "int x = t; if (t < 4 && (x = 100) > 0) {} a[x] = 1;",
        [[100 if t < 4 else t for t in LANES]],
    ),
    (
        "an assignment in a conditional expression",
        "int x = 0, y = 0; (t < 4) ? x++ : y++; a[8 * x + 64 * y] = 1;",
        [[8 if t < 4 else 64 for t in LANES]],
    ),
    (
        "a `size_t` that wraps below zero in a guard",
        "size_t i = (size_t)t - 1; if (i < 16) a[i] = 1;",
        [list(range(16))],
    ),
    (
        "a sequence that the counter goes into",
        "int x = 0; for (int i = 0; i < 6; i++) { a[x] = 1; x = i - x; }",
        [[x] * 32 for x in (0, 0, 1, 1, 2, 2)],
    ),
    (
        "a comparison with zero of something else than the variable",
        "int x = 5; for (int i = 0; i < 4; i++) { a[x] = 1; x = (x % 3 == 0); }",
        [[x] * 32 for x in (5, 0, 1, 0)],
    ),
    (
        "a negation of something else than the variable",
        "int x = 7; for (int i = 0; i < 4; i++) { a[x] = 1; x = !(x < 5); }",
        [[x] * 32 for x in (7, 1, 0, 0)],
    ),
    (
        "a cycle that starts outside of its range",
        "int x = 10; for (int i = 0; i < 4; i++) { a[x] = 1; x = (x + 1) % 3; }",
        [[x] * 32 for x in (10, 2, 0, 1)],
    ),
    (
        "a cycle of an unsigned number that wraps",
        "unsigned x = 1; for (int i = 0; i < 3; i++) { a[x] = 1; x = (x - 1u) % 7u; }",
        [[x] * 32 for x in (1, 0, 3)],
    ),
    (
        "a step through a narrower type",
        "int x = 250; for (int i = 0; i < 6; i++) { a[x] = 1; x = (unsigned char)(x + 2); }",
        [[x] * 32 for x in (250, 252, 254, 0, 2, 4)],
    ),
    (
        "a shift to the left that pushes bits out",
        "unsigned x = 1u << 30; for (int i = 0; i < 3; i++) { a[x >> 28] = 1; x <<= 1; }",
        [[x] * 32 for x in (4, 8, 0)],
    ),
    (
        "a division of negative numbers in a loop",
        "int x = -7; for (int i = 0; i < 4; i++) { a[x + 8] = 1; x /= 2; }",
        [[x + 8] * 32 for x in (-7, -3, -1, 0)],
    ),
    (
        "a compound assignment of a signed and an unsigned number",
        "int x = t - 5; x %= 7u; a[x] = 1;",
        [[((t - 5) % 2**32) % 7 for t in LANES]],
    ),
    (
        "an iteration in the middle of many",
        "for (int i = 0; i < 20; i++) { if (i == 2) a[t] = 1; }",
        [list(LANES)],
    ),
    (
        "a loop whose condition would hold again for lanes that left it",
        "for (int i = t; i & 3; i++) a[i] = 1;",
        [[t + k for t in LANES if 0 < t % 4 < 4 - k] for k in range(3)],
    ),
]
RETURNING: list[tuple[str, str, str, Sequence[Sequence[int]]]] = [
    (
        "the counter",
        "__device__ int f(int t) { for (int i = 0;; i++) if (i == t % 4) return i; }",
        "a[f(t)] = 1;",
        [[t % 4 for t in LANES]],
    ),
    (
        "one of two values",
        "__device__ int f(int t) { for (int i = 0;; i++) { if (i == t) return 20; if (i == 3) return 30; } }",
        "a[f(t)] = 1;",
        [[20 if t <= 3 else 30 for t in LANES]],
    ),
    (
        "a reference",
        "__device__ float& f(float* a, int t) { int h = t; while (true) { if (h % 5 == 0) return a[h]; h++; } }",
        "f(a, t) = 1;",
        [[-(-t // 5) * 5 for t in LANES]],
    ),
]


@pytest.mark.parametrize(("body", "expected"), [d[1:] for d in CASES], ids=[d[0] for d in CASES])
def test_known_difference(body: str, expected: Sequence[Sequence[int]]) -> None:
    (result,) = results(evaluate(body))
    assert result.status == "exact"
    assert elements(result) == [list(lanes) for lanes in expected]


@pytest.mark.parametrize(("before", "body", "expected"), [d[1:] for d in RETURNING], ids=[d[0] for d in RETURNING])
def test_returned_from_within_a_loop(before: str, body: str, expected: Sequence[Sequence[int]]) -> None:
    (result,) = results(evaluate(body, before=before))
    assert result.status == "exact"
    assert elements(result) == [list(lanes) for lanes in expected]


def test_a_guard_around_a_short_loop_is_a_predicate() -> None:
    """Measured on matern-cuda: one warp of 25 gets through the guard, and all of them issue the three loads."""
    (result,) = results(evaluate("if (threadIdx.y == 0) for (int i = 0; i < 3; i++) a[3 * t + i] = 1;", (32, 25, 1)))
    assert (result.active_request_fraction, result.sectors_per_request) == (pytest.approx(1 / 25), 12)


def test_one_iteration_of_many_is_worse() -> None:
    (access,) = evaluate("for (int i = 0; i < 40; i++) a[t * (i == 1 ? 8 : 1)] = 1;").accesses
    assert {result.sectors_per_request: result.requests for result in access.results} == {4: 39, 32: 1}


def test_taps_of_a_filter_are_instructions_of_their_own() -> None:
    """Measured on a filter with 19 taps: 4.0 sectors where a tap is a multiple of 8 floats away, else 5.0."""
    kernel = evaluate("for (int f = 0; f < 19; f++) a[t] += b[t + 128 + f - 9];")
    (load,) = (access for access in kernel.accesses if access.array == "b")
    assert {result.sectors_per_request for result in load.results} == {4, 5}


# Measured on an H200 (nvcc 13.0, sm_90) as sectors per issued instruction. Of a row's 128 threads, 102 pass
# `i + 1 < n`: they touch 13 sectors in 4 warps, 13 / 4 = 3.25. Each block has 8 warps, of which one has `ty == 0`.
@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("if (ty == 0) { if (i + 1 < n) s[t] = b[p]; }", 3.25 / 8),
        ("if (ty == 0 || ty == 7) if (i + 1 < n) s[t] = b[p];", 3.25 / 4),
        ("if (ty == 0) { if (i + 1 < n) { if (i >= 0) s[t] = b[p]; } }", 3.25 / 8),
        # A branch stays a branch where something stands beside the inner one.
        ("if (ty == 0) { if (i + 1 < n) s[t] = b[p]; else s[t + 1] = 2; }", 3.25),
        ("if (ty == 0) { s[t + 40] = 2; if (i + 1 < n) s[t] = b[p]; }", 3.25),
    ],
)
def test_an_if_that_is_all_of_another_one_is_one_predicate_with_it(body: str, measured: float) -> None:
    places = "int ty = threadIdx.y, i = blockIdx.x * 32 + t, p = (blockIdx.x * 8 + ty) * 32 + t;"
    (result,) = results(evaluate(f"{places} {body}", (32, 8, 1), (4, 1, 1), "103, 7"), "b")
    assert result.sectors_per_request is not None and result.active_request_fraction is not None
    assert result.sectors_per_request * result.active_request_fraction == pytest.approx(measured)


@pytest.mark.parametrize(("op", "expected"), [("+", 2), ("-", 0)])
def test_comparisons_of_uniforms_count_as_integers(op: str, expected: int) -> None:
    graph = Graph()
    n, m = graph.uniform("n", 50), graph.uniform("m", 20)
    first, second = (graph.binary(">", x, graph.const(5), BOOL) for x in (n, m))
    assert number_of(graph, graph.binary(op, first, second, I4)) == expected


def test_a_difference_of_comparisons_of_unknown_arguments() -> None:
    (result,) = results(evaluate("a[(n > m) - (n < m) + t] = 1;", arguments="unknown, other"))
    assert result.active_lanes == 32


def test_a_choice_of_narrow_numbers_in_a_wide_type() -> None:
    """`(unsigned)(t < 4 ? (long long)t : (long long)n)` with n = -5."""
    graph = Graph()
    n, t = graph.uniform("n", -5, I4), graph.uniform("t", 31, U4)
    chosen = graph.select(
        graph.binary("<", t, graph.const(4), BOOL), graph.convert(t, I8), graph.convert(n, I8)
    )
    assert number_of(graph, graph.convert(chosen, U4)) == 2**32 - 5


def test_a_condition_on_a_variable_without_closed_form_is_not_exact() -> None:
    """`x` stays even, so that the store is never executed."""
    body = "int x = 4; for (int i = 0; i < t; i++) { if (x & 1) a[t] = 1; x = 4 * x + 2; }"
    assert [r.status for r in results(evaluate(body))] != ["exact"]


def test_both_halves_of_a_records_copy_stand_where_its_source_does() -> None:
    """The line table of nvcc 13.0 names the second line for the load and the store; for plain numbers it names both."""
    body = "int4* p = (int4*)a; p[t] =\n((int4*)b)[t];\na[t + 512] =\nb[t + 512];"
    kernel = evaluate(body)
    lines = [(access.operation, access.bytes, access.place.line) for access in kernel.accesses]
    first = kernel.place.line + 3
    assert lines == [
        ("load", 16, first + 1), ("store", 16, first + 1), ("store", 4, first + 2), ("load", 4, first + 3)
    ]  # fmt: skip

"""The worlds that are chosen show what each use asks for, and all satisfy the guards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from executing import kernel_in
from hypothesis import HealthCheck, given, settings, strategies
from msgspec.structs import replace
from random_cases import cases

from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import walk
from cudalint.worlds.choosing import MOST_WORLDS, Space, World, Worlds, choose, space_of
from cudalint.worlds.guards import Guards
from cudalint.worlds.needs import Need, Values
from cudalint.worlds.reach import reaching
from cudalint.worlds.records import Choice, Parameter, arguments
from cudalint.worlds.uses import Uses, uses_of

Numbers = dict[str, int]
QUIET = settings(
    max_examples=cases(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def _worlds(source: str, allows: Callable[[Numbers], bool] = lambda numbers: True, threads: int = 0) -> list[Numbers]:
    kernel = kernel_in(source)
    return _numbers(choose(_space(kernel, allows, threads=threads)))


def _space(
    kernel: ir.Function, allows: Callable[[Numbers], bool] | None = None,
    given: Mapping[Parameter, Choice] | None = None, threads: int = 0,
) -> Space:  # fmt: skip
    space = space_of(kernel, uses_of(kernel), given, threads)
    return space if allows is None else replace(space, conditions=_asking(allows))


def _asking(*allows: Callable[[Numbers], bool]) -> Callable[[Mapping[Parameter, Any]], Any]:
    """Conditions that are asked one world after the other."""

    def conditions(numbers: Mapping[Parameter, Any]) -> Any:
        worlds = [dict(zip(numbers, own, strict=True)) for own in zip(*numbers.values(), strict=True)] or [{}]
        return np.array([[each(_named(world)) for each in allows] for world in worlds], bool)

    return conditions


def _numbers(found: Worlds) -> list[Numbers]:
    assert len(found.why) == len(found.worlds) <= MOST_WORLDS
    return [_named(world) for world in found.worlds]


def _named(values: Values) -> Numbers:
    return {parameter.name: int(value) for parameter, value in values.items()}


def _some(worlds: Sequence[Numbers], *conditions: Callable[[Numbers], bool]) -> bool:
    """Whether there is a world for each of the conditions."""
    return all(any(condition(world) for world in worlds) for condition in conditions)


PRODUCT = """
    __global__ void k(float *a, const float *b, int n, int s, int K) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float sum = 0;
        for (int j = 0; j < K; j += 32) sum += b[i * s + j];
        a[i] = sum;
    }
"""


def test_bounds_are_small_and_large_and_strides_one_and_large() -> None:
    worlds = _worlds(PRODUCT, threads=2048)
    assert _some(worlds, lambda w: w["n"] < 32, lambda w: w["n"] >= 2 * 2048)
    assert _some(worlds, lambda w: w["s"] == 1, lambda w: w["s"] >= 32 and w["s"] % 32 == 0)
    assert _some(worlds, lambda w: w["s"] > 32 and w["s"] % 2 == 1)
    # One turn, and several.
    assert _some(worlds, lambda w: w["K"] <= 32, lambda w: w["K"] > 32)
    # However many threads there are, an array can be larger.
    assert _some(_worlds(PRODUCT, threads=500_000), lambda w: w["n"] >= 1_000_000)


def test_numbers_are_told_apart() -> None:
    worlds = _worlds(PRODUCT)
    for one, other in itertools.permutations(("n", "s", "K"), 2):
        assert any(a[one] == b[one] and a[other] != b[other] for a, b in itertools.combinations(worlds, 2))


def test_a_product_of_bounds_is_still_an_int() -> None:
    worlds = _worlds(
        """__global__ void k(float *a, int n, int m, int l) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n * m * l * l) a[i] = 0;
        }""",
        threads=100_000,
    )
    assert all(w["n"] * w["m"] * w["l"] ** 2 < 2**31 for w in worlds)
    assert _some(worlds, lambda w: w["n"] < 32, lambda w: w["n"] >= 64, lambda w: w["l"] < 32, lambda w: w["l"] >= 64)


def test_one_factor_may_hide_what_another_leaves() -> None:
    def rest(values: Values) -> Any:
        return values["a"] * values["b"] % 128  # type: ignore[index]

    about: Any = ("product",)
    needs = [Need("whole", about, lambda v: rest(v) == 0), Need("left", about, lambda v: rest(v) != 0)]
    found = choose(Space({"a": [4864, 384, 385], "b": [2944, 384, 385]}, needs))
    assert not found.missing
    assert {"a": 385, "b": 385} in found.worlds


def test_windows_are_small() -> None:
    worlds = _worlds(
        """__global__ void k(float *a, int width, int size, int by) {
            int wide = (width - size) / by + 1;
            for (int d = 0; d < size; d++) a[threadIdx.x * by + d + wide] = 0;
        }"""
    )
    assert all(w["size"] < 32 and w["by"] < 32 for w in worlds)
    assert _some(worlds, lambda w: w["by"] == 1, lambda w: w["by"] > 1, lambda w: w["width"] >= 32)


def test_a_stride_alone_is_looked_at_closely() -> None:
    worlds = _worlds("__global__ void k(float *a, int s) { a[threadIdx.x * s] = 0; }")
    large = [w["s"] for w in worlds if w["s"] > 32]
    for unit in (4, 8, 16):
        assert any(s % (2 * unit) == unit for s in large)


def test_multiples_and_others_of_each_divisor() -> None:
    worlds = _worlds(
        """__global__ void k(float *a, int n, int m) {
            a[threadIdx.x] = n % 4 + n / 6 + (m & 15);
            if (m % n == 0) a[1] = 0;
        }"""
    )
    for divisor in (4, 6):
        assert _some(worlds, lambda w, d=divisor: w["n"] % d == 0, lambda w, d=divisor: w["n"] % d != 0)  # type: ignore[misc]
    assert _some(worlds, lambda w: w["n"] % 4 == 0 and w["n"] % 6 != 0, lambda w: w["n"] % 6 == 0 and w["n"] % 4 != 0)
    assert _some(worlds, lambda w: w["m"] % 16 == 0, lambda w: w["m"] % 16 != 0)
    assert _some(worlds, lambda w: w["m"] % w["n"] == 0, lambda w: w["m"] % w["n"] != 0)


def test_flags_go_both_ways_and_limits_too() -> None:
    worlds = _worlds(
        """__global__ void k(float *a, bool on, int mode, int kind, int least, int by) {
            int i = threadIdx.x;
            if (on) a[i] = 0;
            if (mode == 3) a[i] = 1;
            switch (kind) { case 1: a[i] = 2; break; case 5: a[i] = 3; }
            a[i << by] = least > 16 ? 1 : 2;
        }"""
    )
    assert {w["on"] for w in worlds} == {0, 1}
    assert _some(worlds, lambda w: w["mode"] == 3, lambda w: w["mode"] != 3)
    assert _some(worlds, lambda w: w["kind"] == 1, lambda w: w["kind"] == 5, lambda w: w["kind"] not in (1, 5))
    assert _some(worlds, lambda w: w["least"] == 16, lambda w: w["least"] == 17)
    assert _some(worlds, lambda w: w["by"] == 0, lambda w: w["by"] > 0)
    assert all(0 <= w["by"] < 32 for w in worlds)


def test_strides_in_bytes_are_whole_elements() -> None:
    worlds = _worlds(
        """__global__ void k(const char *a, float *b, long nb) {
            b[threadIdx.x] = *(const float *)(a + threadIdx.x * nb);
        }"""
    )
    assert all(w["nb"] % 4 == 0 for w in worlds)
    assert _some(worlds, lambda w: w["nb"] == 4, lambda w: w["nb"] % 128 == 0 and w["nb"], lambda w: w["nb"] % 128 != 0)


def test_values_fit_their_types() -> None:
    worlds = _worlds("__global__ void k(float *a, unsigned char n) { for (int i = 0; i < n; i++) a[i] = 0; }")
    assert worlds and all(0 <= w["n"] < 256 for w in worlds)


def test_what_is_given_stays() -> None:
    kernel = kernel_in(PRODUCT)
    own = Parameter(kernel.parameters[3])
    found = choose(_space(kernel, given={own: Choice(7, "given")}))
    assert {world[own] for world in found.worlds} == {7}
    assert len(found.worlds) > 1


def test_where_nothing_is_open_there_is_one_world() -> None:
    assert _worlds("__global__ void k(float *a) { a[threadIdx.x] = 0; }") == [{}]


@pytest.mark.parametrize(
    "allows",
    [
        lambda w: w["n"] == w["s"],
        lambda w: w["n"] == w["s"] == w["K"],
        lambda w: w["K"] % 4 == 0 and w["s"] >= w["K"],
        lambda w: w["n"] < 100 and w["s"] == 1,
        lambda w: (w["n"] + w["s"]) % 2 == 1,
    ],
)
def test_guards_hold_in_all_worlds_and_leave_several(allows: Callable[[Numbers], bool]) -> None:
    worlds = _worlds(PRODUCT, allows)
    assert all(allows(world) for world in worlds)
    assert len(worlds) > 1 and len({tuple(world.values()) for world in worlds}) == len(worlds)


def test_two_numbers_that_guards_bind_change_together() -> None:
    worlds = _worlds(PRODUCT, lambda w: (w["n"] < 100) != (w["K"] < 100))
    assert _some(worlds, lambda w: w["n"] < 100 <= w["K"], lambda w: w["K"] < 100 <= w["n"])


def test_a_condition_that_nothing_satisfies_is_left_out_and_no_other() -> None:
    kernel = kernel_in(PRODUCT)
    conditions = _asking(lambda w: w["n"] % 4 == 3, lambda w: False, lambda w: w["s"] > 3)
    found = choose(replace(_space(kernel), conditions=conditions))
    assert found.broken == (0, 1) or found.broken == (1,)
    assert len(found.worlds) > 1 and all(w["s"] > 3 for w in _numbers(found))


_CONDITIONS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from("nsK"), strategies.sampled_from(("<", "<=", ">", ">=", "==", "!=", "%")),
        strategies.integers(0, 40),
    ),
    min_size=1, max_size=3,
)  # fmt: skip


@QUIET
@given(_CONDITIONS, strategies.sampled_from(("and", "or")))
def test_every_world_satisfies_the_guards(conditions: list[tuple[str, str, int]], joined: str) -> None:
    texts = [
        f"{name} % {number + 1} == 0" if op == "%" else f"{name} {op} {number}" for name, op, number in conditions
    ]
    text = f" {joined} ".join(texts)

    def allows(numbers: Mapping[str, int]) -> bool:
        return bool(eval(text, {}, dict(numbers)))

    space = _space(kernel_in(PRODUCT), allows)
    first, again = choose(space), choose(space)
    assert first.broken or all(allows(world) for world in _numbers(first))
    assert first.worlds == again.worlds
    if first.broken:
        # The numbers that are tried satisfy them nowhere.
        tried = itertools.product(*space.tried.values())
        assert not any(allows(_named(dict(zip(space.tried, own, strict=True)))) for own in tried)


def test_guards_of_the_source() -> None:
    kernel = kernel_in(
        """
        struct P { int n; int m; };
        __global__ void k(float *a, P p, int K, const int *data) {
            if (p.n % 4 == 0 && p.m > K) a[0] = 0;
            if (K == 5) a[1] = 0;
            if (data[0] == 3) a[2] = 0;
        }"""
    )
    both, single, data = (node.condition for node in walk(kernel.body) if isinstance(node, st.If))
    program = Program()
    p, least = kernel.parameters[1:3]
    values = {Parameter(p, ("n",)): 8, Parameter(p, ("m",)): 7, Parameter(least): 6}

    def holds(condition: ir.Expr, wanted: bool = True, **changed: int) -> bool:
        named = {q: changed.get(q.name.rpartition(".")[2], value) for q, value in values.items()}
        return bool(Guards([(condition, wanted)], kernel, program)(named).all())

    assert holds(both) and not holds(both, n=9) and not holds(both, m=6)
    assert not holds(both, False) and holds(both, False, m=6)
    assert holds(single, K=5) and not holds(single)
    # Nobody knows what memory holds.
    assert holds(data) and holds(data, False)
    space = replace(_space(kernel), conditions=Guards([(both, True)], kernel, program))
    worlds = _numbers(choose(space))
    assert all(w["p.n"] % 4 == 0 and w["p.m"] > w["K"] for w in worlds)
    assert {w["K"] == 5 for w in worlds} == {True, False}


# --- what is reached -------------------------------------------------------------------------------


def _reaching(source: str, allows: Callable[[Numbers], bool] | None = None) -> tuple[Worlds, set[int], int]:
    """The worlds, the lines of the kernel that are reached in them, and how often it was executed."""
    kernel, executed = kernel_in(source), 0

    def execute(worlds: Sequence[World]) -> Trace:
        nonlocal executed
        executed += 1
        lanes = Lanes((64, 1, 1), [[1] * len(worlds), 1, 1], [(0, 0, 0)])
        return Machine(lanes, Program()).run(kernel, arguments(worlds))

    space = _space(kernel, allows)
    worlds = reaching(choose(space), space, Uses(kernel), execute)
    spent = executed
    lines = {event.node.span.line for event in execute(worlds.worlds).accesses}
    return worlds, lines, spent


def test_what_two_numbers_decide_is_reached() -> None:
    source = """
        __global__ void k(float *a, int p, int q, int r, int s, int t, int u, int v, int w) {
            if (p == 3 && q != 4 && r == 5 && s != 6 && t == 7 && u != 8 && v == 9 && w != 9)
                a[threadIdx.x] = 1;
            a[threadIdx.x] = 2;
        }
    """
    worlds, lines, spent = _reaching(source)
    assert lines == {4, 5} and len(worlds.worlds) <= MOST_WORLDS and spent <= 3
    assert worlds.missing == ()


def test_a_world_that_reaches_what_no_other_does_stays() -> None:
    kernel = kernel_in(
        """
        __global__ void k(float *a, int p, int q) {
            if (p == 3)
                a[threadIdx.x] = 1;
            if (q == 4)
                a[threadIdx.x] = 2;
        }"""
    )
    p, q = (Parameter(symbol) for symbol in kernel.parameters[1:])

    def execute(worlds: Sequence[World]) -> Trace:
        lanes = Lanes((32, 1, 1), [[1] * len(worlds), 1, 1], [(0, 0, 0)])
        return Machine(lanes, Program()).run(kernel, arguments(worlds))

    usual, other = ({p: number, q: 0} for number in (0, 3))
    space, uses = _space(kernel), Uses(kernel)
    found = reaching(Worlds((usual, other), ("usual", ""), 1, ()), space, uses, execute, most=2)
    assert found.worlds == (usual, other) and found.needed == 2
    assert found.missing == ("line 6 is reached",)
    more = reaching(Worlds((usual, other), ("usual", ""), 1, ()), space, uses, execute, most=3)
    assert more.missing == () and len(more.worlds) == 3


def test_what_is_behind_an_early_return_is_reached() -> None:
    source = """
        __device__ void store(float *a, int i, int mode) {
            if (mode == 9)
                a[i] = 1;
        }
        __global__ void k(float *a, int n, int m, int mode) {
            if (n % 4 != 0 || m % 7 != 3) return;
            store(a, threadIdx.x, mode);
        }
    """
    _, lines, _ = _reaching(source, lambda w: w["m"] % 2 == 0 or w["n"] == 1028)
    assert lines == set()
    worlds, lines, _ = _reaching(source.replace("m % 7 != 3", "m < 10"))
    assert lines == {4}
    assert any(w["n"] % 4 == 0 and w["m"] >= 10 and w["mode"] == 9 for w in _numbers(worlds))


def test_what_the_guards_exclude_is_told_to_be_missing() -> None:
    source = """
        __global__ void k(float *a, int mode) {
            if (mode == 3)
                a[threadIdx.x] = 1;
            a[threadIdx.x] = 2;
        }
    """
    worlds, lines, _ = _reaching(source, lambda w: w["mode"] != 3)
    assert lines == {5} and "line 4 is reached" in worlds.missing
    assert all(w["mode"] != 3 for w in _numbers(worlds))
    worlds, lines, spent = _reaching(source)
    assert lines == {4, 5} and worlds.missing == () and spent == 1


def test_many_numbers_end_the_search() -> None:
    names = [f"s{number}" for number in range(40)]
    index = " + ".join(f"{name} * threadIdx.x" for name in names)
    source = f"""
        __global__ void k(float *a, {", ".join(f"int {name}" for name in names)}, int mode) {{
            if ({" + ".join(names)} == -1 && threadIdx.x < s0)
                a[{index}] = mode;
            a[threadIdx.x] = 2;
        }}
    """
    assert len(_worlds(source, lambda w: False)) <= MOST_WORLDS
    worlds, lines, spent = _reaching(source)
    assert lines == {5} and spent <= 3 and "line 4 is reached" in worlds.missing

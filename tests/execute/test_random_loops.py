"""Random nests of loops, executed with and without leaving turns out."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loops_compared import EXACT, SAMPLED, check, kernel
from random_cases import cases

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")

QUIET = settings(
    max_examples=cases(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


class Nest(NamedTuple):
    body: str
    n: int
    m: int


class _Maker:
    """Draws one kernel's loops."""

    def __init__(self, draw: st.DrawFn, deepest: int) -> None:
        self.draw, self.deepest = draw, deepest
        self.names = 0
        self.counters: list[str] = []
        """Loops' variables in sight."""

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def factor(self) -> str:
        return self.of("1", "2", "8", "32", "m", "64", "33")

    def address(self) -> str:
        terms = [f"{c} * {self.factor()}" for c in self.counters if self.number(0, 3)]
        terms.append(self.of("t", "t", "t * 3", "t * m", "t / 4", "0"))
        return " + ".join(terms)

    def bent(self) -> str:
        """Of a counter, what is not affine."""
        counter = self.of(*self.counters)
        remainders = (f"{counter} % 4", f"({counter} & 7)")
        return self.of(*remainders, f"{counter} / 8", f"({counter} >> 4)", f"min({counter}, 40)")

    def access(self) -> str:
        if self.number(0, 4) == 0:
            return f"s[(({self.address()} + 64 * ({self.bent()})) & 4095)] = 1;"
        return self.of("sink += a[{}];", "sink += b[{}];", "sink += c[{}];", "sink += s[({}) & 4095];").format(
            self.address() if self.number(0, 3) else f"{self.address()} + 8 * ({self.bent()})"
        )

    def condition(self) -> str:
        counter = self.of(*self.counters)
        return self.of(
            f"{counter} % {self.number(2, 9)} == 1", f"{counter} < {self.number(1, 120)}", f"t < {self.number(1, 64)}",
            f"{counter} == {self.number(0, 90)}", f"{counter} * 2 + t < 150", f"({counter} & 3) < 2",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        kind = self.number(0, 9)
        if kind <= 3:
            return self.access()
        if kind == 4:
            return f"if ({self.condition()}) {{ {self.access()} }} else {{ {self.access()} }}"
        if kind == 5:
            return f"if ({self.condition()}) {self.of('continue', 'continue', 'break')};"
        if kind == 6:
            return "p ^= 1; sink += s[p * 128 + t];"
        if kind == 7:
            return f"q += {self.factor()}; sink += *q;"
        if kind == 8:
            return "__syncthreads();"
        return self.loop(depth + 1) if depth < self.deepest else self.access()

    def bound(self, depth: int) -> str:
        if depth == 1:
            return self.of("n", "n", "n", "100", "n - t / 32 * 40", "n * (1 + (int)blockIdx.x)")
        outer = self.of(*self.counters)
        return self.of("8", "16", "m", "t % 5", f"{outer} + 1", f"min({outer}, 12)")

    def loop(self, depth: int) -> str:
        self.names += 1
        i, bound = f"i{self.names}", self.bound(depth)
        head = self.of(
            f"for (int {i} = 0; {i} < {bound}; ++{i})", f"for (int {i} = t % 4; {i} < {bound}; {i} += 3)",
            f"for (int {i} = {bound}; {i} > 0; --{i})", f"for (unsigned {i} = 0; {i} < {bound}; {i} += 2)",
        )  # fmt: skip
        self.counters.append(i)
        body = " ".join(self.statement(depth) for _ in range(self.number(1, 3)))
        body += " " + self.access()
        self.counters.remove(i)
        return f"{head} {{ {body} }}"


@st.composite
def nests(draw: st.DrawFn, deepest: int) -> Nest:
    maker = _Maker(draw, deepest)
    loops = " ".join(maker.loop(1) for _ in range(maker.number(1, 2)))
    body = f"int p = 0; float* q = a + t; {loops} a[p] = *q;"
    return Nest(body, maker.number(40, 220), draw(st.sampled_from((1, 5, 7, 16, 30))))


@QUIET
@given(nests(1))
def test_single_loops_are_exact(nest: Nest) -> None:
    check(kernel(nest.body), {"n": nest.n, "m": nest.m}, EXACT)


@QUIET
@given(nests(2))
def test_nests(nest: Nest) -> None:
    check(kernel(nest.body), {"n": nest.n, "m": nest.m}, SAMPLED)


@QUIET
@given(nests(1), st.integers(40, 220))
def test_worlds(nest: Nest, other: int) -> None:
    check(kernel(nest.body), {"n": [nest.n, other], "m": [nest.m, 3]}, EXACT, worlds=2)

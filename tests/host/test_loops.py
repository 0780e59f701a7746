"""Loops of host code: which of them are followed to their end, and which are left after a few iterations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.host.executor import choices
from cudalint.host.executor.code import Outside
from cudalint.host.executor.execution import Execution
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.launching import Found
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.roots import run_host
from cudalint.host.values.evaluation import number_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
#include <cstdlib>
#include <random>
__global__ void k(float *a, int n) { a[threadIdx.x] = n; }
"""
_FEW = 60
"""Statements: less than a loop takes that is followed for as long as loops are."""


def _run(tmp_path: Path, main: str) -> Found:
    source = tmp_path / "a.cu"
    source.write_text(_KERNEL + "int main(int argc, char **argv) {\n" + main + "\n}\n")
    return _executed(source)


def _executed(source: Path, graph: Graph | None = None) -> Found:
    unit = Listing(parse_file(str(source), ParseOptions())).unit()
    graph = Graph() if graph is None else graph
    alone = Outside({}, lambda ref: None, lambda path: None)
    return run_host(graph, unit.host_functions, Generics(graph), {}, alone, ())


@pytest.mark.parametrize(
    "loop",
    [
        # The generator is a record, and what happens to records may matter.
        "std::mt19937 g(1); for (int i = 0; i < n; i++) x[i] = g();",
        "std::mt19937 g(1); int i; for (i = 0; i < n; ++i) { x[i] = g(); }",
        # What is declared within does not live on.
        "for (int i = 0; i < n; i++) { dim3 block(i); k<<<1, 64>>>(x, 1); }",
        "dim3 last; for (int i = 0; i < n; i++) { last.x += 1; k<<<1, 64>>>(x, 1); }",
    ],
)
@pytest.mark.parametrize("size", ["100000", "argc > 1 ? atoi(argv[1]) : 100000"])
def test_a_loop_that_is_too_long_is_left_early(loop: str, size: str, tmp_path: Path) -> None:
    found = _run(tmp_path, f"int n = {size}; float *x; cudaMalloc(&x, 4 * n); {loop} k<<<1, 128>>>(x, n);")
    assert found.launches
    assert found.statements < _FEW


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for (m = 4096; m > 1; m /= 2) n++;", 12),
        # Nothing tells by what the loop counts how long it is.
        ("int i; for (m = 4096, i = 0; m > 1; m /= 2, i++) n += 2;", 24),
        ("for (int i = 0; m > 1; i++) { m /= 2; n = i; }", 9),
        ("int i; for (i = 0; i < 100; i++) { } n = i;", 100),
        ("for (int i = 0; i < 40; i++) { n += 3; k<<<1, 64>>>(x, 1); }", 120),
    ],
)
def test_what_a_short_loop_leaves(loop: str, expected: int, tmp_path: Path) -> None:
    found = _run(tmp_path, f"int n = 0, m = 1024; float *x; cudaMalloc(&x, 4); {loop} k<<<1, 128>>>(x, n);")
    number = found.launches[-1].arguments[1]
    assert isinstance(number, Node)
    assert number.is_const and number.value == expected


@pytest.mark.parametrize(
    ("loop", "block", "small"),
    [
        ("int t = 256; while (t > n) t /= 2;", 256, 32),
        ("int t = 1024; for (; n < t; t >>= 1) { }", 1024, 32),
        ("int t = 32; while (t < n && t < 512) t *= 2;", 512, 64),
        ("int t = 32, rows = 16; while (t < n && rows > 1) { t *= 2; rows /= 2; }", 512, 64),
    ],
)
def test_a_loop_that_chooses_a_block_by_a_size(loop: str, block: int, small: int, tmp_path: Path) -> None:
    """Of a large size and of one of 40."""
    source = tmp_path / "a.cu"
    source.write_text(_KERNEL + f"void run(float *x, int n) {{ {loop} k<<<(n + t - 1) / t, t>>>(x, n); }}\n")
    (kernel,) = analyse_file(str(source), AnalysisOptions()).kernels
    (launch,) = kernel.launches
    assert launch.block == (block, 1, 1)
    assert launch.assumptions == (f"block = {block} (the launch has another one for small sizes)",)
    graph = Graph()
    made = _executed(source, graph).launches[0]
    size = made.arguments[1]
    assert isinstance(size, Node)
    assert [number_of(graph, extent, {size: 40}) for extent in made.block] == [small, 1, 1]


def test_a_loop_around_another_is_no_choice_among_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it counts would be gone through step by step, again in each of the loops around it."""
    looked: list[int] = []
    steps = choices._steps

    def noted(ex: Execution, parts: LoopParts, *others: Any) -> Any:
        looked.append(parts.span.line)
        return steps(ex, parts, *others)

    monkeypatch.setattr(choices, "_steps", noted)
    nested = "for (int j = 0; j < n; ++j)\n for (int i = 0; i <= j; ++i) if (i < n) count += 2;\n"
    _run(tmp_path, f"int n = argc > 1 ? atoi(argv[1]) : 8; int count = 0;\n{nested} k<<<1, 128>>>(nullptr, count);")
    first = _KERNEL.count("\n") + 3
    assert set(looked) == {first + 1}

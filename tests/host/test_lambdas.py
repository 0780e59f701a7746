"""Lambdas of host code that launch kernels and that nothing in sight calls."""

from __future__ import annotations

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
#include <functional>
#include <string>
#include <vector>
__global__ void k(float *x) { x[threadIdx.x] = 0; }
struct Test { std::string name; std::function<void()> launch; };
void elsewhere(const std::function<void(int)> &launch);
void at_once(const std::function<void()> &launch) { launch(); }
int main(int argc, char **argv) {
    float *x;
    int size = 96;
    std::vector<Test> tests;
    %s
    for (auto &test : tests) test.launch();
}
"""


def _launches(statements: str) -> list[LaunchFacts]:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _SOURCE % statements),)))
    return list(facts.kernels[0].launches)


@pytest.mark.parametrize(
    "statements",
    [
        'tests.push_back({"one", [&]() { k<<<1, size>>>(x); }});',
        'tests.emplace_back(Test{"two", [&]() { dim3 block(size); k<<<1, block>>>(x); }});',
        'Test three{"three", [&]() { k<<<1, size>>>(x); }}; three.launch();',
        'if (argc > 1) { int threads = 2 * size - 96; tests.push_back({"four", [=]() { k<<<1, threads>>>(x); }}); }',
        "auto five = [&]() { k<<<1, size>>>(x); }; at_once(five); elsewhere([&](int) { five(); });",
        "at_once([&]() { k<<<1, size>>>(x); });",
    ],
)
def test_its_launch_is_made(statements: str) -> None:
    assert [(launch.block, launch.source) for launch in _launches(statements)] == [((96, 1, 1), "launch-site")]


def test_what_it_does_to_variables_is_not_done() -> None:
    """Nobody knows whether, and when, it is called."""
    later = "elsewhere([&](int) { size = 32; k<<<1, size>>>(x); }); k<<<2, size>>>(x);"
    assert [(launch.block[0], launch.grid[0]) for launch in _launches(later)] == [(96, 2), (32, 1)]


def test_a_loop_makes_the_first_of_several() -> None:
    (launch,) = _launches("for (int i = 1; i < 4; i++) elsewhere([&, i](int) { k<<<i, size>>>(x); });")
    assert launch.grid[0] == 1


def test_its_parameters_are_unknown() -> None:
    (launch,) = _launches("elsewhere([&](int blocks) { k<<<blocks, size>>>(x); });")
    assert launch.block == (96, 1, 1) and launch.grid[0] > 1

"""Lists of sizes in host code: vectors that are given their elements in braces."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
#include <cstdlib>
#include <string>
#include <vector>
__global__ void k(float *x, int n) { x[threadIdx.x * n] = 0; }
struct Shape { int rows, columns; };
void read(std::vector<int> &sizes);
const std::vector<int> global = {32, 96};
int main(int argc, char **argv) {
    std::vector<int> sizes = {32, 64};
    %s
}
"""


def _blocks(statements: str) -> list[int | None]:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _SOURCE % statements),)))
    return [None if launch.block_is_made_up else launch.block[0] for launch in facts.kernels[0].launches]


@pytest.mark.parametrize(
    ("statements", "blocks"),
    [
        ("for (int n : sizes) k<<<1, n>>>(0, 1);", [32, 64]),
        ("for (const auto &n : sizes) k<<<1, n>>>(0, 1);", [32, 64]),
        ("for (size_t i = 0; i < sizes.size(); i++) k<<<1, sizes[i]>>>(0, 1);", [32, 64]),
        ("k<<<1, sizes.at(1)>>>(0, 1);", [64]),
        ("k<<<1, sizes.front()>>>(0, 1);", [32]),
        ("k<<<1, sizes[sizes.size() - 1]>>>(0, 1);", [64]),
        ("for (int n : global) k<<<1, n>>>(0, 1);", [32, 96]),
        ("auto three = {96, 128, 160}; for (int n : three) k<<<1, n>>>(0, 1);", [96, 128, 160]),
        ("sizes.push_back(96); for (int n : sizes) k<<<1, n>>>(0, 1);", [32, 64, 96]),
        ("std::vector<Shape> all{{2, 32}, {3, 64}}; for (auto &s : all) k<<<s.rows, s.columns>>>(0, 1);", [32, 64]),
        # Without options the program is run with its own sizes.
        ("if (argc > 1) { sizes.clear(); sizes.push_back(9); } for (int n : sizes) k<<<1, n>>>(0, 1);", [32, 64]),
    ],
)
def test_each_element_is_a_launch(statements: str, blocks: list[int]) -> None:
    assert _blocks(statements) == blocks


@pytest.mark.parametrize(
    "change",
    ["sizes.resize(9);", "read(sizes);", "sizes = std::vector<int>(9);", "sizes.pop_back();", "sizes.clear();"],
)
def test_what_changes_a_list_makes_it_unknown(change: str) -> None:
    assert _blocks(f"{change} for (int n : sizes) k<<<1, n>>>(0, 1);") == [None]


def test_an_element_that_is_not_there_is_unknown() -> None:
    assert _blocks("k<<<1, sizes[2]>>>(0, 1);") == [None]


@pytest.mark.parametrize("parameter", ["const std::vector<int> &", "std::vector<int> ", "std::vector<int> &&"])
def test_a_list_is_handed_on(parameter: str) -> None:
    each = f"void each({parameter}sizes) {{ for (int n : sizes) k<<<1, n>>>(0, 1); }}"
    source = _SOURCE.replace("int main", f"{each}\nint main") % "each(std::move(sizes));"
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    assert [launch.block[0] for launch in facts.kernels[0].launches] == [32, 64]


def test_long_lists_are_data() -> None:
    assert _blocks(f"std::vector<int> data = {{{', '.join(['32'] * 65)}}}; k<<<1, data[0]>>>(0, 1);") == [None]

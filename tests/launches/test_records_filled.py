"""Records that long functions fill, of other files as well: what they are constructed with, and what options set."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_HEADER = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Options { int its, side, regions, cost; };
void parse(int argc, char** argv, Options* options);
struct Grid {
    Grid(int side, int extra);
    int& count() { return m_count; }
    int m_side, m_count;
    double* m_cells;
};
"""
_FILLER = "\n".join(f"    m_cells[{i}] = m_cells[{i + 1}] * {i} + m_cells[{i + 2}];" for i in range(60))
_PARTS = """
#include "parts.h"
static int to_int(const char* text, int* number) {
    char* end;
    *number = (int)strtol(text, &end, 10);
    return end != text;
}
void parse(int argc, char** argv, Options* options) {
    int i = 1;
    while (i < argc) {
        int ok = 1;
        if (strcmp(argv[i], "-i") == 0) { ok = to_int(argv[i + 1], &(options->its)); i += 2; }
        else if (strcmp(argv[i], "-r") == 0) { ok = to_int(argv[i + 1], &(options->regions)); i += 2; }
        else if (strcmp(argv[i], "-c") == 0) { ok = to_int(argv[i + 1], &(options->cost)); i += 2; }
        else if (strcmp(argv[i], "-s") == 0) { ok = to_int(argv[i + 1], &(options->side)); i += 2; }
        else if (strcmp(argv[i], "-q") == 0) { printf("quiet\\n"); i++; }
        else { printf("unknown option %s\\n", argv[i]); exit(1); }
        if (!ok) { printf("a number is expected after %s\\n", argv[i]); exit(1); }
    }
}
Grid::Grid(int side, int extra) : m_side(side + extra) {
    m_count = m_side * m_side;
    m_cells = new double[count()];
    for (int i = 0; i < count(); i++) m_cells[i] = 0;
""" + _FILLER + "\n}\n"  # fmt: skip
_MAIN = """
#include "parts.h"
__global__ void k(double* a, int n) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) a[i] = 1; }
int main(int argc, char** argv) {
    Options options;
    options.its = 10; options.side = 30; options.regions = 11; options.cost = 1;
    parse(argc, argv, &options);
    MAKE
    int n = grid->count();
    k<<<(n + 127) / 128, 128>>>(0, n);
}
"""


@pytest.mark.parametrize(
    "make", ["Grid* grid = new Grid(options.side, 0);", "Grid own(options.side, 0), *grid = &own;"]
)
@pytest.mark.parametrize(("run", "side"), [("./main -i 2 -r 4 -c 3 -s 64", 64), ("./main -q", 30), (None, 30)])
def test_options_and_objects_of_other_files(tmp_path: Path, make: str, run: str | None, side: int) -> None:
    """side * side threads in blocks of 128; the default of 30 where the program is run without the option, or where
    nothing says how it is run."""
    (tmp_path / "parts.h").write_text(_HEADER)
    (tmp_path / "parts.cu").write_text(_PARTS)
    (tmp_path / "main.cu").write_text(_MAIN.replace("MAKE", make))
    if run is not None:
        (tmp_path / "Makefile").write_text(f"main: main.cu parts.cu\n\tnvcc $^ -o $@\nrun: main\n\t{run}\n")
    assert _launch(tmp_path / "main.cu").grid == (-(-side * side // 128), 1, 1)


def _launch(path: Path) -> LaunchFacts:
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    [launch] = kernel.launches
    return launch

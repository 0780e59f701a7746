"""Sizes that a program takes from its command line, where the Makefile beside it says how it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.analysis import analyse_file
from cudalint.facts import AccessResult, KernelFacts, LaunchFacts
from cudalint.options import AnalysisOptions

_KERNEL = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <getopt.h>
#include <unistd.h>
__global__ void k(float *a, int n, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i * pitch] = 1;
}
"""
_RUN = "k<<<(n + b - 1) / b, b>>>(0, n, pitch);"


def _kernel(folder: Path, main: str, arguments: str) -> KernelFacts:
    (folder / "main.cu").write_text(_KERNEL + main)
    (folder / "Makefile").write_text(f"main: main.cu\n\tnvcc $< -o $@\nrun: main\n\t./main {arguments}\n")
    return analyse_file(str(folder / "main.cu"), AnalysisOptions()).kernels[0]


def _launch(folder: Path, main: str, arguments: str) -> LaunchFacts:
    (launch,) = _kernel(folder, main, arguments).launches
    return launch


def _result(folder: Path, main: str, arguments: str) -> AccessResult:
    (access,) = _kernel(folder, main, arguments).accesses
    (result,) = access.results
    return result


@pytest.mark.parametrize(
    "reading",
    [
        "int n = atoi(argv[1]), b = atoi(argv[2]), pitch = atoi(argv[3]);",
        "int n = strtol(argv[1], NULL, 10), b = strtoul(argv[2], 0, 0), pitch = std::stoi(argv[3]);",
        'int n, b, pitch; sscanf(argv[1], "%d", &n); sscanf(argv[2], "%d", &b); sscanf(argv[3], "%d", &pitch);',
        "int n = atof(argv[1]); int b = atoi(*(argv + 2)), pitch = atoi(argv[3]);",
        "int n = 10, b = 128, pitch = 1; if (argc > 1) n = atoi(argv[1]); if (argc == 4) { b = atoi(argv[2]);"
        " pitch = atoi(argv[3]); }",
        "int n = argc > 1 ? atoi(argv[1]) : 10, b = argc < 3 ? 128 : atoi(argv[2]), pitch = atoi(argv[3]);",
        "if (argc != 4) { printf(\"usage\"); return 1; } int n = atoi(argv[1]), b = atoi(argv[2]), pitch = atoi(argv[3]);",
    ],
)
def test_numbers_by_their_positions(tmp_path: Path, reading: str) -> None:
    """4000 threads in blocks of 64 are 63 blocks; with rows of 5 floats, the 32 lanes of a warp touch
    (31 * 20 + 4) / 32 = 19.5, so 20 sectors where the row begins at a sector's start: 32 * 20 is a multiple of 32."""
    main = "int main(int argc, char **argv) { %s %s }" % (reading, _RUN)
    kernel = _kernel(tmp_path, main, "4000 64 5")
    (launch,) = kernel.launches
    assert (launch.block, launch.grid) == ((64, 1, 1), (63, 1, 1))
    [result] = kernel.accesses[0].results
    assert result.sectors_per_request == 20


_OPTIONS = {
    "getopt": (
        'int c; while ((c = getopt(argc, argv, "s:b:p:v")) != -1) switch (c) {'
        "case 's': n = atoi(optarg); break; case 'b': b = atoi(optarg); break; case 'p': pitch = atoi(optarg); break;"
        "default: break; }",
        "-v -s 4000 -b64 -p 5",
    ),
    "getopt_long": (
        'static struct option long_[] = {{"size", required_argument, 0, \'s\'}, {"block", required_argument, 0, \'b\'},'
        '{"quiet", no_argument, 0, \'q\'}, {0, 0, 0, 0}}; int c;'
        'while ((c = getopt_long(argc, argv, "s:b:p:", long_, NULL)) != -1) {'
        "if (c == 's') n = atoi(optarg); else if (c == 'b') b = atoi(optarg); else if (c == 'p') pitch = atoi(optarg); }",
        "--quiet --size 4000 --block=64 -p 5",
    ),
    "letters": (
        "for (int i = 1; i < argc; i++) if (argv[i][0] == '-') { if (argv[i][1] == 's') n = atoi(argv[++i]);"
        "else if (argv[i][1] == 'b') b = atoi(argv[++i]); else if (argv[i][1] == 'p') pitch = atoi(argv[i] + 2); }",
        "-s 4000 -b 64 -p5",
    ),
    "words": (
        'for (int i = 1; i < argc; i++) { if (!strcmp(argv[i], "--size")) n = atoi(argv[++i]);'
        'else if (strncmp(argv[i], "--block=", 8) == 0) b = atoi(argv[i] + strlen("--block="));'
        'else if (std::string(argv[i]) == "-p") { i++; pitch = atoi(argv[i]); } }',
        "--size 4000 --block=64 -p 5",
    ),
}


@pytest.mark.parametrize("how", list(_OPTIONS))
def test_options(tmp_path: Path, how: str) -> None:
    reading, arguments = _OPTIONS[how]
    main = "int main(int argc, char **argv) { int n = 10, b = 128, pitch = 1; %s %s }" % (reading, _RUN)
    launch = _launch(tmp_path, main, arguments)
    assert (launch.block, launch.grid) == ((64, 1, 1), (63, 1, 1))
    assert "b == 64 (Makefile:4)" in launch.assumptions


def test_an_option_that_is_not_given_keeps_its_default(tmp_path: Path) -> None:
    reading = _OPTIONS["getopt"][0]
    main = "int main(int argc, char **argv) { int n = 10, b = 128, pitch = 1; %s %s }" % (reading, _RUN)
    launch = _launch(tmp_path, main, "-s 4000")
    assert (launch.block, launch.grid) == ((128, 1, 1), (32, 1, 1))
    assert launch.assumptions == ("b == 128",)


def test_what_the_figure_rests_on_says_where_it_is_said(tmp_path: Path) -> None:
    """Rows of 3 floats: 32 lanes touch 32 * 12 / 32 = 12 sectors; of 1 they touch 4, of 3 * 16 they touch 32."""
    main = "int main(int argc, char **argv) { int pitch = atoi(argv[1]); k<<<64, 128>>>(0, 8192, pitch); }"
    result = _result(tmp_path, main, "3")
    assert result.sectors_per_request == 12
    assert "pitch == 3 (Makefile:4)" in result.assumptions


def test_both_sides_of_a_choice_are_launched(tmp_path: Path) -> None:
    """The number says which side it is run with; the other one is as much part of the program."""
    main = "int main(int argc, char **argv) { if (atoi(argv[1]) == 1) k<<<8, 64>>>(0, 512, 1); else k<<<8, 96>>>(0, 768, 1); }"
    kernel = _kernel(tmp_path, main, "1")
    assert {launch.block[0] for launch in kernel.launches} == {64, 96}


def test_a_word_that_is_no_number(tmp_path: Path) -> None:
    main = "int main(int argc, char **argv) { int n = atoi(argv[1]); k<<<n / 128, 128>>>(0, n, 1); }"
    assert _launch(tmp_path, main, "input.txt").block == (128, 1, 1)


def test_more_words_than_the_command_has(tmp_path: Path) -> None:
    main = "int main(int argc, char **argv) { int n = atoi(argv[5]); k<<<n / 128, 128>>>(0, n, 1); }"
    launch = _launch(tmp_path, main, "3 4")
    assert launch.block == (128, 1, 1)

"""Sizes that a program takes from its command line, where the Makefile beside it says how it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import AccessResult, KernelFacts, LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

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


def _main(body: str) -> str:
    return f"int main(int argc, char **argv) {{ {body} }}"


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
        "int n, b, pitch = atoi(argv[3]); n = 1; if (argc > 1) n = atoi(argv[1]); if (argc == 4) b = atoi(argv[2]);",
        "int n = argc > 1 ? atoi(argv[1]) : 10, b = argc < 3 ? 128 : atoi(argv[2]), pitch = atoi(argv[3]);",
        "if (argc != 4) return 1; int n = atoi(argv[1]), b = atoi(argv[2]), pitch = atoi(argv[3]);",
    ],
)
def test_numbers_by_their_positions(tmp_path: Path, reading: str) -> None:
    """4000 threads in blocks of 64 are 63 blocks; with rows of 5 floats, the 32 lanes of a warp touch
    (31 * 20 + 4) / 32 = 19.5, so 20 sectors where the row begins at a sector's start: 32 * 20 is a multiple of 32."""
    kernel = _kernel(tmp_path, _main(f"{reading} {_RUN}"), "4000 64 5")
    (launch,) = kernel.launches
    assert (launch.block, launch.grid) == ((64, 1, 1), (63, 1, 1))
    [result] = kernel.accesses[0].results
    assert result.sectors_per_request == 20


_GETOPT = """
    int c;
    while ((c = getopt(argc, argv, "s:b:p:v")) != -1) switch (c) {
        case 's': n = atoi(optarg); break;
        case 'b': b = atoi(optarg); break;
        case 'p': pitch = atoi(optarg); break;
        default: break;
    }
"""
_GETOPT_LONG = """
    static struct option names[] = {
        {"size", required_argument, 0, 's'}, {"block", required_argument, 0, 'b'}, {"quiet", no_argument, 0, 'q'},
        {0, 0, 0, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "s:b:p:", names, NULL)) != -1) {
        if (c == 's') n = atoi(optarg); else if (c == 'b') b = atoi(optarg); else if (c == 'p') pitch = atoi(optarg);
    }
"""
_LETTERS = """
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') continue;
        if (argv[i][1] == 's') n = atoi(argv[++i]);
        else if (argv[i][1] == 'b') b = atoi(argv[++i]);
        else if (argv[i][1] == 'p') pitch = atoi(argv[i] + 2);
    }
"""
_WORDS = """
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--size")) n = atoi(argv[++i]);
        else if (strncmp(argv[i], "--block=", 8) == 0) b = atoi(argv[i] + strlen("--block="));
        else if (std::string(argv[i]) == "-p") { i++; pitch = atoi(argv[i]); }
    }
"""


@pytest.mark.parametrize(
    ("reading", "arguments"),
    [
        (_GETOPT, "-v -s 4000 -b64 -p 5"),
        (_GETOPT_LONG, "--quiet --size 4000 --block=64 -p 5"),
        (_LETTERS, "-s 4000 -b 64 -p5"),
        (_WORDS, "--size 4000 --block=64 -p 5"),
    ],
)
def test_options(tmp_path: Path, reading: str, arguments: str) -> None:
    launch = _launch(tmp_path, _main(f"int n = 10, b = 128, pitch = 1; {reading} {_RUN}"), arguments)
    assert (launch.block, launch.grid) == ((64, 1, 1), (63, 1, 1))
    assert "b == 64 (Makefile:4)" in launch.assumptions


def test_two_options_with_equal_words_are_two_numbers(tmp_path: Path) -> None:
    """Their difference is 0 as the program is run, and not for all others."""
    launched = "k<<<n / 64, 64>>>(0, n, n - pitch + 1);"
    launch = _launch(tmp_path, _main(f"int n = 10, b = 128, pitch = 1; {_GETOPT} {launched}"), "-s 4096 -p 4096")
    assert launch.grid == (64, 1, 1)
    assert "pitch" not in launch.parameters


def test_an_option_that_is_not_given_keeps_its_default(tmp_path: Path) -> None:
    launch = _launch(tmp_path, _main(f"int n = 10, b = 128, pitch = 1; {_GETOPT} {_RUN}"), "-s 4000")
    assert (launch.block, launch.grid) == ((128, 1, 1), (32, 1, 1))
    assert launch.assumptions == ("b == 128",)


def test_what_the_figure_rests_on_says_where_it_is_said(tmp_path: Path) -> None:
    """Rows of 3 floats: 32 lanes touch 32 * 12 / 32 = 12 sectors; of 1 they touch 4, of 3 * 16 they touch 32."""
    result = _result(tmp_path, _main("int pitch = atoi(argv[1]); k<<<64, 128>>>(0, 8192, pitch);"), "3")
    assert result.sectors_per_request == 12
    assert "pitch == 3 (Makefile:4)" in result.assumptions


@pytest.mark.parametrize("number", ["1", "0", "-1"])
def test_both_sides_of_a_choice_are_launched(tmp_path: Path, number: str) -> None:
    """The number says which side it is run with; the other one is as much part of the program."""
    launches = "if (atoi(argv[1]) == 1) k<<<8, 64>>>(0, 512, 1); else k<<<8, 96>>>(0, 768, 1);"
    kernel = _kernel(tmp_path, _main(launches), number)
    assert {launch.block[0] for launch in kernel.launches} == {64, 96}


_ONE_SIZE = "k<<<n / 128, 128>>>(0, n, 1);"


@pytest.mark.parametrize(
    ("reading", "arguments"),
    [
        ("int n = atoi(argv[1]);", "input.txt"),
        ("int n = atoi(argv[5]);", "3 4"),
        ("int n = strtol(argv[1], NULL, 16);", "2000"),
    ],
)
def test_what_no_word_says_stays_unknown(tmp_path: Path, reading: str, arguments: str) -> None:
    kernel = _kernel(tmp_path, _main(f"{reading} {_ONE_SIZE}"), arguments)
    assert "n" not in kernel.launches[0].parameters
    assert all("Makefile" not in text for access in kernel.accesses for r in access.results for text in r.assumptions)


@pytest.mark.parametrize(("number", "block"), [("2", 64), ("1", 96), ("7", 32)])
def test_a_switch_by_an_option(tmp_path: Path, number: str, block: int) -> None:
    """All cases are part of the program; what they set is what it is run with."""
    body = """
    int b = 128;
    switch (atoi(argv[1])) {
        case 1: b = 96; k<<<8, 256>>>(0, 2048, 1); break;
        case 2: b = 64; break;
        default: b = 32;
    }
    k<<<10, b>>>(0, 10 * b, 1);
    """
    kernel = _kernel(tmp_path, _main(body), number)
    assert {launch.block[0] for launch in kernel.launches} == {256, block}


def test_the_instantiation_that_is_run_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is time for one of ten, it is that of the width that the program is run with."""
    monkeypatch.setattr("cudalint.run.file_analysis._MUCH_WORK", 1)
    kernel = "#include <cstdlib>\ntemplate <int N> __global__ void k(float *a) { a[threadIdx.x * N] = 1; }\n"
    cases = " ".join(f"case {n}: k<{n}><<<n, 64>>>(0); break;" for n in range(1, 11))
    (tmp_path / "main.cu").write_text(kernel + _main(f"switch (atoi(argv[1])) {{ {cases} }}"))
    (tmp_path / "Makefile").write_text("run: main\n\t./main 7\n")
    kernels = analyse_file(str(tmp_path / "main.cu"), AnalysisOptions()).kernels
    assert [kernel.instantiation for kernel in kernels] == ["k<7>"]


@pytest.mark.parametrize(
    ("choice", "word", "stated"),
    [
        ('if (!strcmp(argv[1], "large")) b = 64; else b = 128;', "large", "b == 64 (Makefile:4)"),
        ('if (!strcmp(argv[1], "large")) b = 64; else b = 128;', "small", "b == 128 (Makefile:4)"),
        ('if (strncmp(argv[1], "larger", 5)) b = 128; else b = 64;', "large", "b == 64 (Makefile:4)"),
        ('b = strcmp(argv[1], "large") == 0 ? 64 : 128;', "large", "b == 64 (Makefile:4)"),
        (
            'if (!strcmp(argv[1], "large")) { b = 64; } else if (!strcmp(argv[1], "small")) b = 128; else exit(1);',
            "small",
            "b == 128 (Makefile:4)",
        ),
    ],
)
def test_a_size_by_a_word_rests_on_the_command(tmp_path: Path, choice: str, word: str, stated: str) -> None:
    launch = _launch(tmp_path, _main(f"int b; {choice} k<<<8, b>>>(0, 4096, 1);"), word)
    assert (launch.assumptions, launch.block_is_made_up) == ((stated,), False)
    assert launch.block == (int(stated.split()[2]), 1, 1)


def test_what_another_word_launches_is_evaluated_too(tmp_path: Path) -> None:
    choice = 'if (!strcmp(argv[1], "large")) k<<<8, 64>>>(0, 512, 1); else k<<<4, 32>>>(0, 128, 1);'
    launches = _kernel(tmp_path, _main(choice), "large").launches
    assert [launch.block[0] for launch in launches] == [64, 32]


def test_words_in_a_loop_are_what_they_are(tmp_path: Path) -> None:
    """Pairs of an option and its number, which would be read otherwise after another option."""
    loop = (
        'for (int i = 1; i < argc; i++) { if (!strcmp(argv[i], "-b")) b = atoi(argv[++i]); '
        'else if (!strcmp(argv[i], "-h")) { printf("help"); return 0; } else break; }'
    )
    launch = _launch(tmp_path, _main(f"int b = 32; {loop} k<<<8, b>>>(0, 4096, 1);"), "-b 128")
    assert launch.block == (128, 1, 1)


def test_nothing_may_be_what_a_case_chooses(tmp_path: Path) -> None:
    """Without a pitch, all lanes store one float, where other cases have them 32 bytes apart."""
    cases = "switch (atoi(argv[1])) { case 1: pitch = 8; break; case 2: pitch = 0; break; }"
    result = _result(tmp_path, _main(f"int n = 4096, b = 64, pitch = 1; {cases} {_RUN}"), "2")
    assert (result.sectors_per_request, result.status) == (1, "assumed")
    assert "pitch == 0" in result.assumptions


@pytest.mark.parametrize(("condition", "block"), [("==", 64), ("!=", 96)])
def test_strings_of_the_program_are_compared(tmp_path: Path, condition: str, block: int) -> None:
    body = f"""const char *layout = "rows";
        if (std::string(layout) {condition} "rows") k<<<8, 64>>>(0, 512, 1); else k<<<8, 96>>>(0, 768, 1);"""
    assert _launch(tmp_path, _main(body), "1").block == (block, 1, 1)

"""Numbers that options on the command line may change, and numbers by which sizes are shifted."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_PROGRAM = """
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <sstream>
#include <string>
#include <vector>
__global__ void k(float *a, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 1;
}
struct Arguments { int count; char **texts; };
int exists(Arguments *args, const char *name) {
    int found = 0;
    for (int i = 0; i < args->count; i++) found = found || strcmp(args->texts[i], name) == 0;
    return found;
}
int value_of(Arguments *args, const char *name) {
    int value = 0;
    for (int i = 0; i < args->count; i++) if (strcmp(args->texts[i], name) == 0) value = atoi(args->texts[i + 1]);
    return value;
}
int option(Arguments *args, const char *name, int usual) { return exists(args, name) ? value_of(args, name) : usual; }
struct Words {
    std::vector<std::string> words;
    Words(int argc, char **argv) { for (int i = 1; i < argc; i++) words.push_back(argv[i]); }
    template <typename T> void get(const std::string &name, T &value) {
        for (size_t i = 0; i + 1 < words.size(); i++)
            if (words[i] == name) { std::istringstream in(words[i + 1]); in >> value; }
    }
};
int main(int argc, char **argv) {
    %s
    k<<<(n + 127) / 128, 128>>>(0, n);
}
"""


def _facts(code: str):  # type: ignore[no-untyped-def]
    kernel = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _PROGRAM % code),))).kernels[0]
    return kernel.launches[0], kernel.accesses[0].results[0]


@pytest.mark.parametrize(
    "code",
    [
        "int n = 1000; if (argc > 1) n = atoi(argv[1]);",
        "int n = argc > 1 ? atoi(argv[1]) : 1000;",
        "int n = 1000, c; while ((c = getopt(argc, argv, \"n:\")) != -1) if (c == 'n') n = atoi(optarg);",
        "int n = 1000; for (int i = 1; i < argc; i++) if (!strcmp(argv[i], \"-n\")) n = atoi(argv[++i]);",
        """int n = 1000, c; while ((c = getopt(argc, argv, "n:h")) != -1) {
            switch (c) { case 'n': n = atoi(optarg); break; case 'h': return 0; default: break; } }""",
        "Arguments args{argc, argv}; int n = option(&args, \"--n\", 1000);",
        "Words words(argc, argv); int n = 1000; words.get(\"n\", n);",
    ],
)
def test_options_are_most_likely_not_given(code: str) -> None:
    launch, result = _facts(code)
    assert launch.grid == (8, 1, 1)
    assert result.status == "assumed" and any("n" in text for text in result.assumptions)
    # 31 warps are full, the last one has 1000 - 992 = 8 lanes: (31 * 4 + 1) / 32 sectors.
    assert result.sectors_per_request == pytest.approx((31 * 4 + 1) / 32)


@pytest.mark.parametrize(
    "code",
    [
        # What the loop always changes, what starts as no size, and a loop over something else.
        "int n = 1000; for (int i = 1; i < argc; i++) n = atoi(argv[i]);",
        "int n = 0; for (int i = 1; i < argc; i++) if (!strcmp(argv[i], \"-n\")) n = atoi(argv[++i]);",
        "int n = 1000; while (rand()) if (rand() % 3) n = rand();",
        # What is asked is about the number itself.
        "int m = atoi(argv[1]), n = m ? m : 1000;",
    ],
)
def test_other_numbers_are_unknown_after_a_loop(code: str) -> None:
    launch, result = _facts(code)
    assert not launch.parameters
    assert result.sectors_per_request == 4


@pytest.mark.parametrize("size", ["1UL << bits", "1 << bits", "(size_t)atoi(argv[2]) >> bits"])
def test_sizes_shifted_by_a_number_from_the_command_line_are_sizes(size: str) -> None:
    launch, result = _facts(f"int bits = atoi(argv[1]); size_t n = {size};")
    assert launch.grid[0] > 1
    assert result.status != "unreached" and result.sectors_per_request == pytest.approx(4, rel=0.01)

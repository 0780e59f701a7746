"""What host code sets before a launch in places that are easy to lose: globals, parts of arrays and records."""

from __future__ import annotations

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
#include <cstdio>
#include <cstdlib>
#include <fstream>
__global__ void k(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 1;
}
"""


def _launch(code: str) -> LaunchFacts:
    kernel = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _KERNEL + code),))).kernels[0]
    (launch,) = kernel.launches
    return launch


def test_a_long_function_that_sets_global_variables() -> None:
    """One with more code than is executed for a result, most of which decides nothing."""
    filler = "\n".join(f"    if (x{i} > {i}) x{i} = x{i} * 2 + {i};" for i in range(60))
    unused = "".join(f"float x{i};\n" for i in range(60))
    code = unused + """
static int threads, size;
static float *data;
cudaDeviceProp props;
static void setup() {
    cudaGetDeviceProperties(&props, 0);
""" + filler + """
    if (128 >= 1 && 128 <= props.maxThreadsPerBlock) threads = 128; else threads = props.warpSize;
    size = 4000;
    cudaMalloc(&data, size * sizeof(float));
}
int main() { setup(); k<<<(size + threads - 1) / threads, threads>>>(data, size); }
"""  # fmt: skip
    launch = _launch(code)
    assert (launch.block, launch.grid, launch.parameters["n"]) == ((128, 1, 1), (32, 1, 1), 4000)


@pytest.mark.parametrize("place", ["static int p[3]; static int &n = p[0];", "int p[3];", "struct { int x, y; } q;"])
def test_parts_of_global_arrays_and_records(place: str) -> None:
    name = "q.x" if "q;" in place else "p[0]"
    assert _launch(f"{place} int main() {{ {name} = 640; k<<<5, 128>>>(0, {name}); }}").parameters["n"] == 640


def test_an_input_file_that_need_not_be_there() -> None:
    code = """
static int size[2];
int main() {
    FILE *f = fopen("input", "r");
    if (f != NULL) { fscanf(f, "%d %d", &size[0], &size[1]); } else { size[0] = 36; size[1] = 24; }
    k<<<size[0], size[1]>>>(0, 864);
}"""
    launch = _launch(code)
    assert (launch.block, launch.grid) == ((24, 1, 1), (36, 1, 1))


@pytest.mark.parametrize(
    ("size", "known"),
    [
        ("argc > 1 ? atoi(argv[1]) : 2048", True),
        ("argc < 2 ? 2048 : atoi(argv[1])", True),
        ("2048; if (argc > 1) n = atoi(argv[1])", True),
        # What is asked for is a bound then, or something that the program is not run without.
        ("atoi(argv[1]) > 0 ? atoi(argv[1]) : 1", False),
        ("argc > 1 ? atoi(argv[1]) : 0", False),
    ],
)
def test_a_default_beside_the_command_line(size: str, known: bool) -> None:
    launch = _launch(f"int main(int argc, char **argv) {{ int n = {size}; k<<<(n + 127) / 128, 128>>>(0, n); }}")
    assert (launch.grid == (16, 1, 1)) is known


@pytest.mark.parametrize(
    ("code", "known"),
    [
        ("int n; if (ordered) n = pitch; else n = 0;", False),
        ("int n; if (!ordered) n = 0; else n = pitch;", False),
        ("int n; if (ordered) n = pitch; else n = 512;", True),
    ],
)
def test_a_zero_beside_an_unknown_number(code: str, known: bool) -> None:
    """It says that there is none, and nothing of how large it is where there is one."""
    launch = _launch(f"void run(int pitch, bool ordered) {{ {code} k<<<64, 128>>>(0, n); }}")
    assert (launch.arguments["n"] in (0, 512)) is known


def test_what_a_loop_counts_in_a_record() -> None:
    """One iteration of a loop over a file of unknown length says nothing of how many there are."""
    code = """
#include <string>
struct Base { int count = 0, width = 7; };
Base load(const char *path) {
    Base base;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) ++base.count;
    return base;
}
int main(int argc, char **argv) {
    Base base = load(argv[1]);
    k<<<(base.count + base.width * 0 + 127) / 128, 128>>>(0, base.count);
}"""
    launch = _launch(code)
    assert "n" not in launch.parameters and launch.grid[0] > 1


@pytest.mark.parametrize("place", ["int b = atoi(argv[1]);", "int s[2] = {atoi(argv[1]), 1}; int &b = s[0];"])
def test_a_cap_on_a_size_from_the_command_line(place: str) -> None:
    """The size that stands for any is large: `b` is what it is cut down to."""
    code = f"int main(int argc, char **argv) {{ {place} if (b * b > 256) {{ b = 16; }} k<<<64, b>>>(0, 1024); }}"
    assert _launch(code).block == (16, 1, 1)


def test_the_smaller_of_a_default_and_a_limit() -> None:
    code = """
int main(int argc, char **argv) {
    int n = 36, threads;
    if (argc > 1) n = atoi(argv[1]);
    if (512 > n) { threads = n; } else { threads = 512; }
    k<<<n, threads>>>(0, n);
}"""
    assert _launch(code).block == (36, 1, 1)


@pytest.mark.parametrize(
    "make",
    [
        "Sizes *s = (Sizes *)malloc(sizeof(Sizes)); if (s == NULL) return 1; s->threads = 96; s->n = 960;",
        "Sizes *s = (Sizes *)calloc(1, sizeof(Sizes)); s->threads = 96; s->n = 960;",
        "Sizes *s = new Sizes; s->threads = 96; s->n = 960;",
        "Sizes *s = new Sizes{96, 960};",
        "auto *s = new Made(96);",
        "Sizes *s = sizes(96);",
    ],
)
def test_records_on_the_heap(make: str) -> None:
    code = """
struct Sizes { int threads, n; };
struct Made : Sizes { Made(int t) : Sizes{t, 10 * t} {} };
Sizes *sizes(int threads) {
    Sizes *made = (Sizes *)malloc(sizeof(Sizes));
    made->threads = threads;
    made->n = 10 * threads;
    return made;
}
int main() { float *data; %s k<<<s->n / s->threads, s->threads>>>(data, s->n); }
"""
    launch = _launch(code % make)
    assert (launch.block, launch.grid, launch.parameters["n"]) == ((96, 1, 1), (10, 1, 1), 960)


@pytest.mark.parametrize("make", ["new int[2]", "(int *)malloc(2 * sizeof(int))"])
def test_short_arrays_on_the_heap(make: str) -> None:
    launch = _launch(f"int main() {{ int *s = {make}; s[0] = 96; s[1] = 10; k<<<s[1], s[0]>>>(0, s[0] * s[1]); }}")
    assert (launch.block, launch.grid, launch.parameters["n"]) == ((96, 1, 1), (10, 1, 1), 960)


def test_two_objects_on_the_heap_are_two() -> None:
    code = """
struct Sizes { int threads; };
Sizes *sizes(int threads) { Sizes *made = new Sizes; made->threads = threads; return made; }
int main() { Sizes *a = sizes(96), *b = sizes(64); k<<<1, a->threads>>>(0, b->threads); }
"""
    launch = _launch(code)
    assert (launch.block, launch.parameters["n"]) == ((96, 1, 1), 64)


def test_objects_that_a_constructor_copies_bytes_into() -> None:
    code = """
#include <cstring>
struct Sizes { int at[2]; Sizes(const int *from) { memcpy(at, from, sizeof at); } };
int main() { int from[2] = {96, 960}; Sizes s(from); k<<<10, s.at[0]>>>(0, s.at[1]); }
"""
    launch = _launch(code)
    assert (launch.block, launch.parameters["n"]) == ((96, 1, 1), 960)


@pytest.mark.parametrize(
    ("block", "threads", "is_open"),
    [
        ("min(n, 256)", 256, True),
        ("max(min(1024, n * 4), 32)", 1024, True),
        ("n / 4 * 4 / n * 0 + 96", 96, False),
        ("min(128, 256)", 128, False),
    ],
)
def test_blocks_that_small_sizes_make_smaller(block: str, threads: int, is_open: bool) -> None:
    """The block is the one of large sizes: facts that hold for it alone would be no facts for small ones."""
    main = f"int main(int c, char **v) {{ int n = atoi(v[1]); k<<<64, {block}>>>(0, n); }}"
    launch = _launch(f"#include <algorithm>\nusing namespace std;\n{main}")
    assumed = [f"block = {threads} (the launch has another one for small sizes)"]
    assert (launch.block, list(launch.assumptions)) == ((threads, 1, 1), assumed if is_open else [])
    assert launch.source == ("default" if is_open else "launch-site")
    assert not launch.block_is_made_up


def test_a_launch_in_a_loop_that_known_values_never_enter() -> None:
    """Some functions are called with zeros only, so that a template is instantiated: the block is known from within."""
    launch = _launch("""
template <class T> void run(T *a, int n, int steps) {
    dim3 block(1, 64);
    for (int i = 0; i < steps; i++) k<<<n / 64, block>>>(a, n);
}
void instantiate() { run<float>(0, 0, 0); }
""")
    assert (launch.block, launch.source) == ((1, 64, 1), "launch-site")


def test_a_launch_that_is_not_made_says_nothing_by_zeros() -> None:
    """A block of 1 x 0 is none; what the kernel asks for, which is `x` alone, does not matter to the extent given."""
    launch = _launch("""
template <class T> void run(T *a, int n, int rows, int steps) {
    dim3 block(1, rows);
    for (int i = 0; i < steps; i++) k<<<n / 64, block>>>(a, n);
}
void instantiate() { run<float>(0, 0, 0, 0); }
""")
    assert (launch.block[0], launch.block[1] > 1, launch.source) == (1, True, "default")


def test_a_long_function_that_sets_parts_of_global_arrays() -> None:
    """The blocks of several kernels in one table, set among much that decides no launch."""
    line = "    float x{0} = {0}.f * size; cudaMemcpyToSymbol(c, &x{0}, sizeof(float));\n"
    filler = "".join(line.format(i) for i in range(60))
    launch = _launch("""
const int size = 64;
__constant__ float c;
dim3 grids[3][2], blocks[3][2];
void setup() {
""" + filler + """
    grids[1][0] = dim3(size / 4, size, 1);
    blocks[1][0] = dim3(4, size, 1);
}
void run(int dimension) {
    float *a;
    cudaMalloc(&a, size);
    for (int i = 0; i < 1; i++) k<<<grids[dimension][i], blocks[dimension][i]>>>(a, size);
}
int main() { setup(); run(1); }
""")
    assert (launch.block, launch.grid) == ((4, 64, 1), (16, 64, 1))


@pytest.mark.parametrize("test", ["if (D >= 3)", "if (!(D < 3 && sizeof(float) == 4))", "if constexpr (D > 2)"])
def test_a_launch_that_other_template_arguments_lead_to(test: str) -> None:
    """Two dimensions make no block of one thread, which is what the product over no further ones is."""
    product = "int b = 1; for (int i = 2; i < D; ++i) b *= 4 * i;"
    code = f"template <int D> void run() {{ {test} {{ {product} k<<<8, b>>>(0, D); }} else k<<<8, 128>>>(0, D); }}\n"
    assert _launch(code + "int main() { run<2>(); }").block == (128, 1, 1)
    assert _launch(code + "int main() { run<4>(); }").block == (96, 1, 1)


_LIBRARY = """
static float *data = nullptr;
static size_t count = 0;
static int threads = 128;
static int runs = 0;
void setup(size_t n, int given) { count = n; threads = given; runs++; cudaMalloc(&data, n * sizeof(float)); }
void run() { k<<<(count + threads - 1) / threads, threads>>>(data, count); }
"""


def test_what_a_function_sets_for_others_that_launch() -> None:
    """In a file without `main`, whoever calls `run` has called `setup` before: 0 is no size. 128 is a default."""
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _KERNEL + _LIBRARY),))).kernels
    [launch] = kernel.launches
    assert launch.block == (128, 1, 1) and launch.grid is not None and launch.grid[0] >= 1000
    assert [access.results[0].sectors_per_request for access in kernel.accesses] == [4]


@pytest.mark.parametrize("setting", ["", "void reset() { count = 0; }", "void next() { count++; }"])
def test_what_no_function_sets_to_another_size_is_what_it_is(setting: str) -> None:
    code = f"static size_t count = 0; {setting} void run() {{ k<<<count + 8, 128>>>(0, count); }}"
    assert _launch(code).grid == (8, 1, 1)


def test_a_program_runs_from_its_main() -> None:
    code = _LIBRARY + "int main() { setup(640, 128); run(); }"
    assert _launch(code).parameters["n"] == 640

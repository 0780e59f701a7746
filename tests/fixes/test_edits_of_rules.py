"""What rules suggest as edits, made in the text: each was tried on the model before it is suggested."""

from __future__ import annotations

import pytest

from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_GUARDED = """__global__ void turned(float *out, const float *in, int n) {
    __shared__ float t[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < n && y < n) t[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = t[threadIdx.x][threadIdx.y];
}
void run(float *out, const float *in) {
    const int n = N;
    turned<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(out, in, n);
}
"""

_FLOATS = """#define RATE 0.3
#define BOTH (x * 0.3)
template <typename T> __device__ T scaled(T x, T y) { return x * 0.1 + y * 0.3; }
template <typename T> __device__ T halved(T x, T y) { return x * 0.5 + y * 0.25; }
__global__ void k(const float *in, float *out) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = in[i], y = in[i + 1024];
    out[i] = x * 0.1 + 1e-3 * y;
    out[i + 1024] = exp(-RATE * x);
    out[i + 2048] = pow(x, 2);
    CODE
}
void run(const float *in, float *out) { k<<<4, 256>>>(in, out); }
"""


def _fixed(text: str, code: str) -> tuple[str, set[str]]:
    """The text with all edits for findings of a rule made, and what they are."""
    options = AnalysisOptions(unsaved=(("a.cu", text),))
    report = check_file(CheckJob("a.cu", options, Selection((code,)), pictures=False))
    assert isinstance(report, FileReport)
    found = [one.suggestion for one in report.diagnostics if one.suggestion is not None]
    edits = {edit for suggestion in found for edit in suggestion.edits}
    return apply_edits(text, sorted(edits, key=lambda edit: edit.place)), {each.applicability for each in found}


@pytest.mark.parametrize("size", ["1000", "1001", "1024"])
def test_padding_helps_at_the_edge_of_a_matrix_too(size: str) -> None:
    """Of 1000 columns 8 are left for the last blocks, whose warps have no more than 8 lanes in a column of the tile."""
    fixed, kinds = _fixed(_GUARDED.replace("N;", f"{size};"), "CL201")
    assert "t[32][32 + 1]" in fixed
    assert kinds == {"safe"}


def test_floats_are_spelled_as_floats() -> None:
    fixed, kinds = _fixed(_FLOATS.replace("CODE", "out[i + 3072] = halved(x, y);"), "CL602")
    for line in ("x * 0.1f + 1e-3f * y", "exp(-float(RATE) * x)", "powf(x, 2)", "x * 0.5f + y * 0.25f"):
        assert line in fixed
    assert "#define RATE 0.3\n" in fixed
    assert kinds == {"unsafe"}


@pytest.mark.parametrize("call", ["scaled(x, y)", "BOTH + 0.3 * y"])
def test_what_doubles_may_be_meant_for_stays(call: str) -> None:
    """0.1 is another number as a float, which a use of the template with doubles would see."""
    fixed, _ = _fixed(_FLOATS.replace("CODE", f"out[i + 3072] = {call};"), "CL602")
    assert "return x * 0.1 + y * 0.3" in fixed
    assert call in fixed


_ROWS = """__global__ void rows(const float *a, const float *v, float *out, int n, int d) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < d; j++)
        sum += a[i * d + j] * v[j];
    out[i] = sum;
}
void run(const float *a, const float *v, float *out, int n, int d) { rows<<<(n + 255) / 256, 256>>>(a, v, out, n, d); }
"""


def test_rows_are_loaded_in_vectors_where_their_length_allows_it() -> None:
    """Four loads of 32 sectors each become one of 32; rows of 5 elements begin at every fourth byte."""
    fixed, kinds = _fixed(_ROWS, "CL101")
    loop = _ROWS[_ROWS.index("    for (") : _ROWS.index("    out")]
    vectors = """    if (d % 4 == 0) {
        for (int j_first = 0; j_first < d; j_first += 4) {
            const float4 a4 = *reinterpret_cast<const float4 *>(&a[i * d + j_first]);
            const float a_part[4] = {a4.x, a4.y, a4.z, a4.w};
            #pragma unroll
            for (int j = j_first; j < j_first + 4; j++) sum += a_part[j - j_first] * v[j];
        }
    } else {
        for (int j = 0; j < d; j++)
            sum += a[i * d + j] * v[j];
    }
"""
    assert fixed == _ROWS.replace(loop, vectors)
    assert kinds == {"unsafe"}
    assert _fixed(fixed, "CL101")[0] == fixed


def test_rows_of_a_length_that_is_known() -> None:
    """8 elements are two vectors, and all elements of a row that one statement takes are loaded at once."""
    fixed, _ = _fixed(_ROWS.replace("< d", "< 8").replace("i * d + j] * v[j]", "i * 8 + j] * v[8 * i + j]"), "CL101")
    assert "if (8" not in fixed
    assert "sum += a_part[j - j_first] * v_part[j - j_first];" in fixed


_PITCHED = _ROWS.replace("int n, int d", "int n, int d, int s").replace("n, d);", "n, d, s);")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i * d + j]", "a[i * s + j]"),
        ("a[i * d + j]", "a[s * (i + 3 * d) + j]"),
        ("a[i * d + j]", "a[2 * i * d - i * s + j]"),
        ("float sum = 0;", "float sum = 0; const int start = i * s;"),
        ("float sum = 0;", "float sum = 0; const float *row = a + (size_t)i * s;"),
        ("float sum = 0;", "float sum = 0; a += i * s;"),
    ],
)
def test_rows_that_are_further_apart_than_they_are_long(old: str, new: str) -> None:
    """They begin at vectors where what is between them is a multiple, too."""
    element = "row[j]" if "*row" in new else "a[start + j]" if "start" in new else "a[j]" if "a +=" in new else new
    fixed, _ = _fixed(_PITCHED.replace("a[i * d + j]", element).replace(old, new), "CL101")
    assert "if (d % 4 == 0 && s % 4 == 0) {" in fixed


def test_rows_that_callers_choose_stay() -> None:
    """What is between them is no number of the function's."""
    begin, end = _PITCHED.index("    float sum = 0;"), _PITCHED.index("    out[i] = sum;")
    loop = _PITCHED[begin:end].replace("a[i * d + j]", "row[j]")
    source = (
        f"__device__ float dot(const float *row, const float *v, int d) {{\n{loop}    return sum;\n}}\n"
        f"{_PITCHED[:begin]}    float sum = dot(a + i * s, v, d);\n{_PITCHED[end:]}"
    )
    assert _fixed(source, "CL101")[0] == source


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sum +=", "if (v[j] == 0) break; sum +="),  # What is behind the last turn would be loaded.
        ("sum +=", "if (v[j] > 0) sum +="),  # Not all lanes make the load.
        ("j++", "j += 2"),
        ("+ j]", "+ 2 * j]"),
        ("sum += a[i * d + j] * v[j]", "{ sum += a[i * d + j] * v[j]; __syncthreads(); }"),
        ("j = 0; j < d", "j = 1; j < d - i % 2"),  # Lanes make different turns.
        ("j = 0; j < d", "j = 1; j < (int)v[i]"),
        ("a[i * d + j] * v[j]", "const_cast<float *>(a)[i * d + j + 1] = sum + a[i * d + j]"),
    ],
)
def test_loops_that_threads_do_not_go_through_alike_stay(old: str, new: str) -> None:
    source = _ROWS.replace(old, new)
    assert _fixed(source, "CL101")[0] == source


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("j = 0", "j = 1"),
        ("    for (", "    if ((size_t)(&a[i * d]) % 16 == 0) out[i] = 1;\n    for ("),
        ("< d", "< 5"),
    ],
)
def test_rows_that_are_loaded_and_no_whole_vectors_stay(old: str, new: str) -> None:
    """On a GPU L1 does better than a tile: see benchmarks/edited_kernels.cu."""
    source = _ROWS.replace(old, new)
    assert _fixed(source, "CL101")[0] == source


_STAGED = """    __shared__ float out_tile[8][16][34];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool is_staged = __activemask() == ~0u && warp < 8;
    const auto out_row = i * 5;
    for (int j_first = 0; j_first < 5; j_first += 16) {
        const int j_end = j_first + 16 < 5 ? j_first + 16 : 5;
        for (int j = j_first; j < j_end; j++)
            {
                const float out_new = j * v[j];
                if (is_staged) out_tile[warp][j - j_first][lane] = out_new;
                else out[i * 5 + j] = out_new;
            }
        if (is_staged) {
            __syncwarp();
            for (int of = lane / 16; of < 32; of += 2) {
                const auto row = __shfl_sync(~0u, out_row, of);
                if (j_first + lane % 16 < j_end) out[row + (j_first + lane % 16)] = out_tile[warp][lane % 16][of];
            }
            __syncwarp();
        }
    }
"""


def test_rows_that_are_stored_are_staged() -> None:
    """5 stores of 20 sectors each, of which 32 lanes fill 20 together."""
    source = _ROWS.replace("    float sum = 0;\n", "").replace("    out[i] = sum;\n", "").replace("< d", "< 5")
    source = source.replace("sum += a[i * d + j] * v[j];", "out[i * 5 + j] = j * v[j];")
    fixed, _ = _fixed(source, "CL101")
    loop = source[source.index("    for (") : source.index("}\nvoid")]
    assert fixed == source.replace(loop, _STAGED)
    assert _fixed(fixed, "CL101")[0] == fixed


def test_a_template_may_be_for_other_types() -> None:
    source = "template <typename T>\n" + _ROWS.replace("const float *a", "const T *a").replace(
        "rows<<<", "rows<float><<<"
    )
    assert (
        "float4" in _fixed(source.replace("const T *a", "const float *a, T t").replace(">>>(a", ">>>(a, 1"), "CL101")[0]
    )


_STATES = """__global__ void keys(const float *in, float *out) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = in[i];
    out[6 * i] = v;
    out[6 * i + 1] = v * v;
    out[6 * i + 2] = v + 1;
    out[6 * i + 3] = 1.0f / v;
    out[6 * i + 4] = v - 1;
    out[6 * i + 5] = 2 * v;
}
void run(const float *in, float *out) { keys<<<64, 256>>>(in, out); }
"""


def test_a_record_of_three_vectors() -> None:
    """6 stores of 24 sectors each become three of 24, which are needed for 8 bytes no more than for 4."""
    fixed, _ = _fixed(_STATES, "CL101")
    for offset, values in (("", "v, v * v"), (" + 2", "v + 1, 1.0f / v"), (" + 4", "v - 1, 2 * v")):
        assert f"*reinterpret_cast<float2 *>(&out[6 * i{offset}]) = make_float2({values});" in fixed
    assert _fixed(fixed, "CL101")[0] == fixed


def test_rows_that_are_stored_and_a_variable_that_is_declared_before() -> None:
    """Each turn stores the element of its own, which waits for the others of its vector."""
    source = _ROWS.replace("sum += a[i * d + j] * v[j];", "{ out[d * i + j] = a[i * d + j] * v[j]; }").replace(
        "out[i] = sum;", ""
    )
    source = source.replace("for (int j", "for (j").replace("float sum = 0;", "int j;")
    fixed, kinds = _fixed(source, "CL101")
    assert (
        "for (int j = j_first; j < j_first + 4; j++) { out_part[j - j_first] = a_part[j - j_first] * v[j]; }" in fixed
    )
    assert "(&out[d * i + j_first]) = make_float4(out_part[0], out_part[1], out_part[2], out_part[3]);" in fixed
    assert kinds == {"unsafe"}
    of_use = source.replace("* v[j]; }", "* v[j]; }\n    if (j == d) return;")
    assert _fixed(of_use, "CL101")[0] == of_use


def test_types_that_have_no_vector_are_moved_as_words() -> None:
    source = _ROWS.replace("const float *a", "const signed char *a")
    assert (
        "*reinterpret_cast<uint4 *>(a_part) = *reinterpret_cast<const uint4 *>(&a[i * d + j_first]);"
        in _fixed(source, "CL101")[0]
    )


def test_rows_of_a_length_that_the_program_gives() -> None:
    """With 1000 elements the loop as it was is for other lengths, which is nothing to report."""
    source = _ROWS.replace("float *out, int n, int d) { rows", "float *out, int n, int d = 1000) { d = 1000; rows")
    fixed, _ = _fixed(source, "CL101")
    assert "if (d % 4 == 0) {" in fixed
    assert _fixed(fixed, "CL101")[0] == fixed


_OF_ANY_TYPE = """template <typename T>
__global__ void pairs(const T *in, T *out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    out[2 * i] = 1;
    out[2 * i + 1] = 2 * n;
}
void run(const float *in, float *out, const short *small, short *shorts, int n) {
    pairs<<<64, 256>>>(in, out, n);
    pairs<<<64, 256>>>(small, shorts, n);
}
"""


def test_a_vector_of_what_a_template_is_for() -> None:
    """2 stores of 8 sectors each of floats, or of 4 of shorts, become one of 8 or 4."""
    fixed, _ = _fixed(_OF_ANY_TYPE, "CL101")
    stored = """    struct alignas(2 * sizeof(T)) Out2 { T x, y; };
    *reinterpret_cast<Out2 *>(&out[2 * i]) = Out2{static_cast<T>(1), static_cast<T>(2 * n)};
"""
    old = _OF_ANY_TYPE[_OF_ANY_TYPE.index("    out[2") : _OF_ANY_TYPE.index("}\nvoid")]
    assert fixed == _OF_ANY_TYPE.replace(old, stored)
    assert _fixed(fixed, "CL101")[0] == fixed


def test_stores_of_what_is_loaded_from_another_array() -> None:
    """Two arguments may be one array, so that somebody has to look."""
    source = _OF_ANY_TYPE.replace("= 1;", "= in[i + 9];").replace("2 * n;", "in[i + 7];")
    fixed, kinds = _fixed(source, "CL101")
    stored = "= Out2{static_cast<T>(in[i + 9]), static_cast<T>(in[i + 7])};"
    assert f"    *reinterpret_cast<Out2 *>(&out[2 * i]) {stored}\n}}" in fixed
    assert kinds == {"unsafe"}
    own = source.replace("in[i + 7]", "out[i + 7]")
    assert _fixed(own, "CL101")[0] == own


def test_a_vector_that_is_declared_for_its_loads() -> None:
    stores = "    out[2 * i] = 1;\n    out[2 * i + 1] = 2 * n;"
    source = _OF_ANY_TYPE.replace(stores, "    out[i] = in[2 * i] + in[2 * i + 1];")
    loaded = """    struct alignas(2 * sizeof(T)) In2 { T x, y; };
    const In2 in2 = *reinterpret_cast<const In2 *>(&in[2 * i]);
    out[i] = in2.x + in2.y;
"""
    assert loaded in _fixed(source, "CL101")[0]


def test_tiles_of_elements_of_several_sizes_and_of_pointers_that_were_moved() -> None:
    """16 warps of 8 columns of 34 doubles are 34 KiB, and 36 floats each keep 4 rows out of each other's banks."""
    source = """template <typename T>
__global__ void sums(int d, const T *in, T *out) {
    int i = blockIdx.x * 512 + threadIdx.x;
    out += i * d;
    T factor = in[i];
    for (int j = 0; j < d; ++j) out[j] = factor * j;
}
void run(const float *in, float *out, const double *wide, double *doubles) {
    sums<<<64, 512>>>(132, in, out);
    sums<<<64, 512>>>(132, wide, doubles);
}
"""
    fixed, _ = _fixed(source, "CL101")
    assert "__shared__ T out_tile[16][8][32 + 16 / sizeof(T)];" in fixed
    assert "out[row - (i * d) + (j_first + lane % 8)] = out_tile[warp][lane % 8][of];" in fixed
    moved_again = source.replace("= factor * j;", "= factor * j;\n    out += n;").replace("(int d", "(int n, int d")
    moved_again = moved_again.replace("(132", "(4, 132")
    assert _fixed(moved_again, "CL101")[0] == moved_again


_ASKED = """__global__ void spread(const int *in, int *out, int n) {
    __shared__ int s[256];
    s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    if (s[255 - threadIdx.x] > n) s[threadIdx.x] = n;
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}
void run(const int *in, int *out) { spread<<<64, 256>>>(in, out, 100); }
"""


def test_all_ask_before_those_store_for_whom_it_holds() -> None:
    fixed, kinds = _fixed(_ASKED, "CL301")
    asked = """    const bool holds = s[255 - threadIdx.x] > n;
    __syncthreads();
    if (holds) s[threadIdx.x] = n;
"""
    assert fixed == _ASKED.replace("    if (s[255 - threadIdx.x] > n) s[threadIdx.x] = n;\n", asked)
    assert kinds == {"unsafe"}
    within = _ASKED.replace("    if (s[", "    if (threadIdx.x % 2)\n    if (s[")
    assert "holds" not in _fixed(within, "CL301")[0]


@pytest.mark.parametrize("launch", ["", "void run(const float *a, float *b, int n) { rows<<<64, 64>>>(a, b, n); }"])
def test_no_edit_asks_for_what_arguments_have_to_be(launch: str) -> None:
    """A program may have a way of its own for other sizes: an `assert` or a guard would end it, or leave work undone.
    What may be done is told in words."""
    source = f"""__global__ void rows(const float *in, float *out, int columns) {{
    int i = blockIdx.x * columns + 4 * threadIdx.x;
    *reinterpret_cast<float4 *>(&out[i]) = *reinterpret_cast<const float4 *>(&in[i]);
}}
{launch}
"""
    fixed, kinds = _fixed(source, "CL102")
    assert fixed == source
    assert kinds == {"display"}


_SHARES = """__global__ void shares(const float *in, const int *bins, TYPE *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (threadIdx.x < n) { UPDATE }
}
void run(const float *in, const int *bins, TYPE *out) { shares<<<64, 256>>>(in, bins, out, 200); }
"""


@pytest.mark.parametrize(
    ("kind", "update", "becomes"),
    [
        ("float", "out[3] += x * in[i];", "atomicAdd(&out[3], x * in[i]);"),
        ("double", "*out -= x;", "atomicAdd(out, -double(x));"),
        ("int", "out[0] += i;", "atomicAdd(&out[0], i);"),
        ("unsigned int", "*out -= bins[i];", "atomicAdd(out, -(unsigned int)(bins[i]));"),
        ("int", "*out -= 2 * i;", "atomicAdd(out, -int(2 * i));"),
        ("int", "out[1] |= 1 << (bins[i] & 31);", "atomicOr(&out[1], 1 << (bins[i] & 31));"),
        ("int", "*out = max(*out, bins[i]);", "atomicMax(out, bins[i]);"),
        ("float", "out[2] = out[2] + x * 2;", "atomicAdd(&out[2], x * 2);"),
        # An integer would be given a product that is cut off before it is added.
        ("int", "*out += x * 1.5f;", None),
        ("int", "*out += x;", None),
        # 3 is put back more than the element.
        ("float", "*out = *out + x - 3 * *out;", None),
        # No atomic multiplies.
        ("float", "*out *= x;", None),
        ("float", "*out = fmaxf(*out, x);", None),
        ("short", "*out += i;", None),
    ],
)
def test_shares_of_threads_become_atomics(kind: str, update: str, becomes: str | None) -> None:
    source = _SHARES.replace("TYPE", kind).replace("UPDATE", update)
    fixed, kinds = _fixed(source, "CL305")
    assert fixed == (source if becomes is None else source.replace(update, becomes))
    assert kinds == {"display" if becomes is None else "unsafe"}


def test_what_all_threads_of_a_block_do_may_be_meant_once() -> None:
    source = """__global__ void counts(int *count) { *count += 1; }
void run(int *count) { counts<<<1, 256>>>(count); }
"""
    assert _fixed(source, "CL305") == (source, {"display"})


def test_shares_in_shared_memory_become_atomics() -> None:
    source = """__global__ void histogram(const int *in, int *out) {
    __shared__ int count[256];
    count[threadIdx.x] = 0;
    __syncthreads();
    count[in[blockIdx.x * 256 + threadIdx.x] & 255]++;
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = count[threadIdx.x];
}
void run(const int *in, int *out) { histogram<<<64, 256>>>(in, out); }
"""
    fixed, kinds = _fixed(source, "CL301")
    update = "count[in[blockIdx.x * 256 + threadIdx.x] & 255]"
    assert fixed == source.replace(f"{update}++;", f"atomicAdd(&{update}, 1);")
    assert kinds == {"unsafe"}


def test_blocks_that_keep_to_their_own_elements_take_a_barrier() -> None:
    source = """__global__ void rotated(float *a) {
    int base = blockIdx.x * 256;
    float v = a[base + (threadIdx.x + 1) % 256];
    a[base + threadIdx.x] = v;
}
void run(float *a) { rotated<<<64, 256>>>(a); }
"""
    fixed, kinds = _fixed(source, "CL305")
    store = "    a[base + threadIdx.x] = v;"
    assert fixed == source.replace(store, f"    __syncthreads();\n{store}")
    assert kinds == {"safe"}
    shared = source.replace("(threadIdx.x + 1) % 256", "threadIdx.x + 1")
    assert _fixed(shared, "CL305")[0] == shared


_LISTS = """
__global__ void sums(const int *lists, const float *values, float *out, int most) {
    int i = blockIdx.x * 256 + threadIdx.x;
    const int *list = lists + i * most;
    float sum = 0;
    for (int k = FIRST; k < most; k++) sum += values[list[k]];
    out[i] = sum;
}
void run(const int *a, const float *b, float *c) { sums<<<1024, 256>>>(a, b, c, 128); }
"""


@pytest.mark.parametrize(("first", "has_vectors"), [("0", True), ("4", True), ("2", True), ("1", False)])
def test_no_vectors_are_advised_where_none_begins(first: str, has_vectors: bool) -> None:
    """Lists of 128 integers whose first is their length: no vector begins at the second one."""
    report = check_file(
        CheckJob(
            "a.cu", AnalysisOptions(unsaved=(("a.cu", _LISTS.replace("FIRST", first)),)), Selection(("CL101",)),
            pictures=False,
        )
    )  # fmt: skip
    assert isinstance(report, FileReport)
    [found] = [one for one in report.diagnostics if "`lists`" in one.message]
    assert (found.suggestion is not None and "vector" in found.suggestion.message) is has_vectors


_POINTS = """__global__ void points(short2 *out, const float *in) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {before}
    {point}.x = tanf(in[i]);
    {point}.y = tanf(in[i] + 1);
}}
int main() {{
    short2 *out;
    float *in;
    cudaMalloc(&out, 1 << 20);
    cudaMalloc(&in, 1 << 20);
    points<<<64, 256>>>(out, in);
}}
"""


def test_a_vector_is_stored_as_what_it_is() -> None:
    fixed, _ = _fixed(_POINTS.format(before="", point="out[i]"), "CL101")
    assert "    out[i] = make_short2(tanf(in[i]), tanf(in[i] + 1));\n" in fixed


def test_a_reference_to_a_vector_is_not_looked_at_anew() -> None:
    source = _POINTS.format(before="short2 &point = out[i];", point="point")
    assert _fixed(source, "CL101")[0] == source


_STRUCTS = """{before}
struct Pair {{ float a, b; }};
{behind}
__global__ void copied(Pair *out, const Pair *in) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}}
int main() {{
    Pair *in, *out;
    cudaMalloc((void **)&in, 1 << 20);
    cudaMalloc((void **)&out, 1 << 20);
    Pair *host = (Pair *)malloc(1 << 20);
    copied<<<64, 256>>>(out, in);
}}
"""


@pytest.mark.parametrize(
    ("before", "behind", "is_aligned"),
    [
        ("", "", True),
        ("struct __align__(16) Other { float a, b, c, d; };", "", True),
        ("struct __align__(8) Aligned { float a, b; };", "", False),
        ("", "struct Line { float width; Pair ends[2]; };", False),
        ("", "struct Wide : Pair { float c; };", False),
        ("#pragma pack(push, 1)", "#pragma pack(pop)", False),
        ("", "__device__ Pair *of(char *bytes) { return reinterpret_cast<Pair *>(bytes + 4); }", False),
    ],
)
def test_a_struct_is_aligned_where_nothing_rests_on_how_it_lies(before: str, behind: str, is_aligned: bool) -> None:
    fixed, _ = _fixed("#include <cstdlib>\n" + _STRUCTS.format(before=before, behind=behind), "CL101")
    assert ("struct __align__(8) Pair" in fixed) == is_aligned

"""CL101: the names of patterns, and remedies that the model has tried."""

from __future__ import annotations

import pytest
from linting import advice, lint

from cudalint.diagnostics import Diagnostic


def _kernel(body: str, block: str = "256", parameters: str = "const float *in, float *out", types: str = "") -> str:
    names = ", ".join(parameter.replace("*", " ").split()[-1] for parameter in parameters.split(","))
    return f"""
        {types}
        __global__ void kernel({parameters}) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            {body}
        }}
        void launch({parameters}) {{ kernel<<<dim3(8, 8), dim3({block})>>>({names}); }}
    """


def _only(source: str) -> Diagnostic:
    (diagnostic,) = lint(source, "CL101")
    return diagnostic


def test_the_message_has_the_figures_and_the_pattern() -> None:
    diagnostic = _only(_kernel("out[8 * i] = 0;"))
    assert diagnostic.message == (
        "32 sectors per request, ideal 4: 88% of the traffic of `out` is wasted (stride 8 elements)"
    )
    assert diagnostic.figures == {"sectors_per_request": 32.0, "ideal_sectors": 4.0, "wasted_traffic_share": 0.875}
    assert diagnostic.suggestion is None


def test_reversed_roles_are_exchanged_if_that_is_all() -> None:
    diagnostic = _only(_kernel("out[x * 128 + y] = 0;", block="16, 16"))
    assert "roles of x and y are reversed" in diagnostic.message
    assert advice(diagnostic) == (
        "exchange `threadIdx.x` and `threadIdx.y` throughout the kernel;"
        " its global accesses take 75% fewer sectors together"
    )


def test_a_row_that_a_loop_walks_along_takes_an_exchange() -> None:
    """Lane by lane a column of A takes 32 sectors and an element of B one; exchanged these are 1 and 4, in each of 128
    iterations."""
    body = "float sum = 0; for (int k = 0; k < 128; k++) sum += A[x * 128 + k] * B[k * 128 + y]; C[x * 128 + y] = sum;"
    source = _kernel(body, block="32, 32", parameters="const float *A, const float *B, float *C")
    found = next(one for one in lint(source, "CL101") if "`A`" in one.message)
    assert advice(found).startswith("exchange `threadIdx.x` and `threadIdx.y` throughout the kernel; its global")
    assert found.suggestion is not None
    assert found.suggestion.after == {"sectors_per_request": 1.0}


def test_a_column_in_a_block_of_one_dimension_has_no_other_role() -> None:
    diagnostic = _only(_kernel("out[i * 1024] = 0;"))
    assert diagnostic.suggestion is None


def test_a_transposition_is_staged_since_an_exchange_only_moves_the_cost() -> None:
    diagnostic = _only(_kernel("out[x * 256 + y] = in[y * 256 + x];", block="32, 32"))
    assert advice(diagnostic).startswith("stage a tile through shared memory: write `out`")
    assert diagnostic.suggestion is not None
    assert diagnostic.suggestion.after == {"sectors_per_request": 4.0}


def test_fields_that_fill_a_record_are_loaded_at_once() -> None:
    types = "struct Pair { float a, b; };"
    source = _kernel("out[i] = p[i].a + p[i].b;", parameters="const Pair *p, float *out", types=types)
    first, second = lint(source, "CL101")
    assert advice(first) == advice(second) == "load the 2 fields of a struct at once, as one 8-byte vector"
    assert first.suggestion is not None
    # Two requests of 8 sectors each become one.
    assert (first.suggestion.before, first.suggestion.after) == ({"sectors": 16.0}, {"sectors": 8.0})


def test_a_single_field_wants_an_array_of_its_own() -> None:
    types = "struct Body { float x, y, z, mass, charge; };"
    diagnostic = _only(_kernel("out[i] = b[i].mass;", parameters="const Body *b, float *out", types=types))
    assert "field of a 20-byte struct" in diagnostic.message
    assert "structure of arrays" in advice(diagnostic)


def test_a_record_of_which_each_lane_takes_most_is_left_whole() -> None:
    """Three of five fields are 12 of 20 bytes; two are 8."""
    types, parameters = "struct Body { float x, y, z, mass, charge; };", "const Body *b, float *out"
    three = lint(_kernel("out[i] = b[i].x + b[i].y * b[i].mass;", parameters=parameters, types=types), "CL101")
    assert three and not any(one.suggestion for one in three)
    two = lint(_kernel("out[i] = b[i].x * b[i].mass;", parameters=parameters, types=types), "CL101")
    assert two and all("structure of arrays" in advice(one) for one in two)


def test_a_struct_is_copied_as_its_alignment_allows() -> None:
    types = "struct Packet { float v[8]; };"
    diagnostics = lint(_kernel("q[i] = p[i];", parameters="const Packet *p, Packet *q", types=types), "CL101")
    assert len(diagnostics) == 2
    assert all("`__align__(16)`" in advice(diagnostic) for diagnostic in diagnostics)


def test_a_run_for_each_thread() -> None:
    diagnostic = _only(_kernel("float s = 0; for (int j = 0; j < 64; j++) s += in[i * 64 + j]; out[i] = s;"))
    assert "each thread walks along a run of 64 elements of its own" in diagnostic.message
    assert advice(diagnostic).startswith("let neighbouring threads take neighbouring elements")
    part = _only(_kernel("float s = 0; for (int j = 0; j < 8; j++) s += in[i * 64 + j]; out[i] = s;"))
    assert "each thread walks along 8 elements of its own, 64 elements from one thread's to the next" in part.message


def test_narrow_blocks_are_widened() -> None:
    diagnostic = _only(_kernel("out[y * 1024 + x] = 0;", block="4, 64"))
    assert "rows of only 16 bytes, as `blockDim.x` is 4" in diagnostic.message
    assert advice(diagnostic).startswith("launch blocks of 32x8 in place of 4x64")


def test_an_argument_that_a_stride_comes_from_is_named() -> None:
    source = _kernel("out[i * pitch] = 0;", parameters="float *out, int pitch").replace("(out, pitch)", "(out, 48)")
    assert "stride 48 elements with `pitch` = 48" in _only(source).message


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = in[i + 1];",  # one sector too many
        "out[i] = in[blockIdx.x];",  # one address for all
        "if (threadIdx.x == 0) out[blockIdx.x] = 0;",  # one thread
        "out[i] = in[(int)in[i]];",  # loaded addresses have no figure
        "float s = 0; for (int j = 0; j < 4096; j++) s += in[j * 2048 + i]; out[8 * i] = s;",  # rare
    ],
)
def test_nothing_to_say(body: str) -> None:
    assert lint(_kernel(body), "CL101") == ()


def test_calls_are_shown() -> None:
    helper = "__device__ float third(const float *p, int i) { return p[3 * i]; }"
    source = _kernel("out[i] = third(in, i);", types=helper)
    diagnostic = _only(source)
    [related] = diagnostic.related
    line = source.split("\n")[related.place.line - 1]
    assert related.message == "called from here"
    assert line[related.place.column - 1 : related.place.end_column - 1] == "third(in, i)"


def test_every_other_lane_has_gaps_whatever_the_idle_lanes_would_address() -> None:
    diagnostic = _only(_kernel("int o = -1; if (i % 2 == 0) o = i + 1; if (o != -1) out[o] = 0;"))
    assert "only 16 of 32 lanes are active, with gaps between them" in diagnostic.message


def test_rows_are_as_long_as_most_requests_have_them() -> None:
    body = "int a = x - 3; if (a < 0) a = -a; out[y * 128 + x] = in[y * 128 + a];"
    diagnostic = _only(_kernel(body, block="16, 16"))
    assert "rows of 64 bytes" in diagnostic.message


def test_lanes_that_leave_a_loop_early_walk_along_rows_all_the_same() -> None:
    kernel = _kernel("for (int j = 0; j <= i % 64; j++) out[i * 1024 + j] = 0;", parameters="float *out")
    diagnostic = _only(kernel.replace("dim3(8, 8)", "8"))
    assert "each thread walks along a row of its own" in diagnostic.message


def test_a_record_written_by_fields_is_a_run_of_records() -> None:
    types = "struct Point { float x, y, z; };"
    body = "for (int j = 0; j < 300; j++) { Point q = {0, 0, 0}; p[i * 300 + j] = q; }"
    diagnostic = _only(_kernel(body, parameters="Point *p, float *out", types=types))
    assert "each thread walks along a row of its own" in diagnostic.message


def test_nobody_is_asked_to_declare_a_librarys_struct_anew() -> None:
    types = "#include <curand_kernel.h>"
    source = _kernel(
        "curandState s = p[i]; out[i] = curand_uniform(&s); p[i] = s;",
        parameters="curandState *p, float *out",
        types=types,
    )
    for diagnostic in lint(source, "CL101"):
        assert diagnostic.suggestion is None


def test_a_stride_comes_from_no_argument_that_is_a_fraction() -> None:
    """A weight that happens to be 100 has nothing to do with rows of 50 pairs."""
    source = """
        __global__ void costs(const float *in, float *out, int n, int pairs, float weight) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            out[i] = in[i * n * pairs] * weight;
        }
        void run(float *in, float *out) { costs<<<64, 256>>>(in, out, 50, 2, 100.0f); }
    """
    assert _only(source).message.endswith("(stride 100 elements)")


def test_articles() -> None:
    types = "struct Pair { float a, b; };"
    diagnostic = _only(_kernel("out[i] = p[i].a;", parameters="const Pair *p, float *out", types=types))
    assert "field of an 8-byte struct" in diagnostic.message


def test_vectors_of_two_halves_are_copied_as_narrower_ones() -> None:
    """Nobody can keep the components of a `double4` in arrays of their own that copies doubles by it."""
    source = """
        __global__ void k(const double *in, double *out) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            reinterpret_cast<double4 *>(out)[i] = reinterpret_cast<const double4 *>(in)[i];
        }
        void run(double *a, double *b) { k<<<64, 256>>>(a, b); }
    """
    advices = [advice(diagnostic) for diagnostic in lint(source, "CL101")]
    assert len(advices) == 2
    assert all(text.startswith("copy 16 bytes in each lane, such as a `float4`") for text in advices)


def test_no_access_pays_for_an_exchange() -> None:
    """Exchanged, four reads of columns (32 sectors) become reads of rows (4) and one read of a row the reverse: the sum
    falls from 4 * 32 + 4 + 4 to 4 * 4 + 32 + 4, and what gets worse is an input all the same."""
    columns = " + ".join(f"in[x * 1024 + y + {8 * n}]" for n in range(4))
    body, parameters = f"out[0] = {columns} + b[y * 1024 + x];", "const float *in, const float *b, float *out"
    found = lint(_kernel(body, "32, 32", parameters), "CL101")
    assert len(found) == 4
    assert not any("exchange `threadIdx.x`" in (one.suggestion.message if one.suggestion else "") for one in found)


def test_an_exchange_has_to_be_right_for_every_launch() -> None:
    """Rows of `a` elements, read by columns: exchanged that becomes rows, in any block. Rows of `b` elements, read by
    rows, become columns, which is no matter where b is 0 and each row is the first one."""
    body = "out[x * a + y] = in[y * b + x];"
    parameters = "const float *in, float *out, int a, int b"
    launch = "\nvoid {}(const float *in, float *out) {{ kernel<<<dim3(8, 8), dim3(32, 32)>>>(in, out, 1024, {}); }}"
    source = _kernel(body, "32, 32", parameters).partition("void launch")[0]
    flat, both = source + launch.format("flat", 0), source + launch.format("flat", 0) + launch.format("rows", 1024)
    found = lint(flat, "CL101")
    assert advice(found[0]).startswith("exchange `threadIdx.x` and `threadIdx.y`")
    found = lint(both, "CL101")
    assert found
    assert not any("exchange `threadIdx.x`" in (one.suggestion.message if one.suggestion else "") for one in found)


_VIEWED = "struct alignas(16) Eight { int4 a, b; };"


def test_a_plain_array_has_no_fields() -> None:
    """Copies of 32 bytes that a cast makes of an array of numbers go 16 bytes at a time: 32 lanes touch half of
    each piece, 32 sectors, where 16 bytes in each of 32 neighbouring lanes are 16 sectors."""
    body = "((Eight *)out)[i] = ((const Eight *)in)[i];"
    found = lint(_kernel(body, types=_VIEWED), "CL101")
    assert {advice(one) for one in found} == {
        "copy 16 bytes in each lane, such as a `float4`, and let neighbouring lanes copy neighbouring ones"
    }


def test_records_that_are_taken_whole_stay_whole() -> None:
    """Each sector is used in full, so that arrays of fields would save nothing that the memory moves."""
    body = "out[i] = in[i];"
    found = lint(_kernel(body, parameters="const Eight *in, Eight *out", types=_VIEWED), "CL101")
    assert all("structure of arrays" not in advice(one) for one in found if one.suggestion is not None)


def test_a_short_run_of_a_thread_is_loaded_as_vectors() -> None:
    """Eight loads of 4 bytes, 32 bytes apart, touch 32 sectors each; two of 16 bytes touch 32 sectors each."""
    found = _only(_kernel("float s = 0; for (int k = 0; k < 8; k++) s += in[8 * i + k]; out[i] = s;"))
    assert advice(found) == "load the 8 elements of a thread at once, as vectors of 16 bytes"
    assert found.suggestion is not None
    assert (found.suggestion.before, found.suggestion.after) == ({"sectors": 256.0}, {"sectors": 64.0})


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0; for (int k = 0; k < 8; k++) s += in[8 * i + k + 1]; out[i] = s;",  # Begins off 16 bytes.
        "float s = 0; for (int k = 0; k < 32; k++) s += in[32 * i + k]; out[i] = s;",  # 128 bytes are no short run.
    ],
)
def test_other_runs_are_no_vectors(body: str) -> None:
    assert advice(_only(_kernel(body))).startswith("let neighbouring threads take neighbouring elements")


def test_a_run_that_is_not_taken_in_full_is_no_vector() -> None:
    suggestion = _only(_kernel("float s = 0; for (int k = 0; k < 7; k++) s += in[8 * i + k]; out[i] = s;")).suggestion
    assert suggestion is None or "vector" not in suggestion.message

"""CL201: what is suggested was proven over all accesses of the array, and nothing else is suggested."""

from __future__ import annotations

import pytest
from linting import advice, lint

from cudalint.diagnostics import Diagnostic


def _tile(columns: int, block: int = 32, store: str = "t[y][x]", load: str = "t[x][y]", kind: str = "float") -> str:
    return f"""
        __global__ void kernel(const {kind} *in, {kind} *out) {{
            __shared__ {kind} t[{block}][{columns}];
            int x = threadIdx.x, y = threadIdx.y;
            {store} = in[y * {block} + x];
            __syncthreads();
            out[y * {block} + x] = {load};
        }}
        void launch({kind} *in, {kind} *out) {{ kernel<<<8, dim3({block}, {block})>>>(in, out); }}
    """


def _only(source: str) -> Diagnostic:
    (diagnostic,) = lint(source, "CL201")
    return diagnostic


def test_padding_is_the_cheapest_cure_of_a_column() -> None:
    diagnostic = _only(_tile(32))
    assert diagnostic.message == "32-way bank conflict on `t` (32 wavefronts per request, ideal 1)"
    assert advice(diagnostic).startswith("pad the rows to 33 elements, `t[32][33]`: 32 to 1 wavefront on this load")
    assert diagnostic.suggestion is not None
    assert (diagnostic.suggestion.before, diagnostic.suggestion.after) == ({"wavefronts": 33.0}, {"wavefronts": 2.0})
    assert diagnostic.figures == {"wavefronts_per_request": 32.0, "ideal_wavefronts": 1.0, "conflict_ways": 32.0}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        # One row further is 32 words further: the same bank.
        (_tile(32), "a row of `t` is 32 words, so a column lies in one of the 32 banks"),
        # Rows are 16 banks apart, and the third begins where the first does.
        (_tile(16, block=16), "a row of `t` is 16 words, so a column lies in 2 of the 32 banks"),
        # As 32 words, and each element has two.
        (_tile(32, kind="double"), "a row of `t` is 64 words, so a column lies in 2 of the 32 banks"),
        # 33 and 32 have no common divisor: a column is in all of them. These lanes want even words of two even rows.
        (_tile(33, load="t[2 * (x / 16)][2 * (x % 16)]"), "a row of `t` is 33 words"),
    ],
)
def test_the_length_of_a_row_says_where_columns_lie(source: str, told: str) -> None:
    assert [related.message for related in _only(source).related] == [told]


def test_padding_that_leaves_a_conflict_is_not_suggested() -> None:
    # In a 16x16 block, t[16][17] makes rows 2-way, and they were free of conflicts; a swizzle takes 1 both ways.
    assert advice(_only(_tile(16, block=16))).startswith(
        "swizzle the columns, column `c` as `c ^ row`, in every access of `t` (`cudalint explain swizzle`)"
    )


def test_narrow_elements_take_a_whole_word_of_padding() -> None:
    assert "`t[32][36]`: 8 to 1 wavefront" in advice(_only(_tile(32, kind="unsigned char")))


@pytest.mark.parametrize("load", ["t[y][x]", "t[0][x]", "t[y][0]", "t[x][y]"])
def test_no_conflict(load: str) -> None:
    assert lint(_tile(33, load=load), "CL201") == ()


def test_subscripts_that_run_on_into_the_next_row_keep_the_layout() -> None:
    # t[0][32 * x + y] means the same element, but not after padding.
    assert _only(_tile(32, load="t[0][32 * x + y]")).suggestion is None


def test_a_pointer_into_the_array_keeps_the_layout() -> None:
    assert _only(_tile(32, load="(&t[0][0] + 32 * x)[y]")).suggestion is None


def test_an_access_that_nobody_can_follow_keeps_the_layout() -> None:
    source = _tile(32).replace("__syncthreads();", "t[(int)in[x] & 31][y] = 0; __syncthreads();")
    assert all(diagnostic.suggestion is None for diagnostic in lint(source, "CL201"))


def test_what_helps_one_launch_has_to_help_all() -> None:
    # Padding by 1 cures the column for 32x32 threads. With 16x16 threads a warp has two rows, 33 words apart, that then
    # share banks with each other as they did before: no worse, so the padding stands.
    source = _tile(32) + "void again(float *in, float *out) { kernel<<<8, dim3(16, 16)>>>(in, out); }"
    store, *loads = lint(source, "CL201")
    assert (store.figures["conflict_ways"], store.launches[0].block) == (2.0, (16, 16, 1))
    assert loads
    for load in loads:
        assert load.suggestion is not None
        assert load.suggestion.after["wavefronts"] < load.suggestion.before["wavefronts"] / 8


def test_a_limit_of_shared_memory_rules_padding_out() -> None:
    # 48 KB are 96 rows of 128 floats; there is no room for a 97th word in each.
    source = """
        __global__ void kernel(float *out) {
            __shared__ float t[96][128];
            int x = threadIdx.x;
            t[x][0] = 0;
            out[x] = t[0][x];
        }
        void launch(float *out) { kernel<<<1, 32>>>(out); }
    """
    assert advice(_only(source)).startswith(("declare it transposed", "swizzle"))


_MATMUL = """
    __global__ void kernel(const float *A, const float *B, float *C, int N) {{
        __shared__ float As[16][16], Bs[16][16];
        int tx = threadIdx.x, ty = threadIdx.y;
        int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
        float sum = 0;
        for (int tile = 0; tile < N; tile += 16) {{
            As[ty][tx] = A[row * N + tile + tx];
            {store} = B[(tile + ty) * N + col];
            __syncthreads();
            for (int k = 0; k < 16; k++) sum += As[ty][k] * {load};
            __syncthreads();
        }}
        C[row * N + col] = sum;
    }}
    void launch(float *A, float *B, float *C) {{ kernel<<<dim3(64, 64), dim3(16, 16)>>>(A, B, C, 1024); }}
"""


def test_the_plain_tiled_matmul_is_clean() -> None:
    source = _MATMUL.format(store="Bs[ty][tx]", load="Bs[k][tx]")
    assert lint(source, "CL201") == () == lint(source, "CL101")


def test_the_transposed_one_is_flagged_and_no_cure_makes_it_worse() -> None:
    store, load = lint(_MATMUL.format(store="Bs[tx][ty]", load="Bs[tx][k]"), "CL201")
    assert (store.figures["conflict_ways"], load.figures["conflict_ways"]) == (8.0, 4.0)
    for diagnostic in (store, load):
        assert diagnostic.suggestion is not None
        assert diagnostic.suggestion.after["wavefronts"] < diagnostic.suggestion.before["wavefronts"] / 4


def test_a_flat_tile_gets_another_pitch() -> None:
    source = _tile(32, store="t[y * 32 + x]", load="t[x * 32 + y]").replace("t[32][32];", "t[32 * 32];")
    assert "pad the rows of 32 elements to 33, `t[i + i / 32]` for `t[i]`" in advice(_only(source))


def test_an_even_stride_gets_a_skewed_index() -> None:
    source = """
        __global__ void kernel(float *out) {
            __shared__ float s[512];
            int i = threadIdx.x;
            s[2 * i] = 0;
            out[i] = s[i];
        }
        void launch(float *out) { kernel<<<1, 256>>>(out); }
    """
    assert "`s[i + i / 32]` for `s[i]`: 2 to 1 wavefront" in advice(_only(source))


def test_the_rounds_of_a_tree_get_a_skewed_index() -> None:
    """Of ten rounds over 1024 elements the first has 16 warps with 2 wavefronts each, the next 8 with 4, ..., the fifth
    one with 32, and then one with 16, 8, 4, 2, 1: 191 for 36 requests. Skewed, all lanes have banks of their own."""
    source = """
        __global__ void reduce(float *out, const float *in) {
            __shared__ float tree[1024];
            int t = threadIdx.x, offset = 1;
            tree[t] = in[t];
            tree[t + 512] = in[t + 512];
            for (int d = 512; d > 0; d >>= 1, offset *= 2) {
                __syncthreads();
                if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
            }
            if (t == 0) out[0] = tree[1023];
        }
        void run(float *out, const float *in) { reduce<<<1, 512>>>(out, in); }
    """
    found = lint(source, "CL201")
    assert {diagnostic.message for diagnostic in found} == {
        "5.31-way bank conflict on `tree` (on average 5.31 wavefronts per request, ideal 1)"
    }
    assert len(found) == 3
    for diagnostic in found:
        assert "`tree[i + i / 32]` for `tree[i]`: 5.31 to 1 wavefront" in advice(diagnostic)


def test_the_picture_shows_the_worst_request() -> None:
    picture = _only(_tile(32)).picture
    assert picture is not None
    assert (picture.kind, picture.bytes) == ("banks", 4)
    assert len(set(picture.sample.addresses[picture.request] % 128)) == 1

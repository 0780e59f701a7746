"""Masks, unknown arguments and loaded data: what is exact, what is assumed, and what cannot be told."""

from __future__ import annotations

import pytest
from evaluating import elements, evaluate, only, results

from cudalint.facts import AccessResult

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")


def test_a_guard_takes_lanes_and_sectors_away() -> None:
    result = only(evaluate("if (t < 12) a[t] = 1;", (64, 1, 1)))
    assert (result.status, result.requests, result.active_lanes) == ("exact", 1, 12)
    assert (result.sectors_per_request, result.ideal_sectors) == (2, 2)


def test_a_partial_warp_has_fewer_lanes() -> None:
    result = only(evaluate("a[t] = 1;", (40, 1, 1)))
    assert (result.requests, result.active_lanes, result.sectors_per_request) == (2, 20, 2.5)


def test_lanes_that_return_are_gone() -> None:
    result = only(evaluate("if (t >= n) return; a[t] = 1;"))
    assert elements(result) == [[0, 1, 2, 3, 4]]


def test_a_return_in_a_function_does_not_leave_the_kernel() -> None:
    before = "__device__ int half(int x) { if (x < 8) return x; return x / 2; }"
    result = only(evaluate("a[half(t)] = 1;", before=before))
    assert elements(result) == [[t if t < 8 else t // 2 for t in range(32)]]


def test_a_switch_selects_falls_through_and_defaults() -> None:
    cases = "case 0: x = 8; case 1: x += 1; break; case 2: x = 20; break; default: x = 30;"
    result = only(evaluate(f"int x = 0; switch (t & 3) {{ {cases} }} a[x] = 1;"))
    assert elements(result) == [[(9, 1, 20, 30)[t & 3] for t in range(32)]]


def test_short_circuits_guard_the_load_on_their_right() -> None:
    first, second = results(evaluate("if (a[t] > 0 && n > 2) b[0] = 1; if (t < 4 && a[t] > 0) b[1] = 1;"))
    assert (first.active_lanes, second.active_lanes) == (32, 4)


def test_a_shuffled_index() -> None:
    result = only(evaluate("int x = __shfl_xor_sync(0xffffffffu, t, 3); a[x] = 1;"))
    assert elements(result) == [[t ^ 3 for t in range(32)]]


@pytest.mark.parametrize("mask", ["t < 16", "(t & 1) == 0", "t / 8 == 2"])
def test_other_lanes_add_nothing(mask: str) -> None:
    """Whatever the mask, the figure is that of the lanes it leaves."""
    result = only(evaluate(f"if ({mask}) a[8 * t] = 1;"))
    assert result.sectors_per_request == result.active_lanes


# --- loaded data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["n", "blockIdx.x"])
@pytest.mark.parametrize("blocks", [1, 4, 64])
def test_a_loaded_start_gives_the_mean_over_alignments(index: str, blocks: int) -> None:
    """Of the eight places where a float can start in a sector, seven take a fifth sector."""
    body = f"int start = ((int*)b)[{index}]; a[start + t] = 1;"
    result = only(evaluate(body, grid=(blocks, 1, 1)))
    assert (result.status, result.sectors_range) == ("range", (4, 5))
    assert result.sectors_per_request == pytest.approx(4.875, abs=0.1)


def test_a_loop_between_loaded_bounds_is_reached() -> None:
    result = only(evaluate("int* r = (int*)b; for (int i = r[n] + t; i < r[n + 1]; i += 32) a[i] = 1;"))
    assert result.status != "unreached"


def test_a_loaded_row_of_whole_sectors_is_exact() -> None:
    result = only(evaluate("int row = ((int*)b)[n]; a[64 * row + t] = 1;"))
    assert (result.sectors_per_request, result.sectors_range) == (4, (4, 4))


def test_an_index_that_each_lane_loads_is_data() -> None:
    result = only(evaluate("int x = ((int*)b)[t]; a[x] = 1;"))
    assert result.status == "data-dependent" and result.sectors_per_request is None
    assert result.reason is not None and "`b`" in result.reason


def test_a_mask_that_each_lane_loads_bounds_the_figure() -> None:
    """The figure is for all lanes that may come, and says so: nobody knows how many do."""
    result = only(evaluate("if (b[t] < b[t + 32]) a[t] = 1;"))
    assert (result.status, result.sectors_per_request, result.sectors_range) == ("range", 4, (1, 4))
    assert (result.active_lanes, result.reached_by_data) == (32, True)
    assert result.reason is not None and "for all lanes that may be" in result.reason


@pytest.mark.parametrize("flags", ["bool", "unsigned char", "int"])
def test_flags_that_each_lane_loads_are_mostly_set(flags: str) -> None:
    result = only(evaluate(f"if ((({flags}*)b)[t]) a[8 * t] = 1;"))
    assert (result.status, result.sectors_range) == ("range", (1, 32))
    assert result.sectors_per_request == pytest.approx(32, rel=0.02)


def test_a_value_that_random_data_never_has_leaves_the_figure_for_all_lanes() -> None:
    result = only(evaluate("if (((int*)b)[t] == 7) a[t] = 1;"))
    assert (result.status, result.sectors_per_request, result.sectors_range) == ("range", 4, (1, 4))


def test_two_masks_of_data_bound_the_figure_as_one_does() -> None:
    """Where each lets half of the lanes come, a sector of 8 floats has one of them with 1 - (3/4)^8 = 0.9."""
    result = only(evaluate("if (b[t] < b[t + 32]) if (b[t + 64] < b[t + 96]) a[t] = 1;"))
    assert (result.status, result.sectors_range) == ("range", (1, 4))
    assert result.sectors_per_request is not None and 3 <= result.sectors_per_request <= 4
    assert result.active_lanes is not None and 4 <= result.active_lanes <= 12
    assert result.reason is not None and "every fourth" in result.reason


def test_lanes_drop_out_of_a_loop_whose_length_they_loaded() -> None:
    """At first all of them are there, at last one."""
    result = only(evaluate("int left = ((int*)b)[t]; for (int k = 0; k < left; k++) a[32 * k + t] = 1;"))
    assert (result.status, result.sectors_per_request, result.sectors_range) == ("range", 4, (1, 4))
    assert (result.active_lanes, result.reached_by_data) == (32, True)


def test_lanes_drop_out_by_chance_where_each_iteration_looks_at_data() -> None:
    """A lane that has left the loop is not there any more, whatever the others do."""
    body = "for (int k = 0; k < 32; k++) { if (b[32 * k + t] < b[t + 32 * n]) break; a[32 * k + t] = 1; }"
    result = only(evaluate(body))
    assert (result.status, result.sectors_range, result.reached_by_data) == ("range", (1, 4), True)
    assert result.sectors_per_request is not None and 1 <= result.sectors_per_request <= 4


def test_lists_may_hold_records_of_several_elements() -> None:
    """Keys of some length each, one lane to a key, are read eight bytes at a time, byte by byte."""
    rows = "int* start = (int*)b; int* length = start + 64 * n; const char* key = (const char*)a + start[t]; int x = 0;"
    result = next(
        access.results[0]
        for access in evaluate(rows + "for (int k = 0; k < length[t]; k++) x += key[8 * k + 3]; b[t] = x;").accesses
        if access.bytes == 1
    )
    assert (result.status, result.sectors_per_request) == ("range", pytest.approx(32, rel=0.01))


@pytest.mark.parametrize(
    ("index", "sectors"),
    [
        # 256 floats lie in 32 sectors, and 32 lanes touch 32 (1 - (31/32)^32) of them; 16 floats lie in two.
        ("bytes[t] ^ bytes[t + 4096]", 32 * (1 - (31 / 32) ** 32)),
        ("bytes[t] & 15", 2),
        ("bytes[t] >> 4", 2),
    ],
)
def test_bytes_that_are_mixed_or_unpacked_are_codes(index: str, sectors: float) -> None:
    result = _of_bytes(f"float x = a[{index}];")
    assert result.status == "range"
    # How many of 32 sectors 32 lanes touch varies by 1.7 from warp to warp, and the mean of 16 warps by 0.43: 2%.
    assert result.sectors_per_request == pytest.approx(sectors, rel=0.06)


@pytest.mark.parametrize("use", ["float x = a[bytes[t]];", "atomicAdd((int*)a + bytes[t] - 97, 1);"])
def test_bytes_as_they_are_are_pictures_or_texts(use: str) -> None:
    """Neighbouring pixels are alike, and of the letters few are usual."""
    result = _of_bytes(use)
    assert (result.status, result.sectors_per_request) == ("data-dependent", None)


@pytest.mark.parametrize(
    ("index", "sectors"),
    # Measured on an H200 for the histograms of five programs, all of random bytes: 20.40 to 20.47 sectors.
    [("bytes[t]", 32 * (1 - (31 / 32) ** 32)), ("bytes[t] % 256", 32 * (1 - (31 / 32) ** 32)), ("bytes[t] >> 4", 2)],
)
def test_what_a_histogram_counts_is_anything(index: str, sectors: float) -> None:
    result = _of_bytes(f"atomicAdd((int*)a + ({index}), 1);")
    assert result.status == "range"
    assert result.sectors_per_request == pytest.approx(sectors, rel=0.02)


def _of_bytes(use: str) -> AccessResult:
    facts = evaluate(f"const unsigned char* bytes = (const unsigned char*)b; {use}")
    return next(access.results[0] for access in facts.accesses if access.array == "a")


def test_lanes_that_walk_through_lists_of_their_own_are_far_apart() -> None:
    """Rows of a sparse matrix, one lane each: an element and what it points to lie in 32 different sectors."""
    rows = "int* r = (int*)b; int* list = r + 64 * n;"
    body = rows + "for (int k = r[t]; k < r[t + 1]; k++) { int x = list[k]; a[x] = 1; }"
    loaded = [access.results[0] for access in evaluate(body).accesses]
    walked, gathered = loaded[-2:]
    assert walked.status == gathered.status == "range"
    assert walked.sectors_per_request == gathered.sectors_per_request == pytest.approx(32, rel=0.01)


def test_lanes_that_share_a_list_may_be_close_together() -> None:
    body = "int* r = (int*)b; for (int k = r[t / 8] + t % 8; k < r[t / 8 + 1]; k += 8) a[((int*)b)[k]] = 1;"
    assert evaluate(body).accesses[-1].results[0].status == "data-dependent"


@pytest.mark.parametrize("width", [16, 100])
def test_a_column_that_data_says_stays_in_the_lanes_own_row(width: int) -> None:
    """Rows of 64 bytes or more, one lane each: whichever columns are loaded, 32 rows are 32 sectors."""
    result = only(evaluate(f"a[t * {width} + ((int*)b)[t]] = 1;"))
    assert (result.status, result.sectors_per_request) == ("range", pytest.approx(32, rel=0.01))


@pytest.mark.parametrize("index", ["t * 9 + column", "t / 2 * 16 + column", "column * n + t", "t - column"])
def test_rows_that_share_sectors_or_that_data_chooses_are_data(index: str) -> None:
    """Ends of rows of 36 bytes lie in one sector, as two lanes of one row may, and rows may be chosen all alike."""
    assert only(evaluate(f"int column = ((int*)b)[t]; a[{index}] = 1;")).status == "data-dependent"


def test_what_a_search_by_data_left_behind_is_data() -> None:
    """The counter of a loop that is over has no value at the gather after it."""
    search = "int low = 0; while (low < n) { int m = (low + n) / 2; if (b[m] < b[t]) low = m + 1; else n = m; }"
    results = [access.results[0] for access in evaluate(search + "a[((int*)b)[low]] = 1;").accesses]
    assert [result.status for result in results[-2:]] == ["data-dependent", "data-dependent"]


_SEARCHES = {
    "until a key is found": "int i = 0; for (; i < 1000; i++) if (keys[i] == t) break;",
    "down to a key": "int i = 1000; while (i > 0) { if (keys[i] > t) i--; else break; }",
    "the last key": "int i = 0; for (int k = 0; k < 1000; k++) if (keys[k] == t) i = k;",
    "by halves": "int i = 0, j = 1000; while (i < j) { int m = (i + j) / 2; if (keys[m] > t) j = m; else i = m + 1; }",
    "by halves for data": "int i = 0, j = 1000; while (i < j) { int m = (i + j) / 2; if (keys[m] > keys[t]) j = m;"
    " else i = m + 1; }",
}


@pytest.mark.parametrize("search", _SEARCHES)
def test_where_lanes_find_keys_of_their_own_is_data(search: str) -> None:
    """All lanes look at the same elements, but each compares them with a number of its own."""
    kernel = evaluate(f"const int *keys = (const int *)b; {_SEARCHES[search]} a[i] = 1;")
    [store] = (access for access in kernel.accesses if access.array == "a")
    assert [result.status for result in store.results] == ["data-dependent"]


def test_a_sum_of_loaded_values_differs_from_lane_to_lane() -> None:
    """What a lane has added up decides how long it stays in the loop: the figure cannot be `exact`."""
    body = "float sum = 0; int q = 1; while (sum < n && q < 9) { for (int k = 0; k < q; k++) sum += b[32 * k + t]; "
    result = only(evaluate(body + "a[t + q] = 1; q++; }"))
    assert (result.status, result.sectors_range) == ("range", (1, 5))


def test_codes_of_16_bits_pick_from_a_codebook() -> None:
    """32 draws out of 65,536 entries of 32 bytes hardly ever meet: 32 sectors."""
    result = only(evaluate("a[8 * ((unsigned short*)b)[t]] = 1;"))
    assert (result.status, result.sectors_per_request) == ("range", pytest.approx(32, rel=0.01))


def test_a_flag_that_all_lanes_load_leaves_the_figure() -> None:
    result = only(evaluate("if (b[0] > 0) a[t] = 1;"))
    assert result.sectors_per_request == 4


def test_results_of_atomics_differ_from_lane_to_lane() -> None:
    result = only(evaluate("int x = atomicMax((int*)b, t); a[x] = 1;"))
    assert result.status == "data-dependent"


# --- unknown arguments --------------------------------------------------------------------------------

UNKNOWN = "unknown, other"


def test_an_unknown_width_is_assumed_and_named() -> None:
    """A row that begins anywhere takes a fifth sector."""
    result = only(evaluate("a[threadIdx.y * n + t] = 1;", (32, 4, 1), arguments=UNKNOWN))
    assert (result.status, result.sectors_per_request, result.sectors_range) == ("assumed", 4, (4, 5))
    assert [_of(text, "n") % 8 for text in result.assumptions] == [0]


@pytest.mark.parametrize("blocks", [1, 8])
def test_an_unknown_bound_is_taken_to_leave_warps_whole(blocks: int) -> None:
    """For 17 elements, the only request has 3 sectors; from 32 on it has 4. It is good with all numbers."""
    body = "int i = blockIdx.x * blockDim.x + t; if (i < n) a[i] = 1;"
    result = only(evaluate(body, grid=(blocks, 1, 1), arguments=UNKNOWN))
    assert (result.status, result.sectors_per_request, result.condition) == ("assumed", 4, "")
    assert [_of(text, "n") >= 32 * blocks for text in result.assumptions] == [True]


def test_an_unknown_flag_that_must_hold_is_taken_to_hold() -> None:
    result = only(evaluate("if (n == 3) a[t] = 1;", arguments=UNKNOWN))
    assert (result.status, result.sectors_per_request, result.assumptions) == ("assumed", 4, ("n = 3",))


def _of(assumption: str, name: str) -> int:
    """The number that is assumed."""
    text, number = assumption.split(" = ")
    assert text == name
    return int(number)


def test_both_sides_of_an_unknown_flag_are_evaluated() -> None:
    found = results(evaluate("if (n == 3) a[t] = 1; else a[8 * t] = 1;", arguments=UNKNOWN))
    assert [r.sectors_per_request for r in found] == [4, 32]


def test_division_and_remainder_of_an_unknown_width_cancel() -> None:
    result = only(evaluate("int i = blockIdx.x * 256 + t; a[(i / n) * n + i % n] = 1;", arguments=UNKNOWN))
    assert result.sectors_per_request == 4


@pytest.mark.parametrize("arguments", ["unknown, other", "other, unknown"])
def test_a_quotient_of_unknown_sizes_is_a_size_too(arguments: str) -> None:
    """Whichever of the two was made up the larger: the rows of `n / m` elements are no rows of none."""
    body = "int row = n / m; a[row * (blockIdx.x + threadIdx.y) + t] = 1;"
    result = only(evaluate(body, (32, 4, 1), (64, 1, 1), arguments))
    assert (result.status, result.sectors_per_request) == ("assumed", 4)
    m, n = (_of(text, name) for text, name in zip(sorted(result.assumptions), "mn", strict=True))
    assert n > m > 0 and n // m % 8 == 0


def test_a_quotient_by_a_number_is_assumed() -> None:
    """An unknown size changes its quotient by 24,576 only in steps of that size; a start may lie anywhere."""
    result = only(evaluate("a[n / 24576 * (threadIdx.y + 1) + t] = 1;", (32, 4, 1), arguments=UNKNOWN))
    assert result.status == "assumed"
    assert result.sectors_range is not None and result.sectors_range[1] > result.sectors_range[0]
    [text] = result.assumptions
    assert result.sectors_per_request == (5 if _of(text, "n") // 24576 % 8 else 4)


def test_an_index_loaded_where_a_search_by_data_ended() -> None:
    """The length of the search is one value; what decides it lies inside the loop and has no value outside."""
    body = "long long x = 0; while (((int*)b)[32 * x + t] > 0) x++; int i = ((signed char*)b)[x]; a[64 * i] = 1;"
    assert evaluate(body).accesses[-1].results[0].status in ("range", "data-dependent")


@pytest.mark.parametrize("length", ["n", "((int*)b)[n]"])
def test_requests_that_would_leave_a_shared_array_are_never_made(length: str) -> None:
    """Only strides of 1 and 2 stay inside of 64 floats: 1 and 2 wavefronts, whatever the length is taken to be."""
    body = f"__shared__ float few[64]; int length = {length}; for (int k = 1; k < length; k++) few[t * k] = 1;"
    result = evaluate(body, arguments="unknown, other").accesses[-1].results[0]
    assert result.wavefronts_range == (1, 2)

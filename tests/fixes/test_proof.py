"""Edits are refused for what becomes of the rest of the kernel, and not only for what they are to cure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts
from cudalint.fixes.earlier import EarlierTrials, Outcome
from cudalint.fixes.proof import IS_BROKEN, Lasted, Proof, proven
from cudalint.fixes.trial import Edited, Linted
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import check_file, report_on
from cudalint.run.job import CheckJob

_SOURCE = """__global__ void kernel(const float *in, const unsigned char *data, const unsigned *words, float *out) {
    __shared__ float t[32][32];
    __shared__ int bins[8192];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    atomicAdd(&bins[data[threadIdx.y * 32 + threadIdx.x] *  1], 1);
    if (words[threadIdx.y * 32 + threadIdx.x] % 64 == 0) out[8192 + threadIdx.y * 32 + threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < 99) out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void launch(const float *in, const unsigned char *data, const unsigned *words, float *out) {
    kernel<<<8, dim3(32, 32)>>>(in, data, words, out);
}
"""


def _linted(text: str, code: str = "CL201") -> tuple[FileFacts, tuple[Diagnostic, ...]]:
    options = AnalysisOptions(unsaved=(("a.cu", text),))
    facts = analyse("a.cu", options)
    assert isinstance(facts, FileFacts)
    report = report_on(facts, CheckJob("a.cu", options, Selection((code,)), pictures=True))
    assert isinstance(report, FileReport)
    return facts, report.diagnostics


def _proof(
    facts: FileFacts, found: Sequence[Diagnostic], text: str, after: Callable[[Edited], Linted | None],
    seconds: float = 60.0,
) -> Proof:  # fmt: skip
    return Proof(
        facts, lambda names: (facts, found), after, lambda path: text, all_considered=lambda path: True, seconds=seconds
    )


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("", "", True),
        # A row of global memory becomes a column: 32 sectors for each request in place of 4.
        ("in[threadIdx.y * 32 + threadIdx.x]", "in[threadIdx.x * 32 + threadIdx.y]", False),
        # 256 bins are in 32 banks, and bins that lie 32 words apart all in one: nearly all lanes meet there.
        ("*  1]", "* 32]", False),
        # Data decide which lanes store: of every 52nd at least one is in 46% of the warps, of every 64th in 40%. That
        # are more requests, and each of them takes 5% more, which is within what random data differ by.
        ("% 64", "% 52", True),
        # Of every second lane each request has several, and takes all 4 sectors.
        ("% 64", "% 2", False),
        # The store is no longer made at all.
        ("threadIdx.x < 99", "threadIdx.x > 99", False),
    ],
)
def test_what_else_becomes_of_the_kernel(before: str, after: str, holds: bool) -> None:
    facts, found = _linted(_SOURCE)
    assert any(diagnostic.suggestion and diagnostic.suggestion.edits for diagnostic in found)

    def again(edited: Edited) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        return _linted(edited.texts["a.cu"].replace(before, after))

    proof = _proof(facts, found, _SOURCE, again)
    assert any(one.suggestion and one.suggestion.edits for one in proven(found, proof)) == holds


def test_words_stay_where_a_trial_tells_nothing() -> None:
    """There was no time for it, say: nothing speaks against what the rule advises."""
    facts, found = _linted(_SOURCE)
    advised = [one.suggestion.message for one in found if one.suggestion]

    def again(edited: Edited) -> None:
        return None

    proof = _proof(facts, found, _SOURCE, again)
    left = [one.suggestion for one in proven(found, proof) if one.suggestion]
    assert advised
    assert [one.message for one in left] == advised
    assert not any(one.edits for one in left)


# Each thread has a row of its own: lanes are 64 floats apart, and each of the 32 sectors that a load takes has 8 of
# the row's elements, of which a vector of 4 takes half at once.
_ROWS = """__global__ void rows(const float *in, const float *more, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < 64; j++) {
        sum += in[i * 64 + j];
    }
    for (int j = 0; j < 64; j++) {
        sum += more[i * 64 + j];
    }
    out[i] = sum;
}
void launch(const float *in, const float *more, float *out) { rows<<<8, 256>>>(in, more, out); }
"""


def test_edits_of_other_accesses_are_tried_at_once() -> None:
    facts, found = _linted(_ROWS, "CL101")
    tried: list[str] = []

    def again(edited: Edited) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        tried.append(edited.texts["a.cu"])
        return _linted(edited.texts["a.cu"], "CL101")

    proof = _proof(facts, found, _ROWS, again)
    told = proven(found, proof)
    assert sum(bool(one.suggestion and one.suggestion.edits) for one in told) == 2
    assert len(tried) == 1
    assert tried[0].count("reinterpret_cast") == 2


def test_where_one_of_them_fails_each_is_tried_by_itself() -> None:
    facts, found = _linted(_ROWS, "CL101")
    tried: list[str] = []

    def again(edited: Edited) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        tried.append(edited.texts["a.cu"])
        # Whoever loads `more` in vectors stores to a column.
        worse = "out[i]" if "more4" not in edited.texts["a.cu"] else "out[i * 64]"
        return _linted(edited.texts["a.cu"].replace("out[i]", worse), "CL101")

    proof = _proof(facts, found, _ROWS, again)
    holds = {one.place.line for one in proven(found, proof) if one.suggestion and one.suggestion.edits}
    assert holds == {5}
    assert [text.count("reinterpret_cast") for text in tried] == [2, 1, 1]


# Two tiles are read reversed, and a third: each lacks a barrier of its own.
_TILES = """__global__ void turned(const float *in, float *out) {
    __shared__ float a[256], b[256], c[256];
    int t = threadIdx.x;
    a[t] = in[t];
    out[t] = a[255 - t];
    b[t] = in[t + 256];
    out[t + 256] = b[255 - t];
    c[t] = in[t + 512];
    out[t + 512] = c[255 - t];
}
void launch(const float *in, float *out) { turned<<<1, 256>>>(in, out); }
"""


@pytest.mark.parametrize(
    ("where", "becomes", "holds", "barriers"),
    [
        ("-", "-", {5, 7, 9}, [3]),
        # With the barrier before line 9 the row becomes a column: 3 together, and then each half of them.
        ("__syncthreads();\n    out[t + 512]", "__syncthreads();\n    out[t * 32]", {5, 7}, [3, 1, 2, 1, 1]),
        # A barrier of a warp in place of the second one does not help: the others are tried without it.
        ("__syncthreads();\n    out[t + 256]", "__syncwarp(~0u);\n    out[t + 256]", {5, 9}, [3, 2]),
    ],
)
def test_edits_of_other_races_are_tried_at_once(
    where: str, becomes: str, holds: set[int], barriers: list[int]
) -> None:
    facts, found = _linted(_TILES, "CL301")
    tried: list[int] = []

    def again(edited: Edited) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        tried.append(edited.texts["a.cu"].count("__syncthreads"))
        return _linted(edited.texts["a.cu"].replace(where, becomes), "CL301")

    proof = _proof(facts, found, _TILES, again)
    told = proven(found, proof)
    assert {one.place.line for one in told if one.suggestion and one.suggestion.edits} == holds
    assert tried == barriers


def test_no_trial_is_begun_for_which_there_is_no_time() -> None:
    facts, found = _linted(_ROWS, "CL101")

    def again(edited: Edited) -> None:
        raise AssertionError(edited.kernels)

    proof = _proof(facts, found, _ROWS, again, 12.0)
    proof = replace(proof, lasted=Lasted({"rows": 10.0}, rest=1.0))
    told = proven(found, proof)
    assert all("not tried" in one.no_edit for one in told)
    assert all(one.suggestion and not one.suggestion.edits for one in told)


def test_what_was_tried_of_a_kernel_is_told_again() -> None:
    facts, found = _linted(_ROWS, "CL101")
    tried: list[tuple[str, ...]] = []
    kept: dict[object, Outcome] = {}

    def again(edited: Edited) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        tried.append(edited.kernels)
        return _linted(edited.texts["a.cu"], "CL101")

    proof = _proof(facts, found, _ROWS, again)
    first = proven(found, replace(proof, tried_in=lambda place: EarlierTrials(lambda line: line, kept)))
    # The kernel begins a line further down, and nothing else has changed.
    moved = "\n" + _ROWS
    facts, found = _linted(moved, "CL101")
    proof = _proof(facts, found, moved, again)
    second = proven(found, replace(proof, tried_in=lambda place: EarlierTrials(lambda line: line - 1, kept)))
    assert tried == [("rows",)]
    assert [one.no_edit for one in first] == [one.no_edit for one in second] == ["", ""]
    assert all(one.suggestion and one.suggestion.edits for one in second)


@pytest.mark.parametrize(("value", "is_offered"), [("1.0f", False), ("1.0f;", True)])
def test_a_file_with_a_syntax_error_has_no_edits(value: str, is_offered: bool) -> None:
    """What was read of it may not be what its author means."""
    text = f"__global__ void other(float *out) {{ out[threadIdx.x] = {value} }}\n{_ROWS}"
    report = check_file(CheckJob("a.cu", AnalysisOptions(unsaved=(("a.cu", text),)), Selection(), pictures=False))
    assert isinstance(report, FileReport)
    found = [d for d in report.diagnostics if d.code == "CL101"]
    assert found
    assert all(bool(d.suggestion and d.suggestion.edits) == is_offered for d in found)
    assert {d.no_edit for d in found} == {"" if is_offered else IS_BROKEN}


def test_edits_are_tried_beside_kernels_that_nothing_launches() -> None:
    """That nothing launches them is told at the first of them, which is another one where a trial leaves it out."""
    source = """__global__ void first(float *out) { out[threadIdx.x] = 0; }
__global__ void second(const float *in, float *out) {
    __shared__ float a;
    if (threadIdx.x == 0) a = in[0];
    out[threadIdx.x] = a;
}
"""
    options = AnalysisOptions(unsaved=(("a.cu", source),))
    report = check_file(CheckJob("a.cu", options, Selection(), pictures=False))
    assert isinstance(report, FileReport)
    [race] = [one for one in report.diagnostics if one.code == "CL301"]
    assert race.suggestion is not None
    assert [edit.text.strip() for edit in race.suggestion.edits] == ["__syncthreads();"]


# What the first half computes waits for nothing, and loads rows in vectors; the second half lacks a barrier.
_BOTH = """__global__ void rows(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < 64; j++) {
        sum += in[i * 64 + j];
    }
    __shared__ float t[256];
    t[threadIdx.x] = sum;
    out[i] = t[255 - threadIdx.x];
}
void launch(const float *in, float *out) { rows<<<8, 256>>>(in, out); }
"""


@pytest.mark.parametrize(("seconds", "tried"), [(60.0, ["__syncthreads", "reinterpret_cast"]), (12.0, [])])
def test_barriers_are_tried_first(seconds: float, tried: list[str]) -> None:
    """What is wrong comes before what is slow. Where there is no time for it either, the words say where it goes."""
    facts, costs = _linted(_BOTH, "CL101")
    _, races = _linted(_BOTH, "CL301")
    found = (*costs, *races)
    texts_tried: list[str] = []

    def again(edited: Edited) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        texts_tried.append(edited.texts["a.cu"])
        changed, left = _linted(edited.texts["a.cu"], "CL101")
        return changed, (*left, *_linted(edited.texts["a.cu"], "CL301")[1])

    proof = _proof(facts, found, _BOTH, again, seconds)
    [race] = [one for one in proven(found, replace(proof, lasted=Lasted({"rows": 10.0}))) if one.code == "CL301"]
    added = [next(word for word in ("__syncthreads", "reinterpret_cast") if word in text) for text in texts_tried]
    assert added == tried
    assert race.suggestion is not None
    assert race.suggestion.applicability == ("safe" if tried else "display")
    assert bool(race.suggestion.edits) == bool(tried)
    assert "put `__syncthreads()` before line 9" in race.suggestion.message


_GUARD = """__global__ void scale(const float *in, float *out, long long n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.0f * in[i];
}
void launch(long long n) {
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(in, out, n);
}
"""


def test_a_guard_is_not_refused_for_an_index_that_was_narrow_before() -> None:
    """`i` has 32 bits with and without the guard, which is what tells of the 64 that `n` has."""
    _, (found,) = _linted(_GUARD, "CL106")
    assert (found.no_edit, found.suggestion and [edit.text.strip() for edit in found.suggestion.edits]) == (
        "", ["if (i >= n) return;"],
    )  # fmt: skip


def test_a_fault_keeps_the_words_of_its_suggestion_where_the_edit_makes_something_worse() -> None:
    """What an access costs beside it is no reason to leave the elements behind an array."""
    facts, (found,) = _linted(_GUARD, "CL106")
    assert found.suggestion is not None
    proof = _proof(facts, [], _GUARD, lambda edited: (facts, [replace(found, code="CL101")]))
    (judged,) = proven([found], proof)
    assert judged.no_edit == "the change was tried, and makes something else in the kernel worse"
    assert judged.suggestion == replace(found.suggestion, edits=(), applicability="display")

"""Edits are refused for what becomes of the rest of the kernel, and not only for what they are to cure."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cudalint.diagnostics import Diagnostic
from cudalint.driver.file_findings import CheckJob, analyse, report_on
from cudalint.facts import FileFacts
from cudalint.findings.results import FileReport
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.remedies.proof import Proof, proven

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


def _linted(text: str) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
    options = AnalysisOptions(unsaved=(("a.cu", text),))
    facts = analyse("a.cu", options)
    assert isinstance(facts, FileFacts)
    report = report_on(facts, CheckJob("a.cu", options, Selection(("CL201",)), pictures=True))
    assert isinstance(report, FileReport)
    return facts, report.diagnostics


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

    def again(
        texts: Mapping[str, str], kernels: tuple[str, ...], seconds: float
    ) -> tuple[FileFacts, tuple[Diagnostic, ...]]:
        return _linted(texts["a.cu"].replace(before, after))

    proof = Proof(facts, found, again, lambda path: _SOURCE, lambda path: True, seconds=60.0)
    assert any(one.suggestion and one.suggestion.edits for one in proven(found, proof)) == holds


def test_words_stay_where_a_trial_tells_nothing() -> None:
    """There was no time for it, say: nothing speaks against what the rule advises."""
    facts, found = _linted(_SOURCE)
    advised = [one.suggestion.message for one in found if one.suggestion]

    def again(texts: Mapping[str, str], kernels: tuple[str, ...], seconds: float) -> None:
        return None

    proof = Proof(facts, found, again, lambda path: _SOURCE, lambda path: True, seconds=60.0)
    left = [one.suggestion for one in proven(found, proof) if one.suggestion]
    assert advised
    assert [one.message for one in left] == advised
    assert not any(one.edits for one in left)

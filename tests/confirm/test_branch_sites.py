"""Branches of the instrumented build: which text is wrapped, and what the counts say."""

from __future__ import annotations

import pytest

from cudalint.confirm import branch_sites, instrument
from cudalint.confirm.branch_sites import BranchSite
from cudalint.confirm.instrument import Site
from cudalint.confirm.sources import MAIN
from cudalint.confirm.trials import BranchCount
from cudalint.facts import Place


def _place(text: str, piece: str) -> Place:
    begin = text.index(piece)
    line, column = text.count("\n", 0, begin) + 1, begin - (text.rfind("\n", 0, begin) + 1) + 1
    end = begin + len(piece)
    return Place("a.cu", line, column, text.count("\n", 0, end) + 1, end - (text.rfind("\n", 0, end) + 1) + 1)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("if", "if (a < b) c();", "if (cudalint_branch<0>(bool((a < b)))) c();"),
        ("if", 'if (f(")") /* ) */) c();', 'if (cudalint_branch<0>(bool((f(")") /* ) */)))) c();'),
        ("while", "while (n-- > 0) {\n}", "while (cudalint_branch<0>(bool((n-- > 0)))) {\n}"),
        ("for", "for (i = f(1, 2); i < n; i++) c();", "for (i = f(1, 2);cudalint_branch<0>(bool(( i < n))); i++) c();"),
        ("for", "for (;;) c();", None),
        ("for", "for (int x : xs) c();", None),
        ("do", "n-- > 0", "cudalint_branch<0>(bool((n-- > 0)))"),
        ("conditional", "a < b ? (c ? 1 : 2) : 3", "cudalint_branch<0>(bool((a < b )))? (c ? 1 : 2) : 3"),
        ("if", "CHECK(a)", None),
    ],
)  # fmt: skip
def test_conditions_are_wrapped(kind: str, text: str, expected: str | None) -> None:
    whole = f"\n  {text} d();\n"
    site = BranchSite(0, _place(whole, text), kind)
    found = instrument._with_reports(whole.encode(), [site]).decode()
    assert found == (f"\n  {expected} d();\n" if expected is not None else whole)


def test_an_access_that_is_the_condition_stays_inside() -> None:
    text = "if (a[i]) c();"
    sites = [Site(0, _place(text, "a[i]"), "global", "a"), BranchSite(1, _place(text, text), "if")]
    assert instrument._with_reports(text.encode(), sites).decode() == (
        "if (cudalint_branch<1>(bool(((cudalint_at<0>(a[i])))))) c();"
    )


_SOURCE = """__device__ float half_of(float x, int n)
{
    for (int i = 0; i < n; i++)
        x *= 0.5f;
    return x;
}
__global__ void k(float *a, int n)
{
    if (threadIdx.x < 16)
        a[threadIdx.x] = half_of(a[threadIdx.x], threadIdx.x % 4);
    if (n > 5)
        a[threadIdx.x] += 1;
    a[threadIdx.x] = half_of(a[threadIdx.x], 4);
}
void f(float *p) { k<<<1, 64>>>(p, 7); }
"""


def _rows(prepared, counts: dict[int, BranchCount]) -> dict[int, tuple[object, object, str]]:  # type: ignore[no-untyped-def]
    [candidate] = prepared(_SOURCE).candidates
    sites = branch_sites.branch_sites(candidate.kernel, candidate.launch)
    by_line = {site.place.line: site.index for site in sites}
    shifted = {by_line[line]: count for line, count in counts.items()}
    found = branch_sites.rows(candidate.kernel, candidate.launch, sites, shifted)
    return {row.line: (row.measured, row.verdict, row.note) for row in found}


def test_counts_against_predictions(prepared) -> None:  # type: ignore[no-untyped-def]
    """One of two warps splits at line 9, none at line 11; the loop stands for two calls."""
    found = _rows(prepared, {3: BranchCount(10, 1), 9: BranchCount(2, 1), 11: BranchCount(2, 0)})
    assert found[9] == (0.5, "equal", "")
    assert found[11] == (0.0, "equal", "")
    assert found[3] == (None, "not measured", "several calls of the function share it")


def test_counts_that_disagree(prepared) -> None:  # type: ignore[no-untyped-def]
    """The loop parts lanes, which may come to another branch one by one."""
    found = _rows(prepared, {9: BranchCount(2, 2), 11: BranchCount(4, 1)})
    assert (found[9][1], found[11][1]) == ("not measured", "not measured")
    assert "2 of 2 executions split" in found[9][2]
    assert found[3][2].startswith("no lane came to it")


def test_nothing_else_parts_lanes(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(
        "__global__ void k(float *a)\n{\n    if (threadIdx.x < 16)\n        a[threadIdx.x] = 1;\n}\n"
        "void f(float *p) { k<<<1, 64>>>(p); }\n"
    ).candidates
    sites = branch_sites.branch_sites(candidate.kernel, 0)
    for splits, verdict in ((1, "equal"), (2, "off")):
        [row] = branch_sites.rows(candidate.kernel, 0, sites, {0: BranchCount(2, splits)})
        assert (row.predicted, row.measured, row.verdict) == (0.5, splits / 2, verdict)


def test_the_whole_kernel_is_wrapped(prepared) -> None:  # type: ignore[no-untyped-def]
    [candidate] = prepared(_SOURCE).candidates
    sites = branch_sites.branch_sites(candidate.kernel, candidate.launch)
    assert [site.index for site in sites] == [0, 1, 2]
    build = instrument.instrumented(candidate.trial, sites).build
    assert build.files[MAIN].decode().count("cudalint_branch<") == 3
    assert "#define CUDALINT_SITES 3\n" in build.prelude
    assert "cudalint_branch(bool taken)" in build.prelude

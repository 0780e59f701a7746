"""The edits of CL201: applied, and evaluated again."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import lint

from cudalint.facts import FileFacts
from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import report_on
from cudalint.run.job import CheckJob

_FIXTURES = sorted((Path(__file__).parent.parent.parent / "fixtures" / "bank-conflict").glob("*.cu"))
_WITHOUT_EDITS = {
    "copied_records",
    "few_lanes",
    "inline_ptx",
    "open_rows",
    "records_in_dynamic_arrays",
    "warp_matrices",
    "wide_copies",
}
"""Where no other layout is suggested: instructions that name their own addresses, and records in an array of words
that are read through a pointer; records whose copies fuse; few lanes, of whose branch more would be told once
their conflicts are gone; copies whose wavefronts hang on where they read, too; and rows of which nobody says how long
they are."""


def _facts(path: str, text: str) -> FileFacts:
    facts = analyse(path, AnalysisOptions(unsaved=((path, text),)))
    assert isinstance(facts, FileFacts)
    return facts


def _wavefronts(facts: FileFacts, instantiation: str, array: str) -> float:
    """Of all accesses of an array, per launch."""
    [kernel] = [kernel for kernel in facts.kernels if kernel.instantiation == instantiation]
    results = [r for access in kernel.accesses if access.array == array for r in access.results]
    assert all(r.status in ("exact", "assumed") or "still in a register" in (r.reason or "") for r in results)
    return sum(r.wavefronts_per_request or 0.0 for r in results) / len(kernel.launches)


@pytest.mark.parametrize("path", _FIXTURES, ids=lambda path: str(path.stem))
def test_edits_bring_what_was_promised(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    facts = _facts(str(path), text)
    options = AnalysisOptions(unsaved=((str(path), text),))
    job = CheckJob(str(path), options, Selection(select=("CL201",)), pictures=False)
    tried = set()
    for one in report_on(facts, job).diagnostics:
        suggestion = one.suggestion
        if suggestion is None or not suggestion.edits or suggestion.edits in tried:
            continue
        tried.add(suggestion.edits)
        changed = _facts(str(path), apply_edits(text, suggestion.edits))
        array = one.message.split("`")[1]
        assert _wavefronts(facts, one.instantiation, array) == pytest.approx(suggestion.before["wavefronts"])
        # Less per request where what the compiler had merged takes several requests now.
        assert _wavefronts(changed, one.instantiation, array) <= suggestion.after["wavefronts"] * 1.001, array
    assert bool(tried) == (path.stem not in _WITHOUT_EDITS)


def _edited(body: str, declaration: str) -> list[str]:
    """The lines that the edits of the first finding change, as they are then."""
    source = f"""__global__ void kernel(const int *in, int *out) {{
    __shared__ int {declaration};
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
{body}
}}
void launch(const int *in, int *out) {{ kernel<<<8, 256>>>(in, out); }}
"""
    suggestion = lint(source, "CL201")[0].suggestion
    if suggestion is None or not suggestion.edits:
        return []
    after = apply_edits(source, suggestion.edits).split("\n")
    return [new.strip() for old, new in zip(source.split("\n"), after, strict=True) if old != new]


@pytest.mark.parametrize(
    ("store", "load", "expected"),
    [
        ("t[y][x] = in[x];", "t[x][y]", ["t[y][x ^ y] = in[x];", "out[x] = t[x][y ^ x];"]),
        ("t[y] /*r*/ [x + 0] = in[x];", "t[x][y]", ["t[y] /*r*/ [(x + 0) ^ y] = in[x];", "out[x] = t[x][y ^ x];"]),
        ("atomicAdd(&t[y][x], 1);", "t[x][y]", ["atomicAdd(&t[y][x ^ y], 1);", "out[x] = t[x][y ^ x];"]),
        ("int i = x; t[y][i++] = in[x];", "t[x][y]", []),
        ("int *row = t[y]; row[x] = in[x];", "t[x][y]", []),
        ("t[y][x] = in[x];\n#define T(a, b) t[a][b]", "T(x, y)", []),
        ("t[y][x] = t[y][x] + 1;", "t[x][y]", ["t[y][x ^ y] = t[y][x ^ y] + 1;", "out[x] = t[x][y ^ x];"]),
    ],
)  # fmt: skip
def test_subscripts(store: str, load: str, expected: list[str]) -> None:
    assert _edited(f"    {store}\n    __syncthreads();\n    out[x] = {load};", "t[16][16]") == expected

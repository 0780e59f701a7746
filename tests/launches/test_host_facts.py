"""Host code is read for the kinds of facts that are asked for, and only where there is something to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import FileFacts
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_facts import analyse

_TEXT = """\
__global__ void fill(float *a) { a[threadIdx.x] = 1; }
void untouched() { int unused = 1; (void)unused; }
int main() {
    float *a, *h;
    cudaMalloc(&a, 4096);
    %s
    fill<<<1, 32>>>(a);
}
"""
_COPY = "h = (float *)malloc(4096); cudaMemcpyAsync(a, h, 4096, cudaMemcpyHostToDevice, 0);"


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The functions that were looked through for what host code does."""
    from cudalint.launches.program import host_facts as host

    found: set[str] = set()
    note = host._Memory.note

    def noted(self: host._Memory, function: ir.Function) -> None:
        found.add(function.name)
        note(self, function)

    monkeypatch.setattr(host._Memory, "note", noted)
    return found


def _facts(folder: Path, line: str, *kinds: Kind) -> FileFacts:
    source = folder / "fill.cu"
    source.write_text(_TEXT % line)
    facts = analyse(str(source), AnalysisOptions(kinds=frozenset(kinds)))
    assert isinstance(facts, FileFacts)
    return facts


def test_code_without_memory_of_the_host_is_not_lowered(tmp_path: Path, lowered: set[str]) -> None:
    facts = _facts(tmp_path, "", "host")
    assert facts.host is not None and not facts.host.launches
    assert not lowered


def test_a_copy_is_found_with_where_its_memory_comes_from(tmp_path: Path, lowered: set[str]) -> None:
    facts = _facts(tmp_path, _COPY, "host")
    assert facts.host is not None
    assert [(copy.buffer.name, copy.buffer.made_by) for copy in facts.host.copies] == [("h", "malloc")]
    assert lowered == {"main", "untouched"}


def test_launches_are_listed_for_whoever_asks(tmp_path: Path) -> None:
    facts = _facts(tmp_path, "", "launch_order")
    assert facts.host is not None
    assert [(step.kernel, step.place.line) for step in facts.host.launches] == [("fill", 7)]


def test_nobody_asks(tmp_path: Path, lowered: set[str]) -> None:
    assert _facts(tmp_path, _COPY, "accesses").host is None
    assert not lowered

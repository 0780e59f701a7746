"""`cudalint lsp`, spoken with as editors do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import FAILED, run
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.settings import DEFAULT_MIN_SHARE
from cudalint.registry import Selection
from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.results import FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.runs import result_of

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from editor_client import Editor
from recorded import NAME, recording_text, write_recording_in

_SOURCE = """\
__global__ void columns(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = /* \N{MUSICAL SYMBOL G CLEF} */ tile[threadIdx.x][threadIdx.y];
}

__global__ void strided(float *out, const float *in, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = in[i * 32];
}

void launch(float *out, const float *in, int n) {
    columns<<<64, dim3(32, 32)>>>(out, in);
    strided<<<4096, 256>>>(out, in, 1048576);
}
"""
_LOAD = "tile[threadIdx.x][threadIdx.y]"


def _edits() -> dict[str, str]:
    """What a user may type, each as the text that it leads to."""
    return {
        "as it was": _SOURCE,
        "a line above all": "\n" + _SOURCE,
        "half a word": _SOURCE.replace("in[i * 32]", "in[i * w"),
        "another stride": _SOURCE.replace("i * 32", "i * 2"),
        "a comment in a kernel": _SOURCE.replace("    if (i", "    // guard\n    if (i"),
        "another launch": _SOURCE.replace("<<<4096, 256>>>", "<<<4096, 96>>>"),
        "a kernel gone": _SOURCE[_SOURCE.index("__global__ void strided") :].replace("columns<<<", "// "),
        "allowed": _SOURCE.replace("    if (i", "    // cudalint: allow(uncoalesced-access) -- small\n    if (i"),
        "no code": "",
    }


def _place(text: str, piece: str) -> dict[str, Any]:
    """A piece of the text as a range in UTF-16 units."""
    before = text[: text.index(piece)]
    line, start = before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": start + len(piece)}}


def _of_fresh_run(path: Path, text: str) -> set[tuple[str, int, str]]:
    """Code, line and message of what a check of this text finds."""
    options = AnalysisOptions(unsaved=((str(path), text),))
    report = check_file(CheckJob(str(path), options, Selection(), pictures=False))
    assert isinstance(report, FileReport)
    result = result_of([report.with_least(DEFAULT_MIN_SHARE)], [], options.target)
    told = with_causes_merged(result, SourceLines({str(path): text})).diagnostics
    return {(d.code, d.place.line, d.message) for one in told for d in (one, *one.also)}


def _of(diagnostics: list[dict[str, Any]]) -> set[tuple[str, int, str]]:
    found = [d for d in diagnostics if "code" in d]
    return {(d["code"], d["range"]["start"]["line"] + 1, d["message"].split("\n")[0]) for d in found}


def test_a_session(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text("this is not what the editor holds\n")
    with Editor() as editor:
        uri = editor.open(path, _SOURCE)
        found = editor.diagnostics(uri)
        conflict = next(d for d in found if d["code"] == "CL201")
        assert conflict["range"] == _place(_SOURCE, _LOAD)
        assert conflict["codeDescription"]["href"].endswith("/CL201-bank-conflict.md")
        for name, text in _edits().items():
            editor.change(uri, text)
            assert _of(editor.diagnostics(uri)) == _of_fresh_run(path, text), name

        # 32 lanes at a distance of 32 words of 4 bytes meet in one of 32 banks.
        editor.change(uri, _SOURCE)
        editor.diagnostics(uri)
        at = _place(_SOURCE, _LOAD)["start"]
        hover = editor.hover(uri, at["line"], at["character"] + 2)
        assert "32 wavefronts per request, ideal 1; 32-way bank conflict" in hover
        assert "lanes of warp 0 below the bank that serves them" in hover
        lenses = editor.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        assert [lens["range"]["start"]["line"] for lens in lenses] == [0, 7]
        assert all(lens["command"]["title"].startswith("about ") for lens in lenses)
        assert "block 32x32, grid 64" in editor.hover(uri, 0, 17)

        actions = editor.actions(uri, conflict["range"])
        editor.apply(next(action for action in actions if action.get("isPreferred")))
        assert "tile[32][32 + 1]" in editor.text(uri)
        mended = editor.diagnostics(uri)
        assert [d["code"] for d in mended] == ["CL101"]
        allow = next(a for a in editor.actions(uri, mended[0]["range"]) if a["title"].startswith("Allow CL101"))
        editor.apply(allow)
        assert editor.diagnostics(uri) == []

        editor.close(uri)
        closed = editor._next(lambda message: message.get("method") == "textDocument/publishDiagnostics")
        assert closed["params"]["diagnostics"] == []
    assert editor.process.returncode == 0


_TWO_TILES = """\
__global__ void first(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void second(float *out, const float *in) {
    __shared__ float cells[32][32];
    cells[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = cells[threadIdx.x][threadIdx.y];
}

void launch(float *out, const float *in) {
    first<<<64, dim3(32, 32)>>>(out, in);
    second<<<64, dim3(32, 32)>>>(out, in);
}
"""
_ALL_FIXES = "source.fixAll.cudalint"


def test_all_safe_edits_at_once(tmp_path: Path) -> None:
    """As an editor asks for them when a file is saved, or when somebody looks for whatever may be done."""
    path = tmp_path / "a.cu"
    path.write_text(_TWO_TILES)
    with Editor() as editor:
        assert _ALL_FIXES in editor.capabilities["codeActionProvider"]["codeActionKinds"]
        uri = editor.open(path)
        assert [d["code"] for d in editor.diagnostics(uri)] == ["CL201", "CL201"]
        whole = _place(_TWO_TILES, _TWO_TILES.splitlines()[0])
        for only in ("source.fixAll", _ALL_FIXES, "source"):
            (action,) = editor.actions(uri, whole, only=[only])
            assert action["kind"] == _ALL_FIXES
            assert action["title"] == "Make all safe edits of cudalint in this file (2)"
        for context in ({"only": ["quickfix"]}, {"only": ["source.organizeImports"]}, {"triggerKind": 2}):
            kinds = {action["kind"] for action in editor.actions(uri, whole, **context)}
            assert _ALL_FIXES not in kinds
        assert _ALL_FIXES in {action["kind"] for action in editor.actions(uri, whole, triggerKind=1)}
        editor.apply(action)
        assert "tile[32][32 + 1]" in editor.text(uri)
        assert "cells[32][32 + 1]" in editor.text(uri)
        assert editor.diagnostics(uri) == []
        assert editor.actions(uri, whole, only=[_ALL_FIXES]) == []


def test_suppressions_of_every_reach(tmp_path: Path) -> None:
    """The line, the kernel, the file: each comment is one that is understood, and leaves nothing to report."""
    path = tmp_path / "a.cu"
    path.write_text(_TWO_TILES)
    with Editor() as editor:
        uri = editor.open(path)
        finding = editor.diagnostics(uri)[0]
        titles = {
            "Allow CL201 (bank-conflict) here, with a reason": ("allow", 1),
            "Allow CL201 (bank-conflict) in all of `first`, with a reason": ("allow-kernel", 1),
            "Allow CL201 (bank-conflict) in all of this file, with a reason": ("allow-file", 0),
        }
        for title, (kind, left) in titles.items():
            offered = editor.actions(uri, finding["range"], only=["quickfix"])
            (action,) = (action for action in offered if action["title"] == title)
            editor.apply(action)
            assert f"// cudalint: {kind}(bank-conflict) -- " in editor.text(uri)
            assert [d["code"] for d in editor.diagnostics(uri)] == ["CL201"] * left
            editor.change(uri, _TWO_TILES)
            editor.diagnostics(uri)


def test_a_header_and_settings_of_the_client(tmp_path: Path) -> None:
    """An unsaved header counts for the file that includes it, whose options come from the client; statements about a
    kernel that nothing launches are offered."""
    header, source = tmp_path / "stride.cuh", tmp_path / "b.cu"
    header.write_text("#pragma once\n#define STRIDE 1\n")
    source.write_text(
        '#include "stride.cuh"\n__global__ void k(float *p) { p[(blockIdx.x * 64 + threadIdx.x) * STRIDE] = 1; }\n'
    )
    with Editor(options={"arguments": ["--target", "h100", "--block", "64"]}, encodings=["utf-8"]) as editor:
        assert editor.capabilities["positionEncoding"] == "utf-8"
        uri, other = editor.open(source), editor.open(header)
        assert editor.diagnostics(uri) == []
        editor.diagnostics(other)
        editor.change(other, header.read_text().replace("1", "32"))
        assert [d["code"] for d in editor.diagnostics(uri)] == ["CL101"]
        assert "h100" in editor.hover(uri, 1, 17)
        launch = next(a for a in editor.actions(uri, _place(source.read_text(), "void k")) if "launched" in a["title"])
        editor.apply(launch)
        assert "// cudalint: launch(block = 64, grid = " in editor.text(uri)
        assert "CL903" not in [d["code"] for d in editor.diagnostics(uri)]


def test_a_recording_that_changes(tmp_path: Path) -> None:
    """The client says so, and open files are analysed again; one that can't be used is said of the file."""
    (tmp_path / ".git").mkdir()
    source, recording = tmp_path / "k.cu", tmp_path / NAME
    source.write_text("__global__ void k(float *p, int n) { p[(blockIdx.x * 256 + threadIdx.x) * n] = 1; }\n")
    write_recording_in(tmp_path)
    with Editor() as editor:

        def after_a_change() -> list[Any]:
            changed = [{"uri": recording.as_uri(), "type": 2}]
            editor.tell("workspace/didChangeWatchedFiles", {"changes": changed})
            return editor.diagnostics(uri)

        uri = editor.open(source)
        assert [d["code"] for d in editor.diagnostics(uri)] == ["CL101"]
        recording.write_text(recording_text().replace("32]", "1]"))
        assert after_a_change() == []
        recording.write_text("{")
        assert f"{NAME}: it holds no recorded launches" in after_a_change()[-1]["message"]
        write_recording_in(tmp_path)
        assert [d["code"] for d in after_a_change()] == ["CL101"]


def test_work_that_takes_a_while_is_shown(tmp_path: Path) -> None:
    """The first analysis, for which a worker starts and whose kernels nothing is known of."""
    path = tmp_path / "c.cu"
    kernel = "__global__ void k{0}(float *p, int n) {{ for (int i = 0; i < n; ++i) p[threadIdx.x * n + i] += {0}; }}\n"
    launch = "    k{0}<<<64, 256>>>(p, 512);\n"
    kernels, launches = ("".join(text.format(number) for number in range(20)) for text in (kernel, launch))
    path.write_text(f"{kernels}void run(float *p) {{\n{launches}}}\n")
    with Editor(shows_progress=True) as editor:
        uri = editor.open(path)
        token = editor.told("window/workDoneProgress/create")["token"]
        begun = editor.told("$/progress")
        assert (begun["token"], begun["value"]["kind"], begun["value"]["message"]) == (token, "begin", "c.cu")
        ended = editor.told("$/progress")
        assert (ended["token"], ended["value"]["kind"]) == (token, "end")
        assert editor.diagnostics(uri)


def test_files_that_wait_are_counted(tmp_path: Path) -> None:
    """An editor that starts with several files open shows how far the server is."""
    kernel = "__global__ void k{0}(float *p, int n) {{ for (int i = 0; i < n; ++i) p[threadIdx.x * n + i] += {0}; }}\n"
    text = "".join(kernel.format(number) for number in range(20))
    paths = [tmp_path / f"{name}.cu" for name in "abc"]
    for path in paths:
        path.write_text(text)
    with Editor(shows_progress=True) as editor:
        for path in paths:
            editor.open(path)
        token = editor.told("window/workDoneProgress/create")["token"]
        told = [editor.told("$/progress")]
        while told[-1]["value"]["kind"] != "end":
            told.append(editor.told("$/progress"))
        assert {each["token"] for each in told} == {token}
        assert told[0]["value"]["message"].endswith(" of 3 files)")
        shares = [each["value"]["percentage"] for each in told[:-1]]
        assert shares == sorted(shares)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert run(["lsp"]) == FAILED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "cudalint: error: `cudalint lsp` needs pygls: pip install 'cudalint[lsp]'\n"

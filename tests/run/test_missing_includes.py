"""Includes that are not found, and lines that are no C++: what they cost is said, and neither is a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import run

_KERNEL = "__global__ void k(float *a) { a[threadIdx.x] = 0; }\nvoid run(float *a) { k<<<1, 64>>>(a); }\n"
_BROKEN = _KERNEL.replace("= 0;", "= = 0; a[threadIdx.x] = 1;")


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ('#include "a.h"\n#include <b/c.h>\n' + _KERNEL, "a.h, b/c.h; no kernel misses anything of them"),
        (
            '#include "a.h"\n__global__ void other(float *a) { a[PITCH] = 0; }\n' + _KERNEL,
            "a.h; 1 of 2 kernels could be evaluated in part only (CL902)",
        ),
        ('#include "a.h"\n', "a.h; kernels that they may hold are not linted"),
    ],
)
def test_a_note_for_the_file(
    source: str, note: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.cu").write_text(source)
    assert run(["b.cu", "--format", "json", "--fail-on", "warning"]) == 0
    assert capsys.readouterr().err == (
        f"cudalint: note: b.cu: includes not found: {note}; -I names a folder to look in\n"
    )
    run(["b.cu", "-q"])
    assert capsys.readouterr().err == ""


def test_a_note_for_a_macro(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.cu").write_text(f"#ifdef USE_GPU\n{_KERNEL}#endif\n")
    assert run(["b.cu"]) == 0
    found = capsys.readouterr()
    assert found.out == "No findings in 1 kernel for a100 (1 of 1 access evaluated)\n"
    assert found.err == "cudalint: note: b.cu: linted with -D USE_GPU, without which it has no kernels\n"
    assert run(["b.cu", "-D", "USE_GPU"]) == 0
    assert capsys.readouterr().err == ""


_HALF = """#include <torch/extension.h>
__global__ void leaky(c10::Half *x, float slope, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] > 0 ? x[i] : slope * x[i] * 0.5;
}
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "#include <torch/extension.h>\n"
            + _KERNEL.replace("= 0;", "= buff;\na[0] = sqrtt(buff);\na[1] = one(2);\na[2] = two(1);"),
            "nothing that was read declares `buff` (line 2), `sqrtt` (line 3), `one` (line 4) and 1 more",
        ),
        (
            _HALF,
            "conditional expression is ambiguous; 'c10::Half' can be converted to 'double' and vice versa (line 4)",
        ),
    ],
)
def test_a_note_for_what_a_stand_in_may_lack(
    source: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and no error: the library's own header may declare it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.cu").write_text(source)
    assert run(["b.cu", "--format", "json", "--select", "CL9", "--fail-on", "warning"]) == 0
    assert capsys.readouterr().err == (
        f"cudalint: note: b.cu: {said}; of `torch/extension.h` only cudalint's stand-in was read, and "
        "what is said of 1 of 1 kernel is incomplete (CL902); -I names the folders of the library's headers\n"
    )


def test_no_note_where_a_stand_in_has_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b.cu").write_text("#include <torch/extension.h>\n" + _KERNEL)
    assert run([str(tmp_path / "b.cu")]) == 0
    assert capsys.readouterr().err == ""


def test_many_notes_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(23):
        (tmp_path / f"{number:02}.cu").write_text(f'#include "{number}.h"\n')
    assert run([str(tmp_path)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "cudalint: note: 3 more files with such a note"


def test_what_is_to_be_said_of_many_files_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, header in (("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")):
        Path(f"{name}.cu").write_text(f'#include "{header}.h"\n')
    assert run(["."]) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("cudalint: note: a.cu and 2 more files: includes not found: x.h; ")
    assert second.startswith("cudalint: note: b.cu: includes not found: y.h; ")


@pytest.mark.parametrize(
    ("head", "operand", "status", "code"),
    [
        ("", "threadIdx.x", 1, "error: CL904"),
        ('#include "a.h"\n', "threadIdx.x", 1, "error: CL904"),
        ('#include "a.h"\n', "MINE_INDEX ", 0, "info: CL902"),
    ],
)
def test_a_line_that_is_no_source_is_an_error_unless_a_header_may_make_source_of_it(
    head: str, operand: str, status: int, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.cu"
    path.write_text(head + _BROKEN.replace("threadIdx.x", operand))
    assert run([str(path), "--format", "concise", "--show-gaps"]) == status
    line = 1 + head.count("\n")
    found = capsys.readouterr().out
    assert found.startswith(f"{path}:{line}:") and code in found and f"{line}:48: " in found
    assert "expected expression" in found


def test_a_note_for_macros_of_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sizes.h").write_text("#ifdef GPU\n#define BLOCK 64\n#endif\n#ifdef WIDE\n#define STEP 2\n#endif\n")
    (tmp_path / "b.cu").write_text(
        '#include "sizes.h"\n__global__ void k(float *a) { a[blockIdx.x * BLOCK + threadIdx.x * STEP] = 0; }\n'
    )
    run(["b.cu"])
    assert capsys.readouterr().err == (
        "cudalint: note: b.cu: `BLOCK` is defined under `GPU` (sizes.h:2): linted with -D GPU; "
        "and likewise with -D WIDE\n"
    )

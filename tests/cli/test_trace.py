"""`cudalint trace FILE:LINE`. The figures follow from the code: 32 lanes 4096 bytes apart touch 32 sectors, and a load
that nothing changed since is in a register."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudalint.cli import run

_SOURCE = """__global__ void k(const float *__restrict__ x, float *y, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[threadIdx.x * 1024];
    float b = x[threadIdx.x * 1024];
    s[threadIdx.x] = a;
    y[i] = s[0] + b;
    if (i < n) __syncthreads();
    float4 v = ((const float4 *)x)[threadIdx.x];
}
void go(float *x, float *y, int n) { k<<<8, 64>>>(x, y, n); }
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "k.cu"
    path.write_text(_SOURCE)
    return str(path)


def _trace(source: str, line: int, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["trace", f"{source}:{line}"]) == 0
    return capsys.readouterr().out


def test_an_access_is_followed_from_its_code_to_its_figure(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = _trace(source, 4, capsys)
    assert f"k, grid 8x1x1 of blocks 64x1x1 (launch-site at {source}:11)" in text
    assert "float a = x[(threadIdx.x * (unsigned int)(1024))]" in text
    assert "load        4 bytes of global `x` by" in text
    assert "addresses from byte 0, each 4096 bytes behind the one before" in text
    assert "as it stands" in text
    assert "32 sectors per request (ideal 4)" in text


def test_what_the_compiler_leaves_out_is_said_with_the_reason(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "machine   none: it repeats the load at line 4" in _trace(source, 5, capsys)


def test_a_barrier_and_the_numbers_that_nobody_gives(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = _trace(source, 8, capsys)
    assert "value     n = " in text
    assert "barrier     divergent" in text


def test_a_race_stands_at_both_of_its_lines(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (6, 7):
        assert "lines 6 and 7, on s[0]" in _trace(source, line, capsys)


@pytest.mark.parametrize("parameter", ["n", "length"])
def test_a_number_has_one_reason(parameter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The program's default, by the name that the host code has for it and by that of the kernel."""
    path = tmp_path / "a.cu"
    path.write_text(f"""#include <cstdlib>
__global__ void k(float *a, int {parameter}) {{ if (threadIdx.x < {parameter}) a[threadIdx.x] = 0; }}
int main(int argc, char **argv) {{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    float *a;
    cudaMalloc(&a, 4096);
    k<<<1, 1024>>>(a, n);
}}
""")
    lines = [line.strip() for line in _trace(str(path), 2, capsys).split("\n")]
    [argument] = [line for line in lines if line.startswith("argument")]
    [value] = [line for line in lines if line.startswith("value")]
    assert argument.split("(", 1)[1] == value.split("(", 1)[1]
    assert "default" in argument


def test_a_line_without_code(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing of a kernel was executed here" in _trace(source, 10, capsys)


@pytest.mark.parametrize("place", ["k.cu", "k.cu:0", "k.cu:x", "missing.cu:3"])
def test_what_is_no_place_is_one_line(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", place]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and place.split(":")[0] in said.err


@pytest.fixture
def included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source that another one includes and calls, as scans are by what packs with them: 512 threads go past the end
    of 256 elements there, and nobody else says how many there are."""
    monkeypatch.chdir(tmp_path)
    for name in ("scan", "pack"):
        Path(name).mkdir()
    (tmp_path / ".git").mkdir()
    Path("scan/scan.cu").write_text(
        "__global__ void scan(float *d, int n) { d[threadIdx.x] = n; }\n"
        "void run(float *d, int n) { scan<<<1, 512>>>(d, n); }\n"
    )
    Path("pack/pack.cu").write_text(
        '#include "../scan/scan.cu"\n'
        "int main() {\n"
        "    float *d;\n"
        "    cudaMalloc(&d, 256 * sizeof(float));\n"
        "    run(d, 256);\n"
        "}\n"
    )
    return tmp_path


def test_a_line_is_traced_in_files_that_include_it(included: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = _trace("scan/scan.cu", 1, capsys)
    called = "(launch-site at scan/scan.cu:2, called at pack/pack.cu:5)"
    assert "scan, grid 1x1x1 of blocks 512x1x1 (launch-site at scan/scan.cu:2)\n" in text
    through = f"in pack/pack.cu, which includes it: scan, grid 1x1x1 of blocks 512x1x1 {called}\n"
    assert "argument    n = 256 (the launch passes it)" in text.partition(through)[2]


def test_an_error_names_the_call_that_its_numbers_come_from(
    included: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", ".", "--select", "CL107"]) == 1
    assert "(launch at scan/scan.cu:2, called at pack/pack.cu:5)" in capsys.readouterr().out
    run(["check", ".", "--select", "CL107", "--format", "json"])
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    (call,) = [each for each in found["related"] if each["path"] == "pack/pack.cu"]
    assert (call["line"], call["message"]) == (5, "the call that the launch at line 2 has its numbers from")

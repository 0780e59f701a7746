"""What other files check before they call the function that launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_KERNEL = """
__global__ void rows(const float *in, float *out, int n)
{
    float4 v = *reinterpret_cast<const float4 *>(in + blockIdx.x * n + 4 * threadIdx.x);
    out[blockIdx.x * 64 + threadIdx.x] = v.x + v.y + v.z + v.w;
}
void launch_rows(const float *in, float *out, int count, int n) { rows<<<count, 64>>>(in, out, n); }
"""
_DECLARED = "#include <stdexcept>\nvoid launch_rows(const float *in, float *out, int count, int n);\n"
_CHECKED = """
void %s(const float *in, float *out, int count, int n)
{
    if (n %% %d != 0) throw std::invalid_argument("n");
    launch_rows(in, out, count, n);
}
"""
_TENSORS = """
#include <torch/extension.h>
void rows_of(at::Tensor in, at::Tensor out)
{
    TORCH_CHECK(in.size(1) %% %d == 0, "columns");
    launch_rows(in.data_ptr<float>(), out.data_ptr<float>(), in.size(0), in.size(1));
}
"""


def _misaligned(path: Path) -> bool:
    """Rows of n floats start at multiples of 16 bytes where n is a multiple of 4, and at byte 8 where it is 2."""
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL102",)), pictures=False))
    assert isinstance(report, FileReport), report
    return bool(report.diagnostics)


@pytest.mark.parametrize("name", ["binding.cpp", "binding.cu"])
@pytest.mark.parametrize(("multiple", "misaligned"), [(4, False), (2, True)])
def test_in_the_file_that_calls(tmp_path: Path, name: str, multiple: int, misaligned: bool) -> None:
    (tmp_path / "k.cu").write_text(_KERNEL)
    (tmp_path / name).write_text(_DECLARED + _CHECKED % ("call", multiple))
    assert _misaligned(tmp_path / "k.cu") is misaligned


@pytest.mark.parametrize(("multiple", "misaligned"), [(4, False), (2, True)])
def test_of_tensors(tmp_path: Path, multiple: int, misaligned: bool) -> None:
    (tmp_path / "k.cu").write_text(_KERNEL)
    (tmp_path / "binding.cpp").write_text(_DECLARED + _TENSORS % multiple)
    assert _misaligned(tmp_path / "k.cu") is misaligned


@pytest.mark.parametrize(("multiple", "misaligned"), [(4, False), (2, True)])
def test_in_the_file_that_includes_the_kernel(tmp_path: Path, multiple: int, misaligned: bool) -> None:
    (tmp_path / "k.cuh").write_text(_KERNEL)
    (tmp_path / "binding.cu").write_text('#include <stdexcept>\n#include "k.cuh"\n' + _CHECKED % ("call", multiple))
    assert _misaligned(tmp_path / "k.cuh") is misaligned


def test_one_of_two_files_does_not_check(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(_KERNEL)
    (tmp_path / "a.cpp").write_text(_DECLARED + _CHECKED % ("checked", 4))
    (tmp_path / "b.cpp").write_text(
        _DECLARED + "void other(const float *in, float *out) { launch_rows(in, out, 9, 66); }"
    )
    assert _misaligned(tmp_path / "k.cu")


def test_one_of_two_functions_is_called_elsewhere(tmp_path: Path) -> None:
    """The launch of the other one is looked at as it stands."""
    direct = "void direct(const float *in, float *out, int n) { rows<<<9, 96>>>(in, out, n); }\n"
    (tmp_path / "k.cu").write_text(_KERNEL + direct)
    (tmp_path / "binding.cpp").write_text(_DECLARED + _CHECKED % ("call", 4))
    assert _misaligned(tmp_path / "k.cu")


_SET_UP = """
struct Rows { const void *in; float *out; int count, n, wide; };
__global__ void rows(Rows p)
{
    float4 v = *reinterpret_cast<const float4 *>(reinterpret_cast<const float *>(p.in) + blockIdx.x * p.wide
                                                 + 4 * threadIdx.x);
    p.out[blockIdx.x * 64 + threadIdx.x] = v.x + v.y + v.z + v.w;
}
void set_up(Rows &p)
{
    if (p.n %% %d != 0) throw 1;
    p.wide = p.n * 3;
}
void launch_rows(const Rows &p) { rows<<<p.count, 64>>>(p); }
"""
_CALLING = """
struct Rows { const void *in; float *out; int count, n, wide; };
void set_up(Rows &p);
void launch_rows(const Rows &p);
%s
{
    Rows p;
    p.in = in, p.out = out, p.count = count, p.n = n;
    set_up(p);
    launch_rows(p);
}
"""


@pytest.mark.parametrize(
    "head",
    [
        "void call(const float *in, float *out, int count, int n)",
        "extern float *in, *out; extern int count, n;\nint main()",
    ],
)
@pytest.mark.parametrize(("multiple", "misaligned"), [(4, False), (2, True)])
def test_in_another_function_of_the_file_itself(tmp_path: Path, head: str, multiple: int, misaligned: bool) -> None:
    """The file that calls both only declares them: 3 * n floats are a multiple of 16 bytes where n is one of 4."""
    (tmp_path / "k.cu").write_text(_SET_UP % multiple)
    (tmp_path / "binding.cpp").write_text(_CALLING % head)
    assert _misaligned(tmp_path / "k.cu") is misaligned

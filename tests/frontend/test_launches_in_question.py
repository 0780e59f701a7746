"""Which functions of a file may launch the kernels of another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.ir.units import Wanted

_SOURCE = """
#include <cuda_runtime.h>
__global__ void k(float *a) { *a = 1; }
__global__ void other(float *a) { *a = 2; }
template <typename T> __global__ void pattern(T *a) { *a = 3; }
typedef void (*Kernel)(float *);
static const Kernel table[] = {k, other};
static const Kernel others[] = {other};
void solve(float *a);
void stop(void *);

template <typename K> void start(K kernel, float *a) { kernel<<<1, 32>>>(a); }
void direct(float *a) { k<<<1, 32>>>(a); }
void direct_other(float *a) { other<<<1, 32>>>(a); }
void of_number(float *a) { pattern<float><<<1, 32>>>(a); }
void through(float *a) { direct_other(a); direct(a); }
void by_name(float *a) { solve(a); }
void passes(float *a) { start(k, a); }
void passes_other(float *a) { start(other, a); }
void given(Kernel kernel, float *a) { start(other, a); start(kernel, a); }
void from_table(int i, float *a) { start(table[i], a); }
void from_variable(float *a) { Kernel kernel = other; kernel<<<1, 32>>>(a); }
void unknown(int i, float *a) { others[i]<<<1, 32>>>(a); }
void runtime(const void *kernel) { cudaLaunchKernel(kernel, 1, 32, nullptr, 0, 0); }
void on_host(cudaStream_t stream) { cudaLaunchHostFunc(stream, stop, nullptr); }
void nothing(float *a) { *a = 1; }
"""
_LAUNCHING = {"direct", "through", "by_name", "passes", "given", "from_table", "unknown", "runtime", "start"}


def _listing(folder: Path) -> Listing:
    path = folder / "a.cu"
    path.write_text(_SOURCE)
    return Listing(parse_file(str(path), ParseOptions()))


def test_only_what_may_lead_to_one_counts(tmp_path: Path) -> None:
    listing = _listing(tmp_path)
    unit = listing.unit_for(Wanted(frozenset({"k"}), frozenset({"solve"})))
    assert {ref.name for ref in unit.host_functions if ref.has_launch()} == _LAUNCHING


def test_without_a_question_every_launch_counts(tmp_path: Path) -> None:
    """And a unit answers for others than it was made for."""
    unit = _listing(tmp_path).unit()
    launching = {ref.name for ref in unit.host_functions if ref.has_launch()}
    assert {"direct_other", "of_number", "passes_other", "from_variable"} <= launching
    assert launching.isdisjoint({"nothing", "on_host"})
    by_name = {ref.name: ref for ref in unit.host_functions}
    wanted = Wanted(frozenset({"pattern"}))
    assert unit.may_launch(by_name["of_number"], wanted)
    assert not unit.may_launch(by_name["direct"], wanted)


@pytest.mark.parametrize("declaration", ["[[noreturn]] void fail(int);", "__attribute__((noreturn)) void fail(int);"])
def test_the_first_declaration_says_that_a_function_never_returns(tmp_path: Path, declaration: str) -> None:
    path = tmp_path / "a.cu"
    path.write_text(f"{declaration}\nvoid fail(int code) {{ while (code) ; }}\n")
    [fail] = Listing(parse_file(str(path), ParseOptions())).unit().host_functions
    assert fail.never_returns()

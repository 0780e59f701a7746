"""Calls of library functions that do not compile: what they lack costs the call, not the kernel."""

from __future__ import annotations

import pytest

from cudalint.host.executor.library import HOST_LIBRARY
from cudalint.ir.builtins import BUILTINS
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ON_DEVICE = {name for name, known in BUILTINS.items() if known.effect}
_FREE = [name for name in sorted({*_ON_DEVICE, *HOST_LIBRARY}) if name.isidentifier()]


@pytest.mark.parametrize("arguments", ["", "a", "&missing[i]", "a, missing", "a, 1, 2, 3, 4, 5, 6"])
def test_the_rest_of_a_kernel_is_evaluated_all_the_same(arguments: str) -> None:
    calls = "\n".join(f"  if (i == 255) {name}({arguments});" for name in _FREE)
    source = f"""
__global__ void k(float *a) {{
  int i = threadIdx.x;
{calls}
  a[i * 2] = 1;
}}
int main() {{
{calls}
  k<<<1, 256>>>(0);
}}
"""
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    [kernel] = facts.kernels
    [access] = [a for a in kernel.accesses if a.operation == "store" and a.place.line == len(_FREE) + 4]
    # 8 sectors for 32 floats at every other place; the last warp has a lane less where a call ends its thread.
    assert access.results[0].sectors_per_request == pytest.approx(8, abs=0.25)


def test_a_call_that_depends_on_template_arguments_has_no_name() -> None:
    source = "template <class M> __global__ void k(M m, float *a) { a[m.size() * threadIdx.x] = 1; }"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    reason = kernel.accesses[0].results[0].reason or ""
    assert "it is the result of a call of which only template arguments tell the function" in reason

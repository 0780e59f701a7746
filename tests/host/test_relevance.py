"""Host code of which only a part is executed: what decides a launch is, by whatever way it does."""

from __future__ import annotations

import pytest

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.host.executor.relevance import Relevance
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = "__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"


def _block(host: str) -> tuple[int, int, int]:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _KERNEL + host),)))
    return facts.kernels[0].launches[0].block


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("int main() { int n = 1; int *p = &n; *p = 96; k<<<1, n>>>(0); }", id="through a pointer"),
        pytest.param("int main() { int n = 1; int &r = n; r = 96; k<<<1, n>>>(0); }", id="through a reference"),
        pytest.param(
            "void set(int *p) { *p = 96; } int main() { int n = 1; set(&n); k<<<1, n>>>(0); }", id="by a call"
        ),
        pytest.param(
            "void set(int &r) { r = 96; } int main() { int n = 1; set(n); k<<<1, n>>>(0); }",
            id="by a reference argument",
        ),
        pytest.param("int n = 1; void set() { n = 96; } int main() { set(); k<<<1, n>>>(0); }", id="in a global"),
        pytest.param("int main() { int n = 1; auto set = [&] { n = 96; }; set(); k<<<1, n>>>(0); }", id="by a closure"),
        pytest.param("int main() { int n = 1; auto run = [&] { k<<<1, n>>>(0); }; n = 96; run(); }", id="in a closure"),
        pytest.param("int main() { int n = 0; for (int i = 0; i < 96; i++) n++; k<<<1, n>>>(0); }", id="in a loop"),
        pytest.param(
            "int main() { int n = 90; for (;; n++) { int m = n; if (m == 96) break; } k<<<1, n>>>(0); }",
            id="by a break",
        ),
        pytest.param(
            "int main() { int s[2] = {1, 1}; int *p = s; p[1] = 96; k<<<1, s[1]>>>(0); }",
            id="in an array",
        ),
        pytest.param(
            "struct S { int n; void set() { n = 96; } }; int main() { S s; s.n = 1; s.set(); k<<<1, s.n>>>(0); }",
            id="in a record",
        ),
        pytest.param(
            "int main() { int n = 1, m = 5; switch (m) { case 5: n = 96; break; default: n = 2; } k<<<1, n>>>(0); }",
            id="in a switch",
        ),
        pytest.param(
            "int pick(int m) { int n = 1; if (m > 2) n = 96; return n; } void go(int n) { k<<<1, n>>>(0); }"
            "int main() { int m = 1; m += 5; go(pick(m)); }",
            id="through functions",
        ),
        pytest.param(
            "void go(int *done) { k<<<1, *done>>>(0); *done = 1; } int main() { int n = 96; go(&n); k<<<2, n>>>(0); }",
            id="before it is changed by what launches",
        ),
    ],
)
def test_what_decides_a_block_is_executed(host: str) -> None:
    assert _block(host) == (96, 1, 1)


_PROGRAM = """
#include <cstdio>
#include <cstdlib>
__global__ void k(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
static void reference(float *a, int n) { for (int i = 0; i < n; i++) a[i] = i; }
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    float sum = 0;
    float *host = (float *)malloc(n * sizeof(float));
    float *device;
    for (int i = 0; i < n; i++) {
        host[i] = i;
        sum += host[i];
    }
    reference(host, n);
    cudaMalloc(&device, n * sizeof(float));
    cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
    if (n > 1024)
        n = 1024;
    if (sum > 3)
        printf("large");
    k<<<1, n>>>(device, n);
    return 0;
}
"""


def test_what_only_fills_and_sums_up_decides_nothing() -> None:
    parsed = parse_file("a.cu", ParseOptions(), _PROGRAM.encode())
    [main] = [f for f in Listing(parsed).unit().host_functions if f.name == "main"]
    function = main.load()
    assert function is not None
    relevance = Relevance(lambda node: type(node).__name__ == "Launch", {"cudaMemcpy", "printf"})
    idle = {statement.span.line for statement in relevance.idle(function.body)}
    needed = {statement.span.line for statement in function.body.statements} - idle
    lines = _PROGRAM.splitlines()
    assert [lines[line - 1].strip() for line in sorted(needed)] == [
        "int n = atoi(argv[1]);",
        "float *device;",
        "cudaMalloc(&device, n * sizeof(float));",
        "if (n > 1024)",
        "k<<<1, n>>>(device, n);",
        "return 0;",
    ]

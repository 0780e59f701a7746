"""What holds of pointers of host code on all paths: sums of sizes, joins of branches, and what ends in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import FileFacts, HostFault
from cudalint.host.memory.quantities import Numbers, Quantity, constant, exceeds, plus, product
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_facts import analyse


def _faults(folder: Path, body: str) -> list[HostFault]:
    source = folder / "host.cu"
    source.write_text(
        "#include <stdlib.h>\n__global__ void k(float *a) { a[threadIdx.x] = 1; }\n" + body, encoding="utf-8"
    )
    facts = analyse(str(source), AnalysisOptions(kinds=frozenset({"host_faults"})))
    assert isinstance(facts, FileFacts) and facts.host is not None
    return [fault for fault in facts.host.faults if fault.kind != "unchecked"]


def test_sums_of_products_are_compared_for_all_sizes() -> None:
    numbers = Numbers()
    n, m = numbers.fresh("n"), numbers.fresh("m")
    four_n = product(n, constant(4))
    assert exceeds(four_n, n) and not exceeds(n, four_n)
    assert exceeds(plus(four_n, constant(8)), four_n)
    # `m` may be 0.
    assert not exceeds(plus(four_n, m), four_n)
    assert numbers.text(plus(four_n, constant(8), -1)) == "n * 4 - 8"
    assert numbers.operation("/", n, m) == numbers.operation("/", n, m)
    assert plus(n, n, -1) == Quantity()


def test_names_of_what_is_computed_again_and_again_stay_short() -> None:
    numbers = Numbers()
    value = numbers.fresh("x")
    for _ in range(100):
        value = numbers.operation("^", value, numbers.operation(">>", value, constant(3)))
    assert len(numbers.text(value)) < 100


@pytest.mark.parametrize(
    ("condition", "kinds"),
    [
        # Released on one of two ways: nothing is said.
        ("if (n > 4) cudaFree(d);", []),
        ("if (n > 4) cudaFree(d); else cudaFree(d);", ["freed-before"]),
        ("if (n > 4) { cudaFree(d); exit(1); }", []),
        ("switch (n) { case 1: cudaFree(d); break; default: cudaFree(d); }", ["freed-before"]),
        ("switch (n) { case 1: cudaFree(d); break; }", []),
        ("while (n--) { if (n == 3) break; cudaFree(d); return; }", []),
        ("do { cudaFree(d); } while (0);", ["freed-before"]),
        ("d = nullptr; cudaFree(d);", []),
    ],
)
def test_only_what_holds_on_all_ways_counts(tmp_path: Path, condition: str, kinds: list[str]) -> None:
    text = f"void f(int n) {{ float *d; cudaMalloc(&d, 128); {condition} k<<<1, 32>>>(d); }}"
    assert [fault.kind for fault in _faults(tmp_path, text)] == kinds


def test_a_function_that_jumps_back_says_nothing_more(tmp_path: Path) -> None:
    text = "void f(int n) { float *d; again: cudaMalloc(&d, 128); k<<<1, 32>>>(d); cudaFree(d); if (n--) goto again; }"
    assert _faults(tmp_path, text) == []


def test_functions_that_call_themselves_end(tmp_path: Path) -> None:
    text = "void f(float *d, int n) { k<<<1, 32>>>(d); if (n) f(d, n - 1); }"
    assert _faults(tmp_path, text) == []

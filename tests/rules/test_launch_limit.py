"""CL502: what is said of a kernel that a launch does not start."""

from __future__ import annotations

from linting import lint


def test_no_address_is_wrong_in_a_kernel_that_is_not_run() -> None:
    """Of 1025 threads none runs, so that none leaves the array of 64 elements; of 96, the one behind its end does."""
    source = (
        "__global__ void k(int *o) { o[threadIdx.x] = 0; }\n"
        "int main() { int *o; cudaMalloc(&o, 64 * sizeof(int)); k<<<1, %d>>>(o); }"
    )
    assert not lint(source % 1025, "CL107") and lint(source % 1025, "CL502")
    assert lint(source % 96, "CL107") and not lint(source % 96, "CL502")


def test_its_races_are_reported() -> None:
    """All threads of any block store their own number to one element; verifiers' suites have blocks of 2,048."""
    source = (
        "__global__ void k(int *o) { o[0] = threadIdx.x; }\n"
        "int main() { int *o; cudaMalloc(&o, 4); k<<<1, 2048>>>(o); }"
    )
    assert lint(source, "CL305")

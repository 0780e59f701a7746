"""The width of shared loads in loops, against what nvcc 13.0 makes of the same loops (`cuobjdump -sass`)."""

from __future__ import annotations

import pytest
from evaluating import evaluate

_LOOPS = [
    # length of the loop, element that iteration k reads, bytes that one load brings
    ("k < 16", "s[k]", 16),
    ("k < 66", "s[k]", 16),
    ("k < 100", "s[k]", 16),
    ("k < 128", "s[k]", 16),
    ("k < 1001", "s[k]", 16),
    ("k < 250", "s[k]", 16),
    ("k < 1022", "s[k]", 8),
    ("k < 512 + n % 2", "s[k]", 16),
    ("k < blockDim.x", "s[k]", 16),
    ("k < 64", "s[4 * threadIdx.x + k]", 16),
    ("k < 64", "s[2 * threadIdx.x + k]", 8),
    ("k < 64", "s[33 * threadIdx.y + k]", 4),
    ("k < 64", "s[threadIdx.x + k]", 4),
    ("k < m", "s[k]", 16),
    ("k < m", "s[256 * threadIdx.y + k]", 8),
    ("k < m", "s[n + k]", 4),
    ("k < threadIdx.x", "s[k]", 4),
    ("k < ((int*)a)[0]", "s[k]", 4),
    ("k < 64", "((double*)s)[k]", 16),
    ("k < 64", "((unsigned short*)s)[k]", 8),
    ("k < 64", "((unsigned char*)s)[k]", 1),
    ("k < 64", "s[63 - k]", 16),
    ("k < 64", "s[62 - k]", 4),
    ("k < 64", "s[2 * k]", 4),
]


@pytest.mark.parametrize(("length", "element", "expected"), _LOOPS)
def test_width_of_loads_in_a_loop(length: str, element: str, expected: int) -> None:
    body = f"float x = 0; for (int k = 0; {length}; k++) x += {element}; b[t] = x;"
    kernel = evaluate(body, (32, 4, 1), arguments="unknown, other")
    assert [access.bytes for access in kernel.accesses if access.array == "s"] == [expected]


def test_nothing_is_merged_behind_a_branch() -> None:
    kernel = evaluate("float x = 0; for (int k = 0; k < 64; k++) if (a[k] > 0) x += s[k]; b[t] = x;")
    assert [access.bytes for access in kernel.accesses if access.array == "s"] == [4]

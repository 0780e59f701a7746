"""The width of accesses to neighbours of 1 and 2 bytes in shared arrays. Expected is what nvcc 13.0 makes of the same
code for sm_80 and sm_90 (nvdisasm)."""

from __future__ import annotations

import pytest
from evaluating import evaluate

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_COPIED = """
struct Copied {
    unsigned short bits;
    Copied() = default;
    __device__ Copied(const Copied& other) : bits(other.bits) {}
    __device__ Copied& operator=(const Copied& other) { bits = other.bits; return *this; }
};
struct Plain { unsigned short bits; };
"""
_TYPES = ["unsigned char", "signed char", "unsigned short", "short", "Plain", "Copied"]
_BYTES = {"unsigned char": 1, "signed char": 1}

_NEIGHBOURS = [
    # pitch in elements, elements; widths of bytes and of 2 bytes in a static array, and in one that is aligned to 16
    (2, (0, 1), (1, 1), (4, 4), (2, 2), (4, 4)),
    (4, (0, 1, 2, 3), (1,) * 4, (8,) * 4, (4,) * 4, (8,) * 4),
    (8, (0, 1, 2, 3, 4, 5, 6, 7), (1,) * 8, (8,) * 8, (8,) * 8, (16,) * 8),
    (16, tuple(range(16)), (1,) * 16, (8,) * 16, (16,) * 16, (16,) * 16),
    (9, (0, 1, 2, 3), (1,) * 4, (2,) * 4, (1,) * 4, (2,) * 4),
    (6, (0, 1, 2, 3), (1,) * 4, (4,) * 4, (2,) * 4, (4,) * 4),
    (8, (2, 3, 4, 5), (1,) * 4, (4,) * 4, (2,) * 4, (4,) * 4),
]


def _widths(code: str, operation: str, array: str = "e") -> tuple[int, ...]:
    accesses = evaluate(code, arguments="unknown, other", before=_COPIED).accesses
    return tuple(a.bytes for a in accesses if a.array == array and a.operation == operation)


@pytest.mark.parametrize("type_", _TYPES)
@pytest.mark.parametrize("row", _NEIGHBOURS)
def test_width_of_neighbours(row: tuple[int, tuple[int, ...], *tuple[tuple[int, ...], ...]], type_: str) -> None:
    pitch, elements, *widths = row
    places = [f"e[{pitch} * t + {i}]" for i in elements]
    stores = " ".join(f"{place} = p[99 * t + {i}];" for i, place in enumerate(places))
    loads = " ".join(f"q[99 * t + {i}] = {place};" for i, place in enumerate(places))
    wide = _BYTES.get(type_, 2) - 1
    for declaration, expected in (("", widths[wide]), ("__align__(16)", widths[2 + wide])):
        if declaration and type_ == "Copied":
            continue  # What the compiler proper sees of alignment in functions of the user is not followed.
        head = f"__shared__ {declaration} {type_} e[4096]; {type_}* p = ({type_}*)a; {type_}* q = ({type_}*)b;"
        assert _widths(f"{head} {stores}", "store") == expected
        assert _widths(f"{head} {loads}", "load") == expected


_LOOPS = [
    # length, bytes of an access: bytes and 2 bytes in a static array, and in a dynamic one
    ("4", 1, 8, 4, 8),
    ("8", 1, 8, 8, 16),
    ("16", 1, 8, 16, 16),
    ("512", 1, 8, 16, 16),
    ("1000", 1, 8, 8, 16),
    ("m", 1, 8, 4, 8),
]


@pytest.mark.parametrize(("length", "byte", "short", "dynamic_byte", "dynamic_short"), _LOOPS)
def test_width_in_a_loop(length: str, byte: int, short: int, dynamic_byte: int, dynamic_short: int) -> None:
    cases = [
        ("unsigned char", byte, dynamic_byte), ("unsigned short", short, dynamic_short), ("Plain", short, dynamic_short)
    ]  # fmt: skip
    for type_, static, dynamic in cases:
        for declaration, expected in (
            (f"__shared__ {type_} e[4096];", static),
            (f"extern __shared__ {type_} e[];", dynamic),
        ):
            value = "e[k].bits" if type_ == "Plain" else "e[k]"
            body = f"{declaration} float x = 0; for (int k = 0; k < {length}; k++) x = x * 3 + {value}; b[t] = x;"
            assert _widths(body, "load") == (expected,), (type_, declaration)


def test_a_load_reads_a_gap_along() -> None:
    """Three of four; of narrow elements with a declared alignment only if the missing one is the last."""
    for type_, elements, static, aligned in [
        ("unsigned short", (0, 1, 2), (8, 8, 8), (8, 8, 8)),
        ("unsigned char", (0, 1, 2), (1, 1, 1), (4, 4, 4)),
        ("unsigned char", (0, 1, 3), (1, 1, 1), (2, 2, 1)),
        ("unsigned short", (0, 2), (2, 2), (2, 2)),
    ]:
        for declaration, expected in (("", static), ("__align__(16)", aligned)):
            head = f"__shared__ {declaration} {type_} e[4096];"
            value = " + ".join(f"e[4 * t + {i}] * {i + 1}.5f" for i in elements)
            assert _widths(f"{head} b[t] = {value};", "load") == expected, (type_, elements, declaration)

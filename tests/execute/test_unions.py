"""Records with unnamed structs and unions, as the vector types of many projects have them."""

from __future__ import annotations

import pytest
from evaluating import elements, evaluate, only

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_VECTORS = """
struct vec {
    __device__ vec(int a, int b, int c) { x = a; y = b; z = c; }
    union {
        struct { int x, y, z; };
        struct { int r, s, t; };
        int at[3];
        float f;
        long long wide;
    };
};
template <typename T, int N> struct fixed { T at[N]; };
template <typename T> struct fixed<T, 3> {
    __device__ fixed(T a, T b, T c) : x(a), y(b), z(c) {}
    union { struct { T x, y, z; }; T at[3]; };
};
"""


@pytest.mark.parametrize(
    ("index", "sectors"),
    [
        # v is (t, 1, 64): a warp touches 32 neighbours, one element, or one in each of 32 rows of 256 bytes.
        ("v.x", 4),
        ("v.y", 1),
        ("t * v.z", 32),
        ("v.r", 4),
        ("t * v.t", 32),
        ("v.at[0]", 4),
        ("v.at[1]", 1),
        ("t * v.at[v.s + 1]", 32),
        ("(v.r = 7, v.x)", 1),
        ("(v.at[0] = 7, v.x)", 1),
        ("(v.x = 7, v.z = t, v.at[2])", 4),
        ("(v.f = 1.0f, v.y)", 1),
        ("fixed<int, 3>(t, 1, 64).x", 4),
        ("t * fixed<int, 3>(t, 1, 64).z", 32),
        ("t * w.at[2]", 32),
        # The bits of a float are the same for all lanes.
        ("(v.f = 1.0f, v.x)", 1),
    ],
)
def test_fields_of_unnamed_unions_share_their_bytes(index: str, sectors: int) -> None:
    result = only(evaluate(f"vec v(t, 1, 64); fixed<int, 3> w(t, 1, 64); a[{index}] = 1;", before=_VECTORS))
    assert (result.status, result.sectors_per_request) == ("exact", sectors)


@pytest.mark.parametrize(
    ("index", "found"),
    [
        # The bits of 0.0, 1.0, 2.0 and 3.0; the upper half of a small number of 64 bits.
        ("(v.f = t, v.x)", [0, 0x3F800000, 0x40000000, 0x40400000]),
        pytest.param(
            "(v.wide = t, v.y)", [0, 0, 0, 0],
            marks=pytest.mark.xfail(reason="a wide member leaves what lies in its second half as it was", strict=True),
        ),
    ],
)
def test_bytes_of_another_type_are_computed(index: str, found: list[int]) -> None:
    result = only(evaluate(f"vec v(t, 1, 64); a[{index}] = 1;", before=_VECTORS))
    assert (result.status, elements(result)[0][:4]) == ("exact", found)

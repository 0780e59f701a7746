"""Local variables that are read and written in other parts than they are declared in."""

from __future__ import annotations

import struct

from executing import execute, kernel_in, stored

from cudalint.execute.values import Data


def test_bytes_of_a_number() -> None:
    assert stored("int x = t * 0x01020304; out[t] = ((unsigned char*)&x)[1];") == [
        (t * 0x01020304 >> 8) & 0xFF for t in range(32)
    ]
    assert stored("int x = 0x11223344; *(unsigned char*)&x = t; out[t] = x;") == [0x11223300 | t for t in range(32)]
    assert stored("int x = 0x11223344; ((short*)&x)[1] = t; out[t] = x;") == [t << 16 | 0x3344 for t in range(32)]


def test_a_number_of_bytes() -> None:
    body = "unsigned char b[8]; for (int i = 0; i < 8; i++) b[i] = t + i; out[t] = *(int*)(b + 4);"
    assert stored(body) == [int.from_bytes(bytes(t + i for i in range(4, 8)), "little") for t in range(32)]


def test_vectors_in_arrays_of_other_elements() -> None:
    body = "unsigned char b[16]; *(int4*)b = make_int4(t, 0x04030201, 7, 8); out[t] = b[0] + b[6] + b[12];"
    assert stored(body) == [t + 3 + 8 for t in range(32)]
    body = "float f[4]; *(float4*)f = make_float4(1.f, t, 3.f, 4.f); out[t] = (int)f[1] + (int)f[3];"
    assert stored(body) == [t + 4 for t in range(32)]
    body = "int4 v = make_int4(1, 2, 3, t); short* s = (short*)&v; out[t] = s[6] + s[0];"
    assert stored(body) == [t + 1 for t in range(32)]


def test_lanes_that_write_nothing_keep_theirs() -> None:
    body = "int x = 0x100 + t; if (t < 5) ((short*)&x)[0] = 9; out[t] = x;"
    assert stored(body) == [9 if t < 5 else 0x100 + t for t in range(32)]


def test_unions() -> None:
    union = "union { float f; unsigned char b[4]; short s[2]; } u;"
    bits = [struct.pack("<f", float(t)) for t in range(32)]
    assert stored(f"{union} u.f = t; out[t] = u.b[3];") == [each[3] for each in bits]
    body = f"{union} u.f = 1.f; u.s[0] = t; out[t] = u.b[0] + (u.b[3] << 8);"
    assert stored(body) == [t + (0x3F << 8) for t in range(32)]


def test_bit_fields_are_not_followed() -> None:
    head = "struct P { int low : 4; int high : 28; };"
    (found, *_) = stored("P p; p.low = 1; p.high = t; out[t] = p.low;", head=head)
    assert isinstance(found, Data)
    source = f"{head}\n__global__ void kernel(P* p) {{ p[threadIdx.x].high = 3; }}"
    (access,) = execute(kernel_in(source), (32, 1, 1), (1, 1, 1)).accesses
    assert (access.operation, access.bytes, access.offset[0, 1]) == ("store", 4, 4)


def test_references_to_where_a_thread_is() -> None:
    head = "__device__ int least(const unsigned &a, const unsigned &b) { return a < b ? a : b; }"
    assert stored("out[t] = least(threadIdx.x, blockDim.x) + t;", head=head) == [2 * t for t in range(32)]
    head = "__device__ int half(const int &size) { return size / 2; }"
    assert stored("out[t] = half(warpSize);", head=head) == [16] * 32


def test_elements_of_long_arrays_by_few_indices() -> None:
    body = "int a[100]; for (int i = 0; i < 100; i++) a[i] = i * i; out[t] = a[t + 3];"
    assert stored(body) == [(t + 3) ** 2 for t in range(32)]


def _accesses(source: str) -> list[tuple[str, object]]:
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    return [(event.operation, event.offset) for event in trace.accesses]


def test_pointers_out_of_an_array_are_accesses_of_unknown_places() -> None:
    source = """
    struct Lists { float *at[40]; };
    __global__ void kernel(Lists lists, const int *which) {
        lists.at[threadIdx.x][0] = 1;
        lists.at[*which][threadIdx.x] = 2;
    }
    """
    one, _, other = _accesses(source)
    assert isinstance(one[1], Data)
    assert one[1].kind == "unknown"
    assert not isinstance(other[1], Data)  # It is one array for all of them, whichever.


def test_behind_a_jump_nobody_knows_who_comes() -> None:
    source = """
    __device__ void leave(float *out) { if (threadIdx.x > 3) goto end; out[1] = 0; end: out[2] = 0; }
    __global__ void kernel(float *out) { out[0] = 0; leave(out); out[3] = 0; }
    """
    known = [not isinstance(offset, Data) for _, offset in _accesses(source)]
    assert known == [True, False, False, True]

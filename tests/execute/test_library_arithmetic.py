"""Functions of numbers, against their definitions in Python."""

from __future__ import annotations

import math
import struct

import pytest
from executing import stored

WORDS = [0, 1, 2, 3, 5, 31, 32, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 0x00010000]
TABLE = "unsigned words[12] = {" + ", ".join(f"{word}u" for word in WORDS) + "};"


def _of_words(expression: str) -> list[object]:
    """An expression of a word, which differs by thread, and one of each of them as a plain number."""
    by_lane = stored(f"{TABLE} unsigned w = words[t]; out[t] = {expression};", (12, 1, 1), "unsigned")
    each = "".join(f"if (t == {lane}) {{ unsigned w = {word}u; x = {expression}; }}" for lane, word in enumerate(WORDS))
    assert stored(f"unsigned x = 0; {each} out[t] = x;", (12, 1, 1), "unsigned") == by_lane
    return by_lane


def _bits(word: int) -> str:
    return f"{word:032b}"


def test_bits_of_a_word() -> None:
    assert _of_words("__popc(w)") == [_bits(word).count("1") for word in WORDS]
    assert _of_words("__clz(w)") == [32 - word.bit_length() for word in WORDS]
    assert _of_words("__ffs(w)") == [_bits(word)[::-1].find("1") + 1 for word in WORDS]
    assert _of_words("__brev(w)") == [int(_bits(word)[::-1], 2) for word in WORDS]


def test_bits_of_two_words() -> None:
    wide = [word << 32 | 0xF0 for word in WORDS]
    value = "(unsigned long long)w << 32 | 0xf0"
    assert _of_words(f"__popcll({value})") == [f"{each:b}".count("1") for each in wide]
    assert _of_words(f"__clzll({value})") == [64 - each.bit_length() for each in wide]
    assert _of_words(f"__ffsll({value})") == [5] * len(WORDS)


@pytest.mark.parametrize("shift", [0, 1, 17, 31, 32, 33])
def test_funnel_shifts(shift: int) -> None:
    both = [word << 32 | 0xA5A5A5A5 for word in WORDS]
    upper, clamped = shift % 32, min(shift, 32)
    low = 0xFFFFFFFF
    assert _of_words(f"__funnelshift_l(0xa5a5a5a5u, w, {shift})") == [each << upper >> 32 & low for each in both]
    assert _of_words(f"__funnelshift_r(0xa5a5a5a5u, w, {shift})") == [each >> upper & low for each in both]
    assert _of_words(f"__funnelshift_lc(0xa5a5a5a5u, w, {shift})") == [each << clamped >> 32 & low for each in both]
    assert _of_words(f"__funnelshift_rc(0xa5a5a5a5u, w, {shift})") == [each >> clamped & low for each in both]


def test_upper_halves_of_products() -> None:
    assert _of_words("__umulhi(w, 0xfffffff1u)") == [word * 0xFFFFFFF1 >> 32 for word in WORDS]
    signed = [word - (1 << 32) if word >> 31 else word for word in WORDS]
    assert _of_words("__mulhi((int)w, -7)") == [each * -7 >> 32 & 0xFFFFFFFF for each in signed]
    wide = "__umul64hi((unsigned long long)w << 31, 0xffffffffffffffffull)"
    assert _of_words(wide) == [(word << 31) * (2**64 - 1) >> 64 & 0xFFFFFFFF for word in WORDS]


def test_chosen_bytes() -> None:
    """Nibbles 0 to 3 name the bytes of the first word, 4 to 7 those of the second, from the lowest."""
    parts = [[(word >> 8 * place) & 0xFF for place in range(4)] + [0x11, 0x22, 0x33, 0x44] for word in WORDS]
    expected = [(each[3] | each[6] << 8 | each[0] << 16 | each[4] << 24) for each in parts]
    assert _of_words("__byte_perm(w, 0x44332211u, 0x4063)") == expected


@pytest.mark.parametrize(
    ("name", "function"),
    [("rd", math.floor), ("ru", math.ceil), ("rz", math.trunc), ("rn", round)],
)
def test_roundings(name: str, function: object) -> None:
    """Halves go to the even neighbour, in Python as on the machine."""
    values = [-3.5, -2.5, -0.25, 0.0, 0.5, 1.5, 2.75]
    body = "float x[7] = {" + ", ".join(f"{value}f" for value in values) + "};"
    found = stored(f"{body} out[t] = __float2int_{name}(x[t]);", (7, 1, 1))
    assert found == [function(value) for value in values]  # type: ignore[operator]


def test_numbers_that_an_integer_does_not_have() -> None:
    """The nearest one that it has: PTX ISA, "cvt"."""
    assert stored("float x = 3e10f; out[t] = __float2int_rz(x);", (1, 1, 1)) == [2**31 - 1]
    assert stored("float x = -3e10f; out[t] = __float2int_rz(x);", (1, 1, 1)) == [-(2**31)]
    assert stored("float x = -1.f; out[t] = (int)__float2uint_rz(x);", (1, 1, 1)) == [0]


def test_extrema_and_absolute_values() -> None:
    assert stored("out[t] = max(min(t, 20), 5);") == [max(min(t, 20), 5) for t in range(32)]
    assert stored("out[t] = abs(t - 9) + llabs(4 - (long long)t);") == [abs(t - 9) + abs(4 - t) for t in range(32)]
    body = "float x = t - 3; out[t] = (int)fmaxf(fabsf(x), 1.5f);"
    assert stored(body) == [int(max(abs(t - 3), 1.5)) for t in range(32)]


def test_functions_of_mathematics() -> None:
    assert stored("out[t] = (int)sqrtf((float)(t * t));") == list(range(32))
    assert stored("out[t] = (int)log2f((float)(1 << (t % 16)));") == [t % 16 for t in range(32)]
    assert stored("out[t] = (int)fmaf((float)t, 2.f, 1.f) + (int)ceilf(t * 0.5f);") == [
        2 * t + 1 + math.ceil(t / 2) for t in range(32)
    ]
    assert stored("out[t] = __mul24(t, 3) + __umul24(t, 2);") == [5 * t for t in range(32)]


def test_the_bits_of_a_float() -> None:
    expected = [struct.unpack("<i", struct.pack("<f", float(t)))[0] for t in range(32)]
    assert stored("out[t] = __float_as_int((float)t);") == expected
    assert stored("union { float f; int i; } u; u.f = (float)t; out[t] = u.i;") == expected
    assert stored("float f = (float)t; out[t] = *reinterpret_cast<int*>(&f);") == expected
    assert stored("out[t] = (int)__int_as_float(__float_as_int((float)t));") == list(range(32))

"""Arguments of recorded launches, as the file spells them and as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.launches.recorded.arguments import argument_of, bytes_of
from cudalint.launches.recorded.records import POINTER_BYTES, RecordedPointer

_POINTERS = st.one_of(
    st.just(RecordedPointer(None)),
    st.builds(RecordedPointer, st.integers(0, 10**9 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
)


@st.composite
def _values(draw: st.DrawFn) -> tuple[bytes, dict[int, RecordedPointer]]:
    """Bytes, and pointers among them, which stand at multiples of their size."""
    size = draw(st.integers(1, 64))
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    places = range(0, size - POINTER_BYTES + 1, POINTER_BYTES)
    pointers = {at: draw(_POINTERS) for at in places if draw(st.booleans())}
    for at in pointers:
        data[at : at + POINTER_BYTES] = bytes(POINTER_BYTES)
    return bytes(data), pointers


@given(_values())
def test_what_is_spelled_is_read_again(value: tuple[bytes, dict[int, RecordedPointer]]) -> None:
    data, pointers = value
    assert bytes_of(argument_of(data, pointers), len(data)) == (data, pointers)


@pytest.mark.parametrize(
    ("argument", "size", "data", "pointers"),
    [
        (4096, 4, b"\x00\x10\x00\x00", {}),
        (0xFFFFFFFF, 4, b"\xff\xff\xff\xff", {}),
        (1, 1, b"\x01", {}),
        ("p0+16384/49152", 8, bytes(8), {0: RecordedPointer(0, 16384, 49152)}),
        ("p?", 8, bytes(8), {0: RecordedPointer(None)}),
        ("x010000000c00000000100000", 12, bytes.fromhex("010000000c00000000100000"), {}),
        ("x{0+256/4096}0a000000", 12, bytes(8) + b"\n\0\0\0", {0: RecordedPointer(0, 256, 4096)}),
        ("x07{?}{2+0/8}", 17, b"\x07" + bytes(16), {1: RecordedPointer(None), 9: RecordedPointer(2, 0, 8)}),
        ("x", 0, b"", {}),
        (0, 0, b"", {}),
    ],
)
def test_spellings(argument: int | str, size: int, data: bytes, pointers: dict[int, RecordedPointer]) -> None:
    assert bytes_of(argument, size) == (data, pointers)
    if size:
        assert argument_of(data, pointers) == argument


@pytest.mark.parametrize(
    ("argument", "size"),
    [
        (256, 1),
        (1 << 64, 8),
        (1, 16),
        (1, 0),
        ("p0+0/4", 4),
        ("p", 8),
        ("p1", 8),
        ("p-1+0/4", 8),
        ("p0+0/4 ", 8),
        ("p1234567890+0/4", 8),
        ("p0+123456789012345678901/4", 8),
        ("q00", 1),
        ("", 0),
        ("x0", 1),
        ("x0g", 1),
        ("x0A", 1),
        ("x00", 2),
        ("x0000", 1),
        ("x{0+0/4}", 4),
        ("x{0+0/4", 8),
        ("x{}", 8),
        ("x{{?}}", 8),
        ("x\n00", 1),
        ("x\u0660\u0660", 1),
        ("p\u0660+0/4", 8),
    ],
)
def test_what_is_no_argument_of_that_size(argument: int | str, size: int) -> None:
    with pytest.raises(ValueError, match=r"^.{1,200}$"):
        bytes_of(argument, size)


def test_long_texts_are_told_in_one_short_line() -> None:
    for text in ("y" * 20_000, "p" + "9" * 20_000, "x" + "z" * 20_000, "x{" + "8" * 20_000 + "}"):
        with pytest.raises(ValueError, match=r"^.{1,120}$"):
            bytes_of(text, 8)

"""Reading cubins: what nvcc made, and files that are none."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from cudalint.toolchain.toolkit.cubin import read_cubin
from cudalint.toolchain.toolkit.usage import Usage, UsageError, usage_of

_DATA = Path(__file__).parents[1] / "data"
_PTXAS = {
    "_ZN2ns7boundedEPNS_1SEPKf": 10,
    "_ZN42_GLOBAL__N__ee589b08_12_registers_cu_plain6hiddenEPd": 14,
    "_Z5tiledILi128EEvPf": 23,
    "plain": 8,
    "_Z8internalPi": 8,
}
"""What `ptxas -v` said of tests/data/registers.cu, for sm_80 and for sm_90 alike."""


@pytest.mark.parametrize("name", ["registers_sm80.cubin", "registers_sm90.cubin"])
def test_registers_are_those_of_ptxas(name: str) -> None:
    found = read_cubin(str(_DATA / name))
    assert {usage.source for usage in found.values()} == {"cubin"}
    assert {symbol: usage.registers for symbol, usage in found.items()} == _PTXAS


def test_stack_frames_are_those_of_ptxas() -> None:
    found = read_cubin(str(_DATA / "registers_sm80.cubin"))
    assert {usage.stack_bytes for usage in found.values()} == {0}
    assert {usage.spill_store_bytes for usage in found.values()} == {None}


def test_shared_memory_is_the_kernels_own() -> None:
    before, after = (read_cubin(str(_DATA / f"registers_sm{sm}.cubin")) for sm in (80, 90))
    assert before["_Z5tiledILi128EEvPf"].static_shared_bytes == 512
    assert before["plain"].static_shared_bytes == 0
    # From 9.0 on the file counts what the system reserves, so that it says nothing plain.
    assert after["_Z5tiledILi128EEvPf"].static_shared_bytes is None


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read it: No such file"):
        read_cubin(str(tmp_path / "none.cubin"))
    with pytest.raises(UsageError, match="cannot read it"):
        read_cubin(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"__global__ void k() {}\n", "not an ELF file"),
        (b"\x7fELF", "broken cubin"),
        (struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01", 2, 62, *[0] * 11), "another machine"),
    ],
)
def test_no_cubin(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_cubin(str(path))


def test_a_broken_file_is_an_error_or_has_fewer_kernels(tmp_path: Path) -> None:
    whole = (_DATA / "registers_sm80.cubin").read_bytes()
    path = tmp_path / "k.cubin"
    rng = random.Random(7)
    for _ in range(300):
        data = bytearray(whole[: rng.choice([len(whole), rng.randrange(len(whole))])])
        for _ in range(rng.randrange(1, 20)):
            # Half of the changes go where the tables are described.
            where = rng.choice([rng.randrange(len(data) or 1), rng.randrange(64)])
            if where < len(data):
                data[where] = rng.choice([0, 0xFF, rng.randrange(256)])
        path.write_bytes(bytes(data))
        try:
            found = read_cubin(str(path))
        except UsageError as error:
            assert "\n" not in str(error)
        else:
            assert all(isinstance(usage, Usage) for usage in found.values())


def test_names_that_compilers_spell_differently() -> None:
    known = read_cubin(str(_DATA / "registers_sm80.cubin"))
    for name, linkage_name, registers in [
        ("hidden", "_ZN12_GLOBAL__N_16hiddenEPd", 14),
        ("internal", "_ZL8internalPi", 8),
        ("plain", "plain", 8),
        ("tiled", "_Z5tiledILi128EEvPf", 23),
        # An unknown parameter type is taken for an int.
        ("bounded", "_ZN2ns7boundedEPiPKf", 10),
        ("bounded", "", 10),
    ]:
        usage = usage_of(name, linkage_name, known)
        assert usage is not None and usage.registers == registers
    assert usage_of("nothing", "_Z7nothingv", known) is None


def test_two_of_a_name_are_not_told_apart_by_it() -> None:
    known = {"_Z1kILi1EEvv": Usage(10, 0, "cubin"), "_Z1kILi2EEvv": Usage(20, 0, "cubin")}
    assert usage_of("k", "_Z1kILi3EEvv", known) is None
    assert usage_of("k", "_Z1kILi2EEvv", known) == Usage(20, 0, "cubin")

"""What is read from a disassembly: the innermost line of each access, its space and its width."""

from __future__ import annotations

import machine_code
import pytest

_DISASSEMBLY = """
.text._Z4tilePf:
	//## File "/src/helpers.h", line 3 inlined at "/src/tile.cu", line 9
	//## File "/src/tile.cu", line 9
        /*0050*/                   LDG.E.128.CONSTANT R4, desc[UR8][R4.64] ;
	//## File "/src/tile.cu", line 10
        /*0060*/               @P0 STS.64 [R2+UR4], R4 ;
        /*0070*/              @!P0 LDS.U8 R9, [R6] ;
        /*0080*/                   FADD R4, R4, R9 ;
        /*0090*/                   STG.E desc[UR8][R2.64], R4 ;
"""


def test_accesses_of_a_disassembly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "_demangled", lambda names: dict.fromkeys(names, "tile"))
    assert machine_code._accesses(_DISASSEMBLY) == {
        machine_code.Site("tile", "helpers.h", 3, "global", "load"): {16},
        machine_code.Site("tile", "tile.cu", 10, "shared", "store"): {8},
        machine_code.Site("tile", "tile.cu", 10, "shared", "load"): {1},
        machine_code.Site("tile", "tile.cu", 10, "global", "store"): {4},
    }

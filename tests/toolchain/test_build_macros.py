"""Which macros a Makefile defines whenever it compiles a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.toolchain.buildfiles.reading import build_of


def _definitions(folder: Path, makefile: str, name: str = "main.cu") -> list[str]:
    source = folder / name
    source.touch()
    (folder / "Makefile").write_text(makefile)
    return [macro.definition for macro in build_of(str(source)).macros]


@pytest.mark.parametrize(
    ("makefile", "definitions"),
    [
        ("main: main.cu\n\tnvcc -DTILE=16 -D DOUBLE $< -o $@\n", ["DOUBLE", "TILE=16"]),
        ("FLAGS = $(EXTRA) -DN=8\n%.o: %.cu\n\t$(CC) $(FLAGS) -c $< -o $@\n", ["N=8"]),
        ("N = 4\nFLAGS = -DN=$(N)\nFLAGS += -DM='2*$(N)'\nmain: main.cu\n\tnvcc $(FLAGS) main.cu\n", ["M=2*4", "N=4"]),
        # Only `make` knows which of these holds.
        ("ifeq ($(DEBUG),yes)\nFLAGS += -DDEBUG\nendif\nmain: main.cu\n\tnvcc $(FLAGS) main.cu\n", []),
        ("main: main.cu\nifdef FAST\n\tnvcc -DFAST main.cu\nelse\n\tnvcc main.cu\nendif\n", []),
        ("main: main.cu\n\tnvcc -DSM=$(shell arch) -DX=`arch` main.cu\n", []),
        # Two programs are made of it, or another file is compiled, or nothing is.
        ("a: main.cu\n\tnvcc -DA -DN=1 main.cu\nb: main.cu\n\tnvcc -DB -DN=1 main.cu\n", ["N=1"]),
        ("a: main.cu\n\tnvcc -DN=1 main.cu\nb: main.cu\n\tnvcc -DN=2 main.cu\n", []),
        ("other: other.cu\n\tnvcc -DN=1 other.cu\n", []),
        ("main: main.o\n\tnvcc -DN=1 main.o -o main\n", []),
        ("main: main.cu\n\tnvcc -DN='1 main.cu\n", []),
        ("", []),
    ],
)
def test_what_every_compilation_of_a_file_defines(tmp_path: Path, makefile: str, definitions: list[str]) -> None:
    assert _definitions(tmp_path, makefile) == definitions


def test_a_header_has_what_all_sources_have(tmp_path: Path) -> None:
    makefile = "a: a.cu\n\tnvcc -DN=1 -DA a.cu\nb: b.cu\n\tnvcc -DN=1 b.cu\n"
    assert _definitions(tmp_path, makefile, "kernels.cuh") == ["N=1"]
    assert _definitions(tmp_path, makefile, "b.cu") == ["N=1"]
    assert _definitions(tmp_path, makefile, "notes.py") == []

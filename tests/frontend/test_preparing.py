"""What a file needs is found while it is preprocessed, before it is parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from clang.cindex import TranslationUnit, TranslationUnitLoadError
from parses import parses_of

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.parse import ParsedFile, parse_file

_KERNEL = "__global__ void fill(float *a) { a[threadIdx.x] = WIDTH; }\n"


@pytest.fixture
def parses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return parses_of(tmp_path / "fill.cu", monkeypatch)


def _written(folder: Path, **texts: str) -> Path:
    (folder / "LICENSE").write_text("")
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_h", ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "fill.cu").write_text(f'#include "api.h"\n{_KERNEL}')
    return folder / "fill.cu"


def _told(parsed: ParsedFile) -> list[str]:
    return [problem.message for problem in parsed.problems]


def test_a_folder_that_a_header_needs(tmp_path: Path, parses: list[str]) -> None:
    source = _written(
        tmp_path, include__api_h='#include "sizes/width.h"\n', third__sizes__width_h="enum { WIDTH = 4 };\n"
    )
    assert _told(parse_file(str(source), ParseOptions())) == []
    assert len(parses) == 1


def test_a_macro_that_a_header_asks_for(tmp_path: Path, parses: list[str]) -> None:
    source = _written(tmp_path, include__api_h="#ifndef LANES\n#error set it\n#endif\nenum { WIDTH = 4 };\n")
    (message,) = _told(parse_file(str(source), ParseOptions()))
    assert message.endswith("linted with -D LANES")
    assert len(parses) == 1


def test_a_stand_in_for_a_library(tmp_path: Path, parses: list[str]) -> None:
    source = _written(tmp_path, include__api_h="#include <ATen/ATen.h>\nenum { WIDTH = 4 };\n")
    assert _told(parse_file(str(source), ParseOptions())) == []
    assert len(parses) == 1


def test_whatever_is_missing_two_parses_do(tmp_path: Path, parses: list[str]) -> None:
    """Folders one behind the other, a library, a macro that the build gives and one around the kernels cost no parse;
    the second one has a well-known header and stand-ins for a type, a number and a macro."""
    source = _written(
        tmp_path,
        include__api_h='#ifndef LANES\n#error set it\n#endif\n#include "sizes/width.h"\n#include <lost/any.h>\n',
        third__sizes__width_h='#include "further/base.h"\n#include <ATen/ATen.h>\n',
        other__further__base_h="enum { WIDTH = 4 };\n",
    )
    source.write_text(
        '#include "api.h"\n#include "gone.h"\n#ifdef USE_CUDA\nMY_API void host();\n'
        "__global__ void fill(real* a, curandState* b) {\n"
        "    a[threadIdx.x] = WIDTH + OFFSET + curand_uniform(b);\n}\n#endif\n"
    )
    told = _told(parse_file(str(source), ParseOptions()))
    assert [message for message in told if "not found" not in message] == [
        "`curand_kernel.h` is not included; taken as if it were",
        "nothing declares 'MY_API'; taken as a macro without text",
        "nothing declares 'real'; taken as `float`",
        "nothing declares 'OFFSET'; taken as an unknown `int`",
        "linted with -D USE_CUDA, without which it has no kernels",
        f"`#error` asks for `LANES` ({tmp_path}/include/api.h:2): linted with -D LANES",
    ]
    assert sum("not found" in message for message in told) == 2
    assert len(parses) == 2


@pytest.mark.parametrize(
    "header",
    [
        # Nobody gets to the `#error`, or to what is included there.
        "#if 0\n#ifndef LANES\n#error set it\n#endif\n#endif\nenum { WIDTH = 4 };\n",
        '#ifdef FAR\n#include "sizes/width.h"\n#else\nenum { WIDTH = 4 };\n#endif\n',
        "#ifdef FAR\n#include <ATen/ATen.h>\n#endif\nenum { WIDTH = 4 };\n",
        # It is there if the header says so itself, further up or in another one.
        "#define LANES 2\n#ifndef LANES\n#error set it\n#endif\nenum { WIDTH = 4 };\n",
    ],
)
def test_what_conditions_leave_out_is_not_needed(tmp_path: Path, header: str) -> None:
    source = _written(tmp_path, include__api_h=header, third__sizes__width_h="enum { WIDTH = 8 };\n")
    parsed = parse_file(str(source), ParseOptions())
    assert _told(parsed) == []
    assert not any("third" in argument for argument in map(str, parsed.tu.get_includes()))


def test_what_is_asked_for_is_not_missing(tmp_path: Path, parses: list[str]) -> None:
    header = '#if __has_include("sizes/width.h")\n#include "sizes/width.h"\n#else\nenum { WIDTH = 4 };\n#endif\n'
    source = _written(tmp_path, include__api_h=header, third__sizes__width_h="enum { WIDTH = 8 };\n")
    parsed = parse_file(str(source), ParseOptions())
    assert not any(each.include.name.endswith("width.h") for each in parsed.tu.get_includes() if each.include)
    assert len(parses) == 1


def test_a_folder_that_nothing_used_costs_no_parse(tmp_path: Path, parses: list[str]) -> None:
    header = '#ifdef FAR\n#include "sizes/width.h"\n#else\nenum { WIDTH = 4 };\n#endif\n'
    source = _written(tmp_path, include__api_h=header, third__sizes__width_h="enum { WIDTH = 8 };\n")
    parse_file(str(source), ParseOptions())
    assert len(parses) == 1


def test_a_folder_that_something_asks_for_may_change_what_it_is_not_used_for(tmp_path: Path, parses: list[str]) -> None:
    asked = '#if __has_include("sizes/height.h")\nenum { WIDTH = 8 };\n#else\nenum { WIDTH = 4 };\n#endif\n'
    header = f'#ifdef FAR\n#include "sizes/width.h"\n#endif\n{asked}'
    source = _written(tmp_path, include__api_h=header, third__sizes__width_h="", third__sizes__height_h="")
    parsed = parse_file(str(source), ParseOptions())
    assert len(parses) == 1
    # Lines of the header that its conditions leave out: those for 8, as without the folder.
    (ranges,) = (left for path, left in parsed.left_out().items() if path.endswith("api.h"))
    assert ranges[-1] == (4, 6)


def test_what_crashes_behind_a_precompiled_header_is_tried_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _written(tmp_path, include__api_h="enum { WIDTH = 4 };\n")
    source.write_text(source.read_text().replace("WIDTH", "WIDTH + missing"))
    precompiled: list[bool] = []
    from_source = TranslationUnit.from_source

    def crashing(path: str, arguments: list[str], *others: Any) -> TranslationUnit:
        if path.endswith("fill.cu"):
            precompiled.append("-include-pch" in arguments)
            if precompiled[-1]:
                raise TranslationUnitLoadError("as if it had crashed")
        return from_source(path, arguments, *others)

    monkeypatch.setattr(TranslationUnit, "from_source", crashing)
    parse_file(str(source), ParseOptions())
    assert len(precompiled) > 2
    assert precompiled == [True, *[False] * (len(precompiled) - 1)]

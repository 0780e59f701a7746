"""`--ptxas`, with a program in nvcc's place that prints what nvcc prints, or fails as it may."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from cudalint.toolchain.toolkit import nvcc
from cudalint.toolchain.toolkit.nvcc import Compilation, compiled_usage, find_nvcc
from cudalint.toolchain.toolkit.usage import HeaderNotFoundError, SpillLine, Usage, UsageError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the double is a script with a first line that names Python")

_PRINTS = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5scalePf' for 'sm_80'
ptxas info    : Function properties for _Z5scalePf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers, 512 bytes smem, 360 bytes cmem[0]
"""
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program called nvcc into a toolkit of its own; it notes each of its runs."""
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text("// a header\n")

    def write(body: str = "", registers: int = 40, status: int = 0) -> Path:
        binary = tmp_path / "toolkit" / "bin" / "nvcc"
        binary.parent.mkdir(parents=True, exist_ok=True)
        prints = body or _PRINTS.format(registers=registers)
        binary.write_text(
            f"#!{sys.executable}\n"
            "import sys\n"
            f"open({str(tmp_path / 'runs')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
            "listing = sys.argv[sys.argv.index('-MF') + 1]\n"
            "open(listing, 'w').write('out.cubin : \\\\\\n  a.cu \\\\\\n  b.h')\n"
            f"sys.stderr.write({prints!r})\n"
            f"sys.exit({status})\n"
        )
        binary.chmod(0o755)
        return tmp_path / "toolkit"

    return write


def _runs() -> int:
    return len(Path("runs").read_text().splitlines()) if Path("runs").exists() else 0


def _compilation(toolkit: Path, **changes: object) -> Compilation:
    return replace(Compilation("a.cu", "sm_80", cuda_path=str(toolkit)), **changes)


def test_it_reads_what_ptxas_says(install: Install) -> None:
    assert compiled_usage(_compilation(install())) == {"_Z5scalePf": Usage(40, 512, "ptxas", 0, 0, 0)}


def test_stack_frames_and_spills_are_those_of_the_kernel_itself(install: Install) -> None:
    """nvcc tells of functions that aren't inlined between a kernel's name and its registers."""
    printed = """
ptxas info    : Compiling entry function '_Z5scalePf' for 'sm_80'
ptxas info    : Function properties for _Z5scalePf
    96 bytes stack frame, 40 bytes spill stores, 64 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 96 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compiling entry function '_Z5otherPf' for 'sm_80'
ptxas info    : Function properties for _Z6calledPf
    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for _Z5otherPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
"""
    found = compiled_usage(_compilation(install(printed)))
    assert found["_Z5scalePf"] == Usage(32, 0, "ptxas", 96, 40, 64)
    assert found["_Z5otherPf"] == Usage(8, 0, "ptxas", 0, 0, 0)


_LISTED = """
.text._Z5scalePf:
	//## File "{source}", line 3
        /*0230*/                   STL [R1+0x50], R7                                 (*"SpillRefill"*);
        /*0240*/              @!P0 STL.64 [R1+0x48], R8                              (*"SpillRefill"*);
        /*0250*/                   STL [R5], R9 ;
	//## File "/elsewhere/b.h", line 7 inlined at "{source}", line 4
	//## File "{source}", line 4
        /*0260*/                   LDL R3, [R1+0x50]                                 (*"SpillRefill"*);
"""


def test_lines_of_spills_are_those_of_the_disassembly(install: Install, tmp_path: Path) -> None:
    """As nvdisasm 13 marks them: other accesses of local memory are those of arrays."""
    toolkit = install()
    listing = _LISTED.format(source=tmp_path / "a.cu")
    disassembler = toolkit / "bin" / "nvdisasm"
    disassembler.write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.write({listing!r})\n")
    disassembler.chmod(0o755)
    wanted = (SpillLine("a.cu", 3, 2, 0), SpillLine("/elsewhere/b.h", 7, 0, 1))
    for _ in ("compiled", "kept"):
        assert compiled_usage(_compilation(toolkit))["_Z5scalePf"].spill_lines == wanted
    assert _runs() == 1


def test_nvcc_of_a_package_is_found_where_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("cu12", "cu13"):
        binary = tmp_path / "nvidia" / version / "bin" / "nvcc"
        binary.parent.mkdir(parents=True)
        binary.write_text("#!/bin/sh\n")
        binary.chmod(0o755)
    monkeypatch.setattr(nvcc.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path)})
    monkeypatch.setenv("PATH", "")
    for home in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(home, raising=False)
    assert find_nvcc(None) == str(tmp_path / "nvidia" / "cu13" / "bin" / "nvcc")
    assert find_nvcc(str(tmp_path)) is None


def test_the_answer_is_kept_until_something_changes(install: Install) -> None:
    toolkit = install()
    same = _compilation(toolkit)
    assert compiled_usage(same) == compiled_usage(same)
    assert _runs() == 1
    Path("b.h").write_text("// another header\n")
    compiled_usage(same)
    assert _runs() == 2
    compiled_usage(replace(same, max_registers=32))
    assert _runs() == 3
    compiled_usage(replace(same, defines=("N=4",)))
    assert _runs() == 4
    install(registers=48)
    assert compiled_usage(same)["_Z5scalePf"].registers == 48


def test_options_are_handed_on(install: Install) -> None:
    toolkit = install()
    set_ = {"include_dirs": ("inc",), "defines": ("N=4",), "std": "c++20", "max_registers": 32}
    compiled_usage(_compilation(toolkit, architecture="sm_90", **set_))
    (line,) = Path("runs").read_text().splitlines()
    for option in ("-arch=sm_90", "-Iinc", "-DN=4", "-std=c++20", "-maxrregcount=32", "-Xptxas -v", "-cubin"):
        assert option in line


def test_text_that_is_in_no_file(install: Install) -> None:
    toolkit = install()
    found = compiled_usage(_compilation(toolkit, path="<stdin>.cu", text="__global__ void scale(float *) {}\n"))
    assert found["_Z5scalePf"].registers == 40


def test_a_broken_cache_is_no_matter(install: Install, tmp_path: Path) -> None:
    toolkit = install()
    compiled_usage(_compilation(toolkit))
    (entry,) = (tmp_path / "cache" / "ptxas").iterdir()
    for content in ("", "[]", '{"files": 3, "output": ""}', '{"files": {}, "output": 3}', "\udcff"):
        entry.write_text(content, errors="surrogateescape")
        assert compiled_usage(_compilation(toolkit))["_Z5scalePf"].registers == 40


def test_a_cache_that_cannot_be_written(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(tmp_path / "file"))
    assert compiled_usage(_compilation(install()))["_Z5scalePf"].registers == 40


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("a.cu(3): warning: x\na.cu(4): error: no `y`\n", 2, r"nvcc fails: a.cu\(4\): error: no `y`"),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_70'\n", 1, "nvcc fatal : Unsupported gpu"),
        ("killed", 137, "nvcc fails: killed"),
        ("\n", 3, "exit status 3"),
    ],
)
def test_an_nvcc_that_fails(install: Install, body: str, status: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compiled_usage(_compilation(install(body, status=status)))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("fatal error: torch/extension.h: No such file or directory", r"no torch/extension\.h, .*include_paths"),
        ('catastrophic error: cannot open source file "own.h"', r"no own\.h, .*: -I names its folder; or --reg"),
        ("fatal error: 'c10/util/Half.h' file not found", r"no c10/util/Half\.h, .*include_paths"),
    ],
)
def test_an_nvcc_that_finds_no_header(install: Install, said: str, told: str) -> None:
    with pytest.raises(HeaderNotFoundError, match=told):
        compiled_usage(_compilation(install(f"a.cu:1:10: {said}\n", status=1)))


def test_an_nvcc_that_prints_something_else(install: Install) -> None:
    assert compiled_usage(_compilation(install("hello\n"))) == {}


def test_an_nvcc_that_hangs(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    toolkit = install()
    (toolkit / "bin" / "nvcc").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
    monkeypatch.setattr(nvcc, "SECONDS", 0.5)
    with pytest.raises(UsageError, match=r"takes longer than 0\.5 seconds"):
        compiled_usage(_compilation(toolkit))


def test_an_nvcc_that_is_no_program(install: Install) -> None:
    toolkit = install()
    (toolkit / "bin" / "nvcc").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(UsageError, match="cannot be run"):
        compiled_usage(_compilation(toolkit))


def test_no_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert find_nvcc(None) is None and find_nvcc(str(tmp_path)) is None
    with pytest.raises(UsageError, match="no nvcc found"):
        compiled_usage(Compilation("a.cu", "sm_80"))

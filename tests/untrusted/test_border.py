"""Repositories whose sources, links, databases and configurations lead out of them, and what they find there."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.parse import parse_file
from cudalint.project.path_patterns import GitIgnored
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import border_around, project_top
from cudalint.system.disk.regular import LARGEST, read_regular
from cudalint.system.disk.tools import tool

Check = Callable[..., Any]

_KERNEL = "__global__ void strided(float *p) { p[threadIdx.x * STRIDE] = 1.0f; }\n"
"""With a stride of 32 each lane of a warp writes into a sector of its own: CL101."""
_FALLBACK = "#ifndef STRIDE\n#define STRIDE 1\n#endif\n"


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; beside it is a header that is none of the repository's business."""
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.h").write_text("#define STRIDE 32\n")
    repository = folder / "repository"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    return repository


def _lint(check: Check, text: str, *arguments: str) -> Any:
    Path("a.cu").write_text(text + _FALLBACK + _KERNEL)
    return check(*arguments, "a.cu")


@pytest.mark.parametrize("via", ["absolute", "link", "link to a folder", "macro", "header"])
def test_what_a_source_includes_from_outside_is_taken_as_empty(via: str, repository: Path, check: Check) -> None:
    outside = repository.parent / "outside"
    Path("link.h").symlink_to("../outside/secret.h")
    Path("links").symlink_to(outside)
    Path("header.h").write_text('#include "../outside/secret.h"\n')
    text = {
        "absolute": f'#include "{outside}/secret.h"\n',
        "link": '#include "link.h"\n',
        "link to a folder": '#include "links/secret.h"\n',
        "macro": '#define NAME "../outside/secret.h"\n#include NAME\n',
        "header": '#include "header.h"\n',
    }[via]
    assert "CL101" not in _lint(check, text).out


def test_what_the_user_names_is_the_users(repository: Path, check: Check) -> None:
    assert "CL101" in _lint(check, '#include "../outside/secret.h"\n', "-I", str(repository.parent / "outside")).out


def test_a_refused_include_is_told(repository: Path, capfd: pytest.CaptureFixture[str], check: Check) -> None:
    from cudalint.cli import run

    Path("a.cu").write_text('#include "../outside/secret.h"\n' + _FALLBACK + _KERNEL)
    run(["check", "-j1", "a.cu"])
    assert "../outside/secret.h (it leads out of the project)" in capfd.readouterr().err


def test_a_database_names_nothing_outside(repository: Path, check: Check) -> None:
    outside = repository.parent / "outside"
    (outside / "options").write_text("-DSTRIDE=32\n")
    words = f"-I {outside} -isystem {outside} -I ../outside -I../outside -include {outside}/secret.h @{outside}/options"
    command = f"nvcc {words} --options-file ../outside/options -Xcompiler -I{outside} -idirafter ../outside -c a.cu"
    entry = {"directory": str(repository), "file": "a.cu", "command": command}
    Path("compile_commands.json").write_text(json.dumps([entry]))
    text = "#if __has_include(<secret.h>)\n#include <secret.h>\n#endif\n"
    result = _lint(check, text)
    assert "CL101" not in result.out
    assert "leads out of the project and is left out; --compile-commands takes it" in result.err
    assert "CL101" in _lint(check, text, "--compile-commands", ".").out


@pytest.mark.parametrize("name", ["../outside/secret.h", "out/secret.h", "secret.h", "missing/../../outside/secret.h"])
def test_a_database_includes_nothing_outside_by_force(name: str, repository: Path, check: Check) -> None:
    """Whether it is found from the working folder on, from the current one, or where headers are, and by links too."""
    for folder in ("build/deep", "links"):
        Path(folder).mkdir(parents=True)
    outside = repository.parent / "outside"
    for link in ("out", "build/deep/out"):
        Path(link).symlink_to(outside)
    Path("links/secret.h").symlink_to(outside / "secret.h")
    for directory in (".", "build/deep"):
        words = ["nvcc", "-I", "../../links", "-I", "links", "-include", name, "-c", "a.cu"]
        entry = {"directory": directory, "file": str(repository / "a.cu"), "arguments": words}
        Path("compile_commands.json").write_text(json.dumps([entry]))
        opened = _opened_in(outside) if sys.platform == "linux" else None
        assert "CL101" not in _lint(check, "").out
        assert opened is None or opened() == 0


def test_what_a_database_includes_by_force_is_searched_as_compilers_do(repository: Path, check: Check) -> None:
    for folder in ("build", "include"):
        Path(folder).mkdir()
    Path("include/size.h").write_text("#define STRIDE 32\n")
    words = ["nvcc", "-include", "size.h", "-I", "../include", "-c", "../a.cu"]
    entry = {"directory": ".", "file": "../a.cu", "arguments": words}
    Path("build/compile_commands.json").write_text(json.dumps([entry]))
    assert "CL101" in _lint(check, "").out


@pytest.mark.parametrize("mark", [".git", "src/.git", "src/LICENSE", None])
@pytest.mark.parametrize("here", [".", "src"])
def test_a_database_above_the_project_is_not_the_users(
    mark: str | None, here: str, folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A download may put what marks a project where it likes, and its databases and configurations above that."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.h").write_text("#define STRIDE 32\n")
    source = folder / "download" / "src"
    source.mkdir(parents=True)
    if mark is not None:
        (folder / "download" / mark).mkdir()
    (source / "a.cu").write_text(f'#include "secret.h"\n{_FALLBACK}{_KERNEL}')
    words = ["nvcc", "-I", "../../outside", "-include", str(folder / "outside" / "secret.h"), "-c", "a.cu"]
    entry = {"directory": "src", "file": "a.cu", "arguments": words}
    (folder / "download" / "compile_commands.json").write_text(json.dumps([entry]))
    (folder / "download" / "cudalint.toml").write_text('include-dirs = ["../outside"]\n')
    os.chdir(folder / "download" / here)
    name = os.path.relpath(source / "a.cu")
    result = check(name)
    assert "CL101" not in result.out
    assert "leads out of the project and is left out" in result.err
    assert "CL101" in check("--compile-commands", str(folder / "download"), name).out


def test_what_the_user_has_at_home_is_the_users(
    folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    (folder / "headers").mkdir()
    (folder / "headers" / "size.h").write_text("#define STRIDE 32\n")
    (folder / "cudalint.toml").write_text('include-dirs = ["headers"]\n')
    (folder / "repository" / ".git").mkdir(parents=True)
    os.chdir(folder / "repository")
    assert "CL101" in _lint(check, '#include "size.h"\n').out


@pytest.mark.parametrize("name", ["compile_commands.json", "cudalint.toml"])
def test_nothing_is_looked_for_where_everybody_writes(name: str, repository: Path, check: Check) -> None:
    """`/tmp` is such a folder: what stands there may be another user's."""
    repository.parent.chmod(0o1777)
    entry = {"directory": str(repository), "file": "a.cu", "arguments": ["nvcc", "-DSTRIDE=32", "-c", "a.cu"]}
    text = json.dumps([entry]) if name.endswith("json") else 'defines = ["STRIDE=32"]\n'
    (repository.parent / name).write_text(text)
    assert "CL101" not in _lint(check, "").out
    repository.parent.chmod(0o755)
    disk.forget()
    assert "CL101" in _lint(check, "").out


_COMPILED = {
    "cupy": "import cupy\nk = cupy.RawKernel(SOURCE, 'k', options=(OPTIONS))\n",
    "pycuda": "from pycuda.compiler import SourceModule\nm = SourceModule(SOURCE, options=[OPTIONS])\n",
    "pycuda folders": "from pycuda.compiler import SourceModule\nm = SourceModule(SOURCE, include_dirs=[OUTSIDE])\n",
    "torch": "from torch.utils.cpp_extension import load_inline\n"
    "m = load_inline('m', '', SOURCE, extra_cuda_cflags=[OPTIONS])\n",
    "torch folders": "from torch.utils.cpp_extension import load_inline\n"
    "m = load_inline('m', '', SOURCE, extra_include_paths=[OUTSIDE])\n",
    "cuda.core": "from cuda.core import Program, ProgramOptions\n"
    "p = Program(SOURCE, 'c++', ProgramOptions(include_path=[OUTSIDE]))\n",
}


@pytest.mark.parametrize(
    ("library", "form"),
    [*((each, "../outside") for each in _COMPILED), ("cupy", "{outside}"), ("pycuda folders", "link")],
)
def test_options_in_python_name_nothing_outside(library: str, form: str, repository: Path, check: Check) -> None:
    outside = repository.parent / "outside"
    Path("link").symlink_to(outside)
    text = f'extern "C" {{\n#include "secret.h"\n{_FALLBACK}{_KERNEL}}}\n'
    folder = form.format(outside=outside)
    options = f"'-I{folder}', '--pre-include={folder}/secret.h'"
    program = _COMPILED[library].replace("OUTSIDE", repr(folder)).replace("OPTIONS", options)
    Path("a.py").write_text(program.replace("SOURCE", repr(text)))
    opened = _opened_in(outside) if sys.platform == "linux" else None
    result = check("a.py")
    assert ("CL101" in result.out, result.status) == (False, 0)
    assert opened is None or opened() == 0
    Path("own").mkdir()
    Path("own/secret.h").write_text("#define STRIDE 32\n")
    Path("a.py").write_text(program.replace("SOURCE", repr(text)).replace(folder, "own"))
    assert "CL101" in check("a.py").out


def test_a_configuration_names_no_folder_outside(repository: Path, check: Check) -> None:
    Path("cudalint.toml").write_text('include-dirs = ["../outside"]\n')
    result = _lint(check, '#include "secret.h"\n')
    assert "CL101" not in result.out
    assert "cudalint.toml:1: `include-dirs` names ../outside, which leads out of the project" in result.err
    assert "CL101" in _lint(check, '#include "secret.h"\n', "--config", "cudalint.toml").out


def test_a_makefile_names_no_folder_outside(repository: Path, check: Check) -> None:
    Path("Makefile").write_text(f"a: a.cu\n\tnvcc -I ../outside -I {repository.parent}/outside -o a a.cu\n")
    assert "CL101" not in _lint(check, '#include "secret.h"\n').out


@pytest.mark.parametrize("target", ["../outside/k.cu", "/proc/self/environ"])
def test_a_source_that_is_a_link_to_the_outside_is_not_linted(target: str, repository: Path, check: Check) -> None:
    (repository.parent / "outside" / "k.cu").write_text(_KERNEL.replace("STRIDE", "32"))
    Path("a.cu").symlink_to(target)
    result = check(".")
    assert "CL101" not in result.out
    assert (result.status, "cannot read it: it leads" in result.err) == (2, True)


@pytest.mark.parametrize("pattern", ["**/*.cu", "*/k.cu", "b*", "./[b]uild/*"])
def test_a_pattern_follows_no_link_to_the_outside(pattern: str, repository: Path, check: Check) -> None:
    outside = repository.parent / "outside"
    source = "__global__ void k(float *p) {\n    __shared__ float t[32][32];\n    t[threadIdx.x][0] = p[threadIdx.x];\n"
    source += "    __syncthreads();\n    p[threadIdx.x * 32] = t[threadIdx.x][0];\n}\n"
    (outside / "k.cu").write_text(source)
    (outside / ".git").mkdir()
    Path("build").symlink_to(outside)
    Path("own").mkdir()
    Path("own/k.cu").write_text(source)
    result = check("--fix", "--unsafe-fixes", pattern)
    assert "build" not in result.out
    assert "leads out of the project" in result.err
    assert (outside / "k.cu").read_text() == source
    assert "CL101" in check("build/k.cu").out


@pytest.mark.skipif(sys.platform != "linux", reason="what is opened is seen by inotify(7)")
def test_no_database_is_opened_by_a_link_to_the_outside(repository: Path, check: Check) -> None:
    outside = repository.parent / "outside"
    entry = {"directory": str(repository), "file": "a.cu", "arguments": ["nvcc", "-DSTRIDE=32", "-c", "a.cu"]}
    (outside / "compile_commands.json").write_text(json.dumps([entry]))
    (outside / ".git").mkdir()
    Path("build").symlink_to(outside)
    opened = _opened_in(outside)
    assert "CL101" not in _lint(check, "").out
    assert opened() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="what is opened is seen by inotify(7)")
@pytest.mark.parametrize(
    "include", ["../../outside/k.cu", "link.h", "further.h", "{outside}/k.cu", "sub/../../../outside/k.cu"]
)
def test_what_is_outside_is_not_even_opened(include: str, repository: Path, check: Check) -> None:
    """However it is reached: by a name, a link in a folder that is searched because a header is missing, or a header
    that is found there."""
    outside = repository.parent / "outside"
    (outside / "k.cu").write_text("#define STRIDE 32\n")
    for folder in ("include", "sub"):
        Path(folder).mkdir()
    Path("include/link.h").symlink_to(outside / "k.cu")
    Path("include/further.h").write_text('#include "link.h"\n')
    text = _KERNEL.replace("STRIDE", "32")
    again = "../sub/../../outside/k.cu"
    Path("sub/a.cu").write_text(f'#include "{include.format(outside=outside)}"\n#include "{again}"\n{text}')
    opened = _opened_in(outside)
    assert "CL101" in check("sub/a.cu").out
    assert opened() == 0
    (outside / "k.cu").read_text()
    assert opened() > 0


_STRING = "#define S(x) #x\n#define Y(x) S(x)\n"
_SPELLED = (
    '#include "{}"', '# include <{}>', '%:include "{}"', '/* a */ #include "{}"', '#/* a\n */include"{}"',
    '\f#include "{}"', '\v#\finclude\v"{}"', '#inc\\\nlude "{}"', '#include \\\n"{}"', '#include_next "{}"',
    '#include_next <{}>', '#import "{}"', '#define X "{}"\n#include X', '#define X <{}>\n#include X',
    f'{_STRING}#include Y({{}})', '#pragma GCC dependency "{}"', '#pragma\\\n GCC dependency "{}"',
    '_Pragma("GCC dependency \\"{}\\"")', '#if __has_include("{}")\n#include "{}"\n#endif',
    '#if __has_include(<{}>)\n#endif', '#define H __has_include\n#if H("{}")\n#endif', '#embed "{}"',
    '#if __has_embed("{}")\n#endif', '#pragma include_alias("x.h", "{}")\n#include "x.h"', '??=include "{}"',
    '#pragma clang module load "{}"', '#pragma push_macro("{}")', 'void f() {{ asm(".incbin \\"{}\\""); }}',
    '#line 1 "{}"\n#error x', f'{_STRING}#define A ../outside\n#define B secret.h\n#include Y(A/B)',
    '#include "empty.h"\n#include <{}>',
)  # fmt: skip
"""Every way that some compiler has to name a file, and what only looks like one."""


def _spell(name: str, spelled: Sequence[str]) -> list[str]:
    """A file for each, with the kernel behind it."""
    files = [f"{number:02}.cu" for number in range(len(spelled))]
    for file, each in zip(files, spelled, strict=True):
        text = each.replace("{}", name).replace("{{", "{").replace("}}", "}")
        Path(file).write_text(f"{text}\n{_FALLBACK}{_KERNEL}")
    return files


@pytest.mark.skipif(sys.platform != "linux", reason="what is opened is seen by inotify(7)")
@pytest.mark.parametrize(
    "name", ["../outside/secret.h", "link.h", "sub/../link.h", "links/secret.h", "/outside/secret.h"]
)
def test_however_it_is_spelled_nothing_outside_is_opened(name: str, repository: Path, check: Check) -> None:
    outside = repository.parent / "outside"
    for folder in ("sub", "include"):
        Path(folder).mkdir()
        Path(folder, "links").symlink_to(outside)
    Path("empty.h").write_text('#pragma once\n%:include "empty.h"\n')
    Path("link.h").symlink_to(outside / "secret.h")
    Path("links").symlink_to(outside)
    files = _spell(f"{repository.parent}{name}" if name.startswith("/") else name, _SPELLED)
    opened = _opened_in(outside)
    result = check("-I", "include", "-I", ".", *files)
    assert ("CL101" in result.out, "internal error" in result.err, "given up" in result.err) == (False, False, False)
    assert opened() == 0


def test_however_it_is_spelled_what_is_inside_is_read(repository: Path) -> None:
    Path("include").mkdir()
    Path("include/size.h").write_text("#define STRIDE 32\n")
    for file in _spell("size.h", _SPELLED[:15]):
        parsed = parse_file(file, ParseOptions(include_dirs=("include",)))
        read = {os.path.basename(each.include.name) for each in parsed.tu.get_includes() if each.include is not None}
        assert ("size.h" in read, parsed.problems) == (True, ()), file


def test_what_macros_put_together_is_read_where_it_is_inside(repository: Path, check: Check) -> None:
    """Nobody sees before clang does which file that is, and neither what it includes in turn."""
    Path("deep/er").mkdir(parents=True)
    macros = "#define S(x) #x\n#define Y(x) S(x)\n#define A deep\n#define B er/size.h\n#define C further\n"
    Path("deep/er/size.h").write_text("#include Y(C.h)\n")
    Path("deep/er/further.h").write_text("#define STRIDE 32\n")
    assert "CL101" in _lint(check, f"{macros}#include Y(A/B)\n").out


def _opened_in(folder: Path) -> Callable[[], int]:
    """Tells how many bytes of events of files that are opened below a folder have come by now."""
    library = ctypes.CDLL(None, use_errno=True)
    watch = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert library.inotify_add_watch(watch, os.fsencode(folder), 0x20) >= 0  # IN_OPEN

    def told() -> int:
        try:
            return len(os.read(watch, 1 << 16))
        except BlockingIOError:
            return 0

    return told


def test_links_within_the_project_are_followed(repository: Path, check: Check) -> None:
    Path("include").mkdir()
    Path("include/size.h").write_text("#define STRIDE 32\n")
    Path("size.h").symlink_to("include/size.h")
    assert "CL101" in _lint(check, '#include "size.h"\n').out


def test_files_that_are_huge_are_not_read(repository: Path) -> None:
    with open("huge.h", "wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(OSError, match="larger than 64 MB"):
        read_regular("huge.h")
    assert read_regular("huge.h", 3) == bytes(3)


def test_where_a_project_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    deep = folder / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (folder / "a" / "LICENSE").touch()
    (deep / "LICENSE").touch()
    assert project_top(str(deep)) == str(folder / "a")
    (folder / "a" / "b" / ".git").touch()  # A submodule of nothing.
    assert project_top(str(deep)) == str(folder / "a" / "b")
    (folder / ".git").mkdir()
    assert project_top(str(deep)) == str(folder)
    monkeypatch.setenv("HOME", str(folder))
    assert project_top(str(deep)) == str(folder / "a" / "b")
    assert border_around(str(deep / "k.cu")).problem_of(str(folder / ".ssh" / "id")) == "leads out of the project"
    assert border_around(str(folder / "k.cu")).problem_of("/etc/passwd") == "leads out of the project"
    assert border_around(str(folder / "k.cu")).problem_of("/usr/include/stdio.h") is None
    assert border_around(str(folder / "k.cu")).problem_of("/dev/zero") == "leads to what is no file of a disk"


# --- what is run ---------------------------------------------------------------------------------------------


def test_no_module_of_the_current_folder_is_imported(repository: Path) -> None:
    """Neither by its name nor as a package of rules."""
    mark = "open('ran', 'w').close()\n"
    for name in ("click.py", "msgspec.py", "numpy.py", "own_rules.py"):
        Path(name).write_text(mark)
    Path("own-1.0.dist-info").mkdir()
    Path("own-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    Path("own-1.0.dist-info/entry_points.txt").write_text("[cudalint.rules]\nown = own_rules\n")
    Path("a.cu").write_text(_KERNEL.replace("STRIDE", "32"))
    command = [sys.executable, "-m", "cudalint", "check", "-j1", "--min-share", "0", "a.cu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "CL101" in done.stdout, Path("ran").exists()) == (1, True, False)


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
@pytest.mark.parametrize("path", [".", "", "./bin", "bin"])
def test_programs_are_not_looked_for_in_the_current_folder(
    path: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("bin").mkdir()
    for name in ("nvcc", "bin/nvcc"):
        Path(name).write_text("#!/bin/sh\ntouch ran\n")
        Path(name).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((path, str(repository.parent))))
    assert tool("nvcc") is None
    monkeypatch.setenv("PATH", os.pathsep.join((path, str(repository / "bin"))))
    assert tool("nvcc") == str(repository / "bin" / "nvcc")


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_nvcc_does_not_get_what_includes_something_from_outside(
    repository: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would read that, and say in its errors what is in it."""
    outside = repository.parent / "outside"
    (outside / "nvcc").write_text(f"#!/bin/sh\ntouch {outside}/ran\nexit 1\n")
    (outside / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(outside), prepend=os.pathsep)
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(repository.parent / "cache"))
    kernel = _KERNEL.replace("STRIDE", "32")
    Path("a.cu").write_text(f'#ifndef __clang__\n#include "../outside/secret.h"\n#endif\n{kernel}')
    result = check("--ptxas", "a.cu")
    assert "a.cu: --ptxas: it is not compiled, as nvcc would read ../outside/secret.h (it leads out" in result.err
    assert ("CL101" in result.out, (outside / "ran").exists()) == (True, False)
    Path("a.cu").write_text(kernel)
    check("--ptxas", "a.cu")
    assert (outside / "ran").exists()


# --- what would take forever, or end a run -------------------------------------------------------------------


def test_patterns_of_gitignore_take_no_time(repository: Path) -> None:
    Path(".gitignore").write_text("*a*a*a*a*a*a*a*a*a*a*b.cu\n" + "**/a/" * 12 + "b\n*.o\n")
    begin = time.process_time()
    ignored = GitIgnored()
    assert not ignored("a" * 200 + ".cu", False)
    assert not ignored("a/" * 60 + "c", False)
    assert ignored("a.o", False)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("compile_commands.json", "[" * 100_000),
        ("compile_commands.json", '[{"directory": %s}]' % ("1" * 5000)),
        ("compile_commands.json", '[{"directory": "\\ud800", "file": "\\u0000", "command": "nvcc"}]'),
        ("cudalint.toml", f"x = {'1' * 5000}"),
        ("cudalint.toml", f"x = {'[' * 5000}"),
    ],
)
def test_no_file_of_settings_ends_a_run(name: str, text: str, repository: Path, check: Check) -> None:
    Path(name).write_text(text)
    result = _lint(check, "#define STRIDE 32\n")
    assert "internal error" not in result.err
    assert name in result.err
    assert ("CL101" in result.out) == (name != "cudalint.toml")

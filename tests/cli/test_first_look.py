"""What `cudalint init` sees in a repository, and writes."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.cli.authoring.first_look import configuration, look_at
from cudalint.cli.check import command as check
from cudalint.project.config import load_config

_FILES = {
    "include/ours/tile.cuh": "",
    "src/a.cu": '#include "ours/tile.cuh"\n#include "beside.h"\n#include <cuda_fp16.h>\n#include "detail.h"\n',
    "src/beside.h": "",
    "src/private/detail.h": "",
    "one/same.h": "",
    "two/same.h": "",
    "src/b.cu": '#include "same.h"\n#include <fmt/core.h>\n',
    "third_party/fmt/core.h": "",
    "3rdparty/x/external/y.cu": "",
    "libs/cub/z.cu": "",
    ".gitmodules": '[submodule "cub"]\n\tpath = libs/cub\n',
    ".git/HEAD": "",
    ".gitignore": "generated/\n",
    "generated/g.cu": "",
    "CMakeLists.txt": 'set(CMAKE_CUDA_ARCHITECTURES "80;90a") # sm_120\n',
    "libs/cub/CMakeLists.txt": "set(CMAKE_CUDA_ARCHITECTURES 100)\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_seen(repository: Path) -> None:
    look = look_at(".")
    assert look.sources == ("include/ours/tile.cuh", "src/a.cu", "src/b.cu")
    # `same.h` could come from two folders, and one source alone asks for `detail.h`: neither tells anything.
    assert look.include_dirs == ("include",)
    assert look.excludes == ("3rdparty", "libs/cub")
    assert (look.architectures, look.target) == ((80, 90), "h100")
    (repository / "src" / "c.cu").write_text('#include "detail.h"\n')
    assert look_at(".").include_dirs == ("src/private", "include")


def test_folders_of_builds_are_named_in_a_comment(repository: Path) -> None:
    """Nobody but the user knows whether `build/` is one."""
    (repository / "build").mkdir()
    (repository / "build" / "b.cu").write_text("")
    look = look_at(".")
    assert "build/b.cu" in look.sources and look.built == ("build",)
    text = configuration(look, None)
    assert '\n# exclude = ["/3rdparty/", "/libs/cub/", "/build/"]\n' in text
    assert tomllib.loads(text)["exclude"] == ["/3rdparty/", "/libs/cub/"]
    assert "--fail-on-incomplete" in text


def test_the_run_after_it_is_served_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUDALINT_NO_CACHE", raising=False)
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(tmp_path / "cache"))
    Path("a.cu").write_text("__global__ void k(float* p) { p[threadIdx.x * 2] = 0; }\n")
    assert run(["init"]) == 0
    capsys.readouterr()
    assert run(["check", "--timings"]) == 0
    assert "1 file from the cache" in capsys.readouterr().err


def test_who_ends_it_early_has_a_configuration_that_works(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the baseline when there is one."""

    def ended(*arguments: object, **options: object) -> int:
        assert "baseline" not in tomllib.loads(Path("cudalint.toml").read_text())
        return 130

    monkeypatch.setattr(check, "main", ended)
    assert run(["init"]) == 130
    assert load_config("cudalint.toml").baseline is None


def test_what_is_written_is_a_configuration(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert tomllib.loads(printed)["baseline"] == "cudalint-baseline.json"
    assert run(["init", "--no-baseline"]) == 0
    config = load_config("cudalint.toml")
    assert (config.target, config.include_dirs) == ("h100", ("include",))
    assert (config.exclude, config.baseline) == (("/3rdparty/", "/libs/cub/"), None)
    assert run(["init", "--no-baseline"]) == 2
    assert "is there already" in capsys.readouterr().err
    (repository / "cudalint.toml").unlink()
    (repository / "pyproject.toml").write_text("[tool.cudalint]\nstd = 3")
    assert run(["init"]) == 2
    assert "has the settings already" in capsys.readouterr().err


def test_names_of_folders_are_escaped(repository: Path) -> None:
    (repository / "ex\\\"t\x7f/vendor").mkdir(parents=True)
    (repository / "ex\\\"t\x7f/vendor/v.cu").write_text("")
    text = configuration(look_at("."), None)
    assert "/ex\\\"t\x7f/vendor/" in tomllib.loads(text)["exclude"]


def test_errors_are_listed_and_stay_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What was there before is put up with where it costs time, and not where it computes something wrong."""
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(
        "__global__ void reverse(float *a, const float *b) {\n"
        "    __shared__ float t[256];\n"
        "    t[threadIdx.x] = b[32 * threadIdx.x];\n"
        "    a[threadIdx.x] = t[255 - threadIdx.x];\n"
        "}\n"
        "void run(float *a, const float *b) { reverse<<<64, 256>>>(a, b); }\n"
    )
    assert run(["init"]) == 1
    printed = capfd.readouterr().out
    assert "error[CL301]" in printed
    assert "\nLeft out of it: 1 error; --include-errors takes it in\n" in printed
    command = "cudalint check . --write-baseline ./cudalint-baseline.json --include-errors"
    assert printed.splitlines()[-1] == f"  {command}"
    # After the finding and what it shows of the source: short lines.
    assert all(len(line) < 130 for line in printed.splitlines()[-7:])
    codes = [found["code"] for found in json.loads(Path("cudalint-baseline.json").read_text())["findings"]]
    assert "CL301" not in codes
    # A grid that does the same in all its blocks (CL507) takes less of the kernel than is reported.
    assert sorted(codes) == ["CL101", "CL507"]
    assert "\nWritten to ./cudalint-baseline.json: 1 finding, and 1 that is only counted\n  1 of CL101\n" in printed
    assert "--include-errors" in Path("cudalint.toml").read_text()
    assert run(["a.cu"]) == 1
    assert run(shlex.split(command)[1:]) == 0
    assert run(["a.cu"]) == 0
    for name in ("cudalint.toml", "cudalint-baseline.json"):
        Path(name).unlink()
    assert run(["init", "--include-errors"]) == 0
    assert run(["a.cu"]) == 0

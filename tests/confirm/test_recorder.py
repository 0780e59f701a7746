"""`cudalint record`: how the library is built, what it does with the driver's calls, and the command itself.

A double plays the driver, CUPTI and the program: no test needs a GPU.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import run
from cudalint.confirm.recorder import building, headers, running
from cudalint.confirm.recorder.building import BuildError, built_library
from cudalint.confirm.recorder.headers import Cupti, find_cupti
from cudalint.launches.recorded.files import read_recording
from cudalint.launches.recorded.records import Recording

_DOUBLE = Path(__file__).with_name("driver_double.cpp")
_FAKE = """
import os, struct, sys
from cudalint.confirm.recorder import running
from contextlib import contextmanager
@contextmanager
def library():
    yield "/no/library"
running.built_library = library
from cudalint.cli import main
main()
"""
"""The program, with a library that nothing loads: what is run writes the files itself."""
_WRITE = """
import os, struct, sys
folder = os.environ["CUDALINT_RECORD_FOLDER"]
assert os.environ["CUDA_INJECTION64_PATH"] == "/no/library"
def write(stem, launches, timed="CUDALINT_RECORD_TIME" in os.environ, step=0):
    with open(f"{folder}/{stem}.lines", "w") as file:
        file.write("cudalint-launches 1\\nK\\t1\\t8,4\\t_Z5scalePfi\\n")
        for i in range(launches):
            size, pointer = 0 if step else i, f"p0+{step * i}/{64 + step * launches}"
            file.write(f"L\\t{i}\\t1\\t{size + 1}\\t1\\t1\\t32\\t1\\t1\\t0\\t0\\t0\\t0\\t0\\t0\\t{pointer}\\t{size}\\n")
    with open(f"{folder}/{stem}.counts", "wb") as file:
        file.write(struct.pack("<3Q", 10 * launches, 0, 0))
        for i in range(launches):
            file.write(struct.pack("<3Q", 10, int(timed), 1500 * timed))
"""

Tool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def record(tmp_path: Path) -> Tool:
    """`cudalint record` as a process of its own, in a folder of its own."""

    def start(*arguments: str, environment: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", _FAKE, "record", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )

    return start


def _python(code: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", _WRITE + code)


def _kept(folder: Path, name: str = "cudalint-launches.json") -> Recording:
    return read_recording(str(folder / name))


# --- the command -------------------------------------------------------------------------------------------


def test_output_and_status_are_those_of_the_command(record: Tool, tmp_path: Path) -> None:
    done = record(*_python("write('1-0', 2); print('its own'); print('trouble', file=sys.stderr); sys.exit(7)"))
    assert (done.returncode, done.stdout) == (7, "its own\n")
    assert done.stderr == (
        "trouble\ncudalint: recorded 20 launches: 2 different launches of 1 kernel in cudalint-launches.json\n"
    )
    (kernel,) = _kept(tmp_path).kernels
    assert [(own.count, own.grid, own.arguments) for own in kernel.launches] == [
        (10, (1, 1, 1), ("p0+0/64", 0)), (10, (2, 1, 1), ("p0+0/64", 1)),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "status"), [("SIGKILL", 137), ("SIGSEGV", 139), ("SIGTERM", 143)])
def test_a_command_that_a_signal_ends_is_recorded(record: Tool, tmp_path: Path, name: str, status: int) -> None:
    done = record(*_python(f"import signal; write('1-0', 2); os.kill(os.getpid(), signal.{name})"))
    assert done.returncode == status
    assert _kept(tmp_path).launches == 2


def test_signals_are_passed_on(tmp_path: Path) -> None:
    code = """
import signal, time
def end(number, frame):
    write('1-0', 3); print('told', flush=True); sys.exit(4)
signal.signal(signal.SIGTERM, end)
print('there', flush=True)
time.sleep(60)
"""
    command = [sys.executable, "-c", _FAKE, "record", *_python(code)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "told\n"
        assert process.wait(30) == 4
    assert _kept(tmp_path).launches == 3


def test_a_signal_that_comes_early_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the command is being started."""

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        os.kill(os.getpid(), signal.SIGTERM)
        return started(*arguments, **options)

    started = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", start)
    assert running._run(["sleep", "60"], os.environ) == 128 + signal.SIGTERM


def test_an_interrupt_of_the_terminal_is_the_commands(tmp_path: Path) -> None:
    """Both get it, as they are one group; cudalint stays to write what was recorded."""
    code = """
import time
try:
    print('there', flush=True); time.sleep(60)
except KeyboardInterrupt:
    write('1-0', 3); sys.exit(5)
"""
    command = [sys.executable, "-c", _FAKE, "record", *_python(code)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 5
    assert _kept(tmp_path).launches == 3


def test_rows_of_one_array_are_one_launch(record: Tool, tmp_path: Path) -> None:
    """Rows of 40 bytes begin at four places within sectors of 32. The last row of each kind has least room."""
    assert record(*_python("write('1-0', 10, step=40)")).returncode == 0
    launches = {own.arguments: own.count for own in _kept(tmp_path).kernels[0].launches}
    assert launches == {
        ("p0+320/464", 0): 30, ("p0+360/464", 0): 30, ("p0+240/464", 0): 20, ("p0+280/464", 0): 20,
    }  # fmt: skip


def test_several_processes(record: Tool, tmp_path: Path) -> None:
    done = record(*_python("write('1-0', 2); write('2-0', 3)"))
    assert "recorded 50 launches of 2 processes: 3 different launches of 1 kernel" in done.stderr
    assert [own.count for own in _kept(tmp_path).kernels[0].launches] == [20, 20, 10]


def test_limit_and_time(record: Tool, tmp_path: Path) -> None:
    done = record("--limit", "4", "--time", *_python("write('1-0', 9)"))
    assert "note: 5 different launches are left out, those that take least (--limit keeps more)" in done.stderr
    kept = _kept(tmp_path)
    assert (kept.launches, kept.left_out) == (4, 5)
    assert {own.time_us for own in kept.kernels[0].launches} == {1.5}


def test_the_limit_of_each_kernel(record: Tool, tmp_path: Path) -> None:
    """Of launches that were made equally often, those with most threads take most."""
    done = record(*_python("write('1-0', 103)"))
    assert done.stderr.splitlines() == [
        "cudalint: recorded 1030 launches: 100 different launches of 1 kernel in cudalint-launches.json",
        "cudalint: note: 3 different launches are left out, those that take least (--limit-each keeps more)",
    ]
    kept = _kept(tmp_path)
    assert ([own.grid[0] for own in kept.kernels[0].launches], kept.left_out) == (list(range(4, 104)), 3)
    assert "note" not in record("--limit-each", "103", *_python("write('1-0', 103)")).stderr
    assert _kept(tmp_path).launches == 103
    # The file is cut down, too: 3 of a process are left out, and then 101 of what is there.
    done = record("--append", "--limit-each", "2", *_python("write('1-0', 1); write('2-0', 5)"))
    assert "104 different launches are left out, those that take least (--limit-each keeps more)" in done.stderr
    assert [own.grid[0] for own in _kept(tmp_path).kernels[0].launches] == [102, 103]
    done = record("--prune-each", "1")
    assert done.stderr.splitlines() == [
        "cudalint: 1 different launch of 1 kernel in cudalint-launches.json",
        "cudalint: note: 105 different launches are left out, those that take least",
    ]


def test_times_have_four_digits(record: Tool, tmp_path: Path) -> None:
    """2 us / 3"""
    code = _WRITE.replace("int(timed), 1500 * timed", "3, 2000")
    record("--time", "--", sys.executable, "-c", code + "write('1-0', 1)")
    assert '"time_us":0.6667}' in (tmp_path / "cudalint-launches.json").read_text()


def test_append_adds_to_the_file(record: Tool, tmp_path: Path) -> None:
    for _ in range(3):
        assert record("--append", *_python("write('1-0', 2)")).returncode == 0
    assert [own.count for own in _kept(tmp_path).kernels[0].launches] == [30, 30]
    (tmp_path / "cudalint-launches.json").write_text("{")
    done = record("--append", *_python("print('is run')"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cudalint: error: cudalint-launches.json: it holds no recorded launches: ")


def test_files_are_merged_pruned_and_stripped(record: Tool, tmp_path: Path) -> None:
    for name, many in (("a.json", 2), ("b.json", 3), ("c.json", 1)):
        record("-o", name, *_python(f"write('1-0', {many})"))
    done = record("-o", "all.json", "--merge", "a.json", "b.json", "c.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "cudalint: 3 different launches of 1 kernel in all.json\n"
    assert [own.count for own in _kept(tmp_path, "all.json").kernels[0].launches] == [30, 20, 10]
    assert record("-o", "all.json", "--prune", "1", "--strip-names").returncode == 0
    ((kernel,), left) = _kept(tmp_path, "all.json").kernels, _kept(tmp_path, "all.json").left_out
    assert (len(kernel.launches), left, kernel.symbol[:2]) == (1, 2, "h:")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "the command to record is missing: cudalint record -- COMMAND..."),
        (("--append",), "--append adds what a command does, or --from or --merge names; none of them is there"),
        (("--from", "a.json", "--", "true"), "--from takes the place of a command, and doesn't go with --merge"),
        (("--", "./no-such-program"), "./no-such-program can't be run: No such file or directory"),
        (("--", "/"), "/ can't be run: Permission denied"),
        (("-o", "no/such/file.json", "--", "true"), "no/such/file.json can't be written: there is no folder "),
        (("--merge", "none.json"), "none.json: No such file or directory"),
        (("--from", "none.sqlite"), "cudalint: error: none.sqlite: "),
        (("--prune", "5"), "cudalint-launches.json: No such file or directory"),
        (("--limit", "0", "--", "true"), "Invalid value for '--limit'"),
    ],
)
def test_errors_are_one_line(record: Tool, arguments: tuple[str, ...], said: str) -> None:
    done = record(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(("code", "status"), [("", 2), ("sys.exit(3)", 3)])
def test_nothing_was_recorded(record: Tool, tmp_path: Path, code: str, status: int) -> None:
    done = record(*_python(code))
    assert done.returncode == status
    assert done.stderr.startswith("cudalint: error: nothing was recorded: no process of the command has used CUDA.")
    assert "--from FILE" in done.stderr
    done = record(*_python("open(f'{folder}/1-0.lines', 'w').write('cudalint-launches 1\\n!\\tcuptiSubscribe: no\\n');"
                           "open(f'{folder}/1-0.counts', 'w')\n" + code))  # fmt: skip
    assert done.returncode == status
    assert done.stderr.startswith("cudalint: warning: recording failed: cuptiSubscribe: no\ncudalint: error: nothing ")
    assert not (tmp_path / "cudalint-launches.json").exists()


def test_another_profiler_is_told_of(record: Tool) -> None:
    done = record(*_python("write('1-0', 1)"), environment={"CUDA_INJECTION64_PATH": "/another"})
    assert done.stderr.startswith("cudalint: warning: CUDA_INJECTION64_PATH is set")


# --- building the library ----------------------------------------------------------------------------------


def _failure() -> str:
    with pytest.raises(BuildError) as error, built_library():
        pass
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def cupti(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cupti:
    """CUDA's own headers; the cache is the test's."""
    found = find_cupti()
    if found is None or shutil.which("c++") is None:
        pytest.skip("there are no headers of CUPTI, or there is no C++ compiler")
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    return found


def test_no_cupti(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(building, "find_cupti", lambda: None)
    assert _failure().startswith("no CUPTI is found, with which launches are recorded: ")
    monkeypatch.chdir(tmp_path)
    assert run(["record", "--", "echo", "is run"]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "--from FILE" in err


def test_no_compiler(cupti: Cupti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O3")
    assert _failure() == "CXX names the compiler no-such-compiler, which can't be run"
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "/no/such/folder")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(building, "find_cupti", lambda: cupti)
    assert _failure().startswith("no C++ compiler is found")


def test_a_compiler_that_fails(cupti: Cupti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad"
    bad.write_text("#!/bin/sh\necho 'warm up'\necho 'x.cpp:1: error: no such luck' >&2\nexit 1\n")
    bad.chmod(0o700)
    monkeypatch.setenv("CXX", str(bad))
    assert _failure() == (
        f"the library that records launches can't be built with {bad}: x.cpp:1: error: no such luck"
    )


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that takes no time; CUPTI isn't needed for it."""
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho library > "$2"\n')
    compiler.chmod(0o700)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(building, "find_cupti", lambda: Cupti((str(tmp_path),), str(tmp_path / "libcupti.so")))


@pytest.mark.usefixtures("quick")
def test_the_library_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with built_library() as first:
        assert Path(first).is_relative_to(tmp_path / "cache" / "recorder")
    made = os.stat(first).st_mtime_ns
    monkeypatch.setattr(building, "_compile", None)
    with built_library() as second:
        assert (second, os.stat(second).st_mtime_ns) == (first, made)
    assert os.stat(os.path.dirname(first)).st_mode & 0o077 == 0


@pytest.mark.usefixtures("quick")
def test_other_users_cant_put_a_library_there(tmp_path: Path) -> None:
    (tmp_path / "cache" / "recorder").mkdir(parents=True)
    (tmp_path / "cache" / "recorder").chmod(0o777)
    with built_library() as path:
        assert not Path(path).is_relative_to(tmp_path / "cache")
    assert not Path(path).exists()


@pytest.mark.usefixtures("quick")
def test_without_a_cache_it_is_built_for_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDALINT_CACHE_DIR", "")
    with built_library() as path:
        assert Path(path).exists()
    assert not Path(path).exists()


def test_the_named_toolkit_comes_before_the_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("extras/CUPTI/include/cupti.h", "include/cuda.h", "extras/CUPTI/lib64/libcupti.so.12"):
        (tmp_path / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / name).touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "own"))
    own = tmp_path / "own"
    found = find_cupti()
    assert found is not None
    assert found.library == str(own / "extras/CUPTI/lib64/libcupti.so.12")
    assert set(found.folders) == {str(own / "extras/CUPTI/include"), str(own / "include")}


@pytest.mark.parametrize(
    "names",
    [
        ("cuda_cupti/include/cupti.h", "cuda_runtime/include/cuda.h", "cuda_cupti/lib/libcupti.so.12"),
        ("cu13/include/cupti.h", "cu13/include/cuda.h", "cu13/lib/libcupti.so.13"),
    ],
)
def test_wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    monkeypatch.setattr(headers, "_toolkits", list)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("PATH", "")
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for missing in names:
        for name in names:
            (tmp_path / "nvidia" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "nvidia" / name).touch()
        assert find_cupti() is not None
        (tmp_path / "nvidia" / missing).unlink()
        assert find_cupti() is None


# --- the library, with a double of the driver --------------------------------------------------------------


@pytest.fixture(scope="module")
def double_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the program, what it links to, and a cache for the library that is built against that."""
    found = find_cupti()
    if found is None or shutil.which("c++") is None:
        pytest.skip("there are no headers of CUPTI, or there is no C++ compiler")
    folder = tmp_path_factory.mktemp("double")
    library = ["-shared", "-fPIC", str(_DOUBLE), "-o"]
    program = [str(_DOUBLE), "-o", str(folder / "program"), str(folder / "libcupti.so"), f"-Wl,-rpath,{folder}", "-ldl"]
    for options in (
        [*library, str(folder / "libcuda.so.1"), "-DOF_DRIVER"],
        [*library, str(folder / "libcupti.so"), "-DOF_CUPTI"],
        program,
    ):
        subprocess.run(["c++", "-std=c++17", "-O1", *(f"-I{own}" for own in found.folders), *options], check=True)
    return folder


@pytest.fixture
def double(double_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is recorded; `cudalint record` builds its library against a CUPTI that plays along."""
    found = find_cupti()
    assert found is not None
    monkeypatch.setattr(building, "find_cupti", lambda: Cupti(found.folders, str(double_folder / "libcupti.so")))
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(double_folder / "cache"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(double_folder))
    monkeypatch.chdir(tmp_path)
    return double_folder / "program"


def _by_grid(recording: Any, symbol: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for kernel in recording.kernels:
        if kernel.symbol == symbol:
            for launch in kernel.launches:
                found.setdefault(launch.grid[0], []).append(launch.count)
    return found


def test_what_the_driver_is_called_for(double: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "--time", "--", str(double)]) == 3
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("done\n", 1)
    kept = _kept(tmp_path)
    # On two streams; one that failed isn't there, and after its memory was freed the address leads elsewhere.
    plain = {(own.stream, own.arguments): own.count for own in kept.kernels[-2].launches}
    assert kept.kernels[-2].symbol == "plain"
    assert plain == {(0, ("p0+256/4096", 1000)): 5, (1, ("p0+256/4096", 1000)): 1, (0, ("p0+256/2048", 1000)): 1}
    # The captured launch isn't counted; both kernels of the graph are, as often as it was launched.
    assert _by_grid(kept, "node") == {10: [2], 12: [2]}
    assert [_by_grid(kept, name) for name in ("beside", "after", "first!", "second")] == [{1: [1]}] * 4
    ((extended,),) = (kernel.launches for kernel in kept.kernels if kernel.symbol == "extended")
    assert (extended.cluster, extended.cooperative, extended.shared) == ((4, 1, 1), True, 512)
    assert extended.arguments == ("p0+256/4096", 1000)
    times = {own.time_us for kernel in kept.kernels for own in kernel.launches if own.grid[0] != 10}
    assert (times, kept.device) == ({2.0}, "A double")


def test_a_killed_program_loses_no_count(double: Path, tmp_path: Path) -> None:
    assert run(["record", "-o", "killed.json", "--", str(double), "kill"]) == 137
    assert run(["record", "-o", "whole.json", "--", str(double)]) == 3
    assert _kept(tmp_path, "killed.json") == _kept(tmp_path, "whole.json")


def test_a_child_leaves_its_parents_files_alone(double: Path, tmp_path: Path) -> None:
    assert run(["record", "-o", "forked.json", "--", str(double), "fork"]) == 3
    assert run(["record", "-o", "whole.json", "--", str(double)]) == 3
    assert _kept(tmp_path, "forked.json") == _kept(tmp_path, "whole.json")


def test_cupti_refuses(
    double: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOUBLE_REFUSES", "1")
    assert run(["record", "--", str(double)]) == 3
    assert "recording failed: cuptiSubscribe: a reason\n" in capfd.readouterr().err
    assert not (tmp_path / "cudalint-launches.json").exists()


def test_no_address_is_in_the_file(double: Path, tmp_path: Path) -> None:
    run(["record", "--", str(double)])
    text = (tmp_path / "cudalint-launches.json").read_text()
    numbers = [
        own
        for kernel in json.loads(text)["kernels"]
        for launch in kernel["launches"]
        for own in launch["arguments"]
        if isinstance(own, int)
    ]
    assert max(numbers) == 1000
    assert "7f0000" not in text

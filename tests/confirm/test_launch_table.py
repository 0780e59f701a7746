"""The recorder's table of launches, compiled without CUDA, and what is read back of its files."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudalint.confirm import recorder
from cudalint.confirm.recorder.raw import Run, read_run
from cudalint.launches.recorded.records import RecordedLaunch
from cudalint.launches.recorded.texts import RecordingError, recording_in, text_of

_SOURCE = Path(__file__).with_name("launch_table.cpp")
_HEADERS = Path(recorder.__file__).parent
_LONGEST = 1000.0
"""Nanoseconds that a launch may take more once it has been seen."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    made = tmp_path_factory.mktemp("table") / "table"
    options = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{_HEADERS}"]
    subprocess.run([compiler, *options, str(_SOURCE), "-o", str(made)], check=True)
    return made


def _launches(run: Run) -> Iterator[tuple[str, RecordedLaunch]]:
    for kernel in run.recording.kernels:
        for launch in kernel.launches:
            yield kernel.symbol, launch


def _read(folder: Path, most: int = 1000, of_each: int = 1000) -> Run:
    run = read_run(str(folder), most, of_each)
    # What is read can be written and read again.
    assert recording_in(text_of(run.recording).encode()) == run.recording
    return run


@pytest.mark.parametrize("how", ["check", "killed"])
def test_launches_are_told_apart_by_what_is_kept_of_them(table: Path, tmp_path: Path, how: str) -> None:
    """Also where the process ends without a chance to write anything."""
    done = subprocess.run([table, tmp_path, how], check=False)
    assert done.returncode == (0 if how == "check" else -6)
    run = _read(tmp_path)
    scale = {launch.arguments: launch for symbol, launch in _launches(run) if "scale" in symbol}
    assert {arguments: launch.count for arguments, launch in scale.items()} == {
        # Five at one address, one at another, and one packed.
        ("p0+256/4096", 1000, 0x3F800000): 7,
        ("p0+256/8192", 1000, 0x3F800000): 1,
        None: 1,
    }
    assert [scale[own].order for own in scale] == [8, 0, 5]
    assert {own.symbol: own.parameters for own in run.recording.kernels} == {
        "_Z5scalePfif": (8, 4, 4), "_Z9structure4Both": (48,), "_Z4nonev": (), "_Z7unknownv": None,
        "_Z5large4Many": (16384,),
    }  # fmt: skip
    assert (run.launches, run.lost, run.processes) == (18, 1, 1)


def test_a_structure_with_pointers(table: Path, tmp_path: Path) -> None:
    subprocess.run([table, tmp_path, "check"], check=True)
    (launch,) = (launch for symbol, launch in _launches(_read(tmp_path)) if "structure" in symbol)
    # 1920 and 1080 are no address, though the word that they make up is as large as one.
    assert launch.arguments == ("x{0+8/512}{1+0/4096}{1+4096/4096}{?}8007000038040000{0+0/512}",)
    assert (launch.cluster, launch.shared, launch.cooperative, launch.stream) == ((2, 1, 1), 1024, True, 1)
    assert not any("7f" in own for path in tmp_path.glob("*.lines") for own in path.read_text().split())


def test_kernels_of_a_graph_count_as_often_as_it_is_launched(table: Path, tmp_path: Path) -> None:
    subprocess.run([table, tmp_path, "check"], check=True)
    found = {each.grid[0]: each for symbol, each in _launches(_read(tmp_path)) if symbol == "_Z4nonev"}
    # The one of a grid of 7 was never launched.
    assert {grid: launch.count for grid, launch in found.items()} == {2: 1, 3: 2, 5: 2}
    assert (found[5].time_us, found[3].time_us) == (2.5, None)


def test_a_launch_that_was_seen_takes_less_than_a_microsecond(table: Path, tmp_path: Path) -> None:
    done = subprocess.run([table, tmp_path, "speed"], check=True, capture_output=True, text=True)
    found = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    assert max(found["one"], found["several"], found["large"]) < _LONGEST
    # Of 62 different launches, each is asked about once.
    assert found["asked"] == 62
    assert _read(tmp_path).launches == 800_063


def test_addresses_that_differ_are_the_same_launch(table: Path, tmp_path: Path) -> None:
    subprocess.run([table, tmp_path, "moving", "5000"], check=True)
    found = [(launch.arguments, launch.count) for _, launch in _launches(_read(tmp_path))]
    assert sorted(found) == [(("p0+0/4096",), 1667), (("p0+1/4096",), 1667), (("p0+2/4096",), 1666)]


# --- files that anybody may have written -------------------------------------------------------------------

_FIRST = "cudalint-launches 1\n"
_KERNEL = "K\t1\t8,4\tscale\n"
_LAUNCH = "L\t0\t1\t4\t1\t1\t256\t1\t1\t0\t0\t0\t0\t0\t0\tp0+0/64\t7\n"


def _written(folder: Path, lines: str | bytes, *counts: tuple[int, int, int], name: str = "1-0") -> None:
    (folder / f"{name}.lines").write_bytes(lines if isinstance(lines, bytes) else lines.encode())
    (folder / f"{name}.counts").write_bytes(b"".join(struct.pack("<3Q", *own) for own in counts))


def test_several_processes_are_put_together(tmp_path: Path) -> None:
    _written(tmp_path, _FIRST + _KERNEL + _LAUNCH, (5, 0, 0), (5, 2, 4000), name="1-0")
    _written(tmp_path, _FIRST + "D\tA device\n" + _KERNEL + _LAUNCH, (3, 0, 0), (3, 0, 0), name="2-0")
    run = _read(tmp_path)
    ((_, launch),) = _launches(run)
    assert (launch.count, launch.time_us, launch.order) == (8, 2.0, 0)
    assert (run.processes, run.launches, run.recording.device) == (2, 8, "A device")


def test_a_line_that_was_cut_off_is_none(tmp_path: Path) -> None:
    whole = _FIRST + _KERNEL + _LAUNCH
    for end in range(len(whole) + 1):
        _written(tmp_path, whole[:end], (5, 0, 0), (5, 0, 0))
        launches = list(_launches(_read(tmp_path)))
        assert [own.count for _, own in launches] == ([5] if end == len(whole) else [])


def test_the_costliest_are_kept_and_one_of_each_kernel(tmp_path: Path) -> None:
    head = "\t1\t1\t32\t1\t1\t0\t0\t0\t0\t0\t0\t"
    lines = [_FIRST, "K\t1\t4\tmany\n", "K\t2\t4\tfew\n"]
    lines += [f"L\t{i}\t1\t{100 + i}{head}{i}\n" for i in range(50)] + [f"L\t50\t2\t1{head}7\n"]
    _written(tmp_path, "".join(lines), (51, 0, 0), *[(1, 0, 0)] * 51)
    run = _read(tmp_path, most=4)
    assert sorted((symbol, launch.grid[0]) for symbol, launch in _launches(run)) == [
        ("few", 1), ("many", 147), ("many", 148), ("many", 149),
    ]  # fmt: skip
    assert run.recording.left_out == 47
    run = _read(tmp_path, most=4, of_each=2)
    assert sorted((symbol, launch.grid[0]) for symbol, launch in _launches(run)) == [
        ("few", 1), ("many", 148), ("many", 149),
    ]  # fmt: skip
    assert run.recording.left_out == 48


def test_threads_count_where_not_all_times_are_known(tmp_path: Path) -> None:
    """A millisecond is no less than 64 threads."""
    lines = [_FIRST, "K\t1\t4\tmany\n"]
    lines += [f"L\t{i}\t1\t{i}\t1\t1\t32\t1\t1\t0\t0\t0\t0\t0\t0\t{i}\n" for i in (2, 40)]
    _written(tmp_path, "".join(lines), (2, 0, 0), (1, 0, 0), (1, 1, 1_000_000))
    assert [launch.grid[0] for _, launch in _launches(_read(tmp_path, most=1))] == [40]
    _written(tmp_path, "".join(lines), (2, 0, 0), (1, 1, 2_000_000), (1, 1, 1_000_000))
    assert [launch.grid[0] for _, launch in _launches(_read(tmp_path, of_each=1))] == [2]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("cudalint-launches 2\n", "of another version"),
        (b"\x7fELF\0\0\0\0\0\0", "of no recorder"),
        (_FIRST + _LAUNCH, "line 2 of 1-0.lines can't be read: it is of a kernel that isn't there"),
        (_FIRST + "K\t1\t8,99999999\tscale\n", "no kernel has such parameters"),
        (_FIRST + "K\t1\t" + ",".join(["4"] * 5000) + "\tscale\n", "no kernel has such parameters"),
        (_FIRST + "K\t1\t-8\tscale\n", "is no number"),
        (_FIRST + "K\t1\t8\t" + "s" * 30_000 + "\n", "a text is too long"),
        (_FIRST + "what\n", "it is of no kind that is known"),
        (_FIRST + _KERNEL + "L\t0\t1\t4\n", "too few or too many fields"),
        (_FIRST + _KERNEL + _LAUNCH.replace("256", "0"), "no kernel is launched so"),
        (_FIRST + _KERNEL + _LAUNCH.replace("256", "9" * 30), "is no number"),
        (_FIRST + _KERNEL + _LAUNCH.replace("\t7\n", "\n"), "other arguments than the kernel has parameters"),
        (_FIRST + _KERNEL + _LAUNCH.replace("\t7\n", "\t5000000000\n"), "5000000000 is no number of 4 bytes"),
        (_FIRST + _KERNEL + _LAUNCH.replace("p0+0/64", "p0+0/"), "is no pointer"),
        (_FIRST + _KERNEL + _LAUNCH.replace("p0+0/64", "\0\xff"), "is neither a pointer nor bytes"),
        (_FIRST + "x" * (2 << 20) + "\n", "a line of more than 1 MiB"),
    ],
)
def test_what_no_recorder_writes_is_an_error_of_one_line(tmp_path: Path, lines: str | bytes, said: str) -> None:
    _written(tmp_path, lines, (1, 0, 0), (1, 0, 0))
    with pytest.raises(RecordingError) as error:
        read_run(str(tmp_path), 1000, 1000)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_counts_that_are_short_or_absurd(tmp_path: Path) -> None:
    _written(tmp_path, _FIRST + _KERNEL + _LAUNCH, (1 << 63, 0, 0), ((1 << 64) - 1, 1, 5))
    assert not list(_launches(_read(tmp_path)))
    _written(tmp_path, _FIRST + _KERNEL + _LAUNCH, (1, 0, 0))
    assert not list(_launches(_read(tmp_path)))
    (tmp_path / "1-0.counts").write_bytes(b"odd")
    assert not list(_launches(_read(tmp_path)))
    (tmp_path / "1-0.counts").unlink()
    with pytest.raises(RecordingError, match=r"1-0\.lines can't be read: No such file"):
        read_run(str(tmp_path), 1000, 1000)


def test_links_and_pipes_are_no_files_of_a_recorder(tmp_path: Path) -> None:
    import os

    (tmp_path / "1-0.lines").symlink_to("/etc/hostname")
    with pytest.raises(RecordingError, match="can't be read"):
        read_run(str(tmp_path), 1000, 1000)
    (tmp_path / "1-0.lines").unlink()
    os.mkfifo(tmp_path / "1-0.lines")
    (tmp_path / "1-0.counts").write_bytes(b"")
    assert not list(_launches(_read(tmp_path)))

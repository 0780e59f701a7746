"""Recordings put together, cut down and kept without names."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.launches.recorded.merging import merged, pruned, without_names
from cudalint.launches.recorded.names import hidden
from cudalint.launches.recorded.records import MOST_COUNTED, VERSION, RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import recording_in, text_of

_SETTINGS = settings(max_examples=cases(50))
_LAUNCH = RecordedLaunch(1, (8, 1, 1), (32, 1, 1))


def _changed(**changes: object) -> RecordedLaunch:
    return msgspec.structs.replace(_LAUNCH, **changes)


def _of(*kernels: RecordedKernel, device: str = "", left_out: int = 0) -> Recording:
    return Recording(VERSION, kernels, device, left_out)


_FEW = st.integers(1, 3)
_LAUNCHES = st.builds(
    RecordedLaunch,
    st.integers(1, 1000),
    st.tuples(_FEW, st.just(1), st.just(1)),
    st.tuples(st.sampled_from((32, 64)), st.just(1), st.just(1)),
    shared=st.sampled_from((0, 1024)),
    stream=st.sampled_from((0, 1)),
    order=st.none() | st.integers(0, 50),
    time_us=st.none() | st.floats(0, 1e6),
    cooperative=st.booleans(),
)
_KERNELS = st.builds(
    RecordedKernel,
    st.sampled_from(("_Z1kPf", "_ZL1kPf", "plain", "h:01")),
    st.lists(_LAUNCHES, max_size=6).map(tuple),
    st.sampled_from(("", "k(float*)", "n::k(float *)")),
    st.sampled_from((None, (8,), (8, 4))),
)
_RECORDINGS = st.builds(
    Recording,
    st.just(VERSION),
    st.lists(_KERNELS, max_size=5).map(tuple),
    st.sampled_from(("", "NVIDIA H200", "NVIDIA A100")),
    st.integers(0, 9),
)


def _shuffled(recording: Recording, seed: int) -> Recording:
    source = random.Random(seed)
    kernels = [
        msgspec.structs.replace(kernel, launches=tuple(source.sample(kernel.launches, len(kernel.launches))))
        for kernel in recording.kernels
    ]
    return msgspec.structs.replace(recording, kernels=tuple(source.sample(kernels, len(kernels))))


def _counts(*recordings: Recording) -> Counter[object]:
    """How often kernels were launched in each way."""
    found: Counter[object] = Counter()
    for kernel in _kernels(recordings):
        for launch in kernel.launches:
            found[kernel.symbol, msgspec.structs.replace(launch, count=1, order=None, time_us=None)] += launch.count
    return found


def _kernels(recordings: tuple[Recording, ...]) -> Iterator[RecordedKernel]:
    for recording in recordings:
        yield from recording.kernels


@_SETTINGS
@given(st.lists(_RECORDINGS, max_size=4), st.integers(0, 1000))
def test_no_order_changes_what_is_merged(recordings: list[Recording], seed: int) -> None:
    found = merged(recordings)
    others = [_shuffled(recording, seed) for recording in recordings]
    random.Random(seed).shuffle(others)
    assert merged(others) == found
    assert merged([found]) == found
    assert recording_in(text_of(found).encode()) == found


@_SETTINGS
@given(st.lists(_RECORDINGS, max_size=4))
def test_nothing_is_lost_by_merging(recordings: list[Recording]) -> None:
    found = merged(recordings)
    assert _counts(found) == _counts(*recordings)
    assert found.left_out == sum(each.left_out for each in recordings)
    for kernel in found.kernels:
        ways = [msgspec.structs.replace(own, count=1, order=None, time_us=None) for own in kernel.launches]
        assert len(set(ways)) == len(ways)


@_SETTINGS
@given(_RECORDINGS, st.integers(0, 40), st.integers(0, 1000))
def test_no_order_changes_what_is_pruned(recording: Recording, most: int, seed: int) -> None:
    recording = merged([recording])
    found = pruned(recording, most)
    assert pruned(_shuffled(recording, seed), most) == found
    assert found.launches == min(most, recording.launches)
    assert found.left_out - recording.left_out == recording.launches - found.launches
    assert not _counts(found) - _counts(recording)
    launched = sum(bool(kernel.launches) for kernel in recording.kernels)
    assert sum(bool(kernel.launches) for kernel in found.kernels) == min(most, launched)
    if most >= recording.launches:
        assert found == recording


@_SETTINGS
@given(_RECORDINGS)
def test_names_are_gone(recording: Recording) -> None:
    found = without_names(recording)
    assert all(kernel.symbol.startswith("h:") and not kernel.name for kernel in found.kernels)
    assert found.device == recording.device
    assert sum(_counts(found).values()) == sum(_counts(recording).values())
    assert without_names(found) == found


def test_counts_are_added_and_times_averaged_by_them() -> None:
    first = _of(RecordedKernel("k", (_changed(count=3, order=7, time_us=2.0),)))
    second = _of(RecordedKernel("k", (_changed(count=1, order=4, time_us=6.0),)))
    untimed = _of(RecordedKernel("k", (_changed(count=10),)))
    (kernel,) = merged([first, second, untimed]).kernels
    assert kernel.launches == (_changed(count=14, order=4, time_us=3.0),)


@pytest.mark.parametrize(
    "change",
    [
        {"grid": (9, 1, 1)},
        {"block": (64, 1, 1)},
        {"shared": 4},
        {"arguments": (1,)},
        {"cluster": (2, 1, 1)},
        {"cooperative": True},
        {"stream": 1},
        {"has_static": True},
    ],
    ids=str,
)
def test_launches_that_differ_stay_apart(change: dict[str, object]) -> None:
    recordings = [_of(RecordedKernel("k", (own,), parameters=(4,))) for own in (_LAUNCH, _changed(**change))]
    assert merged(recordings).launches == 2


def test_kernels_with_other_parameters_stay_apart() -> None:
    """Those without any join the others where it is clear which."""
    one = _of(RecordedKernel("_Z1kv", (_changed(arguments=(1,)),), parameters=(4,)))
    other = _of(RecordedKernel("_Z1kv", (_changed(arguments=("p?",)),), parameters=(8,)))
    unknown = _of(RecordedKernel("_Z1kv", (_LAUNCH,), "k(int)"))
    assert [kernel.parameters for kernel in merged([other, one]).kernels] == [(4,), (8,)]
    assert [kernel.parameters for kernel in merged([unknown, other, one]).kernels] == [None, (4,), (8,)]
    (together,) = merged([unknown, one]).kernels
    assert (together.parameters, len(together.launches)) == ((4,), 2)


def test_instances_of_a_template_that_has_but_a_plain_name_stay_apart() -> None:
    kernels = [RecordedKernel("k", (_LAUNCH,), f"void k<{type_}>({type_}*)") for type_ in ("float", "double")]
    assert len(merged([_of(*kernels)]).kernels) == 2
    mangled = [msgspec.structs.replace(kernel, symbol="_Z1kIfEvPT_") for kernel in kernels]
    (kernel,) = merged([_of(*mangled)]).kernels
    assert (kernel.name, kernel.launches[0].count) == ("void k<double>(double*)", 2)


def test_devices_are_named_once() -> None:
    recordings = [_of(device=name) for name in ("NVIDIA H200", "", "NVIDIA A100", "NVIDIA H200")]
    assert merged(recordings).device == "NVIDIA A100, NVIDIA H200"
    assert merged([merged(recordings[:3]), recordings[3]]) == merged(recordings)
    long = merged([_of(device="x" * 20_000), _of(device="y" * 20_000)])
    assert recording_in(text_of(long).encode()) == long


def test_counts_have_an_end() -> None:
    most = _of(RecordedKernel("k", (_changed(count=MOST_COUNTED, time_us=1e15),)))
    found = merged([most, most, most])
    assert found.kernels[0].launches[0].count == MOST_COUNTED
    assert recording_in(text_of(found).encode()) == found


def test_the_launches_that_take_longest_are_kept() -> None:
    short, long, often = (
        _changed(time_us=1.0),
        _changed(grid=(9, 1, 1), time_us=5.0),
        _changed(grid=(10, 1, 1), count=100, time_us=0.5),
    )
    recording = _of(RecordedKernel("a", (short, long, often)), RecordedKernel("b", (_changed(time_us=0.1),)))
    assert [kernel.launches for kernel in pruned(recording, 2).kernels] == [(often,), (_changed(time_us=0.1),)]
    assert [kernel.launches for kernel in pruned(recording, 3).kernels] == [(long, often), (_changed(time_us=0.1),)]
    assert [kernel.symbol for kernel in pruned(recording, 1).kernels] == ["a"]
    assert pruned(recording, 0) == _of(left_out=4)
    assert pruned(recording, -1) == _of(left_out=4)


def test_without_all_times_those_that_have_most_threads_are_kept() -> None:
    """4096 threads, 2000 and 1984; microseconds can't be set beside threads."""
    timed = _changed(count=2, time_us=1e6, block=(1000, 1, 1), grid=(1, 1, 1))
    wide, often = _changed(grid=(64, 1, 1), count=2), _changed(grid=(1, 1, 1), count=62)
    recording = _of(RecordedKernel("k", (timed, wide, often)))
    assert pruned(recording, 1).kernels[0].launches == (wide,)
    assert pruned(recording, 2).kernels[0].launches == (timed, wide)
    assert pruned(recording, 3).launches == 3


def test_of_each_kernel_those_that_take_longest_are_kept() -> None:
    kernels = [
        RecordedKernel(name, tuple(_changed(grid=(n, 1, 1), time_us=slow * n) for n in range(1, many + 1)))
        for name, many, slow in (("few", 2, 1.0), ("many", 9, 1.0), ("slow", 9, 100.0))
    ]
    found = pruned(_of(*kernels), 100, 3)
    grids = {kernel.symbol: [own.grid[0] for own in kernel.launches] for kernel in found.kernels}
    assert grids == {"few": [1, 2], "many": [7, 8, 9], "slow": [7, 8, 9]}
    assert found.left_out == 12
    # Of these the ones that take most of all, when one of each kernel is in.
    found = pruned(_of(*kernels), 5, 3)
    grids = {kernel.symbol: [own.grid[0] for own in kernel.launches] for kernel in found.kernels}
    assert grids == {"few": [2], "many": [9], "slow": [7, 8, 9]}
    assert found.left_out == 15


@pytest.mark.parametrize(("letters", "kept"), [(10, 4), (1000, 4), (1001, 2), (2001, 1), (8192, 1)])
def test_large_arguments_count_as_several_launches(letters: int, kept: int) -> None:
    launches = tuple(_changed(count=n, arguments=(7, "x" + "0" * (letters - 1))) for n in range(1, 7))
    found = pruned(_of(RecordedKernel("k", launches)), 100, 4)
    assert sorted(own.count for own in found.kernels[0].launches) == list(range(7 - kept, 7))
    assert found.left_out == 6 - kept
    assert pruned(_of(RecordedKernel("k", launches)), 100).launches == 6


def test_a_file_of_many_launches_with_large_structs_stays_small() -> None:
    """As PyTorch's kernels for several tensors make it: 4 KB of arguments, hardly ever the same ones."""
    launches = tuple(_changed(arguments=("x" + f"{n:08x}" * 1024,)) for n in range(200))
    kernels = [RecordedKernel(f"_Z2k{number}v", launches, parameters=(4096,)) for number in range(8)]
    assert len(text_of(pruned(_of(*kernels), 10_000, 100))) < 1_000_000 < len(text_of(_of(*kernels)))


@pytest.mark.parametrize(
    ("time", "written"),
    [
        (1.2345678901234567, "1.235"), (0.00123456, "0.001235"), (2.5, "2.5"), (0.0, "0.0"), (12.0, "12.0"),
        (99999.0, "100000.0"), (123456.7, "123500.0"), (1e15, "1000000000000000.0"),
    ],
)  # fmt: skip
def test_times_have_four_digits(time: float, written: str) -> None:
    found = text_of(merged([_of(RecordedKernel("k", (_changed(time_us=time),)))]))
    assert f'"time_us":{written}}}' in found


def test_means_of_times_have_four_digits() -> None:
    """(1 + 2 * 2) / 3"""
    times = [_of(RecordedKernel("k", (_changed(count=n, time_us=float(n)),))) for n in (1, 2)]
    assert merged(times).kernels[0].launches[0].time_us == 1.667


def test_a_kernel_that_weighs_most_as_a_whole_is_kept_first() -> None:
    many = RecordedKernel("many", tuple(_changed(grid=(n, 1, 1), time_us=2.0) for n in range(1, 6)))
    one = RecordedKernel("one", (_changed(time_us=5.0),))
    assert [kernel.symbol for kernel in pruned(_of(one, many), 1).kernels] == ["many"]
    assert [kernel.symbol for kernel in pruned(_of(one, many), 2).kernels] == ["many", "one"]


def test_names_that_differ_by_the_compiler_are_one_when_they_are_hidden() -> None:
    recording = _of(RecordedKernel("_Z1kPf", (_LAUNCH,), "k(float*)"), RecordedKernel("_ZL1kPf", (_LAUNCH,)))
    found = without_names(msgspec.structs.replace(recording, device="NVIDIA H200", left_out=2))
    assert found == _of(RecordedKernel(hidden("_Z1kPf"), (_changed(count=2),)), device="NVIDIA H200", left_out=2)
    assert "k(" not in text_of(found)
    assert "_Z" not in text_of(found)

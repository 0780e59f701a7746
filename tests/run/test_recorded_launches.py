"""Kernels under launches that a program made while it was recorded. Figures are arithmetic: a warp that reads 32 floats
at a stride of s elements comes to 4, 8, 16 and from s = 8 on to 32 sectors of 32 bytes."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import AccessResult, FileFacts, KernelFacts
from cudalint.launches.recorded.names import hidden
from cudalint.launches.recorded.records import VERSION, Argument, RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import text_of
from cudalint.options.analysis import AnalysisOptions, KernelSettings, ParameterValue
from cudalint.registry import Selection
from cudalint.report.findings.showing import certainty_of, marked
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.system.disk import recorder as disk

_ROOM = 1 << 26
_SCALE = "_Z5scalePfii"
_STRIDED = """
__global__ void scale(float *x, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i * stride] = 1.0f;
}
"""


def _launch(
    *arguments: Argument, count: int = 1, grid: int = 64, block: int = 256, time: float | None = None
) -> RecordedLaunch:
    return RecordedLaunch(count, (grid, 1, 1), (block, 1, 1), arguments=arguments, time_us=time)


def _array(number: int = 0, offset: int = 0, extent: int = _ROOM) -> str:
    return f"p{number}+{offset}/{extent}"


def _written(folder: Path, *kernels: RecordedKernel) -> str:
    path = folder / "launches.json"
    path.write_text(text_of(Recording(VERSION, kernels)))
    disk.forget()
    return str(path)


def _facts(tmp_path: Path, code: str, *kernels: RecordedKernel, only: bool = False) -> FileFacts:
    (tmp_path / "a.cu").write_text(code)
    recordings = (_written(tmp_path, *kernels),) if kernels else ()
    return analyse_file(str(tmp_path / "a.cu"), AnalysisOptions(recordings=recordings, only_recorded=only))


def _scaled(tmp_path: Path, *launches: RecordedLaunch) -> KernelFacts:
    (kernel,) = _facts(tmp_path, _STRIDED, RecordedKernel(_SCALE, launches, parameters=(8, 4, 4))).kernels
    return kernel


def _result(kernel: KernelFacts) -> AccessResult:
    ((result,),) = (access.results for access in kernel.accesses)
    return result


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32), (1000, 32)])
def test_figures_are_those_of_the_arguments(tmp_path: Path, stride: int, sectors: int) -> None:
    kernel = _scaled(tmp_path, _launch(_array(), 1 << 14, stride))
    (launch,) = kernel.launches
    assert (launch.source, launch.block, launch.grid) == ("recorded", (256, 1, 1), (64, 1, 1))
    assert launch.parameters == {"n": 1 << 14, "stride": stride}
    assert (_result(kernel).status, _result(kernel).sectors_per_request) == ("exact", sectors)
    assert _result(kernel).assumptions == () and _result(kernel).requests == 64 * 8


def test_grids_that_differ_are_as_large_as_they_are(tmp_path: Path) -> None:
    """What launches of unknown size cost is told of as many blocks as fill the device."""
    kernel = _scaled(tmp_path, _launch(_array(), 1 << 14, 1), _launch(_array(), 1 << 10, 1, grid=4))
    assert kernel.costs is not None and kernel.costs[0].work is not None
    assert (kernel.costs[0].scale, kernel.costs[0].work.blocks) == (1.0, 64)


def test_several_launches_are_worlds_of_one(tmp_path: Path) -> None:
    """Three times 4 and once 32 sectors for as many requests are 11 in the mean."""
    kernel = _scaled(tmp_path, _launch(_array(), 1 << 14, 1, count=3), _launch(_array(), 1 << 14, 9))
    (launch,), result = kernel.launches, _result(kernel)
    assert launch.recorded is not None
    assert (launch.recorded.count, launch.recorded.different, launch.recorded.evaluated) == (4, 2, 2)
    assert (result.status, result.sectors_per_request, result.sectors_range) == ("exact", 11.0, (4.0, 32.0))
    assert result.condition == "stride > 1"


def test_what_is_larger_weighs_more(tmp_path: Path) -> None:
    """A launch of 192 blocks makes three times the requests of one of 64."""
    kernel = _scaled(
        tmp_path, _launch(_array(), 1 << 20, 9, grid=64), _launch(_array(), 1 << 20, 1, grid=192)
    )  # fmt: skip
    assert _result(kernel).sectors_per_request == (3 * 4 + 32) / 4
    assert kernel.launches[0].grid == (192, 1, 1)
    assert _result(kernel).requests == pytest.approx((192 + 64) * 8 / (1 + 64 / 192))


def test_blocks_of_other_shapes_are_other_launches(tmp_path: Path) -> None:
    kernel = _scaled(
        tmp_path, _launch(_array(), 1 << 14, 1, block=128), _launch(_array(), 1 << 14, 1, block=64, count=9)
    )  # fmt: skip
    assert [launch.block[0] for launch in kernel.launches] == [64, 128]


def test_times_say_what_comes_first(tmp_path: Path) -> None:
    """By its threads the launch of 128 is the larger one."""
    slow, fast = _launch(_array(), 1 << 14, 9, block=64, time=30.0), _launch(_array(), 1 << 14, 1, block=128, time=10.0)
    kernel = _scaled(tmp_path, fast, slow)
    recorded = [launch.recorded for launch in kernel.launches]
    assert [(each.time_us, each.total_us, each.share) for each in recorded if each] == [
        (30.0, 30.0, 0.75), (10.0, 10.0, 0.25),
    ]  # fmt: skip


def test_a_launch_in_sight_gives_way(tmp_path: Path) -> None:
    code = _STRIDED + "void host(float *x, int n) { scale<<<n / 32, 32>>>(x, n, 7); }\n"
    found = _facts(tmp_path, code, RecordedKernel(_SCALE, (_launch(_array(), 1 << 14, 1),), parameters=(8, 4, 4)))
    assert [launch.source for launch in found.kernels[0].launches] == ["recorded"]


_TWO = """
template <typename T, int STRIDE>
__global__ void scale(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i * STRIDE] = T(1);
}
void host(float *x, double *y, int n)
{
    scale<float, 1><<<n / 256, 256>>>(x, n);
    scale<double, 2><<<n / 256, 256>>>(y, n);
}
"""


def test_instances_are_told_apart(tmp_path: Path) -> None:
    recorded = RecordedKernel("_Z5scaleIdLi2EEvPT_i", (_launch(_array(), 1 << 14),), parameters=(8, 4))
    found = _facts(tmp_path, _TWO, recorded)
    sources = {kernel.instantiation: kernel.launches[0].source for kernel in found.kernels}
    assert sources == {"scale<float, 1>": "launch-site", "scale<double, 2>": "recorded"}


def test_instances_are_told_apart_where_a_profiler_knows_no_symbols(tmp_path: Path) -> None:
    launch = RecordedLaunch(1, (7, 1, 1), (32, 1, 1))
    named = RecordedKernel("scale", (launch,), "void scale<double, (int)2>(double*, int)")
    sources = {each.instantiation: each.launches[0].source for each in _facts(tmp_path, _TWO, named).kernels}
    assert sources == {"scale<float, 1>": "launch-site", "scale<double, 2>": "recorded"}
    nameless = _facts(tmp_path, _TWO, RecordedKernel("scale", (launch,)))
    assert [each.launches[0].source for each in nameless.kernels] == ["launch-site"] * 2


def test_only_what_was_recorded(tmp_path: Path) -> None:
    recorded = RecordedKernel("_Z5scaleIdLi2EEvPT_i", (_launch(_array(), 1 << 14),), parameters=(8, 4))
    found = _facts(tmp_path, _TWO, recorded, only=True)
    assert [kernel.instantiation for kernel in found.kernels] == ["scale<double, 2>"]


def test_hidden_names_and_plain_ones(tmp_path: Path) -> None:
    for symbol in (hidden(_SCALE), "scale"):
        kernel = _facts(
            tmp_path, _STRIDED, RecordedKernel(symbol, (_launch(_array(), 1 << 14, 1),), parameters=(8, 4, 4))
        ).kernels[0]  # fmt: skip
        assert kernel.launches[0].source == "recorded"


def test_another_signature_is_said(tmp_path: Path) -> None:
    for recorded in (
        RecordedKernel("_Z5scalePfi", (_launch(_array(), 1),), parameters=(8, 4)),
        RecordedKernel(_SCALE, (_launch(_array(), 1, 1),), parameters=(8, 4, 8)),
    ):
        (kernel,) = _facts(tmp_path, _STRIDED, recorded).kernels
        assert kernel.launches[0].source != "recorded"
        assert [gap.reason for gap in kernel.gaps if "recorded" in gap.reason] == [
            "launches of it were recorded when it had other parameters: record them again"
        ]


def test_without_arguments_the_grid_counts(tmp_path: Path) -> None:
    launch = RecordedLaunch(5, (12, 1, 1), (96, 1, 1))
    (kernel,) = _facts(tmp_path, _STRIDED, RecordedKernel(_SCALE, (launch,))).kernels
    assert (kernel.launches[0].block, kernel.launches[0].grid) == ((96, 1, 1), (12, 1, 1))


_RECORD = """
struct Shape { int rows; float scale; long pitch; float *data; };
__global__ void fill(Shape shape, int3 extents)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < extents.y && shape.rows == 3)
        shape.data[i * shape.pitch] = shape.scale;
}
"""


def test_records_are_read_byte_by_byte(tmp_path: Path) -> None:
    shape = struct.pack("<ifq", 3, 0.5, 2).hex()
    extents = struct.pack("<iii", 1, 1 << 14, 1).hex()
    launch = _launch(f"x{shape}{{0+256/{_ROOM}}}", f"x{extents}")
    recorded = RecordedKernel("_Z4fill5Shape4int3", (launch,), parameters=(24, 12))
    (kernel,) = _facts(tmp_path, _RECORD, recorded).kernels
    assert _result(kernel).sectors_per_request == 8
    assert kernel.launches[0].arguments["shape.scale"] == 0.5
    assert kernel.launches[0].arguments["shape.data"] == 256
    # What is given out of an allocation may be less than that has.
    assert "shape.data" not in kernel.launches[0].allocated


def test_a_null_pointer_is_one(tmp_path: Path) -> None:
    code = """
__global__ void k(float *x, const float *bias)
{
    int i = threadIdx.x;
    x[i] = bias ? bias[i] : 0.0f;
}
"""
    launches = _launch(_array(), 0, grid=1, count=2), _launch(_array(), _array(1), grid=1)
    (kernel,) = _facts(tmp_path, code, RecordedKernel("_Z1kPfPKf", launches, parameters=(8, 8))).kernels
    assert [launch.arguments["bias"] for launch in kernel.launches] == [None, 0]
    (bias,) = [access for access in kernel.accesses if access.array == "bias"]
    assert [result.status for result in bias.results] == ["unreached", "exact"]


def _found(tmp_path: Path, code: str, *kernels: RecordedKernel) -> list[Diagnostic]:
    (tmp_path / "a.cu").write_text(code)
    options = AnalysisOptions(recordings=(_written(tmp_path, *kernels),))
    report = check_file(CheckJob(str(tmp_path / "a.cu"), options, Selection(), pictures=False))
    return list(report.diagnostics)


def test_what_one_recorded_launch_shows_is_certain(tmp_path: Path) -> None:
    launches = _launch(_array(), 1 << 14, 1), _launch(_array(), 1 << 14, 9)
    (found,) = _found(tmp_path, _STRIDED, RecordedKernel(_SCALE, launches, parameters=(8, 4, 4)))
    assert (found.code, certainty_of(found), found.separated_by) == ("CL101", "certain", "stride > 1")


def test_an_array_that_a_recorded_launch_leaves(tmp_path: Path) -> None:
    """Thread 16383 stores to byte 4 * 16383 of 65532 that there are."""
    inside, outside = (_launch(_array(extent=4 * n), 1 << 14, 1) for n in (1 << 14, (1 << 14) - 1))
    of_one = RecordedKernel(_SCALE, (inside,), parameters=(8, 4, 4))
    assert _found(tmp_path, _STRIDED, of_one) == []
    of_both = RecordedKernel(_SCALE, (inside, outside), parameters=(8, 4, 4))
    assert [(each.code, certainty_of(each)) for each in _found(tmp_path, _STRIDED, of_both)] == [("CL107", "certain")]


def test_parts_of_one_allocation_are_arrays_of_their_own(tmp_path: Path) -> None:
    """As allocators of programs hand them out: the first ends where the second begins, and nobody knows where that
    ends."""
    code = """
__global__ void copy(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[2 * i] = from[i];
}
"""
    launch = _launch("p0+0/65536", "p0+65280/65536", 1 << 14)
    (found,) = _found(tmp_path, code, RecordedKernel("_Z4copyPfPKfi", (launch,), parameters=(8, 8, 4)))
    assert found.code == "CL101" and "`to`" in found.message


def test_assumptions_that_a_recorded_launch_breaks(tmp_path: Path) -> None:
    """Only eight launches are evaluated; the one that takes least is held against the annotation all the same."""
    code = _STRIDED.replace("__global__", "// cudalint: assume(n % 64 == 0)\n__global__", 1)
    launches = [_launch(_array(), 64 * n, 1, count=1000 * n) for n in range(1, 20)]
    good = RecordedKernel(_SCALE, tuple(launches), parameters=(8, 4, 4))
    assert _found(tmp_path, code, good) == []
    bad = RecordedKernel(_SCALE, (*launches, _launch(_array(), 65, 1)), parameters=(8, 4, 4))
    (found,) = _found(tmp_path, code, bad)
    assert found.message == "`assume(n % 64 == 0)` holds in 19 of 20 recorded launches only, as with n = 65"


_VECTORS = """
__global__ void sums(float *x, const float *y, int n)
{
    if (4 * threadIdx.x + 3 < n) {
        float4 v = *(const float4 *)(y + blockIdx.x * n + 4 * threadIdx.x);
        x[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
    }
}
"""


def test_requirements_are_held_against_all_recorded_launches(tmp_path: Path) -> None:
    launches = [_launch(_array(), _array(1), 128 * n, count=1000 * n) for n in range(1, 20)]
    good = RecordedKernel("_Z4sumsPfPKfi", tuple(launches), parameters=(8, 8, 4))
    (kernel,) = _facts(tmp_path, _VECTORS, good).kernels
    assert [(each.condition, each.kept) for each in kernel.misalignments] == [("n % 4 == 0", (19, 19))]
    bad = RecordedKernel("_Z4sumsPfPKfi", (*launches, _launch(_array(), _array(1), 130)), parameters=(8, 8, 4))
    (kernel,) = _facts(tmp_path, _VECTORS, bad).kernels
    ((found),) = kernel.misalignments
    assert (found.condition, found.kept, found.values) == (None, (19, 20), (("n", 130),))


def test_a_file_that_can_not_be_read_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(_STRIDED)
    (tmp_path / "launches.json").write_text("[1, 2")
    found = analyse_file(str(tmp_path / "a.cu"), AnalysisOptions(recordings=(str(tmp_path / "launches.json"),)))
    assert len(found.kernels) == 1
    (failure,) = found.failures
    assert failure.message.startswith(f"{tmp_path / 'launches.json'}: it holds no recorded launches")


def _analysed(tmp_path: Path, options: AnalysisOptions, *launches: RecordedLaunch) -> KernelFacts:
    (tmp_path / "a.cu").write_text(_STRIDED)
    recording = _written(tmp_path, RecordedKernel(_SCALE, launches, parameters=(8, 4, 4)))
    (kernel,) = analyse_file(str(tmp_path / "a.cu"), replace(options, recordings=(recording,))).kernels
    return kernel


def test_a_forced_launch_takes_the_place_of_recorded_ones(tmp_path: Path) -> None:
    options = AnalysisOptions(block=(64, 1, 1), force_launch=True)
    (launch,) = _analysed(tmp_path, options, _launch(_array(), 1 << 14, 1)).launches
    assert (launch.source, launch.block, launch.recorded) == ("command-line", (64, 1, 1), None)


def test_parameters_replace_recorded_arguments_and_configured_ones_do_not(tmp_path: Path) -> None:
    launches = _launch(_array(), 1 << 14, 1, count=3), _launch(_array(), 1 << 14, 9)
    configured = AnalysisOptions(kernels=(KernelSettings("*", parameters=(("stride", "2"),)),))
    assert _result(_analysed(tmp_path, configured, *launches)).sectors_per_request == (3 * 4 + 32) / 4
    given = AnalysisOptions(params=(ParameterValue(None, "stride", "2"),))
    assert _result(_analysed(tmp_path, given, *launches)).sectors_per_request == 8


def test_without_arguments_nothing_is_certain_that_they_decide(tmp_path: Path) -> None:
    """With a stride of 1 all is well, and of 2 or more it isn't."""
    launch = RecordedLaunch(5, (64, 1, 1), (256, 1, 1))
    (found,) = _found(tmp_path, _STRIDED, RecordedKernel(_SCALE, (launch,)))
    assert (found.code, certainty_of(found), found.condition) == ("CL101", "conditional", "stride > 1")


_FIELDS = """
struct Flags { unsigned low : 5; int high : 7; bool is_set; unsigned char last[3]; };
// cudalint: assume(flags.low == 9 && flags.high == -3)
__global__ void k(float *x, Flags flags)
{
    if (flags.is_set)
        x[threadIdx.x * flags.last[2]] = 1.0f;
}
"""


def test_bit_fields_are_read(tmp_path: Path) -> None:
    """9 in the lowest five bits, and -3 in the seven above: 125 << 5 | 9 is 4009."""
    good, bad = (f"x{struct.pack('<HBBBB', bits, 1, 0, 0, 4).hex()}0000" for bits in (4009, 4010))
    of_good, of_bad = (
        RecordedKernel("_Z1kPf5Flags", (_launch(_array(), each, grid=1),), parameters=(8, 8)) for each in (good, bad)
    )
    (kernel,) = _facts(tmp_path, _FIELDS, of_good).kernels
    assert (kernel.launches[0].arguments["flags.high"], _result(kernel).sectors_per_request) == (-3, 16)
    held, broken = (_found(tmp_path, _FIELDS, each) for each in (of_good, of_bad))
    assert [each.code for each in held] == ["CL101"]
    (message,) = (each.message for each in broken if "assume" in each.message)
    assert message.endswith("holds in 0 of 1 recorded launch only, as with flags.low = 10, flags.high = -3")


def test_hidden_names_and_others_are_one_kernel(tmp_path: Path) -> None:
    """In one file the names of kernels are hidden, and in the other they aren't."""
    (tmp_path / "a.cu").write_text(_STRIDED)
    for folder, symbol in (("one", _SCALE), ("other", hidden(_SCALE))):
        (tmp_path / folder).mkdir()
        _written(tmp_path / folder, RecordedKernel(symbol, (_launch(_array(), 1 << 14, 1),), parameters=(8, 4, 4)))
    paths = tuple(str(tmp_path / folder / "launches.json") for folder in ("one", "other"))
    (kernel,) = analyse_file(str(tmp_path / "a.cu"), AnalysisOptions(recordings=paths)).kernels
    assert kernel.launches[0].recorded is not None and kernel.launches[0].recorded.count == 2


def test_launches_that_differ_in_nothing_a_kernel_sees_are_one(tmp_path: Path) -> None:
    """Streams are no matter of the kernel's."""
    first, *others = (replace(_launch(_array(), 1 << 14, 9), stream=number) for number in range(20))
    kernel = _scaled(tmp_path, first, *others)
    assert _result(kernel).sectors_per_request == 32
    assert kernel.launches[0].recorded is not None
    assert (kernel.launches[0].recorded.count, kernel.launches[0].recorded.different) == (20, 1)


def test_floats_that_are_no_numbers(tmp_path: Path) -> None:
    """The bits of 1, of infinity and of what is none, in launches of one kernel."""
    code = "__global__ void k(float *x, float a) { x[4 * threadIdx.x] = a; }"
    launches = [_launch(_array(), bits, grid=1) for bits in (0x3F800000, 0x7F800000, 0x7FC00000)]
    found = _facts(tmp_path, code, RecordedKernel("_Z1kPff", tuple(launches), parameters=(8, 4)))
    assert (found.failures, _result(found.kernels[0]).sectors_per_request) == ((), 16)


def test_what_a_profiler_has_seen_of_the_same_launches_is_left_out(tmp_path: Path) -> None:
    """It has no arguments; of launches of other sizes it has something to say."""
    seen = (RecordedLaunch(9, (blocks, 1, 1), (256, 1, 1)) for blocks in (64, 65))
    found = _facts(
        tmp_path, _STRIDED,
        RecordedKernel(_SCALE, (_launch(_array(), 1 << 14, 1),), parameters=(8, 4, 4)),
        RecordedKernel(_SCALE, tuple(seen)),
    )  # fmt: skip
    grids = {launch.grid[0]: launch.recorded for launch in found.kernels[0].launches}
    assert {blocks: recorded and recorded.is_whole for blocks, recorded in grids.items()} == {64: True, 65: False}


def test_a_kernel_without_launches_was_not_recorded(tmp_path: Path) -> None:
    (kernel,) = _facts(tmp_path, _STRIDED, RecordedKernel(_SCALE, (), parameters=(8, 4, 4))).kernels
    assert [launch.source for launch in kernel.launches] == ["default"]


_ARITHMETIC = """
__global__ void k(float *x, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i;
    for (int j = 0; j < 20000; ++j)
        v = v * 1.5f + 0.25f;
    x[i * stride] = v;
}
"""


def test_what_recorded_launches_waste_is_shown_by_its_traffic(tmp_path: Path) -> None:
    """Nearly all of the time goes into arithmetic, and 28 of 32 sectors of all that is stored are for nothing."""
    launch = _launch(_array(), 9, grid=4096)
    (found,) = _found(tmp_path, _ARITHMETIC, RecordedKernel("_Z1kPfi", (launch,), parameters=(8, 4)))
    assert found.cost is not None and (found.cost.share or 0) < 0.01 and found.cost.traffic_share == 28 / 32
    assert (found.code, marked(found, 0.1).held_back) == ("CL101", None)
    in_sight = replace(found, launches=tuple(replace(each, recorded=None) for each in found.launches))
    assert marked(in_sight, 0.1).held_back == "small"


@pytest.mark.parametrize(("time", "limiter"), [(1e6, "latency"), (0.5, "fp32")])
def test_a_kernel_that_was_seen_to_wait(tmp_path: Path, time: float, limiter: str) -> None:
    """Two milliseconds of arithmetic, as the model has it, within a second or half a microsecond."""
    launch = _launch(_array(), 9, grid=4096, time=time)
    (found,) = _found(tmp_path, _ARITHMETIC, RecordedKernel("_Z1kPfi", (launch,), parameters=(8, 4)))
    assert found.cost is not None and found.cost.limiter == limiter


def test_a_template_whose_instances_are_recorded_elsewhere_is_not_made_up(tmp_path: Path) -> None:
    code = _TWO.partition("void host")[0]
    recorded = RecordedKernel("_Z5scaleIdLi2EEvPT_i", (_launch(_array(), 1 << 14),), parameters=(8, 4))
    (made_up,) = _facts(tmp_path, code).kernels
    assert made_up.accesses
    (kernel,) = _facts(tmp_path, code, recorded).kernels
    assert (kernel.accesses, kernel.launches) == ((), ())
    assert [gap.reason for gap in kernel.gaps] == ["its instances that were recorded are made in other files"]


def test_what_nobody_asks_for_is_no_gap(tmp_path: Path) -> None:
    code = _STRIDED + "__global__ void other(float *x) { x[threadIdx.x] = 0; }\n"
    recorded = RecordedKernel(_SCALE, (_launch(_array(), 1 << 14, 1),), parameters=(8, 4, 4))
    (tmp_path / "a.cu").write_text(code)
    options = AnalysisOptions(recordings=(_written(tmp_path, recorded),), only_recorded=True)
    report = check_file(CheckJob(str(tmp_path / "a.cu"), options, Selection(), pictures=False))
    assert (report.diagnostics, len(report.coverage.kernels)) == ((), 1)

"""Launches that users write: annotations, the command line and the configuration, and which of them counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions, KernelSettings, ParameterValue
from cudalint.run.analysis import analyse_file

_TILE = "#define TILE 16\n"
_KERNEL = "__global__ void sgemm_nn(float *a, int M, int K) { a[threadIdx.x * K + blockIdx.x * M] = 0; }\n"
_VISIBLE = "void f(float *a, int n) { sgemm_nn<<<4, 96>>>(a, n, 7); }\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _kernel(source: str, *settings: KernelSettings, **options: object) -> KernelFacts:
    Path("a.cu").write_text(source)
    (kernel,) = analyse_file("a.cu", AnalysisOptions(kernels=settings, **options)).kernels  # type: ignore[arg-type]
    return kernel


_SETTINGS = KernelSettings("sgemm*", "dim3(TILE, 2)", "8", "4 * TILE", (("K", "2 * TILE"),), "cudalint.toml", 3)


def test_the_configuration_may_use_macros_of_the_file() -> None:
    kernel = _kernel(_TILE + _KERNEL, _SETTINGS)
    (launch,) = kernel.launches
    assert (launch.block, launch.grid, launch.dynamic_shared_bytes) == ((16, 2, 1), (8, 1, 1), 64)
    assert (launch.source, launch.path, launch.line) == ("config", "cudalint.toml", 3)
    assert launch.parameters == {"K": 32}
    # 16 lanes that are 32 floats apart, twice: 16 sectors.
    assert kernel.accesses[0].results[0].sectors_per_request == 16


def test_the_first_pattern_counts_for_each_value() -> None:
    others = (
        KernelSettings("reduce", "64"),
        KernelSettings("*_nn", parameters=(("M", "3"), ("K", "5"))),
        KernelSettings("*", "128", parameters=(("M", "9"),)),
    )
    (launch,) = _kernel(_KERNEL, *others).launches
    assert (launch.block, launch.parameters) == ((128, 1, 1), {"M": 3, "K": 5})


def test_the_order_of_sources() -> None:
    annotated = "// cudalint: launch(block = 48)\n" + _TILE + _KERNEL
    (launch,) = _kernel(annotated, _SETTINGS, block=(32, 1, 1)).launches
    assert (launch.source, launch.block[0]) == ("annotation", 48)
    (launch,) = _kernel(_TILE + _KERNEL, _SETTINGS, block=(32, 1, 1)).launches
    assert (launch.source, launch.block[0]) == ("command-line", 32)
    bounded = _KERNEL.replace("void", "void __launch_bounds__(64)")
    (launch,) = _kernel(_TILE + bounded, _SETTINGS).launches
    assert launch.source == "config"
    (launch,) = _kernel(bounded, _SETTINGS).launches
    assert launch.source == "launch-bounds", "a launch that can't be evaluated leaves it to what comes next"


def test_a_visible_launch_keeps_its_arguments_and_lacks_none() -> None:
    settings = KernelSettings("*", "32", parameters=(("M", "3"), ("K", "5")))
    (launch,) = _kernel(_KERNEL + _VISIBLE, settings).launches
    assert (launch.source, launch.block[0]) == ("launch-site", 96)
    assert launch.parameters == {"M": 3, "K": 7}
    params = (ParameterValue("sgemm_nn", "K", "11"), ParameterValue("other", "M", "1"))
    (launch,) = _kernel(_KERNEL + _VISIBLE, settings, params=params).launches
    assert launch.parameters == {"M": 3, "K": 11}


def test_all_annotated_launches_are_evaluated() -> None:
    source = "".join(f"// cudalint: launch(block = {block})\n" for block in ("32", "dim3(8, 8)", "32"))
    kernel = _kernel(source + _KERNEL)
    assert [launch.block for launch in kernel.launches] == [(32, 1, 1), (8, 8, 1)]
    assert [launch.line for launch in kernel.launches] == [1, 2]
    assert {result.launch for result in kernel.accesses[0].results} == {0, 1}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("// cudalint: launch(block = NONE)\n", "`NONE` is not known here"),
        ("#define B -4\n// cudalint: launch(block = B)\n", "the block is -4 in x, and has to be at least 1"),
        ("#define B 2.5\n// cudalint: launch(block = B * 3)\n", "the block is 7.5 in x, and has to be a whole number"),
        ("#define Z 0\n// cudalint: launch(block = 1, grid = Z)\n", "the grid is 0 in x, and has to be at least 1"),
    ],
)
def test_an_annotated_launch_that_is_not_possible_is_said(source: str, reason: str) -> None:
    kernel = _kernel(source + _KERNEL)
    message = f"the launch that is annotated could not be evaluated: {reason}"
    assert [found.message for found in kernel.unusable] == [message]
    assert kernel.launches[0].source == "default"


def test_a_configured_launch_that_is_not_possible_is_said() -> None:
    kernel = _kernel(_KERNEL, KernelSettings("*", "64 - 64", None, None, (("K", "X"),), "cudalint.toml", 3))
    launch = "the launch that is configured (at cudalint.toml:3) could not be evaluated"
    assert sorted(gap.reason for gap in kernel.gaps) == [
        "`K` in cudalint.toml could not be evaluated: `X` is not known here",
        f"{launch}: the block is 0 in x, and has to be at least 1",
    ]


_TOO_LARGE = KernelSettings("*", "dim3(64, 32)", "8", None, (), "cudalint.toml", 3)


@pytest.mark.parametrize(
    ("source", "settings", "options"),
    [
        ("// cudalint: launch(block = dim3(64, 32), grid = 8)\n" + _KERNEL, (), {}),
        (_KERNEL, (_TOO_LARGE,), {}),
        (_KERNEL, (), {"block": (64, 32, 1), "grid": (8, 1, 1)}),
        (_KERNEL + "void f(float *a) { sgemm_nn<<<8, dim3(64, 32)>>>(a, 1, 7); }\n", (), {}),
    ],
    ids=["annotation", "configuration", "command line", "launch"],
)
def test_a_block_of_more_threads_than_any_may_have_is_evaluated_as_it_is_asked_for(
    source: str, settings: tuple[KernelSettings, ...], options: dict[str, object]
) -> None:
    kernel = _kernel(source, *settings, **options)
    (launch,) = kernel.launches
    assert launch.site is not None
    assert (launch.block, launch.site.block) == ((64, 32, 1), (64, 32, 1))
    assert launch.source != "default"
    assert launch.assumptions == ()
    assert kernel.accesses[0].results[0].sectors_per_request is not None


@pytest.mark.parametrize(
    ("asked", "evaluated", "text"),
    [((64, 64, 64), (64, 64, 1), "64x64"), ((4_000_000_000, 1, 1), (4096, 1, 1), "4096")],
)
def test_of_far_too_many_threads_the_first_are_evaluated(
    asked: tuple[int, int, int], evaluated: tuple[int, int, int], text: str
) -> None:
    kernel = _kernel(_KERNEL, block=asked)
    (launch,) = kernel.launches
    assert launch.site is not None
    assert (launch.block, launch.site.block) == (evaluated, asked)
    (assumption,) = launch.assumptions
    assert assumption.startswith(f"block = {text} (the launch asks for ")


def test_the_guard_of_threads_that_no_block_has_sees_the_whole_block() -> None:
    source = "__global__ void k(float *a) { if (threadIdx.x + 1024 < blockDim.x) a[threadIdx.x] = 0; }\n"
    kernel = _kernel(source, block=(2048, 1, 1))
    (result,) = kernel.accesses[0].results
    assert (result.status, result.active_lanes) == ("exact", 32)


@pytest.mark.parametrize(
    ("source", "text", "threads"),
    [
        ("#define A 4\n#define B (2 * A)\n", "B * B", 64),
        ("#define SUM 4 + 4\n", "SUM * 2", 16),
        ("#define SHIFTED 1 << 5\n", "SHIFTED", 32),
        ("#define A 4\n#undef A\n#define A 8\n", "A", 8),
        ("const int width = 3 * 32;\n", "width", 96),
        ("constexpr unsigned w = 16, h = w / 2;\n", "w * h", 128),
        ("static constexpr auto n = sizeof(double) * 8;\n", "n", 64),
        ("enum { SMALL = 32, LARGE = 4 * SMALL };\n", "LARGE", 128),
        ("enum class Size : int { Tile = 48 };\n", "Tile", 48),
        ("namespace cfg { constexpr int T = 24; }\n", "T", 24),
        ("struct Cfg { static constexpr int BM = 40; enum { BN = 2 }; };\n", "BM * BN", 80),
        ("", "sizeof(float4) * 4", 64),
        ("#define A 4\n", "A > 2 ? max(A, 96) : min(1, A)", 96),
    ],
)
def test_expressions_of_the_configuration(source: str, text: str, threads: int) -> None:
    (launch,) = _kernel(source + _KERNEL, KernelSettings("*", text)).launches
    assert (launch.source, launch.block) == ("config", (threads, 1, 1))


@pytest.mark.parametrize(
    "source",
    ["", "#define T T\n", "#define T U\n#define U T\n", "#define T(x) x\n", "#define T\n", "int T = 4;\n",
     "namespace a { constexpr int T = 2; }\nnamespace b { constexpr int T = 4; }\n", "extern const int T;\n"],
)  # fmt: skip
def test_names_without_a_value(source: str) -> None:
    kernel = _kernel(source + _KERNEL, KernelSettings("*", "T", path="cudalint.toml", line=3))
    assert kernel.launches[0].source == "default"
    (gap,) = kernel.gaps
    assert gap.reason.startswith("the launch that is configured (at cudalint.toml:3) could not be evaluated: `")


def test_a_configured_parameter_that_the_kernel_lacks_is_said_where_only_it_can_be_meant() -> None:
    parameters = (("NN", "4"),)
    (gap,) = _kernel(_KERNEL, KernelSettings("sgemm_nn", "32", parameters=parameters, path="cudalint.toml")).gaps
    assert gap.reason == "`NN` in cudalint.toml is no scalar parameter of `sgemm_nn`"
    assert not _kernel(_KERNEL, KernelSettings("sgemm*", "32", parameters=parameters, path="cudalint.toml")).gaps


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1.5", "--param K is 1.5, which the parameter's type can't hold"),
        ("1 << 40", "--param K is 1099511627776, which the parameter's type can't hold"),
        ("1 / 0", "--param K could not be evaluated: it divides by zero"),
        ("4 % (2 - 2)", "--param K could not be evaluated: it divides by zero"),
        ("1 << 64", "--param K could not be evaluated: it shifts by 64"),
        ("1 >> -1", "--param K could not be evaluated: it shifts by -1"),
    ],
)
def test_values_that_are_none_are_said(text: str, reason: str) -> None:
    kernel = _kernel(_KERNEL, block=(32, 1, 1), params=(ParameterValue(None, "K", text),))
    assert reason in [gap.reason for gap in kernel.gaps]
    assert "K" not in kernel.launches[0].parameters


def test_the_largest_grid_is_one() -> None:
    most = 2**32 - 1
    (launch,) = _kernel(_KERNEL, block=(1024, 1, 1), grid=(most, most, most)).launches
    assert launch.site is not None
    assert launch.grid == launch.site.grid == (most, most, most)

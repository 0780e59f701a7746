"""Stand-ins for the headers of PyTorch, OpenCV and GLM, and names of libraries of which nothing is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.facts import FileFacts, KernelFacts
from cudalint.frontend.flags import LIBRARIES_ROOT, ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SIMPLE = "__global__ void k(float *x) { x[threadIdx.x] = 1.0f; }\n"
_HEADERS = sorted(path for path in Path(LIBRARIES_ROOT).rglob("*") if path.is_file())


def _parse(text: str, options: ParseOptions | None = None) -> ParsedFile:
    return parse_file("/nowhere/kernel.cu", options or ParseOptions(), text.encode())


def _messages(parsed: ParsedFile) -> list[str]:
    return [problem.message for problem in parsed.problems]


def _bundled(parsed: ParsedFile) -> list[str]:
    """The stand-ins that were read."""
    included = [inclusion.include.name for inclusion in parsed.tu.get_includes() if inclusion.include is not None]
    return [path for path in included if path.startswith(LIBRARIES_ROOT)]


def _analysed(tmp_path: Path, text: str) -> FileFacts:
    path = tmp_path / "k.cu"
    path.write_text(text)
    return analyse_file(str(path), AnalysisOptions())


# --- the headers -------------------------------------------------------------------------------------------


def test_every_header_parses_by_itself() -> None:
    assert len(_HEADERS) > 100
    for header in _HEADERS:
        parsed = _parse(f"#include <{header.relative_to(LIBRARIES_ROOT)}>\n{_SIMPLE}")
        assert _messages(parsed) == [], header


def test_all_headers_together() -> None:
    names = [str(path.relative_to(LIBRARIES_ROOT)) for path in _HEADERS if not path.parent.name.startswith("_")]
    assert _messages(_parse("".join(f"#include <{name}>\n" for name in names) + _SIMPLE)) == []


def test_nothing_of_them_is_there_for_who_does_not_ask() -> None:
    assert _messages(_parse("namespace at { struct Tensor {}; } namespace torch { int empty; }\n" + _SIMPLE)) == []


def _own_torch(folder: Path) -> None:
    for name, text in (
        ("torch/extension.h", "#include <ATen/ATen.h>\n"),
        ("ATen/ATen.h", "#pragma once\nnamespace at { struct Tensor { int own; }; }\n"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def test_they_step_back_where_the_users_own_are_found(tmp_path: Path) -> None:
    _own_torch(tmp_path)
    text = f"#include <torch/extension.h>\nint own(at::Tensor t) {{ return t.own; }}\n{_SIMPLE}"
    parsed = _parse(text, ParseOptions(include_dirs=(str(tmp_path),), users=(str(tmp_path),)))
    assert _messages(parsed) == []
    assert _bundled(parsed) == []


def test_they_are_not_mixed_with_the_users_own(tmp_path: Path) -> None:
    _own_torch(tmp_path)
    text = f"#include <ATen/ATen.h>\n#include <ATen/Dispatch.h>\n{_SIMPLE}"
    parsed = _parse(text, ParseOptions(include_dirs=(str(tmp_path),), users=(str(tmp_path),)))
    assert _messages(parsed) == ["'ATen/Dispatch.h' file not found"]
    assert _bundled(parsed) == []


def test_those_of_the_project_around_the_file_come_first(tmp_path: Path) -> None:
    _own_torch(tmp_path)
    path = tmp_path / "k.cu"
    path.write_text(f"#include <torch/extension.h>\nint own(at::Tensor t) {{ return t.own; }}\n{_SIMPLE}")
    parsed = parse_file(str(path), ParseOptions())
    assert _messages(parsed) == []
    assert _bundled(parsed) == []


def test_collectives_can_be_built_from_the_parts_of_cub() -> None:
    """A missing part made storages of one byte, and what lies behind them in shared memory misaligned (mamba)."""
    text = (
        "#include <cub/block/block_raking_layout.cuh>\n"
        "#include <c10/util/complex.h>\n"
        "struct Scan {\n"
        "  using Layout = cub::BlockRakingLayout<float4, 64>;\n"
        "  struct Stored { Layout::TempStorage grid; };\n"
        "  struct TempStorage : cub::Uninitialized<Stored> {};\n"
        "};\n"
        "// Each of 32 threads has a segment of two, and one element between them and the next one's.\n"
        'static_assert(Scan::Layout::SEGMENT_LENGTH == 2 && Scan::Layout::RAKING_THREADS == 32, "");\n'
        'static_assert(sizeof(Scan::TempStorage) == 32 * 3 * 16, "");\n'
        "__device__ float shifted(float x) { return cub::ShuffleDown<32>(x, 1, 31, cub::WarpMask<32>(0)); }\n"
        "__device__ c10::complex<float> mirrored(c10::complex<float> z) { return std::conj(z); }\n"
    )
    assert _messages(_parse(text + _SIMPLE)) == []


def test_storage_under_another_name_is_not_read(tmp_path: Path) -> None:
    """`Alias` gives a reference. Taken for a copy, it was a misaligned load of 16 bytes."""
    facts = _analysed(
        tmp_path,
        "#include <cub/cub.cuh>\n"
        "struct Scan {\n"
        "  struct Stored { float4 v[4]; };\n"
        "  struct TempStorage : cub::Uninitialized<Stored> {};\n"
        "  Stored &stored;\n"
        "  __device__ Scan(TempStorage &given) : stored(given.Alias()) {}\n"
        "  __device__ float first() { return stored.v[0].x; }\n"
        "};\n"
        "__global__ void k(float *out) {\n"
        "  extern __shared__ char memory[];\n"
        "  out[threadIdx.x] = Scan(*reinterpret_cast<Scan::TempStorage *>(memory + 8)).first();\n"
        "}\n",
    )
    [kernel] = facts.kernels
    assert [(access.operation, access.bytes) for access in kernel.accesses] == [("load", 4), ("store", 4)]


def test_a_fragment_gets_what_its_includer_would_have_included() -> None:
    parsed = _parse("int64_t rows(const at::Tensor &t) { return t.size(0); }\n" + _SIMPLE)
    assert _messages(parsed) == ["`torch/extension.h` is not included; taken as if it were"]


# --- launches ------------------------------------------------------------------------------------------------


def test_every_type_of_a_dispatch_is_an_instantiation(tmp_path: Path) -> None:
    facts = _analysed(
        tmp_path,
        "#include <torch/extension.h>\n"
        "template <class T> __global__ void k(T *x, int n) { x[threadIdx.x * n] = 1; }\n"
        "void run(at::Tensor x) {\n"
        '  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "k", [&] {\n'
        "    const int threads = sizeof(scalar_t) * 32;\n"
        "    k<scalar_t><<<1, threads>>>(x.data_ptr<scalar_t>(), 3);\n"
        "  });\n"
        "}\n",
    )
    launches = {kernel.instantiation: _launch(kernel) for kernel in facts.kernels}
    assert launches == {
        "k<float>": (128, 3),
        "k<double>": (256, 3),
        "k<int>": (128, 3),
        "k<long>": (256, 3),
        "k<unsigned char>": (32, 3),
        "k<signed char>": (32, 3),
        "k<short>": (64, 3),
        "k<c10::Half>": (64, 3),
        "k<c10::BFloat16>": (64, 3),
    }
    assert facts.kernels[0].instantiation == "k<float>"


def _launch(kernel: KernelFacts) -> tuple[int, int | float | bool]:
    [launch] = kernel.launches
    assert launch.source == "launch-site"
    return launch.block[0], launch.parameters["n"]


def test_sizes_and_strides_of_a_new_tensor(tmp_path: Path) -> None:
    facts = _analysed(
        tmp_path,
        "#include <torch/extension.h>\n"
        "__global__ void k(float *x, int row, int plane, int count) { x[threadIdx.x * row] = plane + count; }\n"
        "void run() {\n"
        "  auto x = torch::zeros({4, 6, 8}, torch::kFloat);\n"
        "  auto y = torch::empty_like(x);\n"
        "  k<<<1, y.size(2) * 4>>>(y.data_ptr<float>(), y.stride(1), x.stride(0), y.numel());\n"
        "}\n",
    )
    [launch] = facts.kernels[0].launches
    assert launch.block == (32, 1, 1)
    assert launch.parameters == {"row": 8, "plane": 48, "count": 192}


@pytest.mark.parametrize(
    ("host", "blocks", "step", "number"),
    [
        # 4 * 6 * 8 elements, of which 192 / 16 = 12 rows have 16 each, and 3 planes take 192 / (3 * 4) = 16 of 4.
        (
            (
                "auto rows = x.view({-1, 16}); auto planes = x.reshape({3, -1, 4});"
                "k<<<rows.size(0), 64>>>(rows.data_ptr<float>(), rows.stride(0), planes.size(1));"
            ),
            12,
            16,
            16,
        ),
        # Counted from the last dimension.
        ("k<<<x.size(-3), 32>>>(x.data_ptr<float>(), x.stride(-3), x.size(-1));", 4, 48, 8),
    ],
)
def test_sizes_that_are_not_spelled_out(tmp_path: Path, host: str, blocks: int, step: int, number: int) -> None:
    facts = _analysed(
        tmp_path,
        "#include <torch/extension.h>\n"
        "__global__ void k(float *x, int step, int number) { x[threadIdx.x * step] = number; }\n"
        "void run() {\n"
        "  auto x = torch::zeros({4, 6, 8}, torch::kFloat);\n"
        f"  {host}\n"
        "}\n",
    )
    [launch] = facts.kernels[0].launches
    assert launch.grid == (blocks, 1, 1)
    assert launch.parameters == {"step": step, "number": number}


def test_the_properties_of_the_device(tmp_path: Path) -> None:
    facts = _analysed(
        tmp_path,
        "#include <ATen/cuda/CUDAContext.h>\n"
        + _SIMPLE
        + "void run(float *x) { k<<<at::cuda::getCurrentDeviceProperties()->multiProcessorCount, 64>>>(x); }\n",
    )
    [launch] = facts.kernels[0].launches
    assert launch.grid == (108, 1, 1)


# --- libraries that are not there -----------------------------------------------------------------------------


def test_kernels_with_parameters_of_an_unknown_library_are_found() -> None:
    text = (
        '#include "utils.h"\n'
        "__global__ void a(lib::Table<float, 2, lib::Restrict> t, float *x) { x[threadIdx.x * 2] = 1; }\n"
        "template <class T> __global__ void b(const lib::deep::View<T> v, lib::Options &o, T *x, lib::Size n) {\n"
        "  if (threadIdx.x < n) x[threadIdx.x] = o.scale;\n"
        "}\n"
    )
    parsed = _parse(text)
    unit = Listing(parsed).unit()
    assert [kernel.name for kernel in unit.kernels] == ["a", "b"]
    notes = [problem.message for problem in parsed.problems if problem.kind == "guessed"]
    assert notes == [
        "nothing declares 'lib::Table'; taken as a type of its own",
        "nothing declares 'lib::Restrict'; taken as a type of its own",
        "nothing declares 'lib::deep::View'; taken as a type of its own",
        "nothing declares 'lib::Options'; taken as a type of its own",
        "nothing declares 'lib::Size'; taken as `int`",
    ]


def test_functions_of_an_unknown_library() -> None:
    text = f"void run(float *x, int n) {{ lib::check(n); k<<<lib::ceil_div(n, 64), 64>>>(x); }}\n{_SIMPLE}"
    parsed = _parse(_SIMPLE + text.removesuffix(_SIMPLE))
    assert {problem.kind for problem in parsed.problems} == {"guessed"}


@pytest.mark.parametrize(
    "setup",
    [
        'ext = CUDAExtension("a", include_dirs=[os.path.join(here, "csrc", "include")])\n',
        "include_dirs.append(os.path.abspath('./csrc/include'))\n",
        'CUDAExtension(\n    include_dirs=[\n        here / "other",\n        here / "csrc" / "include",\n    ],\n)\n',
    ],
)
def test_folders_that_a_setup_py_names(setup: str, tmp_path: Path) -> None:
    folder = tmp_path / "package" / "ops" / "csrc" / "cuda" / "deep" / "deeper"
    folder.mkdir(parents=True)
    (tmp_path / "csrc" / "include").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "csrc" / "include" / "own.h").write_text("typedef double element;\n")
    (tmp_path / "setup.py").write_text("import os\n" + setup)
    path = folder / "k.cu"
    path.write_text('#include "own.h"\n__global__ void k(element *x) { x[0] = 1; }\n')
    assert _messages(parse_file(str(path), ParseOptions())) == []


@pytest.mark.parametrize(
    ("setup", "is_defined"),
    [
        ('define_macros += [("WITH_CUDA", None), ("LEVELS", "4")]\n', True),
        ("CUDAExtension(\n    define_macros=[\n        ('WITH_CUDA', None), ('LEVELS', '4'),\n    ],\n)\n", True),
        # That is for another compiler.
        ('define_macros += [("WITH_CUDA", None), ("WITH_HIP", None), ("LEVELS", "4")]\n', True),
        ('define_macros += [("WITH_CUDA", version)]\n', False),
    ],
)
def test_macros_that_a_setup_py_defines(setup: str, is_defined: bool, tmp_path: Path) -> None:
    folder = tmp_path / "package" / "csrc"
    folder.mkdir(parents=True)
    (tmp_path / "setup.py").write_text("import os\ndefine_macros = []\n" + setup)
    path = folder / "k.cu"
    path.write_text(
        "#if defined(WITH_CUDA) && !defined(WITH_HIP)\ntypedef short3 point;\n#endif\n"
        "__global__ void k(point *p) { p[LEVELS].x = 1; }\n"
    )
    assert (_messages(parse_file(str(path), ParseOptions())) == []) is is_defined


def test_stand_ins_are_no_files_of_the_user() -> None:
    parsed = _parse(_SIMPLE)
    assert not parsed.is_user(os.path.join(LIBRARIES_ROOT, "ATen", "ATen.h"))


def test_launches_by_hip_s_macro_are_nvcc_s() -> None:
    source = (
        "#include <hip/hip_runtime.h>\n"
        "template <int N> __global__ void k(float *x) { x[threadIdx.x * N] = 0; }\n"
        "void run(float *x) { hipLaunchKernelGGL((k<2>), dim3(8), 64, 0, 0, x);\n"
        "    hipLaunchKernelGGL(HIP_KERNEL_NAME(k<4>), 4, dim3(32, 2), 0, 0, x); }\n"
    )
    kernels = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    launches = [(kernel.instantiation, kernel.launches[0].block, kernel.launches[0].source) for kernel in kernels]
    assert launches == [("k<2>", (64, 1, 1), "launch-site"), ("k<4>", (32, 2, 1), "launch-site")]


# --- OpenCV --------------------------------------------------------------------------------------------------


def test_the_sizes_of_an_image_are_sizes(tmp_path: Path) -> None:
    """Of a colour image: the rows are as many bytes wide as three times the columns."""
    text = """
        #include <opencv2/opencv.hpp>
        using namespace cv;
        __global__ void gray(const uchar *in, uchar *out, int rows, int cols) {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
            if (x < cols) out[y * cols + x] = in[3 * (y * cols + x)];
        }
        int main() {
            Mat image = imread("image.png", IMREAD_COLOR);
            if (image.empty()) return 1;
            uchar *in, *out;
            cudaMalloc(&in, image.rows * image.cols * 3);
            cudaMalloc(&out, image.rows * image.cols);
            cudaMemcpy(in, image.data, image.total() * image.elemSize(), cudaMemcpyHostToDevice);
            gray<<<dim3((image.cols + 255) / 256, image.rows), 256>>>(in, out, image.rows, image.cols);
        }
    """
    facts = _analysed(tmp_path, text)
    assert facts.status == "ok"
    (kernel,) = facts.kernels
    assert [access.bytes for access in kernel.accesses] == [1, 1]
    assert [access.results[0].sectors_per_request for access in kernel.accesses] == [1, pytest.approx(3, abs=0.3)]


def test_what_a_kernel_is_given_of_a_matrix_on_the_device(tmp_path: Path) -> None:
    text = """
        #include <opencv2/core/cuda.hpp>
        __global__ void invert(const cv::cuda::PtrStepSz<float> in, cv::cuda::PtrStep<float> out) {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
            if (x < in.cols && y < in.rows) out.ptr(y)[x] = 1 - in(y, x);
        }
        void run(const cv::cuda::GpuMat &in, cv::cuda::GpuMat &out) {
            invert<<<dim3((in.cols + 255) / 256, in.rows), 256>>>(in, out);
        }
    """
    (kernel,) = _analysed(tmp_path, text).kernels
    assert [access.results[0].sectors_per_request for access in kernel.accesses] == [4, 4]


@pytest.mark.parametrize(
    ("name", "size"), [("uchar", 1), ("BYTE", 1), ("u16", 2), ("DWORD", 4), ("uint64", 8), ("f64", 8)]
)
def test_types_of_a_well_known_name_are_what_they_are_everywhere(name: str, size: int, tmp_path: Path) -> None:
    """Nothing declares them: `windows.h`, say, is not there."""
    (kernel,) = _analysed(tmp_path, f"__global__ void k({name} *x) {{ x[threadIdx.x] = 1; }}").kernels
    assert kernel.accesses[0].bytes == size


def test_vectors_of_glm_are_laid_out_as_its_manual_says() -> None:
    """Components one behind the other, no more aligned than one of them; columns of matrices likewise; the real part of
    a quaternion, which constructors take first, stands last."""
    text = (
        "#include <glm/glm.hpp>\n"
        "#include <glm/gtc/quaternion.hpp>\n"
        'static_assert(sizeof(glm::vec3) == 12 && alignof(glm::vec3) == 4 && alignof(glm::vec4) == 4, "");\n'
        'static_assert(sizeof(glm::dvec2) == 16 && sizeof(glm::u8vec3) == 3 && sizeof(glm::bvec4) == 4, "");\n'
        'static_assert(sizeof(glm::mat3) == 36 && sizeof(glm::mat4x3) == 48 && sizeof(glm::mat4) == 64, "");\n'
        'static_assert(glm::quat(4, 1, 2, 3).w == 4 && glm::quat(4, 1, 2, 3).x == 1, "");\n'
        'static_assert(glm::cross(glm::vec3(1, 0, 0), glm::vec3(0, 1, 0)) == glm::vec3(0, 0, 1), "");\n'
        'static_assert(glm::vec3(2) * 2 + glm::vec3(1, 2, 3) == glm::vec3(5, 6, 7), "");\n'
        'static_assert(glm::clamp(glm::ivec2(-7, 7), 0, 5) == glm::ivec2(0, 5), "");\n'
        "__device__ glm::vec4 seen(glm::mat4 m, glm::vec3 v) { return glm::transpose(m) * glm::vec4(v, 1.0f); }\n"
        "__device__ float lit(glm::vec3 v) { v *= glm::normalize(v); return glm::mix(v.r, v[1], 0.5f) + v.b; }\n"
        "__device__ bool near(glm::dvec3 a, glm::vec3 b) { return glm::distance(a, glm::dvec3(b)) < 1; }\n"
    )
    assert _messages(_parse(text + _SIMPLE)) == []


def test_numbers_of_cutlass_have_their_sizes(tmp_path: Path) -> None:
    """Eight numbers of 2 bytes are 16 bytes, 32 of these 512 or 16 sectors; 32 of 4 bits are 16 bytes as well."""
    text = (
        "#include <cutlass/array.h>\n#include <cutlass/numeric_types.h>\nusing namespace cutlass;\n"
        "__global__ void k(AlignedArray<half_t, 8>* a, Array<int4b_t, 32>* b) {\n"
        "    a[threadIdx.x] = a[threadIdx.x + 32];\n    b[threadIdx.x].storage[0] = 0;\n}\n"
        "void run(AlignedArray<half_t, 8>* a, Array<int4b_t, 32>* b) { k<<<1, 32>>>(a, b); }\n"
    )
    [kernel] = _analysed(tmp_path, text).kernels
    assert [access.results[0].sectors_per_request for access in kernel.accesses] == [16.0, 16.0, 16.0]


@pytest.mark.parametrize("path", ["Random123/philox.h", "extern/random123/include/Random123/philox.h"])
def test_headers_of_a_submodule_that_is_not_there(tmp_path: Path, path: str) -> None:
    text = (
        f"#include <{path}>\n__global__ void k(float *x, unsigned n) {{ r123::Philox4x32 draw; "
        "auto drawn = draw({{threadIdx.x, 0, 0, 0}}, {{n, 0}}); x[threadIdx.x] = 1; x[drawn.v[0]] = 2; }\n"
    )
    [kernel] = _analysed(tmp_path, text).kernels
    assert not kernel.gaps
    # 32 floats in a row; and a number that nobody knows.
    assert [access.results[0].status for access in kernel.accesses] == ["assumed", "data-dependent"]
    assert "it is a random number" in (kernel.accesses[1].results[0].reason or "")


_STRIDED = """
__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i * 2] = 1; }
"""


_WITH_FIXTURE = """
struct Fixture : ::testing::TestWithParam<int> { void SetUp() override { k<<<8, 96>>>(a, 768); } float *a; };
TEST_P(Fixture, runs) { if (GetParam() > 4) GTEST_SKIP() << 2; EXPECT_THROW(throw 1, int) << 3; }
INSTANTIATE_TEST_SUITE_P(All, Fixture, ::testing::Values(1, 2));
"""
_TYPED = """
template <class T> struct Typed : testing::Test {};
TYPED_TEST_SUITE(Typed, testing::Types<float>);
TYPED_TEST(Typed, runs) { TypeParam *a; cudaMalloc(&a, 4096); k<<<8, 128>>>(a, 500); }
"""


@pytest.mark.parametrize(
    ("test", "block"),
    [
        ("TEST(Strided, runs) { float *a; cudaMalloc(&a, 4096); k<<<8, 64>>>(a, 500); ASSERT_TRUE(a) << 1; }", 64),
        (_WITH_FIXTURE, 96),
        (_TYPED, 128),
    ],
)  # fmt: skip
def test_what_tests_launch(test: str, block: int, tmp_path: Path) -> None:
    facts = _analysed(tmp_path, f"#include <gtest/gtest.h>\n{_STRIDED}{test}\n")
    assert facts.problems == ()
    assert [(launch.source, launch.block) for launch in facts.kernels[0].launches] == [("launch-site", (block, 1, 1))]


def test_memory_on_the_device_that_a_container_holds(tmp_path: Path) -> None:
    text = """
    #include <rmm/device_uvector.hpp>
    #include <rmm/exec_policy.hpp>
    void run(rmm::cuda_stream_view stream) {
        rmm::device_uvector<float> a(1000, stream);
        k<<<8, 64, 0, stream>>>(a.data(), 500);
        k<<<8, 64, 0, stream.value()>>>(a.data(), a.size());
    }
    """
    [kernel] = _analysed(tmp_path, _STRIDED + text).kernels
    assert [launch.allocated for launch in kernel.launches] == [{"a": 4000}, {"a": 4000}]


def test_views_of_several_dimensions(tmp_path: Path) -> None:
    """32 elements that lie side by side are in 4 sectors, 32 that are 64 elements apart in one each, and those that are
    4 elements apart two to a sector."""
    text = """
    #include <cuda/std/mdspan>
    using namespace cuda::std;
    using Columns = mdspan<float, extents<int, dynamic_extent, dynamic_extent>, layout_left>;
    using Rows = mdspan<const float, extents<int, dynamic_extent, 64>>;
    using Any = mdspan<float, dextents<int, 2>, layout_stride>;
    __global__ void k(Columns a, Rows b, Any c) {
        int x = threadIdx.x + blockIdx.x * blockDim.x;
        for (int y = 0; y < a.extent(1); y++) a(x, y) = b(x, y) + c(x, y);
    }
    void run(float *p, float *q) {
        layout_stride::mapping<dextents<int, 2>> any(dextents<int, 2>(1024, 32), array<int, 2>{4, 4096});
        k<<<8, 128>>>(Columns(p, 1024, 32), Rows(q, extents<int, dynamic_extent, 64>(1024, 64)), Any(p, any));
    }
    """
    facts = _analysed(tmp_path, text)
    assert facts.problems == ()
    sectors = {a.array: a.results[0].sectors_per_request for a in facts.kernels[0].accesses}
    assert sectors == {"a._data": 4.0, "b._data": 32.0, "c._data": 16.0}


@pytest.mark.parametrize(
    ("iterator", "sectors"),
    [
        ("thrust::make_counting_iterator(0)", 4.0),
        # Elements 12 bytes apart: 384 bytes, of which each sector has some.
        ("thrust::make_transform_iterator(numbers, [=] __device__ (int i) { return 3 * i; })", 12.0),
        ("thrust::make_permutation_iterator(q, numbers)", None),
        ("thrust::device_ptr<int>(q)", None),
    ],
)  # fmt: skip
def test_what_iterators_give(iterator: str, sectors: float | None, tmp_path: Path) -> None:
    text = f"""
    #include <thrust/iterator/counting_iterator.h>
    #include <thrust/iterator/permutation_iterator.h>
    #include <thrust/iterator/transform_iterator.h>
    #include <thrust/device_ptr.h>
    template <class It> __global__ void k(It it, float *out) {{ out[it[blockIdx.x * 128 + threadIdx.x]] = 1; }}
    void run(int *q, float *out) {{
        auto numbers = thrust::make_counting_iterator(0);
        k<<<8, 128>>>({iterator}, out);
    }}
    """
    facts = _analysed(tmp_path, text)
    assert facts.problems == ()
    stored = next(access for access in facts.kernels[0].accesses if access.array == "out")
    status = "data-dependent" if sectors is None else "exact"
    assert (stored.results[0].status, stored.results[0].sectors_per_request) == (status, sectors)


def test_a_well_known_header_that_a_header_of_the_project_relies_on(tmp_path: Path) -> None:
    """The library that would have included it is not there."""
    (tmp_path / "sum.cuh").write_text(
        '#include "library/handle.h"\ntemplate <class T> __device__ T sum(T x) '
        "{ typedef cub::BlockReduce<T, 128> R; __shared__ typename R::TempStorage s; return R(s).Sum(x); }\n"
    )
    (tmp_path / "a.cu").write_text(
        '#include "sum.cuh"\n__global__ void k(float *a) { a[blockIdx.x] = sum(a[threadIdx.x]); }\n'
    )
    messages = _messages(parse_file(str(tmp_path / "a.cu"), ParseOptions()))
    assert messages == ["'library/handle.h' file not found", "`cub/cub.cuh` is not included; taken as if it were"]


def test_kernels_with_the_arguments_of_assertions_of_devices(tmp_path: Path) -> None:
    """They are launched by a macro, which gives these arguments."""
    facts = _analysed(
        tmp_path,
        "#include <c10/cuda/CUDADeviceAssertion.h>\n"
        "__global__ void k(float* a, TORCH_DSA_KERNEL_ARGS) { CUDA_KERNEL_ASSERT2(a); a[threadIdx.x * 2] = 0; }\n"
        "void f(float* a, cudaStream_t s) { TORCH_DSA_KERNEL_LAUNCH(k, 8, 128, 0, s, a); }\n",
    )
    [kernel] = facts.kernels
    [result] = [access.results[0] for access in kernel.accesses]
    # 32 floats that lie 8 bytes apart are 256 bytes, 8 sectors.
    assert ([tuple(launch.block) for launch in kernel.launches], result.sectors_per_request) == ([(128, 1, 1)], 8.0)
    assert not kernel.gaps

"""What CMake, Bazel and a setup.py say of a file: read and never run, whatever is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.frontend.parse_options import parse_options
from cudalint.frontend.recovery import folder_with
from cudalint.options.analysis import AnalysisOptions
from cudalint.system.disk import recorder as disk
from cudalint.toolchain.buildfiles.build import Build
from cudalint.toolchain.buildfiles.reading import build_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "LICENSE").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "k.cu").write_text("")
    return tmp_path


def _build(project: Path, name: str, text: str) -> Build:
    (project / name).write_text(text)
    disk.forget()
    return build_of(str(project / "src" / "k.cu"))


def _macros(build: Build) -> list[str]:
    return sorted(macro.definition for macro in build.macros)


def _possible(build: Build) -> list[str]:
    return sorted(macro.definition for macro in build.possible)


def test_cmake(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        """
        # add_definitions(-DNOT_THIS)
        #[[ add_definitions(-DNOR_THAT) ]]
        set(WIDTH "64" CACHE STRING "how wide (in lanes)")
        set(FROM ${PROJECT_SOURCE_DIR}/third party)
        set(CMAKE_CUDA_STANDARD 20)
        set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -O3 -DOF_FLAGS=1")
        add_definitions(-DFIRST "-DSECOND=2")
        if(WITH_MORE)
          add_compile_definitions(MORE=1)
        endif()
        include_directories(include ${UNKNOWN}/include)
        """
    )
    build = _build(
        project,
        "src/CMakeLists.txt",
        """
        add_library(ours STATIC k.cu)
        add_library(theirs STATIC other.cu)
        target_compile_definitions(ours PRIVATE WIDTH=${WIDTH} PUBLIC NAME=${UNKNOWN} $<$<CONFIG:Debug>:SLOW>)
        target_compile_definitions(theirs PRIVATE ALIEN)
        target_include_directories(ours PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/inner> "../lib;../lib2")
        """,
    )
    assert _macros(build) == ["FIRST", "OF_FLAGS=1", "SECOND=2", "WIDTH=64"]
    assert _possible(build) == ["ALIEN", "MORE=1"]
    assert build.standard == 20
    assert build.folders == tuple(str(project / each) for each in ("include", "src/inner", "lib", "lib2"))
    assert parse_options(str(project / "src" / "k.cu"), AnalysisOptions()).std == "c++20"


def test_a_header_in_a_folder_that_cmake_names(project: Path) -> None:
    (project / "a" / "b" / "c" / "deep").mkdir(parents=True)
    (project / "a" / "b" / "c" / "deep" / "shapes.h").write_text("")
    _build(project, "CMakeLists.txt", "target_include_directories(any PUBLIC a/b/c/deep)")
    assert folder_with(str(project / "src" / "k.cu"), "shapes.h") == str(project / "a" / "b" / "c" / "deep")


def test_setup(project: Path) -> None:
    build = _build(
        project,
        "setup.py",
        """
import os
from pathlib import Path
here = os.path.dirname(os.path.abspath(__file__))
macros = [("WITH_CUDA", None), ("LANES", "32"), ("USE_ROCM", None)]
macros += [("EXTRA", None)]
flags = {"cxx": ["-DHOST"], "nvcc": ["-O3", "-DOF_NVCC=2", "-std=c++20", f"-D{os.environ['SECRET']}"]}
if os.environ.get("ALL"):
    macros.append(("ALL", None))
setup(ext_modules=[CUDAExtension(
    "name", [], include_dirs=[os.path.join(here, "csrc", "include"), Path(here) / "lib", unknown()],
    define_macros=macros, extra_compile_args=flags)])
""",
    )
    assert _macros(build) == []
    assert _possible(build) == ["ALL", "EXTRA", "LANES=32", "OF_NVCC=2", "WITH_CUDA"]
    assert build.folders == (str(project / "csrc/include"), str(project / "lib"))
    assert build.standard == 20


def test_bazel(project: Path) -> None:
    build = _build(
        project,
        "src/BUILD.bazel",
        """
load("//tools:cuda.bzl", "cuda_library")
COPTS = ["-DOURS=1", "-Iinclude", "--std=c++20"]
cuda_library(name = "k", srcs = [":k.cu"], copts = COPTS + ["-DTWO"], includes = ["inner"], local_defines = ["THREE=3"])
cuda_library(name = "l", srcs = ["l.cu"], copts = select({"//:on": ["-DALIEN"]}), defines = ["OTHER"])
""",
    )
    assert _macros(build) == ["OURS=1", "THREE=3", "TWO"]
    assert _possible(build) == ["OTHER"]
    assert build.folders == (str(project / "include"), str(project / "src/inner"))
    assert build.standard == 20


_SUMS = "".join(f"a{n + 1} = a{n} + a{n}\n" for n in range(60))
_DOUBLING = f"a0 = ['x', 'y']\n{_SUMS}E(include_dirs=a60, copts=a60)\n"
_TWICE = "set(A ${A}${A})\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CMakeLists.txt", _TWICE * 50 + "set(A xx)\n" + _TWICE * 60 + "add_definitions(-D${A})"),
        ("CMakeLists.txt", "(" * 100_000),
        ("CMakeLists.txt", 'add_definitions("-DX' + "\\" * 100_001),
        ("CMakeLists.txt", "if(" * 50_000 + ")" * 50_000 + "endif()" * 50_000),
        ("CMakeLists.txt", "add_definitions([===[ -DX ]==] )\n#[==[ never closed"),
        ("CMakeLists.txt", "add_definitions(-DX=`id` -DY=$(id) '-DZ=1;rm')\ninclude_directories(/etc ../../..)"),
        ("setup.py", _DOUBLING),
        ("setup.py", "E(include_dirs=" + "[" * 500 + "]" * 500 + ")"),
        ("setup.py", "E(include_dirs=" + "+".join(["a"] * 20_000) + ")"),
        ("setup.py", "a = a + [a]\nE(include_dirs=a, define_macros=a, extra_compile_args=a)"),
        ("setup.py", "\0"),
        ("src/BUILD", _DOUBLING),
        ("src/BUILD", "x(copts = 3, defines = {1: 2}, srcs = [['k.cu']], **{'includes': 1})"),
    ],
)  # fmt: skip
def test_what_is_hostile_costs_nothing(project: Path, name: str, text: str) -> None:
    build = _build(project, name, text)
    assert all(len(macro.definition) < 5_000 for macro in (*build.macros, *build.possible))
    assert all(macro.definition.replace("=", "").isidentifier() for macro in build.macros)


def test_nothing_is_run(project: Path) -> None:
    ran = project / "ran"
    for name in ("setup.py", "src/BUILD"):
        _build(project, name, f"open({str(ran)!r}, 'w')\nE(include_dirs=[open({str(ran)!r}, 'w')])")
    _build(project, "CMakeLists.txt", f"execute_process(COMMAND touch {ran})\nfile(WRITE {ran} x)")
    assert not ran.exists()


def test_folders_out_of_the_project_are_not_searched(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.h").write_text("int secret;")
    source = project / "src" / "k.cu"
    source.write_text('#include "secret.h"\n__global__ void k(int* a) { *a = secret; }\n')
    _build(project, "CMakeLists.txt", f"include_directories({outside})")
    from cudalint.frontend.flags import ParseOptions
    from cudalint.frontend.parse import parse_file

    messages = [problem.message for problem in parse_file(str(source), ParseOptions()).problems]
    assert "'secret.h' file not found" in messages


def test_options_that_cmake_has_for_cuda_alone(project: Path) -> None:
    text = """add_library(ours k.cu)
    target_compile_options(ours PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-DLANES=32 -O3> $<$<COMPILE_LANGUAGE:CXX>:-DHOST>)
    """
    assert _macros(_build(project, "src/CMakeLists.txt", text)) == ["LANES=32"]


def test_other_files_of_commands(project: Path) -> None:
    (project / "cmake").mkdir()
    (project / "cmake" / "Sizes.cmake").write_text("set(LANES 64)")
    (project / "cmake" / "Flags.cmake").write_text("add_compile_definitions(LANES=${LANES})\ninclude(Flags)")
    text = "list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)\ninclude(cmake/Sizes.cmake)\ninclude(Flags)\n"
    assert _macros(_build(project, "CMakeLists.txt", text)) == ["LANES=64"]


def test_no_commands_of_others(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "flags.cmake"
    other.write_text("add_definitions(-DOF_OTHERS)")
    assert _macros(_build(project, "CMakeLists.txt", f"include({other})")) == []


def test_what_linked_targets_hand_on(project: Path) -> None:
    (project / "library").mkdir()
    (project / "library" / "CMakeLists.txt").write_text(
        """
        add_library(library INTERFACE)
        add_library(library::library ALIAS library)
        target_include_directories(library INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/api PRIVATE own)
        target_compile_definitions(library PUBLIC LANES=32 PRIVATE OWN)
        add_definitions(-DALL_OF_THE_LIBRARY)
        """
    )
    text = "add_library(ours src/k.cu)\ntarget_link_libraries(ours PUBLIC library::library)\n"
    text += "add_subdirectory(library)\n"
    build = _build(project, "CMakeLists.txt", text)
    assert (_macros(build), build.folders) == (["LANES=32"], (str(project / "library" / "api"),))
    other = _build(project, "CMakeLists.txt", text.replace("ours PUBLIC", "theirs PUBLIC"))
    assert (_macros(other), other.folders) == ([], ())


@pytest.mark.parametrize(
    ("said", "folder"),
    [
        ("", "build/_deps/tiny-src"),
        ("set(FETCHCONTENT_SOURCE_DIR_TINY ${CMAKE_SOURCE_DIR}/third_party/tiny)", "third_party/tiny"),
    ],
)
def test_what_cmake_fetches(project: Path, said: str, folder: str) -> None:
    text = f"{said}\nFetchContent_Declare(Tiny GIT_TAG v1)\ninclude_directories(${{tiny_SOURCE_DIR}}/include)\n"
    assert _build(project, "CMakeLists.txt", text).folders == (str(project / folder / "include"),)


def test_a_header_that_cmake_writes(project: Path) -> None:
    (project / "src" / "config.h.in").write_text(
        "#define LANES @LANES@\n#define OPEN @OPEN@\n"
        "#cmakedefine WITH_MORE\n#cmakedefine LESS\n#cmakedefine01 LESS_YET\n"
    )
    text = "set(LANES 64)\nset(WITH_MORE ON)\nconfigure_file(src/config.h.in config.h)\n"
    assert _macros(_build(project, "CMakeLists.txt", text)) == ["LANES=64", "LESS_YET=0", "WITH_MORE"]


def test_scikit_build_core(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "set(LANES 64 CACHE STRING lanes)\nadd_definitions(-DLANES=${LANES} -DMORE=${MORE})\n"
    )
    text = """[tool.scikit-build]
    cmake.args = ["-DLANES:STRING=96", "-G", "Ninja"]
    cmake.define.MORE = true
    """
    assert _macros(_build(project, "pyproject.toml", text)) == ["LANES=96", "MORE=ON"]
    assert _macros(_build(project, "pyproject.toml", "[tool]\nscikit-build = 3")) == ["LANES=64"]


def test_extension_modules_of_setuptools(project: Path) -> None:
    text = """[[tool.setuptools.ext-modules]]
    name = "ours._C"
    sources = ["src/k.cu"]
    include-dirs = ["api"]
    define-macros = [["LANES", "96"], ["WITH_MORE"]]
    extra-compile-args = ["-O3", "-std=c++17", "-DLESS=1"]
    """
    build = _build(project, "pyproject.toml", text)
    assert _possible(build) == ["LANES=96", "LESS=1", "WITH_MORE"]
    assert (build.folders, build.standard) == ((str(project / "api"),), 17)


def test_what_rules_of_bazel_depend_on(project: Path) -> None:
    (project / "base").mkdir()
    (project / "base" / "BUILD").write_text(
        'cc_library(name = "base", defines = ["LANES=96"], local_defines = ["OWN"], deps = [":least"])\n'
        'cc_library(name = "least", includes = ["api"])\n'
    )
    build = _build(project, "src/BUILD", 'cuda_library(name = "k", srcs = ["k.cu"], deps = ["//base", "@other//:x"])')
    assert (_macros(build), build.folders) == (["LANES=96"], (str(project / "base" / "api"),))


def test_a_makefile_above_names_the_source(project: Path) -> None:
    rule = "FLAGS = -DLANES=96\nobj/%.o: src/%.cu\n\tnvcc $(FLAGS) -c $< -o $@\n"
    assert _macros(_build(project, "Makefile", rule)) == ["LANES=96"]
    assert _macros(_build(project, "Makefile", rule.replace("src/%.cu", "lib/%.cu"))) == []

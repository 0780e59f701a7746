"""The least GPU that build files compile a file for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.project.settings import CommandLine, Settings
from cudalint.toolchain.buildfiles.architectures import least_architecture


@pytest.mark.parametrize(
    ("name", "text", "least"),
    [
        ("Makefile", "main: main.cu\n\tnvcc -arch=sm_90a main.cu\n", 90),
        ("Makefile", "ARCH = sm_100\nFLAGS = -arch $(ARCH)\n%.o: %.cu\n\tnvcc $(FLAGS) -c $< -o $@\n", 100),
        (
            "Makefile",
            "main: main.cu\n\tnvcc -gencode arch=compute_100,code=sm_100 -gencode=arch=compute_90,code=sm_90 main.cu\n",
            90,
        ),
        # One command says nothing of it, or the file is not compiled there.
        ("Makefile", "a: main.cu\n\tnvcc -arch=sm_90 main.cu\nb: main.cu\n\tnvcc main.cu\n", None),
        ("Makefile", "main: other.cu\n\tnvcc -arch=sm_90 other.cu\n", None),
        ("Makefile", "main: main.cu\n\tnvcc -arch=native main.cu\n", None),
        ("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 90a 100)\n", 90),
        ("CMakeLists.txt", 'set(CMAKE_CUDA_ARCHITECTURES "100-real;120-virtual" CACHE STRING "" FORCE)\n', 100),
        ("CMakeLists.txt", "set_target_properties(main PROPERTIES CUDA_ARCHITECTURES 90)\n", 90),
        # Another list has what only CMake knows, or a comment stands there.
        ("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 90)\nset(CMAKE_CUDA_ARCHITECTURES ${MINE})\n", None),
        ("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES native)\n", None),
        ("CMakeLists.txt", "# set(CMAKE_CUDA_ARCHITECTURES 90)\n", None),
    ],
)
def test_the_least_gpu_that_a_file_is_built_for(tmp_path: Path, name: str, text: str, least: int | None) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "main.cu").touch()
    assert least_architecture(str(tmp_path / "main.cu")) == least


@pytest.mark.parametrize(
    ("architecture", "said", "target"),
    [
        ("sm_90", None, "h100"),
        # The default is an A100, of 8.0: what is built for older ones too is judged by it.
        ("sm_60", None, "a100"),
        # What the user says counts.
        ("sm_90", "a100", "a100"),
    ],
)
def test_a_build_is_a_lower_bound_of_the_target(
    tmp_path: Path, architecture: str, said: str | None, target: str
) -> None:
    (tmp_path / "Makefile").write_text(f"main: main.cu\n\tnvcc -arch={architecture} main.cu\n")
    (tmp_path / "main.cu").touch()
    settings = Settings(CommandLine(AnalysisOptions(target=said or "a100"), target=said))
    assert settings.of(str(tmp_path / "main.cu")).options.target == target

"""All that the build files of a project say of a file: Makefiles, CMake, Bazel, and what packages of
Python have for their extensions."""

from __future__ import annotations

from cudalint.heuristics import heuristic
from cudalint.system.disk import recorder as disk
from cudalint.toolchain.buildfiles.build import Build, together
from cudalint.toolchain.buildfiles.cmake import cmake_build
from cudalint.toolchain.buildfiles.macros import makefile_macros
from cudalint.toolchain.buildfiles.pyproject import pyproject_build
from cudalint.toolchain.buildfiles.python_files import bazel_build, setup_build


@disk.question
@heuristic("build-macros", "`-D` of Makefiles, and what CMake, Bazel and setup.py define").otherwise(Build())
def build_of(path: str) -> Build:
    """What is said of a file; where several speak of it, a Makefile in its folder first."""
    of_python = (setup_build(path), pyproject_build(path))
    return together([Build(makefile_macros(path)), cmake_build(path), bazel_build(path), *of_python])

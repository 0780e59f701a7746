"""Which files changes can reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.launches.program.changed import Reach

FILES = {
    "a/plain.cu": "int a;",
    "b/direct.cu": '#include "b.h"\n',
    "b/b.h": "int b;",
    "c/indirect.cu": '#include "../b/middle.h"\n',
    "b/middle.h": '  #  include "b.h"\n',
    "d/searched.cu": "#include <lib/deep.h>\n",
    "include/lib/deep.h": '#include "deeper.h"\n',
    "include/lib/deeper.h": "int d;",
    "e/system.cu": "#include <cuda_runtime.h>\n#include <vector>\n",
    "f/lost.cu": '#include "generated.h"\n',
    "g/macro.cu": "#include HEADER\n",
    "h/kernel.cu": "__global__ void k() {}",
    "h/main.cpp": "int main() {}",
    "h/deep/far.cu": "int f;",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path.resolve()


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("a/plain.cu", {"a/plain.cu", "g/macro.cu"}),
        # A header that isn't found may be the one that changed.
        ("b/b.h", {"b/direct.cu", "c/indirect.cu", "f/lost.cu", "g/macro.cu"}),
        ("include/lib/deeper.h", {"d/searched.cu", "f/lost.cu", "g/macro.cu"}),
        # Host code beside a kernel, or in the folder above, launches it.
        ("h/main.cpp", {"h/kernel.cu", "h/deep/far.cu", "g/macro.cu"}),
        ("elsewhere.cu", {"g/macro.cu"}),
    ],
)
def test_what_a_change_reaches(project: Path, changed: str, reached: set[str]) -> None:
    reach = Reach([str(project / changed)])
    sources = [name for name in FILES if name.endswith(".cu")]
    found = {name for name in sources if reach.reaches(str(project / name), [str(project / "include")])}
    assert found == reached


def test_without_changes_nothing_is_reached(project: Path) -> None:
    assert not Reach([]).reaches(str(project / "g/macro.cu"), [])

"""Files of this very project, among whose folders are the stand-ins for headers: they are read as anybody's are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.frontend.flags import HEADERS_ROOT, LIBRARIES_ROOT, is_bundled
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ROOT = Path(__file__).parent.parent.parent
_FIXTURE = "fixtures/uncoalesced-access/glm_vectors.cu"


def _places(path: str) -> list[tuple[str, int, int, str]]:
    accesses = (access for kernel in analyse_file(path, AnalysisOptions()).kernels for access in kernel.accesses)
    found = ((each.place.path, each.place.line, each.place.column, each.array) for each in accesses)
    return [(Path(name).name, *where) for name, *where in found]


def test_what_is_bundled_is_nobodys_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / Path(_FIXTURE).name
    elsewhere.write_bytes((_ROOT / _FIXTURE).read_bytes())
    monkeypatch.chdir(_ROOT)
    assert _places(_FIXTURE) == _places(str(elsewhere)) == _places(str(_ROOT / _FIXTURE))


def test_paths_are_compared_however_they_are_spelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_ROOT)
    relative = Path(LIBRARIES_ROOT).relative_to(_ROOT)
    assert is_bundled(str(relative / "glm" / "glm.hpp"))
    assert is_bundled(f"./fixtures/../{relative}")
    assert not is_bundled(_FIXTURE)
    assert not is_bundled(f"{HEADERS_ROOT}-of-mine/glm.hpp")

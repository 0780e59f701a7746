"""What is printed doesn't tell whether it comes from the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.run.cache.entries import size_of
from cudalint.system.disk.cache_folder import FOLDER_VARIABLE, results_folder

ROOT = Path(__file__).parents[3]
FILES = [
    *sorted(ROOT.glob("examples/*.cu")),
    *(min(folder.glob("*.cu"), key=lambda path: path.stat().st_size) for folder in sorted(ROOT.glob("fixtures/*"))),
]
"""The examples, and the shortest case of each rule."""
FORMATS = {
    "pictures": (("--format", "text", "--show", "--color"),),
    "documents": (("--format", "json"), ("--format", "sarif"), ("--format", "text", "--no-show"), ("--statistics",)),
}


@pytest.mark.parametrize("formats", FORMATS.values(), ids=FORMATS.keys())
def test_reports_are_the_same_to_the_byte(
    formats: tuple[tuple[str, ...], ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """The formats of a set rest on the same results, with or without pictures."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.delenv("CUDALINT_NO_CACHE")
    monkeypatch.chdir(ROOT)
    names = [str(path.relative_to(ROOT)) for path in FILES]

    def printed(format_: tuple[str, ...], *options: str) -> tuple[int, bytes, bytes]:
        status = run([*names, "--select", "ALL", *format_, *options])
        out, err = capfdbinary.readouterr()
        # How far a run is, is told where it takes long.
        return status, out, b"\n".join(line for line in err.split(b"\n") if b" files done, at " not in line)

    uncached = printed(formats[0], "--no-cache", "-j1")
    first = printed(formats[0], "-j2")
    assert size_of(results_folder() or "").entries == len(FILES)
    assert first == uncached
    again = {format_: printed(format_, "-j1") for format_ in formats}
    assert again[formats[0]] == uncached
    assert {format_: printed(format_, "-j2") for format_ in formats} == again

"""Whatever a text is: no internal error, no lost run, no invalid report; and what means the same has the same findings.

The same examples are drawn each time. `benchmarks/fuzz.py` goes on for longer, with files of real repositories.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import documents
import kernels
import mutating
import pieces
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudalint.cli import run
from cudalint.project.formats import FORMATS

_SEEDS = [path.read_bytes() for path in sorted(Path(__file__).with_name("seeds").glob("*.cu"))]
_DRAW = st.randoms(use_true_random=False)
_FEW = settings(
    max_examples=5, derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
_BATCH = 4
EVERYTHING = ("--select", "ALL", "--min-share", "0")
"""What the sieve would leave out, too; half of the texts are linted as they are for most users."""
_SHOWN: Final = (EVERYTHING, ())
Linted = Callable[..., tuple[int, str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Linted:
    """Writes all reports of some texts, and tells the exit status and what stderr says."""
    monkeypatch.chdir(tmp_path)

    def call(*texts: bytes, options: Sequence[str] = EVERYTHING, suffix: str = ".cu") -> tuple[int, str]:
        names = [f"m{number:03}{suffix}" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (tmp_path / name).write_bytes(text)
        outputs = [word for each in FORMATS for word in ("--output", f"{each}={each}.report")]
        fixed = ["check", "-j1", "--no-config", "--time-limit", "10", "--quiet"]
        status = run([*fixed, *options, *outputs, *names])
        return status, capfd.readouterr().err

    return call


def _assert_sound(status: int, err: str) -> None:
    assert status in (0, 1, 2)
    assert not re.search("internal error|Traceback|left out|can't be made|cannot be written", err), err
    assert list(documents.of_lines(err)) == []
    for format_ in FORMATS:
        assert list(documents.problems(format_, Path(f"{format_}.report"), os.curdir)) == []


@_FEW
@given(draw=_DRAW)
def test_spoiled_files(lint: Linted, draw: random.Random) -> None:
    texts = [mutating.mutant(draw.choice(_SEEDS), _SEEDS, draw) for _ in range(_BATCH)]
    _assert_sound(*lint(*texts, options=draw.choice(_SHOWN)))


@_FEW
@given(draw=_DRAW)
def test_python_around_spoiled_files(lint: Linted, draw: random.Random) -> None:
    texts = [mutating.as_python(mutating.mutant(draw.choice(_SEEDS), _SEEDS, draw), draw) for _ in range(_BATCH)]
    _assert_sound(*lint(*texts, options=draw.choice(_SHOWN), suffix=".py"))


@_FEW
@given(draw=_DRAW)
def test_made_up_kernels(lint: Linted, draw: random.Random) -> None:
    texts = [kernels.kernel(draw).encode() for _ in range(_BATCH)]
    _assert_sound(*lint(*texts, options=draw.choice(_SHOWN)))


@_FEW
@given(draw=_DRAW)
def test_spoiled_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: random.Random) -> None:
    """Only stderr counts: a configuration that can't be used is told, and costs the files."""
    monkeypatch.chdir(tmp_path)
    Path("json.report").unlink(missing_ok=True)
    surroundings = mutating.surroundings(draw)
    for name in pieces.SURROUNDINGS:
        Path(name).unlink(missing_ok=True)
    for name, text in surroundings.items():
        Path(name).write_bytes(text)
    Path("m000.cu").write_bytes(_SEEDS[0])
    before = set(os.listdir())
    assert run(["check", "-j1", "--quiet", "--output", "json=json.report", "m000.cu"]) in (0, 1, 2)
    assert set(os.listdir()) - before <= {"json.report"}


def _findings(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[Any, ...]]:
    capfd.readouterr()
    run(["check", "--no-config", *EVERYTHING, "--format", "json", *arguments])
    document = json.loads(capfd.readouterr().out)
    # In which of several lines that are one in another text something stands is no difference.
    return sorted((d["path"], d["code"], re.sub(r"line \d+", "line", d["message"])) for d in document["diagnostics"])


@_FEW
@given(draw=_DRAW)
def test_what_means_the_same_has_the_same_findings(
    draw: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Other spaces and comments, other names, another order, more workers, results that are kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDALINT_NO_CACHE", "")
    text = kernels.kernel(draw, edges=False)
    names = {"lane": "element", "kernel": "other", "q": "indices", "i": "at"}
    renamed = re.sub(r"\b(lane|kernel|q|i)\b", lambda word: names[word[0]], text)
    spaced = re.sub(r"([;{}])\n", r"\1 /* a */\n\n", text).replace(" + ", "\t+ ")
    folders = {"plain": text, "renamed": renamed, "spaced": spaced}
    for folder, written in folders.items():
        Path(folder).mkdir(exist_ok=True)
        (Path(folder) / ".git").mkdir(exist_ok=True)
        (Path(folder) / "k.cu").write_text(written)
    cached = ("--cache-dir", str(tmp_path / "cache"))
    together = _findings(capfd, "-j1", "--no-cache", *(f"{folder}/k.cu" for folder in folders))
    assert _findings(capfd, "-j2", *cached, *(f"{folder}/k.cu" for folder in reversed(folders))) == together
    assert _findings(capfd, "-j1", *cached, *(f"{folder}/k.cu" for folder in folders)) == together
    codes = {folder: [code for path, code, _ in together if path.startswith(folder)] for folder in folders}
    assert codes["renamed"] == codes["plain"]
    assert codes["spaced"] == codes["plain"]

"""`cudalint` as a fixture: command lines with an analysis and two rules of known behaviour in the place of the real
ones. Tests that import the command line have the real ones."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from handmade import TILE_SOURCE, column_read, file_facts, strided_load

from cudalint import registry
from cudalint.cli import run
from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts, KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.rule import Rule, RuleContext
from cudalint.shortfalls import Shortfall
from cudalint.system.disk.encoding import to_bytes


class BankConflict(Rule):
    """Finds the conflict of the handmade kernel."""

    code, name, severity, summary = "CL201", "bank-conflict", "warning", "a double"

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        yield column_read(kernel.place.path)


class Uncoalesced(Rule):
    """Off by default, for tests of selection."""

    code, name, severity, summary, on_by_default = "CL101", "uncoalesced-access", "warning", "a double", False

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        yield strided_load(kernel.place.path)


def _analyse_file(path: str, options: AnalysisOptions, *_: object) -> FileFacts:
    from cudalint.frontend.reading import SourceError

    text = dict(options.unsaved).get(path)
    data = Path(path).read_bytes() if text is None else to_bytes(text)
    if b"\0" in data:
        raise SourceError(f"{path}:1:4: not a text file (it has a NUL byte here)")
    if b"CRASH" in data:
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)
    while b"BUSY" in data:
        pass
    if b"HANG" in data:
        time.sleep(60)
    if b"RAISE" in data:
        raise AssertionError("a bug")
    late = Shortfall("given up after 12 s", "warning" if b"PARTLY" in data else "error")
    failures = (late,) if b"SLOW" in data else ()
    parameters = frozenset({("tile32", "out"), ("tile32", "width")})
    if b"__global__" not in data:
        return file_facts(path, kernels=())
    return file_facts(path, failures=failures, parameters=parameters)


@pytest.fixture
def doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("cudalint.run.analysis")
    module.analyse_file = _analyse_file  # type: ignore[attr-defined]
    module.Hooks = module.analyse_edited = lambda *_: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cudalint.run.analysis", module)
    annotation_rules = tuple(rule for rule in registry.all_rules() if not issubclass(rule, Rule))
    monkeypatch.setattr(registry, "all_rules", lambda: (Uncoalesced, BankConflict, *annotation_rules))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and none of the variables that runners of continuous integration set."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def tile(project: Path) -> str:
    (project / "tile.cu").write_text(TILE_SOURCE)
    return "tile.cu"


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


@pytest.fixture
def cudalint(doubles: None, capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs a command line in this process; workers are real."""

    def call(*arguments: str) -> Result:
        status = run(arguments)
        captured = capfd.readouterr()
        return Result(status, captured.out, captured.err)

    return call


@pytest.fixture
def real_cudalint(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Command lines with the real analysis and rules, in this process."""

    def call(*line: str) -> Result:
        status = run(line)
        return Result(status, *capsys.readouterr())

    return call

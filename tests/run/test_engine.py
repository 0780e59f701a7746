"""One file's way through rules, suppressions and the rules about annotations."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from handmade import TILE_SOURCE, column_read, file_facts, kernel, sample
from msgspec.structs import replace

from cudalint import registry
from cudalint.diagnostics import Diagnostic, Picture
from cudalint.facts import FileFacts, KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.rule import Rule, RuleContext
from cudalint.run import file_facts as failing
from cudalint.run import file_findings as engine
from cudalint.run.file_findings import report_on
from cudalint.run.job import CheckJob
from cudalint.shortfalls import Shortfall
from cudalint.system.processes import time_limit


class BankConflict(Rule):
    """A double that finds the handmade conflict."""

    code, name, severity, summary = "CL201", "bank-conflict", "warning", "a double"
    thresholds = {"ways": 2.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        assert context.thresholds == {"ways": 2.0}
        assert context.target.name == "a100"
        if kernel.accesses:
            yield column_read(kernel.place.path)


@pytest.fixture(autouse=True)
def _rules(monkeypatch: pytest.MonkeyPatch) -> None:
    annotation_rules = tuple(rule for rule in registry.all_rules() if not issubclass(rule, Rule))
    monkeypatch.setattr(registry, "all_rules", lambda: (BankConflict, *annotation_rules))


def _report(
    source: str, facts: FileFacts | None = None, selection: Selection | None = None, pictures: bool = False
) -> FileReport:
    options = AnalysisOptions(unsaved=(("tile.cu", source),))
    return report_on(facts or file_facts(), CheckJob("tile.cu", options, selection or Selection(), pictures))


def _codes(report: FileReport) -> list[str]:
    return [diagnostic.code for diagnostic in (*report.diagnostics, *(d for _, d in report.unused))]


def test_a_plain_file() -> None:
    report = _report(TILE_SOURCE)
    assert _codes(report) == ["CL201"]
    assert (report.status, report.sources) == ("ok", {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("t[x][y];", "t[x][y];  // cudalint: allow(bank-conflict) -- measured"),
        ("t[x][y];", "t[x][y];  /* cudalint: allow(CL101, cl201) -- measured */"),
        ("    out[y", "\n// cudalint: allow(CL201) -- measured\n\n    #pragma nothing\n    out[y"),
        ("// Transposes", "// cudalint: allow-kernel(CL201) -- measured\n// Transposes"),
        ("__syncthreads", "// cudalint: allow-kernel(CL201) -- measured\n__syncthreads"),
        ("#include", "// cudalint: allow-file(CL201) -- measured\n#include"),
    ],
)
def test_suppressions(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = TILE_SOURCE.replace(old, new, 1)
    shift = next(n for n, line in enumerate(source.splitlines(), 1) if "t[x][y]" in line) - 10
    start = next(n for n, line in enumerate(source.splitlines(), 1) if "__global__" in line)
    moved = kernel(first_line=start, last_line=11 + shift)

    class Moved(BankConflict):
        def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
            found = column_read()
            place = found.place._replace(line=10 + shift, end_line=10 + shift)
            yield replace(found, place=place)

    monkeypatch.setattr(registry, "all_rules", lambda: (Moved,))
    report = _report(source, file_facts(kernels=(moved,)))
    assert _codes(report) == []
    assert len(report.used) == 1


@pytest.mark.parametrize(
    "comment",
    [
        "t[y][x] = 0; // cudalint: allow(CL201) -- another line",
        "// cudalint: allow-kernel(bank-conflict) -- above no kernel",
        "x; // cudalint: allow(uncoalesced-access) -- another rule, which did not run",
    ],
)
def test_suppressions_elsewhere_suppress_nothing(comment: str) -> None:
    report = _report(f"{TILE_SOURCE}\n{comment}")
    assert [d.code for d in report.diagnostics] == ["CL201"]
    assert len(report.unused) == (0 if "uncoalesced" in comment else 1)


@pytest.fixture
def no_collecting() -> Iterator[None]:
    """Hypothesis is called at each garbage collection: what interrupts that is lost, and said to be an error."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing interrupts")
def test_a_rule_that_takes_too_long_costs_what_it_has_to_say(
    monkeypatch: pytest.MonkeyPatch, no_collecting: None
) -> None:
    class Endless(Rule):
        """Never done."""

        code, name, severity, summary = "CL299", "endless", "warning", "a double"

        def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
            while True:
                yield column_read(kernel.place.path)

    monkeypatch.setattr(registry, "all_rules", lambda: (BankConflict, Endless))
    time_limit.begin(0.5)
    try:
        report = _report(TILE_SOURCE)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert _codes(report) == ["CL201"]
    message = "CL299 is not checked for `tile32`: the time limit is too short; --time-limit gives more time"
    assert report.failures == (Shortfall(message, "warning", ("tile32",), 1, is_late=True),)


def test_what_a_rule_could_not_look_at_is_told_once_however_many_kernels_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Late(Rule):
        """Has no time for any kernel."""

        code, name, severity, summary = "CL299", "late", "warning", "a double"

        def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
            raise time_limit.OutOfTime
            yield

    class LateToo(Late):
        code, name = "CL298", "late-too"

    class Broken(Rule):
        """Fails for every kernel, and for each in words of its own."""

        code, name, severity, summary = "CL297", "broken", "warning", "a double"

        def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
            raise ValueError(kernel.name)
            yield

    monkeypatch.setattr(registry, "all_rules", lambda: (Broken, LateToo, Late))
    names = [f"k{number}" for number in range(2000)]
    kernels = tuple(replace(kernel("tile.cu"), name=name) for name in names)
    failed, late = _report(TILE_SOURCE, file_facts(kernels=kernels)).failures
    first = "`k0`, `k1`, `k2`, `k3`, `k4` and 1995 more kernels"
    limit = "the time limit is too short; --time-limit gives more time"
    named = ("k0", "k1", "k2", "k3", "k4")
    message = f"CL298, CL299 are not checked for {first}: {limit}"
    assert late == Shortfall(message, "warning", named, 2000, is_late=True)
    line = Broken.check.__code__.co_firstlineno + 1
    error = f"ValueError: k0, raised at {__file__}:{line} (CUDALINT_DEBUG=1 shows how), and 1999 more reasons"
    assert failed == Shortfall(f"CL297 is not checked for {first}: {error}", "error", late.kernels, 2000)


def test_unused_suppressions_say_what_to_do() -> None:
    report = _report("// cudalint: allow-file(CL201, bank-conflict) -- why", file_facts(kernels=()))
    (_, first), (_, second) = report.unused
    assert first.message == "`allow-file(CL201)` suppresses nothing: CL201 finds nothing in this file"
    assert first.suggestion is not None
    assert first.suggestion.edits[0].text == "cudalint: allow-file(bank-conflict) -- why"
    assert second.place == first.place


def test_nothing_is_called_unused_in_a_file_that_was_not_understood() -> None:
    facts = file_facts(kernels=(), status="partial")
    report = _report("// cudalint: allow-file(CL201) -- why\n// cudalint: assume(K > 0)\n", facts)
    assert _codes(report) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("// cudalint: allow(bank-conflicts) -- why", "no rule is called `bank-conflicts`"),
        ("// cudalint: allow(CL2) -- why", "no rule is called `CL2`"),
        ("// cudalint: allow(CL201)", "gives no reason"),
        ("// cudalint: launch(block = 8)", "`launch` stands neither above a kernel nor inside one"),
        ("// cudalint: assume(K > 0)", "`assume` stands neither above a kernel nor inside one"),
    ],
)
def test_bad_annotations(comment: str, message: str) -> None:
    report = _report(f"{TILE_SOURCE}\n{comment}\n")
    (complaint,) = (d for d in report.diagnostics if d.code == "CL903")
    assert message in complaint.message
    assert complaint.place.line == len(TILE_SOURCE.splitlines()) + 2


@pytest.mark.parametrize(
    "source",
    [
        "// cudalint: launch(block = 8)\n" + TILE_SOURCE[TILE_SOURCE.index("__global__") :],
        "#if 0\n// cudalint: launch(block = 8)\n__global__ void off() {}\n#endif\n",
        "// cudalint: allow-file(shared-race) -- a rule that another version has\n",
    ],
)
def test_good_annotations_are_not_reported(source: str) -> None:
    facts = file_facts(kernels=(kernel(accesses=(), first_line=2, last_line=9),))
    report = _report(source, facts, Selection(ignore=("CL201",)))
    assert _codes(report) == []


def test_the_rules_about_annotations_can_be_left_out() -> None:
    report = _report("// cudalint: nonsense", selection=Selection(ignore=("CL9",)))
    assert _codes(report) == ["CL201"]


def test_annotations_of_headers_count(tmp_path: Path) -> None:
    header = tmp_path / "tile.cuh"
    header.write_bytes(
        TILE_SOURCE.replace("t[x][y];", "t[x][y]; // cudalint: allow(CL201) -- gr\xf6\xdfe").encode("latin-1")
    )
    path = str(header)
    facts = file_facts(kernels=(kernel(path),), sources={"tile.cu": "tile.cu", path: path})
    report = _report("", facts)
    assert _codes(report) == []
    assert report.sources == {str(header.resolve()): path}


def test_pictures_travel_only_when_asked_for() -> None:
    assert _report(TILE_SOURCE).diagnostics[0].picture is None
    assert _report(TILE_SOURCE, pictures=True).diagnostics[0].picture is not None


def test_only_the_drawn_request_travels() -> None:
    one = sample(lambda lane: 4 * lane)
    addresses = np.concatenate([one.addresses, one.addresses + 128])
    both = replace(
        one,
        addresses=addresses,
        mask=np.concatenate([one.mask] * 2),
        weights=np.ones(2),
        warps=np.array([0, 7]),
        subscripts=(addresses,),
    )
    slim = engine._slim(Picture("banks", both, 1, 4))
    assert slim.request == 0
    assert slim.sample.addresses.tolist() == (one.addresses + 128).tolist()
    assert slim.sample.warps.tolist() == [7]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("a.cu: cannot read it: Permission denied", "cannot read it: Permission denied"),
        ("a.cu:3:7: not a text file", "not a text file (line 3, column 7)"),
        ("something else\nin two lines", "something else in two lines"),
    ],
)
def test_messages_without_path(message: str, expected: str) -> None:
    assert failing._message_without_path(message, "a.cu") == expected

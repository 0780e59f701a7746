"""CL902: what each kernel with a gap lacks, and one line for all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cudalint.rules.cl902_incomplete_analysis import IncompleteAnalysis
from handmade import access, column_read, file_facts, kernel, launch
from linting import lint

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts, Gap, KernelFacts, Problem
from cudalint.facts.files import not_resolved
from cudalint.hardware.targets import find_target
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.causes import merged_by_cause
from cudalint.report.findings.merging import merge
from cudalint.report.findings.results import CheckResult, coverage_of, is_seen_into
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import diagnostics_json
from cudalint.report.formats.presentation import Presentation
from cudalint.report.formats.wording import summary
from cudalint.rule import RuleContext
from cudalint.run.file_facts import analyse


def _check(facts: KernelFacts, *problems: Problem) -> list[Diagnostic]:
    file = file_facts(problems=problems)
    return list(IncompleteAnalysis().check(facts, RuleContext(file, find_target("a100"))))


def test_dependence_on_data_is_no_gap() -> None:
    assert _check(kernel(accesses=[access(8, "data-dependent"), access(10)])) == []


def test_reasons_are_counted() -> None:
    accesses = [access(8, "unknown"), access(9, "unknown"), access(10, "data-dependent"), access(11)]
    (diagnostic,) = _check(kernel(accesses=accesses))
    assert diagnostic.message == (
        "2 of 4 accesses could not be evaluated (1 more depend on loaded data):"
        " index is loaded from `cols` at line 8 (2 times)"
    )
    assert diagnostic.place == kernel().name_place


def test_what_nothing_declares_comes_first() -> None:
    """The size of an array, say, which is no array of a constant size then."""
    gaps = [Gap("tile.cu", number, f"reason {number}") for number in range(3)]
    guessed = Problem("tile.cu", 3, 5, "nothing declares 'SIZE'; taken as an unknown `int`", "guessed", "SIZE")
    gaps.append(_of(guessed))
    (diagnostic,) = _check(kernel(accesses=[access(10)], gaps=tuple(gaps)), guessed)
    assert diagnostic.message.startswith("left out: 3:5: nothing declares 'SIZE'")


def _of(problem: Problem) -> Gap:
    return Gap("tile.cu", 9, not_resolved(problem), kind="unresolved", problem=problem)


def test_gaps_of_the_body_with_their_way_out() -> None:
    gaps = tuple(Gap("tile.cu", line, f"reason {line}", "say so") for line in range(5))
    (diagnostic,) = _check(kernel(accesses=[access(10)], gaps=gaps))
    assert diagnostic.message == "left out: reason 0, reason 1, reason 2, 2 more reasons"
    assert diagnostic.suggestion is not None
    assert diagnostic.suggestion.message == "say so"


def test_no_folder_is_asked_for_that_nobody_has_tried() -> None:
    """Which folder has a header that is nowhere in the project, and what it would settle, is not known."""
    missing = Problem("tile.cu", 1, 1, "'a.h' file not found", "missing-include", "a.h")
    lacking = kernel(gaps=(Gap("tile.cu", 9, "why", kind="unresolved"),))
    context = RuleContext(file_facts(problems=(missing,), kernels=(lacking,)), find_target("a100"))
    (diagnostic,) = IncompleteAnalysis().check(lacking, context)
    assert diagnostic.suggestion is None
    assert diagnostic.headline.endswith("most in the way: `a.h` was not found (1 kernel)")


def test_an_assumed_launch() -> None:
    assumed = launch(source="default", path=None, line=None, block=(256, 1, 1))
    (diagnostic,) = _check(kernel(accesses=[access(10)], launches=(assumed,)))
    assert diagnostic.message == "no launch in sight: a block of 256 threads is assumed"


def test_a_kernel_that_was_evaluated_in_full() -> None:
    source = """
        __global__ void kernel(float *a) { a[threadIdx.x] = 0; }
        void run(float *a) { kernel<<<1, 256>>>(a); }
    """
    assert lint(source, "CL902") == ()


def test_each_line_that_is_no_source_is_said_once_and_not_again_for_its_kernel() -> None:
    problems = [Problem("tile.cu", line, 3, "expected ';'", is_syntax=True) for line in (40, 14, 14, 15)]
    problems.append(Problem("tile.cu", 16, 3, "use of undeclared identifier 'x'", "undeclared", "x"))
    file = file_facts(problems=tuple(problems))
    context = RuleContext(file, find_target("a100"))
    errors = list(IncompleteAnalysis().check_file(context))
    assert [(d.place.line, d.message, d.kernel) for d in errors] == [
        (line, "syntax error: expected ';'", "") for line in (14, 15, 40)
    ]
    gaps = tuple(map(_of, (problems[1], problems[-1])))
    (diagnostic,) = IncompleteAnalysis().check(kernel(accesses=[access(10)], gaps=gaps), context)
    assert diagnostic.message == "left out: 16:3: use of undeclared identifier 'x'"


def test_a_text_that_is_no_source_at_all_has_a_few_lines() -> None:
    problems = tuple(Problem("tile.cu", line, 1, "expected ';'", is_syntax=True) for line in range(1, 301))
    errors = list(IncompleteAnalysis().check_file(RuleContext(file_facts(problems=problems), find_target("a100"))))
    assert len(errors) == 21
    assert errors[-1].message == "syntax error: 280 more lines have one"


_GAPS = """
    #include "none.h"
    __global__ void whole(float *a) { a[threadIdx.x] = 0; }
    __global__ void part(float *a) { a[threadIdx.x] = 0; a[threadIdx.x * PITCH] = 0; }
    __global__ void wide(float *a) { a[threadIdx.x] = 0; a[threadIdx.x * WIDTH] = 0; }
    void run(float *a) { whole<<<1, 256>>>(a); part<<<1, 256>>>(a); wide<<<1, 256>>>(a); }
"""


def test_lines_that_only_a_header_makes_sense_of() -> None:
    source = """
        #include "none.h"
        #if HAS(none)
        #endif
        __global__ void whole(float *a) { a[threadIdx.x] = 0; }
        void run(float *a) { whole<<<1, 256>>>(a); }
    """
    (found,) = lint(source, "CL902")
    assert found.headline == "1 kernel evaluated; `none.h` was not found"


def test_a_file_has_one_line_unless_all_are_asked_for() -> None:
    found = merge(lint(_GAPS, "CL902"))
    (line,) = merged_by_cause(found, SourceLines())
    assert line.message == (
        "1 of 3 kernels evaluated in full, 2 in part; most in the way: `none.h` was not found (2 kernels)"
        " (all reasons: --show-gaps)"
    )
    assert [each.kernel for each in line.also] == ["part", "wide"]
    assert line.occurrences == 2
    lines = diagnostics_json.render(CheckResult("a100", (line,)), SourceLines(), Presentation())
    (result,) = json.loads("".join(lines))["diagnostics"]
    assert "nothing declares 'WIDTH'" in result["also"][1]["message"]
    shown = merged_by_cause(found, SourceLines(), shows_gaps=True)
    assert [each.kernel for each in shown] == ["part", "wide"]
    assert all("nothing declares" in each.message for each in shown)


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("void run() { int n = ; }\n", 0),
        ("// __global__ comes elsewhere\nvoid run() { int n = ; }\n", 0),
        ("__global__ void k(float *a { a[0] = 1; }\n", 1),
        ("__global__ void k(float *a) { a[0] = 1; }\nvoid run() { int n = ; }\n", 1),
    ],
)
def test_of_files_without_kernels_nothing_is_reported(text: str, errors: int) -> None:
    kernels = (kernel(),) if "float *a)" in text else ()
    problem = Problem("tile.cu", 1, 1, "expected expression", is_syntax=True)
    context = RuleContext(file_facts(problems=(problem,), kernels=kernels), find_target("a100"), text_of=lambda _: text)
    assert len(list(IncompleteAnalysis().check_file(context))) == errors


_UNREAD = """
    template <typename T> struct Table;
    struct Map { __device__ void insert(int key); };
    template <typename Op> __global__ void functor(Op op) { op(threadIdx.x); }
    template <typename Arg> __global__ void method(Arg arg) { if (threadIdx.x < 4) arg.store(threadIdx.x); }
    __global__ void bodiless(Map map) { map.insert(threadIdx.x); }
    __global__ void empty() {}
    __global__ void says(int n) { __syncthreads(); if (n > 3) printf("%d", threadIdx.x); clock64(); }
    __global__ void computes(float x) { float y = sinf(x); if (y > 3) __trap(); }
    __global__ void some(Map map, float *a) { map.insert(threadIdx.x); a[threadIdx.x] = 1; }
    void run(Map map, float *a) {
        bodiless<<<1, 32>>>(map); some<<<1, 32>>>(map, a);
        empty<<<1, 32>>>(); says<<<1, 32>>>(1); computes<<<1, 32>>>(1);
    }
"""


def test_a_kernel_whose_accesses_stand_in_what_nobody_can_read_is_not_evaluated(tmp_path: Path) -> None:
    """One that has none by its own text is: nothing of it is hidden."""
    path = tmp_path / "a.cu"
    path.write_text(_UNREAD)
    facts = analyse(str(path), AnalysisOptions())
    assert isinstance(facts, FileFacts)
    assert {kernel.name for kernel in facts.kernels if not is_seen_into(kernel)} == {"functor", "method", "bodiless"}
    reasons = {kernel.name: [gap.reason for gap in kernel.gaps] for kernel in facts.kernels}
    assert reasons["bodiless"] == ["`insert` has no body in sight"]
    assert reasons["functor"] == ["a call of the function that it is handed, which nothing in sight names"]
    assert "nothing instantiates the template" in reasons["method"][0]
    assert reasons["empty"] == reasons["says"] == reasons["computes"] == []
    coverage = coverage_of(facts)
    assert (coverage.unknown_kernels, coverage.kernels_without_accesses) == (3, 3)
    result = CheckResult("a100", coverage=coverage)
    assert "nothing could be evaluated of 3 kernels" in summary(result)
    document = json.loads("".join(diagnostics_json.render(result, SourceLines(), Presentation())))
    assert document["summary"]["kernels_without_accesses"] == 3


def test_a_run_of_which_nothing_could_be_evaluated_does_not_sound_clean(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text("template <typename Op> __global__ void functor(Op op) { op(threadIdx.x); }\n")
    facts = analyse(str(path), AnalysisOptions())
    assert isinstance(facts, FileFacts)
    result = CheckResult("a100", coverage=coverage_of(facts), minor=(column_read("a.cu"),))
    assert summary(result).startswith("Nothing could be evaluated in 1 kernel for a100 (0 of 0 accesses evaluated)")

"""How the benchmark of divergence counts."""

from __future__ import annotations

from typing import Any

from divergence import Line, calls, score


def _program(*lines: int) -> dict[str, Any]:
    rows = [{"space": "branch", "file": "a.cu", "line": line} for line in lines]
    kernel = {"kernel": "void k<(int)3>(float *)", "block": [32, 1, 1], "lines": rows}
    return {"set": "hec", "program": "p", "kernels": [kernel]}


def _facts(*branches: tuple[int, str, str], block: tuple[int, ...] = (32, 1, 1)) -> dict[str, Any]:
    said = [
        {
            "path": "src/a.cu",
            "line": line,
            "results": [{"launch": 0, "verdict": verdict, "compiled": compiled, "assumptions": []}],
        }
        for line, verdict, compiled in branches
    ]
    launch = {"block": list(block), "source": "launch-site"}
    return {"files": [{"kernels": [{"name": "k", "launches": [launch], "branches": said}]}]}


_CAUSES = {"a.cu": {"index": [7], "data": [8]}}


def test_right_false_and_missed() -> None:
    facts = _facts(
        (7, "divergent", "branch"),
        (8, "data-dependent", "branch"),
        (9, "divergent", "branch"),
        (10, "uniform", "branch"),
    )
    found = score(_program(7, 8, 11), calls(facts), _CAUSES)
    assert dict(found.verdicts["index"]) == {"divergent": 1}
    assert dict(found.verdicts["data"]) == {"data-dependent": 1}
    assert dict(found.verdicts["unlabelled"]) == {"no branch": 1}
    assert (found.right, len(found.false), found.quiet) == (1, 1, 1)


def test_lines_without_a_jump_are_not_called() -> None:
    found = score(_program(), calls(_facts((9, "divergent", "predicated"), (10, "divergent", "exit"))), _CAUSES)
    assert (found.false, found.false_without_jump) == ([], 2)


def test_the_worst_verdict_on_a_line_counts() -> None:
    found = score(_program(7), calls(_facts((7, "uniform", "branch"), (7, "divergent", "branch"))), _CAUSES)
    assert found.missed == []


def test_other_blocks_say_nothing() -> None:
    found = score(_program(7), calls(_facts((7, "divergent", "branch"), block=(64, 1, 1))), _CAUSES)
    assert found.missed == ["hec/p, k, a.cu:7: no branch"]
    assert (found.right, found.false) == (0, [])


def test_calling_everything_is_counted_as_false() -> None:
    said = calls(_facts(*((line, "divergent", "branch") for line in range(1, 21))))
    assert Line("k", "a.cu", 20) in said
    found = score(_program(7), said, _CAUSES)
    assert (found.right, len(found.false)) == (1, 19)
    assert not found.passes


def test_calling_nothing_fails_too() -> None:
    assert not score(_program(7), calls(_facts((7, "uniform", "branch"))), _CAUSES).passes


def test_calling_what_splits_passes() -> None:
    assert score(_program(7), calls(_facts((7, "divergent", "branch"), (8, "uniform", "branch"))), _CAUSES).passes

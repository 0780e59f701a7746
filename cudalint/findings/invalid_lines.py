"""The lines of kernels that no compiler takes."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.facts import FileFacts, KernelFacts, Problem


def invalid_lines(file: FileFacts) -> Sequence[tuple[KernelFacts, Problem]]:
    """The mistakes in kernels, one for each line, up to the first problem that may be none: what comes behind it may
    follow from it."""
    found: list[tuple[KernelFacts, Problem]] = []
    lines: set[int] = set()
    own = sorted((p for p in file.problems if p.path == file.path), key=lambda p: (p.line, not p.is_certain, p.column))
    for problem in own:
        if problem.line in lines:
            continue
        kernel = next((k for k in file.kernels if _holds(k, problem)), None)
        if kernel is None or not problem.is_certain:
            break
        lines.add(problem.line)
        found.append((kernel, problem))
    return found


def _holds(kernel: KernelFacts, problem: Problem) -> bool:
    """Whether a kernel that is compiled has the line of a problem."""
    place = kernel.place
    is_pattern = "<" in kernel.instantiation and all(launch.is_made_up for launch in kernel.launches)
    return not is_pattern and place.path == problem.path and place.line <= problem.line <= place.end_line

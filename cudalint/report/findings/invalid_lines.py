"""The lines that no compiler takes."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.facts import FileFacts, KernelFacts, Problem


def invalid_lines(file: FileFacts) -> Sequence[tuple[KernelFacts | None, Problem]]:
    """The mistakes, one for each line, with the kernel that has it, up to the first problem that may be none: what
    comes behind it may follow from it. Outside of kernels only what is no C++ at all is one: names of the host's code
    may stand in any library."""
    found: list[tuple[KernelFacts | None, Problem]] = []
    lines: set[int] = set()
    own = sorted((p for p in file.problems if p.path == file.path), key=lambda p: (p.line, not p.is_certain, p.column))
    for problem in own:
        if problem.line in lines:
            continue
        kernel = next((k for k in file.kernels if _has(k, problem)), None)
        is_mistake = problem.is_certain and (problem.is_syntax if kernel is None else not _is_pattern(kernel))
        if not is_mistake:
            break
        lines.add(problem.line)
        found.append((kernel, problem))
    return found


def _has(kernel: KernelFacts, problem: Problem) -> bool:
    place = kernel.place
    return place.path == problem.path and place.line <= problem.line <= place.end_line


def _is_pattern(kernel: KernelFacts) -> bool:
    """Whether a kernel is a template that nothing instantiates: compilers differ about how far they read those."""
    return "<" in kernel.instantiation and all(launch.is_made_up for launch in kernel.launches)

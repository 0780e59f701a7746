"""What is said of a file in which no kernel was found, and of what of it could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.facts import FileFacts
from cudalint.report.formats.style import Style


def problem_lines(facts: FileFacts, style: Style) -> Iterator[str]:
    """What the front end could not make sense of: an include that isn't read may hold the kernels."""
    for problem in facts.problems:
        place = f"{problem.path}:{problem.line}:{problem.column}"
        yield f"{style.paint(place, 'bold')}: {style.paint('problem', 'yellow')}: {problem.message}"


def without_kernels(facts: FileFacts, style: Style) -> Iterator[str]:
    """Nothing for a file that has kernels."""
    if not facts.kernels:
        yield from problem_lines(facts, style)
        yield f"{style.paint(facts.path, 'bold')}: no kernels"

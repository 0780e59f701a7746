"""Has clang make instances of kernel templates that nothing in a file instantiates."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from cudalint.frontend.instances import FUNCTOR, arguments_said, chosen, trials_for
from cudalint.frontend.parse import ParsedFile
from cudalint.ir import nodes as ir


def with_instances(parsed: ParsedFile, unit: ir.Unit, given: Collection[str]) -> ParsedFile | None:
    """The file with instances of its bare templates; None where there are none to be had. Of some parameters
    the user gives a value by name."""
    again = parsed.again
    heads = unit.bare_templates() if again is not None else ()
    callers = unit.launching_templates() if heads else ()
    trials = trials_for(heads, callers, parsed.source.decode("latin-1"), given)
    if again is None or not trials:
        return None
    _, failed = again([FUNCTOR, *(trial.line(number) for number, trial in enumerate(trials))])
    # What is behind a text that leaves a brace open is in a function of it.
    found = chosen(heads, trials, lambda number: number + 1 in failed) if 0 not in failed else ()
    if not found:
        return None
    made, _ = again([FUNCTOR, *(trial.line(number) for number, trial in enumerate(found))])
    return replace(made, instances=arguments_said(found))

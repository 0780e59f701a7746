"""Has clang make instances of kernel templates that nothing in a file instantiates."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from msgspec.structs import replace

from cudalint.frontend.instances import FUNCTOR, Trial, arguments_said, chosen, trials_for
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import ParsedFile

_MOST_ROUNDS: Final = 5


def with_instances(
    parsed: ParsedFile, listing: Listing, given: Collection[str], is_known: Callable[[str], bool] = lambda name: False
) -> ParsedFile | None:
    """The file with instances of its bare templates; None where there are none to be had. Of some parameters
    the user gives a value by name. `is_known` says of a kernel that the instances that there are stand in other files.
    """
    again = parsed.again
    bare = listing.bare_templates() if again is not None else ()
    heads = tuple(head for head in bare if not is_known(head.plain_name))
    callers = listing.launching_templates() if heads else ()
    trials = trials_for(heads, callers, parsed.source.decode("latin-1"), given)
    if again is None or not trials:
        return None
    failed: set[Trial] = set()
    are_all_tried = False
    for _ in range(_MOST_ROUNDS):
        found = chosen(heads, [trial for trial in trials if trial not in failed])
        if not found:
            return None
        made, wrong = again([FUNCTOR, *(trial.line(number) for number, trial in enumerate(found))])
        if not wrong:
            return replace(made, instances=arguments_said(found))
        if 0 in wrong:
            return None  # What is behind a text that leaves a brace open is in a function of it.
        # Clang reports what is wrong with something once, whatever it is made for.
        failed |= {found[number - 1] for number in wrong}
        if not are_all_tried:
            are_all_tried = True
            _, wrong = again([FUNCTOR, *(trial.line(number) for number, trial in enumerate(trials))])
            failed |= {trials[number - 1] for number in wrong}
    return None

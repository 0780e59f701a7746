"""What a file's headers will need of a parse, told from their texts: a parse that finds it missing costs as much as one
that succeeds.

Nothing here is certain, since texts are read without their conditions: what was foreseen and turns out not to have been
needed is taken back by another parse.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cudalint.disk import recorder as disk
from cudalint.disk.border import Border
from cudalint.frontend.bundled_macros import bundled_macros
from cudalint.frontend.conditions import BuildCondition, Demand, demands_of, macros_defined_in
from cudalint.frontend.flags import LIBRARIES_ROOT
from cudalint.frontend.searched import IncludeSearch

_ROUNDS: Final = 4
"""A header that was found may include others from a further folder."""
_MOST_MACROS: Final = 6


class Foresight(Struct, frozen=True):
    """Beyond what the file's own includes need."""

    folders: tuple[str, ...] = ()
    libraries: bool = False
    """Whether stand-ins for the headers of libraries are included."""
    demands: tuple[Demand, ...] = ()
    """Macros of the build that headers ask for."""
    in_doubt: frozenset[str] = frozenset()
    """Folders that have what something asks for (`__has_include`): they may say something without a header of theirs
    being included."""

    @property
    def macros(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(demand.condition.macro for demand in self.demands))

    def used(self, included: Sequence[str]) -> Foresight | None:
        """This with what a parse has used of the folders that was given all of them and has included these paths: what
        it has not used has changed nothing. None where that can't be said."""
        given = {*self.folders, *((LIBRARIES_ROOT,) if self.libraries else ())}
        used = {each for each in given if any(path.startswith(os.path.join(each, "")) for path in included)}
        if not self.in_doubt.isdisjoint(given - used):
            return None
        return replace(self, folders=tuple(f for f in self.folders if f in used), libraries=LIBRARIES_ROOT in used)

    def conditions(
        self, included: Sequence[str], left_out: Callable[[str], Sequence[tuple[int, int]]]
    ) -> tuple[BuildCondition, ...] | None:
        """The conditions that ask for the macros, in the order of their places, if a parse that was given these has
        needed them; otherwise None. `left_out` has the lines of the directives around what conditions have left out of
        each path."""
        order = {path: number for number, path in enumerate(dict.fromkeys(included))}
        found: dict[str, BuildCondition] = {}
        asked = [demand for demand in self.demands if demand.condition.path in order]
        for demand in sorted(asked, key=lambda each: _rank(each.condition, order)):
            condition = demand.condition
            if any(first == demand.left_out for first, _ in left_out(condition.path)):
                found.setdefault(condition.macro, condition)
        return tuple(found.values()) if found.keys() == set(self.macros) else None


def _rank(condition: BuildCondition, order: Mapping[str, int]) -> tuple[bool, int, int]:
    return not condition.is_dispatch, order[condition.path], condition.line


def foreseen(
    path: str,
    text: bytes,
    known: Sequence[str],
    own: Sequence[str],
    border: Border,
    folders_with: Callable[[Iterable[str]], tuple[str, ...]],
    is_of_libraries: Callable[[str], bool],
) -> Foresight:
    """`known` are the folders that are searched anyway, `own` those that the file's own includes need, and
    `folders_with` finds folders in which names exist."""
    folders: tuple[str, ...] = ()
    known = (*known, *own)
    search = _followed(path, text, known, border)
    for _ in range(_ROUNDS):
        more = [each for each in folders_with(search.missing_within) if each not in (*known, *folders)]
        if len(more) != 1:
            break  # Of several, the order would be a guess.
        folders += tuple(more)
        search = _followed(path, text, (*known, *folders), border)
    left = [name for name in search.missing_within if not any(disk.is_file(os.path.join(f, name)) for f in folders)]
    # What the file itself says under a macro may be what it can't do with.
    demands = tuple(demand for demand in _demanded(path, search.own) if demand.condition.macro.encode() not in text)
    if len({demand.condition.macro for demand in demands}) > _MOST_MACROS:
        demands = ()
    places = itertools.product((*folders, LIBRARIES_ROOT), search.asked_for)
    in_doubt = frozenset(folder for folder, name in places if disk.is_file(os.path.join(folder, name)))
    return Foresight(folders, any(map(is_of_libraries, left)), demands, in_doubt)


def _followed(path: str, text: bytes, folders: Sequence[str], border: Border) -> IncludeSearch:
    search = IncludeSearch(folders, border)
    search.follow(path, text)
    return search


def _demanded(path: str, headers: Sequence[str]) -> Iterator[Demand]:
    """What headers ask for and nothing defines."""
    demands = [demand for header in headers for demand in demands_of(header)]
    if not demands:
        return
    defined = macros_defined_in(path).union(bundled_macros(), *map(macros_defined_in, headers))
    yield from (demand for demand in demands if demand.condition.macro not in defined)

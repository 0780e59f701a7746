"""The other files of a program, parsed and lowered once for all files that one process analyses.

Of a project each file is looked into for the launches of many others: what calls all kernels is the same for all of
them. So a few of those that were looked into last are kept, with all that was lowered of their functions, for as long
as everything that they rest on is as it was: their own text, what they include, what was looked for in vain, how they
are parsed. Who is given a kept one has asked the disk all that, too.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.context import Elsewhere
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.frontend.parse_options import Parsing, parse_options
from cudalint.frontend.reading import SourceError
from cudalint.ir import nodes as ir
from cudalint.ir.units import Unit, Wanted
from cudalint.launches.program.neighbours import code_in, setters
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.present import Present
from cudalint.system.disk.recorder import Seen
from cudalint.system.processes import memory
from cudalint.system.processes.deadline import NEVER, Deadline

_MOST: Final = 8
"""Files that are kept."""
_MOST_MEGABYTES: Final = 120
"""That they may take together, as far as that is seen when they are parsed."""
_MOST_HELD: Final = 280
"""Megabytes from which on a process keeps none of them: what it needs for the next file comes on top."""
_MAX_ASKED_FOR: Final = 12
"""Constants for which all files of a folder are searched."""


class _Key(Struct, frozen=True):
    """What tells a file from another one, beside what is on disk."""

    path: str
    text: bytes | None
    options: ParseOptions
    parsing: Parsing
    """For the files that it leads to."""


class OtherFile(Struct, eq=False):
    """A file that was parsed."""

    parsed: ParsedFile
    parsing: Parsing
    seen: Seen
    """What it rests on, and what was lowered of it so far."""
    megabytes: float = 0.0
    _bare: Unit | None = None
    _own: Listing | None = None
    _calling: Listing | None = None

    def constants(self) -> Unit:
        """To be asked for constants, with those of no further file in them."""
        if self._bare is None:
            self._bare = Listing(self.parsed).unit()
        return self._bare

    def unit(self, wanted: Wanted) -> Unit:
        """The file with an eye to the launches in question. For the sake of functions that launch them and without any,
        one unit is in use at a time each: a further one takes its place."""
        if wanted.launching:
            self._calling = self._calling or Listing(self.parsed, self._elsewhere())
            return self._calling.unit_for(wanted)
        self._own = self._own or Listing(self.parsed, self._elsewhere())
        return self._own.unit_for(wanted)

    def _elsewhere(self) -> Elsewhere:
        """Finds constants in further files, which is part of what this one rests on. None is too many of them: which
        were asked for would depend on who has asked before."""
        constants = ConstantsElsewhere(self.parsed.as_given(self.parsed.path), self.parsing, most=None)

        def value(name: str, usr: str) -> ir.Expr | None:
            with disk.noting() as seen:
                found = constants.value(name, usr)
            self.seen.add(seen)
            return found

        return value


class ConstantsElsewhere(Struct, eq=False):
    """Constants that a file only declares and another file of the program gives a value, `extern const int width;`:
    looks for them in the files beside one, when they are asked for."""

    path: str
    parsing: Parsing
    most: int | None = _MAX_ASKED_FOR
    _found: dict[str, ir.Expr | None] = field(default_factory=dict)
    """By their USR."""
    _units: dict[str, Unit | None] = field(default_factory=dict)

    def value(self, name: str, usr: str) -> ir.Expr | None:
        """What a constant is defined to be; None where no file says so."""
        if usr not in self._found:
            is_looked_for = self.most is None or len(self._found) < self.most
            units = (self._unit(path) for path in (setters(self.path, name) if is_looked_for else ()))
            values = (unit.constant(usr) for unit in units if unit is not None)
            self._found[usr] = next((value for value in values if value is not None), None)
        return self._found[usr]

    def _unit(self, path: str) -> Unit | None:
        if path not in self._units:
            other = other_file(path, code_in(path), self.parsing)
            self._units[path] = other.constants() if other is not None else None
        return self._units[path]


_kept: dict[_Key, OtherFile] = {}
"""The one that was of use last comes last."""


def other_file(path: str, text: bytes | None, parsing: Parsing, deadline: Deadline = NEVER) -> OtherFile | None:
    """A file of the program, of which that is the code on disk (`code_in`); None for one that can't be parsed. What the
    deadline has cut is not kept."""
    try:
        key = _Key(path, text, parse_options(path, parsing), parsing)
        known = _kept.pop(key, None)
        if known is None or not _is_still_so(known.seen):
            return _parsed(key, deadline)
    except SourceError:
        return None
    disk.note(known.seen)
    _kept[key] = known
    return known


def _is_still_so(seen: Seen) -> bool:
    with disk.noted_separately():
        return Present().agrees_with(seen)


def _parsed(key: _Key, deadline: Deadline) -> OtherFile:
    before = memory.held_megabytes()
    with disk.noting() as seen:
        parsed = parse_file(key.path, key.options, key.text, is_over=deadline.is_over)
    other = OtherFile(parsed, key.parsing, seen, memory.held_megabytes() - before)
    if seen.is_repeatable and not seen.is_timed:
        _kept[key] = other
        _make_room()
    return other


def _make_room() -> None:
    while len(_kept) > 1 and (
        len(_kept) > _MOST or sum(other.megabytes for other in _kept.values()) > _MOST_MEGABYTES
    ):
        del _kept[next(iter(_kept))]


class _Use:
    is_open = False
    """Whether an analysis has begun and not come to its end."""


def begin() -> None:
    """Begins with an analysis. What one before has left in the middle may be half done, and nobody gets it; neither is
    anything kept where the process has grown."""
    if _Use.is_open or memory.held_megabytes() > _MOST_HELD:
        forget()
    _Use.is_open = True


def end() -> None:
    """An analysis has come to its end."""
    _Use.is_open = False


def forget() -> None:
    """Lets go of all of them."""
    _kept.clear()

"""Constants that a file only declares and another file of the program gives a value: `extern const int width;`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import lower_unit
from cudalint.frontend.parse import parse_file
from cudalint.frontend.reading import SourceError
from cudalint.ir import nodes as ir
from cudalint.ir.units import Unit
from cudalint.launches.program.neighbours import code_in, setters

_MAX_ASKED_FOR = 12
"""Constants for which all files of a folder are searched."""


class ConstantsElsewhere(Struct, eq=False):
    """Looks for them in the files beside one, when they are asked for."""

    path: str
    parse_options: Callable[[str], ParseOptions]
    _found: dict[str, ir.Expr | None] = field(default_factory=dict)
    """By their USR."""
    _units: dict[str, Unit | None] = field(default_factory=dict)

    def value(self, name: str, usr: str) -> ir.Expr | None:
        """What a constant is defined to be; None where no file says so."""
        if usr not in self._found:
            paths = setters(self.path, name) if len(self._found) < _MAX_ASKED_FOR else []
            units = (self._unit(path) for path in paths)
            values = (unit.constant(usr) for unit in units if unit is not None)
            self._found[usr] = next((value for value in values if value is not None), None)
        return self._found[usr]

    def _unit(self, path: str) -> Unit | None:
        if path not in self._units:
            try:
                self._units[path] = lower_unit(parse_file(path, self.parse_options(path), code_in(path)))
            except SourceError:
                self._units[path] = None
        return self._units[path]

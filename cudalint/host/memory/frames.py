"""Where an analysis is: the functions and loops around the statement that it looks at."""

from __future__ import annotations

from msgspec import Struct, field

from cudalint.host.memory.pointers import Value
from cudalint.host.memory.state import State
from cudalint.ir import nodes as ir


class TooLong(Exception):
    """A function leads to more statements than are followed, or jumps back; what was found until then stays."""


class Loop(Struct):
    """A loop or a switch that the analysis is in, with the states in which it is left."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    is_switch: bool = False


class Frame(Struct):
    """A function that the analysis is in."""

    function: ir.Function
    returns: list[tuple[State, Value]] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    jumps: dict[str, list[State]] = field(default_factory=dict)
    """Where `goto` was met, by its label."""
    labels: set[str] = field(default_factory=set)

"""Conditions of a kernel's text in many worlds at once: they are evaluated by the executor, with one lane."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.execution import Frame
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.memory import Allocation, as_type
from cudalint.execute.program import Program
from cudalint.execute.values import truth
from cudalint.ir import nodes as ir
from cudalint.worlds.needs import Values
from cudalint.worlds.records import Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Guards:
    """Conditions on the numbers that a kernel takes; `guards(values)` is, for each of the worlds, whether each holds.

    What a world says nothing of is not known, and a condition that it is up to contradicts no world.
    """

    def __init__(self, conditions: Iterable[tuple[ir.Expr, bool]], function: ir.Function, program: Program) -> None:
        """Each condition with what it has to come to; `function` is the one they stand in."""
        self._conditions = [(program.value(expression), wanted) for expression, wanted in conditions]
        self._function, self._program = function, program

    def __call__(self, values: Values) -> NDArray[np.bool_]:
        """[worlds, conditions]; one world if the values are plain numbers. There may be others than of parameters."""
        values = {own: value for own, value in values.items() if isinstance(own, Parameter)}
        count = max((np.size(value) for value in values.values()), default=1)
        held = np.ones((count, len(self._conditions)), bool)
        if not self._conditions:
            return held
        machine = self._machine(values, count)
        for number, (condition, wanted) in enumerate(self._conditions):
            with np.errstate(all="ignore"):
                holds: Any = truth(condition(machine))
            if isinstance(holds, (bool, np.bool_)):
                held[:, number] = holds == wanted
            elif isinstance(holds, np.ndarray):
                held[:, number] = (holds == wanted)[:, 0]
        return held


    def _machine(self, values: Values, count: int) -> Machine:
        machine = Machine(Lanes((1, 1, 1), [[1] * count, 1, 1], [(0, 0, 0)]), self._program)
        machine.frames.append(Frame(self._function, 0))
        machine.environment.update(_variables(values, machine))
        return machine

    def number(self, expression: ir.Expr, values: Values) -> int | None:
        """What an integer comes to in one world; None where that is not known."""
        own = {parameter: value for parameter, value in values.items() if isinstance(parameter, Parameter)}
        with np.errstate(all="ignore"):
            found: Any = self._program.value(expression)(self._machine(own, 1))
        if isinstance(found, np.ndarray) and found.size == 1:
            found = found.flat[0]
        return int(found) if isinstance(found, (int, np.integer)) else None


def _variables(values: Values, machine: Machine) -> dict[ir.Symbol, Allocation]:
    found: dict[ir.Symbol, Allocation] = {}
    for (symbol, path), value in values.items():
        variable = found.get(symbol)
        if variable is None:
            variable = found[symbol] = Allocation(symbol.name, "local", symbol.type, machine.full)
        offset, type_ = 0, symbol.type
        for name in path:
            field = type_.field(name) if isinstance(type_, ir.RecordType) else None
            if field is None:
                break
            offset, type_ = offset + field.offset, field.type
        else:
            own = value if np.ndim(value) == 0 else np.asarray(value)[:, None]
            variable.cells[offset] = as_type(own, type_)
    return found

"""What an expression comes to: numbers, pointers, records, functions, and data that is not known.

A number is a Python number where all rows and lanes have it in common, and otherwise an array of 1 or R rows by 1 or L
lanes: its shape says what it may depend on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.memory import Allocation
    from cudalint.execute.trace import AccessEvent

DataKind = Literal["loaded", "atomic", "float", "computed", "unknown"]
AGGREGATES = (ir.RecordType, ir.ArrayType)
"""Types of which a value has several cells."""


class Data:
    """A value that nobody follows: what memory holds, a float that came of such, or what could not be evaluated."""

    __slots__ = ("_derived", "is_common", "is_derived", "kind", "origin", "reason")

    def __init__(
        self, kind: DataKind, reason: str = "", origin: AccessEvent | None = None, is_common: bool = False
    ) -> None:
        self.kind, self.reason = kind, reason
        self.origin = origin
        """The load that it came of, if it is what memory held there."""
        self.is_common = is_common
        """Whether all active lanes of a warp have the same, whatever it is."""
        self.is_derived = False
        """Whether it was computed from what its origin has loaded."""
        self._derived: Data | None = None

    @property
    def derived(self) -> Data:
        """What is computed from it."""
        if self.origin is None or self.is_derived:
            return self
        if self._derived is None:
            self._derived = Data(self.kind, self.reason, self.origin, self.is_common)
            self._derived.is_derived = True
        return self._derived

    def __repr__(self) -> str:
        return f"<{self.kind} {self.reason}>" if self.reason else f"<{self.kind}>"


class Undeclared(Data):
    """What a name stands for that nothing declares, and what is computed from it."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__("unknown", f"nothing declares `{name}`")


class Symbolic(Data):
    """Data that somebody follows by how it is computed: operators, conversions and addresses ask it for theirs."""

    __slots__ = ()

    def combined(self, op: str, left: Value, right: Value, type_: ir.Type, operand: ir.Type) -> Value:
        """A built-in operator on two values, of which this is one; `operand` is the type of the left one."""
        raise NotImplementedError

    def converted(self, type_: ir.Type) -> Value:
        raise NotImplementedError

    def moved(self, offset: Any, added: Any) -> Any:
        """The sum of two numbers of bytes, of which this is one."""
        raise NotImplementedError

    def scaled(self, bytes_: int) -> Any:
        """As an index: times the bytes of an element."""
        raise NotImplementedError


class InPart(Data):
    """What lanes of a mask have stored since, and others not: data, or a number beside data."""

    __slots__ = ("mask", "new", "old")

    def __init__(self, mask: Any, new: Value, old: Value) -> None:
        super().__init__("computed")
        self.mask, self.new = mask, new
        self.old = COMPUTED if type(old) is InPart else old

    @property
    def derived(self) -> Data:
        return COMPUTED

    def seen_by(self, mask: Any) -> Value:
        """What those lanes have: what all of them have stored, or none."""
        if mask is None or mask is self.mask or not (mask & ~self.mask).any():
            return self.new
        return self.old if not (mask & self.mask).any() else self


LOADED = Data("loaded")
ATOMIC = Data("atomic")
COMPUTED = Data("computed")
UNKNOWN = Data("unknown")


class Pointer:
    """Into an allocation: bytes from its start, and the type of what is there."""

    __slots__ = ("allocation", "null", "offset", "pointee")

    def __init__(self, allocation: Allocation, offset: Any, pointee: ir.Type, null: Any = None) -> None:
        self.allocation, self.offset, self.pointee = allocation, offset, pointee
        self.null = null
        """Of one that leads nowhere in some lanes: those, or data where data says which; otherwise None."""

    @property
    def is_set(self) -> Any:
        """Whether it leads anywhere: a bool, an array of bools, or data."""
        if self.null is None:
            return not self.allocation.is_null
        return self.null if isinstance(self.null, Data) else ~self.null

    def __repr__(self) -> str:
        return f"<&{self.allocation.name} + {self.offset}>"


class Aggregate:
    """A record or an array by value: its scalars and pointers by their offsets in bytes."""

    __slots__ = ("cells", "type")

    def __init__(self, type_: ir.Type, cells: dict[int, Any]) -> None:
        self.type, self.cells = type_, cells


class Closure:
    """A lambda with what it captured by value; what it captured by reference is found where it was declared."""

    __slots__ = ("copies", "function")

    def __init__(self, function: ir.FunctionRef, copies: dict[ir.Symbol, Allocation]) -> None:
        self.function, self.copies = function, copies


class FunctionValue:
    """A function whose address was taken."""

    __slots__ = ("function",)

    def __init__(self, function: ir.FunctionRef) -> None:
        self.function = function


Value = Any
"""int | float | bool | numpy array | Data | Pointer | Aggregate | Closure | FunctionValue"""


def is_common(value: Value) -> bool:
    """Whether all lanes of a warp have a number in common."""
    import numpy as np

    if isinstance(value, Data):
        return value.is_common
    if type(value) is not np.ndarray or value.shape[-1] == 1:
        return True
    # Most of what differs does so between these two.
    if value[0, 0] != value[0, WARP_LANES - 1]:
        return False
    by_warp = value.reshape(len(value), -1, WARP_LANES)
    return bool((by_warp == by_warp[..., :1]).all())


def truth(value: Value) -> Any:
    """A condition: a bool, an array of bools, or data."""
    import numpy as np

    kind = type(value)
    if kind is bool:
        return value
    if kind is np.ndarray:
        return value if value.dtype == np.bool_ else value != 0
    if kind is int or kind is float:
        return value != 0
    if kind is Pointer:
        return value.is_set
    return value if isinstance(value, Data) else COMPUTED


def leaves(type_: ir.Type, offset: int = 0) -> Any:
    """The scalars and pointers of a type with their offsets; of arrays of more than 4096 elements none."""
    if isinstance(type_, ir.RecordType):
        for field in type_.fields:
            yield from leaves(field.type, offset + field.offset)
    elif isinstance(type_, ir.ArrayType):
        if (type_.count or 0) <= MOST_ELEMENTS:
            for number in range(type_.count or 0):
                yield from leaves(type_.element, offset + number * type_.element.bytes)
    else:
        yield offset, type_


MOST_ELEMENTS = 4096
"""Of an array that is held by value."""

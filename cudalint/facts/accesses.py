"""Memory accesses, with the figures of their requests under each launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from cudalint.facts.places import Frame, Place
from cudalint.numerals import count, figure
from cudalint.reasons import ReasonKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Weights = NDArray[np.float64]
else:  # Whoever reads records without arrays does so without numpy.
    Integers = Flags = Weights = Any

Space = Literal["global", "shared", "local", "constant", "generic"]
Operation = Literal["load", "store", "atomic", "async-copy"]
Status = Literal["exact", "assumed", "range", "data-dependent", "unknown", "unreached"]


class ArrayFacts(Struct, frozen=True, eq=False):
    """The declaration of a shared (or otherwise known) array."""

    name: str
    place: Place
    extents: tuple[int, ...]
    """Declared extents, outermost first; () for a scalar or an open extent."""
    extent_places: tuple[Place | None, ...]
    """Where each extent is spelled, None where that isn't plain."""
    element_bytes: int
    total_bytes: int | None


class Sample(Struct, frozen=True, eq=False, weakref=True):
    """Warp-level requests that stand for all requests of an access under one launch. n requests, 32 lanes."""

    addresses: Integers
    """[n, 32] byte addresses, from the start of the allocation."""
    mask: Flags
    """[n, 32] active lanes."""
    weights: Weights
    """[n] how many requests of the launch each one stands for, up to a common factor."""
    warps: Integers
    """[n] index of the warp within its block."""
    subscripts: tuple[Integers, ...] = ()
    """One [n, 32] array per dimension of the declared array, where the access spells one subscript for each."""
    inner_offset: Integers | int = 0
    """[n, 1] bytes from the subscripted element to the accessed bytes (a field of a struct element)."""

    def __repr__(self) -> str:
        return f"<Sample of {count(len(self.weights), 'request')}>"


class Strides(Struct, frozen=True):
    """By how many bytes the address moves when one thread index grows by 1; None where that is not constant, and along
    an axis on which the block has one thread only."""

    x: int | None
    y: int | None
    z: int | None
    sized: str | None = None
    """How far most lanes are from the one before, in elements of the access and in terms of the sizes that go into it:
    `width`, `3 * K`. Empty where sizes go in that have no name in the source, None where none do."""
    turn: int | None = None
    """By how many bytes the address moves from one iteration to the next of the innermost loop that it depends on."""


class AccessResult(Struct, frozen=True, eq=False):
    """The figures of an access under one launch."""

    launch: int
    status: Status
    assumptions: tuple[str, ...] = ()
    reason: str | None = None
    sectors_per_request: float | None = None
    sectors_range: tuple[float, float] | None = None
    ideal_sectors: float | None = None
    wavefronts_per_request: float | None = None
    wavefronts_range: tuple[float, float] | None = None
    ideal_wavefronts: float | None = None
    conflict_ways: float | None = None
    active_lanes: float | None = None
    active_request_fraction: float | None = None
    requests: float | None = None
    """Warp-level requests with an active lane in the whole launch, where that is known."""
    usual_requests: float | None = None
    """The same with the numbers that costs rest on; None where figures are those of the same numbers."""
    requests_range: tuple[float, float] | None = None
    offset_range: tuple[int, int] | None = None
    """Lowest and one past the highest byte touched by any active lane, over everything evaluated."""
    strides: Strides | None = None
    sample: Sample | None = None
    reason_kind: ReasonKind = "other"
    reached_by_data: bool = False
    """Whether data decides how often it is made: the requests are all that may come."""
    reached_otherwise: bool = False
    """Whether it is only made under conditions that do not hold with the numbers that the launch is evaluated with."""
    beside: float | None = None
    """Of one that is only made otherwise: the sectors or wavefronts of all requests of the access to that space which
    takes most with the same numbers."""
    condition: str = ""
    """What has to hold of numbers that nothing in sight gives for the access to be as wasteful, or as good, as its
    figure says; empty where it is so for all numbers that were tried."""

    def __repr__(self) -> str:
        """What is known of it."""
        fields = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return f"AccessResult({', '.join(f'{name}={value!r}' for name, value in fields if value not in (None, ()))})"


class PerRequest(NamedTuple):
    """What a warp-level request of an access asks of its memory under one launch, on average."""

    unit: Literal["sector", "wavefront"]
    """Sectors of global memory, or wavefronts of shared memory."""
    actual: float | None
    bounds: tuple[float, float] | None
    """Where only a range is known."""
    ideal: float | None

    @property
    def text(self) -> str | None:
        """`4.5 sectors per request`, `4 to 8 sectors per request`; None where nothing is known."""
        if self.actual is not None:
            return f"{count(self.actual, self.unit)} per request"
        return None if self.bounds is None else f"{' to '.join(map(figure, self.bounds))} {self.unit}s per request"


class LibraryCall(Struct, frozen=True):
    """A function of the CUDA library."""

    name: str
    arguments: tuple[str, ...] | None
    """The types of its arguments; None for a function of the bundled headers' own."""


GRID_ARRIVES, GRID_WAITS = "grid_group::barrier_arrive", "grid_group::barrier_wait"
"""What makes the accesses that a barrier of the grid is."""


class Access(Struct, frozen=True, eq=False):
    """A load, store, atomic or asynchronous copy in the source."""

    place: Place
    function: str
    inlined_from: tuple[Frame, ...]
    space: Space
    operation: Operation
    array: str
    """The name that the source gives the array (a parameter, a shared variable, `params.x`)."""
    element_type: str
    bytes: int
    results: tuple[AccessResult, ...]
    expression: str = ""
    """The access as the source spells it."""
    declaration: ArrayFacts | None = None
    record_bytes: int | None = None
    """The size of the struct of which this access touches a field, where it does."""
    record: str = ""
    """The name of that struct's type."""
    is_view: bool = False
    """Whether that struct is a way of looking at an array that is declared to hold something else."""
    is_copy: bool = False
    """Whether that struct is loaded as a whole and stored as it is, and this access is one half of it."""
    compiled_at: tuple[int, int] | None = None
    """Line and column with which the compiler notes it, where those are not where it begins."""
    made_at: Place | None = None
    """Where its address is made, which calls may pass on into other files; None for where it is."""
    made_through: tuple[Frame, ...] = ()
    """The calls that lead there."""
    made_by: LibraryCall | None = None
    """The function whose own access it is."""
    known_modulo: int = 1
    """A power of two, modulo which the byte offset of each lane is known whatever the open sizes are."""

    def __repr__(self) -> str:
        """A line; the figures of each launch are in `results`."""
        what = f"{self.space} {self.operation} of `{self.array}`, {count(self.bytes, 'byte')}"
        return f"<Access at {self.place.path}:{self.place.line}: {what}, {count(len(self.results), 'result')}>"

    def per_request(self, result: AccessResult) -> PerRequest:
        """The figures of one of its results that are about its memory."""
        if self.space == "shared":
            return PerRequest(
                "wavefront", result.wavefronts_per_request, result.wavefronts_range, result.ideal_wavefronts
            )
        return PerRequest("sector", result.sectors_per_request, result.sectors_range, result.ideal_sectors)

    @property
    def position(self) -> tuple[int, int]:
        """Line and column as a profiler gives them."""
        return self.compiled_at or (self.place.line, self.place.column)

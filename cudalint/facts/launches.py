"""Launch configurations of a kernel, and the arguments that launches make plain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

from cudalint.facts.places import Place
from cudalint.kinds import NO_KIND, Kinds

LaunchSource = Literal[
    "recorded", "launch-site", "annotation", "config", "command-line", "launch-bounds", "inferred", "default"
]
"""`inferred` is what the kernel's own code says of a block that nobody gives."""
KnownExtents = tuple[int | None, int | None, int | None]
"""Extents in x, y and z; None for one that nothing in sight says."""


class Tiling(Struct, frozen=True):
    """One axis of a grid that is rounded up to cover a size in sight: `(65 + 31) / 32` blocks."""

    axis: Literal["x", "y", "z"]
    size: int
    tile: int
    size_text: str
    """The size as the source spells it."""

    @property
    def blocks(self) -> int:
        return -(-self.size // self.tile)


class LaunchSite(Struct, frozen=True):
    """What is visible or stated of a launch, before anything was assumed."""

    place: Place
    """The launch statement, or the call that hands the kernel over to a function that launches what it is given, or the
    kernel's name where an annotation or an option states the launch."""
    block: KnownExtents
    """As it is asked for, possible or not."""
    grid: KnownExtents
    dynamic_shared_bytes: int | None
    opted_in_bytes: int | None
    """To what code in sight raises cudaFuncAttributeMaxDynamicSharedMemorySize for the kernel: 0 where nothing does,
    None where something may, or to what isn't plain."""
    tilings: tuple[Tiling, ...] = ()
    cluster: KnownExtents | None = None
    """How many blocks along each axis are launched together; None where nothing in sight says that they are."""

    @property
    def threads(self) -> int | None:
        x, y, z = self.block
        return None if x is None or y is None or z is None else x * y * z

    @property
    def blocks(self) -> int | None:
        x, y, z = self.grid
        return None if x is None or y is None or z is None else x * y * z


class RecordedFacts(Struct, frozen=True):
    """What was recorded of launches with blocks of one shape."""

    count: int
    """How often they were made."""
    different: int
    """How many of them differ."""
    evaluated: int
    """How many of these were evaluated; the first is the one that figures are reported of."""
    file: str
    """What they were recorded in."""
    time_us: float | None
    """What one of the first takes, in microseconds; None where nobody has measured it."""
    total_us: float | None
    """What all of them take together."""
    share: float | None
    """Of the time of all launches of the program."""
    is_whole: bool = True
    """Whether all numbers are known that the kernel was given."""


class LaunchFacts(Struct, frozen=True, eq=False):
    """One launch configuration of a kernel."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    """Blocks; where the grid is unknown, the generic grid that was evaluated (see `assumptions`)."""
    dynamic_shared_bytes: int
    source: LaunchSource
    path: str | None
    line: int | None
    parameters: Mapping[str, int | float | bool]
    """Scalar arguments that the launch makes plain."""
    assumptions: tuple[str, ...] = ()
    """What had to be taken for granted about this launch, e.g. `block = 256 (no launch in sight)`."""
    site: LaunchSite | None = None
    """None for a kernel that nobody launches in sight."""
    twins: tuple[LaunchSite, ...] = ()
    """Other places with the same launch."""
    arguments: Mapping[str, ArgumentValue] = {}
    """What was evaluated for each leaf of the parameters, generic values included."""
    allocated: Mapping[str, int] = {}
    """The bytes of the allocation behind each pointer among them, where the host code in sight says so."""
    by_default: bool = False
    """The launch leaves the block open, which is what it is if no option of the program says otherwise, or for all but
    small sizes."""
    guesses: tuple[str, ...] = ()
    """Names in the kernel that nothing declares, and that were given numbers: a program may fill them in, or a header
    that is missing."""
    made_up: tuple[str, ...] = ()
    """Names of parameters of the kernel's template whose numbers nothing in sight says."""
    recorded: RecordedFacts | None = None
    """For launches that a program made while it was recorded."""
    in_part: Kinds = NO_KIND
    """The kinds of facts of which something may be missing under this launch and not under others of its kernel, since
    time ran out or there was too much to look at."""

    called_from: Place | None = None
    """The call of the function that makes it, which gives it its numbers; None where nobody calls that in sight."""

    def __eq__(self, other: object) -> bool:
        """Whether a finding that names one has named the other: their sites and arguments don't count."""
        return isinstance(other, LaunchFacts) and self._named() == other._named()

    def _named(self) -> tuple[object, ...]:
        shape = (self.block, self.grid, self.dynamic_shared_bytes, self.parameters, self.allocated)
        return (*shape, self.source, self.path, self.line, self.assumptions, self.recorded)

    @property
    def recorded_us(self) -> float | None:
        """Microseconds that it took where it was recorded; None where nobody has measured that."""
        return (self.recorded.time_us or None) if self.recorded is not None else None

    @property
    def recorded_total_us(self) -> float:
        """Microseconds that all launches took that were recorded with it; 0 where that is not known."""
        return (self.recorded.total_us or 0.0) if self.recorded is not None else 0.0

    @property
    def is_made_up(self) -> bool:
        """Whether nobody launches the kernel, as far as can be seen, and nobody says how."""
        return self.path is None and self.source in ("default", "inferred", "launch-bounds")

    @property
    def block_is_made_up(self) -> bool:
        """Whether nothing says what the block is."""
        return self.source in ("default", "inferred") and not self.by_default

    @property
    def grid_is_assumed(self) -> bool:
        """Whether the grid, or an axis of it, stands for sizes that nothing in sight determines."""
        return self.site is not None and None in self.site.grid


ArgumentValue = int | float | bool | None
"""A scalar's value; for a pointer the bytes from the start of its allocation, and None for a null pointer."""
LeafKind = Literal["int", "uint", "float", "bool", "void", "pointer", "other"]


class LeafFacts(NamedTuple):
    """A scalar or a pointer in a kernel's parameter."""

    name: str
    """`n`, or `view.data` in a struct: what the facts call the array behind a pointer."""
    offset: int
    """Bytes from the start of the parameter."""
    bytes: int
    kind: LeafKind
    element_kind: LeafKind = "other"
    """For a pointer: what the memory behind it holds."""
    element_bytes: int = 1
    pointee_bytes: int = 1


class ParameterFacts(NamedTuple):
    """One parameter of a kernel, as its bytes."""

    name: str
    bytes: int
    leaves: tuple[LeafFacts, ...]

"""What the analysis knows about a file, before any rule has an opinion.

These records mirror `cudalint facts --format json` (cudalint/schemas/facts.schema.json), field by field; what
is not part of the JSON contract (samples, strides, declarations) is there for rules, fixes and pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Space = Literal["global", "shared", "local", "constant", "generic"]
Operation = Literal["load", "store", "atomic", "async-copy"]
Status = Literal["exact", "assumed", "range", "data-dependent", "unknown", "unreached"]
LaunchSource = Literal["launch-site", "annotation", "config", "command-line", "launch-bounds", "default"]


class Place(NamedTuple):
    """A piece of source: lines and columns start at 1, columns count bytes, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Frame(NamedTuple):
    """One call through which an access was reached, innermost first."""

    path: str
    line: int


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
    """The launch statement, or the kernel's name where an annotation or an option states the launch."""
    block: KnownExtents
    """As it is asked for, possible or not."""
    grid: KnownExtents
    dynamic_shared_bytes: int | None
    opted_in_bytes: int | None
    """To what code in sight raises cudaFuncAttributeMaxDynamicSharedMemorySize for the kernel: 0 where nothing does,
    None where something may, or to what isn't plain."""
    tilings: tuple[Tiling, ...] = ()

    @property
    def threads(self) -> int | None:
        x, y, z = self.block
        return None if x is None or y is None or z is None else x * y * z

    @property
    def blocks(self) -> int | None:
        x, y, z = self.grid
        return None if x is None or y is None or z is None else x * y * z


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

    def __eq__(self, other: object) -> bool:
        """Whether a finding that names one has named the other: their sites and arguments don't count."""
        return isinstance(other, LaunchFacts) and self._named() == other._named()

    def _named(self) -> tuple[object, ...]:
        shape = (self.block, self.grid, self.dynamic_shared_bytes, self.parameters, self.allocated)
        return (*shape, self.source, self.path, self.line, self.assumptions)

    @property
    def is_made_up(self) -> bool:
        """Whether nobody launches the kernel, as far as can be seen, and nobody says how."""
        return self.path is None and self.source in ("default", "launch-bounds")

    @property
    def block_is_made_up(self) -> bool:
        """Whether nothing says what the block is."""
        return self.source == "default" and not self.by_default

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


class Sample(Struct, frozen=True, eq=False):
    """Warp-level requests that stand for all requests of an access under one launch. n requests, 32 lanes."""

    addresses: NDArray[np.int64]
    """[n, 32] byte addresses, from the start of the allocation."""
    mask: NDArray[np.bool_]
    """[n, 32] active lanes."""
    weights: NDArray[np.float64]
    """[n] how many requests of the launch each one stands for, up to a common factor."""
    warps: NDArray[np.int64]
    """[n] index of the warp within its block."""
    subscripts: tuple[NDArray[np.int64], ...] = ()
    """One [n, 32] array per dimension of the declared array, where the access spells one subscript for each."""
    inner_offset: NDArray[np.int64] | int = 0
    """[n, 1] bytes from the subscripted element to the accessed bytes (a field of a struct element)."""


class Strides(Struct, frozen=True):
    """By how many bytes the address moves when one thread index grows by 1; None where that is not constant."""

    x: int | None
    y: int | None
    z: int | None


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
    """Warp-level requests in the whole launch, where it is known."""
    offset_range: tuple[int, int] | None = None
    """Lowest and one past the highest byte touched by any active lane, over everything evaluated."""
    strides: Strides | None = None
    sample: Sample | None = None


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
    compiled_at: tuple[int, int] | None = None
    """Line and column with which the compiler notes it, where those are not where it begins."""
    made_at: Place | None = None
    """Where its address is made, which calls may hand on into other files; None for where it is."""
    made_through: tuple[Frame, ...] = ()
    """The calls that lead there."""
    made_by: LibraryCall | None = None
    """The function whose own access it is."""
    listed_again: bool = False
    """Whether it stands here for another entry: a profiler lists its instruction at this line, too."""

    @property
    def position(self) -> tuple[int, int]:
        """Line and column as a profiler gives them."""
        return self.compiled_at or (self.place.line, self.place.column)


Verdict = Literal["uniform", "warp-uniform", "divergent", "data-dependent", "unknown"]
Compiled = Literal["branch", "predicated", "exit"]
"""What the compiler makes of a branch: a jump; instructions that lanes skip one by one (or a select); or the end of the
program for the lanes that have nothing left to do. Only jumps are counted as divergent."""


class Divergence(Struct, frozen=True):
    """What it costs that the lanes of a warp part. Work is counted in machine instructions, roughly."""

    work: tuple[float, ...]
    """What a thread executes on each side, where the condition holds first, or in each case. Of a loop: in a pass."""
    lanes: tuple[float, float]
    """Active lanes of a warp that splits for which the condition holds, and others, on average."""
    wasted: float
    """Instruction slots that a warp spends on the side that part of its lanes doesn't take, per launched warp."""
    share: float
    """The same as a share of all that a warp executes in this kernel."""
    slowest: float | None = None
    """Of a loop: iterations of the slowest lane of a warp over those of the mean lane."""
    is_remainder: bool = False
    """Of a loop: whether it is the remainder of a stride that lanes differ by, one iteration after one or more."""
    aligned: str | None = None
    """The nearest condition on which all lanes of a warp agree, as the model found it."""
    sized: bool = False
    """Whether it rests on sizes that nothing determines: other ones make much less of it."""
    by_lane: bool = False
    """Whether the thread's number in its warp decides, spelled as such: work that is divided among warps."""
    chosen: str | None = None
    """The variable that is all that the branch sets, by short arithmetic."""


class OutOfBounds(Struct, frozen=True):
    """An access that leaves an array of known size under one launch."""

    place: Place
    inlined_from: tuple[Frame, ...]
    space: Space
    operation: Operation
    array: str
    launch: int
    kind: Literal["always", "tail"]
    """`tail`: only in the last block of a grid that is rounded up."""
    thread: tuple[int, int, int]
    """The first active thread whose address leaves the array."""
    block: tuple[int, int, int]
    offset: int
    """Where its access starts, in bytes from the start of the array; for an array in registers, in elements."""
    length: int
    """Of its access, in the same unit."""
    extent: int
    """The size of the array, in the same unit."""
    element_bytes: int
    elements: str | None
    """The size in elements, in the names of the host code."""
    values: tuple[tuple[str, int], ...]
    """Sizes that nothing determines, and the values for which the thread leaves the array."""
    condition: str | None
    """For a tail: under which all blocks stay inside."""
    is_allocated: bool
    """The size is that of an allocation or declaration; otherwise it is what a grid without a tail touches."""
    declaration: Place | None
    dimensions: int
    """Of the declared array."""


class PitchMismatch(Struct, frozen=True):
    """An access of an array with another pitch than the length of its rows."""

    place: Place
    inlined_from: tuple[Frame, ...]
    operation: Operation
    array: str
    launch: int
    pitch: str
    """The argument that the row is multiplied with."""
    length: str
    """The argument up to which the column goes."""
    other: Place | None
    """Another access of the array, with rows of that length."""


class Misalignment(Struct, frozen=True):
    """An access whose address is no multiple of its width under one launch, for certain or for some arguments."""

    place: Place
    inlined_from: tuple[Frame, ...]
    space: Space
    operation: Operation
    array: str
    bytes: int
    """What the address has to be a multiple of."""
    launch: int
    condition: str | None
    """What the arguments have to fulfil for it to be aligned; None where it is misaligned whatever they are."""
    thread: tuple[int, int, int]
    """The first thread that is misaligned, if the condition does not hold."""
    block: tuple[int, int, int]
    offset: int | None
    """Where that thread's access starts, in bytes from the start of the array; None where data decides that too."""
    base: int
    """Where a shared array itself starts in the block's shared memory."""
    values: tuple[tuple[str, int], ...]
    """Arguments for which the thread is misaligned."""
    assumptions: tuple[str, ...]


class BranchResult(Struct, frozen=True):
    """What becomes of a branch under one launch."""

    launch: int
    verdict: Verdict
    divergent_warps: float | None
    """Of the warps that get to the branch, the fraction that splits."""
    assumptions: tuple[str, ...] = ()
    reason: str | None = None
    """Why there is no verdict, or why it means little."""
    compiled: Compiled | None = None
    divergence: Divergence | None = None
    """Where warps split."""


class Branch(Struct, frozen=True):
    """A place in the source where lanes may part."""

    place: Place
    function: str
    inlined_from: tuple[Frame, ...]
    kind: Literal["if", "conditional", "for", "while", "do", "switch"]
    results: tuple[BranchResult, ...]

    @property
    def is_loop(self) -> bool:
        return self.kind in ("for", "while", "do")


BarrierKind = Literal["syncthreads", "syncwarp", "cooperative-groups", "named", "grid"]


class BarrierResult(Struct, frozen=True):
    """Who comes to a barrier under one launch."""

    launch: int
    verdict: Literal["uniform", "divergent", "unknown"]
    """Whether all threads that the barrier waits for reach it, or some don't."""
    reason: str | None = None
    """What splits the threads, or why that cannot be told."""
    size: str | None = None
    """The size for which it does, where it does so for some only: `where n = 1025`."""
    returned: bool = False
    """The threads that are missing have left the kernel: the hardware waits for the others only."""
    tail: bool = False
    """So have only threads of blocks behind the first, in which the data ends."""
    unnamed: bool = False
    """Lanes come that the mask of a warp function doesn't name."""
    redundant: bool = False
    """It orders nothing, whatever the sizes and the data, also without the launch's other redundant barriers."""


class Barrier(Struct, frozen=True):
    """A place in the source where threads wait for each other."""

    place: Place
    function: str
    inlined_from: tuple[Frame, ...]
    kind: BarrierKind
    results: tuple[BarrierResult, ...]
    is_implied: bool = False
    """It is no barrier of the source but a warp function with a mask, which makes the warp converge."""


class UnmaskedCall(Struct, frozen=True):
    """A warp function of old, without a mask of the lanes that take part."""

    place: Place
    name: str
    inlined_from: tuple[Frame, ...] = ()


class RaceEnd(Struct, frozen=True):
    """One of the two accesses of a race, and the thread that makes it."""

    place: Place
    operation: Operation
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    array: str = ""
    """What the array is called there: a launch may pass one array for several parameters."""
    inlined_from: tuple[Frame, ...] = ()


class Insertion(Struct, frozen=True):
    """A text that a change of the source puts in at a place without extent."""

    place: Place
    text: str


class BarrierFix(Struct, frozen=True):
    """A barrier that orders the two ends of a race, as the model has tried."""

    call: Literal["__syncthreads", "__syncwarp"]
    place: Place
    where: Literal["before", "end"]
    """Before the statement at the place, or at the end of the body of the loop there."""
    insertions: tuple[Insertion, ...] = ()
    """What puts it there; none where the text is not plain."""


class Race(Struct, frozen=True):
    """Two accesses to the same bytes that nothing orders."""

    space: Literal["shared", "global"]
    array: str
    certainty: Literal["certain", "possible"]
    launch: int
    first: RaceEnd
    second: RaceEnd
    element: str
    """The element that both touch, as the source would spell it, or does where loaded data decides which one it is."""
    reason: str | None = None
    """What a possible race depends on; of a certain one the sizes that it is told for, where they are special."""
    size: str | None = None
    """The plain size that it depends on, where it is there for most sizes."""
    usual: bool = False
    """Possible, and there as soon as two of the loaded numbers are equal, as in a histogram."""
    by_data: bool = False
    """Loaded data decides which element it is, so that the two threads stand for any."""
    reach: Literal["warp", "block", "grid"] = "block"
    """What the two threads share: the warp, the block, or only the grid."""
    across: bool = False
    """The second access belongs to a later iteration of a loop around both."""
    one_access: bool = False
    """One access that several threads make, and not two that a macro puts at one place."""
    fix: BarrierFix | None = None
    lack: int | None = None
    """A number that races of a kernel have in common which lack the same barrier, or those of the same steps of a warp.
    """
    sizes: tuple[tuple[str, int], ...] = ()
    """What nobody gives of the element's address, and the values for which the two threads meet there."""

    @property
    def is_worth_telling(self) -> bool:
        """Certain races, and those that are there for most sizes of the problem or for ordinary data."""
        return self.certainty == "certain" or self.size is not None or self.usual

    @property
    def is_lock_step(self) -> bool:
        """Whether a barrier of the warp would do, as far as it goes: one instruction that stores to one place in
        several lanes is a race whatever the warp does."""
        return self.reach == "warp" and (self.across or not self.one_access)


class Occupancy(Struct, frozen=True):
    """How many blocks and warps fit on an SM under one launch."""

    launch: int
    blocks_per_sm: int | None
    warps_per_sm: int | None
    occupancy: float | None
    limiters: tuple[str, ...]
    limits: Mapping[str, int | None]
    """Blocks per multiprocessor that each resource leaves room for; None where its use is not known."""
    needs_opt_in: bool = False
    """Whether the launch needs cudaFuncAttributeMaxDynamicSharedMemorySize raised."""
    obstacles: tuple[str, ...] = ()
    """Why not even one block can be launched."""
    by_registers: tuple[tuple[int, int, float], ...] = ()
    """Where registers aren't known: registers per thread, and the blocks per SM and occupancy that they allow."""


REGISTER_CEILINGS = frozenset({"launch-bounds", "maxrregcount"})
"""Sources that hold the compiler to a number of registers, and don't say how many it takes."""


class Resources(Struct, frozen=True):
    """What a block of the kernel takes."""

    static_shared_bytes: int | None
    registers: int | None = None
    """Per thread; a ceiling and no count where `registers_source` is one of REGISTER_CEILINGS."""
    registers_source: str | None = None
    max_threads: int | None = None
    min_blocks: int | None = None


class KernelFacts(Struct, frozen=True, eq=False):
    """All that is known of one instantiation of a kernel."""

    name: str
    instantiation: str
    place: Place
    """From the declaration's first token to the closing brace."""
    name_place: Place
    launches: tuple[LaunchFacts, ...]
    accesses: tuple[Access, ...]
    resources: Resources
    branches: tuple[Branch, ...] | None = None
    barriers: tuple[Barrier, ...] | None = None
    races: tuple[Race, ...] | None = None
    unmasked_calls: tuple[UnmaskedCall, ...] = ()
    occupancy: tuple[Occupancy, ...] | None = None
    roofline: None = None
    misalignments: tuple[Misalignment, ...] = ()
    out_of_bounds: tuple[OutOfBounds, ...] = ()
    pitches: tuple[PitchMismatch, ...] = ()
    parameters: tuple[ParameterFacts, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What could not be analysed, with the reason (rule CL902)."""
    left_out: tuple[LeftOutLaunches, ...] = ()


class LeftOutLaunches(Struct, frozen=True):
    """Launches at one place that were not evaluated, since others of the kernel stand for them."""

    path: str | None
    line: int | None
    launches: int
    is_least: bool = False
    """A loop makes more of them than were followed."""


UNRESOLVED = "the front end could not resolve part of its body: "
"""How the reason of a gap begins that comes from names or types that nothing declares, or from a syntax error."""


class Gap(Struct, frozen=True):
    """Something in a kernel that was not analysed."""

    path: str
    line: int
    reason: str
    remedy: str | None = None
    """The annotation or option that would settle it."""
    is_about_races: bool = False
    """All accesses are known; only the search for races had to leave something out."""


class ProblemFacts(Struct, frozen=True):
    """Something that the front end could not resolve."""

    path: str
    line: int
    column: int
    message: str
    is_syntax: bool = False
    """The text is no C++ there, whatever is declared elsewhere."""


class FileFacts(Struct, frozen=True, eq=False):
    """All that is known of one file."""

    path: str
    status: Literal["ok", "partial", "failed"]
    problems: tuple[ProblemFacts, ...] = ()
    kernels: tuple[KernelFacts, ...] = ()
    sources: Mapping[str, str] = {}
    """Paths of the user's files that contributed (the file and its headers), to what they are called."""
    parameters: frozenset[tuple[str, str]] = frozenset()
    """Each kernel with each of its scalar parameters."""
    failures: tuple[str, ...] = ()
    """What the user asked for and could not be had, one line each; everything else was done."""

"""What a launch costs: counts of what it asks of the machine, the time that each resource needs for that, and what a
finding takes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct

from cudalint.facts.launches import LaunchFacts
from cudalint.facts.places import Frame, Place

Resource = Literal[
    "dram", "l2", "l1", "shared", "constant", "issue", "fp32", "fp64", "fp16", "special", "tensor", "latency", "launch"
]
"""What a kernel may wait for. `latency`: for results, with too few warps to hide it. `launch`: to begin and to end."""
WAITING: Final[frozenset[Resource]] = frozenset({"latency", "launch"})
"""What binds a kernel of which no part of the machine is busy: what its requests need is no part of its time."""
Bound = Resource | Literal["unknown"]
CostStatus = Literal["exact", "assumed", "range", "unknown"]
RESOURCES: Final[tuple[Resource, ...]] = get_args(Resource)


class Operations(Struct, frozen=True):
    """Arithmetic per thread, by type; a fused multiply-add counts 2."""

    fp32: float = 0.0
    fp64: float = 0.0
    fp16: float = 0.0
    tensor: float = 0.0
    special: float = 0.0
    """Instructions of the special function unit: reciprocals, roots, `sin`, `exp2`, and the conversions that it does.
    """

    @property
    def floating(self) -> float:
        """Floating-point operations of all types."""
        return self.fp32 + self.fp64 + self.fp16 + self.tensor


class Waits(Struct, frozen=True):
    """What a warp waits for one after the other, on average over the warps of a launch."""

    instructions: float = 0.0
    """That it executes."""
    loads: float = 0.0
    """Loads of global memory (or a few at once, which do not need each other)."""
    shared: float = 0.0
    """The same of shared memory."""
    barriers: float = 0.0
    special: float = 0.0
    """Operations of the special function unit, and those of FP64."""


class Work(Struct, frozen=True):
    """What one launch asks of the machine: all that the time model sees of it."""

    blocks: float
    warps_per_block: int
    resident_blocks: int
    """Blocks that fit on one SM at a time."""
    operations: Operations
    instructions: float
    """Warp-level instructions."""
    requests: Mapping[str, float]
    """Warp-level requests by memory: `global`, `shared`."""
    sectors: float
    """32-byte sectors that global requests ask of L1."""
    passes: float
    """Clocks of an SM's L1 that they take."""
    wavefronts: float
    """Passes that requests of shared memory take."""
    l2_bytes: float
    dram_bytes: float
    waits: Waits
    turns: float = 0.0
    """Clocks of an SM's constant cache for loads whose lanes want different words."""
    past_l1: float = 1.0
    """Of what loads of global memory wait for, the part that L1 does not have."""
    past_l2: float = 1.0
    """Of that, the part that L2 does not have."""
    slots: float = 1.0
    """Lanes that the warps of a block have for each of its threads: what an idle lane doesn't compute takes as long."""


class Needless(Struct, frozen=True):
    """Bytes of an array that are moved beyond what the ideal sectors of all requests are. Of what is asked for again,
    as of the fields of a record one by one, a cache has kept the sectors."""

    l2: float
    dram: float


AccessPlace = tuple[Place, tuple[Frame, ...]]
"""Where an access is, and the calls that lead there."""


_SIZE: Final = re.compile(r"[\w.:\[\]>-]+ = -?\d+")


class LaunchCost(Struct, frozen=True):
    """What one launch of a kernel costs on the target. Figures that are not known are None."""

    launch: int
    status: CostStatus
    assumptions: tuple[str, ...] = ()
    reason: str | None = None
    """Why the status is `range` or `unknown`."""
    requests: Mapping[str, float] = {}
    """Warp-level requests by memory: `global`, `shared`."""
    sectors: float | None = None
    wavefronts: float | None = None
    operations: Operations | None = None
    instructions: float | None = None
    read_bytes: float | None = None
    """Distinct bytes of global memory that are read, in whole sectors."""
    written_bytes: float | None = None
    l2_bytes: float | None = None
    dram_bytes: float | None = None
    requested_bytes: float | None = None
    """What all lanes ask of global memory: the traffic that there would be without caches."""
    requested_intensity: float | None = None
    """Floating-point operations per such byte: 1/12 for a sum of two vectors, a quarter for a naive matrix product and
    a quarter of the tile's width for a tiled one."""
    arithmetic_intensity: float | None = None
    """Floating-point operations per byte of DRAM traffic."""
    ridge: float | None = None
    """The intensity at which the target's arithmetic takes as long as its DRAM."""
    limits_us: Mapping[Resource, float] = {}
    """Microseconds that each resource takes, if nothing else held the kernel up."""
    bound: Bound = "unknown"
    time_us: float | None = None
    attainable_gflops: float | None = None
    """10^9 operations per second that the roofline allows at this intensity."""
    work: Work | None = None
    stops: Mapping[Place, float] = {}
    """How often a warp waits at each barrier, by its place."""
    lengths: tuple[str, ...] = ()
    """What is assumed of loops of which nothing says how long they are."""
    within: Mapping[Place, frozenset[int]] = {}
    """By place, the numbers of the lengths on which it rests how often code is executed."""
    shares: Mapping[AccessPlace, float] = {}
    """By access, which part of its requests counts, where not all do: in loops of which nothing says how long they are.
    """
    scale: float = 1.0
    """Times that all counts are taken, where a launch of unknown size stands for more blocks than were evaluated."""
    needless: Mapping[str, Needless] = {}
    """By array, what goes past L1 and past L2 beyond the ideal."""
    is_nominal: bool = False
    """Nothing in sight gives sizes that its time rests on: it is that of a launch that fills the GPU, of which the
    proportions say something, and not how long it takes."""
    rests_on: tuple[str, ...] = ()
    """Those of these sizes that the kernel takes, by name."""

    @property
    def sizes(self) -> tuple[str, ...]:
        """The numbers among the assumptions, `n = 40960`; none where the time is not that of these."""
        return () if self.is_nominal else tuple(text for text in self.assumptions if _SIZE.fullmatch(text))

    @property
    def reached_gflops(self) -> float | None:
        """10^9 operations per second in the predicted time; None if that is not known, or what the roof allows is not.
        """
        return self.gflops_in(self.time_us)

    def gflops_in(self, time_us: float | None) -> float | None:
        """The same in some other time, as that which was measured."""
        if self.operations is None or not time_us or self.attainable_gflops is None:
            return None
        done = self.operations if self.work is None else self.work.operations
        return done.floating / time_us / 1e3


class Excess(Struct, frozen=True):
    """What goes away, in one launch, if the figure of a finding becomes ideal."""

    sectors: float = 0.0
    """Beyond the ideal, of global memory."""
    passes: float = 0.0
    """Clocks of an SM's L1 that these take."""
    wavefronts: float = 0.0
    """Beyond the ideal, of shared memory."""
    turns: float = 0.0
    """Of the constant cache."""
    l2_bytes: float = 0.0
    dram_bytes: float = 0.0
    doubles: float = 0.0
    """Operations in double precision that could be in single precision."""
    special: float = 0.0
    """Operations of the special function unit."""
    instructions: float = 0.0
    """Warp-level instructions, such as those that both sides of a divergent branch take."""
    barriers: float = 0.0
    """That a warp waits at, one after the other."""
    resident_blocks: int = 0
    """Blocks that could be on one SM beside those that are."""
    repeated: float = 0.0
    """The part of its blocks or threads that do what others do as well."""
    slots: float = 0.0
    """The part of the lanes of its warps that have no thread."""
    is_uneven: bool = False
    """Some SMs have fewer blocks than others."""


_ONE_OF_ALL: Final = frozenset({"resident_blocks", "repeated", "slots", "is_uneven"})


def sum_of(parts: Sequence[Excess]) -> Excess:
    """What goes away if the figures of several findings become ideal. What all blocks, SMs or lanes have in common goes
    away once: of that the largest counts."""
    parts = parts or (Excess(),)
    return Excess(
        **{
            name: (max if name in _ONE_OF_ALL else sum)(getattr(part, name) for part in parts)
            for name in Excess.__struct_fields__
        }
    )


class KernelCost(Struct, frozen=True):
    """A launch that findings are about, as the time model sees it."""

    launch: LaunchFacts
    target: str
    """The name of the GPU."""
    time_us: float
    bound: Bound
    work: Work
    sizes: tuple[str, ...] = ()
    """What its time rests on that nothing in sight says: `n = 40960`; nothing where it is not that of these."""
    lengths: tuple[str, ...] = ()
    """The same of loops: `a loop at line 6 has 256 iterations`."""
    is_nominal: bool = False
    rests_on: tuple[str, ...] = ()
    """See `LaunchCost`."""
    doubt: str | None = None
    """What data decides that its time rests on, if it does."""


Weight = tuple[float, float, float]


class FindingCost(Struct, frozen=True):
    """What a finding takes of its kernel."""

    share: float | None
    """Of the kernel's predicted time, what goes away if the finding's figure becomes ideal; None if not known."""
    speedup: float | None
    """Of the kernel, if it does."""
    limiter: Bound
    """What binds the kernel as it is."""
    sectors: float = 0.0
    """Sectors beyond the ideal in the whole launch."""
    wavefronts: float = 0.0
    """Wavefronts beyond the ideal in the whole launch."""
    traffic_share: float | None = None
    """Of the kernel's traffic through L1 and shared memory, what goes away, where a wavefront is as much as four
    sectors. Known where the counts are, if only up to a common factor, and the time may not be. None where it is not
    known, and where the finding is not about traffic."""
    status: CostStatus = "unknown"
    reason: str | None = None
    """Why the share is not known."""
    if_short: tuple[str, ...] = ()
    """What loops around other code are taken for, where nothing says how long they are."""
    excess: Excess = Excess()
    kernel: KernelCost | None = None
    """The launch in which it costs most; None if the share is not known."""
    findings: int = 1
    """How many findings it is the cost of."""
    place: Place | None = None
    """What is there is counted: other findings about the same place have the same excess, not one more."""

    @property
    def program_share(self) -> float | None:
        """Of the time of all launches of a program that was recorded, what goes away if the finding's figure becomes
        ideal; None where that is not known."""
        recorded = self.kernel.launch.recorded if self.kernel is not None else None
        if self.share is None or recorded is None or recorded.share is None:
            return None
        return recorded.share * self.share

    @property
    def weight(self) -> Weight:
        """By which findings are ranked: the program's time where that was recorded, that of their kernel, and traffic
        where they take the same of it."""
        return self.program_share or 0.0, self.share or 0.0, self.traffic_share or 0.0

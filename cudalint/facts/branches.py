"""Branches and loops at which the lanes of a warp part."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Frame, Place

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
    spare: float = 0.0
    """Of the times that warps come to the only side, the part that would not be if the lanes of a block that go there
    were side by side; 0 where there are two sides."""
    sized: bool = False
    """Whether it rests on sizes that nothing determines: other ones make much less of it."""
    by_lane: bool = False
    """Whether the thread's number in its warp decides, spelled as such: work that is divided among warps."""
    chosen: str | None = None
    """The variable that is all that the branch sets, by short arithmetic."""
    ways: bytes = b""
    """One number for each thread of a block in which warps split, in the order of warps: 1 where the condition holds
    (of a loop: where no lane of the warp passes through it more often), 2 where it does not, 0 for threads that don't
    get there."""


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
    loaded: str = ""
    """Of a loop whose lanes go on as data says: the array that it is loaded from, and the line."""
    loop_share: float = 0.0
    """Of such a loop: what it takes of all that a warp executes in this kernel, at the lengths that are assumed."""


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

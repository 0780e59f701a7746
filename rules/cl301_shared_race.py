"""CL301: threads of a block that touch one element of shared memory with no barrier between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, Race
from cudalint.fixes.obstacles import edited
from cudalint.racekit import (
    ONE_THREAD,
    WHICH,
    barrier_suggestion,
    grouped,
    is_by_all,
    is_of_one_warp,
    is_update,
    lines_of_ends,
    listed,
    may_be_meant_once,
    other_lines,
    race_findings,
    reportable,
    spot,
    spots,
)
from cudalint.rule import Rule, RuleContext

_STEPWISE = (
    "put `__syncthreads()` behind each step, and between what it reads and what it stores, where all threads of the"
    " block come to it"
)

_ALL_STORE = (
    "all threads of the block store to `{}` there: let one thread do it, with `__syncthreads()` behind, or give each"
    " thread a copy of its own that isn't shared"
)
_ONCE = "whether it is meant once for the block or for each thread is not known"


class SharedRace(Rule):
    """Two threads of a block that touch the same bytes of shared memory, one of them writing, with no barrier between.

    What it does
        Divides the execution of a block at its barriers, and takes the addresses of all threads in every pair of
        accesses between two of them, across the back edges of loops too. The finding names two threads, the element
        and both lines, and where a barrier goes: the place has been tried, and all threads come to it, with other
        arguments and blocks too.

    Why is this bad
        Between two barriers the warps of a block run in any order. What a thread reads there, another may have
        written already, or not yet. The result changes with the GPU, the compiler and the load, and most often when
        nobody looks.

    Example
        tile[threadIdx.x] = in[i];
        out[i] = tile[blockDim.x - 1 - threadIdx.x];

    Use instead
        tile[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = tile[blockDim.x - 1 - threadIdx.x];

        A loop that fills a tile and reads it takes two barriers, one after the tile is filled, and one before it is
        filled again. So does the shared storage of two `cub::BlockReduce`: the first is done with it at the next
        barrier.

        Races whose outcome is the same in either order are warnings, "benign by value": an update that makes no
        difference the second time (`flags |= 1`), a read that nobody uses, and a branch whose stores are all the same
        whoever takes it (`if (!*done) { *done = 1; *changed = 1; }`). The language leaves them undefined all the same,
        and the compiler may store or load in pieces, or twice: atomics say what is meant. A store of one value beside a
        thread that finds it or not, and acts upon that, is an error.

    What is not reported
        - Stores of one and the same value by several threads, and reads of it by threads that stored it.
        - Reads whose result only the thread uses that writes there, such as the sum that a reduction returns to all
          threads and that thread 0 stores, and those that decide only whether their thread is still free to write
          there (`if (found == none && fits) found = mine`): `cudalint facts` lists them as possible.
        - Atomics against each other, and the load that goes into a compare-and-swap.
        - Races that depend on loaded data, in who gets there or in the address: `cudalint facts` lists those as
          possible. Those that are there for most sizes of the problem are reported, as warnings, and so are threads
          that count (`count[in[i]] += 1`) where only data says in which element, elements that one thread touches
          as its own and another where data says, and one element that all threads update for which data says so.
        - Races between threads of one warp: see CL304.
    """

    code = "CL301"
    name = "shared-race"
    severity = "error"
    summary = "shared memory that threads of a block touch with no barrier between"
    guide = ("barriers", "faults")
    by_hand = "no single barrier orders the two, or none where all threads come to it"
    reads = frozenset({"accesses", "branches", "early_reads", "races"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        shared = reportable(kernel)
        for group in grouped(shared):
            if not is_of_one_warp(group):
                yield from race_findings(self, kernel, group, partial(_remedy, kernel, context.text_of))


def _remedy(kernel: KernelFacts, text_of: Callable[[str], str], group: Sequence[Race]) -> Suggestion:
    from cudalint.fixes.atomic_edits import atomic_edits
    from cudalint.fixes.step_edits import step_edits

    barrier = barrier_suggestion(group)
    if barrier is not None:
        return barrier
    race = group[0]
    if is_update(race, kernel):
        atomic = f"update `{race.element}` with an atomic such as `atomicAdd` or `atomicMin`"
        if may_be_meant_once(race, kernel):
            return Suggestion(f"{ONE_THREAD}; {atomic} if each thread has its share", no_edit=WHICH)
        advice = Suggestion(f"{atomic}, or let each thread have a copy of its own, to be put together at the end")
        tried = replace(advice, rewrites=True, otherwise=advice)
        return edited(tried, lambda: atomic_edits(race, kernel, text_of), "unsafe")
    if is_by_all(race, kernel):
        return Suggestion(_ALL_STORE.format(race.array), no_edit=_ONCE)
    is_one_line = race.first.place.line == race.second.place.line
    both_store = race.first.operation == race.second.operation == "store"
    if (race.one_access and not race.across) or (both_store and is_one_line):
        return Suggestion(f"let one thread write `{race.element}`, or give each thread an element of its own")
    words = _in_words(race, group)
    stepwise = edited(
        Suggestion(_STEPWISE, rewrites=True, otherwise=words),
        lambda: step_edits(group, kernel.branches or (), text_of, "__syncthreads"),
        "unsafe",
    )
    return stepwise if stepwise.edits else replace(words, no_edit=stepwise.no_edit)


def _in_words(race: Race, group: Sequence[Race]) -> Suggestion:
    first, second = lines = lines_of_ends(race)
    if first == second:
        return Suggestion("read into a register, then `__syncthreads()`, then write")
    text = (
        f"put `__syncthreads()` between {spots(lines, race)}, outside of branches and loops that some threads"
        " skip: end those before it, and begin them again behind it"
    )
    if race.across or second < first:
        where = f"behind {spot(first, race)}, before {spot(second, race)} is executed again"
        text = f"put `__syncthreads()` {where}, where all threads of the block come to it"
    also = other_lines(race, group)
    lacking = f"; what is at {listed(also)} lacks it, too" if also else ""
    return Suggestion(text + lacking)

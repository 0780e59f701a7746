"""CL305: threads that touch one element of global memory with nothing that orders them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import Insertion, KernelFacts, Publication, Race
from cudalint.fixes.obstacles import edited
from cudalint.numerals import thread
from cudalint.racekit import (
    ONE_THREAD,
    WHICH,
    barrier_suggestion,
    grouped,
    is_update,
    may_be_meant_once,
    race_finding,
)
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related
from cudalint.source.insertions import before_statement


class GlobalRace(Rule):
    """Two threads that touch one element of global memory in one kernel, one of them writing, with nothing between.

    What it does
        As CL301 for shared memory, for all threads of a block and for blocks beside each other, and through two
        parameters too, where the launch passes one array for both. Barriers order the threads of a block, only those
        of the grid order blocks. With `--race-scope block` blocks are not compared.

        Flags and counters by which threads tell others that memory was written: they are reported if one warp releases
        a flag (`st.release`, `memory_order_release`, `__threadfence()` before it) when other warps of the block have
        written since the last barrier, and, where blocks of one grid wait for each other, if no memory fence stands
        between what was written and the flag.

    Why is this bad
        Blocks run in any order, at the same time or one after the other, as there is room on the GPU. What one reads of
        another's output is old or new by chance.

        A fence or a release orders what its own thread has written, and what a barrier has ordered before that. What
        other threads write is not waited for, and without a fence not even the thread's own data has to be seen before
        the flag.

    Example
        a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;    // the neighbours may have been replaced already

    Use instead
        out[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;  // another array, and another kernel that reads it

        Flags are set behind `__syncthreads()`, by a thread that makes a `__threadfence()` first.

        Sums over many threads take atomics, or one result for each block and a second kernel.

        Races whose outcome is the same in either order are warnings, "benign by value": an update that makes no
        difference the second time (`flags |= 1`), a read that nobody uses, and a branch whose stores are all the same
        whoever takes it (`if (!*done) { *done = 1; *changed = 1; }`). The language leaves them undefined all the same,
        and the compiler may store or load in pieces, or twice: atomics say what is meant. A store of one value beside a
        thread that finds it or not, and acts upon that, is an error.

    What is not reported
        - Stores of one and the same value, atomics against each other, and plain loads before an atomic that updates
          what they read (`if (x > *most) atomicMax(most, x)`); but atomics of a block (`atomicAdd_block`,
          `cuda::thread_scope_block`) order nothing between blocks.
        - Reads whose result only the thread uses that writes there, or that decide only whether its thread is still
          free to write there (`if (found == none && fits) found = mine`): any of those that fit may win.
        - Addresses that depend on loaded data, accesses that loaded data decides upon, and kernels that order their
          blocks by fences and flags, or threads by locks: `cudalint facts` lists those as possible. One element that
          all threads update for which data says so (`if (in[i] > 0) *count += 1`) is reported, as a warning.
        - What only the last block touches, the one that draws the last number from a counter (`atomicAdd(&done, 1) ==
          gridDim.x - 1`); what others have written before is reported where no memory fence stands before the atomic.
        - Flags that may announce something else: what their own thread has written alone, or what the block has touched
          before the last barrier.
        - Arrays that are passed under two names by a launch that is not in sight.
    """

    code = "CL305"
    name = "global-race"
    severity = "error"
    summary = "global memory that threads touch with nothing to order them"
    guide = ("barriers",)
    by_hand = "nothing within one kernel orders its blocks: the work has to be divided otherwise"
    reads = frozenset({"accesses", "races", "publications", "waits"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        races = [race for race in kernel.races or () if race.space == "global" and race.is_reportable]
        for group in grouped(races):
            # Where several threads update an element, no barrier between its other accesses is enough.
            first = next((race for race in group if is_update(race, kernel)), group[0])
            is_ordered = all(race.fix is not None for race in group if race.reach != "grid")
            yield race_finding(self, kernel, group, _suggestion(first, group, kernel, is_ordered, context.text_of))
        for early in (*kernel.publications, *(each for each in kernel.signals if each.lacks == "fence")):
            yield self.finding(
                kernel,
                place=early.place,
                message=_too_early(early),
                launches=kernel.launches_of(early),
                related=(*_around(early), *frames_related(early.inlined_from)),
                suggestion=Suggestion(_order(early)),
            )


def _suggestion(
    race: Race, group: Sequence[Race], kernel: KernelFacts, is_ordered: bool, text_of: Callable[[str], str]
) -> Suggestion | None:
    from cudalint.fixes.atomic_edits import atomic_edits

    if _keeps_to_its_block(race, kernel) and is_ordered and not is_update(race, kernel):
        barrier = barrier_suggestion([race, *(other for other in group if other is not race)])
        if barrier is not None and barrier.edits:
            return barrier
    text = _remedy(race, kernel, is_ordered)
    if text is None:
        return None
    if is_update(race, kernel) and race.fence_before is None:
        advice = Suggestion(text)
        if may_be_meant_once(race, kernel):
            return replace(advice, no_edit=WHICH)
        tried = replace(advice, rewrites=True, otherwise=advice)
        return edited(tried, lambda: atomic_edits(race, kernel, text_of), "unsafe")
    edits = _edits(race, kernel, is_ordered, text_of)
    return Suggestion(text, edits, applicability="safe" if edits else "display")


def _keeps_to_its_block(race: Race, kernel: KernelFacts) -> bool:
    """Whether no two blocks, of those that are compared, touch an element of the array of which one writes it."""
    same = (other for other in kernel.races or () if other.array == race.array or race.array == other.first.array)
    return race.reach != "grid" and all(other.reach != "grid" for other in same)


def _edits(race: Race, kernel: KernelFacts, is_ordered: bool, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """A memory fence before the atomic that lacks it, or the barrier that was tried, where that is what `_remedy` says:
    neither does anything but order what there is."""
    inserted: tuple[Insertion, ...] = ()
    if race.fence_before is not None:
        inserted = before_statement(text_of(race.fence_before.path), race.fence_before, "__threadfence();")
    elif race.fix is not None and _takes_a_barrier(race, kernel, is_ordered):
        inserted = race.fix.insertions
    return tuple(Edit(each.place, each.text) for each in inserted)


def _takes_a_barrier(race: Race, kernel: KernelFacts, is_ordered: bool) -> bool:
    operations = {race.first.operation, race.second.operation}
    if race.reach == "grid" or not is_ordered or is_update(race, kernel) or "load" not in operations:
        return False
    if _is_written_twice(race, kernel) or race.first.place.line == race.second.place.line:
        return False
    return _lanes_take_turns(race, kernel) or kernel.launches[race.launch].grid == (1, 1, 1)


def _lanes_take_turns(race: Race, kernel: KernelFacts) -> bool:
    """Whether all that is missing is that the lanes of a warp read before one of them writes."""
    if not race.is_lock_step or race.across or race.first.operation != "load":
        return False
    others = (other for other in kernel.races or () if other.array == race.array and other.one_access)
    return all(other.second.place != race.second.place for other in others)


def _is_written_twice(race: Race, kernel: KernelFacts) -> bool:
    """Whether threads write over each other in the array of a race, which they would do in another array as well."""
    return any(
        other.array == race.array and "load" not in (other.first.operation, other.second.operation)
        for other in kernel.races or ()
    )


def _remedy(race: Race, kernel: KernelFacts, is_ordered: bool) -> str | None:
    """What to change, in the names of the source; None where nothing is known to help. `is_ordered`: barriers were
    tried that order all that is reported with it within blocks; no others are named."""
    array, element = race.second.array, race.element
    if race.fence_before is not None:
        line = race.fence_before.line
        return (
            f"put `__threadfence()` before the atomic at line {line}, in every thread that has written: by itself, the"
            " atomic does not make what was written before it visible to the block that comes last"
        )
    first, second = race.first.place.line, race.second.place.line
    if is_update(race, kernel):
        if may_be_meant_once(race, kernel):
            return f"{ONE_THREAD}; update `{element}` with an atomic such as `atomicAdd` if each thread has its share"
        return (
            f"update `{element}` with an atomic such as `atomicAdd`; of a sum, add up within each block first, so that"
            " one thread of each does it"
        )
    operations = {race.first.operation, race.second.operation}
    if operations == {"atomic"}:
        return "take atomics whose scope is the device: `atomicAdd` for `atomicAdd_block`, `cuda::thread_scope_device`"
    if operations == {"store"} or ("store" in operations and _is_written_twice(race, kernel)):
        return f"let one thread write `{element}`, or give each thread an element of its own"
    elsewhere = f"write into another array than `{array}`, which other threads still read, and exchange the two later"
    if first == second:
        return elsewhere
    if _lanes_take_turns(race, kernel) and is_ordered:
        return f"put `__syncwarp()` between lines {first} and {second}: by themselves, lanes need not run together"
    barrier = f"`__syncthreads()` between lines {first} and {second}"
    is_alone = kernel.launches[race.launch].grid == (1, 1, 1)
    if race.reach != "grid" and not is_ordered:
        return elsewhere if "load" in operations else None
    if is_alone:
        return f"put {barrier}, where all threads of the block come to it"
    # Blocks come in any order, in which the two are found as well.
    earlier = min(race.first, race.second, key=lambda end: end.place.line) if race.reach == "grid" else race.first
    if earlier.operation == "load" and earlier.place.line == min(first, second) and not race.across:
        # What is read before it is written is old for everybody in another array, whatever block comes first.
        enough = f"; if each block has a part of `{array}` of its own, {barrier} is enough"
        return elsewhere if race.reach == "grid" else elsewhere + enough
    second_kernel = f"make a second kernel of what follows line {min(first, second)}: only the end of a kernel (or the"
    second_kernel += " `grid.sync()` of a cooperative launch) orders its blocks"
    within = f"put {barrier}, where all threads of the block come to it; if blocks share `{array}`, {second_kernel}"
    return second_kernel if race.reach == "grid" else within


def _too_early(early: Publication) -> str:
    line = early.other.line
    if early.lacks == "barrier":
        return (
            f"{thread(early.thread)} sets `{early.flag}` while other warps of the block may still write"
            f" `{early.array}` (line {line}): a release orders what its own thread has written"
        )
    return (
        f"`{early.flag}` tells other blocks that `{early.array}` was written (line {line}), and no memory fence stands"
        " between: they may find what was there before"
    )


def _around(early: Publication) -> Iterator[Related]:
    if early.lacks == "barrier":
        yield Related(early.other, f"all threads write `{early.array}` here, and no barrier follows")
        return
    yield Related(early.other, f"`{early.array}` is written here")
    if early.read_at is not None:
        yield Related(early.read_at, "another block reads it here, after it has waited")


def _order(early: Publication) -> str:
    if early.lacks == "barrier":
        return f"put `__syncthreads()` between line {early.other.line} and the flag, where all threads come by"
    return (
        "put `__threadfence()` in front of it, behind a barrier of the block if other threads have written; or set it"
        " by `cuda::atomic_ref` with `memory_order_release`"
    )

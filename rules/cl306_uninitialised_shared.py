"""CL306: shared memory that is read before anything is written to it."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.facts.uninitialised import Uninitialised
from cudalint.numerals import thread
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class UninitialisedShared(Rule):
    """A shared variable that a thread reads before any thread has written it.

    What it does
        Follows a kernel from its beginning, and reports the first touch of a shared variable if that is a read, or an
        atomic that goes on from what is there, by at least one thread of the block. Kernels that are not known in full
        are left alone: something that is not seen might write.

        It also reports elements that are read in blocks in which no thread has written them, since those that would,
        as they do in other blocks, are behind the end of the data: they have returned, or skip the store. What is read
        has to go into what is stored to global memory.

    Why is this bad
        Shared memory begins with whatever the block before it left. It is often zero in a test, and not in a program
        with several kernels.

    Example
        __shared__ int count;
        if (in[i] > 0)
            atomicAdd(&count, 1);

    Use instead
        __shared__ int count;
        if (threadIdx.x == 0)
            count = 0;
        __syncthreads();
        if (in[i] > 0)
            atomicAdd(&count, 1);
    """

    code = "CL306"
    name = "uninitialised-shared"
    severity = "error"
    summary = "shared memory that is read before anything is written to it"
    guide = ("barriers",)
    by_hand = "what the array should begin with is not known"
    reads = frozenset({"uninitialised"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for found in kernel.uninitialised:
            if found.absent is not None:
                yield self._hole(kernel, found)
                continue
            does = "adds to" if found.is_atomic else "reads"
            when = "and nothing ever writes it" if found.written_at is None else "before any thread has written it"
            if found.is_atomic and found.written_at is None:
                when = "and nothing sets it before"
            later = () if found.written_at is None else (Related(found.written_at, "written here for the first time"),)
            yield self.finding(
                kernel,
                place=found.place,
                message=f"{thread(found.thread)} {does} `{found.array}` in shared memory, {when}",
                launches=kernel.launches_of(found),
                assumptions=found.assumptions,
                related=(*later, *frames_related(found.inlined_from)),
                suggestion=Suggestion(f"set `{found.array}` at the beginning, with `__syncthreads()` after it"),
            )

    def _hole(self, kernel: KernelFacts, found: Uninitialised) -> Diagnostic:
        assert found.written_at is not None
        does = "has returned" if found.has_returned else "skips the store"
        absent = thread(found.absent or (0, 0, 0))
        size = f" {found.size}" if found.size else ""
        return self.finding(
            kernel,
            place=found.place,
            severity="warning" if found.size else self.severity,
            message=f"{thread(found.thread, found.block)} reads an element of `{found.array}` that nobody has"
            f" written there{size}: {absent}, which would (line {found.written_at.line}), {does}",
            launches=kernel.launches_of(found),
            assumptions=found.assumptions,
            related=(Related(found.written_at, "written here in other blocks"), *frames_related(found.inlined_from)),
            suggestion=Suggestion(_STAY if found.has_returned else _FILL),
        )


_FILL = "let those threads store what changes nothing, such as 0 for a sum: `s[i] = inside ? in[i] : 0;`"
_STAY = (
    "let the threads behind the end of the data stay until what is shared is read: put the condition around what they"
    " load and store, in place of the early return"
)

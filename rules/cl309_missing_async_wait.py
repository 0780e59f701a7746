"""CL309: what an asynchronous copy writes is read before anybody has waited for the copy."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.facts.copies import EarlyRead
from cudalint.facts.places import Frame, Place
from cudalint.numerals import count, thread
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related

_WAIT = (
    "wait for the copy between the two (`__pipeline_wait_prior(0)`, `cp.async.wait_group 0`, `wait(group)`), with"
    " `__syncthreads()` behind it where other threads read"
)


class MissingAsyncWait(Rule):
    """Shared memory that is read while the asynchronous copy that fills it may be under way.

    What it does
        Follows asynchronous copies (`__pipeline_memcpy_async`, `memcpy_async`, `cp.async`) with the groups that they
        are committed in, through the stages of a pipeline, and reports the first read of a byte whose copy nobody has
        waited for: there is no wait between them, the wait lets too many groups be under way, or the copy is in no
        group yet.

    Why is this bad
        A copy is done when the thread that has issued it has waited for it, and not before: a barrier of the block
        doesn't wait for copies, and neither do loads of the same thread. What is read is what was there before, or
        half of each; as a copy mostly takes less time than what stands between, it shows under load only.

    Example
        __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float));
        __pipeline_commit();
        __syncthreads();
        out[i] = tile[255 - threadIdx.x];

    Use instead
        __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[i] = tile[255 - threadIdx.x];

        With `__pipeline_wait_prior(N)`, or `cp.async.wait_group N`, the latest N groups may still be under way: in a
        pipeline of S stages that commits a group in each turn, also where nothing is left to copy, N is the number of
        groups that were committed behind the one that is read. The barrier after the wait is for what other threads
        have copied: see CL301.

    What is not reported
        - Copies that data decides about, in whether they are made or where to.
        - Kernels that are not known in full: what is not seen might wait.
        - Copies of the copy engine (`cp.async.bulk`), which a barrier in memory waits for.
    """

    code = "CL309"
    name = "missing-async-wait"
    severity = "error"
    summary = "what an asynchronous copy writes is read before the copy is waited for"
    by_hand = "which of the copies the wait is meant for is not known"
    reads = frozenset({"early_reads"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        told: dict[object, list[EarlyRead]] = {}
        for found in kernel.early_reads:
            told.setdefault((found.array, found.launch, found.waited_at), []).append(found)
        for group in told.values():
            first = group[0]
            lines = {first.place.line}
            others = []
            for other in group[1:]:
                if other.place.line not in lines:
                    lines.add(other.place.line)
                    others.append(Related(other.place, f"`{other.array}` is read too early here, too"))
            yield self.finding(
                kernel,
                place=first.place,
                message=_message(first),
                launches=kernel.launches_of(first),
                assumptions=first.assumptions,
                related=(
                    Related(first.copied_at, "copied here"),
                    *frames_related(first.copied_from),
                    *frames_related(first.inlined_from),
                    *others,
                ),
                suggestion=Suggestion(_advice(first)),
            )


def _message(found: EarlyRead) -> str:
    whose = "its own asynchronous copy" if found.thread == found.copier else "another thread's asynchronous copy"
    copied = _line(found.copied_at, found.copied_from)
    text = f"{thread(found.thread)} reads `{found.array}` before {whose} to it (line {copied}) is waited for"
    if found.waited_at is None:
        return text
    wait = f"the wait at line {_line(found.waited_at, found.waited_from)}"
    if found.groups < 0:
        return f"{text}: {wait} is for groups, and the copy is in none"
    newer = f"with {count(found.groups, 'newer one')}" if found.groups else "as the newest"
    return f"{text}: {wait} lets {count(found.kept, 'group')} be under way, and the copy's is among them, {newer}"


def _advice(found: EarlyRead) -> str:
    if found.waited_at is None:
        return _WAIT
    line = _line(found.waited_at, found.waited_from)
    if found.groups < 0:
        return f"commit the copy before line {line} (`__pipeline_commit()`, `cp.async.commit_group`)"
    most = count(found.groups, "group")
    return f"let {most} at most be under way at line {line}, and commit one in each turn, if it copies anything or not"


def _line(place: Place, frames: tuple[Frame, ...]) -> int:
    """Of the kernel's own body, where helper functions copy and wait."""
    return frames[-1].line if frames else place.line

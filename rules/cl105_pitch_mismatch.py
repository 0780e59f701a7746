"""CL105: `row * S + col` where the row has another length than `S`."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related
from cudalint.facts import KernelFacts, PitchMismatch
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related, in_kernel


class PitchMismatchRule(Rule):
    """An index `row * S + col` whose column is bounded by another size than `S`, while the row is bounded by `S`.

    What it does
        Takes the offset of each global access as a polynomial over the kernel's arguments: the pitch is what the row
        is multiplied with. How far row and column go is read from the guards and loops, by value and not by the
        look of the expression. Reports an access whose column goes up to another argument than the pitch, if the
        row goes up to the pitch, or if another access of the array has rows of that other length.

    Why is this bad
        Rows overlap or leave gaps, and the last ones lie outside of the array. With square matrices, in which all
        sizes are the same, nothing goes wrong, so that tests pass.

    Example
        if (k < K && col < N)
            Bs[ty][tx] = B[k * K + col];   // B has K rows of N elements

    Use instead
        Bs[ty][tx] = B[k * N + col];

    What it leaves out
        A leading dimension (`lda`), by which nothing is bounded, is as long as it wants to be. An array that is
        elsewhere read with columns up to the pitch, or allocated with rows of the pitch's length, is believed.
    """

    code = "CL105"
    name = "pitch-mismatch"
    severity = "warning"
    summary = "an index whose pitch is another size than the row's length"
    by_hand = "which of the two lengths is meant is not known"
    reads = frozenset({"pitches"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for found in kernel.pitches:
            other = found.other
            yield self.finding(
                kernel,
                place=found.place,
                message=_message(found),
                launches=(kernel.launches[found.launch],),
                related=(
                    *((Related(other, f"rows of `{found.length}` elements here"),) if other is not None else ()),
                    *frames_related(found.inlined_from),
                ),
                causes=(in_kernel(kernel, f"{found.pitch} for {found.length}"),),
                about=found.array,
            )


def _message(found: PitchMismatch) -> str:
    if found.other is not None:
        why = f"its column goes up to `{found.length}`, as in the rows of another access"
    else:
        why = f"its column goes up to `{found.length}`, and its row to `{found.pitch}`"
    indexed = f"`{found.array}` is indexed with a pitch of `{found.pitch}`, but {why}"
    return f"{indexed}: a row has `{found.length}` elements, or the bounds are exchanged"

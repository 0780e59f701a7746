"""CL901: suppressions that suppress nothing."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.options.suppressions import AnnotationReview, Suppression
from cudalint.rule import AnnotationRule


class UnusedSuppression(AnnotationRule):
    """A suppression comment that suppresses nothing.

    What it does
        Reports an `allow`, `allow-kernel` or `allow-file` annotation for a rule that finds nothing there. The rule
        must have run: under `--select CL101` nothing is said about `allow(bank-conflict)`. Neither is anything said
        about files that could not be parsed in full.

    Why is this bad
        It hides the next finding at the place, which may be a worse one, behind a reason that was given for
        another.

    Example
        // cudalint: allow(bank-conflict) -- the transposed read costs 32 wavefronts, measured as hidden
        out[i] = tile[threadIdx.y][threadIdx.x];   // no conflict any more

    Use instead
        out[i] = tile[threadIdx.y][threadIdx.x];
    """

    code = "CL901"
    name = "unused-suppression"
    severity = "warning"
    summary = "a suppression comment that suppresses nothing"
    by_hand = "an annotation may be meant for another build"

    def check(self, review: AnnotationReview) -> Iterator[Diagnostic]:
        for suppression in review.unused:
            annotation, rule = suppression.annotation, suppression.rule
            places = {"allow": f"on line {annotation.target_line}", "allow-kernel": "in this kernel"}
            where = places.get(annotation.kind, "in this file")
            message = f"`{annotation.kind}({rule})` suppresses nothing: {rule} finds nothing {where}"
            yield self.finding(None, place=suppression.place, message=message, suggestion=_removal(suppression))


def _removal(suppression: Suppression) -> Suggestion:
    """Takes the name out; the whole annotation goes by hand, since the comment may say more than it."""
    annotation = suppression.annotation
    others = [argument for argument in annotation.arguments if argument != suppression.rule]
    if not others:
        return Suggestion("remove the annotation")
    text = f"cudalint: {annotation.kind}({', '.join(others)}) -- {annotation.reason}"
    edits = (Edit(suppression.place, text),)
    return Suggestion(f"remove `{suppression.rule}` from the list", edits, applicability="safe")

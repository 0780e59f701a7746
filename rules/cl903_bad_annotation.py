"""CL903: annotations that can't be used."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.options.suppressions import AnnotationReview
from cudalint.rule import AnnotationRule


class BadAnnotation(AnnotationRule):
    """An annotation that can't be parsed, names nothing, or suppresses without a reason.

    What it does
        Reports a comment that starts with `cudalint:` and is no annotation: an unknown kind, an expression that is
        not C, a launch that no GPU can do, a rule that does not exist, an `allow` without its reason after `--`, and
        a `launch` or `assume` that stands neither above a kernel nor inside one, or names what the kernel and the file
        don't have, a `launch` of a kernel that something in sight launches, which counts, and `cudalint` without its
        colon before an annotation.

    Why is this bad
        The annotation has no effect, though somebody relies on it. A suppression without a reason can't be reviewed
        later.

    Example
        // cudalint: allow(bank-conflict)
        // cudalint: launch(32, 8)

    Use instead
        // cudalint: allow(bank-conflict) -- measured: hidden behind the loads
        // cudalint: launch(block = dim3(32, 8))
    """

    code = "CL903"
    name = "bad-annotation"
    severity = "warning"
    summary = "an annotation that can't be parsed, names nothing, or gives no reason"
    by_hand = "what the annotation should say is not known"

    def check(self, review: AnnotationReview) -> Iterator[Diagnostic]:
        for problem in review.malformed:
            yield self.finding(
                None,
                place=Place(review.path, problem.line, problem.column, problem.end_line, problem.end_column),
                message=problem.message,
            )

"""CL902: what of a kernel could not be evaluated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Access, KernelFacts
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count, is_repeat

_MOST_REASONS = 3
_MEMORY = ("global", "shared", "generic")


class IncompleteAnalysis(Rule):
    """A kernel of which not everything could be evaluated: one line with the number, the reasons and the way out.

    What it does
        Counts the loads and stores that have no figures although nothing in the program makes them depend on data,
        and lists the reasons, the most frequent first; and what of the kernel's body was left out (a file that
        was not found, a construct that is not understood, an unknown launch). Accesses whose address depends on loaded
        data are mentioned and are no gap: no tool can tell their figure from the source.

    Why is this bad
        Where nothing was evaluated, nothing is reported, and silence looks like a clean kernel.

    Example
        #include "sizes.h"                       // not found
        __global__ void scale(float *a) { a[threadIdx.x * PITCH] *= 2; }

    Use instead
        cudalint -I include scale.cu
        // cudalint: launch(block = 256)         above a kernel that nobody launches in sight
        // cudalint: assume(N % 32 == 0)         for sizes that are only known at run time
    """

    code = "CL902"
    name = "incomplete-analysis"
    severity = "info"
    summary = "what of a kernel could not be evaluated, and why"

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        accesses = [access for access in kernel.accesses if access.space in _MEMORY]
        unknown = [access for access in accesses if _reasons(access, "unknown")]
        dependent = [access for access in accesses if access not in unknown and _reasons(access, "data-dependent")]
        reasons = Counter(reason for access in unknown for reason in _reasons(access, "unknown"))
        reasons.update(dict.fromkeys((gap.reason for gap in kernel.gaps), 1))
        if not reasons:
            return
        yield Diagnostic(
            code=self.code,
            name=self.name,
            severity=self.severity,
            place=kernel.name_place,
            message=_message(len(accesses), len(unknown), len(dependent), reasons),
            kernel=kernel.name,
            instantiation=kernel.instantiation,
            figures={
                "accesses": float(len(accesses)),
                "not_evaluated": float(len(unknown)),
                "data_dependent": float(len(dependent)),
            },
        )


def _reasons(access: Access, status: str) -> list[str]:
    """Why the access has no figures, once for all launches."""
    found = (r.reason or "no reason known" for r in access.results if r.status == status and not is_repeat(r))
    return list(dict.fromkeys(found))


def _message(accesses: int, unknown: int, dependent: int, reasons: Counter[str]) -> str:
    text = f"{unknown} of {count(accesses, 'access', 'accesses')} could not be evaluated"
    if dependent:
        text += f" ({dependent} more depend on loaded data)"
    return f"{text}: {_enumerated(reasons)}"


def _enumerated(reasons: Counter[str]) -> str:
    short: Counter[str] = Counter()
    for reason, number in reasons.items():
        short[_brief(reason)] += number
    listed = [
        reason + (f" ({number} times)" if number > 1 else "") for reason, number in short.most_common(_MOST_REASONS)
    ]
    more = len(short) - len(listed)
    if more:
        listed.append(f"{more} more {'reason' if more == 1 else 'reasons'}")
    return "; ".join(listed)


def _brief(reason: str) -> str:
    """A reason on one line, without the number that tells unknown values apart."""
    return re.sub(r"\s*\[\d+\]", "", " ".join(reason.split()))

"""Kernels of which nothing but that they are there is known, and why."""

from __future__ import annotations

from typing import Final

from cudalint.facts import Gap, KernelFacts, Place, Resources
from cudalint.ir import nodes as ir
from cudalint.options.analysis import AnalysisOptions
from cudalint.reasons import ReasonKind
from cudalint.run.kernel_analysis import TAKES_TOO_LONG

ELSEWHERE: Final = "its instances that were recorded are made in other files"
NOT_RECORDED: Final = "no launch of it was recorded, and only recorded ones are evaluated"


def only_named(
    ref: ir.FunctionRef, options: AnalysisOptions, reason: str = TAKES_TOO_LONG, kind: ReasonKind = "time"
) -> KernelFacts:
    """That a kernel is there that was not come to, or that nobody wants to be evaluated."""
    span = ref.span
    return KernelFacts(
        ref.name, ref.name, Place(*span), Place(*span), (), (), Resources(None),
        gaps=(Gap(span.path, span.line, reason, kind=kind),), collected=options.kinds,
    )  # fmt: skip


def out_of_time(left: str, options: AnalysisOptions) -> str:
    limit = f"the time limit of {options.time_limit:g} s is too short"
    return f"{limit}: {left}; --time-limit gives more time"

"""Arithmetic that takes more than it has to, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from cudalint.facts import Arithmetic, ArithmeticResult, Place
from cudalint.frontend.source_text import Spellings
from cudalint.kinds import Kind
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.work.arithmetic import slow


class ArithmeticCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "arithmetic"
    into: ClassVar[str] = "arithmetic"

    def add(self, run: Run) -> None:
        if run.subject.is_over():
            return
        spellings = Spellings(run.subject.options)
        executed = run.executed
        work = run.work()
        found = slow(executed.trace, run.lengths, executed.function, work, lambda code: spellings.of(Place(*code.span)))
        if not found:
            return
        lengths = (length.assumption for length in run.lengths.found.values())
        assumptions = tuple(dict.fromkeys((*run.launch.assumptions, *lengths)))
        for key, each in found.items():
            kind, span = key
            place, causes = Place(*span), tuple(Place(*cause) for cause in each.causes)
            fact = Arithmetic(
                place, kind, spellings.of(place), each.names, each.alternative, each.in_loop, (), causes,
                each.keeps_type,
            )  # fmt: skip
            result = ArithmeticResult(
                run.index, each.executions, each.saved, each.doubles, each.special, work.total, each.by_data,
                assumptions, each.is_sized,
            )  # fmt: skip
            self.note(key, fact, result)

"""Arithmetic that takes more than it has to, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar, Self

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import Arithmetic, ArithmeticResult, KernelFacts, Place
from cudalint.frontend.source_text import Spellings
from cudalint.kinds import Kind
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.work.arithmetic import Key, slow


class ArithmeticCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "arithmetic"
    spellings: Spellings
    _sites: dict[Key, Arithmetic] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(Spellings(subject.options))

    def add(self, run: Run) -> None:
        if run.subject.is_over():
            return
        found = slow(run.executed.trace, run.lengths, lambda code: self.spellings.of(Place(*code.span)))
        if not found:
            return
        lengths = (length.assumption for length in run.lengths.found.values())
        assumptions = tuple(dict.fromkeys((*run.launch.assumptions, *lengths)))
        for key, each in found.items():
            kind, span = key
            site = self._sites.get(key)
            if site is None:
                place, causes = Place(*span), tuple(Place(*cause) for cause in each.causes)
                site = Arithmetic(
                    place, kind, self.spellings.of(place), each.names, each.alternative, each.in_loop, (), causes,
                    each.keeps_type,
                )  # fmt: skip
            result = ArithmeticResult(
                run.index, each.executions, each.saved, each.doubles, each.special, run.work.total, each.by_data,
                assumptions,
            )  # fmt: skip
            self._sites[key] = replace(site, results=(*site.results, result))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, arithmetic=tuple(sorted(self._sites.values(), key=lambda site: site.place)))

"""The branch facts of a kernel, collected launch by launch."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Self

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import Branch, BranchResult, KernelFacts, Place
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.measure.divergence import BranchSite, results_of
from cudalint.measure.places import frames_of, function_of
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.work.counts import Work

_KINDS: dict[type[Any], Any] = {
    ir.If: "if", ir.Switch: "switch", ir.Conditional: "conditional", ir.Binary: "conditional", ir.For: "for",
    ir.RangeFor: "for", ir.While: "while", ir.DoWhile: "do",
}  # fmt: skip


class BranchCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "branches"
    kernel: str
    _sites: dict[BranchSite, list[BranchResult]] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.function.name)

    def add(self, run: Run) -> None:
        executed = run.executed

        @functools.cache
        def works(world: int) -> Work:
            return run.work if not world else executed.work(executed.lengths(world=world), world)

        for site, result in results_of(executed, run.index, works):
            self._sites.setdefault(site, []).append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        branches = (self._branch(site, tuple(results)) for site, results in self._sites.items())
        return replace(facts, branches=tuple(sorted(branches, key=lambda b: (b.place, b.inlined_from, b.kind))))

    def _branch(self, site: BranchSite, results: tuple[BranchResult, ...]) -> Branch:
        function = function_of(site.stack, self.kernel)
        node = site.node.condition if isinstance(site.node, ir.DoWhile) else site.node
        return Branch(Place(*node.span), function, frames_of(site.stack), _KINDS[type(site.node)], results)

"""The branch facts of a kernel, collected launch by launch."""

from __future__ import annotations

from typing import Any, ClassVar

from cudalint.facts import Branch, Place
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.kinds import Kind
from cudalint.measure.branch_results import results_of
from cudalint.measure.places import frames_of, function_of
from cudalint.measure.providers.provider import Run, SiteProvider

_KINDS: dict[type[Any], Any] = {
    st.If: "if", st.Switch: "switch", ir.Conditional: "conditional", ir.Binary: "conditional", st.For: "for",
    st.RangeFor: "for", st.While: "while", st.DoWhile: "do",
}  # fmt: skip


class BranchCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "branches"
    into: ClassVar[str] = "branches"

    def add(self, run: Run) -> None:
        executed = run.executed
        for site, result in results_of(executed, run.index, run.work):
            node = site.node.condition if isinstance(site.node, st.DoWhile) else site.node
            function = function_of(site.stack, executed.function.name)
            fact = Branch(Place(*node.span), function, frames_of(site.stack), _KINDS[type(site.node)], ())
            self.note(site, fact, result)

    @staticmethod
    def rank(fact: Branch) -> tuple[object, ...]:
        return fact.place, fact.inlined_from, fact.kind

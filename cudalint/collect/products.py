"""Matrix products that are computed with scalar arithmetic, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.evaluate.work.products import Product, products_of
from cudalint.facts import KernelFacts, MatrixProduct, MatrixProductResult, Place
from cudalint.kinds import Kind


class ProductCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "products"
    counts: ClassVar[bool] = True
    _found: dict[tuple[str, str, str], tuple[Product, list[MatrixProductResult]]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        view = run.execution.view
        if run.execution.deadline.is_over():
            return
        for each in products_of(run.execution, run.meter):
            result = MatrixProductResult(
                view.index, each.rows, each.columns, each.terms, each.operations, view.assumptions
            )
            self._found.setdefault((each.left, each.right, each.precision), (each, []))[1].append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            MatrixProduct(
                Place(*first.code.span), first.left, first.right, first.precision, first.is_narrow, first.is_tiled,
                tuple(results),
            )
            for first, results in self._found.values()
        )
        return replace(facts, products=tuple(sorted(found, key=lambda each: each.place)))

"""Matrix products that are computed with scalar arithmetic, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, MatrixProduct, MatrixProductResult, Place
from cudalint.kinds import Kind
from cudalint.measure.executed import execute
from cudalint.measure.products import Key, Product, Sample, grown, other_blocks, products
from cudalint.measure.providers.provider import Provider, Run


class ProductCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "products"
    _found: dict[tuple[str, str, str], tuple[Product, list[MatrixProductResult]]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        if run.subject.is_over():
            return
        executed = run.executed
        found = list(products(executed.trace, executed.function, run.lengths))
        if any(each.may_be_large and not each.is_large for each in found):
            found = _in_other_blocks(found, run)
        for each in found:
            if each.is_large:
                result = MatrixProductResult(
                    run.index, each.rows, each.columns, each.terms, each.operations, run.launch.assumptions
                )
                self._found.setdefault(each.key, (each, []))[1].append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            MatrixProduct(
                Place(*first.code.span), first.left.name, first.right.name, first.precision, first.is_narrow,
                first.is_tiled, tuple(results),
            )
            for first, results in self._found.values()
        )  # fmt: skip
        return replace(facts, products=tuple(sorted(found, key=lambda each: each.place)))


def _in_other_blocks(found: list[Product], run: Run) -> list[Product]:
    """The same products, with how many elements meet in blocks that were not executed."""
    batch = run.executed.batch
    alone: dict[Key, Product] = {}
    for sample in other_blocks(batch.grid[0]):
        if run.subject.is_over() or all(each.is_large or not each.may_be_large for each in found):
            break
        elsewhere = execute(run.executed.function, batch.in_blocks(sample.places), run.compiled)
        others = {each.key: each for each in products(elsewhere.trace, elsewhere.function, elsewhere.lengths())}
        alone = alone or others
        found = [
            _larger(each, others[each.key], alone[each.key], sample)
            if each.key in others and each.key in alone else each
            for each in found
        ]  # fmt: skip
    return found


def _larger(one: Product, other: Product, alone: Product, sample: Sample) -> Product:
    count = len(sample.places)
    rows, columns = (
        grown(own, single, count, count * sample.stands_for)
        for own, single in ((other.rows, alone.rows), (other.columns, alone.columns))
    )
    return one._replace(rows=max(one.rows, rows), columns=max(one.columns, columns))

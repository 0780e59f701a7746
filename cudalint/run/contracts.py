"""What kernels require, and what users state of them, beside the launches that were recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from cudalint.facts import KernelFacts, Misalignment
from cudalint.facts.faults import Kept
from cudalint.host.values.assumptions import UnknownName
from cudalint.launches.recorded.contracts import Contracts
from cudalint.numerals import count
from cudalint.options.annotations import Annotation
from cudalint.options.expressions import ExpressionError, parse_expression


def broken_assumptions(contracts: Contracts, annotations: Sequence[Annotation]) -> Iterator[tuple[Annotation, str]]:
    """The `assume` annotations of a kernel that recorded launches contradict, with what is to be said of each."""
    for annotation in annotations:
        for text in annotation.arguments:
            try:
                broken = contracts.broken(parse_expression(text))
            except (UnknownName, ExpressionError):
                continue
            if broken is not None:
                values = ", ".join(f"{name} = {value}" for name, value in broken.values)
                launches = count(broken.of, "recorded launch", "recorded launches")
                shown = f", as with {values}" if values else ""
                yield annotation, f"`assume({text})` holds in {broken.held} of {launches} only{shown}"


def has_wide_accesses(facts: KernelFacts) -> bool:
    """Whether a kernel may require something of addresses: it accesses more at once than an array is declared to have
    as an element."""
    elements = {leaf.name: leaf.pointee_bytes for parameter in facts.parameters for leaf in parameter.leaves}
    for access in facts.accesses:
        declared = access.declaration.element_bytes if access.declaration is not None else elements.get(access.array, 1)
        if access.bytes > max(1, declared):
            return True
    return False


def with_contracts(facts: KernelFacts, required: Sequence[Misalignment], contracts: Contracts) -> KernelFacts:
    """Facts under recorded launches, with what the kernel `required` where nothing was known of its launches: each is
    certain where some launch breaks it."""
    known = {(each.place, each.inlined_from) for each in facts.misalignments}
    found = []
    for each in required:
        if each.condition is None or (each.place, each.inlined_from) in known:
            continue
        try:
            broken = contracts.broken(parse_expression(each.condition))
        except (UnknownName, ExpressionError):
            continue
        if broken is None:
            found.append(replace(each, launch=0, assumptions=(), kept=Kept(len(contracts), len(contracts))))
        else:
            kept = Kept(broken.held, broken.of)
            found.append(
                replace(each, launch=0, assumptions=(), condition=None, values=broken.values, kept=kept, offset=None)
            )
    return replace(facts, misalignments=(*facts.misalignments, *found)) if found else facts

"""The edit that lets threads leave for which the arrays of a kernel have no element:

    if (i >= n) return;
    out[i] = 2 * in[i];

They may leave only where nothing else of the kernel is theirs to do. All that it writes is written at an index that
runs over, and that index is compared with the number of the array's elements; and no thread waits for others, or asks
them for something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts, OutOfBounds, Place
from cudalint.fixes.guards import bounds_of
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import body_of, statements
from cudalint.fixes.spelling import NAME, changes, parameter_names
from cudalint.ir.builtins import named
from cudalint.source.code import CodeText, code_text
from cudalint.source.insertions import insertions

_TOGETHER = named(
    "barrier", "warp-barrier", "group-barrier", "object-barrier", "collective", "shuffle", "masked-shuffle",
    "group-shuffle", "unmasked-vote", "masked-vote", "group-vote", "group-reduce", "active-mask", "match", "assembly",
)  # fmt: skip
"""What other threads take notice of."""


def guard_edits(
    kernel: KernelFacts, found: Sequence[OutOfBounds], text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits for all accesses that run over under one launch. Raises an `Obstacle` where a thread that has to leave
    has something to do all the same, or the size has no name in the kernel."""
    path = kernel.place.path
    source = code_text(text_of(path))
    _nobody_waits(kernel, source)
    places = {one.place for one in found if one.place.path == path and not one.inlined_from}
    for access in _written(kernel):
        if access.place not in places:
            raise Obstacle(f"threads behind the end write to `{access.array}`, too")
    written = [one for one in found if one.operation != "load"]
    asked = {bounds_of(kernel, [one], text_of, found) for one in written}
    if len(asked) != 1:
        raise Obstacle("what is written runs over at several indices")
    [bounds] = asked
    first = _first_reached(kernel, source, places)
    names = {name for bound in bounds for name in NAME.findall(bound.inside)}
    body = source.code[body_of(kernel, source) : source.extent(kernel.place)[1]]
    _stay_as_they_are(names, parameter_names(kernel, text_of), source.code[body_of(kernel, source) : first[0]], body)
    condition = " || ".join(bound.outside for bound in bounds)
    place = Place(path, *source.position(first[0]), *source.position(first[1]))
    inserted = insertions(source.text, place, "before", f"if ({condition}) return;")
    if not inserted:
        raise Obstacle(f"`{kernel.name}` is spelled by a macro")
    return tuple(Edit(each.place, each.text) for each in inserted)


def _nobody_waits(kernel: KernelFacts, source: CodeText) -> None:
    begin, end = source.extent(kernel.place)
    together = not _TOGETHER.isdisjoint(re.findall(r"\w+", source.code[begin:end]))
    if kernel.barriers or kernel.unmasked_calls or kernel.collectives or together:
        raise Obstacle("threads behind the end have to be there for the others")
    if "<<<" in source.code[begin:end]:
        raise Obstacle(f"`{kernel.name}` launches kernels of its own")


def _written(kernel: KernelFacts) -> Iterator[Access]:
    for access in kernel.accesses:
        if access.operation != "load" and access.space != "local":
            yield access


def _first_reached(kernel: KernelFacts, source: CodeText, places: Collection[Place]) -> tuple[int, int]:
    """The first statement at the kernel's outermost level with an access that runs over. What is before it must be the
    same for all threads, or run over as well, with nobody to tell."""
    spans = list(statements(source, body_of(kernel, source)))
    offsets = [source.extent(place)[0] for place in places]
    first = next((span for span in spans if any(span[0] <= at < span[1] for at in offsets)), None)
    if first is None:
        raise Obstacle(f"`{kernel.name}` is spelled by a macro")
    for access in kernel.accesses:
        outer = access.inlined_from[-1] if access.inlined_from else access.place
        is_before = outer.path == kernel.place.path and outer.line < source.position(first[0])[0]
        if is_before and access.space == "global" and not _is_one_for_all(access):
            raise Obstacle(f"`{access.array}` is read before it is known which thread has nothing to do")
    return first


def _is_one_for_all(access: Access) -> bool:
    """Whether threads of a block all go to the same place."""
    strides = [result.strides for result in access.results]
    return all(each is not None and not (each.x or each.y or each.z) for each in strides)


def _stay_as_they_are(names: Iterable[str], parameters: Collection[str], before: str, body: str) -> None:
    """The numbers that are compared are those that index: they are declared before, once, and never change."""
    for name in names:
        declared = rf"\w[\s*&]+{name}\s*=(?!=)|,\s*{name}\s*=(?!=)"
        declarations = len(re.findall(declared, body))
        if name in _BUILT_IN or (name in parameters and not declarations):
            rest = body
        elif declarations == 1 and re.search(declared, before):
            rest = re.sub(declared, "", body)
        else:
            raise Obstacle(f"`{name}` is not declared before all that it indexes")
        if changes(name, rest) or re.search(rf"&\s*{name}\b(?!\s*\[)", rest):
            raise Obstacle(f"`{name}` changes")


_BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})

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
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import body_of, statements
from cudalint.fixes.spelling import NAME, changes, may_have_effect, parameter_names
from cudalint.ir.builtins import named
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.insertions import insertions

_INDEXED = regex(r"(\w+)\[([^\[\]]*)\]")
_ATOMIC = regex(r"atomic\w+\s*\(\s*(?:&\s*(\w+)\[([^\[\]]*)\]|(\w+)\s*\+([^,()]*))\s*,")
_PLAIN = regex(r"[\w.]+|\([^()]*\)")
_TOGETHER = named(
    "barrier", "warp-barrier", "group-barrier", "object-barrier", "collective", "shuffle", "masked-shuffle",
    "group-shuffle", "unmasked-vote", "masked-vote", "group-vote", "group-reduce", "active-mask", "match", "assembly",
)  # fmt: skip
"""What other threads take notice of."""

_Conjuncts = frozenset[tuple[str, str]]
"""Indices, each with the size that it has to be below."""


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
    asked = {_inside(one, source) for one in written}
    if len(asked) != 1:
        raise Obstacle("what is written runs over at several indices")
    conjuncts = next(iter(asked))
    first = _first_reached(kernel, source, places)
    names = {name for index, size in conjuncts for name in NAME.findall(f"{index} {size}")}
    body = source.code[body_of(kernel, source) : source.extent(kernel.place)[1]]
    _stay_as_they_are(names, parameter_names(kernel, text_of), source.code[body_of(kernel, source) : first[0]], body)
    condition = " || ".join(f"{_operand(index)} >= {size}" for index, size in sorted(conjuncts))
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


def _inside(found: OutOfBounds, source: CodeText) -> _Conjuncts:
    """What holds of an index that is inside."""
    begin, end = source.extent(found.place)
    spelled = _INDEXED.fullmatch(source.code[begin:end]) or _ATOMIC.match(source.code[begin:end])
    array, index = [part.strip() for part in spelled.groups() if part is not None] if spelled else ("", "")
    if array != found.array or found.dimensions > 1 or found.length != found.element_bytes:
        raise Obstacle(f"the element of `{found.array}` is not chosen by one index")
    if may_have_effect(index):
        raise Obstacle(f"`{index}` can't be asked twice")
    size = found.in_parameters
    if size is None:
        raise Obstacle(f"the kernel's parameters don't tell the size of `{array}`")
    factors = [factor.strip() for factor in size.split("*")]
    row = re.fullmatch(r"(.+?)\s*\*\s*(\w+)\s*\+\s*(\w+)", index)
    if len(factors) == 2 and row is not None and _PLAIN.fullmatch(row[1]) and row[2] in factors:
        [rows] = [factor for factor in factors if factor != row[2]] or [row[2]]
        return frozenset(((row[1], rows), (row[3], row[2])))
    return frozenset(((index, size),))


def _operand(index: str) -> str:
    """An index as it stands beside a comparison."""
    return f"({index})" if re.search(r"[<>=&|^?,]", index) else index


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

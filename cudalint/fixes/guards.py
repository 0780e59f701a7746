"""What has to hold of an index for it to stay inside its array, in the names that the kernel has.

`out[x * n + y]` with n * n elements is inside where `x < n && y < n`. The size is what the kernel's parameters give it
in every launch, or else those that have its value in the launch that leaves it: then each name has to fit all accesses
that ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from cudalint.facts import KernelFacts, OutOfBounds
from cudalint.fixes.counted_loops import terms_of
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import body_of
from cudalint.fixes.spelling import changes, may_have_effect
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_INDEXED = regex(r"(\w+)\[([^\[\]]*)\]")
_ATOMIC = regex(r"atomic\w+\s*\(\s*(?:&\s*(\w+)\[([^\[\]]*)\]|(\w+)\s*\+([^,()]*))\s*,")
_LESS = regex(r"(.+?)\s*-\s*(\w+)")
_MORE = regex(r"(.+?)\s*\+\s*\w+")
_BINDS = regex(r"[<>=&|^?,]")


class Bound(Struct, frozen=True, order=True):
    """An index, and the sizes of which any may be what it has to be below; without one it must not be negative."""

    index: str
    sizes: tuple[str, ...]

    @property
    def inside(self) -> str:
        return f"{self._operand} < {self.sizes[0]}" if self.sizes else " >= ".join(self._least)

    @property
    def outside(self) -> str:
        return f"{self._operand} >= {self.sizes[0]}" if self.sizes else " < ".join(self._least)

    @property
    def _operand(self) -> str:
        """The index as it stands beside a comparison."""
        return f"({self.index})" if _BINDS.search(self.index) else self.index

    @property
    def _least(self) -> tuple[str, str]:
        less = _LESS.fullmatch(self.index)
        return (less[1], less[2]) if less is not None else (self._operand, "0")


def bounds_of(
    kernel: KernelFacts,
    found: Sequence[OutOfBounds],
    text_of: Callable[[str], str],
    beside: Sequence[OutOfBounds] = (),
) -> tuple[Bound, ...]:
    """What has to hold for none of some accesses to leave its array; which size an index has to be below has to fit
    those beside them, too. Raises an `Obstacle` where one of them is not so plain, or its size has no name, or
    several."""
    source = code_text(text_of(kernel.place.path))
    own = [bound for one in found for bound in _bounds(kernel, one, source)]
    others = [bound for one in beside for bound in _bounds_if_plain(kernel, one, source)]
    least = {bound.index for bound in own if not bound.sizes}
    wanted = {bound.index: set(bound.sizes) for bound in own if bound.sizes}
    for bound in (*own, *others):
        if bound.sizes and bound.index in wanted:
            wanted[bound.index] &= set(bound.sizes)
    for index, sizes in wanted.items():
        if len(sizes) != 1:
            raise Obstacle(f"several of the parameters of `{kernel.name}` could be what `{index}` has to be below")
    bounds = [Bound(index, tuple(sizes)) for index, sizes in wanted.items()]
    further = {(more[1], bound.sizes) for bound in bounds if (more := _MORE.fullmatch(bound.index)) is not None}
    upper = [bound for bound in bounds if (bound.index, bound.sizes) not in further]
    return (*sorted(Bound(index, ()) for index in least), *sorted(upper))


def condition_of(
    kernel: KernelFacts, found: Sequence[OutOfBounds], text_of: Callable[[str], str]
) -> str:
    """The condition to ask before some accesses, without what the kernel asks already: a loop up to the size of a
    row, for example. Raises an `Obstacle` as `bounds_of` does."""
    bounds = bounds_of(kernel, found, text_of)
    source = code_text(text_of(kernel.place.path))
    begin, end = source.extent(kernel.place)
    asked = " ".join(source.code[begin:end].split())
    new = [bound for bound in bounds if not re.search(rf"(?<![\w.])(?<!->){re.escape(bound.inside)}(?!\w)", asked)]
    return " && ".join(bound.inside for bound in new or bounds)


def _bounds_if_plain(kernel: KernelFacts, found: OutOfBounds, source: CodeText) -> list[Bound]:
    try:
        return _bounds(kernel, found, source)
    except Obstacle:
        return []


def _bounds(kernel: KernelFacts, found: OutOfBounds, source: CodeText) -> list[Bound]:
    if found.place.path != kernel.place.path or found.inlined_from:
        raise Obstacle(f"`{found.array}` is indexed in a function that `{kernel.name}` calls")
    begin, end = source.extent(found.place)
    spelled = _INDEXED.fullmatch(source.code[begin:end]) or _ATOMIC.match(source.code[begin:end])
    array, index = [part.strip() for part in spelled.groups() if part is not None] if spelled else ("", "")
    if array != found.array or found.dimensions > 1 or found.length != found.element_bytes:
        raise Obstacle(f"the element of `{found.array}` is not chosen by one index")
    if may_have_effect(index):
        raise Obstacle(f"`{index}` can't be asked twice")
    index = " ".join(index.split())
    sized = _sizes(kernel, found)
    if not sized:
        raise Obstacle(f"the kernel's parameters don't tell the size of `{array}`")
    parts = _row_and_column(_given(index, kernel, source), sized)
    if found.offset < 0:
        negative = [part for part, _ in parts or () if _LESS.fullmatch(part)]
        return [Bound(part, ()) for part in negative or [index]]
    if parts is not None:
        return [Bound(*part) for part in parts]
    alone = [a for a, b in sized if not b] or [f"{a} * {b}" for a, b in sized if a <= b]
    return [Bound(index, tuple(dict.fromkeys(alone)))]


def _sizes(kernel: KernelFacts, found: OutOfBounds) -> list[tuple[str, str]]:
    """One or two parameters whose product is how many elements the array has; the second is empty for one."""
    if found.in_parameters is not None:
        first, *others = (factor.strip() for factor in found.in_parameters.split("*"))
        if len(others) != 1:
            return [(found.in_parameters, "")]
        return [(first, others[0]), (others[0], first)]
    extent = found.extent // found.element_bytes
    values = {
        name: value for name, value in {**kernel.launches[found.launch].parameters, **dict(found.defaults)}.items()
        if type(value) is int and value > 1 and name.isidentifier()
    }  # fmt: skip
    alone = [(name, "") for name, value in values.items() if value == extent]
    products = [(a, b) for a, one in values.items() for b, other in values.items() if one * other == extent]
    return [*alone, *products]


def _row_and_column(index: str, sized: Sequence[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]] | None:
    """The parts of an index that is a row times a size plus a column, with the sizes that each may have to be below;
    None where it is none."""
    terms = terms_of(index)
    for at, term in enumerate(terms):
        factors = [factor.strip() for factor in term.split("*")]
        pitch = next((factor for factor in factors if any(factor == b for _, b in sized)), None)
        if pitch is None or any(one.count("(") != one.count(")") for one in factors):
            continue
        factors.remove(pitch)
        row = " * ".join(factors)
        row = row[1:-1].strip() if row.startswith("(") and row.endswith(")") else row
        column = " + ".join((*terms[:at], *terms[at + 1 :]))
        if not row or not column or re.search(rf"\b{pitch}\b", column):
            return None
        others = [a for a, b in sized if b == pitch]
        # Rows of a square matrix have the name of its columns only where nothing else has the value.
        rows = tuple(dict.fromkeys(each for each in others if each != pitch)) or (pitch,)
        return [(row, rows), (column, (pitch,))]
    return None


def _given(index: str, kernel: KernelFacts, source: CodeText) -> str:
    """What a variable that indexes was given, where it was given nothing else."""
    begin, end = body_of(kernel, source), source.extent(kernel.place)[1]
    declared = list(re.finditer(rf"\w[\s*&]+{re.escape(index)}\s*=(?!=)\s*([^;,]+)[;,]", source.code[begin:end]))
    if not index.isidentifier() or len(declared) != 1:
        return index
    [one] = declared
    rest = source.code[begin : begin + one.start()] + source.code[begin + one.end() : end]
    return index if changes(index, rest) or may_have_effect(one[1]) else " ".join(one[1].split())

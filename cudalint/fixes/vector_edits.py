"""The edits that make one wide access of accesses that fill each other's gaps: `in[2 * i]` and `in[2 * i + 1]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts, Place
from cudalint.fixes.counted_loops import function_of
from cudalint.fixes.element_types import element_type
from cudalint.fixes.float_edits import in_template
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import NAME, TextOf, changes, free_name, replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.insertions import within_branches

_VECTORS = {
    "float": "float", "int": "int", "unsigned int": "uint", "double": "double", "long long": "longlong",
    "unsigned long long": "ulonglong", "short": "short", "unsigned short": "ushort", "char": "char",
    "unsigned char": "uchar", "long": "long", "unsigned long": "ulong",
}  # fmt: skip
"""What CUDA's vectors of these types begin with."""
_PLAIN = regex(r"[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[[^][;{}]*(?:\[[^][;{}]*\][^][;{}]*)*\])+")
"""`in[2 * i]`, `points[i].x`."""
_FURTHER = regex(r"\+\s*(\d+)\s*\]\Z")
_EFFECT = regex(r"(?<![=!<>])=(?!=)|\+\+|--")
_CONDITIONAL = regex(r"\?|&&|\|\|")
_STORED = regex(
    r"\]\s*(?:\.\s*\w+\s*)?[-+*/&|^]?=(?!=)|->\s*\w+\s*[-+*/&|^]?=(?!=)|^\s*\*\s*\w+\s*=", re.MULTILINE
)
_ORDERED = regex(r"\b(?:__sync\w*|__thread\w*|atomic\w*|volatile|asm)\b|[{}#]")


class _Spelled(Struct, frozen=True):
    """An access in the text: its offsets, and its component of the vector."""

    begin: int
    end: int
    component: int
    text: str


_VALUE_LINES = 5
"""Lines that what is stored may take."""


def _loads_between(kernel: KernelFacts, stores: Sequence[Access]) -> bool:
    """Whether something is loaded from the second of some stores on: where two arguments are one array, it would be
    loaded before the first is made."""
    first, second, *others = sorted(store.place for store in stores)
    last = max((first, second, *others)).end_line + _VALUE_LINES
    return any(
        access.operation == "load" and access.space != "shared" and second <= access.place and access.place.line <= last
        for access in kernel.accesses
        if access.place.path == first.path
    )


def is_safe_as_vector(kernel: KernelFacts, accesses: Sequence[Access]) -> bool:
    """Whether one access in place of aligned neighbours does as they do under every launch: their array begins where
    the program allocates it, and nothing that is loaded between stores could be of the same array."""
    array, is_load = accesses[0].array, accesses[0].operation == "load"
    begins = all(array in launch.allocated for launch in kernel.launches)
    return begins and (is_load or not _loads_between(kernel, accesses))


def vector_edits(accesses: Sequence[tuple[int, Access]], width: int, text_of: TextOf) -> tuple[Edit, ...]:
    """The edits for accesses at these distances in bytes, which together fill `width` bytes. Raises an `Obstacle` where
    their text is not plain."""
    first = min(accesses, key=lambda pair: pair[0])
    access = first[1]
    if len({a.place.path for _, a in accesses}) > 1 or len({a.inlined_from for _, a in accesses}) > 1:
        raise Obstacle("its neighbours are loaded in other functions")
    text = text_of(access.place.path)
    source = code_text(text)
    spelled = sorted(
        (_spelled(a, (distance - first[0]) // access.bytes, source) for distance, a in accesses), key=lambda s: s.begin
    )
    is_whole = len({one.component for one in spelled}) * access.bytes == width
    if not is_whole and (access.operation == "store" or len({one.component for one in spelled}) < 3):
        raise Obstacle(f"not all {width} bytes of the vector are used")
    base = next(one.text for one in spelled if not one.component)
    vector = _vector(access, base, width, source)
    cast = f"{vector.name} *" if access.operation == "store" else f"const {vector.name} *"
    whole = _of_its_own(base, vector.name, access, width) or f"*reinterpret_cast<{cast}>(&{base})"
    if access.operation == "store":
        return _stored(spelled, base, whole, vector, access, source)
    return _loaded(spelled, base, whole, vector, access, source, text)


_FIELD = regex(r"(?:\.|->)\w+\Z")


def _of_its_own(base: str, vector: str, access: Access, width: int) -> str | None:
    """The vector that the accesses are fields of, where they are: `points[i]` of `points[i].x`. Raises an `Obstacle`
    where that is a variable, or a reference that is called like one: the whole vector has been asked for there."""
    field = _FIELD.search(base)
    if field is None or access.record.removeprefix("struct ") != vector or access.record_bytes != width:
        return None
    record = base[: field.start()]
    if not record.endswith("]") and not field[0].startswith("->"):
        raise Obstacle(f"`{record}` is a `{vector}` as it is")
    return f"*{record}" if field[0].startswith("->") else record


class _Vector(Struct, frozen=True):
    """A type for several elements at once: one of CUDA's, or one that is declared for them."""

    name: str
    number: int
    scalar: str
    declaration: str = ""

    def component(self, number: int) -> str:
        return f".{'xyzw'[number]}" if self.number <= len("xyzw") else f".part[{number}]"

    def around(self) -> tuple[str, str, str]:
        """What stands before, between and behind the components of a value."""
        if not self.declaration:
            return f"make_{self.name}(", ", ", ")"
        cast, brackets = f"static_cast<{self.scalar}>(", 1 if self.number <= len("xyzw") else 2
        return f"{self.name}{'{' * brackets}{cast}", f"), {cast}", f"){'}' * brackets}"


def _vector(access: Access, base: str, width: int, source: CodeText) -> _Vector:
    """CUDA has none of halves, of eight bytes, or of what a template is for."""
    number = width // access.bytes
    vector, scalar = None, access.element_type
    reason = Obstacle(f"{number} `{scalar}` are no vector of CUDA's: one would have to be declared for them")
    try:
        vector, scalar = vector_of(access, width, source)
    except Obstacle as obstacle:
        reason = obstacle
    if vector is not None:
        return _Vector(vector, number, scalar)
    if not base.endswith("]") or re.search(r"\.|->", base.partition("[")[0]):
        raise reason
    array = NAME.match(base)[0]  # type: ignore[index]
    begin, _ = source.extent(access.place)
    scalar = element_type(array, access, source, (function_of(source, begin), begin))
    name = free_name(f"{array[0].upper()}{array[1:]}{number}", source)
    parts = ", ".join("xyzw"[:number]) if number <= len("xyzw") else f"part[{number}]"
    declared = f"struct alignas({number} * sizeof({scalar})) {name} {{ {scalar} {parts}; }};"
    return _Vector(name, number, scalar, declared)


def vector_of(access: Access, width: int, source: CodeText) -> tuple[str | None, str]:
    """CUDA's vector of the elements that an access touches, None where there is none, and what they are themselves.
    Raises an `Obstacle` where another instantiation of a template would need another one."""
    scalar = access.element_type.replace("const ", "").strip()
    begin, end = source.extent(access.place)
    if in_template(source, begin):
        array = NAME.match(source.code, begin, end)
        spelled = rf"\b{scalar}\b[\w\s]*[*&][*&\w\s]*\b{array[0]}\b" if array is not None else "$."
        if not re.search(spelled, source.code[function_of(source, begin) : begin]):
            raise Obstacle("a template's vector has no type that holds for all of its arguments")
    if "volatile" in access.element_type:
        raise Obstacle(f"`{access.array}` is volatile")
    name, number = _VECTORS.get(scalar), width // access.bytes
    return f"{name}{number}" if name is not None and number in (2, 4) else None, scalar


def _spelled(access: Access, component: int, source: CodeText) -> _Spelled:
    begin, end = source.extent(access.place)
    text = source.code[begin:end]
    whole = access.operation == "load" and _PLAIN.fullmatch(text)
    if not whole or _EFFECT.search(text):
        element = _PLAIN.match(text) if access.operation == "store" else None
        if element is None or _EFFECT.search(element[0]):
            raise Obstacle(f"`{' '.join(text.split())[:40]}` is not spelled as a plain element")
        end = begin + element.end()
        text = element[0]
    return _Spelled(begin, end, component, text)


def _loaded(
    spelled: Sequence[_Spelled], base: str, whole: str, vector: _Vector, access: Access, source: CodeText, text: str
) -> tuple[Edit, ...]:
    _require_unchanged(source.code[spelled[0].begin : spelled[-1].end], base)
    # The others may hang on conditions: they are in the same aligned bytes as the first one.
    if _CONDITIONAL.search(source.code, source.statement_start(spelled[0].begin), spelled[0].begin):
        raise Obstacle("not every lane that comes to the statement makes the first of the loads")
    # Other vectors of the array may be loaded beside this one.
    further = _FURTHER.search(base)
    own = f"{NAME.match(base)[0]}{vector.number}"  # type: ignore[index]
    name = free_name(own if further is None else f"{own}_{further[1]}", source)
    loaded = f"const {vector.name} {name} = {whole};"
    if vector.declaration:
        loaded = f"{vector.declaration} {loaded}"
    put = within_branches(text, _at(access.place.path, source, spelled[0]), loaded)
    if not put:
        raise Obstacle("there is no statement in sight that the load could stand before")
    edits = [Edit(each.place, _on_lines(each.text, vector)) for each in put]
    path = access.place.path
    edits += [replaced(source, path, s.begin, s.end, f"{name}{vector.component(s.component)}") for s in spelled]
    return tuple(edits)


def _on_lines(text: str, vector: _Vector) -> str:
    """What is put before a statement on its own line, with the declaration of a type on another one."""
    behind = text[len(text.rstrip()) :]
    if not vector.declaration or "\n" not in behind:
        return text
    return text.replace(f"{vector.declaration} ", f"{vector.declaration}{behind}", 1)


def _at(path: str, source: CodeText, spelled: _Spelled) -> Place:
    return Place(path, *source.position(spelled.begin), *source.position(spelled.end))


def _stored(
    spelled: Sequence[_Spelled], base: str, whole: str, vector: _Vector, access: Access, source: CodeText
) -> tuple[Edit, ...]:
    """Statements that follow one another, each of which stores one component, become one."""
    values: dict[int, tuple[int, int]] = {}
    at = spelled[0].begin
    if source.last_before(at) != source.statement_start(at) or not source.statement_start(at):
        raise Obstacle("the stores hang on a branch without braces")
    array = NAME.match(base)[0]  # type: ignore[index]
    for one in spelled:
        equals = source.skip(one.end)
        semicolon = source.code.find(";", one.end)
        if source.skip(at) != one.begin or source.code[equals] != "=" or semicolon < 0:
            raise Obstacle("the stores do not follow one another")
        value = source.code[equals + 1 : semicolon]
        if _EFFECT.search(value) or (values and re.search(rf"\b{array}\b|(?:^|[(,=])\s*\*", value)):
            raise Obstacle("what is stored last may depend on what is stored first")
        values[one.component] = source.skip(equals + 1), len(source.code[:semicolon].rstrip())
        at = semicolon + 1
    path, begin = access.place.path, spelled[0].begin
    margin = source.margin(begin)
    declared = ""
    if vector.declaration:
        declared = f"{vector.declaration}{' ' if margin is None else source.line_end + margin}"
    opening, between, closing = vector.around()
    start = f"{declared}{whole} = {opening}"
    ordered = [values[n] for n in range(len(values))]
    if ordered != sorted(ordered):
        inner = between.join(source.text[a:b] for a, b in ordered)
        return (replaced(source, path, begin, at, f"{start}{inner}{closing};"),)
    # The values stay where they stand, for what is known of them to be found again.
    ends = [begin, *(b for _, b in ordered)]
    texts = [start, *(between for _ in ordered[1:])]
    edits = [replaced(source, path, end, a, text) for end, (a, _), text in zip(ends, ordered, texts, strict=False)]
    return (*edits, replaced(source, path, ends[-1], at, f"{closing};"))


def _require_unchanged(between: str, base: str) -> None:
    if any(changes(name, between) for name in set(NAME.findall(base))):
        raise Obstacle("its index changes between the loads")
    if _ORDERED.search(between) or _STORED.search(between):
        raise Obstacle("something is stored, or waited for, between the loads")

"""The edits for arithmetic that takes more than it has to: a product in place of a power, and of a quotient by a
constant; a function's faster intrinsic; the sine and the cosine of one angle by one call.

All of them round otherwise, or at least nobody says that they don't: such edits are never safe. `powf(x, 2.0f)` is off
by up to 4 units of the last place and `x * x` by half of one; `x / 3.0f` is the nearest float to the quotient, and
`x * (1.0f / 3.0f)` rounds twice. The compiler itself divides by powers of two by multiplying, which is exact.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.diagnostics import Edit
from cudalint.facts import Arithmetic, Place
from cudalint.fixes.counted_loops import function_of
from cudalint.fixes.float_edits import in_template
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import NAME, TextOf, changes, free_name, may_have_effect, replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.insertions import within_branches
from cudalint.source.statements import block_around, statement_at

_POWER = regex(r"(?:(?:std)?\s*::\s*)?(powf?)\s*(?=\()")
_FUNCTION = regex(r"(?:(?:std)?\s*::\s*)?([a-z]\w*)\s*(?=\()")
_WHOLE = regex(r"([2-9])(?:\.0*)?[fF]?")
_HALF = regex(r"0?\.50*[fF]?")
_PRIMARY = regex(r"[A-Za-z_][\w.]*(?:(?:->|\.)\w+|\[[\w\s.+*-]*\])*")
_CLOSED = regex(r"[=(,]\Z|\breturn\Z")
_OF_MEMORY = regex(r"\[|->|(?:\A|[(,=+*/%-])\s*\*")
_LONGEST = 40
"""Letters of what is spelled several times."""


def arithmetic_edits(site: Arithmetic, text_of: TextOf) -> tuple[Edit, ...]:
    """The edits for a power, a quotient or a function. Raises an `Obstacle` where its text is not plain."""
    source = code_text(text_of(site.place.path))
    begin, end = source.extent(site.place)
    if site.kind != "division" and not site.keeps_type:
        raise Obstacle("its operands are of another type than its value")
    match site.kind:
        case "power":
            return (_product(source, site.place, (begin, end)),)
        case "quotient":
            return _reciprocal(source, site)
        case "function":
            return (_intrinsic(source, site, (begin, end)),)
        case _:
            raise Obstacle("what to write in its place is a matter of the loop that it is in")


def _product(source: CodeText, place: Place, extent: tuple[int, int]) -> Edit:
    begin, end = extent
    called = _POWER.match(source.code, begin, end)
    if called is None or source.close(called.end()) != end:
        raise Obstacle("the power is not spelled as a call")
    if called[1] == "pow" and in_template(source, begin):
        raise Obstacle("a template may mean a power of another type")
    arguments = source.between_commas(called.end() + 1, end - 1)
    base, exponent = (source.text[a:b].strip() for a, b in arguments)
    if _HALF.fullmatch(exponent):
        return replaced(source, place.path, begin, end, f"{'sqrt' + called[1][3:]}({base})")
    factors = _WHOLE.fullmatch(exponent)
    if factors is None:
        raise Obstacle(f"`{exponent}` is not spelled as a number")
    if may_have_effect(base) or len(base) > _LONGEST:
        raise Obstacle("what the power is of is too long to be there twice, or does something")
    factor = base if _PRIMARY.fullmatch(base) else f"({base})"
    product = " * ".join([factor] * int(factors[1]))
    ahead, behind = source.code[: source.last_before(begin)], source.skip(end)
    alone = _CLOSED.search(ahead) is not None and source.code[behind : behind + 1] in (";", ")", ",")
    return replaced(source, place.path, begin, end, product if alone else f"({product})")


def _reciprocal(source: CodeText, site: Arithmetic) -> tuple[Edit, ...]:
    first, last = source.extent(site.causes[0])
    before = source.code[:first].rstrip("( \t\r\n")
    if not before.endswith("/") or site.causes[0].path != site.place.path:
        raise Obstacle("the quotient is not spelled as one")
    slash = len(before) - 1
    begin = source.skip(slash + 1)
    closed = source.close(begin) if source.code[begin] == "(" else last
    if closed is None or closed < last or in_template(source, slash):
        raise Obstacle("a template may mean a quotient of another type")
    one = site.alternative.partition(" ")[0]
    return (
        replaced(source, site.place.path, slash, slash + 1, "*"),
        replaced(source, site.place.path, begin, begin, f"({one} / "),
        replaced(source, site.place.path, closed, closed, ")"),
    )


def _intrinsic(source: CodeText, site: Arithmetic, extent: tuple[int, int]) -> Edit:
    begin, end = extent
    called = _FUNCTION.match(source.code, begin, end)
    if called is None or called[1] != site.names[0]:
        raise Obstacle(f"`{site.names[0]}` is not spelled as a call of it")
    if not called[1].endswith("f") and in_template(source, begin):
        raise Obstacle("a template may mean a function of doubles")
    return replaced(source, site.place.path, begin, called.end(1), site.alternative)


# --- sine and cosine ---------------------------------------------------------------------------------------

_SINES = {"sin": "cos", "sinf": "cosf"}


def sine_and_cosine(site: Arithmetic, sites: Iterable[Arithmetic], text_of: TextOf) -> tuple[Edit, ...]:
    """The edits that make one call of a sine and a cosine of the same angle, one of which is `site`; none where there
    is no such pair, or something may change the angle between them."""
    source = code_text(text_of(site.place.path))
    partners = {*_SINES, *_SINES.values()}
    if site.names[0] not in partners or not site.keeps_type:
        return ()
    own = _angle(source, site)
    for other in sorted(sites, key=lambda each: each.place):
        is_pair = _SINES.get(site.names[0]) == other.names[0] or _SINES.get(other.names[0]) == site.names[0]
        if own is None or not is_pair or other.place.path != site.place.path or _angle(source, other) != own:
            continue
        first, second = sorted((site, other), key=lambda each: each.place)
        edits = _paired(source, first, second, own, text_of)
        if edits:
            return edits
    return ()


def _angle(source: CodeText, site: Arithmetic) -> str | None:
    begin, end = source.extent(site.place)
    called = _FUNCTION.match(source.code, begin, end)
    if called is None or called[1] != site.names[0] or source.close(called.end()) != end:
        return None
    angle = " ".join(source.text[called.end() + 1 : end - 1].split())
    is_of_floats = called[1].endswith("f") or not in_template(source, begin)
    return angle if is_of_floats and not may_have_effect(angle) else None


def _paired(
    source: CodeText, first: Arithmetic, second: Arithmetic, angle: str, text_of: TextOf
) -> tuple[Edit, ...]:
    begin, end = source.extent(first.place)
    last, behind = source.extent(second.place)
    start, block = statement_at(source, begin), block_around(source, begin)
    if start is None or start.heads or block is None or not block[0] < last < block[1]:
        return ()
    if function_of(source, begin) != function_of(source, last):
        return ()
    if any(changes(name, source.code[start.begin : block[1]]) for name in NAME.findall(angle)):
        return ()
    if _OF_MEMORY.search(angle) and not start.begin <= last < start.end:
        return ()  # Memory may change.
    sine, cosine = free_name("sine", source), free_name("cosine", source)
    path = first.place.path
    put = within_branches(
        text_of(path), Place(path, *source.position(begin), *source.position(end)),
        f"float {sine}, {cosine}; sincosf({angle}, &{sine}, &{cosine});",
    )  # fmt: skip
    named = {name: sine if name in _SINES else cosine for name in (first.names[0], second.names[0])}
    return (
        *(Edit(each.place, each.text) for each in put),
        replaced(source, path, begin, end, named[first.names[0]]),
        replaced(source, path, last, behind, named[second.names[0]]),
    ) if put else ()

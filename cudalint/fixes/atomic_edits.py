"""The edit that makes an update of an element an atomic one, where each of several threads has its share in it.

    sum[j] += x;                 becomes    atomicAdd(&sum[j], x);
    count[bin]++;                           atomicAdd(&count[bin], 1);
    *most = max(*most, in[i]);              atomicMax(most, in[i]);

An atomic computes in the element's type: what an integer is given has to be an integer in the source, too.
"""

from __future__ import annotations

import re

from cudalint.diagnostics import Edit
from cudalint.facts import KernelFacts, Race
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import TextOf, may_have_effect, outside_brackets, replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.statements import statement_at

_INTEGERS = ("int", "unsigned int", "unsigned long long")
_FLOATS = ("float", "double")
_NAMES = {
    "+": "atomicAdd", "-": "atomicAdd", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor", "min": "atomicMin",
    "max": "atomicMax",
}  # fmt: skip
_COMPOUND = regex(r"(?<![=!<>+\-*/%&|^])([-+&|^])=(?!=)")
_PLAIN = regex(r"(?<![=!<>+\-*/%&|^])=(?!=)")
_BY_ONE = regex(r"(?:(?P<before>\+\+|--)(?P<one>.+)|(?P<other>.+?)(?P<behind>\+\+|--))", re.DOTALL)
_CHOICE = regex(r"(?:::|std::)?(?P<which>min|max)\s*(?=\()")
_TARGET = regex(r"\*?\s*[A-Za-z_][\w.\[\]() +\-*/%&>^|<,]*")
_LOOSE = regex(r"[-+?:<>=&|^,]")
"""What binds less than a product: behind it a sum that an element is put into may be of several."""
_WORD = regex(r"(?<![\w.])[A-Za-z_]\w*")
_LITERAL = regex(r"\b\d[\w.]*")
_INTEGER_LITERAL = regex(r"(?:\d+|0[xX][0-9a-fA-F]+)[uUlL]*")
_DECLARED = (
    r"(?:^|[({{;,])\s*(?:const\s+)?(?P<type>[A-Za-z_][\w ]*?)\s+"
    r"(?:\w+(?:\s*=[^;,()]*(?:\([^()]*\))?)?\s*,\s*)*{0}\b\s*(?:=(?!=)|[;,):])"
)
"""Where a variable is declared, with others in front of it."""
_INTEGER_TYPE = regex(
    r"(?:(?:unsigned|signed)\s+)?(?:int|long|short|char|long long|unsigned|size_t|bool|u?int(?:8|16|32|64)_t)"
    r"(?:\s+int)?"
)
_OF_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})


def atomic_edits(race: Race, kernel: KernelFacts, text_of: TextOf) -> tuple[Edit, ...]:
    """The edit for the update that both ends of a race make. Raises an `Obstacle` where it is spelled otherwise, or no
    atomic does the same."""
    place = race.second.place
    here = [a for a in kernel.accesses if a.place.path == place.path and a.place.line == place.line]
    types = {access.element_type for access in here if access.array == race.second.array}
    kind = next(iter(types)) if len(types) == 1 else ""
    if kind not in (*_INTEGERS, *_FLOATS):
        raise Obstacle(f"no atomic updates `{kind}`" if kind else f"`{race.array}` is taken as several types")
    source = code_text(text_of(place.path))
    begin, _ = source.extent(place)
    statement = statement_at(source, begin) if source.code[begin : begin + 1].strip() else None
    if statement is None:
        raise Obstacle(f"line {place.line} is no statement of its own")
    begin, end = statement.begin, statement.end
    sign, target, value = _parts_of_update(source, begin, end - 1, kind, place.line)
    if not _TARGET.fullmatch(target) or may_have_effect(target):
        raise Obstacle(f"`{target}` can't be named twice")
    floats = {access.array for access in here if access.element_type not in _INTEGERS}
    if kind in _INTEGERS and not _is_integer(value, source, kernel, begin, floats):
        raise Obstacle(f"whether `{value}` is an integer is not known")
    value = _negative(value, kind) if sign == "-" else value
    return (replaced(source, place.path, begin, end, f"{_NAMES[sign]}({_address(target)}, {value});"),)


def _parts_of_update(source: CodeText, begin: int, end: int, kind: str, line: int) -> tuple[str, str, str]:
    """How an element is updated, which one, and with what."""
    code, text = source.code[begin:end], source.text[begin:end]
    by_one = _BY_ONE.fullmatch(code.strip())
    if by_one is not None and not _PLAIN.search(code):
        sign = (by_one["before"] or by_one["behind"])[0]
        return sign, (by_one["one"] or by_one["other"]).strip(), "1"
    if (put := _COMPOUND.search(code)) is not None:
        target, value = text[: put.start()].strip(), text[put.end() :].strip()
        if put[1] in "&|^" and kind in _FLOATS:
            raise Obstacle(f"line {line} is no plain update")
        return put[1], target, value
    if (put := _PLAIN.search(code)) is None:
        raise Obstacle(f"line {line} is no plain update")
    target, at = text[: put.start()].strip(), begin + put.end()
    at = source.skip(at)
    choice = _CHOICE.match(source.code, at)
    if choice is not None and kind in _INTEGERS and source.close(choice.end()) == source.last_before(end):
        return _of_choice(source, choice, target, line)
    first = source.text[at:end].strip()
    if first.startswith(target) and (rest := first[len(target) :].lstrip()).startswith("+"):
        value = rest[1:].strip()
        if value and not value.startswith(("+", "=")) and not _is_loose(value):
            return "+", target, value
    raise Obstacle(f"line {line} is no plain update")


def _of_choice(source: CodeText, choice: re.Match[str], target: str, line: int) -> tuple[str, str, str]:
    closed = source.close(choice.end()) or choice.end()
    parts = [source.text[a:b].strip() for a, b in source.between_commas(choice.end() + 1, closed - 1)]
    others = [part for part in parts if part != target]
    if len(parts) != 2 or len(others) != 1:
        raise Obstacle(f"line {line} is no plain update")
    return choice["which"], target, others[0]


def _negative(value: str, kind: str) -> str:
    """What is added to subtract a value, in the element's type: the negative of an unsigned number is large."""
    if re.fullmatch(r"\d+(?:\.\d*f?)?", value):
        return f"-{value}"
    return f"-({kind})({value})" if " " in kind else f"-{kind}({value})"


def _is_loose(value: str) -> bool:
    """Whether something in a value, outside of brackets, binds less than a product."""
    return _LOOSE.search(outside_brackets(value)) is not None


def _is_integer(value: str, source: CodeText, kernel: KernelFacts, before: int, floats: set[str]) -> bool:
    """Whether all that a value is computed of are integers, as far as the kernel's text says."""
    if not all(_INTEGER_LITERAL.fullmatch(each) for each in _LITERAL.findall(value)):
        return False
    if "->" in value or "/" in value or re.search(r"\w\s*\(", value):
        return False
    arrays = {access.array for access in kernel.accesses}
    begin, _ = source.extent(kernel.place)
    for name in _WORD.findall(value):
        if name in _OF_INDICES:
            continue
        if name in arrays:
            if name in floats:
                return False
            continue
        declared = re.findall(_DECLARED.format(name), source.code[begin:before], re.MULTILINE)
        if not declared or not all(_INTEGER_TYPE.fullmatch(each.strip()) for each in declared):
            return False
    return True


def _address(target: str) -> str:
    plain = re.fullmatch(r"\*\s*([A-Za-z_]\w*)", target)
    return plain[1] if plain is not None else f"&{target}"

"""What a text says of its templates: the parts of their lists, and the numbers that they are used with."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cudalint.regexes import regex
from cudalint.source.brackets import parts_in_angles, parts_of_list
from cudalint.source.comments import COMMENT

_NUMBER: Final = regex(r"(?:\d+|true|false)\Z")
_PARAMETER: Final = regex(
    r"(?!typename\b|class\b|template\b)[\w:\s]*?\b(\w+)\s*(?:=\s*(?:(\d+|true|false)\Z|.*))?\Z", re.DOTALL
)
_USE: Final = regex(r"\b(\w+)\s*<(?!<)")
_NAMED: Final = regex(r"\b(\w+)\s*<")
_CALLED: Final = regex(r"\b(\w+)\s*\(|[;{}]")
_ATTRIBUTES: Final = frozenset({"__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype"})
_LONGEST_LIST: Final = 2000
_LONGEST_HEAD: Final = 600
_MOST_LEVELS: Final = 3


class _Template(NamedTuple):
    """A function template of a text."""

    name: str
    named: frozenset[str]
    """What stands in front of `<` behind its list, up to the next template."""
    uses: Sequence[Mapping[str, str]]
    """The numbers that it is used with, by the names of its parameters; what it has by itself if it is used nowhere."""


def numbers_given(text: str, name: str) -> Sequence[Mapping[str, str]]:
    """The numbers that a text gives to the function templates that come to use a template of a name, by the names of
    their parameters, each set of them once: `solve<Matrix, 128>(a)` and
    `template <class M, int THREADS, int LANES = 32> void solve(M &a) { step<M, THREADS, LANES><<<...>>>(...); }`."""
    templates, wanted = _templates(text), {name}
    for _ in range(_MOST_LEVELS):
        more = {each.name for each in templates if each.name != name and not wanted.isdisjoint(each.named)}
        if more <= wanted:
            break
        wanted |= more
    found = (tuple(use.items()) for each in templates if each.name in wanted - {name} for use in each.uses if use)
    return tuple(map(dict, dict.fromkeys(found)))


@functools.lru_cache(maxsize=16)
def _templates(text: str) -> Sequence[_Template]:
    text = COMMENT.sub(" ", text)
    found = []
    used = _used(text)
    starts = [head.start() for head in re.finditer(r"\btemplate\s*<", text)]
    for start, end in itertools.pairwise([*starts, len(text)]):
        places = parts_in_angles(text[start : start + _LONGEST_LIST], text.find("<", start) - start)[0]
        parts = [text[start + first : start + last].strip() for first, last in places]
        parameters = [_PARAMETER.match(part) for part in parts]
        name = _function_behind(text, start + places[-1][1]) if places else ""
        if name:
            names = [match[1] if match else "" for match in parameters]
            usual = {match[1]: match[2] for match in parameters if match and match[2]}
            uses = [usual | given for given in _uses(text, used.get(name, ()), names)] or [usual]
            named = frozenset(_NAMED.findall(text, start + places[-1][1], end))
            found.append(_Template(name, named, uses))
    return tuple(found)


def _function_behind(text: str, start: int) -> str:
    """The name of the function that a template's list belongs to; nothing for a class."""
    for match in _CALLED.finditer(text, start, start + _LONGEST_HEAD):
        if match[1] not in _ATTRIBUTES:
            return match[1] or ""
    return ""


def _used(text: str) -> Mapping[str, Sequence[int]]:
    """Where names stand in front of `<`, by name."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for use in _USE.finditer(text):
        found[use[1]].append(use.start())
    return found


def _uses(text: str, places: Sequence[int], names: Sequence[str]) -> Iterator[dict[str, str]]:
    for place in places:
        parts = parts_of_list(text[place : place + _LONGEST_LIST])
        yield {each: part for each, part in zip(names, parts, strict=False) if each and _NUMBER.match(part)}

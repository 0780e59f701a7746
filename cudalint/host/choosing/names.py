"""Sizes that are few by what they are called: heads, layers, a batch, beams. Nothing else may say so."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from functools import lru_cache

from cudalint.host.choosing.draft import Draft
from cudalint.host.values.nodes import GRANULE, Node, Uniform
from cudalint.regexes import regex

_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_COUNTS = frozenset({"n", "num", "nb", "number", "count", "of"})
"""What stands in a name for how many there are."""
_AMONG = frozenset({"max", "local", "kv", "q", "k", "v", "src", "dst", "in", "out", "input", "output", "m"})
"""What may stand there besides."""
_COUNTED = frozenset({"batch", "head", "beam", "layer", "expert"})
_SIZES = {"batch": frozenset({"size", "sz"}), "beam": frozenset({"width", "size"})}
"""How many there are in one is its size, where it is a set of things."""
_OF_ONE = frozenset({"dim", "dims", "size"})
_PART = 2
"""Times the granule: what one head of many has of a row."""


def choose_few(draft: Draft, symbols: Collection[Node]) -> None:
    """Gives sizes that count a few things small numbers: multiples of a warp still, of which no two are the same."""
    taken = {draft.choice(symbol).value for symbol in symbols}
    for symbol in symbols:
        assert isinstance(symbol.payload, Uniform)
        if symbol.kind.is_float or symbol.kind.bytes == 1 or draft.choice(symbol).basis != "default":
            continue
        unit = _unit(symbol.payload.name)
        if unit:
            value = next(value for value in itertools.count(unit * GRANULE, unit * GRANULE) if value not in taken)
            taken.add(value)
            draft.choose(symbol, value, "name")


@lru_cache(maxsize=4096)
def _unit(name: str) -> int:
    """Of how many granules a size is a multiple by its name; 0 for one that may be large."""
    words = [word.lower() for word in _WORD.findall(re.sub(r"^.*(\.|->|\])", "", name))]
    if "per" in words or (words[:1] == ["head"] and set(words[1:]) & _OF_ONE):
        return _PART if "head" in words and not _COUNTS & set(words) else 0
    return 1 if _is_count(words) else 0


def _is_count(words: list[str]) -> bool:
    left = [word for word in words if word not in _COUNTS | _AMONG]
    noun = left[0].removesuffix("es" if left[0] == "batches" else "s") if left else ""
    if noun not in _COUNTED or not _SIZES.get(noun, frozenset()).issuperset(left[1:]):
        return False
    # `head` alone is where a list begins.
    return len(left) > 1 or left[0] != noun or noun == "batch" or bool(_COUNTS & set(words))

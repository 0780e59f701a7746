"""The edit that lets a mask of lanes name a whole warp: `0xfffffff`, of seven digits, becomes `0xffffffff`."""

from __future__ import annotations

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import TextOf, replaced
from cudalint.regexes import regex
from cudalint.source.code import code_text

WHOLE = "0xffffffff"
_FIRST_LANES = regex(r"[^(]*\(\s*(?P<mask>0[xX][137]?[fF]+)(?=[uUlL]*\s*[,)])")
"""A call whose first argument names the first lanes of a warp."""


def mask_edits(place: Place, text_of: TextOf) -> tuple[Edit, ...]:
    """The edit for a call of a warp function. Raises an `Obstacle` where its mask is not spelled there as a number."""
    source = code_text(text_of(place.path))
    begin, end = source.extent(place)
    call = _FIRST_LANES.match(source.code, begin, end)
    if call is None:
        raise Obstacle("the mask is no number that is spelled in the call")
    return (replaced(source, place.path, call.start("mask"), call.end("mask"), WHOLE),)

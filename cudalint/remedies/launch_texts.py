"""Launches as the source spells them: `kernel<<<grid, block, bytes>>>(...)`, and blocks of another shape in them."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.spelling import between_commas, replaced
from cudalint.source.code import CodeText, code_text

_LAUNCHED = re.compile(r"([A-Za-z_][\w:]*(?:\s*<[\w\s,:*]+>)?)\s*<<<")
_DIM3 = re.compile(r"dim3\s*(?=[({])")
_NAME = re.compile(r"[A-Za-z_]\w*")

Span = tuple[int, int]


class LaunchText(Struct, frozen=True):
    """A launch in the text: its kernel's name, and the offsets of what stands between the chevrons."""

    name: str
    configuration: tuple[Span, ...]
    """Grid, block, bytes of shared memory and stream, as far as they are there."""


def launch_text(launch: Place, source: CodeText) -> LaunchText:
    """Raises an `Obstacle` where it isn't spelled so."""
    begin, end = source.extent(launch)
    launched = _LAUNCHED.match(source.code, begin, end)
    closing = source.code.find(">>>", begin, end)
    if launched is None or closing < 0:
        raise Obstacle(f"the launch at line {launch.line} is spelled by a macro or a function")
    spans = tuple(_stripped(source, a, b) for a, b in between_commas(source, launched.end(), closing))
    if len(spans) not in (2, 3, 4):
        raise Obstacle(f"the launch at line {launch.line} is spelled by a macro or a function")
    return LaunchText(launched[1], spans)


def _stripped(source: CodeText, begin: int, end: int) -> Span:
    text = source.text[begin:end]
    return begin + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())


def exchanged_block(launch: Place, text_of: Callable[[str], str]) -> Edit:
    """The edit that launches the same blocks with x and y exchanged."""
    source = code_text(text_of(launch.path))
    begin, end = launch_text(launch, source).configuration[1]
    text = source.code[begin:end]
    if _NAME.fullmatch(text):
        return replaced(source, launch.path, begin, end, f"dim3({text}.y, {text}.x, {text}.z)")
    made = _DIM3.match(source.code, begin, end)
    if made is None or source.close(made.end()) != end:
        raise Obstacle(f"the block of the launch at line {launch.line} is not spelled as a `dim3`")
    parts = [source.text[a:b].strip() for a, b in between_commas(source, made.end() + 1, end - 1)]
    parts += ["1"] * (2 - len(parts))
    parts[:2] = parts[1], parts[0]
    return replaced(source, launch.path, made.end() + 1, end - 1, ", ".join(parts))

"""Launches as the source spells them: `kernel<<<grid, block, bytes>>>(...)`, and blocks of another shape in them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import KernelFacts, Place
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import may_have_effect, outside_brackets, parameter_names, replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_LAUNCHED = regex(r"([A-Za-z_][\w:]*(?:\s*<[\w\s,:*]+>)?)\s*<<<")
_DIM3 = regex(r"dim3\s*(?=[({])")
_NAME = regex(r"[A-Za-z_]\w*")

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
    spans = tuple(_stripped(source, a, b) for a, b in source.between_commas(launched.end(), closing))
    if len(spans) not in (2, 3, 4):
        raise Obstacle(f"the launch at line {launch.line} is spelled by a macro or a function")
    return LaunchText(launched[1], spans)


def _stripped(source: CodeText, begin: int, end: int) -> Span:
    text = source.text[begin:end]
    return begin + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())


def arguments_of(kernel: KernelFacts, launch: Place, text_of: Callable[[str], str]) -> dict[str, str]:
    """What a launch `kernel<<<...>>>(...)` gives for each parameter, as it is spelled."""
    source = code_text(text_of(launch.path))
    begin, end = source.extent(launch)
    closing = source.code.find(">>>", begin, end)
    opening = source.skip(closing + 3) if closing >= 0 else -1
    closed = source.close(opening) if opening >= 0 and source.code[opening] == "(" else None
    if closed is None:
        return {}
    # Of code alone: comments stand between arguments.
    arguments = (" ".join(source.code[a:b].split()) for a, b in source.between_commas(opening + 1, closed - 1))
    named = zip(parameter_names(kernel, text_of), arguments, strict=False)
    return {name: argument for name, argument in named if name}


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
    parts = [source.text[a:b].strip() for a, b in source.between_commas(made.end() + 1, end - 1)]
    parts += ["1"] * (2 - len(parts))
    parts[:2] = parts[1], parts[0]
    return replaced(source, launch.path, made.end() + 1, end - 1, ", ".join(parts))


_FACTOR = r"(?:sizeof\s*\([\w\s*]+\)|[\w:.]+)"
_PRODUCT = regex(rf"{_FACTOR}(?:\s*\*\s*{_FACTOR})*")
_LOOSER_THAN_A_SUM = regex(r"[?<>=&|^,]")


def launch_sites(kernel: KernelFacts) -> list[Place]:
    """Where a kernel is launched. Raises an `Obstacle` where that isn't all in sight."""
    if kernel.left_out:
        raise Obstacle(f"not every launch of `{kernel.name}` was evaluated")
    sites: dict[Place, None] = {}
    for launch in kernel.launches:
        if launch.site is None or launch.source != "launch-site":
            raise Obstacle(f"nothing in sight launches `{kernel.name}`, whose launches would have to change with it")
        sites.update(dict.fromkeys(site.place for site in (launch.site, *launch.twins)))
    return list(sites)


def larger_shared_memory(launch: Place, every: int, more: int, text_of: Callable[[str], str]) -> Edit:
    """The edit that asks for `more` elements of shared memory in addition to each `every` of them. In bytes that is the
    same share, and rounded down no less than what is needed."""
    source = code_text(text_of(launch.path))
    text = launch_text(launch, source)
    if len(text.configuration) < _WITH_BYTES:
        raise Obstacle(f"the launch at line {launch.line} asks for no shared memory")
    begin, end = text.configuration[2]
    asked = source.text[begin:end]
    if may_have_effect(asked):
        raise Obstacle(f"the bytes of the launch at line {launch.line} are worked out by a call")
    factor = asked if _PRODUCT.fullmatch(asked) else f"({asked})"
    added = f" + {factor} / {every}" + (f" * {more}" if more > 1 else "")
    if _LOOSER_THAN_A_SUM.search(outside_brackets(asked)):
        return replaced(source, launch.path, begin, end, f"({asked}){added}")
    return replaced(source, launch.path, end, end, added)


_WITH_BYTES = 3
"""Numbers in the brackets of a launch that asks for shared memory."""

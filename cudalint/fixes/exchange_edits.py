"""The edits that exchange x and y of the threads throughout a kernel, and of the blocks that it is launched with.

The thread at (a, b) then does what the one at (b, a) did, and the block as a whole does the same. That holds where a
thread is only known by its index: not where lanes of a warp talk to each other, and not where something else that the
kernel calls looks at the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from cudalint.diagnostics import Edit
from cudalint.facts import KernelFacts
from cudalint.fixes.launch_texts import exchanged_block, launch_sites
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_INDEX = regex(r"\b(threadIdx|blockDim)\b(?:\s*\.\s*([xyz])\b)?")
_BY_LANE = regex(
    r"\b(?:__(?:shfl|ballot|any|all|activemask|match|reduce|syncwarp)\w*|warpSize|asm|__asm__|volatile|wmma|cooperative_groups"
    r"|cg|this_thread|this_thread_block|tiled_partition|nv_atomic\w*)\b"
)
"""What differs between the lanes of a warp, or may."""
_CALLED = regex(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;(){}]*>\s*)?\(")
_MACRO = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)


def exchange_edits(kernel: KernelFacts, sources: Iterable[str], text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """All edits. Raises an `Obstacle` where it isn't plain that they change nothing else. `sources` are the paths of
    all that the kernel may call something of."""
    if kernel.left_out:
        raise Obstacle(f"not every launch of `{kernel.name}` was evaluated")
    source = code_text(text_of(kernel.place.path))
    begin, end = source.extent(kernel.place)
    body = source.code[begin:end]
    called = set(_CALLED.findall(body))
    by_lane = _BY_LANE.search(body)
    if by_lane is not None:
        raise Obstacle(f"`{by_lane[0]}` in `{kernel.name}` tells the lanes of a warp apart")
    if any(_concerns(called, body, code_text(text_of(path))) for path in sources):
        raise Obstacle(f"what `{kernel.name}` calls may look at the thread's index, too")
    is_square = all(launch.block[0] == launch.block[1] for launch in kernel.launches)
    found = [use for use in _INDEX.finditer(source.code, begin, end) if not is_square or use[1] == "threadIdx"]
    if not found or any(use[2] is None for use in found):
        raise Obstacle(f"`{kernel.name}` does not spell all of its indices as `threadIdx.x` and `threadIdx.y`")
    edits = list(_exchanged(found, source, kernel.place.path))
    return (*edits, *(() if is_square else (exchanged_block(place, text_of) for place in launch_sites(kernel))))


def _concerns(called: set[str], body: str, source: CodeText) -> bool:
    """Whether a source has a function for the device that is called, or a macro that is used and may have an index."""
    for macro in _MACRO.finditer(source.text):
        if macro[1] in called or ("threadIdx" in macro[2] and re.search(rf"\b{macro[1]}\b", body)):
            return True
    return any(
        re.search(rf"\b__device__\b[^;{{}}]*\b{name}\s*\(", source.code) for name in called if name in source.code
    )


def _exchanged(uses: Iterable[re.Match[str]], source: CodeText, path: str) -> Iterator[Edit]:
    for use in uses:
        other = {"x": "y", "y": "x"}.get(use[2])
        if other is not None:
            yield replaced(source, path, use.start(2), use.end(2), other)

"""The edit that adds up the values of a warp in registers, so that one of its lanes makes the atomic of all."""

from __future__ import annotations

import re
from collections.abc import Callable

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts
from cudalint.hardware.requests import WARP_LANES
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.outermost import LEAVES, body_of, statements
from cudalint.remedies.spelling import replaced
from cudalint.source.code import code_text

_CALL = re.compile(r"atomicAdd\s*(?=\()")
_EFFECT = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--")
_TYPES = ("float", "double")


def aggregation_edits(kernel: KernelFacts, access: Access, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edit for `atomicAdd(address, value);`, which all lanes of a warp come to. Raises an `Obstacle` where it is
    spelled otherwise, or a warp may lack lanes."""
    kind = access.element_type
    if kind not in _TYPES:
        raise Obstacle(f"`{kind}` is not exchanged between lanes by `__shfl_down_sync`")
    blocks = {launch.block for launch in kernel.launches}
    if any(x * y * z % WARP_LANES for x, y, z in blocks):
        raise Obstacle(f"the last warp of a block of `{kernel.name}` lacks lanes")
    for result in access.results:
        sample = result.sample
        if sample is None or not sample.mask.all() or result.reached_by_data:
            raise Obstacle("not all lanes of each warp come to the atomic")
        if (sample.addresses != sample.addresses[:, :1]).any():
            raise Obstacle("some warps go to several addresses")
    if "<" in kernel.instantiation or access.inlined_from or access.place.path != kernel.place.path:
        raise Obstacle("other kernels and instantiations may come to the atomic with fewer lanes")
    source = code_text(text_of(access.place.path))
    begin, _ = source.extent(access.place)
    call = _CALL.match(source.code, begin)
    closed = source.close(call.end()) if call is not None else None
    if call is None or closed is None or source.code[source.skip(closed)] != ";":
        raise Obstacle(f"line {access.place.line} is not a plain `atomicAdd` whose result nobody needs")
    opening = body_of(kernel, source)
    if begin not in {start for start, _ in statements(source, opening)} or LEAVES.search(source.code, opening, begin):
        raise Obstacle(f"threads may be missing at line {access.place.line}, which all of a warp have to come to")
    commas = source.find(",", call.end() + 1, closed - 1)
    address, value = (
        source.text[a:b].strip() for a, b in ((call.end() + 1, commas[0]), (commas[0] + 1, closed - 1))
    ) if len(commas) == 1 else ("", "")  # fmt: skip
    if not address or _EFFECT.search(address):
        raise Obstacle(f"the atomic at line {access.place.line} is not as plain as an address and a value")
    name = "warp_sum"
    while re.search(rf"\b{name}\b", source.code):
        name += "_"
    lane = "threadIdx.x"
    if any(x % WARP_LANES for x, _, _ in blocks):
        lane = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"
    margin = source.margin(begin) or ""
    lines = (
        "{",
        f"    {kind} {name} = {value};",
        "    for (int step = 16; step > 0; step /= 2)",
        f"        {name} += __shfl_down_sync(0xffffffff, {name}, step);",
        f"    if ({lane} % 32 == 0)",
        f"        atomicAdd({address}, {name});",
        "}",
    )
    end = source.skip(closed) + 1
    text = f"{source.line_end}{margin}".join(lines)
    return (replaced(source, access.place.path, begin, end, text),)

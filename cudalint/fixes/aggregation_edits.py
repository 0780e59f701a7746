"""The edit that adds up the values of a warp in registers, so that one of its lanes makes the atomic of all."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts
from cudalint.fixes.headers import included
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import LEAVES, body_of, statements
from cudalint.fixes.spelling import free_name, replaced
from cudalint.hardware.requests import WARP_LANES
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.statements import statement_at

_CALL = regex(r"atomicAdd\s*(?=\()")
_EFFECT = regex(r"(?<![=!<>])=(?!=)|\+\+|--")
_TYPES = ("float", "double")
_HEADERS = ("cooperative_groups.h", "cooperative_groups/reduce.h")


class _Atomic(Struct, frozen=True):
    """`atomicAdd(address, value);` in the text."""

    begin: int
    end: int
    """Behind its semicolon."""
    address: str
    value: str


def aggregation_edits(kernel: KernelFacts, access: Access, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edits for `atomicAdd(address, value);`: by shuffles where all lanes of each warp come to it, and otherwise by
    a group of those that do. Raises an `Obstacle` where it is spelled otherwise, or lanes go to several addresses."""
    kind = access.element_type
    if kind not in _TYPES:
        raise Obstacle(f"`{kind}` is not exchanged between lanes by `__shfl_down_sync`")
    for result in access.results:
        sample = result.sample
        if sample is None or not sample.mask.any():
            raise Obstacle("not all is known of who comes to the atomic")
        of_an_active = sample.addresses[range(len(sample.mask)), sample.mask.argmax(axis=1)][:, None]
        if ((sample.addresses != of_an_active) & sample.mask).any():
            raise Obstacle("some warps go to several addresses")
    if access.inlined_from or access.place.path != kernel.place.path:
        raise Obstacle("other kernels may come to the atomic with several addresses")
    source = code_text(text_of(access.place.path))
    atomic = _atomic(access, source)
    if _all_come(kernel, access, source, atomic.begin):
        return (_by_shuffles(kernel, kind, access.place.path, source, atomic),)
    return (*included(access.place.path, source, _HEADERS), _by_a_group(kind, access.place.path, source, atomic))


def _atomic(access: Access, source: CodeText) -> _Atomic:
    begin, _ = source.extent(access.place)
    call = _CALL.match(source.code, begin)
    closed = source.close(call.end()) if call is not None else None
    statement = statement_at(source, begin)
    is_alone = statement is not None and statement.begin == begin
    if call is None or closed is None or not is_alone or source.code[source.skip(closed)] != ";":
        raise Obstacle(f"line {access.place.line} is not a plain `atomicAdd` whose result nobody needs")
    commas = source.find(",", call.end() + 1, closed - 1)
    address, value = (
        source.text[a:b].strip() for a, b in ((call.end() + 1, commas[0]), (commas[0] + 1, closed - 1))
    ) if len(commas) == 1 else ("", "")  # fmt: skip
    if not address or _EFFECT.search(address):
        raise Obstacle(f"the atomic at line {access.place.line} is not as plain as an address and a value")
    return _Atomic(begin, source.skip(closed) + 1, address, value)


def _all_come(kernel: KernelFacts, access: Access, source: CodeText, begin: int) -> bool:
    """Whether all lanes of each warp come to the atomic, by whatever instantiation."""
    if any(x * y * z % WARP_LANES for x, y, z in (launch.block for launch in kernel.launches)):
        return False
    results = access.results
    if any(r.reached_by_data or r.sample is None or not r.sample.mask.all() for r in results):
        return False
    opening = body_of(kernel, source)
    is_outermost = begin in {start for start, _ in statements(source, opening)}
    return "<" not in kernel.instantiation and is_outermost and not LEAVES.search(source.code, opening, begin)


def _by_shuffles(kernel: KernelFacts, kind: str, path: str, source: CodeText, atomic: _Atomic) -> Edit:
    name = _free_name("warp_sum", atomic)
    lane = "threadIdx.x"
    if any(launch.block[0] % WARP_LANES for launch in kernel.launches):
        lane = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"
    lines = (
        "{",
        f"    {kind} {name} = {atomic.value};",
        "    for (int step = 16; step > 0; step /= 2)",
        f"        {name} += __shfl_down_sync(0xffffffff, {name}, step);",
        f"    if ({lane} % 32 == 0)",
        f"        atomicAdd({atomic.address}, {name});",
        "}",
    )
    return _in_its_place(path, source, atomic, lines)


def _by_a_group(kind: str, path: str, source: CodeText, atomic: _Atomic) -> Edit:
    name, lanes = _free_name("warp_sum", atomic), _free_name("lanes", atomic)
    groups = "cooperative_groups::"
    lines = (
        "{",
        f"    const auto {lanes} = {groups}coalesced_threads();",
        f"    const {kind} {name} = {groups}reduce({lanes}, {kind}({atomic.value}), {groups}plus<{kind}>());",
        f"    if ({lanes}.thread_rank() == 0)",
        f"        atomicAdd({atomic.address}, {name});",
        "}",
    )
    return _in_its_place(path, source, atomic, lines)


def _free_name(name: str, atomic: _Atomic) -> str:
    """A name for within the braces that are put in the atomic's place: what is called so outside need only stay what it
    is for the atomic."""
    return free_name(name, code_text(f"{atomic.address} {atomic.value}"))


def _in_its_place(path: str, source: CodeText, atomic: _Atomic, lines: tuple[str, ...]) -> Edit:
    line_end = f"{source.line_end}{source.margin(atomic.begin) or ''}"
    return replaced(source, path, atomic.begin, atomic.end, line_end.join(lines))

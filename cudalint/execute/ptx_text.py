"""The text of inline PTX, split into instructions."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from cudalint.regexes import regex

_COMMENT = regex(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INSTRUCTION = regex(r"\s*(?:[{}]\s*|\w+:\s*)*(?:@(!?)%*(\w+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_OPERAND = regex(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+")
_ADDRESS = regex(r"\[\s*(%*\w+)\s*(?:\+\s*(-?\w+)\s*)?\]")
_WIDTH = regex(r"[bufs](8|16|32|64|128)|f16x2|bf16x2")
_WAITING = frozenset({"commit_group", "wait_group", "wait_all", "mbarrier", "fence", "commit", "wait"})
_OF_TENSOR_MEMORY = frozenset({"ld", "st", "wait", "fence", "commit", "shift", "dealloc", "relinquish_alloc_permit"})


class Instruction(Struct, frozen=True):
    """One instruction with its predicate."""

    name: str
    """With all its modifiers: `ld.global.v4.u32`."""
    operands: tuple[str, ...]
    guard: str = ""
    """The register of its predicate."""
    negated: bool = False

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")

    @property
    def bytes(self) -> int:
        """What one thread moves; 0 where the name does not say."""
        widths = [match for part in self.parts if (match := _WIDTH.fullmatch(part))]
        if not widths:
            return 0
        vector = next((int(part[1:]) for part in self.parts if part in ("v2", "v4", "v8")), 1)
        return vector * int(widths[-1][1] or 32) // 8

    @property
    def is_waiting(self) -> bool:
        """Whether it only groups copies, orders them or waits for them."""
        return any(part in _WAITING or part.startswith("fence::") for part in self.parts)

    @property
    def unit(self) -> str | None:
        """What gets to shared or global memory in the place of the threads; None where these do, or nothing does."""
        parts = [part.partition("::")[0] for part in self.parts]
        if parts[0] == "cp" and "bulk" in parts and not self.is_waiting:
            return "the copy engine"
        if parts[0] == "wgmma" and "mma_async" in parts:
            return "the tensor core"
        if parts[0] == "tcgen05" and parts[1:] and parts[1] in ("mma", "cp", "alloc"):
            return "the tensor core"
        return None

    @property
    def is_within(self) -> bool:
        """Whether it only moves between registers and tensor memory, which is neither shared nor global memory, or
        manages that (PTX ISA, "tcgen05")."""
        parts = [part.partition("::")[0] for part in self.parts]
        return parts[0] == "tcgen05" and parts[1:] != [] and parts[1] in _OF_TENSOR_MEMORY


@cache
def instructions(text: str) -> tuple[Instruction, ...]:
    """The instructions of an asm statement, in their order; declarations of registers are none."""
    found = []
    for piece in _COMMENT.sub(" ", text).split(";"):
        match = _INSTRUCTION.match(piece)
        if match:
            operands = tuple(o.strip() for o in _OPERAND.findall(match[4]) if o.strip())
            found.append(Instruction(match[3], operands, match[2] or "", bool(match[1])))
    return tuple(found)


def registers_of(text: str) -> list[str]:
    """The names in one operand: one, or those of a vector."""
    return [name.strip() for name in text.strip("{} ").split(",")]


def address(text: str) -> tuple[str, str] | None:
    """The register of an address and what is added to it."""
    match = _ADDRESS.fullmatch(text)
    return (match[1], match[2] or "") if match else None


def whole(text: str) -> int | None:
    """A number in PTX; those that end in `U` are unsigned."""
    try:
        return int(text.rstrip("uU"), 0)
    except ValueError:
        return None

"""Inline PTX: what its instructions do to memory, and to the variables that they set (PTX ISA, "Instruction Set").

An instruction that is not known here sets its first operand to something unknown, which depends on all that goes into
the statement; if it gets to memory, that is a gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

from cudalint.facts import Operation
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.conversions import as_number, cast, convert
from cudalint.interpreter.device.pointers import pointer_place
from cudalint.interpreter.device.positions import lane_index
from cudalint.interpreter.device.values import MemoryPlace, Pointer, Value, nodes_of
from cudalint.interpreter.library.synchronisation import assembly_barrier, warp_converges, warp_waits
from cudalint.ir import nodes as ir
from cudalint.numerals import whole
from cudalint.source.comments import COMMENT
from cudalint.values.arithmetic import BOOL, I4, I8, U4, U8, Kind
from cudalint.values.nodes import Node, Reason

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

_INSTRUCTION = re.compile(r"\s*(?:[{}]\s*|\w+:\s*)*(?:@(!?)%*(\w+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+")
_ADDRESS = re.compile(r"\[\s*(%*\w+)\s*(?:\+\s*(-?\d+)\s*)?\]")
_WIDTH = re.compile(r"[bufs](8|16|32|64|128)|f16x2|bf16x2")
_CHAR = ir.PointerType(ir.Scalar("char", 1, "int"))
_SIZE = ir.Scalar("size_t", 8, "uint")

_MEMORY = ("ld", "st", "atom", "red", "ldmatrix", "stmatrix", "cp", "ldu", "multimem", "wgmma", "tcgen05")
_ACCESSES: dict[str, tuple[Operation, int]] = {
    "ld": ("load", 1), "ldu": ("load", 1), "st": ("store", 0), "atom": ("atomic", 1), "red": ("atomic", 0),
    "ldmatrix": ("load", 1), "stmatrix": ("store", 0),
}  # fmt: skip
"""What they do, and which operand is the address."""
_ROW_BYTES = 16
"""Of a matrix of eight rows, each of which one lane points to (PTX ISA, "ldmatrix")."""
_ROWS = 8
_WAITING = frozenset({"commit_group", "wait_group", "wait_all", "mbarrier", "fence", "commit", "wait"})
_OF_TENSOR_MEMORY = frozenset(
    {"ld", "st", "wait", "fence", "commit", "shift", "dealloc", "relinquish_alloc_permit"}
)
_KINDS = {"u32": U4, "b32": U4, "s32": I4, "u64": U8, "b64": U8, "s64": I8}
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_SHUFFLES = {"idx": "idx", "up": "up", "down": "down", "bfly": "xor"}
_COMPARISONS = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip


class Instruction(Struct, frozen=True):
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


@cache
def instructions(text: str) -> tuple[Instruction, ...]:
    """The instructions of an asm statement, in their order; declarations of registers are none."""
    found = []
    for piece in COMMENT.sub(" ", text).split(";"):
        match = _INSTRUCTION.match(piece)
        if match:
            operands = tuple(o.strip() for o in _OPERAND.findall(match[4]) if o.strip())
            found.append(Instruction(match[3], operands, match[2] or "", bool(match[1])))
    return tuple(found)


def run(ex: Executor, statement: ir.Asm) -> None:
    """Executes an asm statement."""
    _Assembly(ex, statement).run()


class _Assembly(Struct, eq=False):
    """One asm statement, with the registers that it declares."""

    ex: Executor
    statement: ir.Asm
    registers: dict[str, Value] = field(default_factory=dict)
    _values: dict[int, Value] = field(default_factory=dict)

    def run(self) -> None:
        is_waiting = "wait" in self.statement.text
        values = [self._operand(i) for i in range(len(self.statement.operands) if is_waiting else 0)]
        assembly_barrier(self.ex, self.statement, values)
        for instruction in instructions(self.statement.text):
            with self._guarded(instruction) as is_known:
                handler = _HANDLERS.get(instruction.parts[0], _Assembly._other)
                if not self.ex.state.dead and not (is_known and handler(self, instruction)):
                    self._unknown(instruction)

    @contextmanager
    def _guarded(self, instruction: Instruction) -> Iterator[bool]:
        """Only the lanes with a predicate execute it; whether it is known which ones those are."""
        condition = self.registers.get(instruction.guard)
        if not instruction.guard or not isinstance(condition, Node):
            yield not instruction.guard
            return
        state = self.ex.state
        before, dead = state.conditions, state.dead
        state.assume(self.ex.graph.negate(condition) if instruction.negated else self.ex.graph.truth(condition))
        yield True
        state.conditions, state.dead = before, dead

    def _unknown(self, instruction: Instruction) -> None:
        name = instruction.parts[0]
        unit = _unit_of(instruction)
        if unit is not None:
            text = f"{unit} (`{instruction.name}`) gets to memory, and no lane does"
            self.ex.gap(self.statement.span, text, "unit")
        elif name in _MEMORY and not _is_waiting(instruction) and not _is_within(instruction):
            self.ex.gap(self.statement.span, f"its inline PTX (`{instruction.name}`) accesses memory")
        if instruction.operands and name not in ("st", "red", "stmatrix", "cp", "bar", "barrier"):
            self._set_unknown(instruction.operands[0], data=name in _MEMORY)

    # operands

    def _operand(self, number: int) -> Value:
        if number not in self._values:
            self._values[number] = expressions.evaluate(self.ex, self.statement.operands[number])
        return self._values[number]

    def _value(self, text: str) -> Value | None:
        """A variable of the kernel, a register, or a number."""
        number = self._variable(text)
        if number is not None:
            return self._operand(number)
        bare = text.lstrip("%")
        if bare in _SPECIAL and text.startswith("%"):
            return _SPECIAL[bare](self.ex)
        if bare in self.registers:
            return self.registers[bare]
        number = whole(text, 0)
        return None if number is None else self.ex.graph.const(number)

    def _variable(self, text: str) -> int | None:
        """2 for `%2`, which is a variable of the kernel."""
        digits = text.removeprefix("%")
        number = whole(digits) if text.startswith("%") and digits.isdecimal() else None
        return number if number is not None and number < len(self.statement.operands) else None

    def _numbers(self, texts: Sequence[str]) -> list[Node]:
        """The numbers of some operands; fewer where not all of them are known."""
        values = [self._value(text) for text in texts]
        return [as_number(self.ex, value, _SIZE) for value in values if value is not None]

    def _set(self, text: str, value: Value) -> None:
        number = self._variable(text)
        if number is None:
            self.registers[text.lstrip("%")] = value
            return
        target = self.statement.operands[number]
        where = expressions.place(self.ex, target)
        expressions.write(self.ex, where, convert(self.ex, value, target.type), target.span)
        self._values.pop(number, None)

    def _set_unknown(self, text: str, data: bool) -> None:
        """One register or all of a vector's."""
        reason = Reason(data, "it is set by inline PTX", self.statement.span)
        names = [name.strip() for name in text.strip("{} ").split(",")]
        numbers = {self._variable(name) for name in names}
        args = tuple(node for i, value in self._values.items() if i not in numbers for node in nodes_of(value))
        for name in names:
            number = self._variable(name)
            if number is not None:
                self._set(name, self.ex.memory.unknown(self.statement.operands[number].type, reason, args))
            else:
                self.registers.pop(name.lstrip("%"), None)

    def _place(self, text: str) -> MemoryPlace | None:
        """What `[%1 + 16]` names."""
        match = _ADDRESS.fullmatch(text)
        value = self._value(match[1]) if match else None
        if match is None or value is None:
            return None
        pointer = cast(self.ex, value, _SIZE, _CHAR)
        if isinstance(pointer, Pointer) and match[2]:
            graph = self.ex.graph
            offset = graph.binary("+", pointer.offset, graph.const(whole(match[2]) or 0, I8), I8)
            pointer = Pointer(pointer.target, offset, pointer.pointee, None, pointer.one_of)
        where = pointer_place(self.ex, pointer, _CHAR)
        return where if isinstance(where, MemoryPlace) else None

    # instructions: True where all of what they do is known

    def _access(self, instruction: Instruction, bytes_: int = 0) -> bool:
        """A load, a store or an atomic operation, of as many bytes as its name says if none are given."""
        operation, position = _ACCESSES[instruction.parts[0]]
        bytes_ = bytes_ or instruction.bytes
        place = self._place(instruction.operands[position]) if len(instruction.operands) > position else None
        if place is None or not bytes_:
            return False
        value = self._value(instruction.operands[1]) if operation == "store" and len(instruction.operands) > 1 else None
        self._record(place, operation, bytes_, value)
        if position == 1:
            self._set_unknown(instruction.operands[0], data=True)
        return True

    def _matrix(self, instruction: Instruction) -> bool:
        """`ldmatrix`, `stmatrix`: each of the first lanes points to a row of a matrix."""
        count = next((int(part[1:]) for part in instruction.parts if part in ("x1", "x2", "x4")), 0)
        if not count or "m8n8" not in instruction.parts:
            return False
        graph, state = self.ex.graph, self.ex.state
        before = state.conditions
        if count < 4:
            state.assume(graph.binary("<", lane_index(self.ex), graph.const(_ROWS * count), BOOL))
        found = self._access(instruction, _ROW_BYTES)
        state.conditions = before
        return found

    def _copy(self, instruction: Instruction) -> bool:
        """`cp.async` from global to shared memory: one access of both."""
        if _is_waiting(instruction):
            return True
        if instruction.parts[:2] != ["cp", "async"] or "bulk" in instruction.parts or len(instruction.operands) < 3:
            return False
        size = self._numbers(instruction.operands[2:3])
        if not size or not size[0].is_const:
            return False
        target, source = (self._place(operand) for operand in instruction.operands[:2])
        if source is not None:
            self._record(source, "async-copy", int(size[0].value))
        if target is not None:
            copied_from = None if source is None else source.pointer.offset
            self._record(target, "async-copy", int(size[0].value), copied_from=copied_from)
        return target is not None and source is not None

    def _record(
        self, place: MemoryPlace, operation: Operation, bytes_: int, value: Value | None = None,
        copied_from: Node | None = None,
    ) -> None:  # fmt: skip
        context = self.ex.context(self.statement.span)
        self.ex.memory.access(
            place, context, operation, bytes_, value, is_verbatim=True, copied_from=copied_from
        )

    def _move(self, instruction: Instruction) -> bool:
        """`mov`, and conversions of addresses and integers."""
        value = self._value(instruction.operands[1]) if len(instruction.operands) == 2 else None
        if value is None or instruction.operands[0].startswith("{") or "f" in [p[0] for p in instruction.parts[1:]]:
            return False
        self._set(instruction.operands[0], value)
        return True

    def _compute(self, instruction: Instruction) -> bool:
        """Integer arithmetic whose result is as wide as its operands."""
        kind = _kind(instruction)
        plain = instruction.parts[1:-1] == (["lo"] if instruction.parts[0] == "mul" else [])
        numbers = self._numbers(instruction.operands[1:])
        if kind is None or not plain or len(numbers) != 2:
            return False
        first, second = numbers
        operator = _OPERATORS[instruction.parts[0]]
        self._set(instruction.operands[0], self.ex.graph.binary(operator, first, second, kind))
        return True

    def _shuffle(self, instruction: Instruction) -> bool:
        """`shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff`: the upper bits of the fourth operand say how wide the
        parts of the warp are."""
        ex, operands = self.ex, instruction.operands
        mode = next((_SHUFFLES[part] for part in instruction.parts if part in _SHUFFLES), None)
        values = [self._value(operand) for operand in operands[1:]]
        if "sync" in instruction.parts and values:
            warp_converges(ex, self.statement.span, values[-1])
        if mode is None or len(values) < 3:
            return False
        value, lane, parts = values[:3]
        if not (isinstance(value, Node) and isinstance(lane, Node) and isinstance(parts, Node) and parts.is_const):
            return False
        width = ex.graph.const(WARP_LANES - (int(parts.value) >> 8) % WARP_LANES)
        target, _, in_range = operands[0].partition("|")
        self._set(target, ex.graph.shuffle(mode, value, lane, width))
        if in_range:
            self._set_unknown(in_range, data=False)
        return True

    def _vote(self, instruction: Instruction) -> bool:
        """`vote.sync`, `redux.sync`, `match.sync`: what they answer is not followed."""
        values = [self._value(operand) for operand in instruction.operands[1:]]
        if "sync" in instruction.parts and values:
            warp_converges(self.ex, self.statement.span, values[-1])
        return False

    def _warp_barrier(self, instruction: Instruction) -> bool:
        """`bar.warp.sync 0xffffffff`; barriers of the block are found in the whole statement."""
        if instruction.parts[1:] == ["warp", "sync"] and instruction.operands:
            warp_waits(self.ex, self.statement.span, self._value(instruction.operands[0]))
        return True

    def _compare(self, instruction: Instruction) -> bool:
        """`setp.ne.b32 p, %2, 0`."""
        operator = _COMPARISONS.get(instruction.parts[1]) if len(instruction.parts) == 3 else None
        numbers = self._numbers(instruction.operands[1:])
        if operator is None or _kind(instruction) is None or len(numbers) != 2:
            return False
        first, second = numbers
        self._set(instruction.operands[0], self.ex.graph.binary(operator, first, second, BOOL))
        return True

    def _other(self, instruction: Instruction) -> bool:
        for operand in instruction.operands[1:]:
            for register in operand.strip("{} ").split(","):
                self._value(register.strip())
        return False


def _is_waiting(instruction: Instruction) -> bool:
    """Whether it only groups copies, orders them or waits for them."""
    return any(part in _WAITING or part.startswith("fence::") for part in instruction.parts)


def _unit_of(instruction: Instruction) -> str | None:
    """What gets to shared or global memory in the place of the threads; None where these do, or nothing does."""
    parts = [part.partition("::")[0] for part in instruction.parts]
    if parts[0] == "cp" and "bulk" in parts and not _is_waiting(instruction):
        return "the copy engine"
    if parts[0] == "wgmma" and "mma_async" in parts:
        return "the tensor core"
    if parts[0] == "tcgen05" and parts[1:] and parts[1] in ("mma", "cp", "alloc"):
        return "the tensor core"
    return None


def _is_within(instruction: Instruction) -> bool:
    """Whether it only moves between registers and tensor memory, which is neither shared nor global memory, or manages
    that (PTX ISA, "tcgen05")."""
    parts = [part.partition("::")[0] for part in instruction.parts]
    return parts[0] == "tcgen05" and parts[1:] != [] and parts[1] in _OF_TENSOR_MEMORY


def _kind(instruction: Instruction) -> Kind | None:
    return _KINDS.get(instruction.parts[-1])


_SPECIAL: dict[str, Callable[[Executor], Node]] = {"laneid": lane_index}
"""Special registers (PTX ISA, "Special Registers"); those of the thread and the block have names in C++ too."""

_HANDLERS: dict[str, Callable[[_Assembly, Instruction], bool]] = {
    **dict.fromkeys(_ACCESSES, _Assembly._access),
    "ldmatrix": _Assembly._matrix,
    "stmatrix": _Assembly._matrix,
    "cp": _Assembly._copy,
    "mov": _Assembly._move,
    "cvta": _Assembly._move,
    "cvt": _Assembly._move,
    "setp": _Assembly._compare,
    "shfl": _Assembly._shuffle,
    **dict.fromkeys(("vote", "redux", "match"), _Assembly._vote),
    "bar": _Assembly._warp_barrier,
    **dict.fromkeys(_OPERATORS, _Assembly._compute),
}

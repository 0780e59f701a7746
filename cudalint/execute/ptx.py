"""Inline PTX: what its instructions do to memory, and to the variables that they set (PTX ISA, "Instruction Set").

An instruction that is not known here sets its first operand to data; if it gets to memory, that is noted as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.library.copies import copy_piece
from cudalint.execute.library.matrices import ROW
from cudalint.execute.library.warps import exchange, lane_numbers
from cudalint.execute.memory import as_type, plus
from cudalint.execute.operators import combine
from cudalint.execute.program import Evaluate, Execute, Locate, Program
from cudalint.execute.ptx_text import Instruction, address, instructions, registers_of, whole
from cudalint.execute.trace import EVERY_COPY, BarrierPart
from cudalint.execute.values import ATOMIC, COMPUTED, LOADED, Data, Pointer, Value, truth
from cudalint.facts import Operation
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.reasons import ReasonKind

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

Registers = dict[str, Value]
Step = Callable[["Machine", Registers], None]
Read = Callable[["Machine", Registers], Value]
Write = Callable[["Machine", Registers, Value], None]

_ACCESSES: Final[Mapping[str, tuple[Operation, int]]] = {
    "ld": ("load", 1), "ldu": ("load", 1), "st": ("store", 0), "atom": ("atomic", 1), "red": ("atomic", 0),
}  # fmt: skip
"""What they do, and which operand is the address."""
_MEMORY: Final = frozenset({*_ACCESSES, "ldmatrix", "stmatrix", "cp", "multimem", "wgmma", "tcgen05"})
_WITHOUT_RESULT: Final = frozenset(
    {"st", "red", "stmatrix", "cp", "bar", "barrier", "mbarrier", "fence", "membar", "bra"}
)
_TYPES: Final[Mapping[str, ir.Scalar]] = {
    f"{letter}{bits}": ir.Scalar(f"int{bits}", bits // 8, "int" if letter == "s" else "uint")
    for letter in "ubs"
    for bits in (16, 32, 64)
}
_BOOL: Final = ir.Scalar("bool", 1, "bool")
_OPERATORS: Final = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}
_COMPARISONS: Final = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
}  # fmt: skip
_SHUFFLES: Final = {"idx": "idx", "up": "up", "down": "down", "bfly": "xor"}
_ROWS: Final = 8
"""Of a matrix, each of which one lane points to (PTX ISA, "ldmatrix")."""


def instruction(program: Program, n: st.Asm) -> Execute:
    """What an `asm` statement does."""
    steps = _Assembly(program, n).steps()

    def execute(m: Machine) -> None:
        registers: Registers = {}
        for step in steps:
            if m.mask is None:
                return
            step(m, registers)

    return execute


class _Assembly:
    """Compiles one statement."""

    def __init__(self, program: Program, statement: st.Asm) -> None:
        self._statement = statement
        self._readers: list[Evaluate] = [program.value(operand) for operand in statement.operands]
        self._places: list[Locate] = [program.place(operand) for operand in statement.operands]

    def steps(self) -> list[Step]:
        found: list[Step] = []
        for each in instructions(self._statement.text):
            compile_, name = _COMPILERS.get(each.parts[0]), each.name
            step = compile_(self, each) if compile_ is not None else None
            if step is None:
                step = self._other(each)
            found.append(self._guarded(each, step) if each.guard else step)
            if "membar" in name or "fence" in name or ".acquire" in name or ".release" in name:
                found.append(lambda m, _: m.fence(self._statement))
        return found

    def _guarded(self, each: Instruction, step: Step) -> Step:
        """Only the lanes with a predicate execute it."""
        guard, negated = each.guard, each.negated

        def execute(m: Machine, registers: Registers) -> None:
            holds, mask = truth(registers.get(guard, COMPUTED)), m.mask
            if isinstance(holds, Data):
                m.open_scope(holds)
                step(m, registers)
                m.close_scopes(m.data - 1)
                return
            taken, others = m.split(np.broadcast_to(np.asarray(holds), m.full.shape))
            m.mask = others if negated else taken
            if m.mask is not None:
                step(m, registers)
            m.mask = mask

        return execute

    # --- operands ----------------------------------------------------------------------------------

    def _variable(self, text: str) -> int | None:
        """2 for `%2`, which is a variable of the kernel."""
        digits = text.strip().removeprefix("%")
        number = int(digits) if text.strip().startswith("%") and digits.isdecimal() else None
        return number if number is not None and number < len(self._readers) else None

    def _read(self, text: str) -> Read:
        """A variable of the kernel, a register, or a number."""
        number = self._variable(text)
        if number is not None:
            reader = self._readers[number]
            return lambda m, _: reader(m)
        bare = text.strip().lstrip("%")
        if bare in _SPECIAL and text.startswith("%"):
            special = _SPECIAL[bare]
            return lambda m, _: special(m)
        literal = whole(bare)
        if literal is not None:
            return lambda m, _: literal
        return lambda _, registers: registers.get(bare, COMPUTED)

    def _write(self, text: str) -> Write:
        number = self._variable(text)
        if number is None:
            bare = text.strip().lstrip("%")

            def to_register(m: Machine, registers: Registers, value: Value) -> None:
                registers[bare] = value

            return to_register
        place, operand = self._places[number], self._statement.operands[number]

        def to_variable(m: Machine, registers: Registers, value: Value) -> None:
            allocation, offset, type_ = place(m)
            m.memory.store(allocation, offset, as_type(value, type_), type_, operand)

        return to_variable

    def _results_to(self, text: str, data: Data) -> Step:
        """Sets one register, or all of a vector's, to data."""
        writes = [self._write(name) for part in text.split("|") for name in registers_of(part) if name != "_"]

        def execute(m: Machine, registers: Registers) -> None:
            for write in writes:
                write(m, registers, data)

        return execute

    def _pointer(self, text: str) -> Read | None:
        """What `[%1 + 16]` leads to."""
        found = address(text)
        if found is None:
            return None
        base, added = self._read(found[0]), self._read(found[1]) if found[1] else None

        def read(m: Machine, registers: Registers) -> Value:
            at = base(m, registers)
            if type(at) is not Pointer or added is None:
                return at
            return Pointer(at.allocation, plus(at.offset, added(m, registers)), at.pointee)

        return read

    # --- memory ------------------------------------------------------------------------------------

    def _access(self, each: Instruction) -> Step | None:
        """A load, a store or an atomic operation, of as many bytes as its name says."""
        operation, position = _ACCESSES[each.parts[0]]
        pointer = self._pointer(each.operands[position]) if len(each.operands) > position else None
        if pointer is None or not each.bytes:
            return None
        result = self._results_to(each.operands[0], ATOMIC if operation == "atomic" else LOADED) if position else None
        type_ = ir.OpaqueType("?", each.bytes)

        def execute(m: Machine, registers: Registers) -> None:
            at = pointer(m, registers)
            self._touch(m, at, type_, operation)
            if result is not None:
                result(m, registers)

        return execute

    def _touch(self, m: Machine, at: Value, type_: ir.Type, operation: Operation) -> None:
        if type(at) is not Pointer:
            m.gap(self._statement.span, "inline PTX that accesses memory somewhere")
        elif at.allocation.space != "local":
            m.access(at.allocation, at.offset, type_, operation, self._statement)
        elif operation != "load":
            m.memory.forget(at.allocation)

    def _matrix(self, each: Instruction) -> Step | None:
        """`ldmatrix`, `stmatrix`: each of the first lanes points to a row of a matrix."""
        count = next((int(part[1:]) for part in each.parts if part in ("x1", "x2", "x4")), 0)
        position = 1 if each.parts[0] == "ldmatrix" else 0
        if not count or "m8n8" not in each.parts or len(each.operands) <= position:
            return None
        pointer = self._pointer(each.operands[position])
        if pointer is None:
            return None
        result = self._results_to(each.operands[0], LOADED) if position else None
        type_, operation = ir.OpaqueType("?", ROW), "load" if position else "store"

        def execute(m: Machine, registers: Registers) -> None:
            at, mask = pointer(m, registers), m.mask
            if count * _ROWS < WARP_LANES:
                m.mask, _ = m.split(lane_numbers(m) < count * _ROWS)
            if m.mask is not None:
                self._touch(m, at, type_, operation)  # type: ignore[arg-type]
            m.mask = mask
            if result is not None:
                result(m, registers)

        return execute

    def _copy(self, each: Instruction) -> Step | None:
        """`cp.async` from global to shared memory: one access of both, of no bytes of global memory where the operand
        behind the size says 0; and the steps of copies."""
        if each.parts[:2] != ["cp", "async"] or "bulk" in each.parts:
            return None
        if each.is_waiting:
            return self._step_of_copies(each)
        if len(each.operands) < 3:
            return None
        target, source = (self._pointer(operand) for operand in each.operands[:2])
        sizes = [self._read(operand) for operand in each.operands[2:4]]
        if target is None or source is None:
            return None

        def execute(m: Machine, registers: Registers) -> None:
            to, origin = target(m, registers), source(m, registers)
            size, *read = [size(m, registers) for size in sizes]
            if type(size) is not int or type(to) is not Pointer or type(origin) is not Pointer:
                m.gap(self._statement.span, "an asynchronous copy from somewhere")
                return
            mask = m.mask
            if read and type(read[0]) is np.ndarray:
                m.mask, _ = m.split(read[0] != 0)
            if m.mask is not None and not (read and type(read[0]) is int and read[0] == 0):
                copy_piece(m, None, origin, size, self._statement)
            m.mask = mask
            copy_piece(m, to, None, size, self._statement)

        return execute

    def _step_of_copies(self, each: Instruction) -> Step | None:
        if "commit_group" in each.parts:
            return lambda m, _: m.copies(self._statement, None)
        kept = self._read(each.operands[0]) if "wait_group" in each.parts and each.operands else None

        def execute(m: Machine, registers: Registers) -> None:
            number = kept(m, registers) if kept is not None else EVERY_COPY
            m.copies(self._statement, number if type(number) is int else EVERY_COPY)

        return execute

    # --- values ------------------------------------------------------------------------------------

    def _move(self, each: Instruction) -> Step | None:
        """`mov`, and conversions of addresses and integers."""
        kinds = {part[0] for part in each.parts[1:]}
        if len(each.operands) != 2 or "{" in each.operands[0] + each.operands[1] or "f" in kinds:
            return None
        write, value = self._write(each.operands[0]), self._read(each.operands[1])
        return lambda m, registers: write(m, registers, value(m, registers))

    def _compute(self, each: Instruction) -> Step | None:
        """Integer arithmetic whose result is as wide as its operands."""
        type_ = _TYPES.get(each.parts[-1])
        is_plain = each.parts[1:-1] == (["lo"] if each.parts[0] in ("mul", "mad") else [])
        names = {"mad": 4}.get(each.parts[0], 3)
        if type_ is None or not is_plain or len(each.operands) != names:
            return None
        write, values = self._write(each.operands[0]), [self._read(operand) for operand in each.operands[1:]]
        operator = "*" if each.parts[0] == "mad" else _OPERATORS[each.parts[0]]

        def execute(m: Machine, registers: Registers) -> None:
            first, second, *added = [as_type(value(m, registers), type_) for value in values]
            found = combine(m, operator, first, second, type_, type_)
            for other in added:
                found = combine(m, "+", found, other, type_, type_)
            write(m, registers, found)

        return execute

    def _compare(self, each: Instruction) -> Step | None:
        """`setp.ne.b32 p, %2, 0`."""
        operator = _COMPARISONS.get(each.parts[1]) if len(each.parts) == 3 else None
        type_ = _TYPES.get(each.parts[-1])
        if operator is None or type_ is None or len(each.operands) != 3:
            return None
        write, values = self._write(each.operands[0]), [self._read(operand) for operand in each.operands[1:]]

        def execute(m: Machine, registers: Registers) -> None:
            first, second = (as_type(value(m, registers), type_) for value in values)
            write(m, registers, combine(m, operator, first, second, _BOOL, type_))

        return execute

    def _shuffle(self, each: Instruction) -> Step | None:
        """`shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff`: the upper bits of the fourth operand say how wide the
        parts of the warp are."""
        mode = next((_SHUFFLES[part] for part in each.parts if part in _SHUFFLES), None)
        if mode is None or len(each.operands) < 4:
            return None
        target, *in_range = each.operands[0].split("|")
        write, values = self._write(target), [self._read(operand) for operand in each.operands[1:]]
        others = self._results_to(in_range[0], COMPUTED) if in_range else None
        is_masked = "sync" in each.parts

        def execute(m: Machine, registers: Registers) -> None:
            value, lane, parts, *named = [each(m, registers) for each in values]
            if is_masked:
                m.barrier(self._statement, "syncwarp", is_implied=True, named=named[0] if named else None)
            width = WARP_LANES - (parts >> 8) % WARP_LANES if type(parts) is int else COMPUTED
            write(m, registers, exchange(m, self._statement, mode, value, lane, width))
            if others is not None:
                others(m, registers)

        return execute

    def _vote(self, each: Instruction) -> Step | None:
        """`vote.sync`, `redux.sync`, `match.sync`: what they answer is not followed."""
        if "sync" not in each.parts or len(each.operands) < 2:
            return None
        result, named = self._results_to(each.operands[0], COMPUTED), self._read(each.operands[-1])

        def execute(m: Machine, registers: Registers) -> None:
            m.barrier(self._statement, "syncwarp", is_implied=True, named=named(m, registers))
            result(m, registers)

        return execute

    # --- barriers ----------------------------------------------------------------------------------

    def _barrier(self, each: Instruction) -> Step | None:
        """`bar.sync 0`, `barrier.cta.arrive`, `bar.warp.sync`. Named barriers are for a part of the block, which the
        operands say; who has to come is not followed."""
        if "warp" in each.parts:
            named = self._read(each.operands[0]) if each.operands else None
            return lambda m, registers: m.barrier(
                self._statement, "syncwarp", named=named(m, registers) if named is not None else None
            )
        if "cluster" in each.parts:
            return self._cluster_barrier("arrive" if "arrive" in each.parts else "wait")
        if not {"sync", "arrive", "red"} & set(each.parts):
            return None
        part = "arrive" if "arrive" in each.parts else "whole"
        return lambda m, _: m.barrier(self._statement, "named", part=part)  # type: ignore[arg-type]

    def _cluster_barrier(self, part: BarrierPart) -> Step:
        """`barrier.cluster.arrive`, `barrier.cluster.wait`: for all threads of all blocks of the cluster."""

        def execute(m: Machine, registers: Registers) -> None:
            m.cluster_step(self._statement, part)
            m.barrier(self._statement, "cooperative-groups", part=part)

        return execute

    def _map(self, each: Instruction) -> Step | None:
        """`mapa.shared::cluster.u32 %0, %1, %2`: the address of shared memory in another block of the cluster."""
        if len(each.operands) != 3:
            return None
        write, address = self._write(each.operands[0]), self._read(each.operands[1])

        def execute(m: Machine, registers: Registers) -> None:
            at = address(m, registers)
            write(m, registers, m.in_other_block(at) if type(at) is Pointer else COMPUTED)

        return execute

    def _object_barrier(self, each: Instruction) -> Step | None:
        """`mbarrier.try_wait`: who arrives there is not followed."""
        has_result = bool(each.operands) and "[" not in each.operands[0]
        results = self._results_to(each.operands[0], COMPUTED) if has_result else None
        waits = any(part in ("try_wait", "test_wait") for part in each.parts)

        def execute(m: Machine, registers: Registers) -> None:
            if waits:
                # Copies that signal the barrier are complete when it is passed.
                m.copies(self._statement, EVERY_COPY)
                m.barrier(self._statement, "named")
            if results is not None:
                results(m, registers)

        return execute

    def _other(self, each: Instruction) -> Step:
        """An instruction that is not known: its operands are read, and its result is data."""
        name = each.parts[0]
        sources = each.operands[1:] if name not in ("bra", "membar", "fence") else ()
        reads = [self._read(part) for text in sources for part in registers_of(text)]
        reason, kind = _reason(each)
        has_result = bool(each.operands) and name not in _WITHOUT_RESULT
        result = self._results_to(each.operands[0], LOADED if name in _MEMORY else COMPUTED) if has_result else None

        def execute(m: Machine, registers: Registers) -> None:
            for read in reads:
                read(m, registers)
            if reason:
                m.gap(self._statement.span, reason, kind)
            if result is not None:
                result(m, registers)

        return execute


def _reason(each: Instruction) -> tuple[str, ReasonKind]:
    """Why something of it is not known, if it gets to memory."""
    unit = each.unit
    if unit is not None:
        return f"{unit} (`{each.name}`) gets to memory, and no lane does", "unit"
    if each.parts[0] in _MEMORY and not each.is_waiting and not each.is_within:
        return f"its inline PTX (`{each.name}`) accesses memory", "other"
    return "", "other"


def _axis(name: str, axis: int) -> Callable[[Machine], Value]:
    return lambda m: m.lanes.built_in[name][axis]


_SPECIAL: Final[Mapping[str, Callable[[Any], Value]]] = {
    "laneid": lane_numbers,
    **{
        f"{register}.{axis}": _axis(name, number)
        for register, name in (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))
        for number, axis in enumerate("xyz")
    },
}
"""Special registers (PTX ISA, "Special Registers")."""
_COMPILERS: Final[Mapping[str, Callable[[_Assembly, Instruction], Step | None]]] = {
    **dict.fromkeys(_ACCESSES, _Assembly._access),
    **dict.fromkeys(("ldmatrix", "stmatrix"), _Assembly._matrix),
    "cp": _Assembly._copy,
    **dict.fromkeys(("mov", "cvta", "cvt"), _Assembly._move),
    "setp": _Assembly._compare,
    "shfl": _Assembly._shuffle,
    **dict.fromkeys(("vote", "redux", "match"), _Assembly._vote),
    **dict.fromkeys(("bar", "barrier"), _Assembly._barrier),
    "mbarrier": _Assembly._object_barrier,
    "mapa": _Assembly._map,
    **dict.fromkeys((*_OPERATORS, "mad"), _Assembly._compute),
}

"""Statements and kernels: a thread runs them, and they spell themselves as CUDA source.

Every statement that touches memory stands on a line of its own, so that the line tells it from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from reference_c.ctypes_ import CType, Number, UndefinedBehaviour, convert
from reference_c.expressions import Expr, apply

MAX_STEPS = 2500
"""A thread that executes more statements than this is taken to hang."""

Exit = Literal["break", "continue", "return"] | None
Operation = Literal["load", "store", "atomic"]


@dataclass(frozen=True)
class Array:
    """A pointer argument or a shared array, of elements of one size."""

    name: str
    element: str
    bytes: int
    space: Literal["global", "shared"]
    extents: tuple[int, ...] = ()
    """Of a shared array."""


@dataclass(frozen=True)
class Site:
    """An access of the source, reached through these calls (lines, innermost first)."""

    line: int
    frames: tuple[int, ...]
    operation: Operation
    array: str


@dataclass
class Thread:
    """One thread in the middle of a kernel."""

    variables: dict[str, Number]
    touched: list[tuple[Site, tuple[int, ...], int]]
    """Site, iterations of the enclosing loops, and byte address of every access so far."""
    pointers: dict[str, tuple[Array, int]] = field(default_factory=dict)
    """The pointers into arrays, with their offsets in bytes."""
    iterations: tuple[int, ...] = ()
    frames: tuple[int, ...] = ()
    steps: int = 0
    result: Number | None = None

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise UndefinedBehaviour("it does not seem to end")

    def touch(self, line: int, operation: Operation, array: Array, address: int) -> None:
        self.touched.append((Site(line, self.frames, operation, array.name), self.iterations, address))


@dataclass
class Writer:
    """Lines of source text."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def add(self, text: str) -> int:
        """Adds a line; its number."""
        self.lines.append("    " * self.depth + text)
        return len(self.lines)

    def body(self, statements: Sequence[Statement]) -> None:
        self.depth += 1
        for statement in statements:
            statement.write(self)
        self.depth -= 1


class Statement(Protocol):
    def run(self, thread: Thread) -> Exit: ...

    def write(self, writer: Writer) -> None: ...


def run_all(statements: Sequence[Statement], thread: Thread) -> Exit:
    for statement in statements:
        thread.step()
        left = statement.run(thread)
        if left is not None:
            return left
    return None


# --- variables ----------------------------------------------------------------------------------


@dataclass
class Declare:
    name: str
    type: CType
    value: Expr

    def run(self, thread: Thread) -> Exit:
        thread.variables[self.name] = convert(self.value.value(thread.variables), self.type)
        return None

    def write(self, writer: Writer) -> None:
        writer.add(f"{self.type.name} {self.name} = {self.value.text()};")


@dataclass
class Assign:
    """`name op= value`, or `name = value` without an operator."""

    name: str
    type: CType
    op: str
    value: Expr

    def run(self, thread: Thread) -> Exit:
        value = self.value.value(thread.variables)
        if self.op:
            value = apply(self.op, thread.variables[self.name], value, self.type, self.value.type)
        thread.variables[self.name] = convert(value, self.type)
        return None

    def write(self, writer: Writer) -> None:
        writer.add(f"{self.name} {self.op}= {self.value.text()};")


@dataclass
class DeclareArray:
    """A local array with an initialiser."""

    name: str
    type: CType
    values: Sequence[Expr]

    def run(self, thread: Thread) -> Exit:
        for i, value in enumerate(self.values):
            thread.variables[f"{self.name}[{i}]"] = convert(value.value(thread.variables), self.type)
        return None

    def write(self, writer: Writer) -> None:
        spelled = ", ".join(f"({self.type.name}){v.text()}" for v in self.values)
        writer.add(f"{self.type.name} {self.name}[{len(self.values)}] = {{{spelled}}};")


@dataclass
class AssignElement:
    name: str
    type: CType
    count: int
    index: Expr
    value: Expr

    def run(self, thread: Thread) -> Exit:
        index = self.index.value(thread.variables)
        if not 0 <= index < self.count:
            raise UndefinedBehaviour("subscript out of range")
        thread.variables[f"{self.name}[{index}]"] = convert(self.value.value(thread.variables), self.type)
        return None

    def write(self, writer: Writer) -> None:
        writer.add(f"{self.name}[{self.index.text()}] = {self.value.text()};")


@dataclass
class DeclarePointer:
    """`const T* name = array + value`."""

    name: str
    array: Array
    value: Expr

    def run(self, thread: Thread) -> Exit:
        thread.pointers[self.name] = (self.array, int(self.value.value(thread.variables)) * self.array.bytes)
        return None

    def write(self, writer: Writer) -> None:
        writer.add(f"{self.array.element}* {self.name} = {self.array.name} + {self.value.text()};")


@dataclass
class MovePointer:
    name: str
    op: Literal["+", "-"]
    value: Expr

    def run(self, thread: Thread) -> Exit:
        array, offset = thread.pointers[self.name]
        moved = int(self.value.value(thread.variables)) * array.bytes
        thread.pointers[self.name] = (array, offset + moved if self.op == "+" else offset - moved)
        return None

    def write(self, writer: Writer) -> None:
        writer.add(f"{self.name} {self.op}= {self.value.text()};")


# --- memory -------------------------------------------------------------------------------------


@dataclass
class Access:
    """A load into `sink`, a store, or an `atomicAdd`, by subscripts on an array or a pointer."""

    base: Array | str
    operation: Operation
    indices: Sequence[Expr]
    line: int = 0

    def run(self, thread: Thread) -> Exit:
        array, start = thread.pointers[self.base] if isinstance(self.base, str) else (self.base, 0)
        position = int(self.indices[0].value(thread.variables))
        for index, extent in zip(self.indices[1:], array.extents[1:], strict=False):
            position = position * extent + int(index.value(thread.variables))
        thread.touch(self.line, self.operation, array, start + position * array.bytes)
        return None

    def write(self, writer: Writer) -> None:
        name = self.base if isinstance(self.base, str) else self.base.name
        spelled = name + "".join(f"[{i.text()}]" for i in self.indices)
        if self.operation == "load":
            self.line = writer.add(f"sink += touch({spelled});")
        elif self.operation == "store":
            self.line = writer.add(f"fill({spelled});")
        else:
            self.line = writer.add(f"atomicAdd(&{spelled}, 1);")


# --- control ------------------------------------------------------------------------------------


@dataclass
class If:
    condition: Expr
    then: Sequence[Statement]
    otherwise: Sequence[Statement] = ()

    def run(self, thread: Thread) -> Exit:
        return run_all(self.then if self.condition.value(thread.variables) else self.otherwise, thread)

    def write(self, writer: Writer) -> None:
        writer.add(f"if ({self.condition.text()}) {{")
        writer.body(self.then)
        if self.otherwise:
            writer.add("} else {")
            writer.body(self.otherwise)
        writer.add("}")


@dataclass
class Loop:
    """`for`, `while` and `do`: the declaration belongs to a `for`, and so does the increment."""

    form: Literal["for", "while", "do"]
    condition: Expr
    body: Sequence[Statement]
    start: Declare | None = None
    increment: Assign | None = None

    def run(self, thread: Thread) -> Exit:
        if self.start is not None:
            self.start.run(thread)
        outer = thread.iterations
        left = self._iterate(thread, outer)
        thread.iterations = outer
        return left

    def _iterate(self, thread: Thread, outer: tuple[int, ...]) -> Exit:
        iteration = 0
        while (self.form == "do" and not iteration) or self.condition.value(thread.variables):
            thread.step()
            thread.iterations = (*outer, iteration)
            left = run_all(self.body, thread)
            if left == "return":
                return left
            if left == "break":
                return None
            if self.increment is not None:
                self.increment.run(thread)
            iteration += 1
        return None

    def write(self, writer: Writer) -> None:
        condition = self.condition.text()
        if self.form == "for":
            inner = Writer()
            assert self.start is not None and self.increment is not None
            self.start.write(inner)
            self.increment.write(inner)
            writer.add(f"for ({inner.lines[0]} {condition}; {inner.lines[1].rstrip(';')}) {{")
        else:
            writer.add("do {" if self.form == "do" else f"while ({condition}) {{")
        writer.body(self.body)
        writer.add(f"}} while ({condition});" if self.form == "do" else "}")


@dataclass
class Leave:
    how: Literal["break", "continue", "return"]

    def run(self, thread: Thread) -> Exit:
        return self.how

    def write(self, writer: Writer) -> None:
        writer.add(f"{self.how};")


@dataclass
class Switch:
    """Cases in order; None labels the default. Control falls through where a body does not leave."""

    value: Expr
    cases: Sequence[tuple[int | None, Sequence[Statement]]]

    def run(self, thread: Thread) -> Exit:
        value = self.value.value(thread.variables)
        labels = [label for label, _ in self.cases]
        if value in labels:
            first = labels.index(int(value))
        elif None in labels:
            first = labels.index(None)
        else:
            return None
        for _, body in self.cases[first:]:
            left = run_all(body, thread)
            if left is not None:
                return None if left == "break" else left
        return None

    def write(self, writer: Writer) -> None:
        writer.add(f"switch ({self.value.text()}) {{")
        for label, body in self.cases:
            writer.add("default: {" if label is None else f"case {label}: {{")
            writer.body(body)
            writer.add("}")
        writer.add("}")


# --- functions ----------------------------------------------------------------------------------


@dataclass
class Helper:
    """A device function of numbers and one pointer; `result` is what it returns at its end."""

    name: str
    parameters: Sequence[tuple[str, CType]]
    array: Array
    """What its pointer parameter `mem` points into, wherever it is called."""
    body: Sequence[Statement]
    type: CType
    result: Expr
    early: tuple[Expr, Expr] | None = None
    """A condition under which it returns early, and the value that it returns then."""

    def run(self, thread: Thread, arguments: Sequence[Number], offset: int) -> Number:
        inner = Thread(dict(_builtins(thread.variables)), thread.touched)
        inner.iterations, inner.frames, inner.steps = thread.iterations, thread.frames, thread.steps
        inner.pointers["mem"] = (self.array, offset)
        for (name, type_), value in zip(self.parameters, arguments, strict=True):
            inner.variables[name] = convert(value, type_)
        result = self._execute(inner)
        thread.steps = inner.steps
        return convert(result, self.type)

    def _execute(self, inner: Thread) -> Number:
        if self.early is not None and self.early[0].value(inner.variables):
            return self.early[1].value(inner.variables)
        run_all(self.body, inner)
        return self.result.value(inner.variables)

    def write(self, writer: Writer) -> None:
        spelled = ", ".join(f"{type_.name} {name}" for name, type_ in self.parameters)
        writer.add(f"__device__ {self.type.name} {self.name}({self.array.element}* mem, {spelled}) {{")
        inner: list[Statement] = list(self.body)
        writer.depth += 1
        writer.add("float sink = 0;")
        if self.early is not None:
            writer.add(f"if ({self.early[0].text()}) return {self.early[1].text()};")
        writer.depth -= 1
        writer.body(inner)
        writer.add(f"    return {self.result.text()};")
        writer.add("}")


def _builtins(variables: dict[str, Number]) -> dict[str, Number]:
    return {name: value for name, value in variables.items() if "." in name}


@dataclass
class CallHelper:
    """`type name = helper(array + offset, arguments...)`."""

    name: str
    helper: Helper
    offset: Expr
    arguments: Sequence[Expr]
    line: int = 0

    def run(self, thread: Thread) -> Exit:
        offset = int(self.offset.value(thread.variables)) * self.helper.array.bytes
        arguments = [a.value(thread.variables) for a in self.arguments]
        frames = thread.frames
        thread.frames = (self.line, *frames)
        thread.variables[self.name] = self.helper.run(thread, arguments, offset)
        thread.frames = frames
        return None

    def write(self, writer: Writer) -> None:
        spelled = ", ".join(a.text() for a in self.arguments)
        helper = self.helper
        text = f"{helper.name}({helper.array.name} + {self.offset.text()}, {spelled})"
        self.line = writer.add(f"{helper.type.name} {self.name} = {text};")

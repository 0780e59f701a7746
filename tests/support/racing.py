"""Random small kernels with barriers, and all pairs of their accesses that nothing orders, thread by thread.

What happens before what is a graph here: the steps of each thread in their order, and barriers, which wait for
whoever comes to them, or exits. Expressions are spelled so that C and Python agree about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Literal, NamedTuple

from hypothesis import strategies as st

WARP = 32
WIDTHS = {"s": 4, "c": 1, "g": 4, "w": 8, "m": 8}
"""Of accesses: `w` and `m` are two neighbouring elements of `s` at once, the first of `w` an even one."""
STEPS = WIDTHS | {"m": 4}
"""Bytes from one index to the next."""


class Deadlock(Exception):
    """Barriers wait for each other."""


@dataclass
class Access:
    array: str
    operation: Literal["load", "store", "atomic"]
    index: str
    value: str = "1"
    line: int = 0


@dataclass
class Barrier:
    kind: Literal["block", "warp", "half"]
    """`half` orders the first 16 lanes of a warp; one that has no others as a whole."""
    line: int = 0


@dataclass
class Leave:
    how: Literal["return", "break", "continue"]
    line: int = 0


@dataclass
class If:
    condition: str
    then: list[Statement]
    otherwise: list[Statement]
    line: int = 0


@dataclass
class Loop:
    variable: str
    turns: str
    body: list[Statement]
    line: int = 0


Statement = Access | Barrier | Leave | If | Loop


@dataclass
class Kernel:
    block: tuple[int, int, int]
    blocks: int
    numbers: list[int]
    """What `n` is, in each world."""
    body: list[Statement]
    lines: list[str] = field(default_factory=list)
    extents: tuple[int, int] = (64, 64)
    """Of `s` and `c`."""

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]

    def source(self) -> str:
        """The text; statements learn their lines."""
        self.lines = [
            "__global__ void k(int* g, int n) {",
            f"    __shared__ int s[{self.extents[0]}]; __shared__ unsigned char c[{self.extents[1]}];",
            f"    int t = threadIdx.y * {self.block[0]} + threadIdx.x, b = blockIdx.x, v = 0;",
        ]
        self._write(self.body)
        return "\n".join([*self.lines, "}", ""])

    def _write(self, statements: Sequence[Statement]) -> None:
        lines = self.lines
        for each in statements:
            if isinstance(each, If):
                lines.append(f"if ({each.condition}) {{")
                each.line = len(lines)
                self._write(each.then)
                lines.append("} else {")
                self._write(each.otherwise)
                lines.append("}")
                continue
            if isinstance(each, Loop):
                i = each.variable
                lines.append(f"for (int {i} = 0; {i} < {each.turns}; {i}++) {{")
                each.line = len(lines)
                self._write(each.body)
                lines.append("}")
                continue
            lines.append(_spelled(each))
            each.line = len(lines)


def _spelled(each: Access | Barrier | Leave) -> str:
    if isinstance(each, Leave):
        return f"{each.how};"
    if isinstance(each, Barrier):
        if each.kind == "half":
            return "if (t % 32 < 16) __syncwarp(0xffff);"
        return "__syncthreads();" if each.kind == "block" else "__syncwarp();"
    place = f"{each.array}[{each.index}]"
    if each.array in ("w", "m"):
        place = f"*(long long*)&s[{'2 * ' * (each.array == 'w')}({each.index})]"
    if each.operation == "store":
        return f"{place} = {each.value};"
    return f"v += {place};" if each.operation == "load" else f"atomicAdd(&{place}, 1);"


class Step(NamedTuple):
    """An access or a barrier of one thread."""

    line: int
    what: str
    """`load`, `store`, `atomic`, the kind of a barrier, or `branch`."""
    array: str = ""
    start: int = 0
    bytes: int = 0
    value: int = 0
    turn: tuple[int, ...] = ()


class _Left(Exception):
    pass


@cache
def _code(text: str) -> CodeType:
    return compile(text, "kernel", "eval")


def _steps(body: Sequence[Statement], names: dict[str, int], turn: tuple[int, ...] = ()) -> Iterator[Step]:
    for each in body:
        match each:
            case If():
                holds = eval(_code(each.condition), names)
                yield Step(each.line, "branch", value=holds, turn=turn)
                yield from _steps(each.then if holds else each.otherwise, names, turn)
            case Loop():
                number, turns = -1, eval(_code(each.turns), names)
                while True:
                    number += 1
                    yield Step(each.line, "branch", value=number < turns, turn=(*turn, number))
                    if number >= turns:
                        break
                    names[each.variable] = number
                    try:
                        yield from _steps(each.body, names, (*turn, number))
                    except _Left as left:
                        if left.args[0] == "break":
                            break
                        if left.args[0] == "return":
                            raise
            case Leave():
                raise _Left(each.how)
            case Barrier():
                if each.kind != "half" or names["t"] % WARP < WARP // 2:
                    is_whole = each.kind == "half" and names["threads"] - names["t"] // WARP * WARP <= WARP // 2
                    yield Step(each.line, "warp" if is_whole else each.kind, turn=turn)
            case Access():
                width = WIDTHS[each.array]
                start = eval(_code(each.index), names) * STEPS[each.array]
                array = "s" if each.array in ("w", "m") else each.array
                value = eval(_code(each.value), names)
                yield Step(each.line, each.operation, array, start, width, value)


def steps_of(kernel: Kernel, thread: int, block: int, n: int) -> list[Step]:
    found: list[Step] = []
    names = {"t": thread, "b": block, "n": n, "threads": kernel.threads}
    with suppress(_Left):
        found.extend(_steps(kernel.body, names))
    return found


class Racing(NamedTuple):
    """Two accesses that race: thread, block and step of each."""

    one: tuple[int, int, Step]
    other: tuple[int, int, Step]

    @property
    def is_benign(self) -> bool:
        """Whether both store the same to all bytes that they share."""
        a, b = self.one[2], self.other[2]
        if not a.what == b.what == "store":
            return False
        first, second = _stored_by(a), _stored_by(b)
        return all(first[byte] == second[byte] for byte in first.keys() & second.keys())


def _stored_by(step: Step) -> dict[int, int]:
    value = step.value & (1 << 8 * step.bytes) - 1
    return dict(enumerate(value.to_bytes(step.bytes, "little"), step.start))


def racing_pairs(kernel: Kernel, n: int) -> list[Racing]:
    """All pairs of accesses of different threads that race."""
    steps = {(t, b): steps_of(kernel, t, b, n) for b in range(kernel.blocks) for t in range(kernel.threads)}
    earlier = {b: _earlier(kernel, {t: steps[t, b] for t in range(kernel.threads)}) for b in range(kernel.blocks)}
    by_byte: dict[tuple[str, int, int], list[tuple[int, int, int]]] = {}
    for (thread, block), own in steps.items():
        for at, step in enumerate(own):
            for byte in range(step.start, step.start + step.bytes):
                place = step.array, byte, block if step.array != "g" else -1
                by_byte.setdefault(place, []).append((thread, block, at))
    found = set()
    for touching in by_byte.values():
        for number, (t, b, at) in enumerate(touching):
            for u, c, to in touching[:number]:
                one, other = steps[t, b][at], steps[u, c][to]
                if (t, b) == (u, c) or ("store" not in (one.what, other.what) and one.what == other.what):
                    continue
                if b == c and ((u, to) in earlier[b][t, at] or (t, at) in earlier[b][u, to]):
                    continue
                found.add(Racing((t, b, one), (u, c, other)))
    return list(found)


def _earlier(kernel: Kernel, steps: Mapping[int, Sequence[Step]]) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """The steps of a block that happen before each of its steps."""
    before: dict[object, set[object]] = {}
    for thread, own in steps.items():
        counts = {"block": 0, "warp": 0}
        for at, step in enumerate(own):
            node = thread, at
            before.setdefault(node, set())
            if at:
                before[node].add((thread, at - 1))
            if step.what in counts:
                counts[step.what] += 1
                barrier: object = _instance(step.what, thread, counts[step.what])
            elif step.what == "half":
                barrier = "half", thread // WARP, step.line, step.turn
            else:
                continue
            arrival = "arrives", thread, at
            # Who comes has done what was before, and goes on when all have come.
            before.setdefault(barrier, set()).add(arrival)
            before[arrival] = set(before[node])
            before[node].add(barrier)
    for thread, own in steps.items():
        for kind in ("block", "warp"):
            passed = sum(step.what == kind for step in own)
            number = passed + 1
            while own and _instance(kind, thread, number) in before:
                before[_instance(kind, thread, number)].add((thread, len(own) - 1))
                number += 1
    return _closed(before, steps)


def _instance(kind: str, thread: int, number: int) -> object:
    return (kind, number) if kind == "block" else (kind, thread // WARP, number)


def _closed(
    before: Mapping[object, set[object]], steps: Mapping[int, Sequence[Step]]
) -> dict[tuple[int, int], set[tuple[int, int]]]:
    from graphlib import CycleError, TopologicalSorter

    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        raise Deadlock from None
    numbers = {node: 1 << at for at, node in enumerate(order)}
    reached: dict[object, int] = {}
    for node in order:
        bits = 0
        for each in before.get(node, ()):
            bits |= reached[each] | numbers[each]
        reached[node] = bits
    nodes = [(thread, at) for thread, own in steps.items() for at in range(len(own))]

    class Lazy(dict[tuple[int, int], set[tuple[int, int]]]):
        def __missing__(self, node: tuple[int, int]) -> set[tuple[int, int]]:
            self[node] = found = {each for each in nodes if reached[node] & numbers[each]}
            return found

    return Lazy()


# --- random kernels --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Features:
    loops: bool = True
    leaving: bool = True
    halves: bool = False
    """Barriers of parts of warps; those of whole warps are then reached by all."""


@dataclass
class Maker:
    draw: st.DrawFn
    features: Features
    _loops: int = 0

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def names(self, variables: Sequence[str]) -> str:
        return self.draw(st.sampled_from(["t", "t", "t", "b", "n", *variables]))

    def index(self, variables: Sequence[str], count: int) -> str:
        form = self.number(0, 4)
        if form == 0:
            return str(self.number(0, count - 1))
        if form <= 2:
            return f"(t + {self.names(variables)} * {self.number(0, 5)} + {self.number(0, 3)}) % {count}"
        factors = f"{self.names(variables)} * {self.number(0, 3)} + {self.names(variables)} * {self.number(0, 33)}"
        return f"({factors} + {self.number(0, 9)}) % {count}"

    def condition(self, variables: Sequence[str]) -> str:
        variable = self.names(variables)
        if self.number(0, 1):
            return f"{variable} {self.one_of('<', '>', '==')} {self.number(0, 40)}"
        return f"{variable} % {self.number(2, 32)} {self.one_of('<', '==', '!=')} {self.number(0, 16)}"

    def access(self, variables: Sequence[str]) -> Access:
        array = self.one_of("s", "s", "s", "c", "w", "m", "g", "g")
        operation = self.one_of("load", "store", "store", "atomic")
        if operation == "atomic" and array not in ("s", "g"):
            operation = "load"
        index = self.index(variables, {"s": 64, "c": 64, "w": 32, "m": 63, "g": 128}[array])
        value = self.one_of("1", "1", "1", "t", "b", "n")
        return Access(array, operation, index, value)  # type: ignore[arg-type]

    def body(self, variables: Sequence[str], depth: int, is_common: bool, in_loop: bool) -> list[Statement]:
        """`is_common`: all threads come here equally often."""
        return [self.statement(variables, depth, is_common, in_loop) for _ in range(self.number(1, 4 - depth))]

    def statement(self, variables: Sequence[str], depth: int, is_common: bool, in_loop: bool) -> Statement:
        kinds = ["access"] * 4 + ["barrier"] * 2
        if depth < 2:
            kinds += ["if"] + ["loop"] * self.features.loops
        if self.features.leaving and depth:
            kinds.append("leave")
        kind = self.one_of(*kinds)
        if kind == "barrier":
            allowed = ["block", "warp"] if is_common or not self.features.halves else []
            chosen = self.one_of(*allowed, *(["half"] * (2 * self.features.halves)))
            return Barrier(chosen)  # type: ignore[arg-type]
        if kind == "if":
            condition = self.condition(variables)
            common = is_common and not condition.startswith("t")
            then = self.body(variables, depth + 1, common, in_loop)
            otherwise = self.body(variables, depth + 1, common, in_loop) if self.number(0, 1) else []
            return If(condition, then, otherwise)
        if kind == "loop":
            self._loops += 1
            variable = f"i{self._loops}"
            turns = self.one_of("2", "3", "n % 4", "t % 3")
            inner = self.body([*variables, variable], depth + 1, is_common and turns != "t % 3", True)
            return Loop(variable, turns, inner)
        if kind == "leave":
            return Leave(self.one_of("return", *(["break", "continue"] * in_loop)))  # type: ignore[arg-type]
        return self.access(variables)


@st.composite
def kernels(draw: st.DrawFn, features: Features = Features()) -> Kernel:
    maker = Maker(draw, features)
    block = draw(st.sampled_from([(40, 1, 1), (64, 1, 1), (8, 5, 1), (32, 1, 1)]))
    numbers = draw(st.sampled_from([[3], [1, 6], [2, 33]]))
    body = [*maker.body((), 0, True, False), *maker.body((), 0, True, False)]
    return Kernel(block, draw(st.sampled_from([1, 2])), numbers, body)

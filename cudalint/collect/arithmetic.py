"""Arithmetic that takes more than it has to, collected launch by launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run, Subject
from cudalint.facts import Arithmetic, ArithmeticKind, ArithmeticResult, KernelFacts, Place
from cudalint.frontend.source_text import Spellings
from cudalint.interpreter.device.events import Computation
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import DIVISIONS, builtin
from cudalint.kinds import Kind
from cudalint.measure.work.arithmetic import is_number_of
from cudalint.measure.work.doubles import is_double, unasked_double
from cudalint.measure.work.operations import in_single_precision, operation_of

_MOST_FACTORS = 4
"""Of a power that is written as a product."""


class _Found(Struct):
    """What one site comes to in one launch."""

    kind: ArithmeticKind
    names: tuple[str, ...]
    alternative: str = ""
    causes: tuple[Place, ...] = ()
    keeps_type: bool = False
    in_loop: bool = False
    executions: float = 0.0
    saved: float = 0.0
    doubles: float = 0.0
    special: float = 0.0
    by_data: bool = False


class ArithmeticCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "arithmetic"
    counts: ClassVar[bool] = True
    spellings: Spellings
    _sites: dict[tuple[ArithmeticKind, Place], Arithmetic] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(Spellings(subject.options))

    def add(self, run: Run) -> None:
        found = _Sites(run, self.spellings).found
        if not found or run.execution.deadline.is_over():
            return
        total = run.computed.instructions
        assumptions = (*run.execution.view.assumptions, *run.computed.assumed)
        for (kind, place), each in found.items():
            site = self._sites.get((kind, place))
            if site is None:
                spelled = self.spellings.of(place)
                site = Arithmetic(
                    place, kind, spelled, each.names, each.alternative, each.in_loop, (), each.causes, each.keeps_type
                )
            result = ArithmeticResult(
                run.execution.view.index, each.executions, each.saved, each.doubles, each.special, total,
                each.by_data, assumptions,
            )  # fmt: skip
            self._sites[kind, place] = replace(site, results=(*site.results, result))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, arithmetic=tuple(sorted(self._sites.values(), key=lambda site: site.place)))


class _Sites:
    """The sites of one execution."""

    def __init__(self, run: Run, spellings: Spellings) -> None:
        self.found: dict[tuple[ArithmeticKind, Place], _Found] = {}
        self._meter, self._spellings = run.meter, spellings
        self._divided: set[tuple[object, ...]] = set()
        computations = run.execution.computations
        roots: dict[int, tuple[ArithmeticKind, Place]] = {}
        for each in computations:
            tree = unasked_double(each.code)
            if tree is not None:
                key: tuple[ArithmeticKind, Place] = ("double", self._place(each.code))
                names = dict.fromkeys(self._spelled(cause) for cause in tree.causes)
                self.found.setdefault(key, _Found("double", tuple(names), causes=tuple(map(self._place, tree.causes))))
                roots |= dict.fromkeys(tree.parts, key)
        for each in computations:
            if id(each.code) in roots:
                self._add_double(self.found[roots[id(each.code)]], each)
            else:
                self._add_slow(each)

    def _place(self, code: ir.Expr) -> Place:
        return Place(*code.span)

    def _spelled(self, code: ir.Expr) -> str:
        return self._spellings.of(self._place(code))

    def _count(self, found: _Found, computation: Computation) -> float:
        executions = self._meter.executions(computation.loops, computation.conditions)
        found.executions = max(found.executions, executions.warps)
        found.by_data = found.by_data or executions.by_data
        found.in_loop = found.in_loop or bool(computation.loops)
        return executions.warps

    def _add_double(self, found: _Found, computation: Computation) -> None:
        warps = self._count(found, computation)
        lanes = self._meter.executions(computation.loops, computation.conditions).lanes
        counts, takes = operation_of(computation.code), in_single_precision(computation.code)
        found.saved += warps * max(0.0, float(counts[5]) - takes)
        found.doubles += lanes * float(counts[1])
        if not takes:
            found.special += lanes * float(counts[4])

    def _add_slow(self, computation: Computation) -> None:
        for found, saved in self._slow(computation):
            each = self.found.setdefault((found.kind, self._place(computation.code)), found)
            each.saved += saved * self._count(each, computation)

    def _slow(self, computation: Computation) -> Iterator[tuple[_Found, float]]:
        """What is slow of one computation, and the instructions that each execution takes too many."""
        code = computation.code
        takes = float(operation_of(code)[5])
        match code:
            case ir.Binary(op="/" | "%", left=left, right=right, type=ir.Scalar(kind="int" | "uint") as type_):
                quick = DIVISIONS["long" if type_.bytes == 8 else "int", "constant"].instructions
                slow = DIVISIONS["long" if type_.bytes == 8 else "int", "number"].instructions
                # A quotient and its remainder are one division.
                key = (self._spelled(left), self._spelled(right), computation.loops, computation.conditions)
                if takes >= slow and key not in self._divided:
                    self._divided.add(key)
                    yield _Found("division", (self._spelled(right),)), takes - quick
            case ir.Binary(op="/", left=left, right=right, type=ir.Scalar(kind="float") as type_):
                if takes > 1 and isinstance(walk.without_casts(right), ir.Constant) and type_.bytes in (4, 8):
                    divisor, one = self._spelled(right), "1.0" if type_.bytes == 8 else "1.0f"
                    written, keeps = f"{one} / {divisor}", is_number_of(type_, left)
                    if not isinstance(walk.without_casts(left), ir.Constant):
                        yield _Found("quotient", (divisor,), written, (self._place(right),), keeps), takes - 1
            case ir.Call(name=name, arguments=(base, exponent), receiver=None) if name in ("pow", "powf"):
                value = walk.without_casts(exponent)
                text = self._spelled(base)
                keeps = is_number_of(code.type, base)
                if isinstance(value, ir.Constant) and value.value in range(2, _MOST_FACTORS + 1):
                    factors = int(value.value)
                    written = " * ".join([text] * factors) if text.isidentifier() else f"a product of {factors} factors"
                    if takes >= 10 * factors:
                        found = _Found("power", (self._spelled(code),), written, keeps_type=keeps)
                        yield found, takes - (factors - 1)
                elif isinstance(value, ir.Constant) and value.value == 0.5:
                    root = "sqrtf" if ir.type_name(code.type) == "float" else "sqrt"
                    yield _Found("power", (self._spelled(code),), f"{root}({text})", keeps_type=keeps), takes - 8
            case ir.Call(name=name, receiver=None, type=type_):
                intrinsic = builtin(name).quick
                if intrinsic and not is_double(type_) and isinstance(type_, ir.Scalar):
                    keeps = all(is_number_of(type_, argument) for argument in code.arguments)
                    yield _Found("function", (name,), intrinsic, keeps_type=keeps), takes - 3



"""Random index expressions: the graph's numbers, world by world, against plain C semantics."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from random_cases import cases
from reference_c.ctypes_ import BOOL, INT, LONG, UINT, ULONG, CType, Number, UndefinedBehaviour, common
from reference_c.expressions import Binary, Cast, Conditional, Element, Expr, Extremum, Lit, Real, Unary, Var
from reference_c.generate import Shape, blocks, expressions

from cudalint.host.values import arithmetic
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node

EXPRESSIONS_PER_EXAMPLE = 4
EXAMPLES = cases(800)
"""Together some 9000 comparisons of an expression in a run: each expression is looked at in several surroundings."""
ROWS = 4
LANES = 6

_THREAD = tuple(Var(f"threadIdx.{axis}", UINT) for axis in "xyz")
_BLOCK = tuple(Var(f"blockIdx.{axis}", UINT) for axis in "xyz")
_EXTENT = tuple(Var(f"blockDim.{axis}", UINT) for axis in "xyz")
_UNIFORMS = (Var("n", INT), Var("m", UINT), Var("w", LONG), Var("z", ULONG))
_COUNTERS = (Var("i", LONG), Var("j", LONG))
_SHAPE = Shape((*_THREAD, *_THREAD, *_BLOCK, *_EXTENT, *_UNIFORMS, *_COUNTERS))


def kind(type_: CType) -> arithmetic.Kind:
    if type_ == BOOL:
        return arithmetic.BOOL
    if type_.is_float:
        return arithmetic.F4
    return arithmetic.Kind("i" if type_.signed else "u", type_.bits // 8)


@dataclass(frozen=True)
class Builder:
    """Makes nodes of expressions as the executor does: operands are converted before they meet."""

    graph: Graph
    leaves: Mapping[str, Node]

    def build(self, expr: Expr) -> Node:
        graph = self.graph
        match expr:
            case Lit() | Real():
                return graph.const(expr.number, kind(expr.type))
            case Var():
                return self.leaves[expr.name]
            case Cast():
                return self.converted(expr.operand, expr.type)
            case Conditional():
                then, otherwise = (self.converted(e, expr.type) for e in (expr.then, expr.otherwise))
                return graph.select(graph.truth(self.build(expr.condition)), then, otherwise)
            case Extremum():
                a, b = (self.converted(e, expr.type) for e in (expr.left, expr.right))
                return graph.binary(expr.name, a, b, kind(expr.type))
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Element():
                raise AssertionError("no local arrays here")

    def converted(self, expr: Expr, type_: CType) -> Node:
        return self.graph.convert(self.build(expr), kind(type_))

    def _unary(self, expr: Unary) -> Node:
        if expr.op == "!":
            return self.graph.negate(self.build(expr.operand))
        operand = self.converted(expr.operand, expr.type)
        if expr.op == "~":
            return self.graph.invert(operand, kind(expr.type))
        return self.graph.binary("-", self.graph.const(0, kind(expr.type)), operand, kind(expr.type))

    def _binary(self, expr: Binary) -> Node:
        graph = self.graph
        if expr.op in ("&&", "||"):
            a, b = (graph.truth(self.build(e)) for e in (expr.left, expr.right))
            return graph.binary(expr.op, a, b, arithmetic.BOOL)
        a = self.converted(expr.left, expr.computed)
        right = self.build(expr.right)
        b = right if expr.op in ("<<", ">>") else graph.convert(right, kind(expr.computed))
        return graph.binary(expr.op, a, b, kind(expr.computed))


@dataclass(frozen=True)
class Surroundings:
    """A block and what is uniform in each row."""

    block: tuple[int, int, int]
    rows: tuple[Mapping[str, int], ...]
    """Block indices, uniforms and counters of each row."""


def _value_of(type_: CType) -> st.SearchStrategy[int]:
    small = st.integers(-3 if type_.signed else 0, 70)
    sizes = st.sampled_from((96, 100, 128, 1000, 1024, 4096, 65536, 1 << 20, 2**31 - 1))
    return st.one_of(small, small, sizes)


@st.composite
def surroundings(draw: st.DrawFn) -> Surroundings:
    seed = draw(st.integers(0, 1 << 30))
    block = draw(blocks())
    uniforms = {v.name: draw(_value_of(v.type)) for v in _UNIFORMS}
    chance = random.Random(seed)
    rows = []
    for _ in range(ROWS):
        row = {v.name: chance.choice((0, 1, 2, chance.randrange(5000))) for v in _BLOCK}
        row |= {v.name: chance.choice((0, 1, 2, chance.randrange(100))) for v in _COUNTERS}
        rows.append(row | uniforms)
    return Surroundings(block, tuple(rows))


def others(around: Surroundings) -> Iterator[Surroundings]:
    """These, and one more: to draw an expression costs more than to look at it once again."""
    yield around
    chance = random.Random(repr(around))
    block = chance.choice(((32, 1, 1), (33, 1, 1), (8, 4, 2), (16, 16, 1), (100, 1, 1), (1, 5, 7)))
    sizes = (0, 1, 2, 31, 96, 1000, 4096, 1 << 20, 2**31 - 1)
    rows = []
    for row in around.rows:
        changed = {v.name: chance.choice((*sizes, -1, -3) if v.type.signed else sizes) for v in _UNIFORMS}
        rows.append({**row, **changed, **{v.name: chance.randrange(300) for v in (*_BLOCK, *_COUNTERS)}})
    uniforms = {v.name: rows[0][v.name] for v in _UNIFORMS}
    yield Surroundings(block, tuple({**row, **uniforms} for row in rows))


class Laboratory:
    """A graph with its leaves, and a world for each thread that is looked at."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        graph = self.graph = Graph()
        numbers = around.rows[0]
        threads = {v.name: graph.uniform(v.name, 0, arithmetic.U4) for v in (*_THREAD, *_BLOCK)}
        self.uniforms = {v.name: graph.uniform(v.name, numbers[v.name], kind(v.type)) for v in _UNIFORMS}
        self.counters = {v.name: graph.counter(v.name) for v in _COUNTERS}
        self.leaves = threads | self.uniforms | self.counters
        # `blockDim.x` is an unsigned number in C.
        for v, extent in zip(_EXTENT, around.block, strict=True):
            self.leaves[v.name] = graph.const(extent, arithmetic.U4)
        self.worlds = [(row, lane) for row in range(ROWS) for lane in self.lanes()]
        here = [self.environment(row, lane) for row, lane in self.worlds]
        self.evaluated = Evaluated(
            graph,
            {
                self.leaves[v.name]: np.array([numbers[v.name] for numbers in here], dtype=np.int64)
                for v in (*_THREAD, *_BLOCK, *_UNIFORMS, *_COUNTERS)
            },
        )

    def build(self, expr: Expr) -> Node:
        return Builder(self.graph, self.leaves).build(expr)

    def lanes(self) -> list[int]:
        """Some threads of the block: the first, the last, and others."""
        dx, dy, dz = self.around.block
        count = dx * dy * dz
        chosen = {0, count - 1, *random.Random(count).sample(range(count), min(count, LANES - 2))}
        return sorted(chosen)

    def environment(self, row: int, lane: int) -> dict[str, Number]:
        dx, dy, _ = self.around.block
        thread = (lane % dx, lane // dx % dy, lane // (dx * dy))
        here: dict[str, Number] = dict(self.around.rows[row])
        here |= {v.name: t for v, t in zip(_THREAD, thread, strict=True)}
        return here | {v.name: e for v, e in zip(_EXTENT, self.around.block, strict=True)}


def expected_number(expr: Expr, environment: Mapping[str, Number]) -> Number | None:
    """The number that C gives, as 64 bits hold it; None where C leaves it open."""
    try:
        number = expr.value(environment)
    except UndefinedBehaviour:
        return None
    if expr.type == ULONG and isinstance(number, int) and number >= 1 << 63:
        return number - (1 << 64)
    return number


def parts(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it."""
    yield expr
    for name in ("left", "right", "operand", "condition", "then", "otherwise"):
        inner = getattr(expr, name, None)
        if inner is not None:
            yield from parts(inner)


def is_known_difference(expr: Expr, environment: Mapping[str, Number]) -> bool:
    """Known difference: 64-bit unsigned numbers from 2**63 on are computed with as negative ones, so that
    comparisons, minima, divisions, remainders and shifts to the right go wrong."""
    return any(_is_huge(part, environment) for part in parts(expr))


def _is_huge(part: Expr, environment: Mapping[str, Number]) -> bool:
    operands = [part]
    if isinstance(part, Binary | Extremum):
        operands += [Cast(common(part.left.type, part.right.type), side) for side in (part.left, part.right)]
    for operand in operands:
        if operand.type != ULONG:
            continue
        try:
            if operand.value(environment) >= 1 << 63:
                return True
        except UndefinedBehaviour:
            continue
    return False


Overlay = Callable[[Mapping[str, Number]], Mapping[str, Number]]
"""What an environment's numbers become by substitution."""


def compare(lab: Laboratory, expr: Expr, node: Node, how: str, overlay: Overlay = dict) -> int:
    """Holds the node's numbers against the expression's; returns how many were compared."""
    compared = 0
    for (row, lane), actual in zip(lab.worlds, lab.evaluated.array(node), strict=True):
        try:
            environment = overlay(lab.environment(row, lane))
        except UndefinedBehaviour:
            continue
        expected = expected_number(expr, environment)
        if expected is None:
            continue
        compared += 1
        if actual != expected and not is_known_difference(expr, environment):
            said = f"{how}, {expr.text()} is {expected}, not {actual}"
            raise AssertionError(f"{said}, in {environment}: {node}")
    return compared


CASES = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
SOME = st.lists(expressions(_SHAPE), min_size=EXPRESSIONS_PER_EXAMPLE, max_size=EXPRESSIONS_PER_EXAMPLE)


@CASES
@given(surroundings(), SOME)
def test_expressions_give_the_numbers_of_c(around: Surroundings, found: list[Expr]) -> None:
    for each in others(around):
        lab = Laboratory(each)
        for expr in found:
            compared = compare(lab, expr, lab.build(expr), "as built")
            event("compared" if compared else "undefined throughout")


@settings(CASES, max_examples=EXAMPLES // 4)
@given(surroundings(), SOME)
def test_expressions_fold_when_their_leaves_become_constants(around: Surroundings, found: list[Expr]) -> None:
    """Uniforms and counters are substituted by numbers after the node was built, as loops do it."""
    lab = Laboratory(around)
    fixed = {name: around.rows[0][name] for name in (*lab.uniforms, *lab.counters)}
    leaves = {**lab.uniforms, **lab.counters}
    numbers = {node: lab.graph.const(fixed[name], node.kind) for name, node in leaves.items()}
    for expr in found:
        node = lab.graph.substitute(lab.build(expr), numbers)
        compare(lab, expr, node, "after substitution of numbers", lambda numbers: {**numbers, **fixed})


@settings(CASES, max_examples=EXAMPLES // 4)
@given(surroundings(), SOME)
def test_expressions_take_expressions_for_their_leaves(around: Surroundings, found: list[Expr]) -> None:
    """A variable is substituted by an expression over threads, blocks and other variables."""
    lab = Laboratory(around)
    for inner, expr in itertools.pairwise(found):
        value = Cast(INT, inner)
        node = lab.graph.substitute(lab.build(expr), {lab.uniforms["n"]: lab.build(value)})

        def overlay(environment: Mapping[str, Number], value: Cast = value) -> Mapping[str, Number]:
            number = value.value(environment)
            if is_known_difference(value, environment):
                raise UndefinedBehaviour("a known difference")
            return {**environment, "n": number}

        compare(lab, expr, node, f"with n = {value.text()}", overlay)

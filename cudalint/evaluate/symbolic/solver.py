"""Numbers for symbols under which conditions hold, found by an SMT solver: for relations between several names and for
non-linear ones, where trying a few numbers finds none.

The solver is z3, which the extra `smt` installs; without it nothing is found. Values are bit vectors of the width of
their C type, so that they wrap as in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cudalint.evaluate.symbolic.arithmetic import BOOL
from cudalint.evaluate.symbolic.nodes import GRANULE, Node, Uniform

_EFFORT = 1_000_000
"""Of the solver on each question, in its own unit, a third of a second or so: unlike time, it gives the same answers on
every machine."""
_MOST_NODES = 500
_MOST_ATOMS = 8
_WIDE = 72
"""Bits in which any two C integers can be compared and divided."""
_LARGEST = 1 << 20
_MOST_ANSWERS = 256
"""Questions of which is remembered what came out."""


class _Untranslatable(Exception):
    """The solver is not asked about floating-point numbers, loops and loaded values."""


def solve(conditions: Iterable[Node], atoms: Sequence[Node]) -> dict[Node, int | float] | None:
    """Numbers for the atoms: sizes that nothing overflows with, if there are such, and of these the ones that stand
    for the atoms generically, or multiples of 32, as far as the conditions allow. None where there are none, or the
    solver does not know."""
    try:
        import z3
    except ImportError:
        return None
    if len(atoms) > _MOST_ATOMS or any(atom.kind.is_float for atom in atoms):
        return None
    conditions = tuple(conditions)
    try:
        question = _question(conditions, atoms)
        if question not in _answers:
            _answers[question] = _ask(z3, conditions, atoms)
            if len(_answers) > _MOST_ANSWERS:
                del _answers[next(iter(_answers))]
    except _Untranslatable:
        return None
    answer = _answers[question]
    return None if answer is None else dict(zip(atoms, answer, strict=True))


_answers: dict[object, tuple[int | float, ...] | None] = {}
"""What was asked before: a template's instances, and the launches of a kernel, lead to the same questions."""


def _question(conditions: Sequence[Node], atoms: Sequence[Node]) -> object:
    """What the solver is asked, whatever the atoms are called: equal for conditions that are built alike."""
    numbers: dict[Node, int] = {atom: place for place, atom in enumerate(atoms)}
    steps: list[object] = []

    def visit(node: Node) -> int:
        if node not in numbers:
            if len(numbers) > _MOST_NODES:
                raise _Untranslatable
            own = node.value if node.is_const else None
            step = (node.op, node.kind, own, *[visit(argument) for argument in node.args])
            numbers[node] = len(numbers)
            steps.append(step)
        return numbers[node]

    wanted = tuple([visit(condition) for condition in conditions])
    kinds = tuple([(a.kind, a.payload.generic if isinstance(a.payload, Uniform) else None) for a in atoms])
    return kinds, tuple(steps), wanted


def _ask(z3: Any, conditions: Sequence[Node], atoms: Sequence[Node]) -> tuple[int | float, ...] | None:
    """What the solver answers, atom by atom."""
    translation = _Translation(z3, atoms)
    solver = z3.Solver(ctx=translation.context)
    solver.set("rlimit", _EFFORT)
    solver.add(*(translation.truth(condition) for condition in conditions))
    solver.add(*(z3.ULE(translation.of(atom), 1) for atom in atoms if atom.kind == BOOL))
    solver.push()
    solver.add(*_as_sizes(translation, atoms))
    if solver.check() != z3.sat:
        solver.pop()
    for wish in _wishes(z3, translation, atoms):
        solver.push()
        solver.add(wish)
        if solver.check() != z3.sat:
            solver.pop()
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return tuple(_number(model.eval(translation.of(atom), model_completion=True), atom) for atom in atoms)


def _as_sizes(translation: _Translation, atoms: Sequence[Node]) -> Iterator[Any]:
    """What overflows is undefined in C, and no relation that anybody had in mind."""
    yield from translation.in_range
    for atom in atoms:
        if atom.kind != BOOL:
            yield translation.of(atom) > 0
            yield translation.of(atom) <= _LARGEST


def _wishes(z3: Any, translation: _Translation, atoms: Sequence[Node]) -> Iterator[Any]:
    """What the numbers should be like, the most important first."""
    numbers = [(atom, translation.of(atom)) for atom in atoms if atom.kind != BOOL]
    for atom, x in numbers:
        if isinstance(atom.payload, Uniform):
            yield x == int(atom.payload.generic)
    for _, x in numbers:
        yield z3.URem(x, z3.BitVecVal(GRANULE, x.size(), x.ctx)) == 0


def _number(value: Any, atom: Node) -> int | float:
    return int(value.as_long()) if atom.kind.code != "i" else int(value.as_signed_long())


class _Translation:
    """Nodes as terms of the solver."""

    def __init__(self, z3: Any, atoms: Sequence[Node]) -> None:
        self._z3 = z3
        self.context = z3.Context()
        """One of its own: in a shared one the answers depend on what was asked before."""
        self.in_range: list[Any] = []
        """Conditions under which no signed operation overflows."""
        self._terms: dict[Node, Any] = {
            atom: z3.BitVec(f"x{place}", 8 * atom.kind.bytes, self.context) for place, atom in enumerate(atoms)
        }

    def truth(self, node: Node) -> Any:
        return self.of(node) != 0

    def of(self, node: Node) -> Any:
        """A bit vector as wide as the node's kind."""
        term = self._terms.get(node)
        if term is None:
            if node.kind.is_float:
                raise _Untranslatable
            term = self._terms[node] = self._narrow(self._wide_term(node), node)
        return term

    def _narrow(self, term: Any, node: Node) -> Any:
        if node.kind == BOOL:
            return self._flag(term != 0)
        narrow = self._z3.Extract(8 * node.kind.bytes - 1, 0, term)
        if node.kind.code == "i" and node.op in _ARITHMETIC:
            self.in_range.append(self._z3.SignExt(_WIDE - narrow.size(), narrow) == term)
        return narrow

    def _wide(self, node: Node) -> Any:
        """The node's number in `_WIDE` bits."""
        term = self.of(node)
        extend = self._z3.SignExt if node.kind.code == "i" else self._z3.ZeroExt
        return extend(_WIDE - term.size(), term)

    def _flag(self, condition: Any) -> Any:
        one, zero = (self._z3.BitVecVal(number, 8, self.context) for number in (1, 0))
        return self._z3.If(condition, one, zero)

    def _wide_term(self, node: Node) -> Any:
        z3 = self._z3
        if node.is_const:
            return z3.BitVecVal(int(node.value), _WIDE, self.context)
        if node.op == "cast":
            return self._wide(node.args[0])
        if node.op == "!":
            return z3.ZeroExt(_WIDE - 8, self._flag(self.of(node.args[0]) == 0))
        if node.op == "select":
            condition, a, b = node.args
            return z3.If(self.truth(condition), self._wide(a), self._wide(b))
        if node.op not in _OPERATIONS:
            raise _Untranslatable
        a, b = (self._wide(argument) for argument in node.args)
        result = _OPERATIONS[node.op](z3, a, b)
        return z3.ZeroExt(_WIDE - 8, self._flag(result)) if z3.is_bool(result) else result


_ARITHMETIC = frozenset({"+", "-", "*", "<<"})

_OPERATIONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "+": lambda z3, a, b: a + b,
    "-": lambda z3, a, b: a - b,
    "*": lambda z3, a, b: a * b,
    "/": lambda z3, a, b: z3.If(b == 0, z3.BitVecVal(0, _WIDE, b.ctx), a / b),
    "%": lambda z3, a, b: z3.If(b == 0, a, z3.SRem(a, b)),
    "<<": lambda z3, a, b: z3.If(z3.ULT(b, 64), a << b, z3.BitVecVal(0, _WIDE, b.ctx)),
    ">>": lambda z3, a, b: z3.If(z3.ULT(b, 64), a >> b, z3.BitVecVal(0, _WIDE, b.ctx)),
    "&": lambda z3, a, b: a & b,
    "|": lambda z3, a, b: a | b,
    "^": lambda z3, a, b: a ^ b,
    "min": lambda z3, a, b: z3.If(a < b, a, b),
    "max": lambda z3, a, b: z3.If(a < b, b, a),
    "<": lambda z3, a, b: a < b,
    "<=": lambda z3, a, b: a <= b,
    "==": lambda z3, a, b: a == b,
    "!=": lambda z3, a, b: a != b,
    "&&": lambda z3, a, b: z3.And(a != 0, b != 0),
    "||": lambda z3, a, b: z3.Or(a != 0, b != 0),
}

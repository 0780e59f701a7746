"""How many registers the values of a kernel take at the same time: an estimate of what the compiler allocates.

It is the usual analysis of liveness, on the kernel as the compiler lays it out (`counts.laid_out`): loops of known
length are turns one after the other, and elements of arrays that these index are values like any other. A value is
alive from where the source computes it to where it is used last; one from before a loop that a turn uses stays to the
loop's end, and what a turn hands to the next one is alive all along. The most that is alive at any point is a bound
that few programs stay below: in which order the compiler puts what is in no order, such as loads that it begins early
so that they overlap, is its choice, and takes more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from cudalint.execute.library.matrices import fragment_registers
from cudalint.heuristics import heuristic
from cudalint.ir.builtins import Builtin
from cudalint.measure.work import compiler, terms
from cudalint.measure.work.counts import Laid
from cudalint.measure.work.graph import Charge, Loop, Scope
from cudalint.measure.work.terms import Part, Term

HELD = heuristic("registers", "ptxas 13.0 -v: what is alive at once seldom is in fewer (benchmarks/registers.py)")
_REGISTER = 4
"""Bytes."""
_RESERVED = 1
"""R1, the stack's pointer, which the code of every kernel since sm_70 sets up (SASS)."""
MOST: Final = 255
"""What an instruction can name; what is more is spilled."""
_LEAST_SHARE: Final = 0.8
"""Of an estimate. By ptxas 13.0 (sm_80) 303 of 306 kernels of cuda-samples and HeCBench are given as many steps of
registers (benchmarks/README.md, "Registers"): it loads again, or computes again, what it has no room for."""
_NO_RESULT = frozenset({"store", "barrier", "test", "branch", "copy"})
_ROOTS = _NO_RESULT | {"call", "atomic"}
_PARTS_OF_OTHERS = frozenset({"field", "negated"})
"""A field of what is loaded as a whole, and a modifier of an operand, have no register of their own."""
_ARRIVING = frozenset({"load", "call", "atomic"})
_OF_DIVISIONS: Final = {
    ("float", "number"): 3, ("double", "number"): 12, ("double", "reciprocal"): 4, ("float", "reciprocal"): 3,
    ("int", "number"): 4, ("uint", "number"): 2, ("long", "number"): 6, ("long", "constant"): 4,
}  # fmt: skip
"""As `Builtin.temporaries`, and from the same kernels: by the type and by what is divided by."""


def registers_of(laid: Laid) -> int:
    """How many registers a thread has use for at the same time, at most as many as there are."""
    return min(MOST, _RESERVED + _Lives(laid).most())


def at_least(estimate: int) -> int:
    """What the compiler takes of an estimate in any case."""
    return max(1, int(estimate * _LEAST_SHARE))


class _Life:
    """When a value is alive, in half moments: what it is computed of may be in the same register."""

    __slots__ = ("begin", "charge", "end", "is_used", "words")

    def __init__(self, charge: Charge) -> None:
        self.charge = charge
        self.begin = self.end = charge.place.moment
        self.words = _words(charge.term)
        self.is_used = False

    def until(self, moment: int) -> None:
        self.end, self.is_used = max(self.end, moment), True


def _words(term: Term) -> int:
    # Arguments of the kernel are operands in constant memory, and truth values are predicates.
    if term.op in _NO_RESULT or term.op == "parameter" or term.type.kind in ("bool", "void"):
        return 0
    return -(-term.type.bytes // _REGISTER)


class _Lives:
    """The lives of all values of a kernel."""

    def __init__(self, laid: Laid) -> None:
        self._graph, self._laid = laid.graph, laid
        self._lives = {key: _Life(charge) for key, charge in laid.graph.charges.items()}
        self._sums: dict[tuple[Part, ...], Term] = {}
        self._stepped: dict[tuple[Loop, tuple[Part, ...], int], Term] = {}
        self._branches: dict[Scope, list[Charge]] = defaultdict(list)
        for charge in sorted(laid.graph.charges.values(), key=lambda each: each.place.moment):
            if charge.term.op == "branch":
                self._branches[charge.place.scope].append(charge)
            if charge.term.is_sum:
                self._sums.setdefault(charge.term.parts, charge.term)
        for life in self._lives.values():
            self._use_operands(life)

    def most(self) -> int:
        """The most registers at any moment."""
        changes: dict[int, int] = defaultdict(int)
        for begin, end, words in self._taken():
            changes[begin] += words
            changes[end] -= words
        meanwhile: dict[int, int] = defaultdict(int)
        for life in self._lives.values():
            # The operands are still there.
            at = 2 * life.charge.place.moment - 1
            meanwhile[at] = max(meanwhile[at], _temporaries(life.charge.term))
            changes[at] += 0
        most = now = 0
        for moment in sorted(changes):
            now += changes[moment]
            most = max(most, now + meanwhile.get(moment, 0))
        return most

    def _taken(self) -> Iterator[tuple[int, int, int]]:
        """From when to when how many registers are taken, in half moments."""
        for life in self._lives.values():
            if life.end > life.begin:
                yield 2 * life.begin, 2 * life.end, life.words
            elif not life.is_used:
                yield 2 * life.begin, 2 * life.begin + 1, life.words
        for symbol, place in self._laid.fragments.items():
            loop = place.scope.loop
            end = loop.end if loop is not None else self._graph.total
            yield 2 * place.moment, 2 * end, fragment_registers(symbol.type)

    # --- uses --------------------------------------------------------------------------------------------

    def _use_operands(self, life: _Life) -> None:
        term, place = life.charge.term, life.charge.place
        loop = place.scope.loop
        if term.op == "variable":
            self._use_variable(life, term.info)
        elif term.op == "select":
            self._use_sides(life)
        elif not term.is_sum:
            self._use_all(_operands(term), place.scope, place.moment)
        elif loop is None or loop not in term.loops:
            self._use_parts(life, list(_parts(term)))
        elif compiler.step_of(term, loop) is None or self._is_beside_another(term, loop):
            varying = [part.term for part in term.parts if loop in part.term.loops]
            self._use_parts(life, [*self._before(term, loop), *varying])
        else:
            life.begin, life.end, life.is_used = loop.before.moment, loop.end, True
            self._use_all(self._before(term, loop), loop.before.scope, loop.before.moment)

    def _is_beside_another(self, term: Term, loop: Loop) -> bool:
        """Whether a sum differs by a constant from what goes along with a loop already: a variable, or another sum."""
        (first, factor), *others = term.parts
        if not others and factor == 1 and first.op == "variable":
            return True
        return self._stepped.setdefault((loop, term.parts, term.type.bytes), term) is not term

    def _use_variable(self, life: _Life, loop: Loop) -> None:
        """A variable of a loop: what there is before, and what turns hand on."""
        variable = life.charge.term
        life.begin = loop.before.moment
        self._use_all(_terms(variable.arguments), loop.before.scope, loop.before.moment)
        if loop.steps.get(variable) is not None:
            life.until(loop.end)
            return
        after = loop.variables.get(variable)
        if isinstance(after, Term):
            scope = after.home.scope if after.home is not None else loop.scope
            for other in self._holding(after, scope):
                other.until(loop.end)

    def _use_sides(self, life: _Life) -> None:
        """What a branch has chosen is in the register in which either side has put it: that of one side is not alive
        in the other one."""
        term, place = life.charge.term, life.charge.place
        before = self._branches[place.scope]
        at = bisect_right(before, term.number, key=lambda each: each.place.moment)
        holds, *values = term.arguments
        if not at:
            self._use_all(_terms(term.arguments), place.scope, place.moment)
            return
        branch = before[at - 1]
        self._use_all(_terms((holds,)), place.scope, branch.place.moment)
        sides: tuple[Scope, ...] = branch.term.info
        begin = min(side.begin for side in sides)
        for side, value in zip(sides, values, strict=False):
            for each in _terms((value,)):
                for other in self._holding(each, side):
                    other.until(side.end if side.end > side.begin else begin)

    def _use_parts(self, life: _Life, parts: list[Term]) -> None:
        """The parts of a sum: what was added up before is a part of it, and of values that arrive one after the other
        each is added as it comes."""
        term, place = life.charge.term, life.charge.place
        before = self._sums.get(term.parts[:-1]) if len(term.parts) > 2 else None
        if before is not None:
            self._use_all((before, term.parts[-1].term), place.scope, place.moment)
            return
        arriving = [
            other for each in parts if each.op in _ARRIVING for other in self._holding(each, place.scope)
            if other.charge.place.scope is place.scope
        ]  # fmt: skip
        if len(arriving) <= 2:
            self._use_all(parts, place.scope, place.moment)
            return
        life.begin = sorted(other.begin for other in arriving)[1]
        for other in arriving:
            other.until(max(other.begin, life.begin))
        self._use_all([each for each in parts if each.op not in _ARRIVING], place.scope, place.moment)

    def _before(self, term: Term, loop: Loop) -> Iterator[Term]:
        """What of a sum no turn of a loop changes."""
        fixed = tuple(part for part in term.parts if loop not in part.term.loops)
        return _terms((self._graph.sum_of(fixed, 0, term.type),))

    def _use_all(self, values: Iterable[Term], scope: Scope, moment: int) -> None:
        for value in values:
            for life in self._holding(value, scope):
                life.until(moment)
                defined = life.charge.term.info.scope if life.charge.term.op == "variable" else life.charge.place.scope
                loop = scope.loop
                while loop is not None and not defined.is_in(loop.scope):
                    life.until(loop.end)
                    loop = loop.before.scope.loop

    def _holding(self, term: Term, scope: Scope) -> Iterator[_Life]:
        """What has to be in registers where a term is used."""
        life = self._life(term, scope)
        if life is None:
            bare = self._graph.sum_of(term.parts, 0, term.type) if term.is_sum and term.constant else None
            parts = (bare,) if isinstance(bare, Term) else (part.term for part in term.parts if term.is_sum)
            for each in parts:
                yield from self._holding(each, scope)
        elif _is_part_of_others(life.charge):
            for each in _terms(term.arguments):
                yield from self._holding(each, scope)
        else:
            yield life

    def _life(self, term: Term, scope: Scope | None) -> _Life | None:
        while scope is not None:
            found = self._lives.get((id(term), id(scope)))
            if found is not None:
                return found
            scope = scope.outer
        return None


def _terms(values: Iterable[object]) -> Iterator[Term]:
    return (value for value in values if isinstance(value, Term))


def _operands(term: Term) -> Iterable[Term]:
    return _terms(term.arguments) if term.op in _ROOTS else (each for each, _ in compiler.operands(term))


def _parts(term: Term) -> Iterator[Term]:
    if term.index is None:
        yield from (part.term for part in term.parts)
        return
    yield term.index
    yield from (p.term for p in term.parts if p.term.type == terms.ADDRESS and p.term.op in ("parameter", "load"))


def _is_part_of_others(charge: Charge) -> bool:
    """Whether it is computed by what uses it: IMAD multiplies and adds, IMAD.WIDE makes 64 bits of 32."""
    term = charge.term
    if term.op in ("zext", "sext"):
        return charge.uses <= {"part", "address", "index"}
    return term.op in _PARTS_OF_OTHERS or (term.op == "*" and term.is_integer and charge.uses == {"part"})


def _temporaries(term: Term) -> int:
    """Registers that a sequence of instructions takes meanwhile."""
    if term.op == "call" and isinstance(term.info, Builtin):
        return term.info.temporaries[term.type.bytes == 8]
    if term.op not in ("/", "%"):
        return 0
    left, right = term.arguments[:2]
    wide = term.type.bytes == 8
    if term.type.kind == "float":
        by = "number" if left != 1 else "reciprocal"
        return 0 if type(right) in (int, float) else _OF_DIVISIONS["double" if wide else "float", by]
    type_ = "long" if wide else term.type.kind
    return _OF_DIVISIONS.get((type_, "constant" if type(right) is int else "number"), 0)

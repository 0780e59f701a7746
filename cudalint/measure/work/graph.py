"""Where terms are computed: scopes that contain each other, loops, and the statements whose executions are counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from cudalint.execute.values import Value
from cudalint.facts import Operation
from cudalint.ir import nodes as ir
from cudalint.measure.work import compiler, terms
from cudalint.measure.work.runs import Run, Runs
from cudalint.measure.work.terms import NO_LOOPS, Loops, Part, Term

Site = tuple[Any, Any, Any]
"""A statement, the calls that lead to it, and the call of a library's function that it is in."""


class Scope:
    """A body: that of the kernel, of a loop, or one side of a branch."""

    __slots__ = ("begin", "branch", "end", "loop", "outer", "size")

    def __init__(self, outer: Scope | None, loop: Loop | None) -> None:
        self.outer, self.loop = outer, loop
        self.begin = self.end = 0
        """The moments at which it is come to and left, as that of a `Place`."""
        self.size = 0
        """Roughly, in instructions of LLVM."""
        self.branch: Place | None = None
        """Where it is decided whether this is executed, if it is so short that it is executed without a jump."""

    def is_in(self, other: Scope) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if scope is other:
                return True
            scope = scope.outer
        return False


class Place(NamedTuple):
    """A scope, the statement as often as which something is executed, and when it was come to."""

    scope: Scope
    site: Site
    moment: int = 0
    """How many terms had been made then: what is done in the source's order has ascending ones."""


class Loop:
    """A loop whose turns are one body of machine code, or a few copies of it."""

    def __init__(self, before: Place) -> None:
        self.before = before
        self.scope = Scope(before.scope, self)
        self.place = before
        """Of its body."""
        self.is_whole = False
        """It has a barrier, a call or another loop: it is not copied."""
        self.copies = 1
        """Of its body, one after the other, with one test for all."""
        self.merged = 1
        """Those of which the compiler proper makes one: what they access may be one access."""
        self.steps: dict[Term, Any] = {}
        """What its variables become in a turn: a number that is added, VARIABLE, or None for anything else."""
        self.starts: dict[Term, Any] = {}
        """What its variables are before the first turn."""
        self.repeated: frozenset[Run] = frozenset()
        """The runs that accesses of the next copy of its body would go on with."""
        self.sums: list[Need] = []
        self.is_closed = False
        self.end = 0
        """The moment at which it is left, as that of a `Place`."""
        self.asked: int | None = None
        """How often `#pragma unroll` says that it is copied."""
        self.variables: dict[Term, Any] = {}
        """What they are after a turn."""
        self.test: Any = None
        """What says whether there is another turn."""


class Need(NamedTuple):
    """A term that is asked for, as what: see `Use`."""

    term: Term
    use: str
    place: Place


class Charge(NamedTuple):
    """An instruction, or several: a term that is computed at a place."""

    term: Term
    place: Place
    uses: set[str]


class Access(NamedTuple):
    """What a load or a store goes to, beside its address."""

    memory: Any
    constant: int
    """Bytes that are added to the address."""
    bytes: int
    is_shared: bool
    version: Any = None
    align: int = 0
    """Of the record of which it is a field; 0 where it is none."""
    past: int = 0
    """Bytes from a multiple of that alignment, as the address has it, to the record."""
    runs: Runs = (None, None)
    """Of accesses between which nothing keeps neighbours from being one."""


class Visit(NamedTuple):
    """One execution of an access of the source, where loops are laid out turn by turn, and what became of it."""

    node: Any
    stack: Any
    operation: Operation
    bytes: int
    term: Term
    earlier: Any = None
    """The node of the load or store whose value it finds in a register."""
    is_stored: bool = False
    """Whether that is a store."""


class Indexed(NamedTuple):
    """One access, in the machine's code, of an array of a thread that some index keeps out of registers."""

    memory: Any
    node: Any
    stack: Any
    operation: Literal["load", "store"]
    is_open: bool
    """Whether it is by an index that isn't known when the kernel is compiled."""
    offset: Any
    """In bytes, from the start of the variable."""
    loops: Loops
    """Around it."""
    loop: Loop | None
    """The innermost."""


class Test(NamedTuple):
    """What decides whether a loop goes on."""

    parameters: frozenset[str]
    """The names of the numbers that the kernel takes that go into it."""
    steps: frozenset[str]
    """Those by which the loop goes on."""


class Version:
    """What memory holds between two stores that may change it."""

    __slots__ = ("begin", "by", "loops", "stored")

    def __init__(self, loops: Loops, stored: Mapping[Hashable, Stored] | None = None, begin: int = 0) -> None:
        self.loops = loops
        self.begin = begin
        """The moment from which it is there, as that of a `Place`."""
        self.stored = stored or {}
        """What the thread itself has put there, by address, and what leaves no doubt that it is still there."""
        self.by: tuple[Version, Any, int, int] | None = None
        """What there was before, and the address, its constant and the bytes of what was stored then."""


class Stored(NamedTuple):
    """What a store has put somewhere."""

    address: Any
    """Without the constant."""
    access: Access
    type: ir.Scalar
    value: Value
    node: Any
    term: Term
    """The store."""

    def is_beside(self, address: Any, access: Access) -> bool:
        """Whether another store is certain to leave it as it is: at a constant distance, to other bytes."""
        if self.address is not address or self.access.memory is not access.memory:
            return False
        first, second = sorted((self.access, access), key=lambda each: each.constant)
        return first.constant + first.bytes <= second.constant


class Graph:
    """All terms of a kernel, and where they are computed."""

    def __init__(self) -> None:
        self.made: dict[Hashable, Term] = {}
        self.log: list[tuple[str, Any]] = []
        """What is taken back where an attempt was in vain: terms that were made, charges, and visits of statements."""
        self.charges: dict[tuple[int, int], Charge] = {}
        self.tests: dict[Site, Test] = {}
        """Of the loops that are not unrolled."""
        self.scope = Scope(None, None)
        self.site: Site = (None, (), None)
        self.size = 0
        self.total = 0
        """Terms that were made."""

    def around(self) -> Loops:
        """The loops around."""
        found, loop = set[Loop](), self.scope.loop
        while loop is not None:
            found.add(loop)
            loop = loop.before.scope.loop
        return frozenset(found)

    def _grow(self, term: Term) -> None:
        weight = compiler.weight(term)
        self.size += weight
        if self.scope.loop is None or self.scope.loop in term.loops:
            self.scope.size += weight

    # --- making ------------------------------------------------------------------------------------------

    def here(self) -> Place:
        return Place(self.scope, self.site, self.total)

    def make(
        self, op: str, arguments: tuple[Any, ...], type_: ir.Scalar, loops: Loops = NO_LOOPS, info: Any = None
    ) -> Term:
        """The term of this operator and these arguments."""
        key = op, tuple(terms.key_of(arguments)), (type_.kind, type_.bytes), info if info is None else id(info)
        return self._kept(key, lambda: Term(self, op, arguments, type_, loops | terms.loops_of(arguments), info))

    def sum_of(self, parts: tuple[Part, ...], constant: int, type_: ir.Scalar) -> Any:
        """A sum of terms; a plain number where it has none."""
        if not parts:
            return constant
        (first, factor), *others = parts
        is_of_type = (first.type.kind, first.type.bytes) == (type_.kind, type_.bytes)
        if not others and factor == 1 and not constant and is_of_type:
            return first
        key = "sum", tuple((id(term), own) for term, own in parts), constant, (type_.kind, type_.bytes)

        def made() -> Term:
            term = Term(self, "sum", (), type_, terms.loops_of(tuple(part.term for part in parts)))
            term.parts, term.constant = parts, constant
            return term

        return self._kept(key, made)

    def _kept(self, key: Hashable, made: Any) -> Term:
        term = self.made.get(key)
        if term is None:
            term = self.made[key] = made()
            term.low, term.high = terms.limits(term)
            self.log.append(("made", key))
            term.home = self.here()
            self._grow(term)
        elif term.home is None or not self.scope.is_in(term.home.scope):
            self.log.append(("home", (term, term.home)))
            term.home = self.here()
        return term

    def operator(self, op: str, left: Value, right: Value, type_: ir.Scalar) -> Value:
        return terms.operator(self, op, left, right, type_)

    def fresh(self, op: str, arguments: tuple[Any, ...], type_: ir.Scalar, info: Any = None) -> Term:
        """A term that is no other one, and that each turn of the loops around has its own of."""
        term = Term(self, op, arguments, type_, self.around() | terms.loops_of(arguments), info)
        term.home = self.here()
        self._grow(term)
        return term

    # --- taking back -------------------------------------------------------------------------------------

    def mark(self) -> tuple[int, int]:
        return len(self.log), self.size

    def take_back(self, mark: tuple[int, int]) -> None:
        length, self.size = mark
        while len(self.log) > length:
            what, of = self.log.pop()
            if what == "made":
                self.made.pop(of, None)
            elif what == "home":
                term, term.home = of
            elif what == "charge":
                self.charges.pop((id(of.term), id(of.place.scope)), None)
                of.term.places.remove(of.place)
            elif what == "use":
                charge, use = of
                charge.uses.discard(use)
            elif what == "sum" and of.sums:
                of.sums.pop()

    def accesses(self) -> list[Visit]:
        """Each access of the source, as often as the machine's code has it."""
        return [of for what, of in self.log if what == "access"]

    def indexed(self) -> list[Indexed]:
        """Each access of an array of a thread that is not in registers, as often as the machine's code has it."""
        return [of for what, of in self.log if what == "indexed"]

    def visits(self) -> Counter[Site]:
        """How often each statement was come to."""
        return Counter(of for what, of in self.log if what == "visit")

    def stored(self, address: Any, type_: ir.Type, version: Version, access: Access) -> Stored | None:
        """What the thread has stored where it loads, if every way here leads past that store."""
        found = version.stored.get((id(address) if isinstance(address, Term) else address, access.constant))
        if found is None or found.access.memory is not access.memory or found.type != type_:
            return None
        return found if found.term.home is not None and self.scope.is_in(found.term.home.scope) else None

    # --- asking for terms --------------------------------------------------------------------------------

    def root(self, op: str, needs: list[tuple[Value, str]], type_: ir.Scalar, info: Any = None) -> Term:
        """Something that is done, whoever needs what comes of it: a store, a barrier, a test."""
        term = self.fresh(op, tuple(value for value, _ in needs), type_, info)
        self._charge(term, self.here(), "value")
        for value, use in needs:
            self.need(value, use)
        return term

    def load(self, address: Any, type_: ir.Type, version: Version, access: Access) -> tuple[Term, bool]:
        """What memory holds there, as long as nothing changes it; and whether that was loaded on the way here."""
        own = type_ if isinstance(type_, ir.Scalar) else terms.ADDRESS
        of = id(address) if isinstance(address, Term) else address
        key = "load", of, id(version), id(access.memory), access.constant, access.bytes
        loops = version.loops | terms.loops_of((address,))
        before = self.made.get(key)
        is_there = before is not None and before.home is not None and self.scope.is_in(before.home.scope)
        info = access._replace(version=version)
        return self._kept(key, lambda: Term(self, "load", (address,), own, loops, info)), is_there

    def branch(self, holds: Value, sides: Sequence[Scope]) -> None:
        """A choice between two bodies, which have been walked."""
        made = self.root("branch", [(holds, "value")], terms.VOID, tuple(sides))
        short = compiler.is_predicated(sides)
        for side in sides:
            side.branch = made.home if short else None
            self.scope.size += side.size

    def need(self, value: Value, use: str = "value") -> None:
        """Notes that something asks for a value here."""
        if not isinstance(value, Term):
            return
        waiting = [Need(value, use, value.home or self.here())]
        while waiting:
            waiting += self._needed(waiting.pop())

    def _needed(self, need: Need) -> list[Need]:
        """Charges for a term, if nothing did yet; gives what that asks for."""
        term, use, place = need
        place = self._hoisted(term, place)
        if term.is_sum:
            return self._sum(Need(term, use, place))
        for charge in term.places:
            if place.scope.is_in(charge.scope):
                self._use(self.charges[id(term), id(charge.scope)], use)
                return []
        self._charge(term, place, use)
        return [Need(each, as_, each.home or place) for each, as_ in compiler.operands(term, use)]

    def _sum(self, need: Need) -> list[Need]:
        term, use, place = need
        if len(term.parts) == 1 and term.parts[0].factor == 1 and (use == "address" or not term.constant):
            return [Need(term.parts[0].term, use, place)]
        if use == "address" and term.constant and compiler.OFFSETS.is_on:
            term = self.sum_of(term.parts, 0, term.type)
            place = self._hoisted(term, term.home or place)
        for charge in term.places:
            if place.scope.is_in(charge.scope):
                self._use(self.charges[id(term), id(charge.scope)], use)
                return []
        self._charge(term, place, use)
        loop = place.scope.loop
        if loop is not None and loop in term.loops:
            if loop.is_closed:
                return self._of_loop(Need(term, use, place), loop)
            loop.sums.append(Need(term, use, place))
            self.log.append(("sum", loop))
            return []
        index = self._index(term)
        if index is not None:
            rest, own = index
            return [Need(own, "index", own.home or place), *(Need(p.term, "part", p.term.home or place) for p in rest)]
        return [Need(part.term, "part", part.term.home or place) for part in term.parts]

    def _index(self, term: Term) -> tuple[list[Part], Term] | None:
        """An address's bases, and the index that is multiplied and added to them in one instruction."""
        if term.type != terms.ADDRESS or not compiler.INDICES.is_on:
            return None
        bases = [p for p in term.parts if p.term.type == terms.ADDRESS and p.term.op in ("parameter", "load")]
        rest = [p for p in term.parts if p not in bases]
        if len(bases) != 1 or len(rest) < 2:
            return None
        common = math.gcd(*(part.factor for part in rest))
        narrow = ir.Scalar("int", 4, "int")
        index = self.sum_of(tuple(Part(p.term, p.factor // common) for p in rest), 0, narrow)
        term.index = index
        return bases, index

    def _use(self, charge: Charge, use: str) -> None:
        if use not in charge.uses:
            charge.uses.add(use)
            self.log.append(("use", (charge, use)))

    def _charge(self, term: Term, place: Place, use: str) -> None:
        charge = Charge(term, place, {use})
        self.charges[id(term), id(place.scope)] = charge
        term.places.append(place)
        self.log.append(("charge", charge))

    def _hoisted(self, term: Term, place: Place) -> Place:
        """Before the loops that a term doesn't depend on."""
        if not compiler.HOISTING.is_on:
            return place
        loop = place.scope.loop
        while loop is not None and loop not in term.loops:
            if term.op == "load" and place.scope is not loop.scope:
                break  # Under a condition: it might not be allowed elsewhere.
            place = loop.before
            loop = place.scope.loop
        return place

    # --- loops -------------------------------------------------------------------------------------------

    def close(self, loop: Loop) -> None:
        """The end of a loop: its variables' steps are known, and with them what its addresses cost."""
        loop.end = self.total
        for variable, after in loop.variables.items():
            loop.steps[variable] = self._step(variable, after, loop)
        waiting: list[Need] = []
        seen: set[Term] = set()
        while True:
            while loop.sums:
                waiting += self._of_loop(loop.sums.pop(), loop)
            while waiting:
                waiting += self._needed(waiting.pop())
            asked = [v for v in loop.variables if v.places and v not in seen]
            if not asked and not loop.sums:
                break
            for variable in asked:
                seen.add(variable)
                after = loop.variables[variable]
                if loop.steps[variable] is None and isinstance(after, Term):
                    waiting.append(Need(after, "value", after.home or loop.place))
                for start in variable.arguments:
                    if isinstance(start, Term):
                        waiting.append(Need(start, "value", start.home or loop.before))
        loop.is_closed = True
        loop.merged = compiler.copies(loop)
        loop.copies = loop.merged * compiler.copies_again(loop)

    def _of_loop(self, need: Need, loop: Loop) -> list[Need]:
        """What a sum that changes from turn to turn asks for: nothing but its first value where it is stepped."""
        term, _, place = need
        fixed = tuple(part for part in term.parts if loop not in part.term.loops)
        needs = []
        if fixed:
            outside = self.sum_of(fixed, 0, term.type)
            needs.append(Need(outside, "value", loop.before))
        if compiler.step_of(term, loop) is None:
            needs += [Need(p.term, "part", p.term.home or place) for p in term.parts if loop in p.term.loops]
        return needs

    def _step(self, variable: Term, after: Value, loop: Loop) -> Any:
        first, second = terms.linear(variable), terms.linear(after)
        if first is None or second is None:
            return None
        difference = terms.added(second[0], first[0], -1)
        if any(loop in part.term.loops for part in difference):
            return None
        return compiler.VARIABLE if difference else second[1] - first[1]

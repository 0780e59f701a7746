"""Whether every part of a kernel that accesses memory is reached in some world, and more worlds where one is not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
from msgspec import Struct, structs

from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.kept import kept
from cudalint.ir.walk import children, conjuncts, walk, without_casts
from cudalint.worlds.choosing import MOST_WORLDS, Numbers, Search, Space, World, Worlds
from cudalint.worlds.guards import Guards
from cudalint.worlds.needs import FARTHEST
from cudalint.worlds.origins import is_local
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Uses

Way = Sequence[tuple[ir.Expr, bool]]
"""Conditions, with what they come to."""
Admits = Callable[[Numbers, Way], Any]
"""[C]: in which of some worlds conditions may each come out so for some thread."""
Execute = Callable[[Sequence[World]], Trace]
"""Executes a launch in some worlds."""

_ROUNDS = 2
"""In which more worlds are executed."""
MANY_STEPS = 25_000
"""Of an execution, about half a second: a kernel of so many is not executed again in the hope to come further."""
_MOST_TRIED = 16
"""Worlds in one of them."""
_ALONE = "it comes to what no other does"
_MOST_COMBINED = 2000
"""Combinations of numbers that guards are asked about in one round."""
_MOST_KEPT = 32
"""Kernels of which the parts are known."""


class Region(Struct, frozen=True, eq=False):
    """A part of a kernel that not all threads may come to."""

    nodes: frozenset[Any]
    deciders: frozenset[Parameter]
    """The numbers that go into the conditions on the way."""
    conditions: tuple[tuple[ir.Expr, bool], ...]
    """Those of these that nothing but such numbers goes into, with what they have to come to."""
    way: tuple[tuple[ir.Expr, bool], ...]
    """All conditions on the way, with what they have to come to for some thread."""
    nearest: frozenset[Parameter]
    """The numbers that go into the last one of these."""
    span: ir.Span | None


def reaching(
    worlds: Worlds, space: Space, uses: Uses, execute: Execute, most: int = MOST_WORLDS,
    behind: Callable[[Parameter], Iterable[Any]] = lambda parameter: (parameter,),
    admits: Admits = lambda numbers, way: True, knows: Callable[[Way], bool] = lambda way: False,
) -> Worlds:  # fmt: skip
    """The worlds with more of them for what none of them comes to, if numbers decide about it. Worlds that are there
    only to distinguish numbers give way. `behind` says of which variables a parameter of the kernel is computed."""
    regions = regions_of(uses)
    if not regions or all(len(values) == 1 for values in space.tried.values()):
        return worlds
    search, program = Search(space), Program()
    search.leave_out(worlds.broken)
    first = execute(worlds.worlds)
    by_world = np.array(reached(first, regions))
    missed = [region for region, by in zip(regions, by_world, strict=True) if not by.any()]
    worlds = _keeping(worlds, by_world)
    for _ in range(_ROUNDS if first.steps < MANY_STEPS else 0):
        deciding = {region: _deciding(region, space, behind) for region in missed}
        asked = [region for region in missed if deciding[region].all]
        room = most - worlds.needed
        if not asked or room <= 0:
            break
        tried = list(_candidates(worlds, asked, deciding, search, program, uses, admits, knows))[:_MOST_TRIED]
        if not tried:
            break
        by_world = np.array(reached(execute(tried), missed))
        chosen = _cover(by_world, room)
        if not chosen:
            break
        worlds = with_more(worlds, [tried[world] for world in chosen], most)
        missed = [region for region, by in zip(missed, by_world, strict=True) if not by[chosen].any()]
    trace = execute(worlds.worlds) if missed else None
    executed = {site.statement for site in trace.executions} if trace is not None else set()
    unreached = [
        region.span for region in missed
        if region.span is not None and not executed & region.nodes and trace is not None and not trace.is_cut
        and any(_accesses(node) for node in region.nodes)
        and knows(region.way) and _is_open(region, space, uses, behind, admits)
        and not _is_ruled_out(region, _deciding(region, space, behind), worlds, search, admits)
    ]  # fmt: skip
    return structs.replace(
        worlds, missing=(*worlds.missing, *(text for text in map(_text, missed) if text)), unreached=tuple(unreached)
    )


def _is_open(
    region: Region, space: Space, uses: Uses, behind: Callable[[Parameter], Iterable[Any]], admits: Admits
) -> bool:
    """Whether open numbers decide about a region, and those that are given admit it."""
    if not _deciding(region, space, behind).all:
        return False
    fixed = [
        (part, wanted)
        for condition, holds in region.way
        for part, wanted in conjuncts(condition, holds)
        if not any(
            len(space.tried.get(variable, ())) > 1
            for parameter in uses.origins.of(part).sources for variable in behind(parameter)
        )
    ]  # fmt: skip
    first = {variable: np.array(values[:1]) for variable, values in space.tried.items()}
    return bool(np.all(admits(first, fixed)))


def _is_ruled_out(region: Region, deciding: _Deciding, worlds: Worlds, search: Search, admits: Admits) -> bool:
    """Whether only numbers lead to a region that the launch does not admit: the host checks them, and goes on with
    others."""
    changed = _changed(deciding, search.space, worlds.worlds[: worlds.needed])
    numbers = {variable: np.array([world[variable] for world in changed]) for variable in search.space.tried}
    leads, admitted = np.broadcast_arrays(admits(numbers, region.way), search.admitted(numbers))
    return bool(leads.any() and not (leads & admitted).any())


class _Deciding(NamedTuple):
    """The open variables that a region is up to."""

    all: list[Any]
    nearest: list[Any]
    """Those of the last condition: what is on the way there may well come true already."""


def _deciding(region: Region, space: Space, behind: Callable[[Parameter], Iterable[Any]]) -> _Deciding:
    own, nearest = (
        {variable for parameter in parameters for variable in behind(parameter)}
        for parameters in (region.deciders, region.nearest)
    )  # fmt: skip
    open_ = [variable for variable, values in space.tried.items() if variable in own and len(values) > 1]
    return _Deciding(open_, [variable for variable in open_ if variable in nearest])


@kept(_MOST_KEPT)
def regions_of(uses: Uses) -> tuple[Region, ...]:
    """The parts of a kernel, and of what it calls, that conditions guard and that may access memory."""
    return tuple(_regions(uses))


def _regions(uses: Uses) -> Iterator[Region]:
    deciders: dict[ir.Function, frozenset[Parameter]] = {}
    parts = _Parts()
    for function in uses.code.functions:
        own = deciders.get(function, frozenset())
        for statements, (decided, conditions, way, nearest) in _guarded((function.body,), _Way(own), uses):
            part = _together([parts.of(statement) for statement in statements])
            for callee in part.callees:
                deciders[callee] = deciders.get(callee, frozenset()) | decided
            if statements and decided and part.may_access:
                yield Region(part.nodes, decided, conditions, way, nearest, statements[0].span)


class _Part(NamedTuple):
    """A piece of code."""

    nodes: frozenset[Any]
    callees: frozenset[ir.Function]
    may_access: bool


def _together(parts: Sequence[_Part]) -> _Part:
    return parts[0] if len(parts) == 1 else _Part(
        frozenset().union(*(part.nodes for part in parts)), frozenset().union(*(part.callees for part in parts)),
        any(part.may_access for part in parts),
    )  # fmt: skip


class _Parts:
    """What stands in statements, each of which is walked once however deep they are nested."""

    def __init__(self) -> None:
        self._known: dict[Any, _Part] = {}

    def of(self, statement: Any) -> _Part:
        known = self._known.get(statement)
        if known is None:
            inner = [self.of(child) for child in children(statement) if isinstance(child, _STATEMENTS)]
            own = [statement]
            for child in children(statement):
                own += () if isinstance(child, _STATEMENTS) else walk(child)
            callees = frozenset(callee for node in own if (callee := _callee(node)) is not None)
            plain = _Part(frozenset(own), callees, any(map(_may_access, own)))
            known = self._known[statement] = _together([plain, *inner])
        return known


def reached(trace: Trace, regions: Sequence[Region]) -> list[Any]:
    """For each region the worlds [W] in which a lane makes an access there, or in what is called from there."""
    lanes = trace.lanes
    nodes: dict[Any, Any] = {}
    worlds: dict[int, Any] = {}
    for event in trace.accesses:
        own = worlds.get(id(event.mask))
        if own is None:
            own = worlds[id(event.mask)] = event.mask.reshape(lanes.worlds, -1).any(axis=-1)
        for node in (event.node, *event.stack):
            nodes[node] = nodes[node] | own if node in nodes else own
    none = np.zeros(lanes.worlds, bool)
    found = []
    for region in regions:
        own = none
        for node in region.nodes & nodes.keys():
            own = own | nodes[node]
        found.append(own)
    return found


class _Way(NamedTuple):
    """To a part of a kernel."""

    deciders: frozenset[Parameter] = frozenset()
    conditions: tuple[tuple[ir.Expr, bool], ...] = ()
    all: tuple[tuple[ir.Expr, bool], ...] = ()
    nearest: frozenset[Parameter] = frozenset()

    def past(self, condition: ir.Expr | None, uses: Uses, holds: bool | None = None, is_fixed: bool = True) -> _Way:
        """Further on, past a condition that has to hold there, must not, or, with None, may do either. It may be one
        that comes out otherwise later on."""
        if condition is None:
            return self
        nearest = uses.origins.of(condition).sources
        deciders = self.deciders | nearest
        if holds is None:
            return self._replace(deciders=deciders, nearest=nearest)
        every = (*self.all, (condition, holds))
        names = [node for node in walk(condition) if isinstance(node, ir.Name)]
        if not is_fixed or not all(_is_given(name, uses) for name in names):
            return _Way(deciders, self.conditions, every, nearest)
        return _Way(deciders, (*self.conditions, (condition, holds)), every, nearest)


def _is_given(name: ir.Name, uses: Uses) -> bool:
    """Whether a variable holds what the launch gives for it."""
    if isinstance(name.symbol.type, ir.RecordType):
        return any(parameter.symbol is name.symbol for parameter in uses.parameters)
    plain = uses.origins.of(name).plain
    return plain is not None and plain.symbol is name.symbol


def _guarded(
    statements: Sequence[st.Stmt], way: _Way, uses: Uses
) -> Iterator[tuple[Sequence[st.Stmt], _Way]]:
    """Parts that are executed under a condition, and the way to them."""
    for number, statement in enumerate(statements):
        parts: list[tuple[Sequence[st.Stmt], _Way]] = []
        behind = way
        match statement:
            case st.Block():
                yield from _guarded(statement.statements, way, uses)
            case st.If(condition=condition, then=then, otherwise=otherwise):
                parts.append(((then,), way.past(condition, uses, True)))
                if otherwise is not None:
                    parts.append(((otherwise,), way.past(condition, uses, False)))
                # Lanes that leave do so in a part of it, but which of them may be up to further conditions there.
                leaves = otherwise is None and _ends(then)
                behind = way.past(condition, uses, False if leaves else None)
            case st.For() | st.While():
                parts.append(((statement.body,), way.past(statement.condition, uses, True, is_fixed=False)))
            case st.DoWhile():
                parts.append(((statement.body,), way.past(statement.condition, uses)))
            case st.Switch():
                parts += ((case.body, way.past(statement.condition, uses)) for case in statement.cases)
        for part, there in parts:
            yield part, there
            yield from _guarded(part, there, uses)
        rest = statements[number + 1 :]
        if isinstance(statement, st.If) and rest and any(isinstance(node, _LEAVING) for node in walk(statement)):
            yield rest, behind
            yield from _guarded(rest, behind, uses)
            return


def _ends(statement: st.Stmt) -> bool:
    """Whether nothing comes behind a statement."""
    last = statement
    while isinstance(last, st.Block) and last.statements:
        last = last.statements[-1]
    return isinstance(last, _LEAVING)


_STATEMENTS = (*get_args(st.Stmt), st.Case)
_LEAVING = (st.Return, st.Break, st.Continue)


def _callee(node: Any) -> ir.Function | None:
    return node.function.load() if isinstance(node, ir.Call) and node.function is not None else None


def _may_access(node: Any) -> bool:
    match node:
        case ir.Index():
            return not is_local(node)
        case ir.Unary(op="*") | ir.Call() | ir.Member(arrow=True):
            return True
    return False


def _accesses(node: Any) -> bool:
    """Whether it is an access of memory for certain."""
    return isinstance(node, ir.Index) and not is_local(node)


def _candidates(
    worlds: Worlds, missed: Sequence[Region], deciding: Mapping[Region, _Deciding], search: Search,
    program: Program, uses: Uses, admits: Admits, knows: Callable[[Way], bool],
) -> Iterator[World]:  # fmt: skip
    """Worlds in which what decides about missed regions is another combination."""
    bases = worlds.worlds[: worlds.needed]
    seen = {tuple(world.values()) for world in worlds.worlds}
    each = max(1, _MOST_TRIED // len(missed))
    for region in missed:
        may_come = Guards(region.conditions, uses.code.functions[0], program)

        def admitted(own: Sequence[World], region: Region = region, may_come: Guards = may_come) -> Any:
            numbers = {variable: np.array([world[variable] for world in own]) for variable in search.space.tried}
            held = search.admitted(numbers) & may_come(search.space.parameters(numbers)).all(axis=1)
            return held & admits(numbers, region.way)

        if not knows(region.way) and admitted(worlds.worlds).any():
            continue  # What keeps threads from it there is nothing that numbers are known to decide.
        changed = _changed(deciding[region], search.space, bases)
        tried = [*_solved(region, deciding[region].all, search.space, bases, may_come, uses), *changed]
        found_here = 0
        for number in np.flatnonzero(admitted(tried)).tolist():
            key = tuple(tried[number].values())
            if found_here == each:
                break
            if key not in seen:
                found_here += 1
                seen.add(key)
                yield tried[number]


def _changed(deciding: _Deciding, space: Space, bases: Sequence[World]) -> list[World]:
    """Worlds beside some others: at first those in which one of the nearest numbers is another one."""
    nearest = list(_singles(deciding.nearest, space.tried))
    beside = ((own, base) for base in bases for own in nearest)
    # Combinations may be too many to have them all: they are made one after the other.
    combinations = ((own, base) for own in _changes(deciding.all, space.tried) for base in bases)
    both = itertools.chain(beside, combinations)
    return [{**base, **own} for own, base in itertools.islice(both, _MOST_COMBINED)]


def _singles(variables: Sequence[Any], tried: Mapping[Any, Sequence[Any]]) -> Iterator[World]:
    """Another number for one of some variables, for each of them in turn."""
    for place in range(max((len(tried[variable]) for variable in variables), default=0)):
        yield from ({variable: tried[variable][place]} for variable in variables if place < len(tried[variable]))


def _changes(variables: Sequence[Any], tried: Mapping[Any, Sequence[Any]]) -> Iterator[World]:
    """Other numbers for some variables, the fewest first: for one of them, in turn, then for two, and so on. They may
    be too many to have them all."""
    yield from _singles(variables, tried)
    for count in range(2, len(variables) + 1):
        for some in itertools.combinations(variables, count):
            yield from (dict(zip(some, own, strict=True)) for own in itertools.product(*(tried[v] for v in some)))


def _solved(
    region: Region, deciders: Sequence[Any], space: Space, bases: Sequence[World], values: Guards, uses: Uses
) -> Iterator[World]:
    """Worlds in which numbers are what conditions on the way ask them to be equal to: `columns == 3 * rows + 1`."""
    equal = [each for condition, holds in region.conditions for each in _equations(condition, holds, uses)]
    for base in bases if equal else ():
        world = dict(base)
        for _ in equal:
            for parameter, expression in equal:
                own = space.parameters({variable: np.array([number]) for variable, number in world.items()})
                wanted = values.number(expression, {p: each[0] for p, each in own.items() if np.size(each)})
                variables = [each for each in deciders if world[each] == own[parameter][0]]
                if wanted is not None and abs(wanted) <= FARTHEST and int(own[parameter][0]) != wanted:
                    for variable in variables:
                        changed = {**world, variable: wanted}
                        after = space.parameters({each: np.array([number]) for each, number in changed.items()})
                        if after[parameter][0] == wanted:
                            world = changed
                            break
        yield world


def _equations(condition: ir.Expr, holds: bool, uses: Uses) -> Iterator[tuple[Parameter, ir.Expr]]:
    """Parameters that have to be equal to something, and what."""
    for part, wanted in conjuncts(condition, holds):
        bare = without_casts(part)
        if isinstance(bare, ir.Binary) and bare.op == ("==" if wanted else "!="):
            sides = (bare.left, bare.right), (bare.right, bare.left)
            found = ((uses.origins.of(own).plain, other) for own, other in sides)
            yield from ((parameter, other) for parameter, other in found if parameter is not None)


def _keeping(worlds: Worlds, by_world: Any) -> Worlds:
    """Those that come to what no needed one comes to are needed, too."""
    needed = worlds.needed
    left = by_world.any(axis=1) & ~by_world[:, :needed].any(axis=1)
    others = [needed + world for world in _cover(by_world[left][:, needed:], len(worlds.worlds))]
    order = [*range(needed), *others, *(w for w in range(needed, len(worlds.worlds)) if w not in others)]
    return structs.replace(
        worlds, worlds=tuple(worlds.worlds[world] for world in order),
        why=tuple(_ALONE if world in others else worlds.why[world] for world in order), needed=needed + len(others),
    )  # fmt: skip


def _cover(by_world: Any, room: int) -> list[int]:
    """Few worlds [of regions by worlds] that come to all regions that any of them comes to."""
    chosen: list[int] = []
    left = by_world.any(axis=1)
    while left.any() and len(chosen) < room:
        best = int(by_world[left].sum(axis=0).argmax())
        chosen.append(best)
        left = left & ~by_world[:, best]
    return chosen


def with_more(worlds: Worlds, more: Sequence[World], most: int) -> Worlds:
    """The worlds with more of them behind those that are needed."""
    needed, kept = worlds.needed, most - len(more)
    why = (_ALONE,) * len(more)
    return structs.replace(
        worlds,
        worlds=(*worlds.worlds[:needed], *more, *worlds.worlds[needed:kept]),
        why=(*worlds.why[:needed], *why, *worlds.why[needed:kept]),
        needed=needed + len(more),
    )


def _text(region: Region) -> str:
    return f"line {region.span.line} is reached" if region.span is not None and region.deciders else ""


def limits_of(uses: Uses) -> list[tuple[ir.Expr, bool]]:
    """The conditions on the numbers of a launch alone under which a kernel goes on, where it returns at once otherwise:
    `if (width > MAX_WIDTH) return;`."""
    found: list[tuple[ir.Expr, bool]] = []
    pending = [uses.code.functions[0].body]
    while pending:
        statement = pending.pop(0)
        if isinstance(statement, st.Block):
            pending[:0] = statement.statements
        elif isinstance(statement, st.If) and statement.otherwise is None and _ends(statement.then):
            names = [node for node in walk(statement.condition) if isinstance(node, ir.Name)]
            if names and all(_is_given(name, uses) for name in names):
                found.append((statement.condition, False))
    return found

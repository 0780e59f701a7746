"""What stands for both sides of a branch that host code takes or not.

Known values are preferred: a default beats what the command line might say. Where a condition on plain numbers chooses
between two known ones, the value is the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from cudalint.host.executor.values import (
    PLACES,
    ArrayValue,
    Choice,
    FunctionValue,
    Place,
    Pointer,
    RecordValue,
    Value,
    nodes_of,
)
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.evaluation import holds
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Uniform, without_cast, without_not
from cudalint.ir import nodes as ir
from cudalint.ir.text import element_name, field_name

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


MOST_KERNELS = 64
"""Of which conditions choose one, or a function picks one."""
_MOST_LAYOUTS = 4
"""That a function chooses from."""


def joined_variables(
    ex: Execution,
    before: Mapping[ir.Symbol, Value | Place],
    then: dict[ir.Symbol, Value | Place],
    otherwise: dict[ir.Symbol, Value | Place],
    condition: Node | None = None,
) -> dict[ir.Symbol, Value | Place]:
    """Joins two branches of an unknown condition: what is known wins, then what was there before."""
    side = None if condition is None else as_it_is_run(ex, condition)
    for symbol, value in otherwise.items():
        mine = then.get(symbol)
        if mine is None:
            then[symbol] = value
        elif mine is value:
            continue
        elif side is not None:
            then[symbol] = _default(ex, mine if side else value, symbol.name, _said_by(ex, condition))
        else:
            old = before.get(symbol)
            _note_steps(ex, symbol, old, mine, value)
            chosen: Value | None = None
            if condition is not None:
                chosen = _either(ex, condition, old, mine, value) or _one_function(ex, condition, mine, value)
                chosen = chosen or _distance(ex, condition, old, mine, value)
            then[symbol] = chosen or _better(ex, old, mine, value, symbol.name, condition)
    return then


def preferred(ex: Execution, condition: Node, a: Value, b: Value) -> Value | None:
    """`argc > 1 ? atoi(argv[1]) : 1024`: a default beats what the command line might say, as after an `if`. So it does
    in `is_given("n") ? value_of("n") : 1024`, whatever the functions do to find out."""
    side = as_it_is_run(ex, condition)
    if side is not None:
        return _default(ex, a if side else b, "?", _said_by(ex, condition))  # type: ignore[return-value]
    if not (isinstance(a, Node) and isinstance(b, Node)) or _known(ex, a) == _known(ex, b):
        return None
    known, unknown = (a, b) if _known(ex, a) else (b, a)
    is_separate = _is_flag(condition) and not condition.bits & unknown.bits
    if is_separate and known.is_const and known.value == 1 and (flag := _held_flag(ex, condition)) is not None:
        _take(ex, flag, condition, known is a)
        return None
    if not is_plain(ex.graph, condition) or not (is_separate or ex.options.arguments.issuperset(_asked(ex, condition))):
        return None
    return None if _is_placeholder(known, unknown) else _default(ex, known, "?")  # type: ignore[return-value]


def as_it_is_run(ex: Execution, condition: Node) -> bool | None:
    """Whether a condition on nothing but the words of the command line and their number holds, where that is known."""
    if not ex.graph.rests_on_defaults(condition):
        return None
    is_known = ex.options.arguments | ex.options.chosen_by_words >= set(_asked(ex, condition))
    return holds(ex.graph, condition, {}) if is_known else None


def _asked(ex: Execution, condition: Node | None) -> Sequence[Node]:
    """The unknown numbers that a condition is about."""
    return () if condition is None else ex.graph.atoms(condition.bits, ex.graph.uniform_bits)


def _said_by(ex: Execution, condition: Node | None) -> str:
    """What says which side of a choice by words of the command line is taken: `Makefile:12`."""
    words = (symbol for symbol in _asked(ex, condition) if symbol in ex.options.chosen_by_words)
    return next((ex.graph.choice(word).place for word in words), "")


def _is_flag(condition: Node) -> bool:
    """Whether a condition asks of an unknown number whether it is zero, or of several, as a search among the words of a
    command line does."""
    if condition.op in ("!", "||", "&&"):
        return all(map(_is_flag, condition.args))
    if condition.op in ("==", "!="):
        asked, number = condition.args
        return without_cast(asked).op == "uniform" and number.is_const and number.value == 0
    return condition.op == "uniform"


def _held_flag(ex: Execution, condition: Node) -> Node | None:
    """The one number that a variable or a field has and that a condition asks about. It may be asked for again, of the
    distance of rows after that of columns, and the answer has to be the same: of the two, only one is 1."""
    symbols = _asked(ex, condition)
    if len(symbols) != 1 or symbols[0] in ex.options.arguments or not isinstance(symbols[0].payload, Uniform):
        return None
    return None if symbols[0].payload.name.startswith("?") or ex.graph.choice(symbols[0]).is_default else symbols[0]


def _take(ex: Execution, flag: Node, condition: Node, wanted: bool) -> None:
    """Gives a flag the generic value that chooses the known number, unless it has chosen another one already."""
    if flag not in ex.options.flags:
        ex.options.flags.add(flag)
        value = next((value for value in (0, 1) if holds(ex.graph, condition, {flag: value}) == wanted), None)
        if value is not None:
            ex.graph.choose(flag, value, "check")


def _distance(ex: Execution, condition: Node, before: object, a: Value | Place, b: Value | Place) -> Node | None:
    """The distance of elements along one axis, where what a variable or a field holds chooses the layout
    (`if (layout == COLUMNS) across = 1, down = pitch; else …`): 1, or a number that is not known. It stays open which
    of them it is, for it is 1 along one axis only. None for all else."""
    if not (isinstance(a, Node) and isinstance(b, Node)) or _known(ex, a) == _known(ex, b):
        return None
    known, unknown = (a, b) if _known(ex, a) else (b, a)
    if not (known.is_const and known.value == 1) or not is_plain(ex.graph, unknown) or not _asks_which(condition):
        return None
    flag = _held_flag(ex, condition)
    if flag is None or condition.bits & unknown.bits:
        return None
    _take(ex, flag, condition, (known is a) is not (unknown is before))
    return ex.graph.select(condition, a, b)


def _asks_which(condition: Node) -> bool:
    """Whether a condition asks whether a number is a certain one, or whether an option is on."""
    bare = without_not(condition)
    if bare.op in ("==", "!="):
        asked, number = bare.args
        return without_cast(asked).op == "uniform" and number.is_const
    return bare.op == "uniform" and bare.kind == BOOL


def one_layout(ex: Execution, returns: Sequence[tuple[Node, Value | Place | None]]) -> Value | Place | None:
    """What a function gives that returns one of some structures, as conditions on a layout say: the last one, with the
    distances that the others have where their conditions hold. None where they differ by more."""
    if not 2 <= len(returns) <= _MOST_LAYOUTS:
        return None
    *earlier, (_, result) = returns
    for condition, other in reversed(earlier):
        if not isinstance(result, RecordValue) or not isinstance(other, RecordValue):
            return None
        chosen = {name: _part(ex, condition, other.fields.get(name), mine) for name, mine in result.fields.items()}
        if None in chosen.values():
            return None
        result = RecordValue(result.type, chosen)  # type: ignore[arg-type]
    return result


def _part(ex: Execution, condition: Node, a: Value | None, b: Value) -> Value | None:
    if a is None or a is b:
        return a
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return b if a.target is b.target and a.offset is b.offset else None
    return _distance(ex, condition, None, a, b)


def _either(ex: Execution, condition: Node, before: object, a: Value | Place, b: Value | Place) -> Node | None:
    """Two different plain numbers, of which the condition chooses one; None where the joined value is to be plain.
    It is where only an option changes what was there before, which then stands for the program as it is run."""
    if not (isinstance(a, Node) and isinstance(b, Node) and a.is_const and b.is_const):
        return None
    if not is_plain(ex.graph, condition):
        return None
    if (a is before or b is before) and not _compares_sizes(ex, condition, a is before):
        return None
    return ex.graph.select(condition, a, b)


def _one_function(ex: Execution, condition: Node, a: Value | Place, b: Value | Place) -> Choice | None:
    """The kernels of which a condition on plain numbers chooses one for a later launch."""
    if not is_plain(ex.graph, condition) or not (_are_functions(a) and _are_functions(b)):
        return None
    assert not isinstance(a, PLACES) and not isinstance(b, PLACES)
    depth = 1 + max(side.depth if isinstance(side, Choice) else 0 for side in (a, b))
    return Choice(condition, a, b, depth) if depth <= MOST_KERNELS else None


def _are_functions(value: Value | Place) -> bool:
    if isinstance(value, Choice):
        return _are_functions(value.a) and _are_functions(value.b)
    return isinstance(value, FunctionValue)


def is_plain(graph: Graph, condition: Node) -> bool:
    """Whether unknown numbers of the host alone decide it, so that it can be evaluated at any time."""
    return not condition.bits & ~graph.uniform_bits


def _compares_sizes(ex: Execution, condition: Node, expected: bool) -> bool:
    """Whether a condition is about numbers that variables hold, and is as expected for generic ones."""
    symbols = _asked(ex, condition)
    names = [symbol.payload.name for symbol in symbols if isinstance(symbol.payload, Uniform)]
    if any(name.startswith("?") or name == "argc" for name in names) or any(s.kind == BOOL for s in symbols):
        return False
    return holds(ex.graph, condition, {}) == expected


def _better(
    ex: Execution, before: object, a: Value | Place, b: Value | Place, name: str, condition: Node | None = None
) -> Value | Place:
    """What stands for both of two values, in a variable or a part of one that is called so."""
    if isinstance(a, RecordValue) and isinstance(b, RecordValue) and a.fields.keys() == b.fields.keys():
        old = before.fields if isinstance(before, RecordValue) else {}
        fields = {
            k: _better(ex, old.get(k), v, b.fields[k], field_name(name, k), condition) for k, v in a.fields.items()
        }
        return RecordValue(a.type, fields)  # type: ignore[arg-type]
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        return _better_array(ex, before, a, b, name, condition)
    if not (_is_set(ex, a) and _is_set(ex, b)):
        return a if _is_set(ex, a) else b
    known_a, known_b = _known(ex, a), _known(ex, b)
    if known_a != known_b:
        if condition is not None and (distance := _distance(ex, condition, before, a, b)) is not None:
            return distance
        known, unknown = (a, b) if known_a else (b, a)
        if known is before and _is_placeholder(known, unknown):
            return unknown
        if _without_options(ex, condition) is (known is a):
            return _default(ex, known, name)
        if unknown is not before and _is_placeholder(known, unknown):
            return unknown
        if unknown is before and isinstance(before, Node):
            # `if (rows == 0) rows = 1` speaks of a special case.
            return _special_case(ex, condition, a, b) or _instead_of_both(ex, unknown)
        is_about = condition is not None and isinstance(unknown, Node) and condition.bits & unknown.bits
        chosen = _special_case(ex, condition, a, b) if is_about and known is not before else None
        return chosen or _default(ex, known, name)
    return _instead_of_both(ex, b if b is before else a)


def _instead_of_both(ex: Execution, value: Value | Place) -> Value | Place:
    """One of two values, of which it is noted that it need not be this one."""
    if isinstance(value, Node) and not value.is_const:
        ex.graph.one_of_two.add(value)
    return value


def _better_array(
    ex: Execution, before: object, a: ArrayValue, b: ArrayValue, name: str, condition: Node | None
) -> ArrayValue:
    old = before if isinstance(before, ArrayValue) else ArrayValue(a.type, {}, a.rest)
    elements: dict[int, Value] = {}
    for index in a.elements.keys() | b.elements.keys():
        was, mine, other = (array.elements.get(index, array.rest) for array in (old, a, b))
        part = mine if mine is other else _better(ex, was, mine, other, element_name(name, index), condition)
        elements[index] = part  # type: ignore[assignment]
    rest = a.rest if a.rest is b.rest else _better(ex, old.rest, a.rest, b.rest, f"{name}[...]")
    return ArrayValue(a.type, elements, rest)  # type: ignore[arg-type]


def _without_options(ex: Execution, condition: Node | None) -> bool | None:
    """What a condition is for a program that is run without any words, or with those that are known, where that decides
    it: in `if (argc > 1 && load(argv[1], &n)) … else n = 64;`."""
    words = (word for word in _asked(ex, condition) if word in ex.options.arguments and word.kind.code == "i")
    counts = {word: _words_given(ex, word) for word in words}
    if condition is None or not counts:
        return None
    decided = ex.graph.substitute(condition, counts)
    return bool(decided.value) if decided.is_const else None


def _words_given(ex: Execution, count: Node) -> Node:
    known = ex.graph.choice(count)
    return ex.graph.const(known.value, count.kind) if known.is_default else ex.graph.one


def _special_case(ex: Execution, condition: Node | None, a: Value | Place, b: Value | Place) -> Node | None:
    """`if (width < 256) threads = width; else threads = 256`: what is asked for decides which of the two it is."""
    if condition is None or not is_plain(ex.graph, condition) or not (isinstance(a, Node) and isinstance(b, Node)):
        return None
    return ex.graph.select(condition, a, b) if is_plain(ex.graph, a) and is_plain(ex.graph, b) else None


def _default(ex: Execution, value: Value | Place, name: str, source: str = "") -> Value | Place:
    """A number that is something else where an option says so; `source` is what says which one it is."""
    if ex.iterations or not isinstance(value, Node) or not value.is_const:
        return value
    is_size = value.kind.code in "iu" and value.value > 0
    return ex.graph.default(name, value.value, value.kind, source) if is_size else value


def note_defaults(
    ex: Execution, symbols: Iterable[ir.Symbol], before: Mapping[ir.Symbol, Value | Place] = MappingProxyType({})
) -> None:
    """The numbers of variables that were set since are others where options choose otherwise."""
    for symbol in symbols:
        value = ex.state.variables.get(symbol)
        if value is before.get(symbol) or not isinstance(value, Node):
            continue
        if value.is_const and value.kind.code in "iu":
            ex.state.variables[symbol] = ex.graph.default(symbol.name, value.value, value.kind)


def _is_placeholder(known: object, unknown: object) -> bool:
    """Whether a number is none that a program would run with, but what stands there until the number is read from
    somewhere: an integer of 0 or less. Nothing is said of options, which are off."""
    if not (isinstance(known, Node) and isinstance(unknown, Node)):
        return False
    return known.kind != BOOL and not known.kind.is_float and known.is_const and known.value <= 0


def _note_steps(ex: Execution, symbol: ir.Symbol, before: object, a: Value | Place, b: Value | Place) -> None:
    numbers = isinstance(a, Node) and isinstance(b, Node) and a.is_const and b.is_const
    if ex.iterations and numbers and (a is before or b is before):
        ex.chosen[symbol] = None


def _is_set(ex: Execution, value: object) -> bool:
    return not isinstance(value, Node) or value not in ex.memory.unset


def _known(ex: Execution, value: Value | Place) -> bool:
    if isinstance(value, PLACES):
        return True
    unknown = ex.graph.uniform_bits | ex.graph.opaque_bits
    nodes = list(nodes_of(value))
    return all(not n.bits & unknown for n in nodes)

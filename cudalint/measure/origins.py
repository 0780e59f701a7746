"""What values come from, by the tree: threads, blocks, memory, atomics. Variables are taken to have any of the values
that are ever assigned to them, also by what decides whether they are.

It says of a condition whether loaded data decides, and whether two threads may find different data; that one of the
loads gives a number that is known after all makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cudalint.execute.trace import Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import builtin
from cudalint.ir.kept import kept
from cudalint.ir.walk import STEPS, children, nodes_in, root, without_casts
from cudalint.measure.ways import Guard, Ways
from cudalint.regexes import regex

Source = tuple[Any, Stack]
"""A node that reads memory, and the calls that lead to it."""
_ATOMIC = ("atomic", "nv-atomic", "atomic-method", "fetch")
_EXCHANGES = frozenset({
    "shuffle", "masked-shuffle", "group-shuffle", "unmasked-vote", "masked-vote", "group-vote", "group-reduce",
    "match",
})  # fmt: skip
_THREADS = frozenset({"threadIdx", "laneid"})
_RANKS = frozenset({"thread_rank", "thread_index", "meta_group_rank"})


class Origins(NamedTuple):
    """What a value comes from."""

    by_thread: bool = False
    """Threads of a block may have different ones since they are different threads, or look in different places."""
    by_block: bool = False
    loads: frozenset[Source] = frozenset()
    atomics: frozenset[Source] = frozenset()
    is_unknown: bool = False
    """Something goes into it that is not followed."""
    is_unread: bool = False
    """Of that, something else than functions of which only the arguments are known, and that are taken to give the same
    for the same ones."""
    numbers: frozenset[str] = frozenset()
    """Parameters of the kernel, by name."""
    itself: frozenset[str] = frozenset()
    """What distinguishes threads and blocks, as far as it goes into the value and not only into where it is looked up:
    `threadIdx.x`, or `thread`."""

    @property
    def is_data(self) -> bool:
        return bool(self.loads or self.atomics) or self.is_unknown

    @property
    def is_common(self) -> bool:
        """Whether all threads of all blocks have the same one, whatever the data."""
        return not (self.is_data or self.by_thread or self.by_block)

    @property
    def may_vary(self) -> bool:
        """Whether threads of one block may have different ones."""
        return self.by_thread or bool(self.atomics) or self.is_unknown


NOTHING = Origins()
_UNKNOWN = Origins(is_unknown=True, is_unread=True)
_OF_A_CALL = Origins(is_unknown=True)


def together(found: Iterable[Origins]) -> Origins:
    own = list({id(each): each for each in found if each is not NOTHING}.values())
    if len(own) < 2:
        return own[0] if own else NOTHING
    return Origins(
        any(each.by_thread for each in own), any(each.by_block for each in own),
        frozenset().union(*(each.loads for each in own)), frozenset().union(*(each.atomics for each in own)),
        any(each.is_unknown for each in own), any(each.is_unread for each in own),
        frozenset().union(*(each.numbers for each in own)), frozenset().union(*(each.itself for each in own)),
    )  # fmt: skip


class _Round:
    """Of looking at variables: what is found in it of expressions, and so far of variables."""

    def __init__(self, variables: dict[tuple[ir.Symbol, Stack], Origins]) -> None:
        self.variables = variables
        self.known: dict[tuple[int, Stack], Origins] = {}
        self.begun: set[tuple[ir.Symbol, Stack]] = set()
        self.is_new = False


class OriginsOf:
    """Of the values of a kernel and of what it calls.

    Variables that are assigned to each other are looked at in rounds: in each of them what the last one found of a
    variable stands for it while its own definitions are looked at, until a round finds nothing new.
    """

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self._known: dict[tuple[int, Stack], Origins] = {}
        self._variables: dict[tuple[ir.Symbol, Stack], Origins] = {}
        self._round: _Round | None = None

    def of(self, expression: Any, stack: Stack) -> Origins:
        key = id(expression), stack
        known = self._known if self._round is None else self._round.known
        found = self._known.get(key)
        if found is None:
            found = known.get(key)
        if found is None:
            found = known[key] = self._of(expression, stack)
        return found

    def _of(self, e: Any, stack: Stack) -> Origins:
        match e:
            case ir.Constant() | ir.FunctionName():
                return NOTHING
            case ir.Name():
                return self._name(e, stack)
            case ir.Call():
                return self._call(e, stack)
            case ir.Index():
                return self._loaded(e, self._place(e, stack), stack)
            case ir.Unary() if e.op == "*":
                return self._loaded(e, self._place(e, stack), stack)
            case ir.Unary(op="&"):
                return self._place(e.operand, stack)
            case ir.Member():
                known = self._builtin(e)
                if known is not None:
                    return known
                return self._loaded(e, self._place(e, stack), stack) if _is_memory(e) else self.of(e.base, stack)
            case ir.UnknownExpr() | ir.Launch() | ir.New():
                return _UNKNOWN
            case _:
                return together(self.of(child, stack) for child in children(e) if isinstance(child, _EXPRESSIONS))

    def _place(self, e: Any, stack: Stack) -> Origins:
        """What the address of something in memory comes from."""
        match e:
            case ir.Index():
                return together((self.of(e.base, stack), self.of(e.index, stack)))
            case ir.Unary(op="*"):
                return self.of(e.operand, stack)
            case ir.Member():
                return self.of(e.base, stack) if e.arrow else self._place(e.base, stack)
            case ir.Name() if _is_memory(e):
                return NOTHING
            case _:
                return self.of(e, stack)

    @staticmethod
    def _builtin(e: ir.Member) -> Origins | None:
        base = e.base
        if not isinstance(base, ir.Name) or base.symbol.storage != "builtin":
            return None
        by_thread, by_block = base.symbol.name in _THREADS, base.symbol.name == "blockIdx"
        itself = frozenset({f"{base.symbol.name}.{e.field}"} if by_thread or by_block else ())
        return Origins(by_thread, by_block, itself=itself)

    @staticmethod
    def _loaded(e: Any, place: Origins, stack: Stack) -> Origins:
        if isinstance(e.type, ir.ArrayType) or is_own(e):
            return place
        return place._replace(loads=place.loads | {(e, stack)}, itself=frozenset())

    def _name(self, e: ir.Name, stack: Stack) -> Origins:
        symbol = e.symbol
        if symbol.storage == "builtin":
            by_thread, by_block = symbol.name in _THREADS, symbol.name == "blockIdx"
            is_placed = symbol.name in ("threadIdx", "blockIdx")
            names = {f"{symbol.name}.{axis}" for axis in "xyz"} if is_placed else {"thread"}
            return Origins(by_thread, by_block, itself=frozenset(names if by_thread or by_block else ()))
        if symbol.storage in ("shared", "dynamic-shared", "device", "static") and not symbol.is_const:
            is_value = not isinstance(symbol.type, ir.ArrayType)
            return Origins(loads=frozenset({(e, stack)})) if is_value else NOTHING
        if symbol.storage not in ("local", "parameter"):
            return NOTHING
        return self.of_variable(symbol, stack)

    def of_variable(self, symbol: ir.Symbol, stack: Stack) -> Origins:
        """What a local variable may have."""
        key = symbol, stack
        found = self._variables.get(key)
        if found is not None:
            return found
        now = self._round
        if now is None:
            return self._in_rounds(symbol, stack)
        if key not in now.begun:
            now.begun.add(key)
            found = together(self._assigned(symbol, stack))
            now.is_new |= found != now.variables.get(key, NOTHING)
            now.variables[key] = found
        return now.variables.get(key, NOTHING)

    def _in_rounds(self, symbol: ir.Symbol, stack: Stack) -> Origins:
        variables: dict[tuple[ir.Symbol, Stack], Origins] = {}
        while True:
            self._round = now = _Round(variables)
            try:
                self.of_variable(symbol, stack)
            finally:
                self._round = None
            if not now.is_new:
                self._known |= now.known
                self._variables |= variables
                return variables[symbol, stack]

    def _assigned(self, symbol: ir.Symbol, stack: Stack) -> Iterator[Origins]:
        level: Stack | None = stack
        while level is not None:
            function = self.ways.function_of(level)
            if symbol in function.parameters and level:
                argument = argument_of(level[0], function.parameters.index(symbol))
                yield self.of(argument, level[1:]) if argument is not None else NOTHING
            if symbol is function.this and level and isinstance(level[0], ir.Call) and level[0].receiver is not None:
                yield self.of(level[0].receiver, level[1:])
            own = definitions(function).get(symbol, ())
            yield from (self.of(value, level) for value, _ in own if value is not None)
            for guard in self._deciding([node for _, node in own], level):
                yield self.of(guard.condition, level)._replace(numbers=frozenset())
            if symbol in function.parameters and not level:
                yield Origins(numbers=frozenset({symbol.name}))
            if own or symbol in function.parameters:
                return
            if any(isinstance(node, st.Declare) and node.symbol is symbol for node in nodes_in(function)):
                yield _UNKNOWN
                return
            # The variable of an enclosing function, which a lambda captures.
            level = level[1:] if level else None

    def values_of(self, symbol: ir.Symbol, stack: Stack) -> list[tuple[Any, Stack]]:
        """The expressions that a variable has the values of, each with the calls that lead there."""
        function = self.ways.function_of(stack)
        if symbol in function.parameters and stack:
            argument = argument_of(stack[0], function.parameters.index(symbol))
            return [(argument, stack[1:])] if argument is not None else []
        return [(value, stack) for value, _ in definitions(function).get(symbol, ()) if value is not None]

    def _deciding(self, nodes: Iterable[Any], level: Stack) -> Iterator[Guard]:
        """The conditions of one function by which it is decided at which of some nodes threads come by: those of some
        that are not conditions of all."""
        chains = [[guard for guard in self.ways.guards_of(node, level) if guard.stack == level] for node in nodes]
        common = set(chains[0]).intersection(*chains[1:]) if chains else set()
        return (guard for chain in chains for guard in chain if guard not in common)

    def _call(self, e: ir.Call, stack: Stack) -> Origins:
        known = builtin(e.name.split("::")[-1])
        arguments = [self.of(each, stack) for each in (e.receiver, *e.arguments) if each is not None]
        if is_atomic(e) and not _adds_nothing(e):
            return together(arguments)._replace(atomics=frozenset({(e, stack)}))
        if e.name.split("::")[-1] in _RANKS:
            return Origins(by_thread=True, itself=frozenset({"thread"}))
        if known.effect in ("load", "random") or is_atomic(e):
            return together(arguments)._replace(loads=frozenset({(e, stack)}), itself=frozenset())
        body = e.function.load() if e.function is not None and not e.is_virtual else None
        if body is not None and len(stack) < _DEEPEST and e not in stack:
            inner = (e, *stack)
            results = [node for node in nodes_in(body) if isinstance(node, st.Return) and node.value is not None]
            found = [self.of(result.value, inner) for result in results]
            if len(results) > 1:
                found += [self.of(guard.condition, inner) for guard in self._deciding(results, inner)]
            return together((*found, *(arguments if e.function and not e.function.is_user else ())))
        if known.effect == "barrier":
            return _of_block(together(arguments))
        if known.effect in _EXCHANGES:
            return together((*arguments, Origins(itself=frozenset({"thread"}))))
        is_followed = known.effect or not (e.function is None or e.function.is_user)
        return together(arguments if is_followed else (*arguments, _OF_A_CALL if e.function else _UNKNOWN))


_DEEPEST = 12
_EXPRESSIONS = (
    ir.Constant, ir.Name, ir.Member, ir.Index, ir.Unary, ir.Binary, ir.Assign, ir.Conditional, ir.Cast, ir.Call,
    ir.Construct, ir.InitList, ir.StatementExpr, ir.Lambda, ir.FunctionName, ir.UnknownExpr,
)  # fmt: skip


def _of_block(found: Origins) -> Origins:
    """What all threads of a block have in common that vote on a value: `__syncthreads_or(value)`."""
    own = frozenset(each for each in found.itself if each.startswith("blockIdx"))
    loads = found.loads | found.atomics
    return found._replace(by_thread=False, by_block=True, loads=loads, atomics=frozenset(), itself=own)


def is_atomic(e: Any) -> bool:
    """Whether a call is an atomic update of memory."""
    if not isinstance(e, ir.Call):
        return False
    name = e.name.split("::")[-1]
    return builtin(name).effect in _ATOMIC or name.startswith(("atomic", "fetch_", "compare_exchange"))


def _adds_nothing(e: ir.Call) -> bool:
    """Whether an atomic only reads: `atomicAdd(&x, 0)`."""
    added = without_casts(e.arguments[1]) if len(e.arguments) > 1 else None
    name = e.name.split("::")[-1]
    return "Add" in name and isinstance(added, ir.Constant) and not added.value


def _is_memory(e: Any) -> bool:
    """Whether it is a part of something that others see, and no part of a value."""
    while isinstance(e, ir.Member) and not e.arrow:
        e = e.base
    if isinstance(e, (ir.Index, ir.Member)) or (isinstance(e, ir.Unary) and e.op == "*"):
        return True
    return isinstance(e, ir.Name) and e.symbol.storage in ("shared", "dynamic-shared", "device")


def is_own(e: Any) -> bool:
    """Whether it is an element of an array that a thread has for itself."""
    base = e
    while isinstance(base, (ir.Index, ir.Member, ir.Cast)):
        if isinstance(base, ir.Member) and base.arrow:
            return False
        if isinstance(base, ir.Index) and not _is_array(base.base):
            return False
        base = base.base if not isinstance(base, ir.Cast) else base.operand
    if not isinstance(base, ir.Name):
        return False
    is_local = base.symbol.storage in ("local", "parameter", "constant", "template", "global")
    return is_local and (base is e or not isinstance(ir.referent(base.symbol.type), ir.PointerType))


def _is_array(base: ir.Expr) -> bool:
    """Whether it is an array, and not a pointer that leads somewhere."""
    return isinstance(ir.referent(without_casts(base).type), ir.ArrayType)


def argument_of(call: ir.Call | ir.Construct, at: int) -> ir.Expr | None:
    return call.arguments[at] if at < len(call.arguments) else None


_BEYOND_NUMBERS = regex(
    r"\b(ld|st|atom|red|redux|shfl|vote|match|bar|barrier|mbarrier|cp|wmma|mma|wgmma|ldmatrix|stmatrix|activemask|elect)"
    r"\b|%%?[a-z]"
)
"""In inline PTX: memory, other lanes, and registers that differ between threads."""


@kept(64)
def definitions(function: ir.Function) -> dict[ir.Symbol, list[tuple[Any, Any]]]:
    """The values that variables are given, each with the node that does it."""
    found: dict[ir.Symbol, list[tuple[Any, Any]]] = {}

    def note(symbol: ir.Symbol | None, value: Any, node: Any) -> None:
        if symbol is not None:
            found.setdefault(symbol, []).append((value, node))

    for node in nodes_in(function):
        match node:
            case st.Declare():
                if node.initializer is not None:
                    note(node.symbol, node.initializer, node)
            case st.RangeFor():
                note(node.symbol, node.range, node)
            case ir.Assign():
                if is_own(node.target):
                    note(root(node.target), node.value, node)
            case ir.Unary() if node.op in STEPS:
                if is_own(node.operand):
                    note(root(node.operand), None, node)
            case st.Asm() if not _BEYOND_NUMBERS.search(node.text):
                # Nothing says which of them it sets.
                for own in node.operands:
                    for other in node.operands:
                        if other is not own and is_own(own):
                            note(root(own), other, node)
            case ir.Call():
                outputs = node.function.outputs() if node.function is not None else frozenset()
                for at, argument in enumerate(node.arguments):
                    is_address = isinstance(argument, ir.Unary) and argument.op == "&"
                    if at in outputs or is_address:
                        for other in node.arguments:
                            if other is not argument:
                                note(root(argument), other, node)
            case _:
                pass
    return found

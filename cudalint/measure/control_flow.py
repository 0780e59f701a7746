"""The control-flow graph of a function, with the places where a statement could be inserted.

Every statement has two nodes: a gate in front of it, which all paths to it pass, and the statement itself (of a loop
its condition). The body of a loop has a gate at its end. A gate that dominates a statement as seen from another one
lies on every path between the two: a barrier there orders them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st


class Gate(Struct, frozen=True, eq=False):
    """A place for a new statement."""

    where: Literal["before", "end"]
    statement: st.Stmt
    """The statement that it stands before, or the loop at the end of whose body it stands."""
    depth: int
    """Loops around it."""
    branches: int = 0
    """Branches around it."""
    stretch: int = 0
    """Gates of one stretch are passed by the same threads: no branch, loop or exit lies between."""

    @property
    def span(self) -> ir.Span:
        return self.statement.span


class Code(Struct, frozen=True, eq=False):
    """What is executed at a node."""

    span: ir.Span


Node = Gate | Code


class _Loop(Struct, eq=False):
    """Where `break` and `continue` lead."""

    after: list[Node]
    again: list[Node]


class ControlFlow:
    """The graph of one function's body; calls are parts of the statement that they are in."""

    def __init__(self, function: ir.Function) -> None:
        import networkx as nx

        self.graph: Any = nx.DiGraph()
        self.entry = Code(function.span)
        self.exit = Code(function.span)
        self.graph.add_nodes_from((self.entry, self.exit))
        self._loops: list[_Loop] = []
        self._depth = 0
        self._branches = 0
        self._stretch = 0
        self._stretches = 0
        self._exits = 0
        self._chains: dict[tuple[Node, Node], tuple[Gate, ...]] = {}
        self._join(self._add(function.body, [self.entry]), self.exit)
        self._basic_blocks: BasicBlocks | None = None
        self._starts: Counter[tuple[object, ...]] | None = None
        self._on_line: dict[tuple[str, int], list[Code]] | None = None

    def between(self, start: Code | None, end: Code | None) -> tuple[Gate, ...]:
        """The gates on every path from one node to another, in the order in which they are passed. Both may be the
        same: then these are the paths around a loop."""
        if start is None or end is None:
            return ()
        if (start, end) not in self._chains:
            self._chains[start, end] = tuple(self._chain(start, end))
        return self._chains[start, end]

    def _chain(self, start: Code, end: Code) -> list[Gate]:
        if self._basic_blocks is None:
            self._basic_blocks = BasicBlocks(self.graph)
        return [node for node in self._basic_blocks.between(start, end) if isinstance(node, Gate)]

    def is_plain(self, gate: Gate) -> bool:
        """Whether the statement of a gate has its place for itself: those that one macro makes have it in common, and
        the variables of one declaration."""
        if self._starts is None:
            self._starts = Counter(n.span[:3] for n in self.graph if isinstance(n, Gate) and n.where == "before")
        return self._starts[gate.span[:3]] == 1

    def at(self, span: ir.Span) -> Code | None:
        """The innermost node whose code contains a place."""
        if self._on_line is None:
            self._on_line = {}
            for node in self.graph:
                if isinstance(node, Code) and node is not self.exit and node is not self.entry:
                    for line in range(node.span.line, node.span.end_line + 1):
                        self._on_line.setdefault((node.span.path, line), []).append(node)
        inside = [n for n in self._on_line.get((span.path, span.line), ()) if _contains(n.span, span)]
        return min(inside, key=lambda n: _extent(n.span), default=None)

    # building

    def _join(self, ends: Sequence[Node], node: Node) -> None:
        self.graph.add_node(node)
        self.graph.add_edges_from((end, node) for end in ends)

    def _code(self, part: st.Stmt | ir.Expr, ends: Sequence[Node]) -> list[Node]:
        node = Code(part.span)
        self._join(ends, node)
        return [node]

    def _add(self, statement: st.Stmt, ends: list[Node]) -> list[Node]:
        """Adds a statement behind some nodes; gives back those that what comes next stands behind."""
        if isinstance(statement, st.Block):
            for inner in statement.statements:
                ends = self._add(inner, ends)
            return ends
        gate = Gate("before", statement, self._depth, self._branches, self._stretch)
        self._join(ends, gate)
        exits = self._exits
        ends = self._behind_gate(statement, [gate])
        if self._exits != exits:
            self._begin_stretch()
        return ends

    def _begin_stretch(self) -> None:
        self._stretches += 1
        self._stretch = self._stretches

    def _inside(self, statement: st.Stmt, ends: list[Node]) -> list[Node]:
        """Adds what a branch leads to, which only some threads may execute."""
        outer = self._stretch
        self._begin_stretch()
        self._branches += 1
        ends = self._add(statement, ends)
        self._branches -= 1
        self._stretch = outer
        return ends

    def _behind_gate(self, statement: st.Stmt, ends: list[Node]) -> list[Node]:
        match statement:
            case st.If():
                tested = self._code(statement.condition, ends)
                then = self._inside(statement.then, tested)
                return then + (self._inside(statement.otherwise, tested) if statement.otherwise else tested)
            case st.For() | st.While() | st.RangeFor():
                return self._loop(statement, ends)
            case st.DoWhile():
                return self._do(statement, ends)
            case st.Switch():
                return self._switch(statement, ends)
            case st.Return():
                self._exits += 1
                self._join(self._code(statement, ends), self.exit)
                return []
            case st.Break() | st.Continue():
                self._exits += 1
                self._leave(statement, ends)
                return []
            case st.UnknownStmt():
                for inner in statement.children:
                    ends = self._add(inner, ends)
                return ends
            case _:
                return self._code(statement, ends)

    def _leave(self, statement: st.Break | st.Continue, ends: list[Node]) -> None:
        if not self._loops:
            self._join(ends, self.exit)
            return
        loop = self._loops[-1]
        (loop.after if isinstance(statement, st.Break) else loop.again).extend(ends)

    def _loop(self, statement: st.For | st.While | st.RangeFor, ends: list[Node]) -> list[Node]:
        if isinstance(statement, st.For) and statement.init is not None:
            ends = self._code(statement.init, ends)
        head = Code(_head(statement))
        self._join(ends, head)
        last = self._body(statement, [head])
        loop = self._loops.pop()
        behind = [*last, *loop.again]
        if isinstance(statement, st.For) and statement.increment is not None:
            behind = self._code(statement.increment, behind)
        self._join(behind, head)
        endless = isinstance(statement, st.For) and statement.condition is None
        return [*loop.after, *([] if endless else [head])]

    def _do(self, statement: st.DoWhile, ends: list[Node]) -> list[Node]:
        start = Code(statement.span)
        self._join(ends, start)
        last = self._body(statement, [start])
        loop = self._loops.pop()
        tested = self._code(statement.condition, [*last, *loop.again])
        self._join(tested, start)
        return [*loop.after, *tested]

    def _body(self, statement: st.For | st.While | st.RangeFor | st.DoWhile, ends: list[Node]) -> list[Node]:
        self._loops.append(_Loop([], []))
        self._depth += 1
        outer = self._stretch
        self._begin_stretch()
        last = self._add(statement.body, ends)
        gate = Gate("end", statement, self._depth, self._branches, self._stretch)
        self._stretch = outer
        self._depth -= 1
        self._join(last, gate)
        return [gate]

    def _switch(self, statement: st.Switch, ends: list[Node]) -> list[Node]:
        tested = self._code(statement.condition, ends)
        self._loops.append(_Loop([], self._loops[-1].again if self._loops else []))
        falling: list[Node] = []
        for case in statement.cases:
            falling = [*falling, *tested]
            falling = self._inside(st.Block(case.body, statement.span), falling)
        loop = self._loops.pop()
        default = any(case.is_default for case in statement.cases)
        return [*loop.after, *falling, *([] if default else tested)]


class BasicBlocks:
    """The basic blocks of a graph, nodes that are always passed one after the other: most code has no branch, and what
    lies between two places of one block takes no look at the rest."""

    def __init__(self, graph: Any) -> None:
        import networkx as nx

        self._blocks: list[list[Node]] = []
        self._place: dict[Node, tuple[int, int]] = {}
        for node in graph:
            if not _goes_on(graph, node):
                self._add(graph, node)
        # A loop without an entrance has no first node.
        for node in graph:
            if node not in self._place:
                self._add(graph, node)
        self._graph: Any = nx.DiGraph()
        self._graph.add_nodes_from(range(len(self._blocks)))
        for number, block in enumerate(self._blocks):
            self._graph.add_edges_from((number, self._place[after][0]) for after in graph.successors(block[-1]))
        self._dominators: dict[int, Mapping[object, object]] = {}

    def _add(self, graph: Any, node: Node) -> None:
        block: list[Node] = []
        while node not in self._place:
            self._place[node] = len(self._blocks), len(block)
            block.append(node)
            following = list(graph.successors(node))
            if len(following) != 1 or not _goes_on(graph, following[0]):
                break
            node = following[0]
        self._blocks.append(block)

    def between(self, start: Node, end: Node) -> list[Node]:
        """The nodes on every path from one to another, without the two, in the order in which they are passed; none
        where no path leads there."""
        (first, after), (last, before) = self._place[start], self._place[end]
        if first == last and after < before:
            return self._blocks[first][after + 1 : before]
        dominators = self._behind(first)
        if last not in dominators:
            return []
        chain: list[Node] = self._blocks[last][:before][::-1]
        number = dominators[last]
        while isinstance(number, int):
            chain += reversed(self._blocks[number])
            number = dominators[number] if dominators[number] is not number else None
        chain += reversed(self._blocks[first][after + 1 :])
        return chain[::-1]

    def _behind(self, number: int) -> Mapping[object, object]:
        """The immediate dominators of blocks on the way from the end of one."""
        import networkx as nx

        if number not in self._dominators:
            root = object()
            graph = self._graph.copy()
            graph.add_edges_from((root, after) for after in self._graph.successors(number))
            graph.add_node(root)
            self._dominators[number] = nx.immediate_dominators(graph, root)
        return self._dominators[number]


def _goes_on(graph: Any, node: Node) -> bool:
    """Whether a node has one before it that leads nowhere else."""
    before = list(graph.predecessors(node))
    return len(before) == 1 and graph.out_degree(before[0]) == 1


def _head(statement: st.For | st.While | st.RangeFor) -> ir.Span:
    if isinstance(statement, st.RangeFor):
        return statement.range.span
    return statement.condition.span if statement.condition is not None else statement.span


def _contains(outer: ir.Span, inner: ir.Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return outer.path == inner.path and starts and (inner.line, inner.column) < (outer.end_line, outer.end_column)


def _extent(span: ir.Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column


# --- barriers inserted ---------------------------------------------------------------------------------


BarrierCall = Literal["__syncthreads", "__syncwarp"]

_VOID = ir.Scalar("void", 0, "void")


def with_barriers(function: ir.Function, barriers: Mapping[Gate, BarrierCall]) -> ir.Function:
    """The function with barriers inserted at gates."""
    changed = replace(function)
    changed.body = _Insertion({gate: _barrier(gate, call) for gate, call in barriers.items()}).into(function.body)
    return changed


def _barrier(gate: Gate, call: BarrierCall) -> st.Stmt:
    span = gate.span._replace(end_line=gate.span.line, end_column=gate.span.column)
    return st.ExprStmt(ir.Call(call, None, None, None, (), _VOID, span), span)


class _Insertion:
    def __init__(self, barriers: Mapping[Gate, st.Stmt]) -> None:
        self._before = {id(gate.statement): barrier for gate, barrier in barriers.items() if gate.where == "before"}
        self._at_end = {id(gate.statement): barrier for gate, barrier in barriers.items() if gate.where == "end"}

    def into(self, statement: st.Stmt) -> st.Stmt:
        changed = self._inside(statement)
        last = self._at_end.get(id(statement))
        if last is not None:
            assert isinstance(changed, (st.For, st.While, st.RangeFor, st.DoWhile))
            changed = replace(changed, body=st.Block((changed.body, last), changed.body.span))
        first = self._before.get(id(statement))
        return changed if first is None else st.Block((first, changed), statement.span)

    def _inside(self, statement: st.Stmt) -> st.Stmt:
        match statement:
            case st.Block():
                return replace(statement, statements=self._all(statement.statements))
            case st.If():
                otherwise = self.into(statement.otherwise) if statement.otherwise else None
                return replace(statement, then=self.into(statement.then), otherwise=otherwise)
            case st.For() | st.While() | st.RangeFor() | st.DoWhile():
                return replace(statement, body=self.into(statement.body))
            case st.Switch():
                cases = tuple(replace(case, body=self._all(case.body)) for case in statement.cases)
                return replace(statement, cases=cases)
            case st.UnknownStmt():
                return replace(statement, children=self._all(statement.children))
            case _:
                return statement

    def _all(self, statements: tuple[st.Stmt, ...]) -> tuple[st.Stmt, ...]:
        """A declaration stays in the block whose names it declares."""
        found: list[st.Stmt] = []
        for statement in statements:
            changed = self.into(statement)
            is_new = id(statement) in self._before
            found += changed.statements if is_new and isinstance(changed, st.Block) else (changed,)
        return tuple(found)

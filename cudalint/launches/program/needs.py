"""What a kernel's code needs of the GPU: inline PTX and functions that not every architecture has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from cudalint.execute.ptx_text import instructions
from cudalint.facts.needs import Need
from cudalint.hardware.features import CLUSTERS, strictest, support_of_instruction
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import builtin
from cudalint.ir.walk import nodes_in, walk
from cudalint.launches.program.left_out import ConditionalCode

_MOST_FUNCTIONS = 2_000
"""Functions that are looked through for one kernel."""
_PARTS_NAMED = 4
"""Of an instruction's name, where the message needs but to say which one it is."""
_WITH_FUNCTIONS = frozenset({ir.Call, ir.Construct, ir.Lambda, ir.FunctionName})


class NeedsOfCode(Struct, eq=False):
    """The needs of the functions of one file, each of which is looked through once."""

    architecture: ConditionalCode = field(default_factory=ConditionalCode)
    """What the file was parsed for."""
    _own: dict[str, tuple[Need | None, tuple[ir.FunctionRef, ...]]] = field(default_factory=dict)
    """By key: what a function itself needs, and the user's functions that it names."""

    def of(self, function: ir.Function, in_clusters: Sequence[ir.Span] = ()) -> Need | None:
        """The strictest need of a kernel, its launches in clusters and the functions that it may call. Code that is
        left out for the architecture, or by `if constexpr`, is none of it."""
        need, waiting = self._own_of(function)
        found = [need]
        found += [Need("clusterDim", CLUSTERS, span.path, span.line) for span in in_clusters]
        seen: set[str] = set()
        pending = list(waiting)
        while pending and len(seen) < _MOST_FUNCTIONS:
            ref = pending.pop()
            if ref.key in seen:
                continue
            seen.add(ref.key)
            if ref.key not in self._own:
                called = ref.load()
                self._own[ref.key] = self._own_of(called) if called is not None else (None, ())
            need, waiting = self._own[ref.key]
            found.append(need)
            pending += waiting
        return strictest(need for need in found if need is not None)

    def _own_of(self, function: ir.Function) -> tuple[Need | None, tuple[ir.FunctionRef, ...]]:
        """What a function itself needs, and the user's functions that it names."""
        need, waiting = _looked_through(function)
        parsed_for = self.architecture.need_of(function)
        return strictest(each for each in (need, parsed_for) if each is not None), waiting


def _looked_through(function: ir.Function) -> tuple[Need | None, tuple[ir.FunctionRef, ...]]:
    needs: list[Need] = []
    if function.in_clusters:
        needs.append(Need("__cluster_dims__", CLUSTERS, function.span.path, function.span.line))
    called: dict[str, ir.FunctionRef] = {}
    initializers = (node for _, initializer in function.member_initializers for node in walk(initializer))
    for node in (*nodes_in(function), *initializers):
        if type(node) is st.Asm:
            needs += _of_assembly(node)
        elif type(node) in _WITH_FUNCTIONS:
            for ref in functions_of(node):
                if ref.is_user:
                    called[ref.key] = ref
                elif (support := builtin(ref.name).support) is not None:
                    needs.append(Need(f"{ref.name}()", support, node.span.path, node.span.line))
    return strictest(needs), tuple(called.values())


def _of_assembly(statement: st.Asm) -> Iterator[Need]:
    for instruction in instructions(statement.text):
        support = support_of_instruction(instruction.name)
        if support is not None:
            name = ".".join(instruction.parts[:_PARTS_NAMED])
            yield Need(name, support, statement.span.path, statement.span.line)


def functions_of(node: Any) -> Iterator[ir.FunctionRef]:
    """The device functions that a node with functions names."""
    ref = node.constructor if type(node) is ir.Construct else node.function
    # A kernel that this one launches has needs of its own.
    if ref is not None and ref.kind == "device":
        yield ref

"""Integers that a program has unless an option says otherwise, and that the figure of an access rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudalint.execute.trace import AccessEvent
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.kept import kept
from cudalint.measure.executed import Executed
from cudalint.worlds.reach import Region, regions_of
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import text_of

_MOST_KEPT = 32


def defaults_behind(event: AccessEvent, executed: Executed) -> tuple[str, ...]:
    """Those that go into the address of an access, or into conditions on the way to it, as they are reported:
    `n == 1024 (Makefile:12)`. By the text alone: nobody tries what other numbers would change."""
    stated = executed.batch.defaults
    if not stated:
        return ()
    sources = dict.fromkeys(_sources(event, executed.function))
    return tuple(dict.fromkeys(text for parameter in sources for text in stated.get(parameter, ())))


def _sources(event: AccessEvent, function: ir.Function) -> Iterator[Parameter]:
    origins = text_of(function).uses.origins
    node: Any = event.node
    if isinstance(node, ir.Call):
        places = [node.receiver, *node.arguments[:1]]
        yield from _sorted(*(origins.of(place).sources for place in places if place is not None))
    elif not isinstance(node, st.Stmt):
        yield from _sorted(origins.moving(node).sources)
    on_the_way = {node, *event.stack}
    for region in _regions(function):
        if not on_the_way.isdisjoint(region.nodes):
            yield from _sorted(region.deciders)


def _sorted(*sources: frozenset[Parameter]) -> list[Parameter]:
    return sorted({parameter for own in sources for parameter in own}, key=lambda parameter: parameter.name)


@kept(_MOST_KEPT)
def _regions(function: ir.Function) -> tuple[Region, ...]:
    return tuple(regions_of(text_of(function).uses))

"""Structures of which the host code's execution knows nothing are unknown part by part."""

from __future__ import annotations

from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import parse_file
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.memory import Memory
from cudalint.host.executor.values import Pointer, RecordValue
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Reason
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import kernel_arguments

_SOURCE = """
    struct View { float *data; int pitch; };
    struct Both { View from, to; };
    __global__ void k(View view, Both both) { view.data[threadIdx.x] = both.from.data[threadIdx.x]; }
"""


def test_a_structure_that_could_not_be_followed() -> None:
    function = Listing(parse_file("k.cu", ParseOptions(), _SOURCE.encode())).unit().kernels[0].load()
    assert isinstance(function, ir.Function)
    graph = Graph()
    lost = graph.opaque(Reason("of an expression that clang could not resolve"), (), I8)
    view, both = function.parameters
    assert isinstance(both.type, ir.RecordType)
    known = RecordValue(both.type, {"from": lost, "to": lost})
    arguments = kernel_arguments(function, [lost, known], graph, Generics(graph))
    found = arguments[view], arguments[both]
    assert isinstance(found[0], RecordValue) and isinstance(found[0].fields["data"], Pointer)
    assert isinstance(found[1], RecordValue)
    inner = found[1].fields["from"]
    assert isinstance(inner, RecordValue) and isinstance(inner.fields["data"], Pointer)


def test_the_fields_of_what_is_unknown_are_different_numbers() -> None:
    """The rows of a matrix are not as many as its columns only because neither is known."""
    graph, number = Graph(), ir.Scalar("int", 4, "int")
    memory = Memory(graph, Generics(graph))
    lost = graph.opaque(Reason("of an expression that clang could not resolve"), (), I8)
    rows, columns, again = (memory.smear(lost, number, field=name) for name in ("rows", "columns", "rows"))
    assert rows is again is not columns

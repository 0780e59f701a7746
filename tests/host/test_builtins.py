"""The table of built-in functions, and the handlers that the interpreter has for their effects."""

from __future__ import annotations

from cudalint.host.executor import library as host
from cudalint.host.executor.intrinsics import HANDLERS, LIBRARY, MAKERS
from cudalint.ir.builtins import BUILTINS, DIVISIONS, builtin, machine_code, named


def test_every_handler_is_the_effect_of_some_function() -> None:
    assert {*HANDLERS, *MAKERS} < {known.effect for known in BUILTINS.values()} - {""}
    assert set(host._HANDLERS) == {known.host for known in BUILTINS.values()} - {"", "unknown"}
    assert not {*HANDLERS} & {*MAKERS}


def test_host_code_knows_what_kernels_do_but_for_memory_and_threads() -> None:
    assert {"fminf", "__popc", "__float2int_rd"} <= LIBRARY.keys() & host.HOST_LIBRARY.keys()
    assert not {"atomicAdd", "__syncthreads", "__ldg"} & host.HOST_LIBRARY.keys()


def test_machine_code_depends_on_the_type_of_overloaded_functions_alone() -> None:
    assert machine_code("sqrt", 4) == machine_code("sqrtf", 4) == machine_code("sqrtf", 8) != machine_code("sqrt", 8)
    assert machine_code("__fdividef", 4) == machine_code("__fdividef", 0)
    # A square of doubles is one multiplication; of floats it is the routine all the same.
    assert machine_code("pow", 8, 2).fp64 == 1
    assert machine_code("powf", 4, 2) == machine_code("pow", 4, 2) == machine_code("powf", 4)
    assert machine_code("__fdiv_rn", 4) == DIVISIONS["float", "number"]


def test_nothing_is_known_of_other_functions() -> None:
    assert builtin("unheard_of") == builtin("")
    assert machine_code("make_float4", 0).instructions == 0 < machine_code("unheard_of", 0).instructions
    assert "exit" in named("end-of-program")

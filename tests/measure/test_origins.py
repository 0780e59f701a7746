"""What values come from, of variables that are assigned to each other."""

from __future__ import annotations

from executing import kernel_in

from cudalint.ir import nodes as ir
from cudalint.ir.walk import nodes_in
from cudalint.measure.origins import Origins, OriginsOf
from cudalint.measure.ways import Ways

_MANY = 40


def _stored(body: str) -> Origins:
    """What the value comes from that the only store of a kernel stores."""
    function = kernel_in(f"__global__ void kernel(int* out, int* in, int n, int m) {{ {body} }}")
    assigned = [node for node in nodes_in(function) if isinstance(node, ir.Assign)]
    (store,) = [node for node in assigned if isinstance(node.target, ir.Index)]
    return OriginsOf(Ways(function)).of(store.value, ())


def test_variables_that_are_assigned_to_each_other_have_what_any_of_them_has() -> None:
    ring = " ".join(f"int v{number} = {number};" for number in range(_MANY))
    moves = " ".join(
        f"if (v{(number + 7) % _MANY} > 0) v{number} += v{(number + 1) % _MANY};" for number in range(_MANY)
    )
    found = _stored(f"{ring} v{_MANY - 1} = threadIdx.x; v3 = in[n]; while (v0 < m) {{ {moves} }} out[0] = v0;")
    assert found.by_thread
    assert len(found.loads) == 1
    assert found.numbers == {"in", "n"}
    assert not found.by_block


def test_what_only_decides_gives_no_number_to_a_variable() -> None:
    turns = "for (int i = 0; i < 4; ++i) { if (b < m) b = a; if (a < m) a = b + 1; }"
    found = _stored(f"int a = n, b = 0; {turns} out[0] = b;")
    assert found.numbers == {"n"}
    assert not found.is_data
    assert not found.may_vary


def test_a_variable_that_does_not_come_from_the_others_has_nothing_of_them() -> None:
    found = _stored("int a = in[0], b = n, c = 0; for (int i = 0; i < m; ++i) { a += b; c += i; } out[0] = c;")
    assert not found.is_data
    assert found.numbers == set()


def test_an_address_comes_from_what_it_is_computed_from_and_not_from_what_is_there() -> None:
    found = _stored("float2* at = (float2*)&in[threadIdx.x + m]; out[0] = (long)at;")
    assert not found.is_data
    assert found.by_thread
    assert found.numbers == {"in", "m"}


def test_an_address_that_data_gives_comes_from_that_alone() -> None:
    found = _stored("out[0] = *(long*)&in[in[n]];")
    lines = sorted(type(node).__name__ for node, _ in found.loads)
    assert lines == ["Index", "Unary"]


def test_the_address_of_a_variable_leads_to_its_value() -> None:
    found = _stored("int own = in[n]; out[0] = (long)&own;")
    assert len(found.loads) == 1

"""Random small kernels: their stores are as many instructions as an execution thread by thread makes requests."""

from __future__ import annotations

import itertools

import pytest
from executing import execute, kernel_in, work_of
from hypothesis import HealthCheck, assume, given, settings
from msgspec.structs import replace
from plain_requests import requests_of
from random_cases import cases
from reference_c.ctypes_ import UndefinedBehaviour
from reference_c.generate_kernels import Features, kernels
from reference_c.kernels import Kernel

from cudalint.execute.lanes import Lanes
from cudalint.measure.work import compiler

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
QUIET = settings(
    max_examples=cases(40), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def check(kernel: Kernel) -> None:
    source = kernel.source()
    try:
        figures = kernel.figures()
    except (UndefinedBehaviour, OverflowError):
        assume(False)
        return
    function = kernel_in(source)
    arguments = {name: value for name, _, value in kernel.parameters}
    given_ = {p: arguments[p.name] for p in function.parameters if p.name in arguments}
    blocks = [(x, y, z) for z, y, x in itertools.product(*(range(extent) for extent in reversed(kernel.grid)))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "PREDICATION", replace(compiler.PREDICATION, is_on=False))
        (work,), trace = work_of(function, Lanes(kernel.block, kernel.grid, blocks), given_)
    for operation in ("store", "atomic"):
        expected = sum(figure.requests for site, figure in figures.items() if site.operation == operation)
        assert work.instructions[operation] == pytest.approx(expected), f"{operation}\n{source}"
    plain = requests_of(execute(function, kernel.block, kernel.grid, arguments))
    assert {site: len(own.weights) for site, own in requests_of(trace).items()} == {
        site: len(own.weights) for site, own in plain.items()
    }


@QUIET
@given(kernels(Features(loops=False, leaving=False, switches=False)))
def test_straight_code_and_branches(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels(Features(leaving=False, switches=False)))
def test_loops(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels())
def test_everything(kernel: Kernel) -> None:
    check(kernel)

"""Random small kernels executed in lockstep, against an execution thread by thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, assume, given, settings
from random_cases import cases
from reference_c.ctypes_ import UndefinedBehaviour
from reference_c.generate_kernels import Features, kernels
from reference_c.kernels import Figures, Kernel
from reference_c.statements import Site

from cudalint.measure.requests import AccessSite, Requests, figures_of, requests_of

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")

TOLERANCE = 1e-6
QUIET = settings(
    max_examples=cases(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def _site(site: AccessSite, array: str) -> Site:
    """The two helpers that spell every load and store stand on lines 1 and 2: their call is the access."""
    assert site.operation in ("load", "store", "atomic")
    line, frames = site.node.span.line, tuple(call.span.line for call in site.stack)
    if line <= 2:
        line, frames = frames[0], frames[1:]
    return Site(line, frames, site.operation, array)


def _differences(expected: Figures, site: AccessSite, requests: Requests) -> Iterator[str]:
    found = figures_of(site, requests)
    assert found is not None
    compared = {
        "requests": (expected.requests, found.requests),
        "sectors or wavefronts": (expected.cost, found.cost),
        "ideal": (expected.ideal, found.ideal),
        "active lanes": (expected.lanes, found.lanes),
    }
    for what, (right, actual) in compared.items():
        if abs(actual - right) > TOLERANCE * max(1.0, abs(right)):
            yield f"{what}: {right} expected, not {actual}"


def check(kernel: Kernel) -> None:
    source = kernel.source()
    try:
        figures = kernel.figures()
    except (UndefinedBehaviour, OverflowError):
        assume(False)
        return
    arguments = {name: value for name, _, value in kernel.parameters}
    trace = execute(kernel_in(source), kernel.block, kernel.grid, arguments)
    assert not trace.unknown, f"{trace.unknown}\n{source}"
    names = {(event.node, event.stack): event.allocation.name for event in trace.accesses}
    requests = requests_of(trace)
    found = {_site(site, names[site.node, site.stack]): (site, own) for site, own in requests.items()}
    assert set(found) == set(figures), source
    for site, expected in figures.items():
        _, own = found[site]
        assert not own.by_data, f"{site} is up to data\n{source}"
        wrong = list(_differences(expected, *found[site]))
        assert not wrong, f"{site}: {'; '.join(wrong)}\n{source}"


@QUIET
@given(kernels(Features(loops=False, leaving=False, switches=False, arrays=False, pointers=False, helpers=False)))
def test_straight_code_and_branches(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels(Features(loops=False)))
def test_code_without_loops(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels(Features(leaving=False, switches=False)))
def test_loops(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels())
def test_everything(kernel: Kernel) -> None:
    check(kernel)


@QUIET
@given(kernels(Features(nested=1, turns=60, switches=False)))
def test_long_loops(kernel: Kernel) -> None:
    check(kernel)

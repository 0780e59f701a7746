"""Random small kernels: the facts of the whole analysis against an execution thread by thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from msgspec.structs import replace
from random_cases import cases
from reference_c.ctypes_ import UndefinedBehaviour
from reference_c.generate_kernels import Features, kernels
from reference_c.kernels import Figures, Kernel
from reference_c.statements import Site

from cudalint.facts import Access, AccessResult, KernelFacts
from cudalint.measure.work import compiler
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

# The analysis raises the recursion limit, and hypothesis remarks on that.
pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")

EXAMPLES = cases(60)
PATH = "random.cu"
TOLERANCE = 1e-6

STATUSES: Counter[str] = Counter()
"""How often the evaluation gave each status where the reference has a figure."""


def analyse(source: str) -> KernelFacts:
    (kernel,) = analyse_file(PATH, AnalysisOptions(unsaved=((PATH, source),))).kernels
    return kernel


def site_of(access: Access) -> Site:
    assert access.operation in ("load", "store", "atomic")
    frames = tuple(f.line for f in access.inlined_from)
    line = access.place.line
    if line <= 2:
        # The two helpers that spell every load and store: their call is the access.
        line, frames = frames[0], frames[1:]
    return Site(line, frames, access.operation, access.array)


def reference(kernel: Kernel) -> dict[Site, Figures] | None:
    """What each access really does; None for a program that C leaves undefined."""
    try:
        return kernel.figures()
    except (UndefinedBehaviour, OverflowError):
        return None


def differences(expected: Figures, result: AccessResult) -> Iterator[str]:
    shared = result.sectors_per_request is None
    cost = result.wavefronts_per_request if shared else result.sectors_per_request
    ideal = result.ideal_wavefronts if shared else result.ideal_sectors
    compared = {
        "requests": (expected.requests, result.requests),
        "sectors or wavefronts": (expected.cost, cost),
        "ideal": (expected.ideal, ideal),
        "active lanes": (expected.lanes, result.active_lanes),
    }
    for what, (right, actual) in compared.items():
        if actual is None or abs(actual - right) > TOLERANCE * max(1.0, abs(right)):
            yield f"{what}: {right} expected, not {actual}"


def check(kernel: Kernel) -> None:
    source = kernel.source()
    figures = reference(kernel)
    assume(figures is not None)
    assert figures is not None
    facts = analyse(source)
    # The compiler joins neighbouring shared accesses into wider ones, and the analysis follows it there: the
    # figures are those of another width then.
    widths = {a.name: a.bytes for a in kernel.arrays}
    joined = {site_of(a) for a in facts.accesses if a.bytes != widths[a.array]}
    found = {site_of(a): a.results[0] for a in facts.accesses}
    for site, result in found.items():
        if site not in figures and result.status in ("exact", "assumed"):
            raise AssertionError(f"{site} is never executed, but has figures\n{source}")
    for site, expected in figures.items():
        assert site in found, f"{site} is missing\n{source}"
        if site in joined:
            continue
        result = found[site]
        STATUSES[result.status] += 1
        event(result.status)
        if result.status not in ("exact", "assumed"):
            assert result.status != "unreached", f"{site} is reached\n{source}"
            continue
        wrong = list(differences(expected, result))
        assert not wrong, f"{site}: {'; '.join(wrong)}\n{source}"


QUIET = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
    # What fails is shown as it was drawn: to make it smaller takes many minutes.
    phases=(Phase.generate,),
)


@QUIET
@given(
    kernels(Features(loops=False, leaving=False, switches=False, arrays=False, pointers=False, helpers=False))
)
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


@pytest.fixture(scope="module", autouse=True)
def as_written() -> Iterator[None]:
    """The reference makes each load as often as its loop turns, where the compiler makes some once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cudalint.measure.work.graph.Graph._hoisted", lambda graph, term, place: place)
        for name in ("REPEATS", "FORWARDING"):
            patch.setattr(compiler, name, replace(getattr(compiler, name), is_on=False))
        yield


@pytest.fixture(scope="module", autouse=True)
def shares() -> Iterator[None]:
    yield
    total = sum(STATUSES.values())
    print({status: f"{100 * n / total:.1f}%" for status, n in STATUSES.most_common()})  # noqa: T201

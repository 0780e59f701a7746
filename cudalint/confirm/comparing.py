"""Sets the figures of accesses beside what was measured, and beside what an instrumented build has recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.confirm.instrument import Site, SiteFigures
from cudalint.confirm.rows import Row, agree, verdict_on
from cudalint.facts import Access, AccessResult, KernelFacts
from cudalint.facts.accesses import PerRequest
from cudalint.rulekit import WITH_FIGURES, is_estimate


class Prediction(Struct, frozen=True):
    """An access under one launch, with the figure that is to be measured."""

    access: Access
    result: AccessResult

    @property
    def quantity(self) -> str:
        return f"{self._figures.unit}s"

    @property
    def figure(self) -> float:
        return self._figures.actual or 0.0

    @property
    def ideal(self) -> float:
        return self._figures.ideal or 0.0

    @property
    def range(self) -> tuple[float, float] | None:
        return self._figures.bounds if self.result.status == "range" else None

    @property
    def _figures(self) -> PerRequest:
        return self.access.per_request(self.result)

    @property
    def subject(self) -> str:
        access = self.access
        return f"{access.space} {access.operation} of {access.array}, {access.bytes} B"


class Measurement(Struct, frozen=True):
    figure: float
    ideal: float
    note: str = ""
    lanes: float | None = None
    """Active lanes per request."""


def predictions(kernel: KernelFacts, launch: int) -> list[Prediction]:
    """The accesses of a kernel that have a figure under a launch."""
    found: list[Prediction] = []
    for access in kernel.accesses:
        if access.space not in ("global", "shared"):
            continue
        for result in access.results:
            if result.launch != launch or result.status not in WITH_FIGURES or is_estimate(result):
                continue
            prediction = Prediction(access, result)
            if prediction.figure:
                found.append(prediction)
    return found


def row_of(prediction: Prediction, kernel: KernelFacts, measured: Measurement | None, source: str, note: str) -> Row:
    access, launch = prediction.access, kernel.launches[prediction.result.launch]
    verdict = verdict_on(prediction.figure, measured.figure if measured else None)
    if measured is not None and verdict == "off" and _fits(prediction, measured):
        verdict = "equal"
    return Row(
        access.place.path, access.place.line, access.place.column, kernel.instantiation, launch.block, launch.grid,
        prediction.quantity, prediction.subject, round(prediction.figure, 4),
        None if measured is None else round(measured.figure, 4), verdict, source,
        note or (measured.note if measured else ""), None if measured is None else round(measured.ideal, 4),
    )  # fmt: skip


def lane_rows(prediction: Prediction, kernel: KernelFacts, measured: Measurement | None, source: str) -> Iterator[Row]:
    """Active lanes, where the linter says that some are idle. Nsight Compute counts them per issued instruction."""
    lanes = prediction.result.active_lanes
    if lanes is None or lanes >= 32 or measured is None or measured.lanes is None:
        return
    fraction = prediction.result.active_request_fraction or 1.0
    counted = measured.lanes
    if source == "ncu" and agree(lanes * fraction, counted) and not agree(lanes, counted):
        counted = counted / fraction
    row = row_of(prediction, kernel, measured, source, measured.note)
    yield replace(
        row, quantity="active lanes", predicted=round(lanes, 4), measured=round(counted, 4), ideal=None,
        verdict=verdict_on(lanes, counted),
    )  # fmt: skip


def _fits(prediction: Prediction, measured: Measurement) -> bool:
    """A range holds what lies within it. A predicated instruction counts even when no lane is active, and an access
    that the compiler merged with its neighbours has the same conflicts per ideal wavefront."""
    if prediction.range is not None:
        low, high = prediction.range
        return low * 0.95 <= measured.figure <= high * 1.05
    return measured.note.startswith(("predicated", "as part"))


# --- the instrumented build --------------------------------------------------------------------------------------


def from_records(
    wanted: Sequence[Prediction],
    sites: Sequence[Site],
    counted: Mapping[int, Sequence[SiteFigures]],
    is_parted: bool = False,
) -> tuple[dict[int, Measurement], dict[int, str]]:
    """Measurements by the index of the prediction, and why others have none.

    Where branches part the lanes of a warp (`is_parted`), it is up to the compiler where they come together again, and
    calls of a recorder change that.
    """
    site_at = {site.place: site for site in sites}
    found: dict[int, Measurement] = {}
    reasons: dict[int, str] = {}
    for index, prediction in enumerate(wanted):
        site = site_at.get(prediction.access.place)
        if site is None:
            reasons[index] = "the access has no place of its own in the source to report from"
            continue
        widths = {figures.width: figures for figures in counted.get(site.index, ())}
        if not widths:
            reasons[index] = "no lane came to it"
        elif prediction.access.bytes not in widths:
            reasons[index] = "the compiler merges neighbouring accesses, which only counters show"
        else:
            figures = widths[prediction.access.bytes]
            lanes = prediction.result.active_lanes or 0.0
            mixed = _mixture(wanted, prediction, figures)
            if mixed is None and is_parted and figures.active_lanes < 0.95 * lanes:
                lanes_text = f"{figures.active_lanes:.3g} of the {lanes:.3g} lanes that the prediction has together"
                reasons[index] = f"the instrumented build keeps lanes separate that a branch has split: {lanes_text}"
                continue
            found[index] = mixed or Measurement(figures.figure, figures.ideal, "", figures.active_lanes)
    return found, reasons


def _mixture(wanted: Sequence[Prediction], prediction: Prediction, figures: SiteFigures) -> Measurement | None:
    """Several calls of a function share its places: their requests come together, weighted by how many they are."""
    place = prediction.access.place
    others = [p for p in wanted if p.access.place == place and p.access.bytes == prediction.access.bytes]
    if len({round(p.figure, 3) for p in others}) < 2 or any(p.result.requests is None for p in others):
        return None
    requests = sum(p.result.requests or 0.0 for p in others)
    mean = sum(p.figure * (p.result.requests or 0.0) for p in others) / max(requests, 1e-9)
    if agree(mean, figures.figure):
        return Measurement(figures.figure, figures.ideal, f"as part of all calls' requests, {mean:.4g} predicted")
    return None


def parts_lanes(kernel: KernelFacts, launch: int) -> bool:
    """Whether some branch of the kernel splits warps, as far as the linter knows."""
    results = [r for branch in kernel.branches or () for r in branch.results if r.launch == launch]
    return any(r.verdict not in ("uniform", "warp-uniform") for r in results)


def operations(wanted: Iterable[Prediction], sites: Iterable[Site]) -> dict[int, str]:
    """Load, store or atomic for each site."""
    of_place = {prediction.access.place: prediction.access.operation for prediction in wanted}
    return {site.index: of_place[site.place] for site in sites if site.place in of_place}



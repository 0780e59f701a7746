"""`cudalint roofline`: kernels below the roofs of one or several GPUs, for terminals, as a picture and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from cudalint.facts import FileFacts, LaunchCost, LaunchFacts
from cudalint.hardware.targets import Target, find_target
from cudalint.numerals import dimensions
from cudalint.report.drawing.roofline import Spot, axes, roofline_of
from cudalint.report.drawing.svg import Drawing, text
from cudalint.report.formats import costs
from cudalint.report.formats.diagnostics_json import JsonObject, document_head, picked, recorded_object
from cudalint.report.formats.style import Style

_LEAST = 0.02
"""Of the longest limit, what is shown at all."""
_BAR = 30
_COLUMNS, _LINES = 64, 14
_MARKS: Final = "abcdefghijklmnopqrstuvwxyz"


Key = tuple[str, int, str, int]
"""A launch of a kernel."""


class KernelRoof(Struct, frozen=True):
    """One launch of a kernel on one target, with what it costs there."""

    path: str
    line: int
    kernel: str
    """With its template arguments."""
    launch: LaunchFacts
    target: str
    """The name of the GPU."""
    cost: LaunchCost

    @property
    def key(self) -> Key:
        """What it is on every target."""
        return self.path, self.line, self.kernel, self.cost.launch

    @property
    def where(self) -> str:
        grid = f"{'assumed ' if self.launch.grid_is_assumed else ''}grid {dimensions(self.launch.grid)}"
        return f"{self.path}:{self.line}: {self.kernel}, block {dimensions(self.launch.block)}, {grid}"

    @property
    def measured_gflops(self) -> float | None:
        """What it reaches in the time that was recorded, on whatever GPU that was."""
        return self.cost.gflops_in(self.launch.recorded_us)

    def spot(self, name: str = "") -> Spot | None:
        """Where it stands below the roof; nowhere if it does no floating-point arithmetic."""
        intensity, reached = self.cost.arithmetic_intensity, self.cost.reached_gflops
        return Spot(intensity, reached, name) if intensity and reached else None

    def measured_spot(self, name: str = "") -> Spot | None:
        """The same for the time that was recorded."""
        intensity, reached = self.cost.arithmetic_intensity, self.measured_gflops
        return Spot(intensity, reached, name, is_measured=True) if intensity and reached else None


def kernels_of(facts: FileFacts, target: str) -> Iterator[KernelRoof]:
    """All launches of a file whose cost was asked for."""
    name = find_target(target).name
    for kernel in facts.kernels:
        place = kernel.place
        for cost in kernel.costs or ():
            yield KernelRoof(place.path, place.line, kernel.instantiation, kernel.launches[cost.launch], name, cost)


def text_lines(kernels: Sequence[KernelRoof], style: Style, is_told: bool = False) -> Iterator[str]:
    """A roofline for each target, then each kernel with its limits. That there is none may have been told already."""
    marks = _marks(kernels)
    for target, own in _by_target(kernels).items():
        yield style.paint(_title(find_target(target)), "bold")
        yield from _plot(find_target(target), own, marks, style)
        yield ""
    for key, same in _by_launch(kernels).items():
        first, mark = same[0], marks.get(key, "")
        yield f"{style.paint(mark, 'cyan')}{'  ' if mark else ''}{style.paint(first.where, 'bold')}"
        for kernel in same:
            yield f"  {_sentence(kernel)}"
            yield from _bars(kernel, style)
        yield ""
    if not kernels and not is_told:
        yield "no kernels"


def _by_launch(kernels: Sequence[KernelRoof]) -> dict[Key, list[KernelRoof]]:
    found: dict[Key, list[KernelRoof]] = {}
    for each in kernels:
        found.setdefault(each.key, []).append(each)
    return found


def _by_target(kernels: Sequence[KernelRoof]) -> dict[str, list[KernelRoof]]:
    found: dict[str, list[KernelRoof]] = {}
    for each in kernels:
        found.setdefault(each.target, []).append(each)
    return found


def _marks(kernels: Sequence[KernelRoof]) -> dict[Key, str]:
    """A letter for each launch that has a place below the roof; what is behind the last letter has none."""
    placed = [key for key, same in _by_launch(kernels).items() if any(each.spot() for each in same)]
    return dict(zip(placed, _MARKS, strict=False))


def _title(target: Target) -> str:
    """`a100: 19.5 TFLOP/s FP32, 1555 GB/s, ridge 12.5 FLOP/byte`."""
    return f"{target.name}: {target.fp32_tflops:g} TFLOP/s FP32, {target.bandwidth_gb_s:g} GB/s, {_ridge(target)}"


def _ridge(target: Target) -> str:
    return f"ridge {target.ridge:.1f} FLOP/byte"


def _sentence(kernel: KernelRoof) -> str:
    """`a100: 0.083 FLOP/byte (0.083 without caches), ...: about 110 us, bound by DRAM; 120 of 130 GFLOP/s allowed`."""
    cost = kernel.cost
    recorded = [words] if (words := costs.recorded(kernel.launch)) else []
    if not cost.time_us:
        unknown = f"not known: {cost.reason}" if cost.reason else "not known"
        return f"{kernel.target}: {'; '.join([unknown, *recorded])}"
    parts = [f"{costs.estimated(cost)}, {costs.bound_by(cost.bound)}", *recorded]
    if cost.arithmetic_intensity:
        side = "memory" if cost.arithmetic_intensity < (cost.ridge or 0.0) else "arithmetic"
        asked = f" ({_figure(cost.requested_intensity)} without caches)" if cost.requested_intensity else ""
        parts.append(f"{_figure(cost.arithmetic_intensity)} FLOP/byte{asked}, on the side of {side}")
        reached, allowed = cost.reached_gflops or 0.0, cost.attainable_gflops or 0.0
        measured = f", {_figure(kernel.measured_gflops)} as recorded" if kernel.measured_gflops else ""
        parts.append(f"{_figure(reached)} of {_figure(allowed)} GFLOP/s that the roof allows{measured}")
    else:
        parts.append("no floating-point arithmetic")
    if cost.status == "range":
        parts.append(f"a middle: {cost.reason}" if cost.reason else "a middle")
    return f"{kernel.target}: {'; '.join(parts)}"


def _bars(kernel: KernelRoof, style: Style) -> Iterator[str]:
    longest = max(kernel.cost.limits_us.values(), default=0.0)
    limits = sorted(kernel.cost.limits_us.items(), key=lambda limit: -limit[1])
    for resource, time in limits:
        if not longest or time < _LEAST * longest:
            continue
        name = costs.NAMES[resource]
        bar = ("█" if style.unicode else "#") * max(1, round(_BAR * time / longest))
        is_bound = resource == kernel.cost.bound
        yield f"    {name:<17}  {style.paint(bar, 'yellow' if is_bound else 'dim')} {costs.duration(time)}"


def _plot(target: Target, kernels: Sequence[KernelRoof], marks: Mapping[Key, str], style: Style) -> Iterator[str]:
    """The roof in characters, and below it the letters of the kernels, capitals for the time that was recorded; those
    that fall together are one `*`."""
    peak, bandwidth = target.fp32_tflops * 1e3, target.bandwidth_gb_s
    named = [spot for spot in _spots(kernels, marks, "") if spot.name]
    if not named:
        return
    scale = axes(bandwidth, peak, named)
    cells = [[" "] * _COLUMNS for _ in range(_LINES)]
    slope, flat = ("·", "─") if style.unicode else ("/", "-")

    def row(up: float) -> int:
        return min(_LINES - 1, max(0, round((1 - up) * (_LINES - 1))))

    for column in range(_COLUMNS):
        intensity = 10 ** (scale.low + (scale.high - scale.low) * column / (_COLUMNS - 1))
        allowed = min(peak, intensity * bandwidth)
        if allowed >= 10**scale.bottom:
            cells[row(scale.place(intensity, allowed)[1])][column] = flat if allowed == peak else slope
    for spot in named:
        right, up = scale.place(spot.intensity, spot.reached)
        at = cells[row(up)]
        column = round(right * (_COLUMNS - 1))
        at[column] = spot.name if at[column] in (" ", slope, flat) or at[column] == spot.name else "*"
    edge = "│" if style.unicode else "|"
    for number, cells_of_row in enumerate(cells):
        power = scale.top - (scale.top - scale.bottom) * number / (_LINES - 1)
        label = f"{10**power:8.3g}" if number in (0, _LINES - 1) else " " * 8
        yield f"  {label} {edge}{''.join(cells_of_row).rstrip()}"
    ends = f"{10**scale.low:g}".ljust(_COLUMNS - 6) + f"{10**scale.high:g}".rjust(6)
    yield f"  {' ' * 8}  {ends}"
    yield style.paint(f"  GFLOP/s{' ' * 17}FLOP per byte of DRAM", "dim")
    if any(spot.is_measured for spot in named):
        yield style.paint("  small letters: as the time model has it; capitals: as recorded; *: several", "dim")


def _figure(value: float | None) -> str:
    """To three digits."""
    if value is None:
        return "unknown"
    if value >= 1000:
        return f"{float(f'{value:.3g}'):.0f}"
    return f"{value:.3g}"


def svg(kernels: Sequence[KernelRoof]) -> str:
    """One picture: the roofline of each target beside the last, and below them what the letters stand for."""
    marks = _marks(kernels)
    drawn = [
        (name, roofline_of(find_target(name), _spots(own, marks, "other")))
        for name, own in _by_target(kernels).items()
    ]
    names = {each.key: each.where for each in kernels}
    legend = [f"{mark}  {names[key]}" for key, mark in marks.items()]
    if any(each.measured_spot() for each in kernels):
        legend.append("filled: as the time model has it; hollow: as recorded")
    return _beside(drawn, legend).standalone().rstrip("\n")


def _spots(kernels: Sequence[KernelRoof], marks: Mapping[Key, str], unmarked: str) -> list[Spot]:
    """Where the time model has each of them, and behind those where it was recorded, with capitals."""
    named = [(each, marks.get(each.key, "")) for each in kernels]
    modelled = [each.spot(mark or unmarked) for each, mark in named]
    measured = [each.measured_spot(mark.upper() or unmarked) for each, mark in named]
    return [spot for spot in (*modelled, *measured) if spot is not None]


_HEAD, _ROW, _GAP = 20, 16, 12


def _beside(drawings: Sequence[tuple[str, Drawing]], legend: Sequence[str]) -> Drawing:
    body, x = [], 0.0
    for name, drawing in drawings:
        body.append(text(x + _GAP, 14, _title(find_target(name))))
        body.append(f'<g transform="translate({x:g} {_HEAD})">{drawing.body}</g>')
        x += max(drawing.width, 400) + _GAP
    bottom = _HEAD + max((drawing.height for _, drawing in drawings), default=0.0)
    body += [text(_GAP, bottom + (row + 1) * _ROW, words) for row, words in enumerate(legend)]
    width = max(x, 7 * max(map(len, legend), default=0) + 2 * _GAP, 1)
    title = "; ".join(f"{name}: {drawing.title}" for name, drawing in drawings) or "no kernels"
    return Drawing(width, bottom + (len(legend) + 1) * _ROW, "".join(body), title)


def json_object(kernels: Sequence[KernelRoof]) -> JsonObject:
    targets = list(_by_target(kernels))
    return {
        **document_head(", ".join(targets)),
        "targets": [_target(find_target(name)) for name in targets],
        "kernels": [_kernel(each) for each in kernels],
    }


def _target(target: Target) -> JsonObject:
    gflops = {"fp32_gflops": target.fp32_tflops * 1e3}
    return {"name": target.name, **gflops, **picked(target, "bandwidth_gb_s", "ridge")}


def _kernel(kernel: KernelRoof) -> JsonObject:
    return {
        **picked(kernel, "path", "line", "kernel"),
        **picked(kernel.launch, "block", "grid"),
        "target": kernel.target,
        **picked(
            kernel.cost, "status", "reason", "arithmetic_intensity", "requested_intensity", "ridge", "reached_gflops",
            "attainable_gflops", "bound", "time_us", "limits_us",
        ),
        **_measured(kernel),
    }  # fmt: skip


def _measured(kernel: KernelRoof) -> JsonObject:
    """Of launches of which a time was recorded."""
    recorded = kernel.launch.recorded
    if recorded is None or not recorded.time_us:
        return {}
    return {**picked(kernel, "measured_gflops"), "recorded": recorded_object(recorded)}

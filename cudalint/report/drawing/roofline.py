"""The roofline of a GPU, and where kernels stand below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from cudalint.hardware.targets import Target
from cudalint.report.drawing.svg import Drawing, line, number, path, text

_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 52, 8, 330, 170, 34
_LABEL_WIDTH, _LABEL_HEIGHT = 80, 12
_NEAR = 6
"""What is so near the roof has no line up to it."""


class Spot(Struct, frozen=True):
    """A kernel below the roof: operations for each byte of DRAM, and 10^9 operations per second."""

    intensity: float
    reached: float
    name: str = ""
    """What stands beside it; what it reaches if nothing is said."""
    is_measured: bool = False
    """Drawn hollow, where the others are what a model has."""


class Axes(Struct, frozen=True):
    """Powers of ten at which the logarithmic axes begin and end: operations per byte, and GFLOP/s."""

    low: int
    high: int
    bottom: int
    top: int

    def place(self, x: float, y: float) -> tuple[float, float]:
        """To the right and up, each from 0 to 1; what lies below the picture is at its lower edge."""
        right = (math.log10(x) - self.low) / (self.high - self.low)
        up = (math.log10(max(y, 10**self.bottom)) - self.bottom) / (self.top - self.bottom)
        return right, up


def axes(bandwidth: float, peak: float, spots: Sequence[Spot]) -> Axes:
    """Axes on which the ridge and all spots are to be seen; `bandwidth` in GB/s, `peak` in GFLOP/s."""
    ridge = peak / bandwidth
    intensities = [ridge, *(spot.intensity for spot in spots)]
    low = math.floor(math.log10(min(intensities) / 3))
    lowest = [bandwidth * 10**low * 3, *(max(spot.reached, 1e-3) for spot in spots)]
    return Axes(
        low,
        math.ceil(math.log10(max(intensities) * 3)),
        math.floor(math.log10(min(lowest))),
        math.ceil(math.log10(peak * 1.2)),
    )


def roofline_of(target: Target, spots: Sequence[Spot]) -> Drawing:
    """The roofline of a GPU for single precision and its DRAM."""
    return roofline(target.bandwidth_gb_s, target.fp32_tflops * 1e3, spots, "DRAM", "FP32")


def roofline(bandwidth: float, peak: float, spots: Sequence[Spot], bandwidth_name: str, peak_name: str) -> Drawing:
    """`bandwidth` in GB/s and `peak` in GFLOP/s bound what kernels can reach. Both axes are logarithmic."""
    scale = axes(bandwidth, peak, spots)
    low, high, bottom, top = scale.low, scale.high, scale.bottom, scale.top

    def at(x: float, y: float) -> tuple[float, float]:
        right, up = scale.place(x, y)
        return _LEFT + right * _WIDTH, _TOP + (1 - up) * _HEIGHT

    ridge = peak / bandwidth
    start = max(10**low, 10**bottom / bandwidth)
    roof = [at(start, start * bandwidth), at(ridge, peak), at(10**high, peak)]
    flat_x, flat_y = at(10**high, peak)
    body = [
        path("l", _grid(low, high, bottom, top)),
        *_labels(low, high, bottom, top),
        line("r", roof),
        text(flat_x - 4, flat_y - 4, peak_name, "d e"),
        text(roof[0][0] + 8, _TOP + 12, bandwidth_name, "d"),
    ]
    labels: list[tuple[float, float]] = []
    for spot in spots:
        x, y = at(spot.intensity, spot.reached)
        _, allowed = at(spot.intensity, min(peak, spot.intensity * bandwidth))
        is_left = x > _LEFT + 0.6 * _WIDTH
        name = spot.name or f"{_short(spot.reached)} GFLOP/s"
        body += [
            path("x", [f"M{number(x)} {number(y)}V{number(allowed)}"] if _has_line(spot, y - allowed) else []),
            f'<circle class="{"x" if spot.is_measured else "b"}" cx="{number(x)}" cy="{number(y)}" r="5"/>',
            text(x + (-9 if is_left else 9), _free(x, y, labels) if spot.is_measured else y + 4, name, "e" * is_left),
        ]
        labels.append((x, y + 4))
    each = (
        f"{_short(spot.intensity)} FLOP/byte and {_short(spot.reached)} GFLOP/s{' as recorded' * spot.is_measured}"
        for spot in spots
    )
    title = f"{'; '.join(each)}, below a roof of {_short(peak)} GFLOP/s"
    return Drawing(_LEFT + _WIDTH + 16, _TOP + _HEIGHT + _BELOW, "".join(body), title)


def _free(x: float, y: float, labels: Sequence[tuple[float, float]]) -> float:
    """The height of a label beside a mark at which it covers none of the others."""
    height = y + 4
    while any(abs(height - at) < _LABEL_HEIGHT and abs(x - beside) < _LABEL_WIDTH for beside, at in labels):
        height += _LABEL_HEIGHT
    return height


def _has_line(spot: Spot, below: float) -> bool:
    """Whether a line leads up to the roof, from so far below it."""
    return not spot.is_measured and below > _NEAR


def _grid(low: int, high: int, bottom: int, top: int) -> Iterator[str]:
    for power in range(low, high + 1):
        x = _LEFT + (power - low) / (high - low) * _WIDTH
        yield f"M{number(x)} {_TOP}v{_HEIGHT}"
    for power in range(bottom, top + 1):
        y = _TOP + (top - power) / (top - bottom) * _HEIGHT
        yield f"M{_LEFT} {number(y)}h{_WIDTH}"


def _labels(low: int, high: int, bottom: int, top: int) -> Iterator[str]:
    for power in range(low, high + 1):
        yield text(_LEFT + (power - low) / (high - low) * _WIDTH, _TOP + _HEIGHT + 14, _short(10.0**power), "d w")
    for power in range(bottom, top + 1):
        yield text(_LEFT - 6, _TOP + (top - power) / (top - bottom) * _HEIGHT + 4, _short(10.0**power), "d e")
    yield text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 29, "FLOP per byte of DRAM", "d w")


def _short(value: float) -> str:
    """To two digits, thousands as `k`."""
    if value >= 1000:
        return f"{value / 1000:.3g}k"
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"

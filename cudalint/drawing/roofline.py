"""The roofline of a GPU, and where a kernel stands below it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cudalint.drawing.svg import Drawing, line, number, path, text

_LEFT, _TOP, _WIDTH, _HEIGHT, _BELOW = 52, 8, 330, 170, 34


def roofline(
    bandwidth: float, peak: float, intensity: float, reached: float, bandwidth_name: str, peak_name: str
) -> Drawing:
    """`bandwidth` in GB/s and `peak` in GFLOP/s bound what a kernel can reach; the kernel does `intensity` operations
    for each byte of DRAM and reaches so many GFLOP/s. Both axes are logarithmic."""
    ridge = peak / bandwidth
    low = math.floor(math.log10(min(intensity, ridge) / 3))
    high = math.ceil(math.log10(max(intensity, ridge) * 3))
    top = math.ceil(math.log10(peak * 1.2))
    bottom = math.floor(math.log10(min(max(reached, 1e-3), bandwidth * 10**low * 3)))

    def at(x: float, y: float) -> tuple[float, float]:
        right = (math.log10(x) - low) / (high - low)
        up = (math.log10(max(y, 10**bottom)) - bottom) / (top - bottom)
        return _LEFT + right * _WIDTH, _TOP + (1 - up) * _HEIGHT

    start = max(10**low, 10**bottom / bandwidth)
    roof = [at(start, start * bandwidth), at(ridge, peak), at(10**high, peak)]
    x, y = at(intensity, reached)
    _, allowed = at(intensity, min(peak, intensity * bandwidth))
    flat_x, flat_y = at(10**high, peak)
    is_left = x > _LEFT + 0.6 * _WIDTH
    body = [
        path("l", _grid(low, high, bottom, top)),
        *_labels(low, high, bottom, top),
        line("r", roof),
        text(flat_x - 4, flat_y - 4, peak_name, "d e"),
        text(roof[0][0] + 8, _TOP + 12, bandwidth_name, "d"),
        path("x", [f"M{number(x)} {number(y)}V{number(allowed)}"] if y - allowed > 6 else []),
        f'<circle class="b" cx="{number(x)}" cy="{number(y)}" r="5"/>',
        text(x + (-9 if is_left else 9), y + 4, f"{_short(reached)} GFLOP/s", "e" if is_left else ""),
    ]
    title = f"{_short(intensity)} FLOP/byte and {_short(reached)} GFLOP/s, below a roof of {_short(peak)} GFLOP/s"
    return Drawing(_LEFT + _WIDTH + 16, _TOP + _HEIGHT + _BELOW, "".join(body), title)


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

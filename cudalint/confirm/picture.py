"""A picture of a confirmation: every measured figure over its prediction. What agrees lies on the diagonal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from cudalint.confirm.rows import Row

_SIZE, _MARGIN = 480, 60
_COLOURS = {"sectors": "#2f6f9f", "wavefronts": "#b5542b"}


def svg(rows: Sequence[Row], title: str) -> str:
    """Sectors and wavefronts per request on logarithmic axes; a circle's area says how many accesses lie there."""
    points = Counter(_points(rows))
    highest = max((max(p, m) for _, p, m in points), default=32.0)
    top = 2.0 ** math.ceil(math.log2(max(highest, 2.0)))
    body = [*_axes(top), *_circles(points, top), *_legend(rows, title)]
    whole = _SIZE + 2 * _MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{whole}" height="{whole}" fill="white"/>', *body, "</svg>"]) + "\n"


def _points(rows: Sequence[Row]) -> Iterator[tuple[str, float, float]]:
    for row in rows:
        if row.quantity in _COLOURS and isinstance(row.predicted, float) and isinstance(row.measured, float):
            yield row.quantity, row.predicted, row.measured


def _position(value: float, top: float) -> float:
    """From 0 to `_SIZE` on an axis from 1/2 to `top`."""
    low = -1.0
    exponent = math.log2(max(value, 0.5))
    return (exponent - low) / (math.log2(top) - low) * _SIZE


def _place(predicted: float, measured: float, top: float) -> tuple[float, float]:
    return _MARGIN + _position(predicted, top), _MARGIN + _SIZE - _position(measured, top)


def _axes(top: float) -> Iterator[str]:
    value = 0.5
    while value <= top:
        x, y = _place(value, value, top)
        end = _MARGIN + _SIZE
        yield f'<path d="M{x:.1f} {_MARGIN}V{end}M{_MARGIN} {y:.1f}H{end}" stroke="#e2e2e2" fill="none"/>'
        yield f'<text x="{x:.1f}" y="{end + 18}" font-size="12" text-anchor="middle">{value:g}</text>'
        yield f'<text x="{_MARGIN - 8}" y="{y + 4:.1f}" font-size="12" text-anchor="end">{value:g}</text>'
        value *= 2
    (x1, y1), (x2, y2) = _place(0.5, 0.5, top), _place(top, top, top)
    yield f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#999999"/>'
    middle = _MARGIN + _SIZE / 2
    below = _MARGIN + _SIZE + 42
    yield f'<text x="{middle}" y="{below}" font-size="14" text-anchor="middle">predicted per request</text>'
    yield (
        f'<text transform="translate(18 {middle}) rotate(-90)" font-size="14" text-anchor="middle">'
        "measured per request</text>"
    )


def _circles(points: Counter[tuple[str, float, float]], top: float) -> Iterator[str]:
    for (quantity, predicted, measured), count in sorted(points.items(), key=lambda item: -item[1]):
        x, y = _place(predicted, measured, top)
        radius = 2.5 + 1.2 * math.sqrt(count)
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_COLOURS[quantity]}" fill-opacity="0.6">'
            f"<title>{count} x {quantity}: predicted {predicted:g}, measured {measured:g}</title></circle>"
        )


def _legend(rows: Sequence[Row], title: str) -> Iterator[str]:
    yield f'<text x="{_MARGIN}" y="24" font-size="15">{escape(title)}</text>'
    x = _MARGIN
    for quantity, colour in _COLOURS.items():
        count = sum(row.quantity == quantity and row.measured is not None for row in rows)
        yield f'<circle cx="{x + 5}" cy="40" r="5" fill="{colour}"/>'
        yield f'<text x="{x + 16}" y="45" font-size="13">{quantity} ({count})</text>'
        x += 150

"""CL505: sizes that are no multiple of the tile."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, Tiling
from cudalint.launchkit import Seen, launch_finding, percent, seen_launches
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count

_TILES = (256, 128, 64, 48, 32, 24, 16, 8)


class TileQuantization(Rule):
    """A grid that is rounded up to whole tiles, far beyond the size that it covers.

    What it does
        Reads the sizes from which the grid of a launch in sight is rounded up, `(n + 31) / 32` or a function that
        does the same, where they are plain numbers, and compares the elements of all tiles with those that are asked
        for. Reports the share of the work that is wasted, if it is more than the threshold and there are at
        least two tiles to an axis.

    Why is this bad
        Threads beyond the edge are launched, scheduled and masked out. A 65x65 matrix in tiles of 32x32 takes 3x3
        blocks, the work of 96x96, of which 54% is thrown away.

    Why it is off by default
        A size in sight is often a default that the command line overrides, or a small test. In public collections
        (CUDA samples, HeCBench, Rodinia) there were 11 findings in 4 of some 700 programs, nearly all of them on such
        sizes.

    Example
        int n = 65;
        dim3 grid((n + 31) / 32, (n + 31) / 32);        // 3x3 tiles of 32x32
        blur<<<grid, dim3(32, 32)>>>(out, in, n);

    Use instead
        dim3 grid((n + 15) / 16, (n + 15) / 16);        // 5x5 tiles of 16x16: 34%; or pad the problem, or make it 64
        blur<<<grid, dim3(16, 16)>>>(out, in, n);
    """

    code = "CL505"
    name = "tile-quantization"
    severity = "info"
    summary = "sizes that are no multiple of the tile"
    by_hand = "how the work is divided among blocks has to change"
    reads = frozenset({"occupancy"})
    is_waste = True
    on_by_default = False
    thresholds = {"wasted": 0.1}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["wasted"]
        for seen in seen_launches(kernel):
            tilings = seen.site.tilings
            if not tilings or all(tiling.blocks < 2 for tiling in tilings):
                continue
            wasted = _wasted(tilings)
            if wasted >= least:
                yield self._diagnostic(kernel, seen, tilings, wasted)

    def _diagnostic(
        self, kernel: KernelFacts, seen: Seen, tilings: tuple[Tiling, ...], wasted: float
    ) -> Diagnostic:
        sizes = "x".join(str(tiling.size) for tiling in tilings)
        tiles = "x".join(str(tiling.tile) for tiling in tilings)
        blocks = "x".join(str(tiling.blocks) for tiling in tilings)
        message = (
            f"{sizes} elements in tiles of {tiles} take {blocks} {'blocks' if blocks != '1' else 'block'}: "
            f"{percent(wasted)} of the work is wasted"
        )
        figures = {
            "elements": float(prod(tiling.size for tiling in tilings)),
            "covered": float(prod(tiling.blocks * tiling.tile for tiling in tilings)),
            "wasted_fraction": wasted,
        }
        return launch_finding(self, kernel, seen, message, figures, _suggestion(tilings, wasted))


def _wasted(tilings: tuple[Tiling, ...]) -> float:
    asked = prod(tiling.size for tiling in tilings)
    return 1 - asked / prod(tiling.blocks * tiling.tile for tiling in tilings)


def _suggestion(tilings: tuple[Tiling, ...], wasted: float) -> Suggestion | None:
    """The axis that wastes most, and the largest smaller tile that wastes half as much on it."""
    worst = max(tilings, key=lambda tiling: tiling.blocks * tiling.tile / tiling.size)
    over = worst.size % worst.tile
    parts = [f"`{worst.size_text}` is {count(over, 'element')} over {worst.size - over}, a multiple of {worst.tile}"]
    for tile in (size for size in _TILES if size < worst.tile):
        others = tuple(t if t is not worst else Tiling(t.axis, t.size, tile, t.size_text) for t in tilings)
        if _wasted(others) <= wasted / 2:
            parts.append(f"a tile of {tile} in {worst.axis} wastes {percent(_wasted(others))}")
            break
    return Suggestion("; ".join(parts))

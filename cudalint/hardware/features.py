"""Which GPUs have the instructions and functions that only some have: what a kernel's text says about its target.

The sources are the "Target ISA Notes" of each instruction in the PTX ISA 9.1, and for functions and attributes the
CUDA C++ Programming Guide's section about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from msgspec.structs import replace

from cudalint.facts.needs import Capability, Need, Support
from cudalint.hardware.targets import Target, find_target, target_names
from cudalint.regexes import regex

_SM_75 = Support((7, 5))
SM_80 = Support((8, 0))
_SM_89 = Support((8, 9))
SM_90 = Support((9, 0))
_SM_100 = Support((10, 0))

INSTRUCTIONS: Final[tuple[tuple[re.Pattern[str], Support], ...]] = tuple(
    (regex(pattern), support)
    for pattern, support in (
        # "Supported on sm_100a, sm_101a (renamed to sm_110a)" and their families: no GPU of capability 12 has it.
        (r"tcgen05\.", Support((10, 0), (12, 0))),
        # "Requires sm_90a", which no other capability runs.
        (r"wgmma\.", Support((9, 0), (10, 0))),
        (r"setmaxnreg\.", SM_90),
        (r"cp\.(reduce\.)?async\.bulk\b", SM_90),
        (r"cp\.async\.", SM_80),
        (r"mbarrier\.(try_wait|expect_tx|complete_tx)\b", SM_90),
        (r"mbarrier\.arrive\.expect_tx\b", SM_90),
        (r"mbarrier\.", SM_80),
        (r"stmatrix\.", SM_90),
        (r"ldmatrix\.", _SM_75),
        (r"clusterlaunchcontrol\.", _SM_100),
        (r"griddepcontrol\.|elect\.sync\b|multimem\.|mapa\b|getctarank\b|barrier\.cluster\.", SM_90),
        (r"fence\.(proxy\.(async|tensormap)|mbarrier_init)\b", SM_90),
        (r"(st|red)\.async\b|tensormap\.replace\b|prefetch\.tensormap\b", SM_90),
        (r"[a-z0-9._]+\.shared::cluster\b|fence\.[a-z_.]*\bcluster\b", SM_90),
        (r"redux\.sync\.|createpolicy\.|discard\.|applypriority\.", SM_80),
        # Packed floats, and vectors of 32 bytes.
        (r"(add|sub|mul|fma)\.[a-z.]*f32x2\b", _SM_100),
        (r"(ld|st)\.[a-zA-Z0-9_:.]*(v8\.[bfsu]32|v4\.[bfsu]64)\b", _SM_100),
        (r"cvt\.[a-zA-Z0-9_.]*(e2m1x2|e2m3x2|e3m2x2|ue8m0x2)\b", _SM_100),
        (r"cvt\.[a-zA-Z0-9_.]*(e4m3x2|e5m2x2)\b", _SM_89),
        # The types and shapes of `mma`, which are in its name.
        (r"mma\.sync\.[a-zA-Z0-9_:.]*kind::", Support((12, 0))),
        (r"mma\.sync\.[a-zA-Z0-9_.]*\.(e4m3|e5m2)\b", _SM_89),
        (r"mma\.sp\b|mma\.sync\.[a-zA-Z0-9_.]*\.(tf32|bf16|f64|m16n8k(16|32|64|128|256))\b", SM_80),
        (r"mma\.sync\.[a-zA-Z0-9_.]*\.(m16n8k8|m8n8k16|m8n8k32|m8n8k128)\b", _SM_75),
    )
)
"""Beginnings of PTX instructions; of several that fit the first counts."""

CLUSTERS: Final = SM_90
"""Launches of blocks in clusters ("Thread Block Clusters": "introduced in compute capability 9.0")."""


@cache
def support_of_instruction(name: str) -> Support | None:
    """Which GPUs have a PTX instruction, given with its modifiers; None where all that are known have it."""
    return next((support for pattern, support in INSTRUCTIONS if pattern.match(name)), None)


def strictest(needs: Iterable[Need]) -> Need | None:
    """The need with the highest lower bound, for the GPUs that meet all of them; there may be none such."""
    found = list(needs)
    if not found:
        return None
    highest = max(found, key=lambda need: need.support.least)
    before = min((need.support.before for need in found if need.support.before is not None), default=None)
    return replace(highest, support=Support(highest.support.least, before))


def target_for(configured: Target, need: Need | None) -> Target | None:
    """The GPU that a kernel is judged by: the configured one, or the smallest known one that has what the kernel needs
    where the configured one hasn't; None where none is known."""
    if need is None or need.support.includes(configured.compute_capability):
        return configured
    return next((target for target in _by_capability() if need.support.includes(target.compute_capability)), None)


def smallest_from(capability: Capability) -> Target | None:
    """The smallest known GPU of at least a compute capability."""
    return next((target for target in _by_capability() if target.compute_capability >= capability), None)


@cache
def _by_capability() -> tuple[Target, ...]:
    known = {find_target(name) for name in architectures()}
    return tuple(sorted(known, key=lambda target: target.compute_capability))


@cache
def architectures() -> tuple[str, ...]:
    return tuple(name for name in target_names() if name.startswith("sm_"))

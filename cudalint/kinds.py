"""The kinds of facts, which rules and users name: those that somebody asks for are collected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

Kind = Literal[
    "accesses", "branches", "alignments", "bounds", "pitches", "barriers", "races", "occupancy", "constants", "costs",
    "arithmetic", "reuse", "neighbours", "uninitialised", "early_reads", "cluster_races", "collectives", "products",
    "axes", "waits", "publications", "launch_faults", "coverage", "overflows",
    "local_arrays", "host", "launch_order", "host_faults",
]
"""In the order in which they are collected, so that none comes before one that it needs. A kernel's launches,
resources and gaps are known in any case: every launch is executed."""
Kinds = frozenset[Kind]

EVERY_KIND: Final[Kinds] = frozenset(get_args(Kind))
SHOWN_KINDS: Final[Kinds] = frozenset({"accesses", "branches", "barriers", "races", "occupancy", "costs"})
"""Those that `cudalint facts` prints, each with a field of its name in `KernelFacts`."""
NO_KIND: Final[Kinds] = frozenset()


def shown_kinds(names: Iterable[str]) -> Kinds:
    """The kinds with these names. Raises `ValueError` for what is none of those that are printed."""
    found: set[Kind] = set()
    for name in map(str.strip, names):
        meant = {kind for kind in SHOWN_KINDS if kind == name.lower()}
        if not meant:
            raise ValueError(f"no facts are called `{name}`; {_hint(name)}")
        found |= meant
    return frozenset(found)


def _hint(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name.lower(), SHOWN_KINDS, 1)
    return f"did you mean `{close[0]}`?" if close else f"there are {', '.join(sorted(SHOWN_KINDS))}"

"""All providers of facts, and which of them collect the kinds that somebody asks for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

import cudalint.measure.providers
from cudalint.kinds import Kind
from cudalint.measure.providers.provider import Provider


def _found() -> Iterator[type[Provider]]:
    """The providers that the modules of this folder define."""
    for module in pkgutil.iter_modules(cudalint.measure.providers.__path__, "cudalint.measure.providers."):
        if module.name != __name__:
            for value in vars(importlib.import_module(module.name)).values():
                is_own = isinstance(value, type) and issubclass(value, Provider) and value.__module__ == module.name
                if is_own and hasattr(value, "kind"):
                    yield value


_ORDER = get_args(Kind)
PROVIDERS: Final[Sequence[type[Provider]]] = sorted(_found(), key=lambda each: _ORDER.index(each.kind))
"""In the order in which they are shown a launch; what one needs comes before it."""


def providers_of(kinds: Iterable[Kind]) -> list[type[Provider]]:
    """The providers of some kinds and of all that these need; what is about host code needs none."""
    by_kind = {provider.kind: provider for provider in PROVIDERS}
    wanted: set[Kind] = set()
    pending = list(kinds)
    while pending:
        kind = pending.pop()
        if kind in by_kind and kind not in wanted:
            wanted.add(kind)
            pending += by_kind[kind].needs
    return [provider for provider in PROVIDERS if provider.kind in wanted]

"""To what a program raises the limit of dynamic shared memory of its kernels."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.frontend.source_text import source_text
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.options.analysis import AnalysisOptions
from cudalint.regexes import regex

_ATTRIBUTE = regex("MaxDynamicSharedMemorySize|max_dynamic_shared_size_bytes", re.IGNORECASE)


class OptIns(Struct, eq=False):
    amounts: Mapping[str, Sequence[Node]]
    """By a kernel's key: the bytes to which the host code raises it."""
    paths: Collection[str]
    """Of the files that contribute."""
    options: AnalysisOptions
    _naming: dict[str, bool] = field(default_factory=dict)
    """Whether a source names the attribute."""

    def noted_in(self, configuration: Configuration, ref: ir.FunctionRef) -> Configuration:
        """Notes to what the host code raises the kernel's limit of dynamic shared memory."""
        site = configuration.site
        takes_some = not (configuration.shared.is_const and configuration.shared.value <= 0)
        if site is None or not takes_some or configuration.source not in ("launch-site", "default"):
            return configuration
        amounts = self.amounts.get(ref.key)
        if amounts is not None:
            plain = [amount.whole for amount in amounts if amount.whole is not None]
            bytes_ = max(plain) if len(plain) == len(amounts) else None
        else:
            # Where the attribute is named at all, it may be set for this kernel by code that is not followed.
            paths = {*self.paths, site.place.path}
            bytes_ = None if any(self.is_named_in(path) for path in paths) else 0
        twins = tuple(replace(twin, opted_in_bytes=bytes_) for twin in configuration.twins)
        return replace(configuration, site=replace(site, opted_in_bytes=bytes_), twins=twins)

    def is_named_in(self, path: str) -> bool:
        """Whether a source names the attribute that raises the limit."""
        found = self._naming.get(path)
        if found is None:
            found = self._naming[path] = _ATTRIBUTE.search(source_text(path, self.options)) is not None
        return found

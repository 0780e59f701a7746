"""The worlds and blocks in which launches of a kernel were executed, for the same kernel after an edit: what is
measured before and after is measured under the same numbers then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.launches.space import LaunchSpace
from cudalint.launches.variants import other_shapes
from cudalint.measure.executed import Compiled, InWorlds, execute
from cudalint.system.processes.deadline import Deadline
from cudalint.worlds.choosing import Worlds
from cudalint.worlds.records import Batch
from cudalint.worlds.text import text_of
from cudalint.worlds.uses import Use

Signature = tuple[str, str, object, int]


class Kept(NamedTuple):
    """One launch that was executed, without the trace."""

    batch: Batch
    space: LaunchSpace
    worlds: Worlds
    parameters: tuple[ir.Symbol, ...]
    uses: frozenset[Signature]
    """What the kernel does with the numbers that it is given."""

    def executed(self, function: ir.Function, compiled: Compiled, deadline: Deadline) -> InWorlds:
        """The edited kernel in the same worlds and blocks."""
        now = dict(zip(self.parameters, function.parameters, strict=True))
        arguments = {now[symbol]: value for symbol, value in self.batch.arguments.items()}
        defaults = {each._replace(symbol=now[each.symbol]): text for each, text in self.batch.defaults.items()}
        batch = replace(self.batch, arguments=arguments, defaults=defaults)
        return InWorlds(execute(function, batch, compiled, deadline), self.space, self.worlds)


class Batches(Struct, eq=False):
    """Those of one instantiation of a kernel."""

    left: set[int] = field(default_factory=set)
    """The launches that were left, since others show what they would."""
    _by_launch: dict[int, Kept] = field(default_factory=dict)

    def keep(self, index: int, configuration: Configuration, chosen: InWorlds) -> None:
        """Keeps what a launch was executed in, unless that may say less than a new choice would: where nobody gives the
        shape of its block, for products that are too large for their types, or for parameters of a template."""
        function, batch = chosen.executed.function, chosen.executed.batch
        symbols = {*batch.arguments, *(each.symbol for each in batch.defaults)}
        is_plain = not batch.overflowing and symbols <= set(function.parameters)
        if is_plain and not other_shapes(configuration, function):
            uses = signatures(chosen.space.text.found)
            self._by_launch[index] = Kept(batch, chosen.space, chosen.worlds, function.parameters, uses)

    def of(self, index: int, configuration: Configuration, function: ir.Function) -> Kept | None:
        """What a launch of the edited kernel can be executed in as before; None where the kernel has another head, or
        does with its numbers what it did not do before, for which other worlds may matter."""
        kept = self._by_launch.get(index)
        if kept is None or kept.batch.block != configuration.block or other_shapes(configuration, function):
            return None
        same_head = [s.name for s in kept.parameters] == [s.name for s in function.parameters]
        return kept if same_head and not _open_uses(signatures(text_of(function).found), kept.uses) else None


def _open_uses(now: frozenset[Signature], before: frozenset[Signature]) -> bool:
    """Whether an edit brings uses of numbers for which other worlds may matter. A vector that begins where a number
    says is none where the edit asks whether that is a multiple: otherwise the kernel does what it did."""
    new = now - before
    asked = {(name, other) for name, kind, other, _ in new if kind == "dividend"}
    return any(kind != "dividend" and not (kind in _WIDE and (name, other) in asked) for name, kind, other, _ in new)


_WIDE = ("vector", "size")
"""Uses of what a pointer to something wider is moved by."""


def signatures(uses: Iterable[Use]) -> frozenset[Signature]:
    """What is the same of uses in two texts of a kernel."""
    return frozenset((use.parameter.name, use.kind, use.other, use.factors) for use in uses)


BatchesOfKernels = Mapping[str, Batches]
"""By the USR of each instantiation."""

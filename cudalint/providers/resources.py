"""How many of a kernel's blocks fit on an SM, launch by launch."""

from __future__ import annotations

from typing import ClassVar, Self

from msgspec.structs import replace

from cudalint.collect.resources import occupancy_of
from cudalint.facts import KernelFacts
from cudalint.hardware.targets import Target
from cudalint.kinds import Kind
from cudalint.providers.provider import Provider, Run, Subject


class OccupancyCollector(Provider, eq=False):
    """The occupancy under each launch, which follows from what it asks for and from the kernel's own needs."""

    kind: ClassVar[Kind] = "occupancy"
    target: Target

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.target)

    def add(self, run: Run) -> None:
        """Nothing that it does counts."""

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        launches = enumerate(facts.launches)
        found = (occupancy_of(index, launch, facts.resources, self.target) for index, launch in launches)
        return replace(facts, occupancy=tuple(found))

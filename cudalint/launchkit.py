"""What the rules about launches share: the launches in sight with their occupancy, findings at the launch, wording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import (
    REGISTER_CEILINGS,
    KernelFacts,
    LaunchFacts,
    LaunchFault,
    LaunchSite,
    Occupancy,
    Place,
    Resources,
)
from cudalint.facts.launch_faults import Sizes
from cudalint.rule import RuleBase


class Seen(NamedTuple):
    """A launch that is visible or stated."""

    launch: LaunchFacts
    site: LaunchSite
    occupancy: Occupancy


def seen_launches(kernel: KernelFacts) -> Iterator[Seen]:
    for occupancy in kernel.occupancy or ():
        launch = kernel.launches[occupancy.launch]
        if launch.site is not None:
            for site in (launch.site, *launch.twins):
                yield Seen(_as_asked(launch, site), site, occupancy)


def _as_asked(launch: LaunchFacts, site: LaunchSite) -> LaunchFacts:
    """The launch as this place asks for it, even if its block is not possible and another one was evaluated."""
    x, y, z = site.block
    if site is not launch.site:
        launch = replace(launch, path=site.place.path, line=site.place.line, site=site, twins=())
    if x is None or y is None or z is None or launch.block == (x, y, z):
        return launch
    return replace(launch, block=(x, y, z), assumptions=())


def counted_registers(resources: Resources) -> int | None:
    """Registers per thread where they are known to the last one, and no mere ceiling."""
    return None if resources.registers_source in REGISTER_CEILINGS else resources.registers


def launch_finding(
    rule: RuleBase,
    kernel: KernelFacts,
    seen: Seen,
    message: str,
    figures: Mapping[str, float],
    suggestion: Suggestion | None = None,
    common: str = "",
) -> Diagnostic:
    """A finding at the launch statement; `common` is what other launches of the file may have in common with it."""
    return rule.finding(
        kernel,
        place=seen.site.place,
        message=message,
        launches=(seen.launch,),
        figures=figures,
        suggestion=suggestion,
        causes=(f"{seen.site.place.path}: {common}",) if common else (),
    )


def launch_at(kernel: KernelFacts, index: int, place: Place) -> LaunchFacts:
    """A launch, or its twin that stands at a place."""
    launch = kernel.launches[index]
    twin = next((twin for twin in launch.twins if twin.place == place), None)
    return launch if twin is None else _as_asked(launch, twin)


def fault_finding(
    rule: RuleBase,
    kernel: KernelFacts,
    fault: LaunchFault,
    message: str,
    figures: Mapping[str, float],
    suggestion: Suggestion | None = None,
) -> Diagnostic:
    """A finding about a launch that fails for some sizes, at its statement: an error where the launch has them for
    certain. Where these may be none that anybody means, they are what it is conditional on."""
    return rule.finding(
        kernel,
        severity="warning" if fault.sizes else rule.severity,
        place=fault.place,
        message=message,
        launches=(launch_at(kernel, fault.launch, fault.place),),
        figures=figures,
        related=tuple(Related(place, "the division") for place in fault.made_at),
        suggestion=suggestion,
        condition=" && ".join(f"{name} == {number}" for name, number in fault.sizes) if fault.is_requirement else "",
        is_example=fault.is_requirement,
    )


def for_sizes(sizes: Sizes) -> str:
    """` for n = 257`, or nothing where the launch gives all sizes."""
    return f" for {and_joined(sizes)}" if sizes else ""


def and_joined(sizes: Sizes) -> str:
    """`rows = 1 and columns = 257`."""
    return " and ".join(f"{name} = {number}" for name, number in sizes)


def percent(share: float) -> str:
    """`53%`; a share that isn't all is never called all, nor one that is something nothing."""
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded}%"

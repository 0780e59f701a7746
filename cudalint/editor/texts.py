"""What is shown of accesses and kernels, in Markdown and in the titles of code lenses.

Names come from the linted code, so that whatever is not the program's own is a code span or a code block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.diagnostics import Picture
from cudalint.facts import Access, AccessResult, KernelFacts, LaunchCost
from cudalint.facts.costs import Resource
from cudalint.numerals import count, dimensions, enumeration, figure
from cudalint.report.formats import costs, facts_text, pictures, plain, wording
from cudalint.report.formats.style import Style
from cudalint.rulekit import is_estimate, is_repeat, noun, picture_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_LAUNCHES = 3
"""Launches whose figures are shown one by one."""
_MOST_GAPS = 3


def access_text(access: Access, kernel: KernelFacts) -> str:
    """What an access costs under each launch, with a picture of its worst request."""
    what = f"{access.space} {noun(access)} of {code(access.array or access.expression)}, {access.bytes} bytes a lane"
    by_line: dict[str, list[int]] = {}
    for result in access.results:
        by_line.setdefault(_figures(access, result, kernel), []).append(result.launch)
    lines = [f"**{what}**", ""]
    for figures, launches in list(by_line.items())[:_MOST_LAUNCHES]:
        blocks = dict.fromkeys(dimensions(kernel.launches[index].block) for index in launches)
        where = f" (block {enumeration(list(blocks))})" if len(by_line) > 1 else ""
        lines.append(f"- {figures}{where}")
    if len(by_line) > _MOST_LAUNCHES:
        lines.append(f"- {count(len(by_line) - _MOST_LAUNCHES, 'more launch', 'more launches')} with other figures")
    drawn = _picture(access)
    if drawn is not None:
        lines += ["", *block(pictures.draw(drawn, Style()))]
    return "\n".join(lines)


def kernel_title(kernels: Sequence[KernelFacts], target: str) -> str:
    """`about 57 us on a100, bound by L1; occupancy 75%`, of the launch that takes longest."""
    found = [(cost, kernel) for kernel in kernels for cost in kernel.costs or () if cost.time_us is not None]
    parts = []
    if found:
        cost, kernel = max(found, key=lambda each: (not each[0].is_nominal, each[0].time_us or 0.0))
        parts.append(_time(cost, target))
        launches = dict.fromkeys((k.instantiation, c.launch) for c, k in found)
        if len(launches) > 1 and not cost.is_nominal:
            parts[0] += f", the longest of {len(launches)} launches"
        shares = [o.occupancy for o in kernel.occupancy or () if o.launch == cost.launch and o.occupancy is not None]
        parts += [f"occupancy {costs.share(shares[0])}"] if shares else []
    else:
        parts.append("its time is not known")
    gaps = sum(len(kernel.gaps) for kernel in kernels)
    parts += [f"{count(gaps, 'gap')} in its analysis"] if gaps else []
    return "; ".join(parts)


def kernel_text(kernels: Sequence[KernelFacts], target: str) -> str:
    """A kernel's instantiations with their launches: what each costs, what binds it, and what is not known of it."""
    lines: list[str] = []
    for kernel in kernels:
        lines += [f"**{code(kernel.instantiation)}**", ""]
        by_text: dict[str, list[str]] = {}
        for index, launch in enumerate(kernel.launches):
            text = "\n".join(_under_launch(kernel, index, target))
            by_text.setdefault(text, []).append(wording.launch_phrase(launch))
        for text, launches in list(by_text.items())[:_MOST_LAUNCHES]:
            lines += [f"- {code(launches[0])}{_more(launches)}", text]
        if len(by_text) > _MOST_LAUNCHES:
            lines.append(f"- {count(len(by_text) - _MOST_LAUNCHES, 'more launch', 'more launches')}")
        gaps = [f"line {gap.line}: {gap.own_reason}" for gap in kernel.gaps]
        lines += [f"- not analysed: {code(gap)}" for gap in gaps[:_MOST_GAPS]]
        if len(gaps) > _MOST_GAPS:
            lines.append(f"- {count(len(gaps) - _MOST_GAPS, 'more gap')}")
        lines.append("")
    return "\n".join(lines).rstrip()


def _more(launches: Sequence[str]) -> str:
    return f" and {count(len(launches) - 1, 'more launch', 'more launches')} alike" if len(launches) > 1 else ""


def _under_launch(kernel: KernelFacts, index: int, target: str) -> Iterator[str]:
    for cost in kernel.costs or ():
        if cost.launch == index:
            yield f"  - {_time(cost, target)}" if cost.time_us is not None else f"  - {_no_time(cost)}"
            yield from _limits(cost.limits_us)
            if cost.arithmetic_intensity is not None and cost.ridge is not None:
                intensity = figure(cost.arithmetic_intensity)
                yield f"  - {intensity} operations per byte of DRAM traffic; the ridge is {figure(cost.ridge)}"
    for occupancy in kernel.occupancy or ():
        if occupancy.launch == index:
            yield f"  - {plain.line(facts_text.occupancy_phrase(occupancy, kernel.resources))}"
    assumptions = kernel.launches[index].assumptions
    if assumptions:
        yield f"  - assumed: {', '.join(map(code, assumptions))}"


def _limits(limits: Mapping[Resource, float]) -> Iterator[str]:
    longest = sorted(limits.items(), key=lambda each: -each[1])[:4]
    if longest:
        yield "  - " + ", ".join(f"{costs.NAMES[name]} {costs.duration(time)}" for name, time in longest if time)


def _time(cost: LaunchCost, target: str) -> str:
    if cost.is_nominal:
        return f"{costs.bound_by(cost.bound)} on {target}; {costs.how_long(cost)}"
    return costs.estimate(cost.time_us or 0.0, target, cost.bound)


def _no_time(cost: LaunchCost) -> str:
    return "its time is not known" + (f": {plain.line(cost.reason)}" if cost.reason else "")


def _figures(access: Access, result: AccessResult, kernel: KernelFacts) -> str:
    """`32 wavefronts per request, ideal 1: 32-way conflict; 45% of the kernel's passes through shared memory`."""
    found = access.per_request(result)
    if is_repeat(result):
        return "makes no request of its own: the value of another load is used"
    if found.text is None or found.ideal is None:
        return f"{result.status}" + (f": {code(result.reason)}" if result.reason else "")
    figures = [f"{found.text}, ideal {figure(found.ideal)}"]
    if result.conflict_ways is not None and result.conflict_ways > 1:
        figures.append(f"{figure(result.conflict_ways)}-way bank conflict")
    if result.active_lanes is not None and result.active_lanes < 32:
        figures.append(f"{figure(result.active_lanes)} of 32 lanes active")
    figures += [part] if (part := _part(access, result, kernel)) else []
    if is_estimate(result):
        figures.append("an estimate, as for random data")
    elif result.status != "exact":
        figures.append(result.status)
    if result.assumptions:
        figures.append(f"assumed {', '.join(map(code, result.assumptions))}")
    return "; ".join(figures)


def _part(access: Access, result: AccessResult, kernel: KernelFacts) -> str:
    """What share of all sectors or wavefronts of the kernel the access asks for."""
    cost = kernel.cost_of(result.launch)
    if cost is None or result.requests is None:
        return ""
    each = access.per_request(result).actual
    is_shared = access.space == "shared"
    total = cost.wavefronts if is_shared else cost.sectors
    if not total or not each:
        return ""
    what = "passes through shared memory" if is_shared else "sectors of global memory"
    return f"{costs.share(min(1.0, result.requests * each / total))} of the kernel's {what}"


def _picture(access: Access) -> Picture | None:
    """The worst request of the launch that has the worst."""
    followed = (result.sample for result in access.results if not is_repeat(result) and not is_estimate(result))
    found = [drawn for sample in followed if (drawn := picture_of(access, sample)) is not None]
    return max(found, key=lambda picture: picture.taken, default=None)


def code(text: str) -> str:
    """A piece of the linted code as a code span of Markdown."""
    return f"`{plain.line(' '.join(text.split())).replace('`', chr(39))}`"


def block(lines: Iterator[str]) -> list[str]:
    return ["```text", *(plain.line(line).replace("`", "'") for line in lines), "```"]

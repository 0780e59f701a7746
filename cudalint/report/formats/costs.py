"""What findings cost, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, get_args

from cudalint.diagnostics import Diagnostic, HeldBack
from cudalint.facts import Bound, FindingCost, KernelCost, LaunchCost, LaunchFacts
from cudalint.hardware.cost.findings import cost_of_all
from cudalint.numerals import count, enumeration
from cudalint.report.findings.results import CheckResult

NAMES: Final[dict[Bound, str]] = {
    "dram": "DRAM",
    "l2": "L2",
    "l1": "L1",
    "shared": "shared memory",
    "constant": "constant memory",
    "issue": "instruction issue",
    "fp32": "FP32 arithmetic",
    "fp64": "FP64 arithmetic",
    "fp16": "FP16 arithmetic",
    "special": "special functions",
    "tensor": "tensor cores",
    "latency": "latency",
    "launch": "the launch itself",
}


_MOST_SIZES = 3


def phrase(cost: FindingCost) -> str:
    """`about 31% of the kernel's time on a100 (110 us, bound by L2), 64% of its traffic through L1`."""
    kernel = cost.kernel
    if cost.share is None or kernel is None:
        return f"not known: {cost.reason}" if cost.reason else "not known"
    part = share(cost.share)
    part = part if part.startswith("under") else f"about {part}"
    takes = f"{duration(kernel.time_us)}{for_sizes(kernel, cost.if_short)}, {bound_by(kernel.bound)}"
    if kernel.is_nominal:
        takes = f"{bound_by(kernel.bound)}; {how_long(kernel)}"
    takes += f"; {kernel.doubt}" if kernel.doubt else ""
    text = f"{part} of the kernel's time on {kernel.target} ({takes})"
    if cost.program_share is not None:
        text += f", {share(cost.program_share)} of the program's recorded time"
    if cost.traffic_share:
        text += f", {share(cost.traffic_share)} of its traffic through L1"
    if cost.if_short:
        text += f", if {' and '.join(cost.if_short)}"
    if cost.findings > 1:
        text += f", all {cost.findings} together"
    return text


def for_sizes(kernel: KernelCost, said: Collection[str] = ()) -> str:
    """` for n = 40960 where a loop at line 6 has 4 iterations`: what nothing in sight says and the kernel's time rests
    on, but for what is said anyway. Empty where it rests on nothing of the kind, or is no time of any sizes."""
    if kernel.is_nominal:
        return ""
    lengths = [text for text in kernel.lengths if text not in said]
    text = f" for {enumeration(_first(kernel.sizes, 'more number'))}" if kernel.sizes else ""
    return text + (f" where {enumeration(_first(lengths, 'more loop'))}" if lengths else "")


def _first(texts: Sequence[str], more: str) -> list[str]:
    left = len(texts) - _MOST_SIZES
    return [*texts[:_MOST_SIZES], count(left, more)] if left > 0 else [*texts]


def how_long(cost: KernelCost | LaunchCost) -> str:
    """`--param n=N --param m=N tell how long`: what nothing in sight gives and the time rests on."""
    if not cost.rests_on:
        return "how long rests on sizes that nothing in sight gives"
    options = [f"--param {name}=N" for name in cost.rests_on[:_MOST_SIZES]]
    more = " ..." if len(cost.rests_on) > _MOST_SIZES else ""
    return f"`{' '.join(options)}{more}` {'tells' if len(cost.rests_on) == 1 else 'tell'} how long"


def estimated(cost: LaunchCost) -> str:
    """`about 110 us`; of a launch whose sizes nothing gives what tells that. Its time has to be known."""
    return how_long(cost) if cost.is_nominal else f"about {duration(cost.time_us or 0.0)}"


def of(diagnostic: Diagnostic) -> FindingCost | None:
    """What a finding costs together with those that it stands for and that cost most in the same launch."""
    costs = [each.cost for each in (diagnostic, *diagnostic.also) if each.cost is not None]
    if len(costs) < 2:
        return costs[0] if costs else None
    kernel = costs[0].kernel
    same = [cost for cost in costs if cost.kernel is not None and cost.kernel == kernel]
    if kernel is None or len(same) < 2:
        return costs[0]
    return cost_of_all(kernel, same)


def estimate(time_us: float, target: str, bound: Bound) -> str:
    """`about 110 us on a100, bound by L2`."""
    return f"about {duration(time_us)} on {target}, {bound_by(bound)}"


def bound_by(bound: Bound) -> str:
    return f"bound by {NAMES.get(bound, 'nothing known')}"


def share(value: float) -> str:
    """`31%`, `0.4%`; what is something is never called nothing."""
    percent = 100 * value
    if percent >= 1 or not percent:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 0.1 else "under 0.1%"


def duration(microseconds: float) -> str:
    """`2.4 us`, `110 us`, `3.2 ms`: two digits, as it is an estimate."""
    return _in_units(microseconds, _two_digits)


def measured(microseconds: float) -> str:
    """`12.3 us`, `4.00 us`: three digits."""
    return _in_units(microseconds, _three_digits)


def recorded(launch: LaunchFacts) -> str:
    """`12.3 us as recorded`; empty where nobody has measured it."""
    return f"{measured(launch.recorded_us)} as recorded" if launch.recorded_us else ""


def times(time_us: float | None, launch: LaunchFacts) -> str:
    """`9.8 us; 12.3 us as recorded`, of these what is known; empty where nothing is."""
    return "; ".join(filter(None, (duration(time_us) if time_us else "", recorded(launch))))


def _in_units(microseconds: float, digits: Callable[[float], str]) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= 0.9995 * size:
            return f"{digits(microseconds / size)} {unit}"
    return f"{digits(microseconds)} us"


def _two_digits(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{float(f'{value:.2g}'):.0f}"


def _three_digits(value: float) -> str:
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{float(f'{value:.3g}'):.0f}"


def minor(result: CheckResult) -> Iterator[str]:
    """`Not shown: 12 that take under 10% of their kernel, 3 in few launches (`--all`)`, where there are any."""
    numbers = Counter(diagnostic.held_back for diagnostic in result.minor if diagnostic.held_back != "conditional")
    reasons = [reason for reason in get_args(HeldBack) if numbers[reason]]
    if reasons:
        yield f"Not shown: {', '.join(_held_back(each, numbers[each], result.min_share) for each in reasons)} (`--all`)"


def _held_back(reason: HeldBack, number: int, least: float) -> str:
    match reason:
        case "small":
            what = f"takes under {share(least)} of its" if number == 1 else f"take under {share(least)} of their"
            return f"{number} that {what} kernel"
        case "unknown":
            return f"{number} of unknown cost"
        case "few":
            return f"{number} in few of the launches evaluated"
        case "conditional":
            return f"{number} conditional"
        case "no-action":
            return f"{number} about code that could not be evaluated"

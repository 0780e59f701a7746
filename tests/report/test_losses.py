"""What findings cost, as people are told of it."""

from __future__ import annotations

from handmade import column_read, strided_load
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Excess, FindingCost, KernelCost, Operations, Waits, Work
from cudalint.hardware.cost.findings import cost_of_all
from cudalint.hardware.cost.machine import machine_of
from cudalint.hardware.cost.model import estimate
from cudalint.hardware.targets import find_target
from cudalint.report.findings.results import CheckResult
from cudalint.report.formats import costs, losses
from cudalint.report.formats.presentation import by_cost

_SECTORS = 40_000_000.0


def _cost(excess: Excess) -> FindingCost:
    """Of a kernel that does nothing but to read 40 million sectors, 1.28 GB, from DRAM."""
    size = 32 * _SECTORS
    work = Work(
        4096, 8, 8, Operations(), 1e6, {"global": 1e6, "shared": 0.0}, _SECTORS, _SECTORS / 4, 0.0, size, size, Waits()
    )
    [launch] = column_read().launches
    time = estimate(work, machine_of(find_target("a100"))).time
    kernel = KernelCost(replace(launch, grid=(4096, 1, 1)), "a100", time, "dram", work)
    return cost_of_all(kernel, [FindingCost(None, None, "dram", excess=excess)])


def _half(part: float) -> FindingCost:
    return _cost(Excess(part * _SECTORS, l2_bytes=32 * part * _SECTORS, dram_bytes=32 * part * _SECTORS))


def test_lines_about_kernels_that_lose() -> None:
    quarter = [replace(strided_load(), cost=_half(0.25)), replace(column_read(), cost=_half(0.25))]
    head, line = losses.kernels(CheckResult("a100", tuple(quarter)))
    assert head.startswith("Kernels that lose most")
    # 1.28 GB at 1.36 TB/s, which is 0.875 of the data sheet, take 940 us, and what goes on at the same time adds a bit.
    kernel = _half(0.5).kernel
    assert kernel is not None
    assert 940 <= kernel.time_us <= 1034
    assert "us on a100, bound by DRAM; 2x faster" in line
    assert line.endswith("without its 2 findings")
    assert "grid 4096" in line
    little = replace(strided_load(), cost=_cost(Excess(instructions=1.0)))
    assert list(losses.kernels(CheckResult("a100", (little, column_read())))) == []


def test_times_say_the_sizes_that_they_rest_on() -> None:
    """Numbers that nothing gives, and loops."""
    cost = _half(0.5)
    kernel = cost.kernel
    assert kernel is not None
    assert costs.for_sizes(kernel) == ""
    loop = "a loop at line 6 has 256 iterations"
    sized = replace(kernel, sizes=("n = 40960",), lengths=(loop,))
    assert costs.for_sizes(sized) == f" for n = 40960 where {loop}"
    assert costs.for_sizes(sized, said=[loop]) == " for n = 40960"
    many = replace(kernel, sizes=("a = 1", "b = 2", "c = 3", "d = 4"))
    assert costs.for_sizes(many) == " for a = 1, b = 2, c = 3 and 1 more number"
    assert " for n = 40960 where a loop" in costs.phrase(replace(cost, kernel=sized))
    (_, line) = losses.kernels(CheckResult("a100", (replace(strided_load(), cost=replace(cost, kernel=sized)),)))
    assert ", grid 4096 for n = 40960 where a loop at line 6 has 256 iterations: about " in line


def test_what_data_decides_is_told_of_a_time() -> None:
    cost = _half(0.5)
    assert cost.kernel is not None
    doubt = "which lanes are active depends on data; the figure is for all lanes that may be"
    assert doubt not in costs.phrase(cost)
    assert f"bound by DRAM; {doubt})" in costs.phrase(replace(cost, kernel=replace(cost.kernel, doubt=doubt)))


def test_of_sizes_that_nothing_gives_no_time_is_told() -> None:
    """But which part of it goes away, and what gives the sizes; kernels of known sizes come first."""
    cost = _half(0.5)
    assert cost.kernel is not None
    loop = "a loop at line 6 has 256 iterations"
    nominal = replace(cost.kernel, is_nominal=True, rests_on=("n", "m"), lengths=(loop,))
    told = costs.phrase(replace(cost, kernel=nominal))
    assert "of the kernel's time on a100 (bound by DRAM; `--param n=N --param m=N` tell how long)" in told
    assert "iterations" not in told
    of_any = replace(strided_load(), kernel="any", instantiation="any", cost=replace(cost, kernel=nominal))
    known = replace(column_read(), cost=_half(0.25))
    _, first, second = losses.kernels(CheckResult("a100", (of_any, known)))
    assert "grid 4096: about" in first
    assert "any, block 32x32: bound by DRAM on a100; 2x faster" in second
    assert second.endswith("; `--param n=N --param m=N` tell how long")
    assert costs.how_long(replace(nominal, rests_on=("n",))) == "`--param n=N` tells how long"
    assert costs.how_long(replace(nominal, rests_on=())) == "how long rests on sizes that nothing in sight gives"


def test_what_takes_most_comes_first_behind_what_is_wrong() -> None:
    def named(name: str, severity: str, cost: FindingCost | None, code: str = "CL101") -> Diagnostic:
        return replace(strided_load(), name=name, severity=severity, cost=cost, code=code)

    unknown = FindingCost(None, None, "unknown", reason="data decides")
    found = [
        named("incomplete", "info", None, "CL902"),
        named("unknown", "warning", unknown),
        named("little", "warning", _half(0.1)),
        named("unguarded", "warning", None, "CL106"),
        named("much", "info", _half(0.5)),
        named("race", "error", None, "CL301"),
    ]
    assert [d.name for d in by_cost(found)] == ["race", "unguarded", "much", "little", "unknown", "incomplete"]
    assert costs.phrase(unknown) == "not known: data decides"


def test_words_for_shares_and_times() -> None:
    assert [costs.share(v) for v in (0, 0.0004, 0.004, 0.314)] == ["0%", "under 0.1%", "0.4%", "31%"]
    assert [costs.duration(v) for v in (2.4, 112, 999.9, 3210)] == ["2.4 us", "110 us", "1.0 ms", "3.2 ms"]


def test_the_line_about_what_is_only_counted() -> None:
    small = replace(strided_load(), held_back="small")
    unknown = replace(column_read(), held_back="unknown")
    assert list(costs.minor(CheckResult("a100", minor=(small, small), min_share=0.02))) == [
        "Not shown: 2 that take under 2% of their kernel (`--all`)"
    ]
    (line,) = costs.minor(CheckResult("a100", minor=(unknown, small), min_share=0.02))
    assert line == "Not shown: 1 that takes under 2% of its kernel, 1 of unknown cost (`--all`)"

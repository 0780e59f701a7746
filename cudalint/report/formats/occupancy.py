"""`cudalint occupancy`: the figures, what stops the next block, and what would let it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from cudalint.hardware.occupancy import DEFAULT_SETTING, Limits, Occupancy, Setting, occupancy
from cudalint.hardware.targets import Target
from cudalint.hardware.whatif import BLOCK_SIZES, Alternative, Cliff, by_block_size, by_registers, cliffs
from cudalint.numerals import count
from cudalint.report.formats.diagnostics_json import JsonObject, document_head, picked
from cudalint.report.formats.style import Style


class Question(Struct, frozen=True):
    """A block, as the user describes it."""

    target: Target
    threads: int
    registers: int | None
    shared: int
    setting: Setting = DEFAULT_SETTING

    def answer(self) -> Occupancy:
        return occupancy(self.target, self.threads, self.registers, self.shared, setting=self.setting)

    def cliffs(self) -> tuple[Cliff, ...]:
        return cliffs(self.target, self.threads, self.registers, self.shared, setting=self.setting)

    def by_block_size(self) -> tuple[Alternative, ...]:
        sizes = sorted({*BLOCK_SIZES, self.threads})
        return by_block_size(self.target, self.registers, self.shared, sizes=sizes, setting=self.setting)

    def by_registers(self) -> tuple[Alternative, ...]:
        """The table for registers that aren't known; empty where they are."""
        if self.registers is not None:
            return ()
        return by_registers(self.target, self.threads, self.shared, setting=self.setting)


def json_object(question: Question) -> JsonObject:
    result = question.answer()
    return {
        **document_head(question.target.name),
        "architecture": question.target.architecture,
        "threads": question.threads,
        "registers": question.registers,
        "shared_bytes": question.shared,
        **_figures(result),
        **picked(result, "needs_opt_in", "obstacles"),
        "cliffs": [
            {"resource": cliff.resource, "value": cliff.value, **_figures(cliff.occupancy)}
            for cliff in question.cliffs()
        ],
        "by_block_size": [{"threads": row.value, **_figures(row.occupancy)} for row in question.by_block_size()],
        "by_registers": [{"registers": row.value, **_figures(row.occupancy)} for row in question.by_registers()],
    }


def _figures(result: Occupancy) -> JsonObject:
    return {
        **picked(result, "blocks_per_sm", "warps_per_sm", "occupancy", "limiters"),
        "limits": dict(result.limits.by_resource()),
    }


def text_lines(question: Question, style: Style) -> Iterator[str]:
    result = question.answer()
    yield style.paint(_title(question), "bold")
    yield f"  blocks per SM  {result.blocks_per_sm}"
    yield f"  warps per SM   {result.warps_per_sm} of {question.target.max_warps_per_sm} ({_percent(result)})"
    yield f"  limited by     {', '.join(_resource(limiter) for limiter in result.limiters)}"
    yield f"  limits         {_limits(result.limits)}"
    for obstacle in result.obstacles:
        yield f"  {style.paint('no block fits', 'red')}: {obstacle}"
    if result.needs_opt_in and result.launchable:
        yield "  needs cudaFuncAttributeMaxDynamicSharedMemorySize raised, and dynamic shared memory"
    for cliff in question.cliffs():
        yield f"  {_cliff(question, cliff)}"
    yield ""
    yield from _table("threads", question.by_block_size(), question.threads, style)
    if question.registers is None:
        yield ""
        yield from _table("registers", question.by_registers(), None, style)


def _title(question: Question) -> str:
    target = question.target
    registers = "registers unknown" if question.registers is None else f"{question.registers} registers per thread"
    text = f"{target.name} ({target.architecture}): {count(question.threads, 'thread')}, {registers}"
    return f"{text}, {count(question.shared, 'byte')} of shared memory per block"


def _limits(limits: Limits) -> str:
    """`warps 8, blocks 32, registers 6, shared memory 18`."""
    return ", ".join(f"{_resource(name)} {_blocks(limit)}" for name, limit in limits.by_resource().items())


def _blocks(limit: int | None) -> str:
    return "-" if limit is None else str(limit)


def _cliff(question: Question, cliff: Cliff) -> str:
    """`8 registers fewer (32) let 8 blocks in: 64 warps, 100%`."""
    now = (question.registers or 0) if cliff.resource == "registers" else question.shared
    noun = "register" if cliff.resource == "registers" else "byte"
    fewer = count(now - cliff.value, noun)
    verb = "lets" if now - cliff.value == 1 else "let"
    after = cliff.occupancy
    blocks = count(after.blocks_per_sm, "block")
    return f"{fewer} fewer ({cliff.value}) {verb} {blocks} in: {after.warps_per_sm} warps, {_percent(after)}"


def _table(heading: str, rows: Sequence[Alternative], chosen: int | None, style: Style) -> Iterator[str]:
    yield style.paint(f"  {heading:>9}  {'blocks':>6}  {'warps':>5}  {'occupancy':>9}  limited by", "dim")
    for row in rows:
        result = row.occupancy
        limited = ", ".join(_resource(limiter) for limiter in result.limiters)
        numbers = f"{result.blocks_per_sm:>6}  {result.warps_per_sm:>5}  {_percent(result):>9}"
        line = f"  {row.value:>9}  {numbers}  {limited}"
        yield style.paint(line, "cyan") if row.value == chosen else line


def _resource(name: str) -> str:
    return name.replace("_", " ")


def _percent(result: Occupancy) -> str:
    return f"{100 * result.occupancy:.0f}%"

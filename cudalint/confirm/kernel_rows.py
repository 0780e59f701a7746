"""Rows about a kernel as a whole: its shared memory, its occupancy, and the errors that it ends in."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.confirm.preparing import Candidate, asked_block
from cudalint.confirm.rows import Row, Verdict, verdict_on
from cudalint.confirm.trials import Device, Outcome
from cudalint.hardware.occupancy import occupancy
from cudalint.hardware.targets import UnknownTarget, find_target


class Measured(Struct, eq=False):
    """A kernel under one launch with what was measured of it."""

    candidate: Candidate
    outcome: Outcome | None
    lost: str = ""
    """Why there is no outcome."""
    rows: list[Row] = field(default_factory=list)


def problem(outcome: Outcome) -> str:
    if outcome.compile_error:
        return f"it does not compile: {outcome.compile_error}"
    return outcome.run_error or "nothing was recorded"


def module_rows(one: Measured, device: Device | None) -> list[Row]:
    """Shared memory as the compiler laid it out, and how many blocks an SM holds by the driver's calculator."""
    outcome, candidate = one.outcome, one.candidate
    if outcome is None or outcome.module is None:
        return []
    module, rows = outcome.module, []
    static = candidate.kernel.resources.static_shared_bytes
    if static is not None:
        arrays = [access.declaration for access in candidate.kernel.accesses if access.space == "shared"]
        if any(array is not None and not array.total_bytes for array in arrays):
            # The compiler lets dynamic shared memory begin at a multiple of 16, and counts the gap.
            static = -(-static // 16) * 16
        rows.append(_kernel_row(one, "static shared bytes", static, module.static_shared, "module", ""))
    if any(expected.certain for expected in candidate.expected):
        return rows  # What cannot be launched has no occupancy.
    blocks = _predicted_blocks(candidate, outcome, device)
    if blocks is not None and module.blocks_per_sm is not None:
        note = f"{module.registers} registers, {module.local} local bytes"
        rows.append(_kernel_row(one, "blocks per SM", blocks, module.blocks_per_sm, "driver", note))
    return rows


def _predicted_blocks(candidate: Candidate, outcome: Outcome, device: Device | None) -> int | None:
    """What the occupancy formula says for this device, with the registers that the compiler gave the kernel."""
    assert outcome.module is not None
    try:
        target = find_target(device.architecture if device else "")
    except UnknownTarget:
        return None
    assert candidate.trial is not None
    x, y, z = candidate.trial.block
    module = outcome.module
    return occupancy(
        target, x * y * z, module.registers, module.static_shared, candidate.trial.dynamic_shared
    ).blocks_per_sm


def _kernel_row(
    one: Measured, quantity: str, predicted: float, measured: float | None, source: str, note: str
) -> Row:
    candidate = one.candidate
    place = candidate.kernel.name_place
    return Row(
        place.path, place.line, place.column, candidate.kernel.instantiation, asked_block(candidate.facts),
        candidate.facts.grid, quantity, candidate.kernel.name, predicted, measured, verdict_on(predicted, measured),
        source, note,
    )  # fmt: skip


def outcome_rows(one: Measured) -> list[Row]:
    """Errors: those that were predicted, and those that cost a kernel its measurements."""
    outcome = one.outcome
    for expected in sorted(one.candidate.expected, key=lambda e: not e.certain):
        if expected.certain or _fits(_said(outcome) or one.lost, expected.words):
            return [_error_row(one, expected.diagnostic.code, expected.diagnostic.message, expected.words)]
    if outcome is None:
        return [_run_row(one, None, "not measured", one.lost)]
    if outcome.compile_error:
        return [_run_row(one, None, "not measured", problem(outcome))]
    if outcome.run_error:
        invented = _invented(one.candidate)
        if invented:
            return [_run_row(one, None, "not measured", f"{outcome.run_error}, with {invented}, which nothing says")]
        return [_run_row(one, outcome.run_error, "off", "the linter did not predict it")]
    if outcome.overrun:
        return [_run_row(one, _said(outcome), "off", "outside of the bytes that were evaluated")]
    return []


def _said(outcome: Outcome | None) -> str | None:
    """What went wrong, if anything did."""
    if outcome is None:
        return None
    names = ", ".join(f"`{name}`" for name in outcome.overrun)
    return outcome.run_error or outcome.compile_error or (f"wrote outside of {names}" if names else None)


def _invented(candidate: Candidate) -> str:
    """What of a launch comes from the linter alone."""
    sizes = candidate.plan.assumed if candidate.plan is not None else ()
    return ", ".join((*sizes, *candidate.facts.assumptions))


def _error_row(one: Measured, code: str, message: str, words: Sequence[str]) -> Row:
    row = _run_row(one, None, "not measured", f"{code}: {message}")
    row = replace(row, quantity="error", predicted=words[0])
    outcome = one.outcome
    if outcome is None and not _fits(one.lost, words):
        return replace(row, note=one.lost)
    text = _said(outcome) or one.lost or None
    if text is None:
        return replace(row, measured="no error", verdict="off")
    return replace(row, measured=text, verdict="equal" if _fits(text, words) else "off")


def _fits(text: str | None, words: Sequence[str]) -> bool:
    return text is not None and any(word in text.lower().replace("_", " ") for word in words)


def _run_row(one: Measured, measured: str | None, verdict: Verdict, note: str) -> Row:
    candidate = one.candidate
    place = candidate.kernel.name_place
    return Row(
        place.path, place.line, place.column, candidate.kernel.instantiation, asked_block(candidate.facts),
        candidate.facts.grid, "run", candidate.kernel.name, "no error", measured, verdict, "driver", note,
    )  # fmt: skip

"""`cudalint what-if`: a table for each kernel, with a row for each variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.cli.whatif.variants import Outcome
from cudalint.numerals import dimensions, figure
from cudalint.report.formats.costs import bound_by, duration
from cudalint.report.formats.diagnostics_json import JsonObject, document_head, picked

_HEAD = ("", "variant", "block", "grid", "time", "bound by", "occupancy", "sectors", "wavefronts", "DRAM", "findings")
_MOST_NAMED = 4
"""Findings that a row lists."""


def json_object(tables: Sequence[Sequence[Outcome]], targets: Sequence[str]) -> JsonObject:
    kernels = [{"kernel": table[0].kernel, "variants": [_object(one) for one in table]} for table in tables if table]
    return {**document_head(", ".join(targets)), "kernels": kernels}


def _object(one: Outcome) -> JsonObject:
    variant = one.variant
    return {
        "variant": variant.text,
        **picked(one, "target", "block", "grid"),
        "pads": dict(variant.pads),
        "params": {value.name: value.value for value in variant.params},
        "registers": variant.registers,
        **picked(
            one, "time_us", "bound", "occupancy", "sectors", "wavefronts", "dram_bytes", "findings", "appeared",
            "vanished",
        ),
        "failure": one.failure or None,
        **picked(one, "is_comparable", "is_best"),
    }  # fmt: skip


def text_lines(tables: Sequence[Sequence[Outcome]]) -> Iterator[str]:
    for number, table in enumerate(tables):
        if number:
            yield ""
        yield from _table(table)


def _table(table: Sequence[Outcome]) -> Iterator[str]:
    for target in dict.fromkeys(one.target for one in table):
        of_target = [one for one in table if one.target == target]
        yield f"{of_target[0].kernel} on {target}"
        rows = [_HEAD, *(_row(one) for one in of_target if not one.failure)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        for row in rows:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for one in of_target:
            if one.failure:
                yield f"  {one.variant.text}: not possible: {one.failure}"
    if any(one.is_best for one in table):
        yield "  * the fastest that does the same work and brings no fault"
    written_for = [one for one in table if not one.is_comparable and one.variant.block and not one.variant.params]
    if written_for:
        yield f"  `{table[0].kernel}` doesn't read blockDim: it is written for its block, and others do other work"


def _row(one: Outcome) -> tuple[str, ...]:
    return (
        "*" if one.is_best else "",
        one.variant.text,
        _extents(one.block),
        _extents(one.grid),
        "-" if one.time_us is None else duration(one.time_us),
        "-" if one.bound == "unknown" else bound_by(one.bound).removeprefix("bound by "),
        "-" if one.occupancy is None else f"{one.occupancy:.0%}",
        _amount(one.sectors),
        _amount(one.wavefronts),
        "-" if one.dram_bytes is None else f"{figure(one.dram_bytes / 1e6)} MB",
        _findings(one),
    )


def _findings(one: Outcome) -> str:
    if one.variant.is_as_written:
        return _listed(one.findings, "") or "none"
    parts = [part for part in (_listed(one.appeared, "+"), _listed(one.vanished, "-")) if part]
    return " ".join(parts) or "the same"


def _listed(findings: Sequence[str], sign: str) -> str:
    more = len(findings) - _MOST_NAMED
    named = [f"{sign}{finding}" for finding in findings[:_MOST_NAMED]]
    return " ".join([*named, f"and {more} more"] if more > 0 else named)


def _amount(value: float | None) -> str:
    return "-" if value is None else figure(value)


def _extents(extents: tuple[int, int, int] | None) -> str:
    return "-" if extents is None else dimensions(extents)

"""What a GPU said, kept beside a source: `tile.measured.json` beside `tile.cu`.

The file is a JSON object, whose member `confirm` is written here; members that others put there stay. Tests without
a GPU hold every prediction against it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from cudalint import __version__
from cudalint.confirm.fixes import FixRow
from cudalint.confirm.rows import Row
from cudalint.confirm.session import Report
from cudalint.system.disk.replacing import write_whole

MEMBER = "confirm"


def record_path(path: str) -> str:
    return os.path.splitext(path)[0] + ".measured.json"


def write_records(report: Report, fixes: Sequence[FixRow], date: str) -> list[str]:
    """Writes one record for each file; the paths of the records."""
    paths = sorted({one.candidate.kernel.name_place.path for one in report.measured})
    written: list[str] = []
    for path in paths:
        target = record_path(path)
        whole = _existing(target)
        whole[MEMBER] = _record(report, fixes, path, date)
        write_whole(target, _pretty(whole).encode())
        written.append(target)
    return written


def _existing(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _record(report: Report, fixes: Sequence[FixRow], path: str, date: str) -> dict[str, Any]:
    assert report.device is not None
    device = asdict(report.device)
    del device["nvcc"]
    rows = [row for row in report.rows if row.path == path]
    return {
        "tool": f"cudalint {__version__}",
        "date": date,
        "device": device,
        "launches": [
            {
                "kernel": one.candidate.kernel.instantiation,
                "line": one.candidate.kernel.name_place.line,
                "block": list(one.candidate.facts.block),
                "grid": list(one.candidate.facts.grid),
                "assumed": list(one.candidate.plan.assumed) if one.candidate.plan else [],
                **_module(one.outcome.module if one.outcome else None),
                "milliseconds": _rounded(one.outcome.milliseconds if one.outcome else None),
            }
            for one in report.measured
            if one.candidate.kernel.name_place.path == path
        ],
        "rows": [_row(row) for row in rows],
        "fixes": [_fix(row) for row in fixes if row.path == path],
    }


def _module(module: Any) -> dict[str, Any]:
    return {} if module is None else {"registers": module.registers, "local": module.local}


def _row(row: Row) -> dict[str, Any]:
    keep = asdict(row)
    for name in ("path", "column"):
        del keep[name]
    return {key: value for key, value in keep.items() if value not in ("", None)}


def _fix(row: FixRow) -> dict[str, Any]:
    keep = asdict(row)
    del keep["path"]
    for name in ("milliseconds_before", "milliseconds_after"):
        keep[name] = _rounded(keep[name])
    return keep


def _rounded(milliseconds: float | None) -> float | None:
    """To what the events of a GPU resolve: half a microsecond, and one more digit."""
    return None if milliseconds is None else round(milliseconds, 5)


def _pretty(whole: Mapping[str, Any]) -> str:
    """Indented, but a row or a launch on one line: so that a change of one shows as one."""
    return "{\n" + ",\n".join(f'  "{key}": {_member(value)}' for key, value in whole.items()) + "\n}\n"


def _member(value: Any, depth: int = 1) -> str:
    pad = "  " * (depth + 1)
    if isinstance(value, dict) and depth < 2:
        inner = ",\n".join(f'{pad}"{key}": {_member(one, depth + 1)}' for key, one in value.items())
        return "{\n" + inner + "\n" + "  " * depth + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        inner = ",\n".join(pad + json.dumps(one, ensure_ascii=False) for one in value)
        return "[\n" + inner + "\n" + "  " * depth + "]"
    return json.dumps(value, ensure_ascii=False)


# --- reading ------------------------------------------------------------------------------------------------------


def recorded(path: str) -> Mapping[str, Any] | None:
    """The record beside a source, if there is one."""
    found: Mapping[str, Any] | None = _existing(record_path(path)).get(MEMBER)
    return found

"""`primaryLocationLineHash`, by which GitHub's code scanning knows an alert again after lines have moved.

The action that uploads SARIF adds it where it is missing, and warns where it differs from its own; uploads that don't
go through the action need it. So it is computed in the action's way (github/codeql-action, `src/fingerprints.ts`):
each line is hashed with what follows, over 100 UTF-16 code units without spaces and tabs.
"""

from __future__ import annotations

from collections import Counter

_WINDOW = 100
_FACTOR = 37
_BITS = (1 << 64) - 1
_END = 0xFFFF


def line_hashes(text: str) -> list[str]:
    """The hash of each line, with `:N` for the N-th line that has it."""
    units, starts = _significant(text)
    units += [_END] + [0] * _WINDOW
    seen: Counter[str] = Counter()
    found: list[str] = []
    for start in starts:
        value = 0
        for unit in units[start : start + _WINDOW]:
            value = (value * _FACTOR + unit) & _BITS
        spelled = f"{value:x}"
        seen[spelled] += 1
        found.append(f"{spelled}:{seen[spelled]}")
    return found


def _significant(text: str) -> tuple[list[int], list[int]]:
    """The code units that count, line ends being line feeds, and where among them each line starts."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    units: list[int] = []
    starts: list[int] = []
    for number, line in enumerate(lines):
        starts.append(len(units))
        data = line.replace(" ", "").replace("\t", "").encode("utf-16-le", "surrogatepass")
        units += (int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2))
        if number < len(lines) - 1:
            units.append(ord("\n"))
    return units, starts

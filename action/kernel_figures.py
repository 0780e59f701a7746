"""The kernels whose figures a change has moved, as a table in Markdown: from what `cudalint facts --format json` says
of the revision before and of the one after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

KINDS = "accesses,costs,occupancy"
"""The kinds of facts that are read."""
_MOST_ROWS = 40
_ARROW = "→"
BOUNDS = {
    "dram": "DRAM", "l2": "L2", "l1": "L1", "shared": "shared memory", "constant": "constant memory",
    "issue": "instruction issue", "fp32": "FP32 arithmetic", "fp64": "FP64 arithmetic", "fp16": "FP16 arithmetic",
    "special": "special functions", "tensor": "tensor cores", "latency": "latency", "launch": "the launch itself",
}  # fmt: skip
"""What binds a kernel, as cudalint's own reports call it."""


class Figures(NamedTuple):
    """Of a kernel under the launch that takes longest; None for what is not known."""

    launch: str
    time_us: float | None
    bound: str
    sectors: float | None
    """Of global memory, by all of the grid."""
    wavefronts: float | None
    """Passes through shared memory."""
    occupancy: float | None

    def shown(self) -> tuple[str, ...]:
        time = _time(self.time_us)
        return (
            self.launch,
            f"{time}, {self.bound}" if self.bound else time,
            _amount(self.sectors),
            _amount(self.wavefronts),
            "?" if self.occupancy is None else f"{self.occupancy:.0%}",
        )


Kernels = Mapping[tuple[str, str], Figures]
"""By the path of a file and the kernel's name with its template arguments."""


def kernels(document: Mapping[str, Any]) -> Kernels:
    """Those of a JSON document of facts."""
    return {
        (file["path"], kernel["instantiation"]): _figures(kernel)
        for file in document["files"]
        for kernel in file["kernels"]
        if kernel["launches"]
    }


def failed(document: Mapping[str, Any]) -> set[str]:
    """The paths of which nothing is known, as of a file that took too long."""
    return {file["path"] for file in document["files"] if file["status"] == "failed"}


def without(known: Kernels, paths: set[str]) -> Kernels:
    return {name: figures for name, figures in known.items() if name[0] not in paths}


def _figures(kernel: Mapping[str, Any]) -> Figures:
    costs = {cost["launch"]: cost for cost in kernel["costs"] or ()}
    number = max(range(len(kernel["launches"])), key=lambda index: costs.get(index, {}).get("time_us") or 0.0)
    launch, cost = kernel["launches"][number], costs.get(number, {})
    shares = [each["occupancy"] for each in kernel["occupancy"] or () if each["launch"] == number]
    grid = f"{_extents(launch['grid'])}{' assumed' if launch['grid_is_assumed'] else ''}"
    return Figures(
        f"{_extents(launch['block'])}, grid {grid}",
        cost.get("time_us"),
        BOUNDS.get(cost.get("bound") or "", cost.get("bound") or ""),
        cost.get("sectors"),
        cost.get("wavefronts"),
        shares[0] if shares else None,
    )


def table(before: Kernels, after: Kernels) -> list[str]:
    """Lines of a table of what is different, what has become slower most first; none where nothing is."""
    found = [
        (_weight(old, new), name, row)
        for name in {**before, **after}
        if (row := _row(old := before.get(name), new := after.get(name))) is not None
    ]
    if not found:
        return []
    found.sort(key=lambda each: (-each[0], each[1]))
    lines = [
        "| kernel | block | time, bound by | sectors | wavefronts | occupancy |",
        "|---|---|---|---|---|---|",
        *(f"| {_code(name)}<br>{_code(path)} | {' | '.join(row)} |" for _, (path, name), row in found[:_MOST_ROWS]),
    ]
    left = len(found) - _MOST_ROWS
    return [*lines, *(("", f"{left} more kernels have changed.") if left > 0 else ())]


def _row(old: Figures | None, new: Figures | None) -> tuple[str, ...] | None:
    """What is told of a kernel that has changed, as far as it is shown; None for one that hasn't."""
    if old is None or new is None:
        known = old or new
        assert known is not None
        launch, *others = known.shown()
        return (f"{'new' if old is None else 'gone'}: {launch}", *others)
    pairs = list(zip(old.shown(), new.shown(), strict=True))
    if all(one == other for one, other in pairs):
        return None
    return tuple(one if one == other else f"{one} {_ARROW} **{other}**" for one, other in pairs)


def _weight(old: Figures | None, new: Figures | None) -> float:
    """How many times longer it takes than before; in between for what can't be compared."""
    if old is None or new is None or not old.time_us or not new.time_us:
        return 1.0
    return new.time_us / old.time_us


def _time(microseconds: float | None) -> str:
    if microseconds is None:
        return "?"
    return _scaled(microseconds, 2, ((1e6, " s"), (1e3, " ms"), (1, " us")))


def _amount(number: float | None) -> str:
    if number is None:
        return "?"
    return _scaled(number, 3, ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1, "")))


def _scaled(number: float, digits: int, units: Sequence[tuple[float, str]]) -> str:
    """With so many digits that mean something, in the largest unit of which there is one."""
    factor, unit = next((each for each in units if number >= each[0]), units[-1])
    return f"{float(f'{number / factor:.{digits}g}'):g}{unit}"


def _extents(sizes: list[int]) -> str:
    kept = sizes[: max((index for index, size in enumerate(sizes) if size != 1), default=0) + 1]
    return "x".join(map(str, kept))


def _code(text: str) -> str:
    """What a repository calls something, as a code span within a table: it means nothing to whoever renders it."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return f"`{shown.replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def body(marker: str, before: str, rows: list[str], unknown: int = 0) -> str:
    """The comment, or what the summary of a run says: a heading, the table, and what the figures are. Of `unknown`
    files nothing is known in one of the revisions."""
    return "\n".join(_body(marker, before, rows, unknown)) + "\n"


def _body(marker: str, before: str, rows: list[str], unknown: int) -> Iterator[str]:
    yield marker
    yield "### cudalint: kernels that have changed"
    yield ""
    if rows:
        yield from rows
        yield ""
        yield f"Of the launch that takes longest, by the model of cudalint; before is {before}. No GPU measured this."
    else:
        yield f"No kernel has other figures than in {before}."
    if unknown:
        files = "1 file" if unknown == 1 else f"{unknown} files"
        yield f"\nNot compared: {files} that could not be evaluated in one of the two."

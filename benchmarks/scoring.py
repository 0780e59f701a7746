"""Compares what cudalint predicts with what Nsight Compute's source counters measured, line by line.

A measured line is one kernel, block shape, file, source line and memory space. Its figures are sectors per request
for global memory, and wavefronts over the ideal for shared memory, since the compiler may merge neighbouring scalar
accesses into wide ones, which changes the wavefronts and their ideal together.

- *covered*: at least one figure is predicted for the line.
- *exact*: each distinct value that was measured on the line, over its machine instructions, has a predicted value
  within 5%, and each predicted value a measured one. A predicted figure of global memory also counts after
  multiplication by `active_request_fraction`: a predicated instruction is counted even where no lane is active.
- *bad*: the mean figure is over 1.25 times the mean ideal. A line is *flagged* if its predictions say the same.
- Averages are taken over the lines of a program first and over programs then, so that no large program decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

TOLERANCE = 0.05
EXCESS = 1.25
SPACES = ("global", "shared")

_WITH_FIGURES = frozenset({"exact", "assumed", "range"})
_VISIBLE_LAUNCH = frozenset({"launch-site", "annotation"})
_KEYS = {"global": "sectors", "shared": "wavefronts"}


class LineKey(NamedTuple):
    """Where a figure belongs, whichever instantiation and block it is for."""

    kernel: str
    """Without namespaces and template arguments."""
    file: str
    """Without folders."""
    line: int
    space: str


class MeasuredLine(Struct, frozen=True):
    key: LineKey
    kernel: str
    """As the profiler names it."""
    block: tuple[int, ...]
    values: tuple[float, ...]
    """The distinct figures of the line's instructions, in ascending order."""
    bad: bool


class Prediction(Struct, frozen=True):
    """The result of one access under one launch."""

    key: LineKey
    block: tuple[int, ...] | None
    """None where no launch is in sight: the prediction stands for any block."""
    status: str
    value: float | None
    """The figure in the unit of the measured one, None where none is known."""
    ideal: float
    fraction: float
    reason: str | None = None
    assumptions: tuple[str, ...] = ()


class LineScore(Struct, frozen=True):
    measured: MeasuredLine
    predictions: tuple[Prediction, ...]
    """All that cudalint says about the line, with figures or without."""
    covered: bool
    exact: bool
    flagged: bool

    @property
    def predicted(self) -> list[float]:
        """The distinct predicted figures, in ascending order."""
        return sorted({round(p.value, 2) for p in self.predictions if p.value is not None})


class Totals(Struct, frozen=True):
    """The averages of one memory space. The first two are means over programs, the third one is over lines."""

    programs: int
    lines: int
    covered: float
    exact: float
    exact_of_covered: float
    exact_by_line: float
    hits: int
    false_alarms: int
    misses: int

    @property
    def precision(self) -> float | None:
        return _ratio(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> float | None:
        return _ratio(self.hits, self.hits + self.misses)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


# --- what was measured ------------------------------------------------------------------------------


class _Sums(Struct):
    """The instructions of one line, added up."""

    requests: int = 0
    cost: float = 0.0
    ideal: float = 0.0
    values: set[float] = field(default_factory=set)

    def add(self, space: str, instruction: Mapping[str, Any]) -> None:
        cost, ideal, requests = (instruction[name] for name in ("per_request", "ideal_per_request", "requests"))
        self.requests += requests
        self.cost += cost * requests
        self.ideal += ideal * requests
        if cost:
            self.values.add(round(cost if space == "global" else cost / (ideal or 1), 2))


def measured_lines(program: Mapping[str, Any]) -> list[MeasuredLine]:
    """The lines of one program of the counters file; one that no lane ever executed is left out."""
    sums: dict[tuple[str, tuple[int, ...], str, int, str], _Sums] = {}
    for kernel in program["kernels"]:
        for row in kernel["lines"]:
            if row["space"] not in SPACES:
                continue
            name = (kernel["kernel"], tuple(kernel["block"]), row["file"], row["line"], row["space"])
            line = sums.setdefault(name, _Sums())
            for instruction in row["instructions"]:
                line.add(row["space"], instruction)
    return [
        MeasuredLine(
            LineKey(plain_name(kernel), file, number, space),
            kernel,
            block,
            tuple(sorted(line.values)),
            bad=line.cost > EXCESS * line.ideal,
        )
        for (kernel, block, file, number, space), line in sums.items()
        if line.values
    ]


def plain_name(name: str) -> str:
    """A kernel's bare name: `void ns::f<(int)3>(float *)` becomes `f`."""
    depth = 0
    kept: list[str] = []
    for character in name.replace("(anonymous namespace)::", ""):
        if character == "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0:
            if character == "(":
                break
            kept.append(character)
    words = "".join(kept).split()
    return words[-1].split("::")[-1] if words else name


# --- what is predicted --------------------------------------------------------------------------------


def predictions(document: Mapping[str, Any]) -> Iterator[Prediction]:
    """All results in the output of `cudalint facts --format json`, but for accesses that no lane reaches."""
    for file in document["files"]:
        for kernel in file.get("kernels") or ():
            for access in kernel.get("accesses") or ():
                if access["space"] not in SPACES:
                    continue
                for result in access["results"]:
                    if result["status"] != "unreached":
                        yield _prediction(kernel, access, result)


def _prediction(kernel: Mapping[str, Any], access: Mapping[str, Any], result: Mapping[str, Any]) -> Prediction:
    space = access["space"]
    launch = kernel["launches"][result["launch"]]
    value, ideal = _figure(result, _KEYS[space])
    if space == "shared" and value is not None:
        value, ideal = value / ideal, 1.0
    return Prediction(
        key=LineKey(plain_name(kernel["name"]), access["path"].rpartition("/")[2], access["line"], space),
        block=tuple(launch["block"]) if launch["source"] in _VISIBLE_LAUNCH else None,
        status=result["status"],
        value=value,
        ideal=ideal,
        fraction=result.get("active_request_fraction") or 1.0,
        reason=result.get("reason"),
        assumptions=tuple(result.get("assumptions") or ()),
    )


def _figure(result: Mapping[str, Any], name: str) -> tuple[float | None, float]:
    """A figure and its ideal; a range counts as its middle."""
    ideal: float | None = result.get(f"ideal_{name}")
    if result["status"] not in _WITH_FIGURES or not ideal:
        return None, 0.0
    value: float | None = result.get(f"{name}_per_request")
    bounds: Sequence[float] | None = result.get(f"{name}_range")
    if value is None and bounds:
        value = sum(bounds) / 2
    return value, ideal


# --- the comparison -----------------------------------------------------------------------------------


def score_lines(lines: Iterable[MeasuredLine], predicted: Iterable[Prediction]) -> list[LineScore]:
    """Sets what was measured in one program against what is predicted for it."""
    by_key: dict[LineKey, list[Prediction]] = defaultdict(list)
    for prediction in predicted:
        by_key[prediction.key].append(prediction)
    return [_score(line, by_key.get(line.key, ())) for line in lines]


def _score(line: MeasuredLine, predicted: Iterable[Prediction]) -> LineScore:
    candidates = tuple(p for p in predicted if p.block is None or p.block == line.block)
    known = [(p, p.value) for p in candidates if p.value is not None]
    if not known:
        return LineScore(line, candidates, covered=False, exact=False, flagged=False)
    fits = [[_fits(measured, p, value) for p, value in known] for measured in line.values]
    every_measured = all(any(row) for row in fits)
    every_predicted = all(any(column) for column in zip(*fits, strict=True))
    flagged = sum(value for _, value in known) > EXCESS * sum(p.ideal for p, _ in known)
    return LineScore(line, candidates, covered=True, exact=every_measured and every_predicted, flagged=flagged)


def _fits(measured: float, prediction: Prediction, value: float) -> bool:
    if is_close(measured, value):
        return True
    return prediction.key.space == "global" and is_close(measured, value * prediction.fraction)


def is_close(left: float, right: float) -> bool:
    """Equal within the tolerance, which is relative to the larger one."""
    return abs(left - right) <= TOLERANCE * max(left, right)


def totals(programs: Iterable[Sequence[LineScore]], space: str) -> Totals | None:
    """The averages of one space; None where nothing was measured in it."""
    chosen = [[score for score in scores if score.measured.key.space == space] for scores in programs]
    chosen = [scores for scores in chosen if scores]
    flat = [score for scores in chosen for score in scores]
    if not flat:
        return None
    covered = [score for score in flat if score.covered]
    return Totals(
        programs=len(chosen),
        lines=len(flat),
        covered=_mean([_share(scores, lambda s: s.covered) for scores in chosen]),
        exact=_mean([_share(scores, lambda s: s.exact) for scores in chosen]),
        exact_of_covered=_share(covered, lambda s: s.exact),
        exact_by_line=_share(flat, lambda s: s.exact),
        hits=sum(s.flagged and s.measured.bad for s in flat),
        false_alarms=sum(s.flagged and not s.measured.bad for s in flat),
        misses=sum(s.measured.bad and not s.flagged for s in flat),
    )


def _share(scores: Sequence[LineScore], holds: Callable[[LineScore], bool]) -> float:
    return sum(map(holds, scores)) / len(scores) if scores else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

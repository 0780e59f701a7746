"""Holds the predictions of today against what a GPU measured once: this needs no GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cudalint.confirm.comparing import Prediction, predictions
from cudalint.confirm.preparing import Candidate, asked_block
from cudalint.confirm.rows import agree
from cudalint.hardware.occupancy import occupancy
from cudalint.hardware.targets import UnknownTarget, find_target
from cudalint.rulekit import is_repeat

RecordedRow = Mapping[str, Any]
Today = tuple[float | str, bool]
"""A prediction, and whether it agrees with a measurement."""


def differences(candidates: Sequence[Candidate], record: Mapping[str, Any]) -> Iterator[str]:
    """Where a prediction of today is not what was measured; one line each."""
    for recorded in record["rows"]:
        hold = _HOLD.get(recorded["quantity"])
        if hold is None or recorded["verdict"] == "not measured":
            continue
        theirs = _of_row(candidates, recorded)
        row = {**recorded, "line": recorded["line"] + _moved(theirs, record)}
        found = [today for candidate in theirs for today in hold(candidate, row, record)]
        where = f"line {row['line']}, {row['kernel']}, {row['quantity']} of {row['subject']}"
        if not found and row.get("source") == "instrumented build" and any(_is_left_out(c, row) for c in theirs):
            continue  # That build makes the source's accesses, also those that the compiler leaves out.
        if not found:
            yield f"{where}: measured {row['measured']}, nothing is predicted"
        elif not any(agrees for _, agrees in found):
            figure = found[0][0]
            text = figure if isinstance(figure, str) else f"{figure:.4g}"
            yield f"{where}: measured {row['measured']}, predicted {text}"


def _of_row(candidates: Sequence[Candidate], row: RecordedRow) -> list[Candidate]:
    """The launches that a row is of. Where sizes are open that the grid is for, it was another grid than today's if
    none has that grid."""
    of_block = [candidate for candidate in candidates if _has_block(candidate, row)]
    same = [candidate for candidate in of_block if row["grid"] == [*candidate.facts.grid]]
    return same or [candidate for candidate in of_block if not _is_grid_known(candidate)]


def _has_block(candidate: Candidate, row: RecordedRow) -> bool:
    facts = candidate.facts
    is_block = row["block"] in ([*facts.block], [*asked_block(facts)])
    return is_block and candidate.kernel.instantiation == row["kernel"]


def _is_grid_known(candidate: Candidate) -> bool:
    site = candidate.facts.site
    return site is not None and site.grid is not None and None not in site.grid


def _moved(candidates: Sequence[Candidate], record: Mapping[str, Any]) -> int:
    """By how many lines a kernel has moved since it was measured, with all that it consists of."""
    for candidate in candidates:
        for launch in record["launches"]:
            if launch["kernel"] == candidate.kernel.instantiation and "line" in launch:
                return candidate.kernel.name_place.line - int(launch["line"])
    return 0


# --- what is predicted, by quantity -----------------------------------------------------------------------------


def _accesses(candidate: Candidate, row: RecordedRow) -> Iterator[Prediction]:
    for prediction in predictions(candidate.kernel, candidate.launch):
        if prediction.access.place.line == row["line"] and prediction.subject == row["subject"]:
            yield prediction


def _is_left_out(candidate: Candidate, row: RecordedRow) -> bool:
    """Whether an access of a line is said to make no request of its own, as its value is in a register."""
    return any(
        result.launch == candidate.launch and is_repeat(result)
        for access in candidate.kernel.accesses
        if access.place.line == row["line"]
        for result in access.results
    )


def _requests(candidate: Candidate, row: RecordedRow, _: Mapping[str, Any]) -> Iterator[Today]:
    found = list(_accesses(candidate, row))
    for prediction in found:
        yield prediction.figure, _agrees(prediction, row)
    for own in (
        [each for each in found if each.access is access] for access in dict.fromkeys(p.access for p in found)
    ):
        requests = sum(each.result.requests or 0.0 for each in own)
        if len(own) > 1 and requests:
            # Counters may have the copies that the machine's code has of an access in one row.
            mean = sum(each.figure * (each.result.requests or 0.0) for each in own) / requests
            yield mean, agree(mean, row["measured"])


def _agrees(prediction: Prediction, row: RecordedRow) -> bool:
    """With the measurement itself; where that is of a predicated or merged instruction, by what its note says."""
    if prediction.range is not None:
        low, high = prediction.range
        return bool(low * 0.95 <= row["measured"] <= high * 1.05)
    if agree(prediction.figure, row["measured"]):
        return True
    note = str(row.get("note", ""))
    if note.startswith("predicated"):
        return agree(prediction.figure * (prediction.result.active_request_fraction or 1.0), row["measured"])
    if "-byte instructions" in note and row.get("ideal") and prediction.ideal:
        return agree(prediction.figure / prediction.ideal, row["measured"] / row["ideal"])
    return note.startswith("as part of all calls") and bool(row["verdict"] == "equal")


def _lanes(candidate: Candidate, row: RecordedRow, _: Mapping[str, Any]) -> Iterator[Today]:
    for prediction in _accesses(candidate, row):
        lanes = prediction.result.active_lanes or 0.0
        yield lanes, agree(lanes, row["measured"])


def _splits(candidate: Candidate, row: RecordedRow, _: Mapping[str, Any]) -> Iterator[Today]:
    for branch in candidate.kernel.branches or ():
        if (branch.place.line, branch.kind) != (row["line"], row["subject"]):
            continue
        for result in branch.results:
            if result.launch == candidate.launch:
                predicted = result.divergent_warps or 0.0
                if predicted and branch.is_loop:
                    yield predicted, row["measured"] > 0  # A warp jumps often, and is counted once.
                else:
                    yield predicted, agree(predicted, row["measured"])


def _jumps(candidate: Candidate, row: RecordedRow, _: Mapping[str, Any]) -> Iterator[Today]:
    """Of branches that are said to be none in machine code."""
    for branch in candidate.kernel.branches or ():
        if (branch.place.line, branch.kind) == (row["line"], row["subject"]):
            for result in branch.results:
                if result.launch == candidate.launch:
                    yield result.compiled or "unknown", result.compiled in ("predicated", "exit")


def _static_shared(candidate: Candidate, row: RecordedRow, _: Mapping[str, Any]) -> Iterator[Today]:
    predicted = candidate.kernel.resources.static_shared_bytes
    if predicted is not None:
        # Where dynamic shared memory follows, the gap before it counts.
        yield predicted, row["measured"] in (predicted, -(-predicted // 16) * 16)


def _blocks_per_sm(candidate: Candidate, row: RecordedRow, record: Mapping[str, Any]) -> Iterator[Today]:
    """The occupancy formula for the registers and the shared memory that the compiler gave the kernel then."""
    try:
        target = find_target(record["device"]["architecture"])
    except UnknownTarget:
        return
    same = [one for one in record["launches"] if all(one[key] == row[key] for key in ("kernel", "block", "grid"))]
    shared = [
        one["measured"]
        for one in record["rows"]
        if (one["quantity"], one["kernel"]) == ("static shared bytes", row["kernel"])
    ]
    for launch in same:
        if "registers" in launch and candidate.plan is not None:
            x, y, z = row["block"]
            static, dynamic = int(shared[0]) if shared else 0, candidate.plan.dynamic_shared
            blocks = occupancy(target, x * y * z, launch["registers"], static, dynamic).blocks_per_sm or 0
            yield blocks, blocks == row["measured"]


def _errors(candidate: Candidate, row: RecordedRow, _: Mapping[str, Any]) -> Iterator[Today]:
    code = str(row.get("note", "")).partition(":")[0]
    for expected in candidate.expected:
        if expected.diagnostic.code == code:
            said = str(row["measured"]).lower().replace("_", " ")
            yield expected.words[0], any(word in said for word in expected.words)


def _runs(_: Candidate, row: RecordedRow, __: Mapping[str, Any]) -> Iterator[Today]:
    """A kernel that failed although nothing was predicted."""
    yield "no error", bool(row["verdict"] == "equal")


_HOLD: Mapping[str, Callable[[Candidate, RecordedRow, Mapping[str, Any]], Iterator[Today]]] = {
    "sectors": _requests,
    "wavefronts": _requests,
    "active lanes": _lanes,
    "divergent warps": _splits,
    "divergent jumps": _jumps,
    "static shared bytes": _static_shared,
    "blocks per SM": _blocks_per_sm,
    "error": _errors,
    "run": _runs,
}

"""Matches machine instructions with the accesses and branches of the source, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.confirm.comparing import Measurement, Prediction
from cudalint.confirm.counters import Instruction
from cudalint.confirm.rows import Row, Verdict, agree, verdict_on
from cudalint.facts import KernelFacts
from cudalint.hardware.requests import WARP_LANES

_BRANCHES = ("BRA", "BRX", "EXIT", "RET", "BREAK")
_NO_JUMP = ("predicated", "exit")
"""Forms of a branch (`facts.Compiled`) that no warp splits at, by the counters' count."""
_NEAR = 3
"""Lines by which the compiler's attribution was seen to be off."""


class _Group(Struct, frozen=True):
    """The predictions of one kind of access on one line, and the instructions of that kind that stand there."""

    members: tuple[int, ...]
    there: tuple[Instruction, ...]
    others: bool
    """Whether accesses without a figure are among them."""


def from_counters(
    kernel: KernelFacts, wanted: Sequence[Prediction], instructions: Sequence[Instruction], path_of: Mapping[str, str]
) -> dict[int, Measurement]:
    """Measurements by the index of the prediction."""
    groups = list(_groups(kernel, wanted, instructions, path_of))
    found: dict[int, Measurement] = {}
    for group in groups:
        for index in group.members:
            measured = _measured(wanted, index, group)
            if measured is not None:
                found[index] = measured
    orphans = [index for group in groups if not group.there for index in group.members]
    for group in groups:
        found.update(_strays(wanted, group, found, orphans))
    return found


def _groups(
    kernel: KernelFacts, wanted: Sequence[Prediction], instructions: Sequence[Instruction], path_of: Mapping[str, str]
) -> Iterator[_Group]:
    members: dict[tuple[str, int, str, str], list[int]] = {}
    for index, prediction in enumerate(wanted):
        access = prediction.access
        members.setdefault((access.place.path, access.place.line, access.space, access.operation), []).append(index)
    for (path, line, space, operation), found in members.items():
        there = [i for i in instructions if i.executed and (i.line, i.space, i.operation) == (line, space, operation)]
        there = [i for i in there if path_of.get(i.path) == path]
        others = len(found) < _accesses_at(kernel, path, line, space, operation)
        yield _Group(tuple(found), tuple(there), others)


def _strays(
    wanted: Sequence[Prediction], group: _Group, found: Mapping[int, Measurement], orphans: list[int]
) -> Iterator[tuple[int, Measurement]]:
    """The compiler attributes some instructions to a neighbouring line: `s += a[i]; s += b[i];`.

    Where one access of a line agrees with some of its instructions, and each of the rest agrees with an access of its
    kind that has no instruction on its own line, they are taken for those.
    """
    if len(group.members) != 1 or group.members[0] not in found:
        return
    [index] = group.members
    prediction = wanted[index]
    if agree(prediction.figure, found[index].figure):
        return
    own = [i for i in group.there if agree(prediction.figure, i.cost / i.executed)]
    rest = [i for i in group.there if not agree(prediction.figure, i.cost / i.executed)]
    taken: dict[int, Instruction] = {}
    for instruction in rest:
        stray = next((o for o in orphans if o not in taken and _could_be(wanted[o], prediction, instruction)), None)
        if stray is None:
            return
        taken[stray] = instruction
    if own and rest:
        yield index, _together(own, "")
        for stray, instruction in taken.items():
            orphans.remove(stray)
            yield stray, _together([instruction], f"attributed to line {instruction.line}")


def _could_be(orphan: Prediction, neighbour: Prediction, instruction: Instruction) -> bool:
    access = orphan.access
    is_near = access.place.path == neighbour.access.place.path and abs(access.place.line - instruction.line) <= _NEAR
    same_kind = (access.space, access.operation, access.bytes) == (
        instruction.space, instruction.operation, instruction.bytes,
    )  # fmt: skip
    return is_near and same_kind and agree(orphan.figure, instruction.cost / instruction.executed)


def _together(instructions: Sequence[Instruction], note: str) -> Measurement:
    executed = sum(i.executed for i in instructions)
    return Measurement(
        sum(i.cost for i in instructions) / executed,
        sum(i.ideal for i in instructions) / executed,
        note,
        sum(i.threads for i in instructions) / executed,
    )


def _accesses_at(kernel: KernelFacts, path: str, line: int, space: str, operation: str) -> int:
    """All accesses of a kind on a line, with a figure or without."""
    return sum(
        (a.place.path, a.place.line, a.space, a.operation) == (path, line, space, operation) for a in kernel.accesses
    )


def _measured(wanted: Sequence[Prediction], index: int, group: _Group) -> Measurement | None:
    """The instructions of a line that are this access, taken together."""
    members, there = group.members, group.there
    prediction = wanted[index]
    width = prediction.access.bytes
    own = [i for i in there if i.bytes == width]
    if not own:
        return _merged(prediction, there)
    rivals = [wanted[m] for m in members if wanted[m].access.bytes == width]
    if len({round(r.figure, 3) for r in rivals}) > 1:
        # Several accesses of the line differ: each instruction belongs to the one that comes nearest.
        assigned = [i for i in own if min(rivals, key=lambda r: _distance(r, i)).figure == prediction.figure]
        own = assigned or [min(own, key=lambda i: _distance(prediction, i))]
    if group.others:
        own = [i for i in own if agree(prediction.figure, i.cost / i.executed)] or own
    measured = _together(own, "")
    fraction = prediction.result.active_request_fraction or 1.0
    if agree(prediction.figure, measured.figure) or fraction == 1.0:
        return measured
    if agree(prediction.figure * fraction, measured.figure):
        return replace(measured, note=f"predicated: {fraction:.3g} of the issued instructions have an active lane")
    return measured


def _distance(prediction: Prediction, instruction: Instruction) -> float:
    return abs(prediction.figure - instruction.cost / instruction.executed)


def _merged(prediction: Prediction, there: Sequence[Instruction]) -> Measurement | None:
    """What the compiler made of an access in another width has conflicts per ideal wavefront to compare."""
    executed = sum(i.executed for i in there)
    ideal = sum(i.ideal for i in there)
    if not executed or not ideal or not prediction.ideal:
        return None
    figure = sum(i.cost for i in there) / executed
    ratio = figure * executed / ideal
    width = "/".join(str(w) for w in sorted({i.bytes for i in there}))
    if agree(prediction.figure / prediction.ideal, ratio):
        note = f"as part of {width}-byte instructions, {ratio:.3g} times the ideal"
        return Measurement(figure, ideal / executed, note)
    return Measurement(figure, ideal / executed, f"{width}-byte instructions")


# --- branches ----------------------------------------------------------------------------------------------------


def branch_rows(
    kernel: KernelFacts, launch: int, instructions: Sequence[Instruction], path_of: Mapping[str, str]
) -> Iterator[Row]:
    """Whether warps split where the linter says so."""
    facts = kernel.launches[launch]
    for branch in kernel.branches or ():
        for result in branch.results:
            if result.launch != launch or result.verdict not in ("uniform", "warp-uniform", "divergent"):
                continue
            predicted = result.divergent_warps or 0.0
            there = [
                i
                for i in instructions
                if i.executed and i.line == branch.place.line and path_of.get(i.path) == branch.place.path
                and any(name in i.text.split() or f"{name}." in i.text for name in _BRANCHES)
            ]
            if not predicted and not there:
                continue  # No branch, no split: there is nothing that could disagree.
            measured, note = _divergence(predicted, there, branch.is_loop)
            row = Row(
                branch.place.path, branch.place.line, branch.place.column, kernel.instantiation, facts.block,
                facts.grid, "divergent warps", branch.kind, round(predicted, 4), measured,
                "not measured" if measured is None else _branch_verdict(predicted, measured, there, branch.is_loop),
                "ncu",
                note,
            )  # fmt: skip
            yield _without_jump(row) if measured is None and result.compiled in _NO_JUMP else row


def _without_jump(row: Row) -> Row:
    """What the compiler makes no jump of parts no lanes: where the linter says so, there is something to confirm."""
    return replace(row, quantity="divergent jumps", predicted=0.0, measured=0.0, verdict="equal")


def _divergence(predicted: float, there: Sequence[Instruction], is_loop: bool) -> tuple[float | None, str]:
    """The share of executions that split a warp, and what there is to say about it."""
    if not there:
        return None, "the compiler made no branch of it"
    if predicted and not any(i.divergent for i in there):
        return None, "the compiler predicated it"
    low, high = _splits(there)
    executed = sum(i.executed for i in there)
    # A condition with several parts has a jump for each; an unrolled loop has a jump for each of its iterations.
    shares = [*(i.divergent / i.executed for i in there), low / executed]
    nearest = min(shares, key=lambda share: abs(share - predicted))
    if is_loop and predicted:
        return round(nearest, 4), "per jump; the prediction is per warp"
    if not agree(predicted, nearest) and low <= predicted * executed <= high:
        return round(predicted, 4), f"with an EXIT of some lanes, {low} to {high} of {executed} jumps split their warp"
    return round(nearest, 4), ""


def _splits(there: Sequence[Instruction]) -> tuple[int, int]:
    """How many executions have split their warp: ncu counts jumps, but no exits of some of the lanes."""
    counted = sum(i.divergent for i in there)
    unclear = 0
    for exit_ in (i for i in there if "EXIT" in i.text):
        staying = exit_.executed * WARP_LANES - exit_.threads
        unclear += min(exit_.executed, exit_.threads, staying)
    return counted, counted + unclear


def _branch_verdict(predicted: float, measured: float, there: Sequence[Instruction], is_loop: bool) -> Verdict:
    """A warp jumps often in a loop and splits at some of the jumps: there it only counts whether it does."""
    if is_loop and predicted:
        return "equal" if measured else "off"
    if not predicted and any(i.divergent for i in there):
        return "off"
    return verdict_on(predicted, measured)

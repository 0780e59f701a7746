"""Memory that is read, written or released: whether whoever does it may, and whether it is still there."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from cudalint.facts import Place
from cudalint.facts.host_faults import FaultKind, HostFault
from cudalint.host.memory.places import name_of, spelled
from cudalint.host.memory.pointers import Allocation, Pointer
from cudalint.host.memory.state import Pending, Released
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

OF_HOST: Collection[str] = frozenset({"pageable", "variable"})
OF_DEVICE: Collection[str] = frozenset({"device", "symbol"})


def is_all(pointer: Pointer, spaces: Collection[str]) -> bool:
    """Whether a pointer leads to memory of these spaces, wherever it leads."""
    return bool(pointer.targets) and not pointer.may_be_null and all(t.space in spaces for t in pointer.targets)


def fault(
    an: Analysis, kind: FaultKind, expr: ir.Expr, pointer: Pointer, by: str, at: Place | None = None,
    before: Released | Pending | None = None, asked: str = "", held: str = "", name: str = "",
) -> None:  # fmt: skip
    """Notes what is wrong with memory that a pointer leads to."""
    if an.silent:
        return
    target = min(pointer.targets, key=lambda each: each.made_at)
    an.fault(HostFault(
        kind, at or Place(*expr.span), name or name_of(expr), by, target.space, target.made_by, target.made_at,
        before.place if before is not None else None, before.by if before is not None else "", asked, held,
    ))  # fmt: skip


def released(an: Analysis, pointer: Pointer) -> Released | None:
    """How memory was released, if it was, wherever the pointer leads."""
    found = [an.state.released.get(target) for target in pointer.targets]
    if not found or pointer.may_be_null:
        return None
    return found[0] if all(each is not None for each in found) else None


def by_host(an: Analysis, pointer: Pointer, expr: ir.Expr, writes: bool, by: str = "") -> None:
    """The host reads or writes memory."""
    if an.silent or not pointer.targets:
        return
    before = released(an, pointer)
    if before is not None:
        fault(an, "freed-before", expr, pointer, by, before=before)
    elif is_all(pointer, OF_DEVICE):
        fault(an, "touched-by-host", expr, pointer, by, asked="writes" if writes else "reads")
    elif not an.testing and not pointer.may_be_null and expr.span not in an.frame.function.volatile:
        pending = _in_conflict(an, pointer.targets, writes)
        if pending is not None:
            fault(an, "not-waited-for", expr, pointer, by, before=pending, asked="writes" if writes else "reads")


def _in_conflict(an: Analysis, targets: frozenset[Allocation], writes: bool) -> Pending | None:
    for pending in an.state.pending:
        if targets <= pending.writes or (writes and pending.is_copy and targets <= pending.reads):
            return pending
    return None


def release(an: Analysis, pointer: Pointer, expr: ir.Expr, by: str, spaces: Collection[str]) -> None:
    """Memory is released by a function that takes that of some spaces."""
    before, now = released(an, pointer), Released(by, Place(*expr.span), an.turn)
    if before is not None and before != now:
        fault(an, "freed-before", expr, pointer, by, before=before)
    elif pointer.targets and not pointer.may_be_null and all(t.space not in spaces for t in pointer.targets):
        fault(an, "freed-by-other", expr, pointer, by)
    elif len(pointer.targets) == 1:
        [target] = pointer.targets
        if target.variable is None or not target.is_growing:
            an.state.released[target] = now


def note_streams(an: Analysis, target: Allocation, work: Pending, earlier: Pending) -> None:
    """Work of one stream meets work of another one, which nothing orders."""
    name = spelled(target.variable) if target.variable is not None else "?"
    other = earlier.stream.name if earlier.stream is not None else "?"
    own = work.stream.name if work.stream is not None else "?"
    an.fault(HostFault(
        "other-stream", work.place, name, work.by, target.space, target.made_by, target.made_at, earlier.place,
        earlier.by, own, other,
    ))  # fmt: skip

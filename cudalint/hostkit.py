"""What rules on host code share: how memory is called in messages, and which faults a rule speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Related
from cudalint.facts import HostFault
from cudalint.facts.host_faults import FaultKind
from cudalint.rule import RuleContext

_SPACES = {
    "pageable": "memory of the host", "variable": "a variable of the host", "pinned": "pinned memory of the host",
    "mapped": "pinned memory of the host", "managed": "managed memory", "device": "memory of the device",
    "symbol": "a variable of the device",
}  # fmt: skip


def faults_of(context: RuleContext, *kinds: FaultKind) -> Iterator[HostFault]:
    """Those of some kinds that the host code of a file has."""
    host = context.file.host
    yield from (fault for fault in (host.faults if host is not None else ()) if fault.kind in kinds)


def memory(fault: HostFault) -> str:
    """What a fault is about: `memory of the device, of "cudaMalloc"`."""
    return _SPACES[fault.space] + (f", of `{fault.made_by}`" if fault.made_by else "")


def made(fault: HostFault) -> tuple[Related, ...]:
    """Where that comes from."""
    if fault.made_at is None:
        return ()
    return (Related(fault.made_at, "allocated here" if fault.made_by else "declared here"),)


def before(fault: HostFault, what: str) -> tuple[Related, ...]:
    """Where that stands which a fault is in conflict with."""
    return (Related(fault.before, what),) if fault.before is not None else ()

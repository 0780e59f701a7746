"""CL310: a block gets to another block's shared memory, and no barrier of the cluster orders that."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.facts.clusters import ClusterRace
from cudalint.racekit import BARE_VERBS, VERBS
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related

_SYNC = "`cluster.sync()`"


class MissingClusterSync(Rule):
    """Shared memory of another block of the cluster that is accessed with no barrier of the cluster before or behind.

    What it does
        Follows pointers into the shared memory of other blocks (`cluster.map_shared_rank`, `mapa`), and counts the
        barriers of the cluster that come before and after each access to it.

    Why is this bad
        `__syncthreads()` is for the threads of one block. Without a barrier of the cluster before it, the other block
        may not have begun, or not have written what is read; without one behind it, the other block may have ended,
        and its shared memory may belong to a block of another kernel. Such an access faults, or finds what is no
        longer there.

    Example
        tile[threadIdx.x] = in[i];
        __syncthreads();
        float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
        out[i] = other[threadIdx.x];

    Use instead
        tile[threadIdx.x] = in[i];
        cluster.sync();
        float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
        out[i] = other[threadIdx.x];
        cluster.sync();

    What is not reported
        - Kernels in which threads wait at barriers in memory (`cuda::barrier`, `mbarrier`): these may order blocks.
        - Kernels that are not known in full.
        - Two accesses to the same bytes of which loaded data decides where, or whether the block itself makes its own.
    """

    code = "CL310"
    name = "missing-cluster-sync"
    severity = "error"
    summary = "shared memory of another block that no barrier of the cluster guards"
    by_hand = "all threads of all blocks of the cluster have to come to it"
    reads = frozenset({"cluster_races"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        told: set[object] = set()
        for found in sorted(kernel.cluster_races, key=lambda each: (each.kind == "beside", each.place)):
            # What comes before the first barrier needs that one, whatever else it meets.
            key = found.launch, found.array, found.kind
            if key in told or (found.kind == "beside" and (found.launch, found.array, "before") in told):
                continue
            told.add(key)
            others = () if found.other is None else (Related(found.other, "the block's own access"),)
            yield self.finding(
                kernel,
                place=found.place,
                message=_message(found),
                launches=kernel.launches_of(found),
                assumptions=found.assumptions,
                related=(*others, *frames_related(found.inlined_from)),
                suggestion=Suggestion(_advice(found)),
            )


def _message(found: ClusterRace) -> str:
    what = f"a block {VERBS[found.operation]} `{found.array}` in another block's shared memory"
    if found.kind == "before":
        return f"{what} before any barrier of the cluster: that block may not have begun"
    if found.kind == "after":
        return f"{what} after the last barrier of the cluster: that block may have ended"
    assert found.other is not None and found.other_operation is not None
    verb = BARE_VERBS[found.other_operation]
    return f"{what} while that block may {verb} it (line {found.other.line}), and no barrier of the cluster is between"


def _advice(found: ClusterRace) -> str:
    if found.kind == "before":
        return f"put {_SYNC} before it, behind what the other block has to have written"
    if found.kind == "after":
        return f"put {_SYNC} behind it, before any thread of the kernel returns"
    return f"put {_SYNC} between the two, where all threads of the cluster come to it"

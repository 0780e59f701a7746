"""What the analysis knows about a file, before any rule has an opinion.

These records mirror `cudalint facts --format json` (cudalint/schemas/facts.schema.json), field by field; what
is not part of the JSON contract (samples, strides, declarations) is there for rules, fixes and pictures.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from cudalint.facts.accesses import (
    GRID_ARRIVES,
    GRID_WAITS,
    Access,
    AccessResult,
    ArrayFacts,
    LibraryCall,
    Operation,
    Sample,
    Space,
    Status,
    Strides,
)
from cudalint.facts.arithmetic import Arithmetic, ArithmeticKind, ArithmeticResult
from cudalint.facts.axes import UnreadAxis
from cudalint.facts.barriers import AbsentLane, Barrier, BarrierKind, BarrierResult, UnmaskedCall
from cudalint.facts.branches import Branch, BranchResult, Compiled, Divergence, Verdict
from cudalint.facts.clusters import ClusterRace
from cudalint.facts.collectives import CollectiveCall, CollectiveResult
from cudalint.facts.constants import ConstantLoad, ConstantResult
from cudalint.facts.copies import EarlyRead
from cudalint.facts.costs import (
    RESOURCES,
    WAITING,
    Bound,
    CostStatus,
    Excess,
    FindingCost,
    KernelCost,
    LaunchCost,
    Needless,
    Operations,
    Resource,
    Waits,
    Work,
)
from cudalint.facts.faults import Misalignment, OutOfBounds, PitchMismatch
from cudalint.facts.files import (
    FileFacts,
    Gap,
    KernelFacts,
    LeftOutLaunches,
    UnusableAnnotation,
)
from cudalint.facts.host import Buffer, HostCopy, HostFacts, HostStep
from cudalint.facts.host_faults import HostFault
from cudalint.facts.launch_faults import LaunchFault, Uncovered
from cudalint.facts.launches import (
    ArgumentValue,
    KnownExtents,
    LaunchFacts,
    LaunchSite,
    LaunchSource,
    LeafFacts,
    LeafKind,
    ParameterFacts,
    RecordedFacts,
    Tiling,
)
from cudalint.facts.local_arrays import IndexedAccess, LocalArray, LocalArrayResult
from cudalint.facts.neighbours import Neighbours, NeighboursResult
from cudalint.facts.orders import BlockWait, PlainSpin, Publication
from cudalint.facts.overflows import Overflow, OverflowGround
from cudalint.facts.places import Frame, Place
from cudalint.facts.products import MatrixProduct, MatrixProductResult
from cudalint.facts.races import BarrierFix, Benign, Insertion, Race, RaceEnd
from cudalint.facts.resources import REGISTER_CEILINGS, MostByEstimate, Occupancy, Resources
from cudalint.facts.reuse import Reuse, ReuseResult
from cudalint.facts.uninitialised import Uninitialised
from cudalint.reasons import Problem

__all__ = [
    "GRID_ARRIVES",
    "GRID_WAITS",
    "REGISTER_CEILINGS",
    "RESOURCES",
    "WAITING",
    "AbsentLane",
    "Access",
    "AccessResult",
    "ArgumentValue",
    "Arithmetic",
    "ArithmeticKind",
    "ArithmeticResult",
    "ArrayFacts",
    "Barrier",
    "BarrierFix",
    "BarrierKind",
    "BarrierResult",
    "Benign",
    "BlockWait",
    "Bound",
    "Branch",
    "BranchResult",
    "Buffer",
    "ClusterRace",
    "CollectiveCall",
    "CollectiveResult",
    "Compiled",
    "ConstantLoad",
    "ConstantResult",
    "CostStatus",
    "Divergence",
    "EarlyRead",
    "Excess",
    "FileFacts",
    "FindingCost",
    "Frame",
    "Gap",
    "HostCopy",
    "HostFacts",
    "HostFault",
    "HostStep",
    "IndexedAccess",
    "Insertion",
    "KernelCost",
    "KernelFacts",
    "KnownExtents",
    "LaunchCost",
    "LaunchFacts",
    "LaunchFault",
    "LaunchSite",
    "LaunchSource",
    "LeafFacts",
    "LeafKind",
    "LeftOutLaunches",
    "LibraryCall",
    "LocalArray",
    "LocalArrayResult",
    "MatrixProduct",
    "MatrixProductResult",
    "Misalignment",
    "MostByEstimate",
    "Needless",
    "Neighbours",
    "NeighboursResult",
    "Occupancy",
    "Operation",
    "Operations",
    "OutOfBounds",
    "Overflow",
    "OverflowGround",
    "ParameterFacts",
    "PitchMismatch",
    "Place",
    "PlainSpin",
    "Problem",
    "Publication",
    "Race",
    "RaceEnd",
    "RecordedFacts",
    "Resource",
    "Resources",
    "Reuse",
    "ReuseResult",
    "Sample",
    "Space",
    "Status",
    "Strides",
    "Tiling",
    "Uncovered",
    "Uninitialised",
    "UnmaskedCall",
    "UnreadAxis",
    "UnusableAnnotation",
    "Verdict",
    "Waits",
    "Work",
]


class _Callable(ModuleType):
    """This package under the name that `cudalint` has for it, which is that of the function, too."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """`cudalint.facts(paths)`, of `cudalint.run.api.figures`."""
        from cudalint.run.api.figures import facts

        return facts(*arguments, **options)


sys.modules[__name__].__class__ = _Callable

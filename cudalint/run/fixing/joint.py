"""Whether edits hold when they are made at once, found out in a worker."""

from __future__ import annotations

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.run.file_findings import joint_edits
from cudalint.run.job import CheckJob


class JointJob(Struct, frozen=True):
    """Sets of edits that findings of one file suggest, and all that it takes to lint that file; travels to a worker."""

    check: CheckJob
    sets: tuple[tuple[Edit, ...], ...]


def held(job: JointJob) -> frozenset[tuple[Edit, ...]]:
    """The sets that hold together."""
    return frozenset(joint_edits(job.check, job.sets))

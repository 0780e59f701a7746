"""What a user can tell the analysis about the files it is to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

RaceScope = Literal["block", "grid"]


class ParameterValue(NamedTuple):
    """`--param [KERNEL:]NAME=VALUE`: what a scalar argument of one kernel, or of all kernels, is."""

    kernel: str | None
    name: str
    value: str
    """A C expression, as the user wrote it."""


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """Everything that `analyse_file` depends on beside the file; picklable, since workers receive it."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """`NAME` or `NAME=VALUE`, as for the preprocessor's `-D`."""
    std: str | None = None
    """The C++ standard, e.g. `c++17`; None leaves the choice to the front end."""
    cuda_path: str | None = None
    compile_commands: str | None = None
    block: tuple[int, int, int] | None = None
    """The command line's launch, for kernels that have neither a visible one nor an annotation."""
    grid: tuple[int, int, int] | None = None
    shared: int | None = None
    force_launch: bool = False
    """The command line's launch takes the place of all others."""
    params: tuple[ParameterValue, ...] = ()
    assumes: tuple[str, ...] = ()
    """C expressions over parameters and built-ins that hold in every kernel."""
    target: str = "a100"
    race_scope: RaceScope = "block"
    unsaved: tuple[tuple[str, str], ...] = ()
    """Paths and texts that stand in for files: what came from standard input, or a fix that is being tried."""

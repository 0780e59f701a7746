"""What a user can tell the analysis about the files it is to look at."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.kinds import EVERY_KIND, Kinds
from cudalint.regexes import regex

RaceScope = Literal["block", "grid"]
DEFAULT_TARGET = "a100"

_DEFINE = regex(r"[A-Za-z_]\w*(\([^)]*\))?(=|$)")

_STANDARD = regex(r"(?:(?:c|gnu)\+\+)?(?:98|03|0x|11|1y|14|1z|17|2a|20|2b|23|2c|26)")


def is_define(text: str) -> bool:
    """Whether a text has the form of a preprocessor's `-D`: `NAME` or `NAME=VALUE`."""
    return _DEFINE.match(text) is not None


def is_standard(text: str) -> bool:
    """Whether a text names a C++ standard as compilers do."""
    return _STANDARD.fullmatch(text) is not None


class ParameterValue(NamedTuple):
    """`--param [KERNEL:]NAME=VALUE`: what a scalar argument of one kernel, or of all kernels, is."""

    kernel: str | None
    name: str
    value: str
    """A C expression, as the user wrote it."""


class KernelSettings(Struct, frozen=True):
    """What a configuration file says about the kernels whose names fit a pattern."""

    pattern: str
    """As for file names: `sgemm*`."""
    block: str | None = None
    """Like `grid` and `shared` a C expression, which may use the file's macros and constants."""
    grid: str | None = None
    shared: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    path: str | None = None
    """Where the configuration says so."""
    line: int | None = None

    def fits(self, kernel: str) -> bool:
        return fnmatchcase(kernel, self.pattern)


_SHARE_OF_TIME = 0.75
_SHARE_WITH_EDITS = 0.9


class AnalysisOptions(Struct, frozen=True):
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
    kernels: tuple[KernelSettings, ...] = ()
    """The configuration's launches, for kernels that have none of the above; the first that fits counts."""
    target: str = DEFAULT_TARGET
    registers: int | None = None
    """Registers per thread of every kernel, as the user states them."""
    max_registers: int | None = None
    """The compiler's `-maxrregcount`."""
    cubins: tuple[str, ...] = ()
    """Compiled kernels to take registers from."""
    recordings: tuple[str, ...] = ()
    """Files of launches that were recorded."""
    only_recorded: bool = False
    """Kernels are evaluated under launches that were recorded, and under no others."""
    ptxas: bool = False
    """Compile each file with the user's nvcc for its registers."""
    race_scope: RaceScope = "grid"
    time_limit: float = 20.0
    """In seconds for a file: what computes for longer is ended from outside."""
    max_line: int = 1_000_000
    """Bytes of the longest line that a text may have."""
    max_nesting: int = 10_000
    """Operators and brackets that an expression may have."""
    unsaved: tuple[tuple[str, str], ...] = ()
    """Paths and texts that stand in for files: what came from standard input, or a fix that is being tried."""
    only: tuple[str, ...] = ()
    """The names of the kernels that are evaluated; all are where there are none."""
    kinds: Kinds = EVERY_KIND
    """The kinds of facts that somebody asks for."""

    @property
    def is_forced(self) -> bool:
        """Whether nothing counts of how kernels are launched but what the command line says."""
        return self.force_launch and self.block is not None

    @property
    def seconds(self) -> float:
        """A file's evaluation ends by itself after this share of the time limit: the launches that are left are only
        listed, so that the others' results are kept. Only a single launch that takes longer is ended from outside."""
        return _SHARE_OF_TIME * self.time_limit

    def within(self, seconds: float) -> AnalysisOptions:
        """The same, for an evaluation that ends by itself after so long."""
        return replace(self, time_limit=seconds / _SHARE_OF_TIME)

    @property
    def seconds_of_edits(self) -> float:
        """By when the edits that rules suggest have been tried."""
        return _SHARE_WITH_EDITS * self.time_limit

"""How a file is parsed: as it says itself, as a compilation database says, and as the user says on top."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from cudalint.frontend.compile_commands import DatabaseError, database_for
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.reading import SourceError
from cudalint.hardware.targets import Target, find_target
from cudalint.options.analysis import DEFAULT_TARGET, AnalysisOptions
from cudalint.toolchain.buildfiles.reading import build_of

_OLDEST, _YEARS = 17, 90
"""C++98 is older than C++20."""
_OWN_INSTRUCTIONS = 9
"""From this generation on (`sm_90a`)."""


class Parsing(Struct, frozen=True):
    """What the user says of how any file of a program is parsed."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str | None = None
    cuda_path: str | None = None
    compile_commands: str | None = None
    target: str = DEFAULT_TARGET

    @classmethod
    def of(cls, options: AnalysisOptions) -> Parsing:
        return cls(
            options.include_dirs, options.defines, options.std, options.cuda_path, options.compile_commands,
            options.target,
        )  # fmt: skip


def parse_options(path: str, options: AnalysisOptions | Parsing, own: ParseOptions | None = None) -> ParseOptions:
    """How to parse a file: as it says itself, or the compilation database, if there is one, and as the user says on
    top."""
    built = own or _built_with(path, options) or ParseOptions()
    return replace(
        built,
        include_dirs=(*options.include_dirs, *built.include_dirs),
        defines=(*built.defines, *options.defines),
        std=options.std or built.std or _standard(path),
        cuda_path=options.cuda_path,
        arch=architecture_of(find_target(options.target)),
        users=(*options.include_dirs, *built.users),
    )


def _standard(path: str) -> str | None:
    """What the project's build files say, where that is newer than what is taken anyway."""
    standard = build_of(path).standard
    return f"c++{standard}" if standard is not None and _OLDEST < standard < _YEARS else None


def architecture_of(target: Target) -> str:
    """What code for a GPU is compiled for. Those from 9.0 on have instructions of their own, which others have not."""
    major, minor = target.compute_capability
    return f"sm_{major}{minor}" + ("a" if major >= _OWN_INSTRUCTIONS else "")


def _built_with(path: str, options: AnalysisOptions | Parsing) -> ParseOptions | None:
    """What the compilation database says, if there is one."""
    try:
        database = database_for(path, options.compile_commands)
        return database.options_for(path) if database is not None else None
    except DatabaseError as error:
        if options.compile_commands:
            raise SourceError(str(error)) from error
        return None

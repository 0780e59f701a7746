"""How a file is parsed: as it says itself, as a compilation database says, and as the user says on top."""

from __future__ import annotations

from msgspec.structs import replace

from cudalint.frontend.compile_commands import DatabaseError, database_for
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.reading import SourceError
from cudalint.hardware.targets import find_target
from cudalint.options import AnalysisOptions


def parse_options(path: str, options: AnalysisOptions, own: ParseOptions | None = None) -> ParseOptions:
    """How to parse a file: as it says itself, or the compilation database, if there is one, and as the user says on
    top."""
    major, minor = find_target(options.target).compute_capability
    built = own or _built_with(path, options) or ParseOptions()
    return replace(
        built,
        include_dirs=(*options.include_dirs, *built.include_dirs),
        defines=(*built.defines, *options.defines),
        std=options.std or built.std,
        cuda_path=options.cuda_path,
        arch=f"sm_{major}{minor}",
    )


def _built_with(path: str, options: AnalysisOptions) -> ParseOptions | None:
    """What the compilation database says, if there is one."""
    try:
        database = database_for(path, options.compile_commands)
        return database.options_for(path) if database is not None else None
    except DatabaseError as error:
        if options.compile_commands:
            raise SourceError(str(error)) from error
        return None

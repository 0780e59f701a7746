"""What is asked of the linter: the options of the command line as a record, checked before any file is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, get_args

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import fields

from cudalint.options.analysis import AnalysisOptions, ParameterValue, RaceScope, is_define, is_standard
from cudalint.project.settings import CommandLine, Settings
from cudalint.regexes import regex
from cudalint.registry import Selection
from cudalint.run.limits import Limits
from cudalint.run.pool import default_workers
from cudalint.system.disk.cache_folder import results_folder

Extents: TypeAlias = int | Sequence[int]
"""The threads of a block, or the blocks of a grid: along x, or along x, y and z."""

_PARAMETER = regex(r"(?:(?P<kernel>.+):)?(?P<name>[A-Za-z_][\w.]*)", re.DOTALL)


class ConfigurationError(ValueError):
    """A value of a `Configuration` that means nothing; says which and why."""


_OTHER_NAMES = {
    "assume": "assumes", "cubin": "cubins", "maxrregcount": "max_registers", "param": "params",
    "threshold": "thresholds", "gitignore": "respect_gitignore", "no_cache": "cache", "includes": "include_dirs",
}  # fmt: skip
"""How options of the command line are called that a field has another name for, as mappings and lists have."""


class _Named(type(Struct)):  # type: ignore[misc]  # The type of structs has no public name.
    def __call__(cls, *args: object, **fields: object) -> Any:
        known = cls.__struct_fields__
        for name in fields:
            if name not in known:
                from difflib import get_close_matches

                close = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else get_close_matches(name, known, n=1)
                meant = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
                raise ConfigurationError(f"a Configuration has no `{name}`; {meant}")
        return super().__call__(*args, **fields)


class Configuration(Struct, frozen=True, kw_only=True, metaclass=_Named):
    """What is asked of the linter. Each field is the option of `cudalint check` of that name (in the plural where it is
    a list or a mapping), and what is not given comes from the configuration files of the project, as there.

    Raises ConfigurationError for a field that there is not, and, when it is used, for values that mean nothing.
    """

    target: str | None = None
    """GPU by chip or architecture: `a100`, `sm_86`."""
    block: Extents | None = None
    """Like `grid` and `shared` for kernels without a launch in sight."""
    grid: Extents | None = None
    shared: int | None = None
    """Bytes of dynamic shared memory."""
    force_launch: bool = False
    """`block`, `grid` and `shared` are for all kernels."""
    registers: int | None = None
    """Registers per thread of every kernel."""
    max_registers: int | None = None
    """The compiler's `-maxrregcount`."""
    cubins: Sequence[str] = ()
    """Compiled kernels to take registers from."""
    ptxas: bool = False
    """Compile with nvcc to learn the registers."""
    params: Mapping[str, str | int | float] = field(default_factory=dict)
    """Values of kernels' scalar arguments, by `NAME` or `KERNEL:NAME`; C expressions in text."""
    assumes: Sequence[str] = ()
    """Conditions that hold in every kernel, such as `K % 4 == 0`."""
    launches: Sequence[str] = ()
    """Files of recorded launches, in the place of those of the project."""
    no_launches: bool = False
    """Recorded launches of the project are not used either."""
    only_recorded: bool | None = None
    """Kernels are evaluated under recorded launches alone."""
    race_scope: RaceScope = "grid"
    include_dirs: Sequence[str] = ()
    defines: Sequence[str] = ()
    """`NAME` or `NAME=VALUE`."""
    std: str | None = None
    """The C++ standard, such as `c++17`."""
    cuda_path: str | None = None
    """The CUDA toolkit to take missing headers from."""
    compile_commands: str | None = None
    """A compilation database; the nearest to each file if there is none."""
    select: Sequence[str] = ()
    """Rules by code, start of a code, or name."""
    extend_select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """By `RULE.NAME`, such as `bank-conflict.ways`."""
    min_share: float | None = None
    """Of its kernel's time or traffic, what a finding of waste takes at least to be reported; 0.01 if it isn't said."""
    exclude: Sequence[str] = ()
    """Patterns as in `.gitignore` of what folders are not to bring in."""
    respect_gitignore: bool | None = None
    config: str | os.PathLike[str] | None = None
    """The one configuration file to use; the nearest to each file if there is none."""
    no_config: bool = False
    """No configuration file is used."""
    jobs: int | None = None
    """Worker processes; one for each CPU if it isn't said."""
    time_limit: float = 20.0
    """Seconds that one file may compute."""
    memory_limit: int = 2000
    """Megabytes that one worker may hold."""
    max_line: int = 1_000_000
    """Bytes of the longest line that a file may have."""
    max_nesting: int = 10_000
    """Operators and brackets that an expression may have."""
    cache: bool = True
    """Whether results of earlier runs are used, and kept for later ones."""
    cache_dir: str | os.PathLike[str] | None = None

    def settings(self) -> Settings:
        """What is in force for each file. Raises ConfigurationError, and `cudalint.project.config.ConfigError`
        for a named configuration file that can't be used."""
        for problem in self._values_of_other_types():
            raise ConfigurationError(problem)
        options = AnalysisOptions(
            include_dirs=tuple(map(os.fspath, self.include_dirs)),
            defines=tuple(self.defines),
            std=self.std,
            cuda_path=self.cuda_path,
            compile_commands=self.compile_commands,
            block=_extents("block", self.block),
            grid=_extents("grid", self.grid),
            shared=self.shared,
            force_launch=self.force_launch,
            params=tuple(map(_parameter, self.params, self.params.values())),
            assumes=tuple(self.assumes),
            race_scope=self.race_scope,
            registers=self.registers,
            max_registers=self.max_registers,
            cubins=tuple(self.cubins),
            ptxas=self.ptxas,
            time_limit=self.time_limit,
            max_line=self.max_line,
            max_nesting=self.max_nesting,
        )
        for problem in self._problems():
            raise ConfigurationError(problem)
        return Settings(
            CommandLine(
                options=options,
                target=self.target,
                selection=Selection(tuple(self.select), tuple(self.ignore), tuple(self.extend_select)),
                thresholds=tuple(map(_threshold, self.thresholds, self.thresholds.values())),
                min_share=self.min_share,
                launches=() if self.no_launches else tuple(self.launches) or None,
                only_recorded=self.only_recorded,
                exclude=tuple(self.exclude),
                respect_gitignore=self.respect_gitignore,
                config=None if self.config is None else os.fspath(self.config),
                use_config=not self.no_config,
            )
        )

    def limits(self) -> Limits:
        """What workers may use."""
        seconds = self.time_limit
        if self.ptxas:
            from cudalint.toolchain.toolkit.nvcc import SECONDS

            seconds += 2 * SECONDS
        return Limits(
            workers=self.jobs or default_workers(), seconds=seconds, idle_seconds=seconds,
            # What a worker may not hold, the compiler that it runs may not either.
            most_megabytes=None if self.ptxas else self.memory_limit,
        )  # fmt: skip

    def results_folder(self) -> str | None:
        """Where results are kept."""
        if not self.cache:
            return None
        return results_folder(None if self.cache_dir is None else os.fspath(self.cache_dir))

    def _values_of_other_types(self) -> Iterator[str]:
        """A text where a list is meant would be one of letters."""
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if field_.name == "include_dirs" and not isinstance(value, str) and isinstance(value, Iterable):
                value = [os.fspath(each) if isinstance(each, os.PathLike) else each for each in value]
            if isinstance(value, os.PathLike) and field_.name in ("config", "cache_dir"):
                value = os.fspath(value)
            wanted = str | None if field_.name in ("config", "cache_dir") else field_.type
            try:
                convert(value, wanted)
            except ValidationError:
                listed = f", as in [{value!r}]" if isinstance(value, str) and wanted == Sequence[str] else ""
                yield f"{field_.name} is {value!r}, and has to be {_WORDS.get(wanted, wanted)}{listed}"

    def _problems(self) -> Iterator[str]:
        if self.block is None and (self.grid is not None or self.shared is not None or self.force_launch):
            yield "grid, shared and force_launch need a block"
        if self.config is not None and self.no_config:
            yield "config and no_config contradict each other"
        if self.no_launches and (self.launches or self.only_recorded):
            yield f"{'launches' if self.launches else 'only_recorded'} and no_launches contradict each other"
        if self.time_limit <= 0:
            yield f"time_limit is {self.time_limit:g}, and has to be more than 0"
        if self.min_share is not None and not 0 <= self.min_share <= 1:
            yield f"min_share is {self.min_share:g}, and has to be from 0 to 1"
        if self.jobs is not None and self.jobs < 1:
            yield f"jobs is {self.jobs}, and has to be at least 1"
        if self.std is not None and not is_standard(self.std):
            yield f"std: `{self.std}` names no C++ standard; write one such as c++17"
        yield from (f"defines: `{d}` has not the form NAME or NAME=VALUE" for d in self.defines if not is_define(d))
        yield from self._unknown_names()
        yield from _bad_expressions(self.assumes, self.params)
        yield from _bad_patterns(self.exclude)

    def _unknown_names(self) -> Iterator[str]:
        from cudalint.hardware.targets import UnknownTarget, find_target
        from cudalint.project.thresholds import UnknownThreshold, check_threshold
        from cudalint.registry import UnknownRule, check_selectors

        try:
            if self.target is not None:
                find_target(self.target)
            check_selectors((*self.select, *self.extend_select, *self.ignore))
            for name in self.thresholds:
                rule, _, threshold = name.rpartition(".")
                check_threshold(rule, threshold)
        except (UnknownTarget, UnknownRule, UnknownThreshold) as error:
            yield str(error)


_WORDS: dict[object, str] = {
    Sequence[str]: "a list of texts",
    Extents | None: "a number or a list of numbers",
    Mapping[str, str | int | float]: "a mapping from names to values",
    Mapping[str, float]: "a mapping from names to numbers",
    str | None: "a text",
    int | None: "a whole number",
    int: "a whole number",
    float | None: "a number",
    float: "a number",
    bool | None: "True or False",
    bool: "True or False",
    RaceScope: f"one of {', '.join(get_args(RaceScope))}",
}


def _extents(name: str, given: Extents | None) -> tuple[int, int, int] | None:
    if given is None:
        return None
    from cudalint.options.limits import problem_of

    sizes = [given] if isinstance(given, int) else list(given)
    problem = problem_of(name, sizes) if sizes else "is empty"
    if problem:
        raise ConfigurationError(f"{name} {problem}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _parameter(name: str, value: str | float) -> ParameterValue:
    match = _PARAMETER.fullmatch(name)
    if match is None:
        raise ConfigurationError(f"params: `{name}` has not the form NAME or KERNEL:NAME")
    return ParameterValue(match["kernel"], match["name"], str(value).strip())


def _threshold(name: str, value: float) -> tuple[str, str, float]:
    rule, _, threshold = name.rpartition(".")
    return rule, threshold, float(value)


def _bad_expressions(assumes: Iterable[str], params: Mapping[str, str | float]) -> Iterator[str]:
    if not assumes and not params:
        return
    from cudalint.options.annotations import parse_assumption
    from cudalint.options.expressions import ExpressionError, parse_expression

    try:
        for text in assumes:
            parse_assumption(text)
        for value in params.values():
            parse_expression(str(value))
    except ExpressionError as error:
        yield str(error)


def _bad_patterns(patterns: Sequence[str]) -> Iterator[str]:
    if patterns:
        from cudalint.project.path_patterns import bad_pattern

        bad = bad_pattern(patterns)
        if bad is not None:
            yield f"exclude: the pattern `{bad}` means nothing; patterns are written as in .gitignore"

"""Callbacks of options: each turns what the user typed into a value, or says in one line why it can't."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from cudalint.numerals import enumeration
from cudalint.options.analysis import ParameterValue, is_define, is_standard
from cudalint.regexes import regex

_PARAMETER = regex(r"(?:(?P<kernel>.+):)?(?P<name>[A-Za-z_][\w.]*)=(?P<value>.+)", re.DOTALL)
_THRESHOLD = regex(r"(?P<rule>[\w-]+)\.(?P<name>[\w-]+)=(?P<value>\d+(\.\d*)?|\.\d+)")

Texts = tuple[str, ...]


@contextmanager
def _bad_if(error: type[Exception], where: str = "") -> Iterator[None]:
    """Makes a usage error of an error of this type, with what it is about in front."""
    try:
        yield
    except error as reason:
        raise click.BadParameter(f"{where}{reason}") from None


def block(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, int, int] | None:
    """`X`, `X,Y` or `X,Y,Z`; what is left out is 1."""
    return _dimensions("block", text)


def grid(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, int, int] | None:
    return _dimensions("grid", text)


def _dimensions(name: str, text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    from cudalint.options.limits import problem_of

    parts = [part.strip() for part in re.split("[,x]", text)]
    if len(parts) > 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"`{text}` is not one to three positive numbers such as 32,8,1")
    x, y, z = [*map(int, parts), 1, 1][:3]
    problem = problem_of(name, (x, y, z))
    if problem:
        raise click.BadParameter(f"a {name} of {text} is not possible: it {problem}")
    return x, y, z


def parameter_values(ctx: click.Context, option: click.Parameter, texts: Texts) -> tuple[ParameterValue, ...]:
    """`[KERNEL:]NAME=VALUE`, where the value is a C expression."""
    return tuple(map(_parameter_value, texts))


def _parameter_value(text: str) -> ParameterValue:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"`{text}` has not the form NAME=VALUE or KERNEL:NAME=VALUE")
    from cudalint.options.expressions import ExpressionError, parse_expression

    with _bad_if(ExpressionError):
        parse_expression(match["value"])
    return ParameterValue(match["kernel"], match["name"], match["value"].strip())


def assumptions(ctx: click.Context, option: click.Parameter, texts: Texts) -> Texts:
    """Conditions in C over parameters and built-ins."""
    if texts:
        from cudalint.options.annotations import parse_assumption
        from cudalint.options.expressions import ExpressionError

        with _bad_if(ExpressionError):
            for text in texts:
                parse_assumption(text)
    return tuple(text.strip() for text in texts)


def defines(ctx: click.Context, option: click.Parameter, texts: Texts) -> Texts:
    """`NAME` or `NAME=VALUE`, as for a compiler's `-D`."""
    for text in texts:
        if not is_define(text):
            raise click.BadParameter(f"`{text}` has not the form NAME or NAME=VALUE")
    return texts


def rule_selectors(ctx: click.Context, option: click.Parameter, texts: Texts) -> Texts:
    """Codes, prefixes of codes or names, separated by commas."""
    if not texts:
        return ()
    from cudalint.registry import UnknownRule, check_selectors

    selectors = tuple(part.strip() for text in texts for part in text.split(","))
    with _bad_if(UnknownRule):
        check_selectors(selectors)
    return selectors


def thresholds(ctx: click.Context, option: click.Parameter, texts: Texts) -> tuple[tuple[str, str, float], ...]:
    """`RULE.NAME=VALUE`, where the rule is a code or a name."""
    return tuple(map(_threshold, texts))


def _threshold(text: str) -> tuple[str, str, float]:
    from cudalint.project.thresholds import UnknownThreshold, check_threshold

    match = _THRESHOLD.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"`{text}` has not the form RULE.NAME=VALUE, such as bank-conflict.ways=4")
    with _bad_if(UnknownThreshold):
        check_threshold(match["rule"], match["name"])
    return match["rule"], match["name"], float(match["value"])


def share(ctx: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """`0.05` or `5%`."""
    if text is None:
        return None
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise click.BadParameter(f"`{text}` is no share, such as 0.05 or 5%")
    return value


def standard(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """`c++17`, `gnu++20`."""
    if text is not None and not is_standard(text):
        raise click.BadParameter(f"`{text}` names no C++ standard; write one such as c++17")
    return text


def database(ctx: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """A compilation database that can be read, so that a bad one is reported once and not for each file."""
    if path is not None:
        from cudalint.frontend.compile_commands import DatabaseError, load_compile_commands

        with _bad_if(DatabaseError):
            load_compile_commands(path)
    return path


def path_patterns(ctx: click.Context, option: click.Parameter, texts: Texts) -> Texts:
    """Patterns as in `.gitignore`."""
    if texts:
        from cudalint.project.path_patterns import BAD_PATTERN, bad_pattern

        bad = bad_pattern(texts)
        if bad is not None:
            raise click.BadParameter(f"the pattern `{bad}` {BAD_PATTERN}")
    return texts


def target_name(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """A chip or an architecture, kept as it was given."""
    if text is not None and "," in text:
        names = enumeration([name.strip() for name in text.split(",") if name.strip()])
        raise click.BadParameter(
            f"findings and figures are of one GPU: run it once for each of {names}; "
            f"`cudalint roofline --target {text}` shows kernels on several"
        )
    if text is not None:
        from cudalint.hardware.targets import UnknownTarget, find_target

        with _bad_if(UnknownTarget):
            find_target(text)
    return text


def targets(ctx: click.Context, option: click.Parameter, texts: str | Sequence[str] | None) -> Texts:
    """Several of them with commas between, each once; none where nothing is said."""
    given = [texts] if isinstance(texts, str) else texts or ()
    names = [name.strip() for text in given for name in text.split(",")]
    found = [target_name(ctx, option, name) for name in names if name]
    return tuple(dict.fromkeys(name for name in found if name is not None))


def reason(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """What a comment can say that allows a finding."""
    if text is not None:
        from cudalint.run.fixing.allowing import problem_of_reason

        problem = problem_of_reason(text)
        if problem is not None:
            raise click.BadParameter(f"the reason {problem}")
    return text


def recordings(ctx: click.Context, option: click.Parameter, paths: Texts) -> Texts:
    """Files that can be read as recorded launches."""
    for path in paths:
        from cudalint.launches.recorded.texts import RecordingError
        from cudalint.project.recordings import check_recording

        with _bad_if(RecordingError, f"{path}: "):
            check_recording(path)
    return paths


def cubins(ctx: click.Context, option: click.Parameter, paths: Texts) -> Texts:
    """Files that can be read as cubins."""
    for path in paths:
        from cudalint.toolchain.toolkit.cubin import read_cubin
        from cudalint.toolchain.toolkit.usage import UsageError

        with _bad_if(UsageError, f"{path}: "):
            read_cubin(path)
    return paths

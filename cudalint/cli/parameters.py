"""Callbacks of options: each turns what the user typed into a value, or says in one line why it can't."""

from __future__ import annotations

import re

import click

from cudalint.options import ParameterValue

_PARAMETER = re.compile(r"(?:(?P<kernel>.+):)?(?P<name>[A-Za-z_][\w.]*)=(?P<value>.+)", re.DOTALL)
_DEFINE = re.compile(r"[A-Za-z_]\w*(\([^)]*\))?(=|$)")


def dimensions(ctx: click.Context, option: click.Parameter, text: str | None) -> tuple[int, int, int] | None:
    """`X`, `X,Y` or `X,Y,Z`; what is left out is 1."""
    if text is None:
        return None
    parts = [part.strip() for part in re.split("[,x]", text)]
    if len(parts) > 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"`{text}` is not one to three positive numbers such as 32,8,1")
    x, y, z = [*map(int, parts), 1, 1][:3]
    return x, y, z


def parameter_values(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[ParameterValue, ...]:
    """`[KERNEL:]NAME=VALUE`, where the value is a C expression."""
    return tuple(_parameter_value(text) for text in texts)


def _parameter_value(text: str) -> ParameterValue:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"`{text}` has not the form NAME=VALUE or KERNEL:NAME=VALUE")
    from cudalint.expressions import ExpressionError, parse_expression

    try:
        parse_expression(match["value"])
    except ExpressionError as error:
        raise click.BadParameter(str(error)) from None
    return ParameterValue(match["kernel"], match["name"], match["value"].strip())


def assumptions(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Conditions in C over parameters and built-ins."""
    if not texts:
        return ()
    from cudalint.annotations import parse_assumption
    from cudalint.expressions import ExpressionError

    for text in texts:
        try:
            parse_assumption(text)
        except ExpressionError as error:
            raise click.BadParameter(str(error)) from None
    return tuple(text.strip() for text in texts)


def defines(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """`NAME` or `NAME=VALUE`, as for a compiler's `-D`."""
    for text in texts:
        if not _DEFINE.match(text):
            raise click.BadParameter(f"`{text}` has not the form NAME or NAME=VALUE")
    return texts


def rule_selectors(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Codes, prefixes of codes or names, separated by commas."""
    if not texts:
        return ()
    from cudalint.registry import UnknownRule, check_selectors

    selectors = tuple(part.strip() for text in texts for part in text.split(","))
    try:
        check_selectors(selectors)
    except UnknownRule as error:
        raise click.BadParameter(str(error)) from None
    return selectors


def target_name(ctx: click.Context, option: click.Parameter, text: str) -> str:
    """A chip or an architecture, kept as it was given."""
    from cudalint.hardware.targets import DEFAULT_TARGET, UnknownTarget, find_target

    if text == DEFAULT_TARGET:
        return text
    try:
        find_target(text)
    except UnknownTarget as error:
        raise click.BadParameter(str(error)) from None
    return text

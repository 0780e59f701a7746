"""`cudalint explain`: a rule's page in the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from cudalint.cli import NOTHING_FOUND
from cudalint.cli.terminal import output_style, write_lines
from cudalint.registry import RuleClass, UnknownRule, find_rule
from cudalint.reporters.style import Style


@click.command("explain")
@click.argument("rule", metavar="CODE")
@click.option("--color/--no-color", default=None, help="Use colours.  [default: in a terminal]")
def command(rule: str, color: bool | None) -> int:
    """Print the page of a rule, by code or name.

    \b
    Example:
      cudalint explain CL201
    """
    try:
        found = find_rule(rule)
    except UnknownRule as error:
        raise click.UsageError(str(error)) from None
    write_lines(_page(found, output_style(color)))
    return NOTHING_FOUND


def _page(rule: RuleClass, style: Style) -> Iterator[str]:
    """The docstring, whose unindented lines after the first paragraph are headings."""
    yield f"{style.severity(rule.code, rule.severity)} {style.paint(rule.name, 'bold')} ({rule.severity})"
    if not rule.on_by_default:
        yield f"Off by default: turn it on with `--select {rule.code}`."
    yield ""
    in_body = False
    for line in inspect.cleandoc(rule.__doc__ or rule.summary).splitlines():
        is_heading = in_body and line[:1].strip() != "" and len(line.split()) <= 5
        yield style.paint(line, "bold") if is_heading else line
        in_body = in_body or not line.strip()
    if rule.thresholds:
        yield ""
        yield style.paint("Thresholds", "bold")
        yield from (f"    {name} = {value:g}" for name, value in rule.thresholds.items())

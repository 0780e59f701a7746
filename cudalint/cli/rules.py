"""`cudalint rules`: what there is to select."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from cudalint.cli import NOTHING_FOUND
from cudalint.cli.headed import color_option, format_option
from cudalint.cli.terminal import output_style, write_text
from cudalint.registry import RuleClass, all_rules
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.style import Style


@click.command("rules")
@format_option("A table, or JSON for programs.", "text", "json")
@color_option
def command(format_: str, color: bool | None) -> int:
    """List all rules.

    Code, name, severity, whether the rule is on by default, and what it sees.

    \b
    Examples:
      cudalint rules
      cudalint rules --format json
    """
    rules = all_rules()
    write_text(_json(rules) if format_ == "json" else _table(rules, output_style(color)))
    return NOTHING_FOUND


def _table(rules: Sequence[RuleClass], style: Style) -> Iterator[str]:
    width = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        code = style.severity(rule.code, rule.severity)
        default = "on " if rule.on_by_default else "off"
        yield f"{code}  {rule.name:<{width}}  {rule.severity:<7}  {default}  {rule.summary}"


def _json(rules: Sequence[RuleClass]) -> Iterator[str]:
    objects = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity,
            "on_by_default": rule.on_by_default,
            "summary": rule.summary,
            "thresholds": dict(rule.thresholds),
        }
        for rule in rules
    ]
    yield json_text(objects, indent=2)

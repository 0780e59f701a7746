"""Options under headings, for commands that have many, and those that most commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

Decorator = Callable[[Any], Any]


class HeadedOption(click.Option):
    """An option that says under which heading `--help` lists it."""

    def __init__(self, *args: Any, heading: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.heading = heading


class HeadedCommand(click.Command):
    """Lists options under their headings, in the order in which these first appear; the others come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        others: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                heading = getattr(parameter, "heading", None)
                (others if heading is None else sections.setdefault(heading, [])).append(record)
        for heading, records in (*sections.items(), ("Other options", others)):
            with formatter.section(heading):
                formatter.write_dl(records)


def under(heading: str) -> Callable[..., Decorator]:
    """`click.option` for options of one heading."""
    return partial(click.option, cls=HeadedOption, heading=heading)


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, which lists them in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


color_option = click.option("--color/--no-color", default=None, help="Use colours.  [default: in a terminal]")


def format_option(help_: str, *formats: str) -> Decorator:
    """`--format`, of which the first is the default."""
    choice = click.Choice(formats)
    return click.option("--format", "format_", type=choice, default=formats[0], show_default=True, help=help_)

"""`cudalint lsp`: the language server."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import click

from cudalint.cli import NOTHING_FOUND
from cudalint.cli.analysis_options import analysis_options, configuration_from, rule_options
from cudalint.cli.headed import HeadedCommand


class _KeepingArguments(HeadedCommand):
    """Keeps what the command line says, so that more can be put behind it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = list(args)
        return super().parse_args(ctx, args)


@click.command("lsp", cls=_KeepingArguments)
@rule_options
@analysis_options
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> int:
    """Serve an editor on standard input and output, by the Language Server Protocol.

    Files are analysed while they are edited, with the configuration that is in force for each. Needs pygls:
    pip install 'cudalint[lsp]'. How to set up editors: docs/editors.md.

    \b
    Examples:
      cudalint lsp
      cudalint lsp --target h100 --ignore CL902
    """
    if find_spec("pygls") is None:
        raise click.ClickException("`cudalint lsp` needs pygls: pip install 'cudalint[lsp]'")
    from cudalint.editor.server import serve
    from cudalint.editor.wishes import Wishes

    own = list(ctx.meta[__name__])

    def wishes(arguments: Sequence[str]) -> Wishes:
        """The options of the client behind those of the command line."""
        given = values
        if arguments:
            try:
                given = command.make_context("lsp", [*own, *arguments]).params
            except click.ClickException as error:
                raise ValueError(error.format_message()) from None
        configuration = configuration_from(given)
        return Wishes(configuration, configuration.limits())

    serve(wishes)
    return NOTHING_FOUND

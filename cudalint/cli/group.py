"""The command group: `check` is the default, and a command's module is imported when it is asked for."""

from __future__ import annotations

import os
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from cudalint import __version__
from cudalint.cli import NOTHING_FOUND

_COMMANDS = {
    "check": "cudalint.cli.check",
    "init": "cudalint.cli.init",
    "config": "cudalint.cli.config",
    "facts": "cudalint.cli.facts",
    "lsp": "cudalint.cli.lsp",
    "confirm": "cudalint.cli.confirm",
    "record": "cudalint.cli.record",
    "trace": "cudalint.cli.trace",
    "bug-report": "cudalint.cli.bug_report",
    "explain": "cudalint.cli.explain",
    "rules": "cudalint.cli.rules",
    "cache": "cudalint.cli.cache",
    "occupancy": "cudalint.cli.occupancy",
    "roofline": "cudalint.cli.roofline",
    "what-if": "cudalint.cli.what_if",
    "diff": "cudalint.cli.diff",
    "pages": "cudalint.cli.pages",
    "new-rule": "cudalint.cli.new_rule",
}
"""Each module has a click command called `command`."""

_DEFAULT = "check"
_GROUP_OPTIONS = ("--help", "-h", "--version")


class LazyGroup(click.Group):
    """Takes `cudalint PATH...` for `cudalint check PATH...`, and `cudalint` for that of the current folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            args = [_DEFAULT]
        elif args and args[0] not in _COMMANDS and args[0] not in _GROUP_OPTIONS:
            _check_for_slip(args[0])
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and, as `check` may be left out, its options and files where no command fits."""
        found = super().shell_complete(ctx, incomplete)
        check = self.get_command(ctx, _DEFAULT)
        if incomplete.startswith("-") and check is not None:
            found += check.shell_complete(check.make_context(_DEFAULT, [], resilient_parsing=True), incomplete)
        return found or [CompletionItem(incomplete, type="file")]


def _check_for_slip(word: str) -> None:
    """A command that is misspelt would be a path that isn't there."""
    if os.path.exists(word):
        return
    import difflib

    close = difflib.get_close_matches(word, _COMMANDS, 1)
    if close and not word.startswith("-"):
        raise click.UsageError(f"`{word}` is neither a path nor a command; did you mean `cudalint {close[0]}`?")


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="cudalint %(version)s")
def cli() -> int:
    """Predict, line by line and without a GPU, what a profiler would say about CUDA kernels.

    `cudalint [PATH]...` is the same as `cudalint check [PATH]...`, and no path is the current folder; `cudalint check
    --help` lists its options.

    \b
    Examples:
      cudalint                                 lint the current folder
      cudalint kernels/*.cu                    lint files
      cudalint src --fail-on error             lint a folder; only errors fail
      cudalint a.cu --block 32,8 --show        a kernel that nobody launches in sight, with pictures
      cudalint src --output sarif=out.sarif    a report for code scanning beside the usual one
      cudalint src --write-baseline known.json; cudalint src --baseline known.json
                                               report only what is new or worse
      cudalint facts a.cu --format json        the figures of every memory access
      cudalint explain CL201                   what a rule means, and what to do about it
      cudalint init                            a configuration and a baseline for a repository
      cudalint config src                      what is in force there, and why

    Settings of a project stand in pyproject.toml, table [tool.cudalint], or in cudalint.toml. Exit status: 0 nothing
    found, 1 findings, 2 something could not be done.
    """
    return NOTHING_FOUND

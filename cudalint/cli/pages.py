"""`cudalint pages`: the documentation of rules as files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import click

from cudalint.cli import FINDINGS, NOTHING_FOUND, completion, parameters
from cudalint.regexes import regex
from cudalint.registry import Selection, all_rules, selected_rules

_PAGE_NAME = regex(r"[A-Z]+\d+-[\w-]+\.md")


@click.command("pages")
@click.argument("folder", default=os.path.join("docs", "rules"), type=click.Path(file_okay=False))
@click.option(
    "--select", callback=parameters.rule_selectors, shell_complete=completion.rule_lists, multiple=True,
    metavar="RULE,...",
    help="Only these rules: codes, starts of codes, names.  [default: all]",
)  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a page is not up to date.")
def command(folder: str, select: Sequence[str], check: bool) -> int:
    """Write a page for each rule into FOLDER, and a list of them.

    A page is made from the rule's docstring and the program examples/NAME.cu beside its module, for which it shows what
    cudalint says. FOLDER is docs/rules by default.

    \b
    Examples:
      cudalint pages
      cudalint pages --check
      cudalint pages doc/checks --select XY
    """
    from cudalint.cli.authoring.pages import all_pages

    rules = selected_rules(Selection(select=tuple(select))) if select else all_rules()
    pages = dict(all_pages(rules))
    if not check:
        _write(folder, pages)
        click.echo(f"{len(pages)} files written into {folder}")
        return NOTHING_FOUND
    outdated = [name for name, text in pages.items() if _read(os.path.join(folder, name)) != text]
    outdated += _leftover(folder, pages)
    for name in outdated:
        click.echo(f"{os.path.join(folder, name)}: not up to date; `cudalint pages` writes it")
    return FINDINGS if outdated else NOTHING_FOUND


def _write(folder: str, pages: Mapping[str, str]) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
        for name, text in pages.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        for name in _leftover(folder, pages):
            os.unlink(os.path.join(folder, name))
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: cannot be written: {error.strerror}") from None


def _leftover(folder: str, pages: Mapping[str, str]) -> list[str]:
    """Pages of rules that there are no more; a rule that was renamed leaves one."""
    codes = {name.partition("-")[0] for name in pages}
    found = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [n for n in found if _PAGE_NAME.fullmatch(n) and n not in pages and n.partition("-")[0] in codes]


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None

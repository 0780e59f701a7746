"""`cudalint pages`: the documentation of rules as files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import click

from cudalint.cli import FINDINGS, NOTHING_FOUND, completion, parameters
from cudalint.regexes import regex
from cudalint.registry import RuleClass, Selection, all_rules, selected_rules

_PAGE_NAME = regex(r"[A-Z]+\d+-[\w-]+\.(md|html)")


@click.command("pages")
@click.argument("folder", default=os.path.join("docs", "rules"), type=click.Path(file_okay=False))
@click.option(
    "--select", callback=parameters.rule_selectors, shell_complete=completion.rule_lists, multiple=True,
    metavar="RULE,...",
    help="Only these rules: codes, starts of codes, names.  [default: the current folder's own, or all]",
)  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a page is not up to date.")
@click.option(
    "--html", is_flag=True,
    help="As HTML that needs no network. `CUDALINT_RULE_PAGES=FOLDER` has editors, terminals and reports link to it.",
)
def command(folder: str, select: Sequence[str], check: bool, html: bool) -> int:
    """Write a page for each rule into FOLDER, and a list of them.

    A page is made from the rule's docstring and the program examples/NAME.cu beside its module, for which it shows what
    cudalint says. FOLDER is docs/rules by default. In the folder of a package of rules only its rules get pages.

    \b
    Examples:
      cudalint pages
      cudalint pages --check
      cudalint pages doc/checks --select XY
      cudalint pages --html ~/cudalint-rules
    """
    from cudalint.cli.authoring.html_pages import all_html
    from cudalint.cli.authoring.pages import all_pages

    rules = selected_rules(Selection(select=tuple(select))) if select else _rules_here()
    pages = dict(all_html(rules) if html else all_pages(rules))
    if not check:
        _write(folder, pages)
        click.echo(f"{len(pages)} files written into {folder}")
        return NOTHING_FOUND
    outdated = [name for name, text in pages.items() if _read(os.path.join(folder, name)) != text]
    outdated += _leftover(folder, pages)
    for name in outdated:
        click.echo(f"{os.path.join(folder, name)}: not up to date; `cudalint pages` writes it")
    return FINDINGS if outdated else NOTHING_FOUND


def _rules_here() -> Sequence[RuleClass]:
    """Those of the package of rules in the current folder; all if there is none."""
    from cudalint.cli.authoring.scaffold import ScaffoldError, project_in, rules_of

    try:
        project = project_in(os.curdir)
    except ScaffoldError:
        return all_rules()
    if project.is_new:
        return all_rules()
    rules = rules_of(project)
    if not rules:
        raise click.ClickException(f"{project.package} is not installed; `pip install -e .` does that")
    return rules


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
    ending = next(iter(pages)).rpartition(".")[2]
    return [n for n in found if _is_page(n, ending) and n not in pages and n.partition("-")[0] in codes]


def _is_page(name: str, ending: str) -> bool:
    return _PAGE_NAME.fullmatch(name) is not None and name.endswith(f".{ending}")


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None

"""`cudalint new-rule`: the files of a rule to begin with."""

from __future__ import annotations

import importlib
import os
import sys

import click

from cudalint.cli import NOTHING_FOUND
from cudalint.cli.authoring.scaffold import (
    Project,
    ScaffoldError,
    check_rule,
    files_of,
    module_name,
    project_in,
    rules_of,
)


@click.command("new-rule")
@click.argument("code")
@click.argument("name")
@click.argument("folder", default=os.curdir, type=click.Path(file_okay=False))
def command(code: str, name: str, folder: str) -> int:
    """Write a rule, its fixtures, its example and its page, for you to change.

    FOLDER is a package of rules: one with an entry point of the group cudalint.rules in its pyproject.toml, a checkout
    of cudalint, or a new folder, which becomes such a package. What is written works and is tested by its own fixtures.

    \b
    Examples:
      cudalint new-rule ACME101 wide-request acme_rules
      pip install -e 'acme_rules[dev]'
      cudalint rules
      cudalint kernels --extend-select ACME101
    """
    try:
        check_rule(code, name)
        project = project_in(folder)
        files = dict(files_of(code, name, project))
        _write(files, project)
        pages = _write_pages(code, name, project)
    except ScaffoldError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    for path in (*files, *pages):
        click.echo(os.path.join(folder, path))
    click.echo(_next_step(code, project))
    return NOTHING_FOUND


def _write(files: dict[str, str], project: Project) -> None:
    """Nothing is written over."""
    for path in files:
        full = os.path.join(project.folder, path)
        if os.path.exists(full):
            raise ScaffoldError(f"{full} is there already")
    for path, text in files.items():
        full = os.path.join(project.folder, path)
        os.makedirs(os.path.dirname(full) or os.curdir, exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _write_pages(code: str, name: str, project: Project) -> list[str]:
    """The rule's page, which is made from the rule itself."""
    from cudalint.cli.authoring.pages import INDEX_NAME, file_name, index, markdown
    from cudalint.registry import add_package, all_rules

    package = project.package
    if not project.is_own:
        sys.path.insert(0, os.path.abspath(project.import_root))
    importlib.invalidate_caches()
    add_package(package)
    rule = next((rule for rule in all_rules() if rule.code == code), None)
    if rule is None:
        where = os.path.join(project.folder, project.package_folder, module_name(code, name))
        raise ScaffoldError(f"{where}.py is written, but not what this cudalint imports: install the folder first")
    pages = {file_name(rule): markdown(rule), INDEX_NAME: index(rules_of(project))}
    written = {os.path.join("docs", "rules", page): text for page, text in pages.items()}
    for path, text in written.items():
        os.makedirs(os.path.dirname(os.path.join(project.folder, path)), exist_ok=True)
        with open(os.path.join(project.folder, path), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return list(written)


def _next_step(code: str, project: Project) -> str:
    if project.is_own:
        return "Next: change the rule and its fixtures. `cudalint pages` writes the page anew."
    first = "change the rule and its fixtures"
    if project.is_new:
        first = f"`pip install -e '{project.folder}[dev]'`, and `cudalint PATH --extend-select {code}` runs it"
    return (
        f"Next: {first}. There, `pytest` compares its fixtures, and `cudalint pages --select {code}` writes its "
        "page anew. docs/own-rules.md in cudalint's repository says what a rule may read."
    )

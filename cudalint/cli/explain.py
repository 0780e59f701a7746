"""`cudalint explain`: a rule's page in the terminal, and where the guide is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click

from cudalint.cli import NOTHING_FOUND, completion
from cudalint.cli.headed import color_option
from cudalint.cli.terminal import output_style, write_lines, write_text
from cudalint.guide import GuidePage, about, named
from cudalint.registry import RuleClass, UnknownRule, all_rules, rules_named
from cudalint.report.formats.pages import guide_page, guide_section
from cudalint.report.formats.style import Style

_MARGIN = " " * 4


@click.command("explain")
@click.argument("words", nargs=-1, required=True, metavar="CODE", shell_complete=completion.rules)
@click.option("--html", is_flag=True, help="Print the page as HTML that needs no network: `> page.html` keeps it.")
@color_option
def command(words: Sequence[str], html: bool, color: bool | None) -> int:
    """Print the page of a rule, by code, name or a part of either, with what it finds in an example.

    Where several rules have that part, they are listed. Of what is no rule, such as `swizzle`, it prints what the guide
    says, and which page of it that is.

    \b
    Examples:
      cudalint explain CL201
      cudalint explain conflict
      cudalint explain transpose
      cudalint explain CL3
      cudalint explain CL201 --html > CL201.html
    """
    text = " ".join(words)
    pages = tuple(about(text))
    try:
        found = rules_named(text)
    except UnknownRule as error:
        if not pages or html:
            raise click.UsageError(str(error)) from None
        write_text(_guide(pages, output_style(color)))
        return NOTHING_FOUND
    if html:
        _print_html(found)
        return NOTHING_FOUND
    style = output_style(color)
    write_text(_page(found[0], style) if len(found) == 1 else _list(found, pages, style))
    return NOTHING_FOUND


def _print_html(rules: Sequence[RuleClass]) -> None:
    from cudalint.cli.authoring import html_pages

    if len(rules) > 1:
        raise click.UsageError(f"{', '.join(rule.code for rule in rules)} have that part; `--html` prints one page")
    write_lines([html_pages.html(rules[0]).rstrip("\n")])


def _guide(pages: Sequence[GuidePage], style: Style) -> Iterator[str]:
    """Pages of the guide, what a section of one says, and which rules they are behind."""
    for page in pages:
        text = guide_section(page.name) or page.brief
        if text:
            yield style.paint(page.title, "bold")
            yield from (*textwrap.indent(text, _MARGIN).split("\n"), "")
    yield from _addresses(pages, style)
    names = {page.name.partition("#")[0] for page in pages}
    codes = [rule.code for rule in all_rules() if names.intersection(rule.guide)]
    if codes:
        yield f"{_MARGIN}rules that are about it: {', '.join(codes)}"


def _list(rules: Sequence[RuleClass], pages: Sequence[GuidePage], style: Style) -> Iterator[str]:
    width = max(len(rule.name) for rule in rules)
    yield from (f"{style.severity(rule.code, rule.severity)}  {rule.name:<{width}}  {rule.summary}" for rule in rules)
    yield ""
    yield f"`cudalint explain {rules[0].code}` prints the page of one"
    if pages:
        yield ""
        yield from _guide(pages, style)


def _page(rule: RuleClass, style: Style) -> Iterator[str]:
    from cudalint.cli.authoring.pages import page_of

    yield f"{style.severity(rule.code, rule.severity)} {style.paint(rule.name, 'bold')} ({rule.severity})"
    if not rule.on_by_default:
        yield f"Off by default: turn it on with `--extend-select {rule.code}`."
    page = page_of(rule)
    yield from ("", page.lead)
    for section in page.sections:
        yield ""
        if section.heading:
            yield style.paint(section.heading, "bold")
        yield from textwrap.indent(section.text, _MARGIN if section.heading else "").split("\n")
    yield from _example(rule, style)
    if rule.guide:
        yield ""
        yield from _addresses(map(named, rule.guide), style)
    yield from _options(rule, style)
    yield from _suppression(rule, style)


def _addresses(pages: Iterable[GuidePage], style: Style) -> Iterator[str]:
    yield style.paint("In the guide", "bold")
    for page in pages:
        address = guide_page(page.name)
        yield f"{_MARGIN}{page.title}{f': {address}' if address else ''}"


def _example(rule: RuleClass, style: Style) -> Iterator[str]:
    """The first finding in the rule's example, with its picture."""
    from cudalint.cli.authoring.pages import example_of, findings_in

    source = example_of(rule)
    lines = list(findings_in(rule, source, style, most=1)) if source is not None else []
    if lines:
        yield from ("", style.paint("In a program", "bold"), *lines)


def _options(rule: RuleClass, style: Style) -> Iterator[str]:
    if rule.thresholds:
        yield from ("", style.paint("Thresholds", "bold"))
        yield from (f"{_MARGIN}{name} = {value:g}" for name, value in rule.thresholds.items())
        name, value = next(iter(rule.thresholds.items()))
        yield f"{_MARGIN}--threshold {rule.name}.{name}={value:g} sets one"


def _suppression(rule: RuleClass, style: Style) -> Iterator[str]:
    from cudalint.cli.authoring.pages import suppressions

    yield from ("", style.paint("How to suppress it", "bold"))
    yield from (f"{_MARGIN}{comment}   ({where})" for comment, where in suppressions(rule))
    yield f"{_MARGIN}--ignore {rule.code}, or `ignore` and `per-file-ignores` in the configuration"

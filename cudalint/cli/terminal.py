"""What the terminal can show, and writing to it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence

from cudalint.numerals import count
from cudalint.report.findings.results import Failure, Note
from cudalint.report.formats import plain
from cudalint.report.formats.style import Style

_MOST_NOTES = 20


def output_style(color: bool | None) -> Style:
    """The style for stdout; `color` is what the user asked for, None leaves it to the terminal."""
    if color is None:
        color = _wants_color()
    encoding = (sys.stdout.encoding or "ascii").lower()
    pages = ""
    if color and _follows_links():
        from cudalint.report.formats.pages import address_of_pages

        pages = address_of_pages()
    return Style(enabled=color, unicode=encoding.startswith("utf"), pages=pages, escape=plain.MARK)


_OF_LINKING_TERMINALS = (
    "WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WEZTERM_EXECUTABLE", "ALACRITTY_WINDOW_ID", "GHOSTTY_BIN_DIR",
    "DOMTERM",
)  # fmt: skip
"""Variables that terminals set which understand hyperlinks."""
_LINKING_PROGRAMS = ("iTerm.app", "vscode", "WezTerm", "ghostty", "Hyper", "Tabby", "rio")
_LINKING_VTE = 5000
"""The version of VTE, as a number, from which on it has them: 0.50."""


def _follows_links() -> bool:
    """Whether stdout is a terminal that is known to show hyperlinks; FORCE_HYPERLINK decides where it is set."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    if not sys.stdout.isatty() or os.environ.get("TMUX") or os.environ.get("STY"):
        return False
    if os.environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS:
        return True
    vte = os.environ.get("VTE_VERSION", "")
    return (vte.isdecimal() and int(vte) >= _LINKING_VTE) or any(name in os.environ for name in _OF_LINKING_TERMINALS)


def _wants_color() -> bool:
    """The conventions of no-color.org and force-color.org, then whether anybody sees it."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def is_wide(columns: int) -> bool:
    """Whether stdout is a terminal of at least so many columns."""
    return sys.stdout.isatty() and shutil.get_terminal_size().columns >= columns


def write_lines(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def write_text(lines: Iterable[str]) -> None:
    """Lines for people, which may tell of anything that a repository holds."""
    write_lines(plain.line(line, plain.MARK) for text in lines for line in text.split("\n"))


def print_failures(failures: Iterable[Failure]) -> None:
    """One line each on stderr, after all that stdout has to say."""
    sys.stdout.flush()
    for failure in failures:
        print_line(f"{failure.severity}: {failure.path}: {failure.message}")


def print_lines(lines: Iterable[str]) -> None:
    """What is about the run and no part of the report, on stderr."""
    sys.stdout.flush()
    sys.stderr.writelines(f"{plain.line(line)}\n" for line in lines)


def print_line(text: str) -> None:
    """What the program has to say of itself, on stderr."""
    sys.stderr.write(f"{plain.line(f'cudalint: {text}')}\n")


def print_notes(notes: Sequence[Note]) -> None:
    """On stderr, one line for all files of which the same is to be said; then how many more files there are."""
    sys.stdout.flush()
    paths: dict[str, list[str]] = {}
    for note in notes:
        paths.setdefault(note.message, []).append(note.path)
    groups = list(paths.items())
    for message, (first, *others) in groups[:_MOST_NOTES]:
        more = f" and {count(len(others), 'more file')}" if others else ""
        print_line(f"note: {first}{more}: {message}")
    if len(groups) > _MOST_NOTES:
        left = sum(len(files) for _, files in groups[_MOST_NOTES:])
        sys.stderr.write(f"cudalint: note: {count(left, 'more file')} with such a note\n")

"""Makes the pictures of a terminal that README.md opens with, in docs/images/, from what the commands print.

    python benchmarks/terminal_pictures.py

They are SVG, in a light and a dark look, and need no browser. `tests/benchmarks/test_terminal_pictures.py` compares
them with what the commands print now, so that a figure that has moved is noticed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parents[1]
IMAGES = _ROOT / "docs" / "images"
COMMANDS = {
    "finding": "cudalint --show --select CL201 examples/transpose.cu",
    "losses": "cudalint --quiet examples/naive_product.cu",
}
"""What each picture shows."""
_COLUMNS = 120
"""Where a line goes on in the next one, at the blank before."""
_CELL, _LINE, _MARGIN = 8.4, 19, 16
_FONT = """font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14\""""
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m|\x1b\]8;;[^\x1b]*\x1b\\")
_INK = {
    "light": {"": "#1f2328", "1": "#1f2328", "2": "#6e7781", "1;31": "#b3261e", "32": "#116329", "1;33": "#8a4600",
              "1;34": "#0550ae", "36": "#0b6b74", "paper": "#ffffff", "rim": "#d0d7de"},
    "dark": {"": "#d6dbe1", "1": "#ffffff", "2": "#8b949e", "1;31": "#ff8078", "32": "#6cc97a", "1;33": "#f0b24a",
             "1;34": "#79b8ff", "36": "#6ad0d8", "paper": "#0d1117", "rim": "#30363d"},
}  # fmt: skip
"""Colours by the codes that `cudalint.report.formats.style` knows."""


class _Run(NamedTuple):
    """Letters of one look in one line."""

    column: int
    text: str
    look: str


def pictures() -> dict[str, str]:
    """The content of each picture's file by its name."""
    found: dict[str, str] = {}
    for name, command in COMMANDS.items():
        text = f"\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m\n{_printed(command)}"
        found |= {f"{name}-{look}.svg": _picture(text, ink, command) for look, ink in _INK.items()}
    return found


def _printed(command: str) -> str:
    program, *arguments = command.split()
    assert program == "cudalint"
    gone = ("FORCE_", "NO_COLOR", "CUDALINT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
    done = subprocess.run(
        [sys.executable, "-m", "cudalint", *arguments, "--color"],
        cwd=_ROOT,
        env={**kept, "PYTHONUTF8": "1", "FORCE_HYPERLINK": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.strip("\n")


def _picture(text: str, ink: dict[str, str], label: str) -> str:
    lines = [line for printed in text.split("\n") for line in _wrapped(printed)]
    width = _COLUMNS * _CELL + 2 * _MARGIN
    height = len(lines) * _LINE + 2 * _MARGIN
    size = f'viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}"'
    rim = f'x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1}" rx="8"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}" {_FONT}>',
        f'<rect {rim} fill="{ink["paper"]}" stroke="{ink["rim"]}"/>',
    ]
    for number, line in enumerate(lines):
        parts += [_drawn(run, _MARGIN + number * _LINE + 14, ink) for run in line]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _drawn(run: _Run, y: int, ink: dict[str, str]) -> str:
    """The width is said, so that letters stand in columns whatever the font."""
    x, length = _MARGIN + run.column * _CELL, len(run.text) * _CELL
    bold = ' font-weight="bold"' if run.look.startswith("1") else ""
    return (
        f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" fill="{ink[run.look]}"{bold} xml:space="preserve">'
        f"{escape(run.text)}</text>"
    )


def _wrapped(line: str) -> Iterator[Sequence[_Run]]:
    """The lines of the picture that a printed line takes."""
    cells = list(_cells(line))
    while len(cells) > _COLUMNS:
        blanks = [index for index, (letter, _) in enumerate(cells[:_COLUMNS]) if letter == " "]
        end = blanks[-1] + 1 if blanks else _COLUMNS
        yield list(_runs(cells[:end]))
        cells = [*[(" ", "")] * 5, *cells[end:]]
    yield list(_runs(cells))


def _runs(cells: Sequence[tuple[str, str]]) -> Iterator[_Run]:
    """Without the blanks at both ends of a run, which show nothing."""
    column = 0
    for look, group in groupby(cells, key=lambda cell: cell[1]):
        text = "".join(letter for letter, _ in group)
        shown = text.strip(" ")
        if shown:
            yield _Run(column + len(text) - len(text.lstrip(" ")), shown, look)
        column += len(text)


def _cells(line: str) -> Iterator[tuple[str, str]]:
    """Each letter with its look; blanks have that of what stands before them."""
    look, end = "", 0
    for code in _ESCAPE.finditer(line):
        yield from ((letter, look) for letter in line[end : code.start()])
        look = look if code[1] is None else code[1].removeprefix("0")
        end = code.end()
    yield from ((letter, look) for letter in line[end:])


if __name__ == "__main__":
    for name, content in pictures().items():
        (IMAGES / name).write_text(content, encoding="utf-8")

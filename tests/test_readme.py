"""What the README and the guide show is what the program prints.

`python tests/test_readme.py` writes the present output into them; with commands behind it (`'cudalint rules'`), only
theirs.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

_ROOT = Path(__file__).parent.parent
_README = _ROOT / "README.md"
_PAGES = [_README, *sorted((_ROOT / "docs" / "guide").glob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)\n", re.MULTILINE)


class _Shown(NamedTuple):
    command: str
    output: str


def _shown(block: str) -> Iterator[_Shown]:
    """The commands of a block, each with what stands between it and the next one."""
    _, *parts = _COMMAND.split(block)
    for command, output in zip(parts[::2], parts[1::2], strict=True):
        yield _Shown(command, output.strip("\n"))


def _examples() -> dict[str, set[str]]:
    """Each command that is shown, with what is said to be its output, wherever that is."""
    found: dict[str, set[str]] = {}
    for page in _PAGES:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for command, output in _shown(block):
                found.setdefault(command, set()).add(output)
    return found


def _output(command: str) -> str:
    """What a user sees who runs the command in the root of the repository, or in a copy of what is named where that is
    changed, without colours."""
    program, *arguments = shlex.split(command)
    assert program == "cudalint"
    if "--fix" in arguments and "--dry-run" not in arguments:
        with tempfile.TemporaryDirectory() as copy:
            (Path(copy) / ".git").mkdir()
            for name in arguments:
                if (_ROOT / name).is_file():
                    (Path(copy) / name).parent.mkdir(exist_ok=True)
                    shutil.copy(_ROOT / name, Path(copy) / name)
            return _printed(arguments, Path(copy))
    return _printed(arguments, _ROOT)


def _printed(arguments: Sequence[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FORCE_", "CUDALINT_"))}
    done = subprocess.run(
        [sys.executable, "-m", "cudalint", *arguments],
        cwd=folder,
        env={**environment, "NO_COLOR": "1", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout
    # A slow machine gets a line now and then of how far it is.
    return re.sub(r"^cudalint: \d+ of \d+ files? done.*\n", "", done.stdout, flags=re.MULTILINE).strip("\n")


@pytest.mark.parametrize("command", _examples())
def test_shown_output(command: str) -> None:
    assert _examples()[command] == {_output(command)}


def test_there_are_examples() -> None:
    assert len(_examples()) > len(_PAGES) / 2


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", _README.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (_ROOT / link).exists()] == []


def _updated(match: re.Match[str], wanted: Sequence[str]) -> str:
    shown = [
        f"$ {command}\n{_output(command) if not wanted or command in wanted else output}\n"
        for command, output in _shown(match[1])
    ]
    return "```console\n" + "\n".join(shown) + "```"


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - set(_examples()):
        sys.exit(f"no page shows {', '.join(sorted(unknown))}")
    for page in _PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(_BLOCK.sub(partial(_updated, wanted=sys.argv[1:]), text), encoding="utf-8")

"""What shells are told when Tab is pressed, and their scripts; bash, which is nearly everywhere, is really asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT_NAME = "cudalint"


def _ask(shell: str, words: str, index: int, instruction: str = "complete", **variables: str) -> str:
    environment = {
        **os.environ, f"_{_SCRIPT_NAME.upper()}_COMPLETE": f"{shell}_{instruction}", "COMP_WORDS": words,
        "COMP_CWORD": str(index), **variables,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "cudalint"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def _offered(words: str) -> list[str]:
    """What bash is offered for the last word, as (kind, text)."""
    return _ask("bash", words, words.count(" ")).splitlines()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cudalint che", ["plain,check"]),
        ("cudalint --versi", ["plain,--version"]),
        ("cudalint --statis", ["plain,--statistics"]),
        ("cudalint kernels/a", ["file,kernels/a"]),
        ("cudalint kernels/a.cu --statis", ["plain,--statistics"]),
        ("cudalint check kern", ["file,kern"]),
        ("cudalint facts kern", ["file,kern"]),
        ("cudalint check a.cu --baseline kn", ["file,kn"]),
        ("cudalint check a.cu --format sar", ["plain,sarif"]),
        ("cudalint check a.cu --output sar", ["plain,sarif="]),
        ("cudalint check --select cl20", ["plain,CL201", "plain,CL202"]),
        ("cudalint check --select CL1,bank", ["plain,CL1,bank-conflict"]),
        ("cudalint check --ignore AL", ["plain,ALL"]),
        ("cudalint check --threshold bank-conflict.w", ["plain,bank-conflict.ways="]),
        ("cudalint check --target H20", ["plain,h200", "plain,h200-nvl"]),
        ("cudalint explain unused", ["plain,unused-suppression"]),
        ("cudalint config kern", ["file,kern"]),
        ("cudalint occupancy --target sm_8", None),
    ],
)
def test_offers(words: str, expected: list[str] | None) -> None:
    offered = _offered(words)
    if expected is None:
        assert "plain,sm_80" in offered
    else:
        assert set(offered) <= set(expected)
        assert expected[0] in offered


def test_shells_that_show_help_get_it() -> None:
    assert _ask("zsh", "cudalint explain CL201", 2) == (
        "plain\nCL201\nshared requests whose lanes meet in the same bank\n"
    )
    assert _ask("fish", "cudalint explain CL201", 2, COMP_CWORD="CL201") == (
        "plain,CL201\tshared requests whose lanes meet in the same bank\n"
    )


@pytest.mark.parametrize(
    ("shell", "part"),
    [
        ("bash", "complete -o nosort -F _cudalint_completion cudalint"),
        ("zsh", "#compdef cudalint"),
        ("fish", "complete --no-files --command cudalint"),
    ],
)
def test_scripts(shell: str, part: str, tmp_path: Path) -> None:
    script = _ask(shell, "", 0, "source")
    assert part in script
    program = shutil.which(shell)
    if program is not None:
        file = tmp_path / "script"
        file.write_text(script)
        assert subprocess.run([program, "-n", str(file)], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(tmp_path: Path) -> None:
    """The script is sourced in a real bash, and its function is called as Tab does."""
    program = tmp_path / "cudalint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cudalint "$@"\n')
    program.chmod(0o755)
    asked = (
        'eval "$(_CUDALINT_COMPLETE=bash_source cudalint)"; COMP_WORDS=(cudalint explain CL20); COMP_CWORD=2; '
        '_cudalint_completion cudalint; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asked], capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout == "CL201 CL202\n"


def test_the_documentation_names_each_shell() -> None:
    text = (Path(__file__).parents[2] / "docs" / "shell-completion.md").read_text(encoding="utf-8")
    for shell in ("bash", "zsh", "fish"):
        assert f"_CUDALINT_COMPLETE={shell}_source cudalint" in text

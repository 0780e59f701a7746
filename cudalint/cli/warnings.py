"""One line on stderr for each option that is of no use in this run: a misspelt name must not pass in silence."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from cudalint.options import ParameterValue

_MOST_NAMES = 8

Known = Collection[tuple[str, str]]
"""Each kernel of the run with each of its scalar parameters."""


def warn_of_options(values: Mapping[str, Any], known: Known) -> None:
    """Takes the options as click gives them."""
    for text in (*_folders(values["include_dirs"]), *_parameters(values["params"], known)):
        sys.stderr.write(f"cudalint: warning: {text}\n")
    if known:
        for text in _assumptions(values["assumes"], known):
            sys.stderr.write(f"cudalint: warning: {text}\n")


def _folders(folders: Iterable[str]) -> Iterator[str]:
    """Compilers pass over an `-I` that leads nowhere."""
    for folder in folders:
        if not os.path.isdir(folder):
            yield f"-I {folder}: no such folder"


def _parameters(params: Iterable[ParameterValue], known: Known) -> Iterator[str]:
    """Each `--param` that names nothing in the files of this run, which may be too few."""
    for kernel, name, _ in params:
        own = sorted({parameter for owner, parameter in known if kernel in (None, owner)})
        if name in own:
            continue
        if kernel is None:
            text = f"no kernel of these files has a scalar parameter `{name}`"
        elif own:
            text = f"`{kernel}` has no scalar parameter `{name}`"
        else:
            text = f"no kernel of these files is called `{kernel}`"
        yield f"--param {f'{kernel}:' if kernel else ''}{name}: {text}{_there_are(own)}"


def _assumptions(texts: Iterable[str], known: Known) -> Iterator[str]:
    """Each `--assume` that speaks of no parameter. Fields of records are not looked into."""
    if not texts:
        return
    from cudalint.expressions import names_in, parse_expression

    parameters = sorted({parameter for _, parameter in known})
    for text in texts:
        names = set(names_in(parse_expression(text)))
        if "." not in text and names.isdisjoint(parameters):
            yield f"--assume '{text}': no kernel of these files has such a parameter{_there_are(parameters)}"


def _there_are(names: list[str]) -> str:
    return f"; there are {', '.join(names[:_MOST_NAMES])}" if names else ""

"""What a fixture says about the figures of its accesses.

    out[i] = t[x][y];  // facts: global store 4/4, shared load 32/1

    // facts: global load 4/4 assumed
    s += in[row * pitch + col];

An item is a space, an operation, and either the figure (sectors or wavefronts per request) over its ideal, perhaps
with a status that is not `exact`, or a status that has no figure. It refers to its own line, or to the next line of
code when it stands alone. The items of a line are all that there is on it: what several launches, instantiations
and accesses have in common is said once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cudalint.facts import Access, AccessResult, FileFacts, Space
from cudalint.rulekit import figure
from cudalint.source.comments import read_comments

_DIRECTIVE = re.compile(r"(?:^|//)\s*facts:(?P<items>[^\n]*?)(?://|$)", re.MULTILINE)
_FIGURES = r"(?:\d+(?:\.\d+)?/\d+(?:\.\d+)?)(?: (?:assumed|range))?"
_ITEM = re.compile(
    rf"(?:global|shared|generic) (?:load|store|atomic|async-copy) (?:{_FIGURES}|data-dependent|unknown|unreached)"
)


class ExpectedFacts(NamedTuple):
    line: int
    items: frozenset[str]


def expected_facts(source: str) -> Iterator[ExpectedFacts]:
    read = read_comments(source)
    for comment in read.comments:
        for directive in _DIRECTIVE.finditer(comment.text):
            items = [" ".join(item.split()) for item in directive["items"].split(",")]
            wrong = [item for item in items if not _ITEM.fullmatch(item)]
            if wrong:
                raise ValueError(f"line {comment.line}: can't read `{wrong[0]}` as a fact")
            line = comment.line
            if comment.stands_alone:
                line = read.next_code_line(comment.end_line) or line
            yield ExpectedFacts(line, frozenset(items))


def facts_differences(source: str, facts: FileFacts) -> list[str]:
    """What is missing and what is too much on the lines that have a `facts:` comment; one line each."""
    accesses = [access for kernel in facts.kernels for access in kernel.accesses if access.place.path == facts.path]
    found: list[str] = []
    for expected in expected_facts(source):
        items = frozenset(_items(access for access in accesses if access.place.line == expected.line))
        found += (f"missing, line {expected.line}: {item}" for item in sorted(expected.items - items))
        found += (f"unexpected, line {expected.line}: {item}" for item in sorted(items - expected.items))
    return found


def _items(accesses: Iterable[Access]) -> Iterator[str]:
    for access in accesses:
        for result in access.results:
            yield f"{access.space} {access.operation} {_outcome(access.space, result)}"


def _outcome(space: Space, result: AccessResult) -> str:
    shared = space == "shared"
    value = result.wavefronts_per_request if shared else result.sectors_per_request
    ideal = result.ideal_wavefronts if shared else result.ideal_sectors
    if value is None or ideal is None:
        return result.status
    status = "" if result.status == "exact" else f" {result.status}"
    return f"{figure(value)}/{figure(ideal)}{status}"

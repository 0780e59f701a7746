"""What kernels require of those who launch them: findings that depend on numbers that nothing in sight gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.numerals import count

_MISALIGNED = "CL102"
"""The rule whose conditions say what has to hold; those of the others say when there is something to find."""


class Requirement(Struct, frozen=True, eq=False):
    """The conditional findings of one kernel."""

    path: str
    kernel: str
    findings: tuple[Diagnostic, ...]
    """In the order of the source."""

    @property
    def text(self) -> str:
        """`needs `k % 256 == 0` for 3 accesses; uncoalesced-access at line 9 if `s00 > 1``."""
        return "; ".join(_clauses(self.findings))


def requirements(held: Iterable[Diagnostic]) -> list[Requirement]:
    """Those of each kernel, the ones of most findings first."""
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in held:
        if diagnostic.held_back == "conditional":
            found.setdefault((diagnostic.place.path, diagnostic.kernel), []).append(diagnostic)
    all_ = [Requirement(path, kernel, tuple(each)) for (path, kernel), each in found.items()]
    return sorted(all_, key=lambda each: -len(each.findings))


def condition_of(diagnostic: Diagnostic) -> str:
    """Under which condition there is what a conditional finding says, or of CL102 that there isn't."""
    held, tried = diagnostic.worlds
    return diagnostic.condition or f"in {held} of {count(tried, 'launch', 'launches and instantiations')}"


def says_what_is_needed(diagnostic: Diagnostic) -> bool:
    """Whether its condition is what has to hold for there to be nothing to find."""
    return diagnostic.code == _MISALIGNED


def _clauses(findings: Iterable[Diagnostic]) -> Iterator[str]:
    places: dict[tuple[str, str], set[Place]] = {}
    for diagnostic in findings:
        said = f"{', for example ' if diagnostic.is_example else ' '}if `{diagnostic.condition}`"
        kept = f" (which {diagnostic.kept})" if diagnostic.kept else ""
        needs = f"needs `{diagnostic.condition}`{kept}"
        of_rule = ("", needs) if says_what_is_needed(diagnostic) else (diagnostic.name, said)
        places.setdefault(of_rule, set()).add(diagnostic.place)
    for (name, said), own in places.items():
        [first, *others] = sorted(own)
        where = f"{len(own)} places" if others else f"line {first.line}"
        yield f"{name} at {where}{said}" if name else f"{said} for {count(len(own), 'access', 'accesses')}"

"""What is counted and not shown unless everything is asked for (`--min-share 0`): findings that nobody would act upon.

Errors are held back only where they stand on a number that was guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FindingCost

_OF_TRAFFIC = 0.1
"""What a share of the traffic through L1 counts of a share of the time in a kernel that waits for nothing but latency
or its own launch: with more to do it would wait for this traffic. With sizes that were assumed it had much to do as it
is, and a kernel that waits for something else says by its time what traffic comes to."""
_WITHOUT_REMEDY, _WITH_EDIT = 5.0, 0.2
"""Times the share of the time, a finding takes that comes without a word on what to do, and one that comes with the
edit at hand: what somebody would act upon depends on what it brings and on how much there is to do."""
_GUESSED = 2.0
"""Times the share where the finding stands on sizes that nothing gives, or on a block that nothing gives: of seven such
between one and two times the share that fresh readers judged, none was worth their time."""
_LEAST_PRODUCT = 0.25
"""Of a library whose kernels stand in headers, tests are most of the files that are linted."""
_DOUBLE = re.compile(r"\bdouble\b")
_ASIDE = re.compile(r"(unit_?|perf_?|micro_?)?(tests?|testing|benchmarks?|bench|examples?|samples?|demos?|tutorials?)")
"""Folders of programs around a product, by the customary names."""


def is_large(cost: FindingCost, share: float, *found: Diagnostic) -> bool:
    """Whether what some findings of one cause cost is so much of their kernel that they are shown where this share of
    the time is asked for; so is what is not known."""
    if cost.share is None:
        return True
    is_idle = cost.limiter in ("latency", "launch") and not cost.if_short
    counts = is_idle and any(not d.is_absorbed and not _is_of_unknown_size(d) for d in found)
    by_traffic = _OF_TRAFFIC * (cost.traffic_share or 0.0) if counts else 0.0
    effort = min((_effort(d) for d in found), default=1.0)
    return cost.share / effort + by_traffic / min(effort, 1.0) >= share


def _effort(diagnostic: Diagnostic) -> float:
    if diagnostic.suggestion is None:
        return _WITHOUT_REMEDY
    is_guessed = rests_on_sizes(diagnostic) or _is_for_guessed_blocks(diagnostic)
    return (_WITH_EDIT if diagnostic.suggestion.edits else 1.0) * (_GUESSED if is_guessed else 1.0)


def rests_on_sizes(diagnostic: Diagnostic) -> bool:
    """Whether a finding takes more for granted than its launches do."""
    of_launches = {text for launch in diagnostic.launches for text in launch.assumptions}
    return not of_launches.issuperset(diagnostic.assumptions)


def _is_of_unknown_size(diagnostic: Diagnostic) -> bool:
    """Whether nothing in sight says how much its kernel has to do."""
    return rests_on_sizes(diagnostic) or any(each.is_made_up or each.grid_is_assumed for each in diagnostic.launches)


def marked(diagnostic: Diagnostic, share: float) -> Diagnostic:
    """A finding with the reason why it is held back where its own share is asked for, if there is one; none is if all
    are asked for."""
    d = diagnostic
    if not share:
        return replace(d, held_back=None) if d.held_back else d
    if d.held_back or d.severity == "error" or d.cost is None:
        return d
    if d.cost.share is None and (d.suggestion is None or rests_on_sizes(d)):
        # It may matter, and something may be done about it: nothing in sight says either.
        return replace(d, held_back="guessed")
    return d if is_large(d.cost, share, d) else replace(d, held_back="small")


def _is_for_guessed_blocks(diagnostic: Diagnostic) -> bool:
    """Whether nothing says of any of its launches what the block is: with sizes that are guessed as well, hardly
    anything of what it costs is known."""
    launches = diagnostic.launches
    return bool(launches) and all(each.source == "default" and not each.by_default for each in launches)


def held_for_their_place(
    diagnostics: Iterable[Diagnostic], paths: Collection[str], share: float, has_launches: bool
) -> list[Diagnostic]:
    """Findings with those held back that are about tests, examples and benchmarks, or about launches that only these
    make, unless nearly all linted files are such: then they are what somebody wants to know of. So is waste in
    instantiations for doubles alone. `has_launches` says whether the linted files launch any kernel: where they launch
    some and not others, these have their launches and sizes elsewhere, and kernels alone are all that there is."""
    if not share:
        return list(diagnostics)
    has_product = sum(not _is_aside(path) for path in paths) > _LEAST_PRODUCT * len(paths)
    return [d if d.held_back or d.severity == "error" else _held(d, has_product, has_launches) for d in diagnostics]


def _held(diagnostic: Diagnostic, has_product: bool, has_launches: bool) -> Diagnostic:
    if has_product and (_is_aside(diagnostic.place.path) or _is_launched_aside(diagnostic)):
        return replace(diagnostic, held_back="tests")
    is_waste = diagnostic.cost is not None
    if has_launches and is_waste and rests_on_sizes(diagnostic) and _is_for_guessed_blocks(diagnostic):
        return replace(diagnostic, held_back="guessed")
    if diagnostic.cost is not None and _is_for_doubles_alone(diagnostic):
        return replace(diagnostic, held_back="doubles")
    return diagnostic


def _is_for_doubles_alone(diagnostic: Diagnostic) -> bool:
    """Whether each instantiation that has it is for doubles, and one that lacks it is the same for floats."""
    own = {each.instantiation for each in (diagnostic, *diagnostic.variants)}
    if not all(_DOUBLE.search(name) for name in own):
        return False
    return any(_DOUBLE.sub("float", name) in diagnostic.not_in for name in own)


def _is_launched_aside(diagnostic: Diagnostic) -> bool:
    """Whether tests and the like make all launches that it is about: their sizes are no product's."""
    launches = [launch for each in (diagnostic, *diagnostic.variants) for launch in each.launches]
    return bool(launches) and all(launch.path is not None and _is_aside(launch.path) for launch in launches)


def _is_aside(path: str) -> bool:
    *folders, _ = path.replace("\\", "/").lower().split("/")
    return any(_ASIDE.fullmatch(folder) for folder in folders)

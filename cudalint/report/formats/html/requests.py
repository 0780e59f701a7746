"""The accesses and branches of a line: what they come to in words, and pictures of their requests."""

from __future__ import annotations

import math
from collections.abc import Iterator

from markupsafe import Markup

from cudalint.facts import Access, AccessResult, Branch, BranchResult
from cudalint.numerals import count, figure
from cudalint.report.drawing import requests as drawing
from cudalint.report.drawing.svg import Drawing, number, text_of
from cudalint.report.drawing.threads import by_branch
from cudalint.report.formats.html.source import prose
from cudalint.report.formats.html.views import AccessView, Frame
from cudalint.report.formats.plain import page

_WASTEFUL = 1.25
"""Times the ideal from which on an access is marked."""
_LOST = 0.02
"""Of what warps execute, what a branch has to cost to be marked."""
_MOST_BYTES = 24_000
"""Of pictures, for one kernel; those of accesses beyond that are left out."""


class Pictures:
    """The pictures of a page, of which those that are equal are written once."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._left = _MOST_BYTES

    def begin_kernel(self) -> None:
        self._left = _MOST_BYTES

    def place(self, drawing: Drawing, always: bool = False) -> Markup:
        """The picture, or a reference to the one that is there already; empty where the kernel has had its share,
        unless it is to be there always."""
        name = self._names.get(drawing.body)
        if name is None:
            if len(drawing.body) > self._left and not always:
                return Markup("")
            self._left -= len(drawing.body)
            name = self._names[drawing.body] = f"p{len(self._names)}"
        title = text_of(page(drawing.title))
        view = f"0 0 {number(drawing.width)} {number(drawing.height)}"
        return Markup(  # noqa: S704  # Numbers and names of this module's own, and text that is escaped.
            f'<svg class="pic" viewBox="{view}" width="{number(drawing.width)}" role="img" aria-label="{title}">'
            f'<use href="#{name}"/></svg>'
        )

    def symbols(self) -> Markup:
        """All of them, for the page to have once."""
        drawn = "".join(f'<g id="{name}" class="pic">{body}</g>' for body, name in self._names.items())
        return Markup(f'<svg class="pic" width="0" height="0" aria-hidden="true"><defs>{drawn}</defs></svg>')  # noqa: S704


def access_view(access: Access, result: AccessResult, pictures: Pictures) -> AccessView:
    """An access under one launch."""
    found = access.per_request(result)
    where = f"{access.space} {access.operation}" + (f" of `{access.array}`" if access.array else "")
    notes = [*result.assumptions]
    if result.reason:
        notes.append(result.reason)
    return AccessView(
        expression=" ".join(access.expression.split()),
        words=prose(f"{where}, {count(access.bytes, 'byte')} a lane: {_figures(access, result)}"),
        is_wasteful=bool(found.ideal) and (found.actual or 0.0) >= _WASTEFUL * (found.ideal or 0.0),
        frames=tuple(_frames(access, result, pictures)),
        notes=tuple(map(prose, notes)),
    )


def branch_view(branch: Branch, result: BranchResult, block: tuple[int, int, int], pictures: Pictures) -> AccessView:
    """A branch that splits warps under one launch, with the threads of a block that go either way."""
    found = result.divergence
    assert found is not None
    share = f"{result.divergent_warps:.0%} of the warps" if result.divergent_warps else "warps"
    lost = f"{found.share:.0%} of what the kernel's warps execute is lost to it"
    words = f"{branch.kind}: {share} that get there split, {lost}"
    drawn = by_branch(block, [*found.ways[: math.prod(block)]], branch.is_loop)
    picture = pictures.place(drawn)
    return AccessView(
        expression="",
        words=prose(words),
        is_wasteful=result.compiled == "branch" and found.share >= _LOST,
        frames=(Frame(drawn.title, picture),) if picture else (),
        notes=tuple(map(prose, result.assumptions)),
    )


def _figures(access: Access, result: AccessResult) -> str:
    if result.status == "unreached":
        return "not reached under this launch"
    found = access.per_request(result)
    if found.text is None:
        return f"not known ({result.status})"
    parts = [found.text + (f" (ideal {figure(found.ideal)})" if found.ideal is not None else "")]
    if result.active_lanes is not None and result.active_lanes < 31.95:
        parts.append(f"{figure(result.active_lanes)} of 32 lanes active")
    return ", ".join(parts)


def _frames(access: Access, result: AccessResult, pictures: Pictures) -> Iterator[Frame]:
    sample = result.sample
    if sample is None:
        return
    for row in range(len(sample.mask)):
        addresses, mask = sample.addresses[row], sample.mask[row]
        if not mask.any():
            continue
        draw = drawing.banks if access.space == "shared" else drawing.sectors
        drawn = draw(addresses, mask, access.bytes)
        picture = pictures.place(drawn)
        if picture:
            yield Frame(f"warp {int(sample.warps[row])}: {drawn.title}", picture)

"""The map of a program: areas are times, and kernels of unknown sizes lie apart."""

from __future__ import annotations

from markupsafe import Markup

from cudalint.report.formats.html.overview import map_of
from cudalint.report.formats.html.views import Section


def _section(name: str, microseconds: float, is_nominal: bool = False, bound: str = "L1") -> Section:
    return Section(
        anchor=f"k-{name}", name=name, instantiation=name, path="k.cu", line=1, lead=Markup(""), time="",
        microseconds=microseconds, is_nominal=is_nominal, bound=bound, saved=0.0, gain="", assumptions=(), figures=(),
        codes=[], launches=(), gaps=(),
    )  # fmt: skip


def test_kernels_of_unknown_sizes_take_nothing_of_the_map() -> None:
    """One of 30 us and one of 10 share all of it; of the two others nobody knows which takes longer."""
    known = [_section("long", 30.0), _section("brief", 10.0)]
    drawn = map_of([*known, _section("any", 0.0, True, "DRAM"), _section("more", 0.0, True)])
    assert drawn is not None
    assert ("k-long" in drawn.picture, "k-any" in drawn.picture) == (True, False)
    assert 'width="75.00%"' in drawn.picture
    assert drawn.of_any_size.count("<a ") == 2
    assert drawn.of_any_size.count('width="50.00%"') == 2
    assert [(each.name, each.share) for each in drawn.legend] == [("L1", "100%"), ("DRAM", "")]
    assert drawn.unknown == 0


def test_a_map_of_unknown_sizes_alone() -> None:
    drawn = map_of([_section("any", 0.0, True), _section("more", 0.0, True), _section("unknown", 0.0)])
    assert drawn is not None
    assert (drawn.height, drawn.unknown) == (0, 1)
    assert map_of([_section("any", 0.0, True)]) is None

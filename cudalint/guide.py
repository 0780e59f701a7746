"""The pages of the guide (`docs/guide/`), and what each of them explains.

An installation doesn't bring them: `report/formats/pages.py` says where they are, and what a page says in short stands
here.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct


class GuidePage(Struct, frozen=True):
    """A page, or a section of one."""

    name: str
    """Its file without `.md`, and the section behind `#`."""
    title: str
    words: frozenset[str]
    """What people look for who should find it, in small letters."""
    brief: str = ""
    """What a section says, in few sentences, for who has no guide at hand."""


def _page(name: str, title: str, words: str, brief: str = "") -> GuidePage:
    return GuidePage(name, title, frozenset(words.split()), brief)


_PADDING = """\
Rows of 32 words all begin in bank 0, so that a column lies in one bank. With one more word in each row (`float
tile[32][33]`) every row begins a bank further on, and a column lies in 32 banks. The word is never used."""
_SWIZZLE = """\
Rows keep their length, and the columns of a row change places among themselves: column `c` of row `r` is kept where
`c ^ r` would be (`tile[r][c ^ r]`), in each access of the tile. For one row that is each column once, so that nothing
gets into the place of something else; down a column it is another bank in each row. It takes rows whose length is a
power of two, and no memory, and serves blocks of 16 by 16, where padding leaves a conflict."""


PAGES = (
    _page("faults", "Seven faults that everybody makes", "fault faults beginner beginners"),
    _page("memory", "How a warp reads memory", "memory global coalescing coalesced sector sectors request stride warp"),
    _page("banks", "Shared memory and its banks", "shared memory bank banks conflict conflicts wavefront wavefronts"),
    _page("banks#the-cure-one-more-word-in-each-row", "Padding", "pad padding padded", _PADDING),
    _page("banks#swizzled-columns", "Swizzled columns", "swizzle swizzled swizzling xor", _SWIZZLE),
    _page("divergence", "Branches that part a warp", "branch branches divergence divergent predication"),
    _page("barriers", "Barriers and races", "barrier barriers race races syncthreads __syncthreads"),
    _page("occupancy", "Occupancy", "occupancy register registers"),
    _page("roofline", "The roofline", "roofline intensity ridge bandwidth bound"),
    _page("transpose", "A transpose, from naive to good", "transpose transposed transposition tile tiles tiling"),
    _page("product", "A matrix product, step by step", "product matmul matrix multiplication gemm tile tiles tiling"),
    _page("glossary", "Glossary", "glossary term terms"),
)


def named(name: str) -> GuidePage:
    """The page of a name; raises `KeyError` where there is none."""
    return _BY_NAME[name]


def about(text: str) -> Iterator[GuidePage]:
    """The pages that explain all of some words."""
    words = text.lower().replace("-", " ").split()
    yield from (page for page in PAGES if words and page.words.issuperset(words))


_BY_NAME = {page.name: page for page in PAGES}

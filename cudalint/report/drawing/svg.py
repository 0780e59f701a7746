"""The parts that all pictures are made of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources

from msgspec import Struct


@cache
def style() -> str:
    """The style sheet of every element of the class `pic`."""
    return resources.files("cudalint.report.drawing").joinpath("pictures.css").read_text(encoding="utf-8")


class Drawing(Struct, frozen=True):
    """A picture of some size in user units, what stands in it, and what it shows, in words."""

    width: float
    height: float
    body: str
    title: str

    def inline(self) -> str:
        """As an element of an HTML page that has `style()`."""
        return (
            f'<svg class="pic" viewBox="0 0 {number(self.width)} {number(self.height)}" width="{number(self.width)}" '
            f'role="img"><title>{text_of(self.title)}</title>{self.body}</svg>'
        )

    def standalone(self) -> str:
        """As a file of its own, with a ground that follows the reader's choice of light or dark."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="pic" viewBox="0 0 {number(self.width)} '
            f'{number(self.height)}" width="{number(self.width)}" height="{number(self.height)}" role="img">'
            f"<title>{text_of(self.title)}</title><style>{style()}.pic .page{{fill:#fff}}"
            "@media(prefers-color-scheme:dark){.pic .page{fill:#14191f}}</style>"
            f'<rect class="page" width="100%" height="100%"/>{self.body}</svg>\n'
        )


def number(value: float) -> str:
    """A coordinate to one decimal, without zeros that say nothing."""
    return f"{round(value, 1):g}"


def text_of(text: str) -> str:
    """Text as an element's content or an attribute's value."""
    return escape(text, quote=True)


def text(x: float, y: float, words: str, classes: str = "") -> str:
    """One line of text whose baseline begins at a point; with the class `w` it is centred there, with `e` it ends."""
    looks = f' class="{classes}"' if classes else ""
    return f'<text{looks} x="{number(x)}" y="{number(y)}">{text_of(words)}</text>'


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle as a part of a path."""
    return f"M{number(x)} {number(y)}h{number(width)}v{number(height)}h-{number(width)}z"


def path(classes: str, parts: Iterable[str]) -> str:
    """One element for all parts of a look; nothing where there is none."""
    drawn = "".join(parts)
    return f'<path class="{classes}" d="{drawn}"/>' if drawn else ""


def line(classes: str, points: Iterable[tuple[float, float]]) -> str:
    """A line through points."""
    drawn = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f'<path class="{classes}" d="M{drawn}"/>'

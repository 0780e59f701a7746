"""What the templates show, ready to be shown."""

from __future__ import annotations

from markupsafe import Markup
from msgspec import Struct, field


class Link(Struct, frozen=True):
    words: str
    anchor: str = ""
    """Of a line that the page shows; empty for others."""
    message: Markup = Markup("")
    severity: str = ""
    """Of the finding that it leads to."""


class DiffLine(Struct, frozen=True):
    kind: str
    """`-`, `+`, ` ` or `@`."""
    text: str


class Finding(Struct, frozen=True):
    """A finding in its place."""

    anchor: str
    code: str
    name: str
    severity: str
    message: Markup
    where: Link
    page: str
    """The address of the rule's page; empty where there is none on the network."""
    notes: tuple[tuple[str, Markup], ...] = ()
    assumed: tuple[Markup, ...] = ()
    places: tuple[Link, ...] = ()
    """Related ones, and those of the same cause."""
    help: Markup = Markup("")
    is_unsafe: bool = False
    diff: tuple[DiffLine, ...] = ()
    pictures: tuple[Markup, ...] = ()
    justification: str = ""


class Frame(Struct, frozen=True):
    """One of the pictures between which a slider chooses."""

    caption: str
    picture: Markup


class AccessView(Struct, frozen=True):
    """What an access does, as a line of words, and its requests."""

    expression: str
    words: Markup
    is_wasteful: bool
    frames: tuple[Frame, ...] = ()
    notes: tuple[Markup, ...] = ()


class Row(Struct):
    """A line of source with all that belongs to it. Without a number it stands for lines that are left out."""

    number: int
    anchor: str
    text: Markup
    traffic: float = 0.0
    time: float = 0.0
    accesses: list[AccessView] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    pointers: list[Link] = field(default_factory=list)
    """To findings that are reported elsewhere, and are there for this line too."""

    @property
    def anchors(self) -> set[str]:
        """The anchors of the findings that are reported for this line, here or elsewhere."""
        return {finding.anchor for finding in self.findings} | {link.anchor for link in self.pointers}


class Code(Struct):
    """Lines of one file."""

    path: str
    rows: list[Row]


class Figure(Struct, frozen=True):
    title: str
    picture: Markup
    caption: str = ""


class LaunchRow(Struct, frozen=True):
    kernel: str
    launch: str
    time: str
    bound: str


class Section(Struct):
    """A kernel with all its instantiations; all figures are those of one launch."""

    anchor: str
    name: str
    instantiation: str
    path: str
    line: int
    lead: Markup
    time: str
    microseconds: float
    bound: str
    saved: float
    """Microseconds that its findings take."""
    gain: str
    assumptions: tuple[Markup, ...]
    figures: tuple[Figure, ...]
    codes: list[Code]
    launches: tuple[LaunchRow, ...]
    gaps: tuple[str, ...]
    rest: list[Finding] = field(default_factory=list)
    """Findings at lines that are not shown."""
    pointers: list[Link] = field(default_factory=list)
    """To findings that are reported at another kernel for this one too, at lines that are not shown."""
    findings: int = 0
    errors: int = 0
    rules: str = ""
    """The codes of its findings, with spaces between."""


class Rule(Struct, frozen=True):
    code: str
    name: str
    number: int


class Failures(Struct, frozen=True):
    """Files that could not be linted, for one reason."""

    message: str
    paths: tuple[str, ...]


class Page(Struct, frozen=True):
    title: str
    summary: Markup
    version: str
    sections: tuple[Section, ...]
    others: tuple[Finding, ...]
    allowed: tuple[Finding, ...]
    rules: tuple[Rule, ...]
    failures: tuple[Failures, ...]
    partial: tuple[Failures, ...]
    """The same for those of which something was left out."""
    minor: Markup
    most_microseconds: float
    symbols: Markup
    """Pictures that several places show."""
    has_recorded_times: bool = False

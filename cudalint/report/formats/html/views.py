"""What the templates show, ready to be shown."""

from __future__ import annotations

import os
from typing import Literal

from markupsafe import Markup
from msgspec import Struct, field

_SEVERITIES = ("error", "warning", "info")


class Link(Struct, frozen=True):
    words: str
    anchor: str = ""
    """Of a line that the page shows; empty for others."""
    message: Markup = Markup("")
    severity: str = ""
    """Of the finding that it leads to."""
    code: str = ""


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
    """That a launch takes; 0 where nothing in sight says how long."""
    is_nominal: bool
    """See `LaunchCost`."""
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
    recorded: float = 0.0
    """Microseconds of all its launches that were recorded."""
    stakes: tuple[Stake, ...] = ()

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)

    @property
    def contents(self) -> list[Finding | Link]:
        """All that is reported for it, here and elsewhere, the worst first."""
        rows = [row for code in self.codes for row in code.rows]
        found: list[Finding | Link] = [*self.rest, *self.pointers]
        for row in rows:
            found += [*row.findings, *row.pointers]
        return sorted(found, key=lambda each: _SEVERITIES.index(each.severity))

    @property
    def has(self) -> str:
        """`CL101/warning CL301/error`, of all of them, by which a page can be filtered."""
        return " ".join(sorted({f"{each.code}/{each.severity}" for each in self.contents}))

    @property
    def map_time(self) -> float:
        return self.recorded or self.microseconds


class Stake(Struct, frozen=True):
    """What findings of a kernel are about, as a bar: of its errors in which part of its launches they are there, of
    waste which part of its time it takes."""

    kind: Literal["error", "waste"]
    share: float
    words: str


class Change(Struct, frozen=True):
    """A finding with what mending it would bring."""

    anchor: str
    what: Markup
    rule: str
    code: str
    severity: str
    where: str
    brings: str
    share: float
    """Of its kernel's time."""
    has_edit: bool
    is_known: bool
    """From a baseline."""
    sizes: str
    """`for n = 40960`: what nothing in sight says and the time rests on."""


class ErrorRule(Struct, frozen=True):
    """A rule that has errors, with the first kernels that these are in."""

    code: str
    name: str
    number: int
    kernels: tuple[Link, ...]
    more: int


class Tile(Struct, frozen=True):
    """A figure of the whole run."""

    figure: str
    words: str
    severity: str = ""
    share: float | None = None


class Legend(Struct, frozen=True):
    name: str
    look: str
    share: str


class Map(Struct, frozen=True):
    """Kernels by their time, and apart from them those of which nothing gives the sizes, alike."""

    picture: Markup
    height: int
    of_any_size: Markup
    height_of_those: int
    legend: tuple[Legend, ...]
    is_recorded: bool
    unknown: int
    """Kernels of which even that is not known what binds them, which aren't drawn."""


class Rule(Struct, frozen=True):
    """A box of the filter: a rule, a severity or a folder, and how much there is of it."""

    code: str
    name: str
    number: int


class Failures(Struct, frozen=True):
    """Files that could not be linted, for one reason."""

    message: Markup
    paths: tuple[str, ...]


class Page(Struct, frozen=True):
    title: str
    base: str
    """The folder that paths are below, where they are absolute."""
    version: str
    target: str
    tiles: tuple[Tile, ...]
    changes: tuple[Change, ...]
    errors: tuple[ErrorRule, ...]
    map: Map | None
    not_covered: str
    """In one line; empty where all was looked at."""
    details: tuple[Markup, ...]
    """The same in full."""
    sections: tuple[Section, ...]
    is_large: bool
    """Whether kernels are made ready when they are opened."""
    others: tuple[Finding, ...]
    allowed: tuple[Finding, ...]
    rules: tuple[Rule, ...]
    severities: tuple[Rule, ...]
    folders: tuple[Rule, ...]
    failures: tuple[Failures, ...]
    partial: tuple[Failures, ...]
    """The same for those of which something was left out."""
    symbols: Markup
    """Pictures that several places show."""
    has_recorded_times: bool = False

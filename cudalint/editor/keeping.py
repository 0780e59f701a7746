"""Facts of kernels that are kept between analyses of a file that is being edited.

A kernel's facts come of its own code, of what is outside of all bodies (types, device functions, signatures), and of
what host code passes to its launches. What else stands in the bodies of other kernels and of host functions has no say.
So the facts of an earlier analysis count again where the first two are what they were and the launches are given the
same (`launched.py`), and lines that moved are renumbered. Bodies that may have a say are not left out: those with
directives, annotations of launches and assumptions, and of kernels those that launch others, of host functions those
with types or device code of their own. An `extern` declaration is the same thing in all bodies that have it.

Beside its facts a kernel leaves what its launches and uses ask of the host code's sizes, which holds for the kernels
that are evaluated after it: that is part of what an analysis is compared by, and kept with the facts.

Files that an analysis reads beside the edited one are not compared here: whoever keeps a `Memory` forgets it when they
change (`analysing.py`).
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast

import numpy as np
from msgspec import Struct, field
from msgspec.msgpack import Encoder
from msgspec.structs import replace

from cudalint.facts import Access, Frame, KernelFacts, Place
from cudalint.fixes.earlier import EarlierTrials, Outcome
from cudalint.host.values.nodes import Choice
from cudalint.ir import nodes as ir
from cudalint.ir.units import Unit
from cudalint.options.analysis import AnalysisOptions
from cudalint.reasons import Problem
from cudalint.regexes import regex
from cudalint.run.file_analysis import FileAnalysis
from cudalint.run.launched import Launched, LinesInText, NoKey, by_position, launched
from cudalint.run.shared_kernels import choose
from cudalint.source.comments import read_comments
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.recorder import digest

T = TypeVar("T")

_MOST = 3
"""States of a kernel that are kept: typing goes back and forth."""
_ENCODER: Final = Encoder(order="deterministic")
_STATEMENT: Final = regex(r"cudalint:\s*(?:launch|assume)\b")
_HAS_A_SAY: Final = regex(
    rb"<<<|cudaLaunch|cudalint:\s*(?:launch|assume)\b|^[ \t]*#(?![ \t]*pragma[ \t]+unroll)|\?\?/", re.MULTILINE
)
_HAS_A_SAY_IN_HOST_CODE: Final = regex(
    rb"__(?:device|global|host|shared)__|(?i:constexpr|consteval)|\b(?:struct|class|union|enum|using|typedef|auto\s*\()\b"
    rb"|cudalint:\s*(?:launch|assume)\b|^[ \t]*#(?![ \t]*pragma[ \t]+unroll)|\?\?/",
    re.MULTILINE,
)
"""What may be named outside of the body that it is in, or be part of a kernel."""
_HEAD_WITH_A_SAY: Final = regex(rb"__(?:device|global)__|(?i:constexpr|consteval)|\bauto\b")
"""A function whose body says something to who calls it."""
_EXTERN: Final = regex(rb"\bextern\b")
_END_OF_STATEMENT: Final = (b";", b"{", b"}", b":")
_WORD: Final = regex(rb"\w+")


class Outline(Struct):
    """The lines of a text, by what they have a say in."""

    lines: list[bytes]
    outside: list[int]
    """The numbers of those that count for all kernels."""
    bodies: dict[str, list[int]]
    """By a kernel's USR: the lines that count for itself alone."""
    spans: list[tuple[int, int]]
    """Of bodies, those of host functions too, which count for what they hand to launches: the first line and one past
    the last."""
    digest: bytes
    """Of the lines outside."""
    words: frozenset[bytes]
    """Of the lines outside."""


def outline_of(text: str, path: str, unit: Unit) -> Outline:
    lines = to_bytes(text).split(b"\n")
    kernels = _spans(path, unit.kernels)
    host = _outermost({(first, last) for first, last, _ in _spans(path, (*unit.host_functions, *unit.host_patterns))})
    of_kernels = {
        usr: body for first, last, usr in kernels
        if (body := _body(lines, first, last, _HAS_A_SAY)) is not None and _is_alone(first, last, kernels)
    }  # fmt: skip
    of_host = [
        body for first, last in host
        if (body := _body(lines, first, last, _HAS_A_SAY_IN_HOST_CODE, _HEAD_WITH_A_SAY)) is not None
        and not any(a <= last and first <= b for a, b, _ in kernels)
    ]  # fmt: skip
    spans = [*of_kernels.values(), *of_host]
    plain = _without_comments(text)
    inside = {n for first, end in spans for n in range(first, end) if not _EXTERN.search(lines[n - 1])}
    outside = list(_that_count(lines, plain, range(1, len(lines) + 1), inside))
    bodies = {usr: list(_that_count(lines, plain, range(*body))) for usr, body in of_kernels.items()}
    # Where the bodies were is part of what is said.
    starts = {first - 1 for first, _ in spans}
    said = b"\n".join(lines[n - 1] if n not in starts else b"\0" + lines[n - 1] for n in outside)
    return Outline(lines, outside, bodies, spans, digest(said), frozenset(_WORD.findall(said)))


def _spans(path: str, functions: Iterable[ir.FunctionRef]) -> list[tuple[int, int, str]]:
    return sorted({(ref.span.line, ref.span.end_line, ref.usr) for ref in functions if ref.span.path == path})


def _outermost(spans: Collection[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that lie in no other one, but for those that share a line with one: its text may belong to either."""
    whole: tuple[int, int] | None = None
    end = 0
    for first, last in sorted(spans, key=lambda span: (span[0], -span[1])):
        if first > end:
            if whole is not None:
                yield whole
            whole = (first, last)
        elif last > end:
            whole = None
        end = max(end, last)
    if whole is not None:
        yield whole


def _is_alone(first: int, last: int, spans: Iterable[tuple[int, int, str]]) -> bool:
    return sum(a <= last and first <= b for a, b, _ in spans) == 1


def _body(
    lines: Sequence[bytes],
    first: int,
    last: int,
    has_a_say: re.Pattern[bytes],
    head_with_a_say: re.Pattern[bytes] | None = None,
) -> tuple[int, int] | None:
    """The lines between the one on which a function's body begins and the one on which it ends, if it has no say in
    anything else."""
    opened = next((n for n in range(first, last) if b"{" in lines[n - 1]), None)
    if opened is None or opened + 1 >= last:
        return None
    if head_with_a_say is not None and head_with_a_say.search(b"\n".join(lines[first - 1 : opened])):
        return None
    body = b"\n".join(lines[opened : last - 1])
    is_whole = all(line.rstrip().endswith(b";") for line in body.split(b"\n") if _EXTERN.search(line))
    is_closed = is_whole and not lines[opened - 1].rstrip().endswith(b"\\")
    return (opened + 1, last) if is_closed and not has_a_say.search(body) else None


def _without_comments(text: str) -> list[bytes]:
    """The lines of a text with blanks for its comments, but for those that state launches or assumptions."""
    pieces: list[str] = []
    done = 0
    for comment in read_comments(text).comments:
        if not _STATEMENT.search(comment.text):
            pieces += (text[done : comment.start], re.sub(r"[^\n]", " ", comment.text))
            done = comment.end
    return to_bytes("".join((*pieces, text[done:]))).split(b"\n")


def _that_count(
    lines: list[bytes], plain: Sequence[bytes], numbers: Iterable[int], inside: Collection[int] = ()
) -> Iterator[int]:
    """The numbers of lines, but for those inside of bodies and those between statements in which is no code. Comments
    behind statements are taken out of `lines`."""
    is_between = True
    is_continued = False
    for number in numbers:
        if number in inside:
            is_between, is_continued = True, False
            continue
        code = plain[number - 1].strip()
        if not code and is_between and not is_continued:
            continue
        yield number
        is_continued = lines[number - 1].rstrip().endswith(b"\\")
        is_directive = code.startswith(b"#")
        is_between = code.endswith(_END_OF_STATEMENT) or (is_directive and not is_continued)
        if code.endswith(_END_OF_STATEMENT) and not is_directive and not is_continued:
            lines[number - 1] = plain[number - 1].rstrip()


class _Known(Struct):
    """What an analysis came to for one kernel."""

    key: bytes
    facts: list[KernelFacts]
    parameters: frozenset[tuple[str, str]]
    chosen: dict[int, Choice]
    """What holds for the host code's sizes behind it, by the positions of their symbols in what it was given."""
    host: tuple[int, ...]
    """The lines of host code in that."""
    outside: list[int]
    body: list[int]
    """As in the outline that it was found with; empty for a kernel whose body counts for all."""
    tried: dict[object, Outcome] = field(default_factory=dict)
    """What came of trying edits of it."""
    shown: dict[int, object] = field(default_factory=dict)
    """What is made of some of the facts to be shown, by their position among them; with places that move as theirs."""


class Memory(Struct, eq=False):
    """Of one file."""

    kernels: dict[str, list[_Known]] = field(default_factory=dict)
    """By USR, those of last time first."""
    used: int = 0
    """How many kernels of the last analysis came from here."""


class Keeping:
    """For one analysis of a file that is edited: a `Keeper`."""

    def __init__(self, memory: Memory, path: str, text: str) -> None:
        self._memory, self._path, self._text = memory, path, text
        self._outlines: dict[int, tuple[FileAnalysis, Outline, bytes]] = {}
        self._tried: dict[Place, EarlierTrials] = {}
        self._known: dict[int, tuple[_Known, int]] = {}
        """Facts of this analysis, by their addresses, as positions in what is kept."""
        memory.used = 0

    def facts(
        self, analysis: FileAnalysis, ref: ir.FunctionRef, found: Callable[[], list[KernelFacts]]
    ) -> list[KernelFacts]:
        outline, shared = self._outline(analysis)
        body = outline.bodies.get(ref.usr, [])
        own = b"\n".join(outline.lines[number - 1] for number in body)
        try:
            given = launched(analysis, ref, self._path, partial(_position, outline, body))
        except NoKey:
            return found()
        key = self._key(analysis, ref, outline, shared, given, own, body)
        states = self._memory.kernels.setdefault(ref.usr, [])
        known = next((state for state in states if state.key == key), None)
        if known is not None:
            moved = self._moved(known, outline, given, body)
            if moved is not None:
                self._memory.used += 1
                analysis.parameters |= known.parameters
                choose(analysis, {given.symbols[at]: choice for at, choice in known.chosen.items()})
                facts, shown = moved
                new = replace(known, facts=facts, host=given.lines, outside=outline.outside, body=body, shown=shown)
                self._keep(states, new, known, outline)
                return facts
        before = len(analysis.given_up), len(analysis.broken)
        common = analysis.graph.chosen_for_all(analysis.shared)
        facts = found()
        own_choices = {
            symbol: choice for symbol, choice in analysis.graph.chosen_for_all(analysis.shared).items()
            if common.get(symbol) != choice
        }  # fmt: skip
        chosen = by_position(own_choices, given)
        if chosen is not None and (len(analysis.given_up), len(analysis.broken)) == before:
            named = {facts.name for facts in facts}
            parameters = frozenset(pair for pair in analysis.parameters if pair[0] in named)
            new = _Known(key, facts, parameters, chosen, given.lines, outline.outside, body)
            self._keep(states, new, known, outline)
        return facts

    def tried_in(self, kernel: Place) -> EarlierTrials | None:
        """What came of trying edits of a kernel in this state, to be added to."""
        return self._tried.get(kernel)

    def shown(self, kernel: KernelFacts, made: Callable[[], T]) -> T:
        """What is made of a kernel's facts alone to be shown, which is kept with them."""
        known, position = self._known.get(id(kernel), (None, 0))
        if known is None:
            return made()
        if position not in known.shown:
            known.shown[position] = made()
        return cast(T, known.shown[position])

    def _keep(self, states: list[_Known], new: _Known, old: _Known | None, outline: Outline) -> None:
        self._known |= {id(facts): (new, position) for position, facts in enumerate(new.facts)}
        if old is not None:
            states.remove(old)
        states.insert(0, new)
        del states[_MOST:]
        tried = EarlierTrials(partial(_near, outline, new.body), new.tried)
        self._tried |= dict.fromkeys((facts.place for facts in new.facts), tried)

    def _outline(self, analysis: FileAnalysis) -> tuple[Outline, bytes]:
        known = self._outlines.get(id(analysis))
        if known is None:
            outline = outline_of(self._text, self._path, analysis.unit)
            known = self._outlines[id(analysis)] = (analysis, outline, _shared(analysis, self._path))
        return known[1], known[2]

    def _key(
        self,
        analysis: FileAnalysis,
        ref: ir.FunctionRef,
        outline: Outline,
        shared: bytes,
        given: Launched,
        own: bytes,
        body: Sequence[int],
    ) -> bytes:
        instances = [instance.usr for instance in analysis.unit.instantiations(ref.key)] if ref.templated else []
        words = outline.words | frozenset(_WORD.findall(own))
        problems = [told for p in analysis.unit.problems if (told := _as_seen(p, self._path, outline, body, words))]
        # What is stated and can't be understood counts for less where names are missing anyway.
        states = analysis.options.assumes or analysis.options.kernels or b"cudalint" in words
        is_complete = bool(states) and not analysis.unit.problems
        said = (ref.usr, ref.templated, instances, sorted(problems, key=str), is_complete, bool(body))
        return digest(b"\0".join((shared, outline.digest, own, _ENCODER.encode(said), to_bytes(given.key))))

    def _moved(
        self, known: _Known, outline: Outline, given: Launched, body: list[int]
    ) -> tuple[list[KernelFacts], dict[int, object]] | None:
        """What is known, with the lines that places have by now; None where that is not known."""
        if known.outside == outline.outside and known.body == body and known.host == given.lines:
            return known.facts, known.shown
        lines = dict(zip(known.host, given.lines, strict=True))
        lines |= zip(known.outside, outline.outside, strict=True)
        lines |= zip(known.body, body, strict=True)
        mover = _Mover(self._path, lines)
        try:
            facts = [mover.moved(each) for each in known.facts]
            return facts, {position: mover.moved(each) for position, each in known.shown.items()}
        except _UnmovableError:
            return None


def _position(outline: Outline, body: Sequence[int], line: int) -> tuple[str, int] | None:
    """Where a line is among those that the key of a kernel has the text of."""
    for where, lines in (("body", body), ("outside", outline.outside)):
        at = bisect_left(lines, line)
        if at < len(lines) and lines[at] == line:
            return where, at
    return None


def _near(outline: Outline, body: Sequence[int], line: int) -> tuple[str, int, int]:
    """The same of the last such line up to one, and how far that is behind it."""
    where, lines = ("body", body) if body and body[0] <= line <= body[-1] else ("outside", outline.outside)
    at = bisect_right(lines, line) - 1
    return where, at, line - lines[at] if at >= 0 else line


def _shared(analysis: FileAnalysis, path: str) -> bytes:
    """What counts for all kernels beside the text."""
    options = analysis.options
    others = tuple(each for each in options.unsaved if each[0] != path)
    asked: AnalysisOptions = replace(options, unsaved=others, only=(), kinds=frozenset())
    kinds = sorted(options.kinds)
    return digest(_ENCODER.encode((asked, kinds, repr(analysis.needs.architecture), os.getcwd())))


def _as_seen(
    problem: Problem, path: str, outline: Outline, body: Sequence[int], words: frozenset[bytes]
) -> tuple[object, ...] | None:
    """What a problem says to a kernel: None for one in the body of another that is about none of its words."""
    where: object = None
    if problem.path == path and problem.kind not in ("defined", "supplied"):
        where = _position(outline, body, problem.line)
        if where is None and any(first <= problem.line < end for first, end in outline.spans):
            if not words.intersection(_WORD.findall(to_bytes(problem.name))):
                return None
        elif where is None:
            where = bisect_left(outline.outside, problem.line)
    return problem.path, problem.kind, problem.message, where


class _UnmovableError(Exception):
    """Something names a line of which is not known where it is now."""


class _Mover:
    """Gives facts the lines that a file has by now."""

    def __init__(self, path: str, lines: Mapping[int, int]) -> None:
        self._path, self._lines = path, lines
        self._lines_in_text = LinesInText(path, self._line)
        self._done: dict[int, tuple[object, object]] = {}

    def moved(self, value: T) -> T:
        return cast(T, self._of(value))

    def _line(self, line: int) -> int:
        found = self._lines.get(line)
        if found is None:
            raise _UnmovableError
        return found

    def _of(self, value: object) -> object:
        if value is None or isinstance(value, bool | int | float | bytes | np.ndarray):
            return value
        if isinstance(value, str):
            return self._lines_in_text.renamed(value)
        known = self._done.get(id(value))
        if known is None:
            # The first of the two is kept so that nothing else gets its address.
            known = self._done[id(value)] = (value, self._made(value))
        return known[1]

    def _made(self, value: object) -> object:
        if isinstance(value, Place):
            if value.path != self._path:
                return value
            return value._replace(line=self._line(value.line), end_line=self._line(value.end_line))
        if isinstance(value, Frame):
            return value._replace(line=self._line(value.line)) if value.path == self._path else value
        if isinstance(value, Struct):
            return self._struct(value)
        if isinstance(value, tuple):
            parts: list[Any] = [self._of(part) for part in value]
            if all(new is old for new, old in zip(parts, value, strict=True)):
                return value
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, Mapping):
            return {self._of(name): self._of(part) for name, part in value.items()}
        if isinstance(value, frozenset):
            return frozenset(map(self._of, value))
        raise _UnmovableError

    def _struct(self, value: Struct) -> object:
        changed: dict[str, object] = {}
        is_here = getattr(value, "path", None) == self._path
        for name in value.__struct_fields__:
            old = getattr(value, name)
            if name == "line" and is_here and old is not None:
                new: object = self._line(old)
            elif isinstance(value, Access) and name == "compiled_at" and old is not None:
                new = (self._line(old[0]), old[1]) if value.place.path == self._path else old
            else:
                new = self._of(old)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value

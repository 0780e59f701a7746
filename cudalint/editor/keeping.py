"""Facts of kernels that are kept between analyses of a file that is being edited.

A kernel's facts come of its own code and of all that is outside of kernels: types, device functions, host code with its
launches. What stands in the bodies of other kernels has no say. So the facts of an earlier analysis count again where
all but these bodies is what it was, and lines that moved are told anew. Bodies that may have a say are not left out:
those with directives, launches of other kernels, and annotations of launches and assumptions. An `extern` declaration
is the same thing in all bodies that have it.

Beside its facts a kernel leaves what its launches and uses ask of the host code's sizes, which holds for the kernels
that are evaluated after it: that is part of what an analysis is compared by, and kept with the facts.

Files that an analysis reads beside the edited one are not compared here: whoever keeps a `Memory` forgets it when they
change (`analysing.py`).
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from msgspec import Struct, field
from msgspec.msgpack import Encoder
from msgspec.structs import replace

from cudalint.disk.encoding import to_bytes
from cudalint.disk.recorder import digest
from cudalint.driver.file_analysis import FileAnalysis
from cudalint.facts import Access, Frame, KernelFacts, Place
from cudalint.ir import nodes as ir
from cudalint.options.analysis import AnalysisOptions
from cudalint.reasons import Problem
from cudalint.source.comments import read_comments
from cudalint.values.nodes import Choice, own_bit

_MOST = 3
"""States of a kernel that are kept: typing goes back and forth."""
_ENCODER: Final = Encoder(order="deterministic")
_STATEMENT: Final = re.compile(r"cudalint:\s*(?:launch|assume)\b")
_HAS_A_SAY: Final = re.compile(
    rb"<<<|cudaLaunch|cudalint:\s*(?:launch|assume)\b|^[ \t]*#(?![ \t]*pragma[ \t]+unroll)|\?\?/", re.MULTILINE
)
_EXTERN: Final = re.compile(rb"\bextern\b")
_END_OF_STATEMENT: Final = (b";", b"{", b"}", b":")
_LINE_IN_TEXT: Final = re.compile(r"\b(lines? )(\d+)")
_WORD: Final = re.compile(rb"\w+")


class Outline(Struct):
    """The lines of a text, told apart by what they have a say in."""

    lines: list[bytes]
    outside: list[int]
    """The numbers of those that count for all kernels."""
    bodies: dict[str, tuple[int, int]]
    """By a kernel's USR: its first line and one past its last that count for itself alone."""
    digest: bytes
    """Of the lines outside."""
    words: frozenset[bytes]
    """Of the lines outside."""


def outline_of(text: str, path: str, kernels: Sequence[ir.FunctionRef]) -> Outline:
    lines = to_bytes(text).split(b"\n")
    bodies = dict(_bodies(lines, path, kernels))
    inside = {n for first, end in bodies.values() for n in range(first, end) if not _EXTERN.search(lines[n - 1])}
    outside = list(_that_count(lines, _without_comments(text), inside))
    # Where the bodies were is part of what is said.
    starts = {first for first, _ in bodies.values()}
    said = b"\n".join(lines[n - 1] if n not in starts else b"\0" + lines[n - 1] for n in outside)
    return Outline(lines, outside, bodies, digest(said), frozenset(_WORD.findall(said)))


def _bodies(
    lines: Sequence[bytes], path: str, kernels: Sequence[ir.FunctionRef]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """The lines between the one on which a kernel's body begins and the one on which it ends, of those bodies that have
    no say in anything else."""
    spans = sorted({(ref.span.line, ref.span.end_line, ref.usr) for ref in kernels if ref.span.path == path})
    for index, (first, last, usr) in enumerate(spans):
        is_apart = (index == 0 or spans[index - 1][1] < first) and (
            index + 1 == len(spans) or last < spans[index + 1][0]
        )
        opened = next((n for n in range(first, last) if b"{" in lines[n - 1]), None)
        if not is_apart or opened is None or opened + 1 >= last:
            continue
        body = b"\n".join(lines[opened : last - 1])
        is_whole = all(line.rstrip().endswith(b";") for line in body.split(b"\n") if _EXTERN.search(line))
        if is_whole and not _HAS_A_SAY.search(body) and not lines[opened - 1].rstrip().endswith(b"\\"):
            yield usr, (opened + 1, last)


def _without_comments(text: str) -> list[bytes]:
    """The lines of a text with blanks for its comments, but for those that state launches or assumptions."""
    pieces: list[str] = []
    done = 0
    for comment in read_comments(text).comments:
        if not _STATEMENT.search(comment.text):
            pieces += (text[done : comment.start], re.sub(r"[^\n]", " ", comment.text))
            done = comment.end
    return to_bytes("".join((*pieces, text[done:]))).split(b"\n")


def _that_count(lines: list[bytes], plain: Sequence[bytes], inside: Collection[int]) -> Iterator[int]:
    """The numbers of lines outside of bodies, without those between statements in which is no code. Comments behind
    statements are taken out of `lines`."""
    is_between = True
    is_continued = False
    for number in range(1, len(lines) + 1):
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
    """What holds for the host code's sizes behind it, by the bits of their symbols."""
    outside: list[int]
    body: tuple[int, int]
    """As in the outline that it was found with; empty for a kernel whose body counts for all."""


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
        memory.used = 0

    def facts(
        self, analysis: FileAnalysis, ref: ir.FunctionRef, found: Callable[[], list[KernelFacts]]
    ) -> list[KernelFacts]:
        outline, shared = self._outline(analysis)
        first, end = body = outline.bodies.get(ref.usr, (0, 0))
        own = b"\n".join(outline.lines[first - 1 : end - 1]) if first else b""
        key = self._key(analysis, ref, outline, shared, own, body)
        states = self._memory.kernels.setdefault(ref.usr, [])
        known = next((state for state in states if state.key == key), None)
        if known is not None:
            moved = self._moved(known, outline, body)
            if moved is not None:
                self._memory.used += 1
                analysis.parameters |= known.parameters
                _choose(analysis, known.chosen)
                self._keep(states, replace(known, facts=moved, outside=outline.outside, body=body), known)
                return moved
        before = len(analysis.given_up), len(analysis.broken)
        facts = found()
        if (len(analysis.given_up), len(analysis.broken)) == before:
            named = {facts.name for facts in facts}
            parameters = frozenset(pair for pair in analysis.parameters if pair[0] in named)
            self._keep(states, _Known(key, facts, parameters, _chosen(analysis), outline.outside, body), known)
        return facts

    def _keep(self, states: list[_Known], new: _Known, old: _Known | None) -> None:
        if old is not None:
            states.remove(old)
        states.insert(0, new)
        del states[_MOST:]

    def _outline(self, analysis: FileAnalysis) -> tuple[Outline, bytes]:
        known = self._outlines.get(id(analysis))
        if known is None:
            outline = outline_of(self._text, self._path, analysis.unit.kernels)
            known = self._outlines[id(analysis)] = (analysis, outline, _shared(analysis, self._path))
        return known[1], known[2]

    def _key(
        self,
        analysis: FileAnalysis,
        ref: ir.FunctionRef,
        outline: Outline,
        shared: bytes,
        own: bytes,
        body: tuple[int, int],
    ) -> bytes:
        instances = [instance.usr for instance in analysis.unit.instantiations(ref.key)] if ref.templated else []
        words = outline.words | frozenset(_WORD.findall(own))
        problems = [told for p in analysis.unit.problems if (told := _told(p, self._path, outline, body, words))]
        # What is stated and can't be understood counts for less where names are missing anyway.
        states = analysis.options.assumes or analysis.options.kernels or b"cudalint" in words
        is_complete = bool(states) and not analysis.unit.problems
        said = (ref.usr, ref.templated, instances, sorted(problems), is_complete, bool(body[0]))
        chosen = repr(sorted(_chosen(analysis).items()))
        return digest(b"\0".join((shared, outline.digest, own, _ENCODER.encode(said), chosen.encode())))

    def _moved(self, known: _Known, outline: Outline, body: tuple[int, int]) -> list[KernelFacts] | None:
        """What is known, with the lines that places have by now; None where that can't be told."""
        if known.outside == outline.outside and known.body == body:
            return known.facts
        lines = dict(zip(known.outside, outline.outside, strict=True))
        lines |= {known.body[0] + n: body[0] + n for n in range(known.body[1] - known.body[0])}
        try:
            return [_Mover(self._path, lines).moved(facts) for facts in known.facts]
        except _UnmovableError:
            return None


def _chosen(analysis: FileAnalysis) -> dict[int, Choice]:
    """The same symbols have the same bits in each analysis of the same host code."""
    return {own_bit(s): choice for s, choice in analysis.graph.chosen_for_all(analysis.shared).items()}


def _choose(analysis: FileAnalysis, chosen: Mapping[int, Choice]) -> None:
    common = {analysis.shared.atoms[bit]: choice for bit, choice in chosen.items()}
    analysis.graph.valuation = analysis.shared.valuation.having(common)


def _shared(analysis: FileAnalysis, path: str) -> bytes:
    """What counts for all kernels beside the text."""
    options = analysis.options
    others = tuple(each for each in options.unsaved if each[0] != path)
    asked: AnalysisOptions = replace(options, unsaved=others, only=(), kinds=frozenset())
    kinds = sorted(options.kinds)
    return digest(_ENCODER.encode((asked, kinds, repr(analysis.needs.architecture), os.getcwd())))


def _told(
    problem: Problem, path: str, outline: Outline, body: tuple[int, int], words: frozenset[bytes]
) -> tuple[str, str, str, int] | None:
    """What a problem says to a kernel: None for one in the body of another that is about none of its words."""
    line = 0
    if problem.path == path and problem.kind not in ("defined", "supplied"):
        if body[0] <= problem.line < body[1]:
            line = problem.line - body[0] + 1
        elif any(first <= problem.line < end for first, end in outline.bodies.values()):
            if not words.intersection(_WORD.findall(to_bytes(problem.name))):
                return None
        else:
            line = -1 - bisect_left(outline.outside, problem.line)
    return problem.path, problem.kind, problem.message, line


class _UnmovableError(Exception):
    """Something names a line of which is not known where it is now."""


class _Mover:
    """Tells facts with other lines of one file."""

    def __init__(self, path: str, lines: Mapping[int, int]) -> None:
        self._path, self._lines = path, lines
        name = re.escape(os.path.basename(path))
        self._place_in_text = re.compile(rf"({name}:)(\d+)")
        self._done: dict[int, tuple[object, object]] = {}

    def moved(self, facts: KernelFacts) -> KernelFacts:
        return cast(KernelFacts, self._of(facts))

    def _line(self, line: int) -> int:
        found = self._lines.get(line)
        if found is None:
            raise _UnmovableError
        return found

    def _of(self, value: object) -> object:
        if value is None or isinstance(value, bool | int | float | np.ndarray):
            return value
        if isinstance(value, str):
            return self._text(value)
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

    def _text(self, text: str) -> str:
        """A text may say lines of any file; those without a name are of this one if all places are."""
        if ":" in text:
            text = self._place_in_text.sub(lambda match: f"{match[1]}{self._line(int(match[2]))}", text)
        if "line" in text:
            text = _LINE_IN_TEXT.sub(lambda match: f"{match[1]}{self._line(int(match[2]))}", text)
        return text

"""Which syntax errors stay certain in a file of which not all was seen.

Where a header was not found, or only a stand-in of it was read, each word that nothing declares may be a macro, and so
may stand for anything. A syntax error is one all the same where

1. what was read declares each word of its statement up to the next word behind it, and of what stands before each
   bracket that is open there; the head of a kernel or a device function may name what it likes;
2. it declares each word between a brace and where that should have been closed, and before a brace that is too
   much, but for names beside `::`, which bring no brace;
3. no condition of the preprocessor stands in the way there;
4. nothing that is doubtful comes before it in its function, as it may follow from that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from cudalint.frontend.diagnoses import Problem
from cudalint.regexes import regex
from cudalint.source.lexing import DIRECTIVE, blank, blanked
from cudalint.source.lines import Lines

IsDeclared = Callable[[re.Match[str]], bool]
"""Whether what was read declares a word, which stands in the text's code."""

_BRACKETS: Final = regex(r"[(){}\[\];]")
_NUMBER_OR_WORD: Final = regex(r"\d[\w.']*|(\.\s*|->\s*)?[A-Za-z_]\w*")
_NEXT_WORD: Final = regex(r"\W*(?:\w+(?!\w|\s*::))?")
"""None that qualifies another one, as no macro does."""
_QUALIFIED: Final = regex(r"\w+(?:\s*::\s*\w+)+")
_KEYWORDS: Final = regex(
    r"alignas|alignof|auto|bool|break|case|catch|char|class|const|constexpr|const_cast|continue|default|delete|do|double"
    r"|dynamic_cast|else|enum|explicit|extern|false|float|for|friend|goto|if|inline|int|long|mutable|namespace|new"
    r"|noexcept|nullptr|operator|private|protected|public|reinterpret_cast|return|short|signed|sizeof|static"
    r"|static_assert|static_cast|struct|switch|template|this|throw|true|try|typedef|typename|union|unsigned|using"
    r"|virtual|void|volatile|while"
)
"""Of C++ ([lex.key]), but for those about which compilers differ."""
_CONDITION: Final = regex(r"\s*#\s*(if|endif|el)\w*")
_HARMLESS: Final = regex(r"\s*#\s*(?:define|undef|pragma|error|warning|line)\b")
_LEADING: Final = regex(r"(?:\s*#(?:[^\n\\]|\\\r?\n|\\.)*\n)+")
_SCOPE: Final = regex(r"\bnamespace\b|\bextern\s*$|\b(?:class|struct|union|enum)\b[^()]*$")
"""What stands before a brace in which declarations stand; the name of a language is a literal, and blank."""
_DEVICE_FUNCTION: Final = regex(r"\b__(?:global|device)__\b.*\)[\s\w]*$", re.DOTALL)
"""The head of one; across lines."""


_MOST_JUDGED: Final = 100
"""Errors of a file; CL904 lists 20 lines, and each may take as long as the text is."""
_LONGEST_HEAD: Final = 2_000
"""Characters before a brace that tell what it opens."""


class _Bracket(Struct):
    offset: int
    statement: int
    """Where what it belongs to begins."""


class _Surroundings(Struct):
    """What a place stands in."""

    statement: int
    """Where its statement begins."""
    open: list[_Bracket] = field(default_factory=list)
    """The brackets that enclose it, the outermost first."""


def sure_errors(
    text: str, skipped: Sequence[tuple[int, int]], errors: Iterable[Problem], is_declared: IsDeclared
) -> Collection[Problem]:
    """Those of a file's errors that are syntax errors whatever stands in what was not seen."""
    half_seen = _HalfSeen(text, skipped, is_declared)
    sure: list[Problem] = []
    last_doubt = -1
    places = sorted((half_seen.offset(problem), number, problem) for number, problem in enumerate(errors))
    for place, _, problem in places[:_MOST_JUDGED]:
        around = half_seen.around(place)
        is_behind_doubts = half_seen.start_of_function(around) <= last_doubt < place
        if problem.is_syntax and not is_behind_doubts and half_seen.is_sure(problem, place, around):
            sure.append(problem)
        else:
            last_doubt = place
    return sure


class _HalfSeen:
    def __init__(self, text: str, skipped: Sequence[tuple[int, int]], is_declared: IsDeclared) -> None:
        lines = text.split("\n")
        for first, last in skipped:
            lines[first - 1 : last] = [" " * len(line) for line in lines[first - 1 : last]]
        self._with_directives = blanked("\n".join(lines), directives=False)
        self._code = DIRECTIVE.sub(blank, self._with_directives)
        self._lines = Lines(text)
        self._is_declared = is_declared
        conditions = DIRECTIVE.finditer(blanked(text, directives=False))
        self._around, self._scanned = _Surroundings(0), 0
        self._conditions = [(each.start(), found[1]) for each in conditions if (found := _CONDITION.match(each[0]))]

    def offset(self, problem: Problem) -> int:
        # Columns count bytes.
        line = self._lines.line(problem.line).encode(errors="replace")[: problem.column - 1]
        return self._lines.offset(problem.line, len(line.decode(errors="replace")) + 1)

    def around(self, place: int) -> _Surroundings:
        """What a place stands in that is not before the last one that was asked for."""
        found = self._around
        begin, self._scanned = self._scanned, max(self._scanned, place)
        for match in _BRACKETS.finditer(self._code, begin, place):
            if match[0] in "([{":
                found.open.append(_Bracket(match.start(), found.statement))
            elif match[0] in ")]}" and found.open:
                closed = found.open.pop()
                if match[0] != "}":
                    found.statement = closed.statement
            in_parentheses = bool(found.open) and self._code[found.open[-1].offset] == "("
            if match[0] in "{}" or (match[0] == ";" and not in_parentheses):
                found.statement = match.end()
        return found

    def start_of_function(self, around: _Surroundings) -> int:
        for bracket in around.open:
            if not self._is_scope(bracket):
                return bracket.statement
        return around.statement

    def _is_scope(self, bracket: _Bracket) -> bool:
        return _SCOPE.search(self._head(bracket.statement, bracket.offset)) is not None

    def _head(self, begin: int, end: int) -> str:
        return self._code[max(begin, end - _LONGEST_HEAD) : end]

    def is_sure(self, problem: Problem, place: int, around: _Surroundings) -> bool:
        if sum({"if": 1, "endif": -1}.get(word, 0) for offset, word in self._conditions if offset < place):
            return False
        enclosed = self._enclosed(problem, place, around)
        if enclosed is not None and not self._is_known(*enclosed, but=_QUALIFIED):
            return False
        return all(self._is_known(begin, end) for begin, end in self._pieces(problem, place, around))

    def _pieces(self, problem: Problem, place: int, around: _Surroundings) -> Iterator[tuple[int, int]]:
        """What has to be known for a syntax error at a place to be one."""
        heads = [(bracket.statement, bracket.offset) for bracket in around.open]
        if problem.last_line:
            heads.append((around.statement, place))
        else:
            next_word = _NEXT_WORD.match(self._code, place)
            yield around.statement, next_word.end() if next_word else place
        for begin, end in heads:
            if not _DEVICE_FUNCTION.search(self._head(begin, end)):
                yield begin, end

    def _enclosed(self, problem: Problem, place: int, around: _Surroundings) -> tuple[int, int] | None:
        """What could bring the brace that is missing, or the one that is too much."""
        if problem.error == "extra-brace":
            return 0, place
        if problem.last_line:
            return place, self._lines.end(problem.last_line)
        return (around.open[0].offset, place) if problem.name == "}" and around.open else None

    def _is_known(self, begin: int, end: int, *, but: re.Pattern[str] | None = None) -> bool:
        # What includes bring before a declaration is whole; what they bring into one may be a part of it.
        leading = _LEADING.match(self._with_directives, begin, end)
        begin = leading.end() if leading is not None else begin
        directives = DIRECTIVE.finditer(self._with_directives, begin, end)
        if not all(_HARMLESS.match(each[0]) for each in directives):
            return False
        code = self._code if but is None else but.sub(blank, self._code)
        words = (m for m in _NUMBER_OR_WORD.finditer(code, begin, end) if not _KEYWORDS.fullmatch(m[0]))
        # A number, or the name of a member: that is no macro.
        return all(word[0][0].isdigit() or word[1] or self._is_declared(word) for word in words)

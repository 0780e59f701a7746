"""Launches as a text spells them, with what it says of the names in them: read where clang has left them out, as a type
of the function around them is declared nowhere."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from cudalint.facts import Place
from cudalint.source.angles import parts_in_angles
from cudalint.source.code import CodeText, code_text

_CONFIGURED: Final = re.compile(r"<<<")
_CLOSED: Final = re.compile(r">>>\s*(?=\()")
_LONGEST: Final = 2000
"""Of a launch's configuration."""
_NAME_IN_FRONT: Final = re.compile(r"(?:[A-Za-z_]\w*\s*::\s*)*(?:template\s+)?([A-Za-z_]\w*)\s*\Z")
_LONGEST_NAME: Final = 300
_CONTROL: Final = re.compile(r"\b(?:if|for|while|switch|catch|do|else|try)\b")
_TEMPLATE: Final = re.compile(r"\btemplate\s*(?=<)")
_CALLABLE: Final = re.compile(r"([A-Za-z_~]\w*)\s*(?=\()")
_NO_TYPE: Final = frozenset({"return", "else", "new", "delete", "throw", "goto", "case", "typename", "operator"})
_LETTER_CHANGES: Final = r"(?:[-+*/%&|^]|<<|>>)=(?!=)|\+\+|--"
_ON_DEVICE: Final = re.compile(r"\b__(?:global|device)__\b")
_MOST_BRACES: Final = 40


class Scope(Struct, frozen=True):
    """A function, class or block around a launch."""

    start: int
    """Of its head."""
    open_: int
    """Where its brace is."""


class Parameter(Struct, frozen=True):
    """A parameter of a template, or of a function, with its default as it is spelled."""

    name: str
    default: str | None


class Site(Struct, frozen=True):
    """Where something stands in a text, and what that says of the names there."""

    offset: int
    code: CodeText
    scopes: tuple[Scope, ...]
    """Those around it, outermost first."""

    def initial(self, name: str) -> str | None:
        """What a local variable has there, as that is spelled (`dim3(4, 8)` for `dim3 grid(4, 8)`); None for one that
        changes."""
        function = self._function()
        if function is None:
            return None
        code, start = self.code.code, function.open_ + 1
        word = rf"(?<![\w.>:]){re.escape(name)}\b"
        if re.search(rf"{word}\s*(?:{_LETTER_CHANGES})|(?:\+\+|--)\s*{word}", code[start : self.offset]):
            return None
        defined = re.compile(
            rf"(?P<type>\b[A-Za-z_][\w:]*(?:\s*<[^;{{}}()]*>)?[\s&*]+)?{word}\s*(?P<with>=(?!=)|[({{])"
        )
        found: str | None = None
        for match in defined.finditer(code, start, self.offset):
            type_ = (match["type"] or "").split()
            is_declared = bool(type_) and type_[0] not in _NO_TYPE
            if match["with"] != "=" and not is_declared:
                continue
            if is_declared and self._is_over(match.start()):
                continue
            if not is_declared and (self._is_over(match.start()) or self._is_conditional(match.start())):
                return None
            found = self._spelled(match, " ".join(type_))
        return found

    def template_parameters(self) -> Iterator[tuple[str, Parameter, int]]:
        """The parameters of templates around it, innermost first: what the template is called, and its position."""
        for scope in reversed(self.scopes):
            head = self.code.code[scope.start : scope.open_]
            match = _TEMPLATE.search(head)
            if match is not None:
                parts, end = _list(head, match.end())
                called = _CALLABLE.search(head, end) or re.search(r"\b(?:struct|class)\s+(\w+)", head[end:])
                for position, part in enumerate(parts):
                    yield called[1] if called else "", _parameter(part), position

    def is_on_device(self) -> bool:
        """Whether it is in a kernel, or in a function for the device alone."""
        function = self._function()
        head = self.code.code[function.start : function.open_] if function is not None else ""
        return _ON_DEVICE.search(head) is not None and "__host__" not in head

    def function(self) -> tuple[str, list[Parameter]]:
        """The function around it: its name, and its parameters."""
        function = self._function()
        if function is not None:
            head = self.code.code[function.start : function.open_]
            template = _TEMPLATE.search(head)
            begin = _list(head, template.end())[1] if template is not None else 0
            called = _CALLABLE.search(head, begin)
            if called is not None:
                end = self.code.close(function.start + called.end()) or function.open_
                inside = (function.start + called.end() + 1, end - 1)
                return called[1], [_parameter(part) for part in _split(self.code, *inside)]
        return "", []

    def _function(self) -> Scope | None:
        """The outermost scope that is a function's body: lambdas within it know its names."""
        return next((scope for scope in self.scopes if _is_function(self.code.code[scope.start : scope.open_])), None)

    def _is_over(self, offset: int) -> bool:
        """Whether a scope has ended between an offset and this one that was open there."""
        depth = 0
        for letter in re.findall(r"[{}]", self.code.code[offset : self.offset]):
            depth += 1 if letter == "{" else -1
            if depth < 0:
                return True
        return False

    def _is_conditional(self, offset: int) -> bool:
        """Whether a statement without braces stands behind an `if` or in a loop."""
        return _CONTROL.search(self.code.code, self.code.statement_start(offset), offset) is not None

    def _spelled(self, match: re.Match[str], type_: str) -> str | None:
        if match["with"] == "=":
            begin = match.end()
            ends = [*self.code.find(",", begin, self.offset), *self.code.find(";", begin, self.offset)]
            return self.code.code[begin : min(ends)].strip() if ends else None
        close = self.code.close(match.end() - 1)
        if close is None:
            return None
        inside = self.code.code[match.end() : close - 1].strip()
        return f"{type_}({inside})" if type_.split("::")[-1] == "dim3" else inside


class LaunchText(Struct, frozen=True):
    """One launch: the kernel's plain name, and the parts as they are spelled."""

    kernel: str
    template_arguments: tuple[str, ...]
    extents: tuple[str, ...]
    """Grid, block, and shared memory if it is given."""
    arguments: tuple[str, ...]
    place: Place
    site: Site


class Use(Struct, frozen=True):
    """Where a function is called, or what a template is given otherwise."""

    template_arguments: tuple[str, ...]
    arguments: tuple[str, ...]
    site: Site


@functools.lru_cache(maxsize=64)
def uses_of(text: str, name: str) -> Sequence[Use]:
    """Where a text, of which each character is a byte, gives arguments to a function or a template."""
    if name not in text:
        return ()
    code = code_text(text)
    found, scopes, at = [], list[Scope](), 0
    for match in re.finditer(rf"\b{re.escape(name)}\s*(?=\(|<(?!<))", code.code):
        end, templates = match.end(), list[str]()
        if code.code[end] == "<":
            templates, end = _list(code.code, end)
            end = code.skip(end)
        close = code.close(end) if code.code[end : end + 1] == "(" else None
        behind = code.code[code.skip(close) :][:1] if close is not None else ""
        before = max(code.code.rfind(letter, 0, match.start()) for letter in ";{}") + 1
        if behind == "{" or _TEMPLATE.search(code.code, before, match.start()):
            continue  # Its definition.
        _advance(code.code, at, match.start(), scopes)
        at = match.start()
        arguments = _split(code, end + 1, close - 1) if close is not None else ()
        found.append(Use(tuple(templates), tuple(arguments), Site(match.start(), code, tuple(scopes))))
    return found


@functools.lru_cache(maxsize=16)
def launches_in(text: str) -> Sequence[LaunchText]:
    """The launches of a text of which each character is a byte. Those in macros' definitions are none."""
    if "<<<" not in text:
        return ()
    code = code_text(text)
    return tuple(_launches(code))


def _launches(code: CodeText) -> Iterator[LaunchText]:
    scopes: list[Scope] = []
    at = 0
    for match in _CONFIGURED.finditer(code.code):
        _advance(code.code, at, match.start(), scopes)
        at = match.start()
        end = _CLOSED.search(code.code, match.end(), match.end() + _LONGEST)
        named = _kernel_before(code.code, match.start())
        close = code.close(end.end()) if end is not None else None
        if end is None or named is None or close is None or len(scopes) > _MOST_BRACES:
            continue
        name, templates, start = named
        extents = tuple(_split(code, match.end(), end.start()))
        if len(extents) >= 2:
            place = Place("", *code.position(start), *code.position(close))
            arguments = tuple(_split(code, end.end() + 1, close - 1))
            yield LaunchText(name, templates, extents, arguments, place, Site(match.start(), code, tuple(scopes)))


def _advance(code: str, begin: int, end: int, scopes: list[Scope]) -> None:
    """Opens and closes what does so between two offsets."""
    for match in re.finditer(r"[{}]", code[begin:end]):
        at = begin + match.start()
        if match[0] == "}":
            if scopes:
                scopes.pop()
        else:
            before = max(code.rfind(letter, 0, at) for letter in ";{}") + 1
            scopes.append(Scope(before, at))


def _kernel_before(code: str, end: int) -> tuple[str, tuple[str, ...], int] | None:
    """The kernel that is named in front of `<<<`: its plain name, the arguments of its template, where it begins."""
    before = len(code[:end].rstrip())
    arguments: tuple[str, ...] = ()
    if code[:before].endswith(">"):
        depth, at = 0, before
        while at > max(0, before - _LONGEST):
            at -= 1
            depth += (code[at] == ">") - (code[at] == "<")
            if code[at] in ";{}":
                return None
            if depth == 0:
                break
        if depth:
            return None
        arguments, before = tuple(_list(code, at)[0]), len(code[:at].rstrip())
    match = _NAME_IN_FRONT.search(code, max(0, before - _LONGEST_NAME), before)
    return (match[1], arguments, match.start()) if match is not None else None


def _list(text: str, open_: int) -> tuple[list[str], int]:
    """The parts of the list in angle brackets that opens at an offset, and where it ends; none of one that doesn't."""
    places, end = parts_in_angles(text, open_)
    return ([text[begin:stop].strip() for begin, stop in places], end) if end is not None else ([], len(text))


def _split(code: CodeText, begin: int, end: int) -> list[str]:
    """What stands between commas, but for those in brackets and in lists of templates."""
    commas = [begin - 1, *code.find(",", begin, end), end]
    pieces = [code.code[first + 1 : last] for first, last in itertools.pairwise(commas)]
    parts: list[str] = []
    for piece in pieces:
        if parts and parts[-1].count("<") > parts[-1].count(">") and re.search(r"\w\s*<[^<>]*\Z", parts[-1]):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    return [part.strip() for part in parts if part.strip()]


def _parameter(part: str) -> Parameter:
    declared, equals, default = part.partition("=")
    name = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?\Z", declared)
    return Parameter(name[1] if name else "", default.strip() if equals else None)


def _is_function(head: str) -> bool:
    template = _TEMPLATE.search(head)
    begin = _list(head, template.end())[1] if template is not None else 0
    return "(" in head[begin:] and not _CONTROL.search(head, begin) and not re.search(r"=\s*\[|^\s*\[", head[begin:])

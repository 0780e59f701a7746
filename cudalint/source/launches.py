"""Launches as a text spells them, with what it says of the names in them: read where clang has left them out, as a type
of the function around them is declared nowhere."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from cudalint.facts import Place
from cudalint.regexes import regex
from cudalint.source.brackets import list_in_angles
from cudalint.source.code import CodeText, code_text

_LAUNCHING: Final = regex(r"\b((?!cuLaunch|hipModuleLaunch)\w*[lL](?:aunch|AUNCH)\w*)\s*(?=\()|<<<")
_CLOSED: Final = regex(r">>>\s*(?=\()")
_LONGEST: Final = 2000
"""Of a launch's configuration."""
_NAME_IN_FRONT: Final = regex(r"(?:[A-Za-z_]\w*\s*::\s*)*(?:template\s+)?([A-Za-z_]\w*)\s*\Z")
_LONGEST_NAME: Final = 300
_ELEMENT: Final = regex(r"(?:\[[^\[\];{}]*\]\s*)+\Z")
"""Of a table."""
_FOUND: Final = regex(r"\b([A-Za-z_]\w*)\s*(?:->|\.)\s*second\s*\Z")
"""In a map."""
_IN_ANGLES: Final = r"<[^<>;{}]*(?:<[^<>;{}]*>[^<>;{}]*)*>"
_CONVERSION: Final = regex(
    rf"\b(?:static|const|reinterpret)_cast\s*{_IN_ANGLES}|\bHIP_KERNEL_NAME\b"
    r"|\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)"
)
_FUNCTION: Final = regex(
    rf"(?:::)?(?:\s*\w+\s*(?:{_IN_ANGLES})?\s*::)*\s*(?:template\s+)?([A-Za-z_]\w*)\s*({_IN_ANGLES})?"
    r"\s*(?:\[.*\]?)?",
    re.DOTALL,
)
_MEMBERS: Final = (("gridDim", 0), ("blockDim", 1), ("dynamicSmemBytes", 2))
"""Of a launch's configuration, with their positions."""
_GIVEN: Final = regex(r"\s*(?:\[[^\]]*\]\s*)*(?:=(?!=)\s*|\{)")
_DECLARED: Final = regex(r"\s*((?:const\s+)?[A-Za-z_][\w:]*(?:\s*<[^;{}()]*>)?)[\s&*]+[A-Za-z_]\w*\s*[=({,]")
_WORD: Final = regex(r"[A-Za-z_]\w*")
_CONTROL: Final = regex(r"\b(?:if|for|while|switch|catch|do|else|try)\b")
_TEMPLATE: Final = regex(r"\btemplate\s*(?=<)")
_CALLABLE: Final = regex(r"([A-Za-z_~]\w*)\s*(?=\()")
_NO_TYPE: Final = frozenset({"return", "else", "new", "delete", "throw", "goto", "case", "typename", "operator"})
_LETTER_CHANGES: Final = r"(?:[-+*/%&|^]|<<|>>)=(?!=)|\+\+|--"
_ON_DEVICE: Final = regex(r"\b__(?:global|device)__\b")
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
            type_ = (match["type"] or self._type_of_first(match.start())).split()
            is_declared = bool(type_) and type_[0] not in _NO_TYPE
            if match["with"] != "=" and not is_declared:
                continue
            if is_declared and self._is_over(match.start()):
                continue
            if not is_declared and (self._is_over(match.start()) or self._is_conditional(match.start())):
                return None
            found = self._spelled(match, " ".join(type_))
        return found

    def member(self, record: str, name: str, position: int) -> str:
        """What a member of a local variable is given before this place; its own name where that isn't to be seen."""
        found = self.initial(f"{record}.{name}")
        if found is not None:
            return found
        given = self.initial(record) or ""
        parts = self.code.parts_of(given.strip().removeprefix("{").removesuffix("}"))
        named = [part.partition("=")[2] for part in parts if re.match(rf"\.{name}\s*=", part)]
        is_listed = len(parts) > position and not parts[position].startswith(".") and len(parts) > 1
        return (named or ([parts[position]] if is_listed else [f"{record}.{name}"]))[0].strip()

    def template_parameters(self) -> Iterator[tuple[str, Parameter, int]]:
        """The parameters of templates around it, innermost first: what the template is called, and its position."""
        for scope in reversed(self.scopes):
            head = self.code.code[scope.start : scope.open_]
            match = _TEMPLATE.search(head)
            if match is not None:
                parts, end = list_in_angles(head, match.end())
                called = _CALLABLE.search(head, end) or re.search(r"\b(?:struct|class)\s+(\w+)", head[end:])
                for position, part in enumerate(parts):
                    yield called[1] if called else "", _parameter(part), position

    def is_on_device(self) -> bool:
        """Whether it is in a kernel, or in a function for the device alone."""
        function = self._function()
        head = self.code.code[function.start : function.open_] if function is not None else ""
        return _ON_DEVICE.search(head) is not None and "__host__" not in head

    def mentioned(self, variable: str, names: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The functions of these names that a variable may be, with the arguments of their templates: what it is given
        in the function around, or the elements of the table, there or outside of it, that it is one of."""
        function = self._function()
        end = self.code.semicolon(self.offset)
        if function is None or end is None or not self.code.words.intersection(names):
            return
        body = self.code.code[function.start : end]
        word = re.escape(variable)
        tables = {variable, *re.findall(rf"\b{word}\s*=[^;=]*?\b([A-Za-z_]\w*)\s*[\[.]", body)}
        if not re.search(rf"\b{word}\s*(?:=(?!=)|[{{\[])", body):
            return
        for table in sorted(tables):
            found = [match.end() for match in re.finditer(rf"(?<![\w.]){re.escape(table)}\b", self.code.code)]
            given = [offset for offset in found if _GIVEN.match(self.code.code, offset)]
            own = [offset for offset in given if function.start <= offset < end]
            for offset in own or given:
                yield from self._given_there(offset, names)

    def _given_there(self, offset: int, names: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The functions in what a variable is given whose name ends at an offset."""
        given = _GIVEN.match(self.code.code, offset)
        end = self.code.semicolon(given.end() - (given[0][-1] == "{")) if given is not None else None
        if given is None or end is None:
            return
        for word in _WORD.finditer(self.code.code, given.end(), end):
            if word[0] in names:
                behind = self.code.skip(word.end())
                is_template = self.code.code[behind : behind + 1] == "<" and self.code.code[behind + 1] != "<"
                arguments, behind = list_in_angles(self.code.code, behind) if is_template else ([], behind)
                if self.code.code[self.code.skip(behind) :][:1] not in ("(", "<"):
                    yield word[0], tuple(arguments)

    def function(self) -> tuple[str, list[Parameter]]:
        """The function around it: its name, and its parameters."""
        function = self._function()
        if function is not None:
            head = self.code.code[function.start : function.open_]
            template = _TEMPLATE.search(head)
            begin = list_in_angles(head, template.end())[1] if template is not None else 0
            called = _CALLABLE.search(head, begin)
            if called is not None:
                end = self.code.close(function.start + called.end()) or function.open_
                inside = (function.start + called.end() + 1, end - 1)
                return called[1], [_parameter(part) for part in self.code.parts(*inside)]
        return "", []

    def _function(self) -> Scope | None:
        """The outermost scope that is a function's body: lambdas within it know its names."""
        return next((scope for scope in self.scopes if _is_function(self.code.code[scope.start : scope.open_])), None)

    def _type_of_first(self, offset: int) -> str:
        """The type of the declaration that a name at an offset is a further variable of (`dim3 grid(4), block(32)`)."""
        start = self.code.statement_start(offset)
        before = len(self.code.code[start:offset].rstrip()) + start - 1
        if self.code.code[before : before + 1] != "," or before not in self.code.find(",", start, offset):
            return ""
        first = _DECLARED.match(self.code.code, start)
        return first[1] if first is not None and first[1].split()[0] not in _NO_TYPE else ""

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
    arguments: tuple[str, ...] | None
    """None where they stand elsewhere."""
    place: Place
    site: Site
    is_certain: bool = True
    """What is called launches by its name only, so that it may take something else for the extents."""

    def kernels(self, names: Collection[str]) -> Sequence[tuple[str, tuple[str, ...]]]:
        """Those of these names that may be launched, each with the arguments of its template: one that is named, or
        that a variable has; or else those that the variable is one of, as elements of a table or as the function
        around says, where nothing else is done with them."""
        if self.kernel in names:
            return ((self.kernel, self.template_arguments),)
        value = self.site.initial(self.kernel)
        named = named_function(value) if value is not None else None
        if named is not None and named[0] in names:
            return (named,)
        return tuple(dict.fromkeys(self.site.mentioned(self.kernel, names)))


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
            templates, end = list_in_angles(code.code, end)
            end = code.skip(end)
        close = code.close(end) if code.code[end : end + 1] == "(" else None
        behind = code.code[code.skip(close) :][:1] if close is not None else ""
        before = max(code.code.rfind(letter, 0, match.start()) for letter in ";{}") + 1
        if behind == "{" or _TEMPLATE.search(code.code, before, match.start()):
            continue  # Its definition.
        _advance(code.code, at, match.start(), scopes)
        at = match.start()
        arguments = code.parts(end + 1, close - 1) if close is not None else ()
        found.append(Use(tuple(templates), tuple(arguments), Site(match.start(), code, tuple(scopes))))
    return found


@functools.lru_cache(maxsize=16)
def launches_in(text: str) -> Sequence[LaunchText]:
    """The launches of a text of which each character is a byte. Those in macros' definitions are none."""
    if not _LAUNCHING.search(text):
        return ()
    code = code_text(text)
    return tuple(_launches(code))


def _launches(code: CodeText) -> Iterator[LaunchText]:
    scopes: list[Scope] = []
    at = 0
    for match in _LAUNCHING.finditer(code.code):
        _advance(code.code, at, match.start(), scopes)
        at = match.start()
        if match[1]:
            called = _called(code, match, Site(at, code, tuple(scopes))) if len(scopes) <= _MOST_BRACES else None
            if called is not None:
                yield called
            continue
        end = _CLOSED.search(code.code, match.end(), match.end() + _LONGEST)
        named = _kernel_before(code.code, match.start())
        close = code.close(end.end()) if end is not None else None
        if end is None or named is None or close is None or len(scopes) > _MOST_BRACES:
            continue
        name, templates, start = named
        extents = tuple(code.parts(match.end(), end.start()))
        if len(extents) >= 2:
            place = Place("", *code.position(start), *code.position(close))
            arguments = tuple(code.parts(end.end() + 1, close - 1))
            yield LaunchText(name, templates, extents, arguments, place, Site(match.start(), code, tuple(scopes)))


def _called(code: CodeText, match: re.Match[str], site: Site) -> LaunchText | None:
    """A launch that is the call of a function of CUDA's or HIP's runtime, or of a macro that is called like one: with
    the kernel, its grid and its block."""
    name = match[1]
    close = code.close(match.end())
    parts = code.parts(match.end() + 1, close - 1) if close is not None else []
    if close is None or len(parts) < 2:
        return None
    place = Place("", *code.position(match.start()), *code.position(close))
    if name.startswith(("cudaLaunchKernelEx", "hipLaunchKernelEx")):
        kernel = named_function(parts[1])
        config = parts[0].lstrip("&* ")
        if kernel is None or not config.isidentifier():
            return None
        extents = tuple(site.member(config, *member) for member in _MEMBERS)
        arguments = tuple(parts[2:]) if "ExC" not in name else None
        return LaunchText(*kernel, extents, arguments, place, site)
    kernel = named_function(parts[0])
    if kernel is None or len(parts) < 3:
        return None
    is_known = name.startswith(("cudaLaunch", "hipLaunch"))
    if is_known and "GGL" not in name:
        return LaunchText(*kernel, (*parts[1:3], *parts[4:5]), None, place, site)
    arguments = tuple(parts[5:]) if is_known else None
    return LaunchText(*kernel, (*parts[1:3], *parts[3:4]), arguments, place, site, is_certain=is_known)


def named_function(spelled: str) -> tuple[str, tuple[str, ...]] | None:
    """The plain name and the template arguments of a function whose address is spelled, whatever it is converted to; of
    an element the name of the table."""
    text = _CONVERSION.sub("", spelled)
    match = _FUNCTION.fullmatch(text.strip("()&* \t\r\n"))
    if match is None:
        return None
    return match[1], tuple(list_in_angles(match[2], 0)[0]) if match[2] else ()


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
    element = _ELEMENT.search(code, max(0, before - _LONGEST_NAME), before)
    if element is not None:
        before = element.start()
    elif code[:before].endswith(">"):
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
        arguments, before = tuple(list_in_angles(code, at)[0]), len(code[:at].rstrip())
    match = _NAME_IN_FRONT.search(code, max(0, before - _LONGEST_NAME), before)
    found = _FOUND.search(code, max(0, before - _LONGEST_NAME), before)
    if found is not None:
        return found[1], (), found.start()
    return (match[1], arguments, match.start()) if match is not None else None


def _parameter(part: str) -> Parameter:
    declared, equals, default = part.partition("=")
    name = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?\Z", declared)
    return Parameter(name[1] if name else "", default.strip() if equals else None)


def _is_function(head: str) -> bool:
    template = _TEMPLATE.search(head)
    begin = list_in_angles(head, template.end())[1] if template is not None else 0
    return "(" in head[begin:] and not _CONTROL.search(head, begin) and not re.search(r"=\s*\[|^\s*\[", head[begin:])

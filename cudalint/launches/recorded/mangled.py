"""Names in compiled code, spelled out so that those of nvcc and of clang for the same function are equal.

Both mangle by the Itanium C++ ABI, whose names refer back to their own parts by number. nvcc puts whatever has internal
linkage into a namespace called after a hash of the file, which counts as a part; clang marks it by an L, and has the
types of template parameters in some names, which count too. So names are read, and what they refer back to is put in
its place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Final

from cudalint.regexes import regex

_INTERNAL: Final = "_INTERNAL_"
_ANONYMOUS: Final = "_GLOBAL__N_"
_PLAIN_ANONYMOUS: Final = "(anonymous)"
_DEEPEST: Final = 150
_LONGEST: Final = 80
"""Letters of a part that is spelled out; longer ones are known by a hash, or a name of parts of parts has no end."""

_LENGTH: Final = regex(r"[1-9]\d{0,4}")
_BUILT_IN: Final = regex(r"[vwbcahstijlmxynofdegz]|D[nacdefhisu]|DF\d+[_bx]?")
_SUBSTITUTION: Final = regex(r"S(?:([0-9A-Z]*)_|[absiod])")
_PARAMETER: Final = regex(r"T(?:L\d+_)?\d*_")
_FUNCTION_PARAMETER: Final = regex(r"f(?:L\d+)?p[rVK]*\d*_|fpT")
_QUALIFIERS: Final = regex(r"[rVK]+")
_ARRAY: Final = regex(r"A\d*_|Dv\d+_")
_LITERAL: Final = regex(r"n?[0-9a-f]*E")
_LOCAL_END: Final = regex(r"s?(?:__\d+_|_\d)?")
_NUMBERED: Final = regex(r"\d*_")
_CONSTRUCTOR: Final = regex(r"C[1-5]|D[0-5]")
_OPERATOR: Final = regex(
    "nw|na|dl|da|aw|ps|ng|ad|de|co|pl|mi|ml|dv|rm|an|or|eo|aS|pL|mI|mL|dV|rM|aN|oR|eO|ls|rs|lS|rS|eq|ne|lt|gt|le|ge|ss|"
    "nt|aa|oo|pp|mm|cm|pm|pt|cl|ix|qu"
)
_UNARY: Final = regex("ps|ng|ad|de|co|nt|pp_?|mm_?|sz|az|nx|te|sp")
_BINARY: Final = regex(
    "pl|mi|ml|dv|rm|an|or|eo|aS|pL|mI|mL|dV|rM|aN|oR|eO|ls|rs|lS|rS|eq|ne|lt|gt|le|ge|ss|aa|oo|cm|pm|ix"
)
_OF_TYPE: Final = regex("st|at|ti")
_CAST: Final = regex("sc|dc|cc|rc")
_FOLD: Final = regex("f[lr]")


class Unreadable(Exception):
    """No name of compiled code, or one with something rare in it."""


def spelled_out(symbol: str) -> str:
    """The same for the names that compilers give to a function. Raises Unreadable."""
    return _read(symbol)[0]


def plain_name(symbol: str) -> str:
    """Without namespaces, template arguments and parameters. Raises Unreadable."""
    return _read(symbol)[1]


def _read(symbol: str) -> tuple[str, str]:
    reader = _Reader(symbol)
    reader.expect("_Z")
    try:
        encoding = reader.encoding()
    except RecursionError as error:
        raise Unreadable from error
    rest = symbol[reader.at :]
    if rest and not rest.startswith("."):
        raise Unreadable
    return encoding + rest, reader.last


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.parts: list[str] = []
        self.depth = 0
        self.last = ""
        """The plain name of what was read last."""

    def next_is(self, *starts: str) -> bool:
        return self.text.startswith(starts, self.at)

    def expect(self, start: str) -> None:
        if not self.accept(start):
            raise Unreadable

    def accept(self, start: str) -> bool:
        if not self.text.startswith(start, self.at):
            return False
        self.at += len(start)
        return True

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def until_end(self, read: Callable[[], str]) -> str:
        """What stands before an E, which is read too."""
        found = ""
        while not self.accept("E"):
            if self.at >= len(self.text):
                raise Unreadable
            found += read() + ","
        return found

    def kept(self, part: str) -> str:
        """A part that may be referred back to."""
        part = _short(part)
        self.parts.append(part)
        return part

    def nested_in(self, read: Callable[[], str]) -> str:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable
        found = read()
        self.depth -= 1
        return found

    def encoding(self) -> str:
        name, types = self.name(), ""
        last = self.last
        while self.at < len(self.text) and not self.next_is("E", "."):
            types += self.type() + ","
        self.last = last
        return f"{name}({types})"

    def name(self) -> str:
        return self.nested_in(self._name)

    def _name(self) -> str:
        if self.accept("N"):
            return self._nested()
        if self.accept("Z"):
            return self._local()
        if self.next_is("S") and not self.next_is("St"):
            return self.back_reference() + self.arguments()
        name = ("St::" if self.accept("St") else "") + self.unqualified()
        return self.kept(name) + self.arguments() if self.next_is("I") else name

    def _nested(self) -> str:
        qualifiers = (self.match(_QUALIFIERS) or "") + ("&" if self.accept("R") else "&&" if self.accept("O") else "")
        prefix = ""
        while not self.accept("E"):
            is_new = True
            if self.next_is("St"):
                self.at += 2
                prefix, is_new = "St", False
            elif self.next_is("S"):
                prefix, is_new = self.back_reference(), False
            elif self.next_is("I"):
                prefix += self.arguments()
            elif self.next_is("T"):
                prefix = self.parameter()
            elif self.next_is("Dt", "DT"):
                prefix = self.decltype()
            else:
                component = self.unqualified()
                # Nothing has a name of its own in the namespace that nvcc makes of a file.
                prefix = f"{prefix}::{component}" if prefix and component else prefix + component
            if is_new and not self.next_is("E"):
                prefix = self.kept(prefix)
        return prefix + qualifiers

    def _local(self) -> str:
        function = self.nested_in(self.encoding)
        self.expect("E")
        if self.accept("d"):
            self.match(_NUMBERED)
        entity = "" if self.next_is("s") else self.name()
        return f"{function}::{entity}{self.match(_LOCAL_END)}"

    def unqualified(self) -> str:
        self.accept("L")
        if (length := self.match(_LENGTH)) is not None:
            name = self._letters(int(length))
            if name.startswith(_INTERNAL):
                return ""
            self.last = name
            name = _PLAIN_ANONYMOUS if name.startswith(_ANONYMOUS) else length + name
        elif self.accept("Ul"):
            name = f"lambda({self.until_end(self.type)}){self.match(_NUMBERED)}"
        elif self.accept("Ut"):
            name = f"unnamed{self.match(_NUMBERED)}"
        elif self.accept("cv"):
            name = f"operator {self.type()}"
        else:
            name = self.match(_CONSTRUCTOR) or self.match(_OPERATOR) or ""
            if not name:
                raise Unreadable
        while self.accept("B"):
            name += f"[{self._letters(int(self.match(_LENGTH) or 0))}]"
        return name

    def _letters(self, count: int) -> str:
        start, self.at = self.at, self.at + count
        if not count or self.at > len(self.text):
            raise Unreadable
        return self.text[start : self.at]

    def back_reference(self) -> str:
        found = self.match(_SUBSTITUTION)
        if found is None:
            raise Unreadable
        if not found.endswith("_"):
            return found
        number = int(found[1:-1], 36) + 1 if len(found) > len("S_") else 0
        if number >= len(self.parts):
            raise Unreadable
        return self.parts[number]

    def parameter(self) -> str:
        found = self.match(_PARAMETER)
        if found is None:
            raise Unreadable
        return found

    def arguments(self) -> str:
        self.expect("I")
        last = self.last
        found = f"<{self.until_end(self.argument)}>"
        self.last = last
        return found

    def argument(self) -> str:
        return self.nested_in(self._argument)

    def _argument(self) -> str:
        if self.accept("Tn"):
            # The type of the parameter, which nvcc leaves out.
            self.type()
        if self.accept("J"):
            return f"[{self.until_end(self.argument)}]"
        if self.accept("X"):
            found = self.expression()
            self.expect("E")
            return found
        return self.literal() if self.next_is("L") else self.type()

    def literal(self) -> str:
        self.expect("L")
        if self.accept("_Z"):
            encoding = self.nested_in(self.encoding)
            self.expect("E")
            return encoding
        type_ = self.type()
        value = self.match(_LITERAL)
        if value is None:
            raise Unreadable
        return f"({type_}){value}"

    def decltype(self) -> str:
        self.at += len("DT")
        found = f"decltype({self.expression()})"
        self.expect("E")
        return found

    def type(self) -> str:
        return self.nested_in(self._type)

    def _type(self) -> str:
        qualifiers = self.match(_QUALIFIERS)
        if qualifiers is not None:
            return self.kept(qualifiers + self.type())
        if (built_in := self.match(_BUILT_IN)) is not None:
            return built_in
        start = self.text[self.at : self.at + 1]
        if self.next_is("S") and not self.next_is("St"):
            found = self.back_reference()
            return self.kept(found + self.arguments()) if self.next_is("I") else found
        if start == "T" and not self.next_is("Ts", "Tu", "Te"):
            found = self.kept(self.parameter())
            return self.kept(found + self.arguments()) if self.next_is("I") else found
        return self.kept(self._compound_type(start))

    def _compound_type(self, start: str) -> str:
        if start and start in "PROCG":
            self.at += 1
            return start + self.type()
        if self.accept("Dp"):
            return f"{self.type()}..."
        if (array := self.match(_ARRAY)) is not None:
            return array + self.type()
        if self.accept("F"):
            self.accept("Y")
            return f"F({self.until_end(self.type)})"
        if self.accept("M"):
            return f"M{self.type()} {self.type()}"
        if self.accept("u"):
            return f"u{self.unqualified()}"
        if self.next_is("Dt", "DT"):
            return self.decltype()
        return self.name()

    def expression(self) -> str:
        return self.nested_in(self._expression)

    def _expression(self) -> str:
        if self.next_is("L"):
            return self.literal()
        if self.next_is("T"):
            return self.parameter()
        if (own := self.match(_FUNCTION_PARAMETER)) is not None:
            return own
        if (operator := self.match(_OF_TYPE)) is not None:
            return f"{operator}({self.type()})"
        if (operator := self.match(_UNARY)) is not None:
            return f"{operator}({self.expression()})"
        if (operator := self.match(_BINARY)) is not None:
            return f"{operator}({self.expression()},{self.expression()})"
        if (operator := self.match(_CAST)) is not None:
            return f"{operator}({self.type()},{self.expression()})"
        if (operator := self.match(_FOLD)) is not None:
            return f"{operator}{self.match(_OPERATOR)}({self.expression()})"
        return self._longer_expression()

    def _longer_expression(self) -> str:
        if self.accept("cv"):
            type_ = self.type()
            return f"cv({type_},{self.until_end(self.expression) if self.accept('_') else self.expression()})"
        if self.accept("cl"):
            return f"cl({self.until_end(self.expression)})"
        if self.accept("il"):
            return f"il({self.until_end(self.expression)})"
        if self.accept("tl"):
            return f"tl({self.type()},{self.until_end(self.expression)})"
        if self.accept("qu"):
            return f"qu({self.expression()},{self.expression()},{self.expression()})"
        if self.accept("sZ"):
            return f"sZ({self.match(_FUNCTION_PARAMETER) or self.parameter()})"
        if self.accept("sr"):
            return f"{self.type()}::{self._simple_name()}"
        if self.accept("dt") or self.accept("pt"):
            return f"{self.expression()}.{self._simple_name()}"
        self.accept("on")
        return self._simple_name()

    def _simple_name(self) -> str:
        self.accept("on")
        return self.unqualified() + (self.arguments() if self.next_is("I") else "")


def _short(part: str) -> str:
    if len(part) <= _LONGEST:
        return part
    return "#" + hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""Which kernel of the source a recorded one is.

Compilers differ in what they call the same function, and profilers may have kept no more of it than its plain name, or
one that is spelled as in the source, each in its own way.
"""

from __future__ import annotations

import functools
import hashlib
import re
from typing import Final

from cudalint.launches.recorded.mangled import Unreadable, plain_name, spelled_out
from cudalint.regexes import regex

MANGLED: Final = "_Z"
"""How the name of every function in compiled C++ begins."""
_HIDDEN: Final = "h:"
_MOST_KEPT: Final = 4096
_ANONYMOUS: Final = ("(anonymous namespace)", "<unnamed>")
_OPERATOR: Final = regex(
    r"operator\s*(\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%^&|]=|[-+*/%^&|~!=<>,])"
    r"(?: (?=<))?"
)
_CLOSING: Final = {">": "<", ")": "(", "]": "[", "}": "{"}
_NUMBER: Final = regex(r"(?:\([\w: ]+\)\s*)?(?<!\w)(-?\d+)(?:[uUlL]+\b)?")
"""In the arguments of a template, with its type before or behind it."""
_TRUTH: Final = {"(bool)0": "false", "(bool)1": "true"}
_CONST: Final = regex(r"\bconst ((?:unsigned |signed )?[\w:]+)")
_PARAMETERS: Final = "\0"
"""Stands for a list of parameters."""


@functools.lru_cache(_MOST_KEPT)
def key_of(symbol: str) -> str:
    """The same for a kernel, whoever has compiled it; what is hidden is a key already."""
    if not symbol.startswith(MANGLED):
        return symbol
    try:
        return spelled_out(symbol)
    except Unreadable:
        return symbol


def is_hidden(symbol: str) -> bool:
    return symbol.startswith(_HIDDEN)


def hidden(symbol: str) -> str:
    """A name that says nothing to whoever doesn't have the source."""
    if is_hidden(symbol):
        return symbol
    return _HIDDEN + hashlib.sha256(key_of(symbol).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_same(linkage_name: str, recorded: str) -> bool:
    """Whether a function of the source, by what it is called in compiled code, is a recorded kernel."""
    if not linkage_name:
        return False
    return (hidden(linkage_name) if is_hidden(recorded) else key_of(linkage_name)) == key_of(recorded)


def fits(function_name: str, linkage_name: str, recorded: str) -> bool:
    """Whether a function of the source may be a recorded kernel as far as its name says: the names in compiled code are
    the same, or nobody knows one of these and the plain names are. Other functions may then have that name, too."""
    if is_same(linkage_name, recorded):
        return True
    if is_hidden(recorded):
        return hidden(function_name) == recorded
    if linkage_name and recorded.startswith(MANGLED):
        return False
    return bool(function_name) and base_name(recorded) == function_name


@functools.lru_cache(_MOST_KEPT)
def base_name(text: str) -> str:
    """The plain name of a function, `k` of `void ns::k<float>(float const*)`, in any spelling, also the mangled one."""
    if text.startswith(MANGLED):
        try:
            return plain_name(text)
        except Unreadable:
            return text
    declared = _without_brackets(text)
    head, has_parameters, _ = declared.rpartition(_PARAMETERS)
    name = (head if has_parameters else declared).rpartition("::")[2].strip()
    if name.startswith("operator") or " operator" in name:
        return name[name.index("operator") :]
    return name.split()[-1] if name else ""


def is_instance(recorded: str, instantiation: str) -> bool:
    """Whether a kernel that is known by its plain name and as the source spells it may be an instance of a template, or
    a function that is none, by their arguments. Which instance it is that was recorded by its plain name alone is not
    known."""
    return template_arguments(recorded) == template_arguments(instantiation)


def template_arguments(text: str) -> str:
    """The arguments of a template in the name of a function, in one spelling; empty where it has none."""
    for match in re.finditer(rf"(?<!\w){re.escape(base_name(text))}\s*<", text):
        end, depth = match.end(), 1
        while end < len(text) and depth:
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        if not depth and text[end : end + 1] in ("", "("):
            return _one_spelling(text[match.end() : end - 1])
    return ""


def _one_spelling(arguments: str) -> str:
    """`(int)2` is 2 and `(bool)1` is true, `const float *` is `float const*`."""
    plain = _NUMBER.sub(lambda number: _TRUTH.get(number[0].replace(" ", ""), number[1]), arguments)
    return re.sub(r"\s+", "", _CONST.sub(r"\1 const", plain))


def _without_brackets(text: str) -> str:
    """What stands outside of all brackets, and a mark for each pair of round ones."""
    for anonymous in _ANONYMOUS:
        text = text.replace(anonymous, "")
    outside: list[str] = []
    opened: list[str] = []
    at, may_open = 0, False
    while at < len(text):
        operator = _OPERATOR.match(text, at) if not _is_letter(text[at - 1 : at]) else None
        if operator is not None:
            if not opened:
                outside.append(f"operator{operator[1]}")
            at, may_open = operator.end(), True
            continue
        letter = text[at]
        if letter == "<":
            # Comparisons have spaces or round brackets before them.
            if may_open:
                opened.append(letter)
        elif letter in "([{":
            if letter == "(" and not opened:
                outside.append(_PARAMETERS)
            opened.append(letter)
        elif letter in _CLOSING:
            _close(opened, _CLOSING[letter], is_arrow=text[at - 1 : at] == "-")
        elif not opened:
            outside.append(letter)
        may_open = _is_letter(letter) or letter in "]}'"
        at += 1
    return "".join(outside)


def _is_letter(letter: str) -> bool:
    return letter.isalnum() or letter in ("_", "$")


def _close(opened: list[str], opening: str, is_arrow: bool) -> None:
    """Closes a bracket, and what was taken for one within it."""
    if opening == "<":
        if opened and opened[-1] == "<" and not is_arrow:
            opened.pop()
        return
    while opened and opened.pop() != opening:
        pass

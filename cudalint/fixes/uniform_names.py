"""Whether all threads of a block come to one value of an expression, as far as the text of their kernel is plain."""

from __future__ import annotations

import re
from collections.abc import Collection

from cudalint.fixes.spelling import FOR, NAME, changes
from cudalint.regexes import regex
from cudalint.source.code import CodeText

_OWN = regex(r"\bthreadIdx\b|\[|->|\*\s*\(|\w\s*\(")
"""What each thread may have its own value of: its index, what is in memory, and what a function returns."""
_WORDS = frozenset(
    ("int", "unsigned", "long", "short", "size_t", "const", "blockIdx", "blockDim", "gridDim", "true", "false")
)
_MACRO = r"^[ \t]*#[ \t]*define[ \t]+{0}\b(?P<text>[^\n]*)"
_DEPTH = 8


class UniformNames:
    """The names of a kernel, which is between two offsets, and what it does to them."""

    def __init__(self, source: CodeText, extent: tuple[int, int], parameters: Collection[str]) -> None:
        self._text, self._parameters = source.text, parameters
        begin, end = source.code.find("{", *extent), extent[1]
        self._body = source.code[begin:end]
        closed = ((loop.end(), source.close(loop.end()) or end) for loop in FOR.finditer(source.code, begin, end))
        self._heads = [source.code[open_ + 1 : close - 1] for open_, close in closed]
        for head in self._heads:
            self._body = self._body.replace(f"({head})", f"({' ' * len(head)})", 1)

    def holds(self, code: str, depth: int = 0) -> bool:
        """Whether an expression has one value for all threads that come to it at once."""
        if depth > _DEPTH or _OWN.search(code):
            return False
        return all(self._has_one_value(name, depth + 1) for name in NAME.findall(code) if name not in _WORDS)

    def _has_one_value(self, name: str, depth: int) -> bool:
        if re.search(rf"&\s*{name}\b(?!\s*\[)", self._body):
            return False  # Something may be put into it through its address, or it is the right side of an `&`.
        initial = [one[1] for one in re.finditer(rf"[\w>*]\s+{name}\s*=(?!=)([^;]*)", self._body)]
        others = re.sub(rf"([\w>*]\s+){name}\s*=(?!=)", r"\1", self._body)
        if changes(name, others) or re.search(rf">>\s*{name}\b", others):
            return False
        counted = [head for head in self._heads if changes(name, head)]
        if name in self._parameters:
            return not initial and not counted
        if not initial and not counted:
            macro = re.search(_MACRO.format(name), self._text, re.MULTILINE)
            is_left_open = re.search(rf"[\w>*&]\s+(?:\w+\s*,\s*)*{name}\s*[;,]", self._body) is not None
            return not is_left_open and (macro is None or self.holds(macro["text"], depth))
        return all(self.holds(_first(text), depth) for text in initial) and all(
            self._counts_for_all(name, head, depth) for head in counted
        )

    def _counts_for_all(self, name: str, head: str, depth: int) -> bool:
        """Whether a loop counts in a variable from one value by one value, for all threads that are in it."""
        parts = head.split(";")
        if len(parts) != 3 or not re.fullmatch(rf"\s*(?:[\w:]+\s+)*{name}\s*=[^,]*", parts[0]):
            return False
        first = parts[0].partition("=")[2]
        by_one = rf"{name}\s*(?:\+\+|--)|(?:\+\+|--)\s*{name}"
        step = re.fullmatch(rf"\s*(?:{by_one}|{name}\s*[-+*/]=(?P<by>.*))\s*", parts[2])
        return step is not None and self.holds(first, depth) and self.holds(step["by"] or "", depth)


def _first(text: str) -> str:
    """What is before the comma that ends an initial value."""
    return text.partition(",")[0]

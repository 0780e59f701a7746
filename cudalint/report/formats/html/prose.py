"""Text for a page: escaped, with code in its backticks and nothing that can't be seen."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from cudalint.report.formats import plain

_CODE: Final = re.compile(r"`([^`]*)`")
_LANGUAGE: Final = re.compile(
    r"(?P<c>//.*|/\*.*?(?:\*/|$))|(?P<s>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|(?P<k>\b(?:if|else|for|while|do|return|"
    r"switch|case|break|continue|const|template|typename|struct|auto|void|int|unsigned|float|double|bool|char|long|short|"
    r"__global__|__device__|__shared__|__restrict__|__syncthreads|__syncwarp|extern|static|constexpr|using|inline)\b)"
)


def prose(text: str) -> Markup:
    """A message, with what stands between backticks as code."""
    parts, last = [], 0
    shown = plain.page(text)
    for match in _CODE.finditer(shown):
        parts += [escape(shown[last : match.start()]), Markup("<code>"), escape(match[1]), Markup("</code>")]
        last = match.end()
    return Markup("").join((*parts, escape(shown[last:])))


def code(line: bytes) -> Markup:
    """A line of source, with comments, literals and words of the language distinguished."""
    shown = plain.page(line.decode("utf-8", "replace")).rstrip()
    parts: list[Markup] = []
    last = 0
    for match in _LANGUAGE.finditer(shown):
        if match[0]:
            looks = Markup('<i class="{}">').format(match.lastgroup)
            parts += [escape(shown[last : match.start()]), looks, escape(match[0]), Markup("</i>")]
            last = match.end()
    return Markup("").join((*parts, escape(shown[last:])))

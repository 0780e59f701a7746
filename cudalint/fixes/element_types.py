"""The types of arrays' elements, as the text has them: of a template, that holds for all of its arguments."""

from __future__ import annotations

import re

from cudalint.facts import Access
from cudalint.fixes.float_edits import in_template
from cudalint.fixes.obstacles import Obstacle
from cudalint.source.code import CodeText

POINTS = r"\*\s*(?:const\b\s*|__restrict(?:__)?\b\s*|RESTRICT\b\s*)*"
"""What makes a pointer of what is declared, as a regular expression."""
_TYPE = r"(?P<type>(?:unsigned\s+|signed\s+|long\s+)*[A-Za-z_][\w:]*)"


def element_type(array: str, access: Access, source: CodeText, extent: tuple[int, int]) -> str:
    """Of a pointer that is declared between two offsets, or else of what was accessed. Raises an `Obstacle` where it is
    volatile, or a template may mean another one."""
    if "volatile" in access.element_type:
        raise Obstacle(f"`{access.array}` is volatile")
    declared = re.compile(
        rf"(?:[(,;{{}}]|\bconst\b)\s*{_TYPE}\s*(?:\bconst\b\s*)?{POINTS}{re.escape(array)}\s*(?=[,)=;])"
    )
    found = {one["type"] for one in declared.finditer(source.code, *extent)} - {"const", "void", "auto", "return"}
    if len(found) == 1:
        return found.pop()
    begin, _ = source.extent(access.place)
    if in_template(source, begin):
        raise Obstacle(f"the type of `{array}` holds for one of the template's arguments alone")
    return access.element_type.replace("const ", "").strip()

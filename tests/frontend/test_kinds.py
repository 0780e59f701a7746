"""The names of libclang's kinds that the front end uses are looked up by need, so that a wrong one would show late."""

from __future__ import annotations

import re
from pathlib import Path

import cudalint.frontend
from cudalint.frontend import kinds

_NAMED = re.compile(r"\bkinds\.([A-Z]\w*)")


def test_all_kinds_that_the_front_end_names_are_there() -> None:
    folder = Path(cudalint.frontend.__file__).parent
    named = {name for path in folder.rglob("*.py") for name in _NAMED.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 50
    numbers = {name: getattr(kinds, name) for name in named if name not in ("FUNCTION_DECLS", "NAMING")}
    assert all(isinstance(number, int) for number in numbers.values())
    assert numbers["IF_STMT"] == 205
    assert numbers["T_POINTER"] == 101

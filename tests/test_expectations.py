"""The harness of the fixtures is only worth something if it fails when it should."""

from __future__ import annotations

import pytest
from handmade import column_read
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.testing import differences, expectations_in

_SOURCE = """\
a;  // expect: CL201 "32-way" CL101
// expect: CL102 "x, y"
// todo-expect: CL103, CL104

// A word.
b;  /* expect: CL105 */
// "expect: CL999" in a string is no expectation:
s = "// expect: CL999";
"""


def _found(line: int, code: str = "CL201", message: str = "32-way bank conflict") -> Diagnostic:
    known = column_read()
    return replace(known, code=code, message=message, place=known.place._replace(line=line))


def test_reading() -> None:
    source = _SOURCE.replace('"expect: CL999" in a string', "A string")
    assert [tuple(e) for e in expectations_in(source)] == [
        (1, "CL201", "32-way", "expect"),
        (1, "CL101", "", "expect"),
        (6, "CL102", "x, y", "expect"),
        (6, "CL103", "", "todo-expect"),
        (6, "CL104", "", "todo-expect"),
        (6, "CL105", "", "expect"),
    ]


@pytest.mark.parametrize(
    "comment", ["// expect:", "// expect: conflict", '// expect: CL201 "open', "// expect: CL201 32-way"]
)
def test_an_expectation_with_a_slip_is_no_silent_pass(comment: str) -> None:
    with pytest.raises(ValueError, match="can't read the expectation"):
        list(expectations_in(comment))


def test_all_met() -> None:
    assert differences('a; // expect: CL201 "32-way"', [_found(1)]) == []
    assert differences("a; // todo-expect: CL201", []) == []
    assert differences("a; // todo-drop: CL201", [_found(1)]) == []
    assert differences("a; // expect: CL201  // todo-expect: CL101", [_found(1)]) == []
    assert differences("a;", []) == []


def test_failures() -> None:
    assert differences("a;", [_found(1)]) == ["unexpected, line 1: CL201 32-way bank conflict"]
    assert differences('a; // expect: CL201 "32"', []) == ['missing, line 1: CL201 "32"']
    assert len(differences('a; // expect: CL201 "16-way"', [_found(1)])) == 2
    assert len(differences("\n// expect: CL201\na;", [_found(2)])) == 2
    assert differences("a; // todo-expect: CL201", [_found(1)])[0].startswith("found at last")
    assert differences("a; // todo-drop: CL201", [])[0].startswith("gone at last")
    assert len(differences("a; // expect: CL201", [_found(1), _found(1)])) == 1

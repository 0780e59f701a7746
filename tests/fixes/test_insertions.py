"""Where a barrier's text goes. Each text is a kernel's body with `@` before the statement and `@` behind its place."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.edits import apply_edits
from cudalint.source.insertions import insertions

Where = Literal["before", "end"]


def _inserted(marked: str, where: Where = "before") -> str | None:
    """The text after the insertion; None where there is none."""
    head, statement, tail = marked.split("@")
    places = []
    for before in (head, head + statement):
        line = before.count("\n") + 1
        places.append((line, len(before[before.rfind("\n") + 1 :].encode()) + 1))
    text = head + statement + tail
    found = insertions(text, Place("a.cu", *places[0], *places[1]), where, "B();")
    return apply_edits(text, [Edit(i.place, i.text) for i in found]) if found else None


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("{\n    a();\n    @b()@;\n}", "{\n    a();\n    B();\n    b();\n}"),
        ("{\r\n\ta();\r\n\t@b()@;\r\n}", "{\r\n\ta();\r\n\tB();\r\n\tb();\r\n}"),
        ("{ a(); @b()@; }", "{ a(); B(); b(); }"),
        ("{ /* ä */ @b()@; }", "{ /* ä */ B(); b(); }"),
        ("case 1: @b()@;", "case 1: B(); b();"),
        ("{\n    // a comment, (\n    @b()@;\n}", "{\n    // a comment, (\n    B();\n    b();\n}"),
        ("{ a();\n  #pragma unroll\n    @for (;;) b();@\n}", "{ a();\n  B();\n  #pragma unroll\n    for (;;) b();\n}"),
        ("{\n#if A\n    a();\n#endif\n    @b()@;\n}", "{\n#if A\n    a();\n#endif\n    B();\n    b();\n}"),
        ("if (x)\n    @b()@ ;\nelse c();", "if (x)\n    { B(); b() ; }\nelse c();"),
        ("if (x) a(); else @b()@;", "if (x) a(); else { B(); b(); }"),
        ("if (x) @for (;;) { b(); }@ c();", "if (x) { B(); for (;;) { b(); } } c();"),
        ("if (x)\n    @STEP@(b);\n", None),  # A macro, of which only the name is known.
        ('text = "{ a(); @b()@; }"', None),
        ("a = @b()@;", None),
    ],
)  # fmt: skip
def test_before_a_statement(marked: str, expected: str | None) -> None:
    assert _inserted(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("  @for (;;) {\n      a();\n  }@\n", "  for (;;) {\n      a();\n      B();\n  }\n"),
        ("\t@while (x) {\n\t\ta();\n\t}@\n", "\twhile (x) {\n\t\ta();\n\t\tB();\n\t}\n"),
        ("@for (int i = f('(', \")\"); ; ) { a(); }@", "for (int i = f('(', \")\"); ; ) { a(); B(); }"),
        ("  @for (;;)\n    a()@;\n", "  for (;;) {\n    a();\n    B();\n  }\n"),
        ("  @for (;;) // {\n    if (x) { a(); }@\n", "  for (;;) { // {\n    if (x) { a(); }\n    B();\n  }\n"),
        ("@for (;;) a()@; b();", "for (;;) { a(); B(); } b();"),
        ("@do { a(); } while (x)@;", "do { a(); B(); } while (x);"),
        ("@do\n    a();\nwhile (x)@;", None),
        ("@EACH@(i) { a(); }", None),
        ("@for (;;) STEP@(a);", None),
        ("@for (;;) { a();@", None),
    ],
)
def test_at_the_end_of_a_loop(marked: str, expected: str | None) -> None:
    assert _inserted(marked, "end") == expected


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=60), st.sampled_from(["before", "end"]))
def test_whatever_the_text_is(head: str, statement: str, tail: str, where: Where) -> None:
    """Nothing of it is lost."""
    marked = "@".join(part.replace("@", "") for part in (head, statement, tail))
    found = _inserted(marked, where)
    if found is not None:
        rest = iter(found)
        assert all(character in rest for character in marked.replace("@", ""))
        assert "B();" in found

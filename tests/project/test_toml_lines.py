"""Lines of keys, against the documents that tomllib reads."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from cudalint.project.toml_lines import key_lines, line_of

_DOCUMENT = '''\
# [not.a.table]
top = 1
[tool.cudalint]
select = [
    "CL1",  # a comment
]
text = """
select = 2
[inside]
"""
literal = 'a = """'
[tool.cudalint.kernels."sgemm*"]
block = "32,32"
parameters = { M = 1, "N" = 2 }
parameters2.K = 3
[[tool.cudalint."a.b".'c d']]
x = 1
'''


def test_lines_of_a_document() -> None:
    lines = key_lines(_DOCUMENT)
    table = ("tool", "cudalint")
    assert lines[("top",)] == 2
    assert lines[table] == 3
    assert lines[(*table, "select")] == 4
    assert lines[(*table, "text")] == 7
    assert lines[(*table, "kernels", "sgemm*", "block")] == 13
    assert lines[(*table, "kernels", "sgemm*", "parameters2", "K")] == 15
    assert lines[(*table, "a.b", "c d", "x")] == 17
    assert ("inside",) not in lines
    assert ("not", "a", "table") not in lines


def test_a_key_without_a_line_stands_where_its_table_does() -> None:
    lines = key_lines(_DOCUMENT)
    assert line_of(("tool", "cudalint", "kernels", "sgemm*", "parameters", "M"), lines) == 14
    assert line_of(("nowhere",), lines) is None


_NAMES = st.text("abc-_XY0", min_size=1, max_size=4)
_TABLES = st.dictionaries(_NAMES, st.dictionaries(_NAMES, st.integers(0, 9), max_size=4), max_size=4)


@given(_TABLES)
def test_every_key_has_its_line(tables: dict[str, dict[str, int]]) -> None:
    written: list[str] = []
    expected: dict[tuple[str, ...], int] = {}
    for table, values in tables.items():
        written += ["", f"[{table}]"]
        expected[(table,)] = len(written)
        for key, value in values.items():
            written.append(f'"{key}" = {value}' if value % 2 else f"{key}={value}")
            expected[(table, key)] = len(written)
    text = "\n".join(written)
    assert tomllib.loads(text) == tables
    assert key_lines(text) == expected


@given(st.text("[]=.\"'ab\n# ", max_size=40))
def test_no_text_is_too_strange(text: str) -> None:
    key_lines(text)

"""The lines that nvcc 13.0 gives accesses (nvdisasm -g of each of these, -O3 -lineinfo -arch=sm_90)."""

from __future__ import annotations

import pytest

from cudalint.facts import Place
from cudalint.toolchain.toolkit.line_table import compiled_at

# An access from its first to its last character; the word on whose line its instruction stands is between `@`.
MEASURED = [
    "a\n   [@i@]",
    "a[\n  i + @1@\n ]",
    "a[\n  i +\n  @2@]",
    "*(a +\n  i + @3@)",
    "*\n  (a + i + @4@)",
    "s[@i@\n  ].x",
    "s[@i@]\n  .y",
    "@s@\n  ->x",
    "(s + i)->z\n  [@j@\n  ]",
    "m[i]\n  [@j@]",
    "o[@10@\n  ]",
    "*(o +\n  @12@)",
    "o[13 +\n  @i@]",
    "reinterpret_cast<const float4 *>(\n  &a[j * @4@])",
    "reinterpret_cast<float4 *>(\n  &C[(row * TM + i) * N +\n   column * TN + j])[@0@]",
    "@AT@(a,\n  i,\n  j)",
    "a[@idx@(\n  i,\n  j\n  )]",
    "a[i > 3 ?\n  i + 9 :\n  j - @2@\n  ]",
    "a[(int)\n  threadIdx.x\n  + @500@]",
    "s[i\n  +\n  (int) @AT@(o,\n  1, 2 & j)\n  ].x",
    "o[(i\n  + j\n  ) * @3@\n  ]",
    "o[i * 7 + j *\n  100\n  - (3\n  + @j@)\n  ]",
    "o[1001 + @sizeof@(\n  float\n  )]",
    "a[i +\n  @8@ * (\n  0)\n  ]",
    "a[i +\n  @n@ * (\n  0)\n  ]",
    "a[i +\n  n * (i +\n  @n@ * (\n  0))\n  ]",
    "a[i + @(@4 +\n  5)\n  ]",
    "a[i + 4 +\n  @5@\n  ]",
    "a[i + n *\n  @-@\n  1\n  ]",
    "a[i + n * @(@1 <<\n  3)\n  ]",
    'asm volatile("st.global.f32 [%0], %1;"\n  :\n  : "l"(o + 40),\n  "f"(@v@)\n  )',
    'asm volatile(\n  "ld.global.f32 %0, [%1];"\n  : "=f"(w)\n  : "l"(a + @4000@)\n  : "memory"\n  )',
]


@pytest.mark.parametrize("marked", MEASURED)
def test_an_access_stands_where_the_last_word_of_its_address_begins(marked: str) -> None:
    before, word, after = marked.split("@")
    assert _compiled_at(f"x = {before}{word}{after};\n", 4, len(before + word + after)) == _position(f"x = {before}")


def test_what_is_on_one_line_stands_where_it_begins() -> None:
    assert compiled_at("x = a[i + 1];\n", Place("k.cu", 1, 5, 1, 13)) == (1, 5)


def test_comments_and_literals_are_no_words() -> None:
    text = "a[i /* of\n  them */ + 1 // the next\n  ]"
    assert _compiled_at(text, 0, len(text)) == (2, 13)


@pytest.mark.parametrize("text", ["", "a[i", ")\n)", "é\n\x00]", "(\n", "[\n]"])
def test_a_file_that_is_gone_or_changed_since(text: str) -> None:
    line, _ = compiled_at(text, Place("k.cu", 1, 1, 3, 9))
    assert 1 <= line <= 3


def _compiled_at(text: str, start: int, length: int) -> tuple[int, int]:
    return compiled_at(text, Place("k.cu", *_position(text[:start]), *_position(text[: start + length])))


def _position(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")

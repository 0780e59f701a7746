"""Spoiled copies of sources and of what builds and configures them, for `fuzz.py` and for the tests.

All that is drawn comes from one `random.Random`, so that a seed tells the mutant, and a test that draws through
hypothesis can make a failing one smaller. Texts are bytes: nothing promises that a source is UTF-8.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(rb'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|\s+|.', re.DOTALL)
_NAME = re.compile(rb"[A-Za-z_]\w*\Z")
NUMBERS = (
    b"0", b"1", b"-1", b"31", b"33", b"1024", b"1025", b"65536", b"2147483647", b"2147483648", b"4294967295",
    b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551615",
    b"340282366920938463463374607431768211455", b"1e30", b"1e-320", b"1e400", b"0.0", b"0x7fffffff", b"08",
    b"(__int128)1e30", b"'a'", b"(1 << 31)", b"(1 / 0)", b"(1 % 0)", b"(-1 >> 1)", b"(1ull << 63)",
)  # fmt: skip
WORDS = (
    b"__shared__", b"__global__", b"__device__", b"__syncthreads();", b"threadIdx.x", b"blockIdx.y", b"blockDim.z",
    b"template <", b"typename", b"struct", b"union", b"if", b"if constexpr (0)", b"for (;;)", b"while (1)", b"do",
    b"switch (0)", b"goto x;", b"return;", b"const", b"static", b"extern", b"double", b"char", b"bool", b"void",
    b"half", b"float4", b"__int128", b"unsigned long long", b"[0]", b"[]", b"[-1]", b"[1 << 30]", b"{", b"}", b"(",
    b")", b"<", b">", b"<<<", b">>>", b";", b"*", b"/", b"%", b"<<", b"&", b"&&", b"...", b"::", b"->", b"#if 1\n",
    b"\n#if 0\n", b"\n#endif\n", b"\n#define A(x) x\n", b"\n#undef A\n", b"\n#line 9999999 \"elsewhere.cu\"\n",
    b"\n#pragma unroll 0\n", b"\n#pragma unroll\n", b"\n#include __FILE__\n", b"\n#error ::error::\n", b"\\\n", b"/*",
    b"*/", b'"', b"'", b"R\"(", b"??/\n", b"asm volatile(\"\");", b"asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x));",
    b"// cudalint: launch(block = 7)\n", b"// cudalint: launch(block = 0, grid = -1)\n",
    b"// cudalint: assume(n == 0)\n", b"// cudalint: assume(n % 0 == 1)\n", b"// cudalint: ignore[CL101]\n",
    b"// cudalint: ignore\n", b"foo::bar x;", b"atomicAdd(&x, 1);", b"__shfl_sync(0, 0, 0);", b"sizeof(*this)",
)  # fmt: skip
"""Words of the language at places where they may not belong."""
LETTERS = (
    b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\r", b"\r\r", b"\t", b"\f", b"\v", b"\x1b[31m", b"\x1b]0;title\x07", b"\x7f",
    b"\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xc3\x28",
)  # fmt: skip
"""Control characters, marks that turn text around, escape sequences, and bytes that are no UTF-8."""
INCLUDED = (
    b"/dev/zero", b"/dev/stdin", b"/proc/self/mem", b"/proc/self/environ", b"/etc/passwd", b"..", b".", b"/", b"",
    b"m000.cu", b"-MD", b"@x", b"nowhere/" * 60 + b"x.h", b"a\x1b[31m.h", b"::error::.h", b"cuda_runtime.h",
    b"cooperative_groups.h", b"torch/extension.h",
)  # fmt: skip
_NESTED = ((b"(", b")"), (b"{", b"}"), (b"[", b"]"), (b"-", b""), (b"!", b""), (b"*", b""), (b"if (1) ", b""),
           (b"template <typename T> ", b""), (b"\n#if 1\n", b"\n#endif\n"))  # fmt: skip


def tokens_of(text: bytes) -> list[bytes]:
    """Words, numbers, strings, comments, blanks and single letters, which together are the text."""
    return _TOKEN.findall(text)


def mutant(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """The text, spoiled in one to a dozen places; `others` are what pieces are taken from."""
    tokens = tokens_of(text) or [b""]
    for _ in range(draw.choice((1, 1, 1, 2, 4, 12))):
        spoil = draw.choice(_WAYS)
        tokens = spoil(tokens, others, draw) or [b""]
    return b"".join(tokens)


def _deleted(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at = _place(tokens, draw)
    return tokens[:at] + tokens[at + draw.choice((1, 1, 2, 5, 40)) :]


def _doubled(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at = _place(tokens, draw)
    end = at + draw.choice((1, 1, 5, 40, 200))
    return tokens[:end] + tokens[at:end] * draw.choice((1, 1, 3)) + tokens[end:]


def _exchanged(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at, other = _place(tokens, draw), _place(tokens, draw)
    changed = list(tokens)
    changed[at], changed[other] = changed[other], changed[at]
    return changed


def _cut_off(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at = _place(tokens, draw)
    return [*tokens[:at], tokens[at][: draw.randrange(len(tokens[at]) + 1)]]


def _spliced(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at = _place(tokens, draw)
    piece = tokens_of(draw.choice(others)) if others else tokens
    start = draw.randrange(len(piece)) if piece else 0
    return tokens[:at] + piece[start : start + draw.choice((3, 30, 300))] + tokens[at:]


def _other_word(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at = _place(tokens, draw)
    return [*tokens[:at], draw.choice(WORDS), b" ", *tokens[at + draw.randrange(2) :]]


def _other_name(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    """One name where another one stood, here or everywhere."""
    names = [index for index, token in enumerate(tokens) if _NAME.match(token)]
    if not names:
        return tokens
    old, new = tokens[draw.choice(names)], tokens[draw.choice(names)]
    if draw.randrange(2):
        return [new if token == old else token for token in tokens]
    at = draw.choice(names)
    return [*tokens[:at], new, *tokens[at + 1 :]]


def _letters(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    at = draw.randrange(len(tokens))
    within = draw.randrange(len(tokens[at]) + 1)
    return [*tokens[:at], tokens[at][:within] + draw.choice(LETTERS) + tokens[at][within:], *tokens[at + 1 :]]


def _other_number(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    numbers = [index for index, token in enumerate(tokens) if token[:1].isdigit()]
    at = draw.choice(numbers) if numbers else _place(tokens, draw)
    return [*tokens[:at], draw.choice(NUMBERS), *tokens[at + 1 :]]


def _nested(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    begin, end = draw.choice(_NESTED)
    depth = draw.choice((3, 30, 300, 3000))
    at = _place(tokens, draw)
    return [*tokens[:at], begin * depth, tokens[at], end * depth, *tokens[at + 1 :]]


def _long(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    """A name, a sum or a line without an end in sight."""
    at = _place(tokens, draw)
    token = tokens[at].strip() or b"x"
    long = draw.choice((token * 3000, b" + ".join([token] * 2000), b" " * 100_000, b"\\\n" * 2000))
    return [*tokens[:at], long, *tokens[at + 1 :]]


def _including(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    name = draw.choice(INCLUDED)
    line = draw.choice((b'\n#include "%s"\n', b"\n#include <%s>\n")) % name
    at = draw.choice((0, _place(tokens, draw)))
    return [*tokens[:at], line, *tokens[at:]]


def _line_ends(tokens: list[bytes], others: Sequence[bytes], draw: random.Random) -> list[bytes]:
    end = draw.choice((b"\r\n", b"\r", b"\\\n", b"\n\n"))
    return [token.replace(b"\n", end) for token in tokens]


Way = Callable[[list[bytes], Sequence[bytes], random.Random], list[bytes]]
_WAYS: tuple[Way, ...] = (
    _deleted, _deleted, _doubled, _exchanged, _cut_off, _spliced, _other_word, _other_word, _other_name, _letters,
    _other_number, _other_number, _other_number, _other_number, _nested, _long, _including, _line_ends,
)  # fmt: skip


def _place(tokens: Sequence[bytes], draw: random.Random) -> int:
    """A token that is no blank; in a kernel as often as in all the rest, which is longer and matters less."""
    starts = [index for index, token in enumerate(tokens) if token == b"__global__"]
    first = draw.choice(starts) if starts and draw.randrange(4) else 0
    last = min(len(tokens), first + 600) if first else len(tokens)
    filled = [index for index in range(first, last) if tokens[index].strip()]
    return draw.choice(filled) if filled else 0


# --- what stands beside a source -----------------------------------------------------------------------------

SURROUNDINGS: dict[str, bytes] = {
    "compile_commands.json": b"""[{"directory": ".", "file": "m000.cu",
  "command": "nvcc -I include -isystem /usr/include -DN=32 -std=c++17 -arch=sm_80 -include x.h m000.cu"},
 {"directory": "/", "file": "m001.cu",
  "arguments": ["nvcc", "-D", "M=1", "@options.txt", "--options-file", "x", "-Xcompiler", "-O2,-DX"]}]
""",
    "Makefile": b"""N ?= 32
FLAGS := -arch=sm_80 -DN=$(N) -I.. $(shell touch written)
main: m000.cu
\tnvcc $(FLAGS) -o $@ $<
run: main
\t./main 1024 $(N) > out
""",
    "CMakeLists.txt": b"set(CMAKE_CUDA_ARCHITECTURES 75 86-real)\nadd_executable(main m000.cu)\n",
    "cudalint.toml": b"""target = "h100"
include-dirs = ["include", "../.."]
defines = ["N=32"]
std = "c++17"
exclude = ["x/**"]
assume = ["n % 4 == 0"]
[kernels."*"]
block = [32, "8"]
grid = 7
[kernels."*".parameters]
n = 1024
[per-file-ignores]
"m00[1-3].cu" = ["CL101"]
""",
    ".gitignore": b"*.o\nbuild/\n!m*.cu\n",
}  # fmt: skip
"""Files that say how a program is built and linted."""

"""Mutants by the structure of a text: what `mutating.py` does to single tokens is done here to blocks, statements,
declarations, directives, bytes and lines.

Blocks and statements of other files are put in the place of own ones, brackets are taken away, blocks, types and calls
are nested, extents, bounds and launches are set to what no size can be, keywords are redefined, literals, comments and
conditionals don't end, lines are spliced within words, and the whole is written in other encodings. As there, one
`random.Random` draws everything, and texts are bytes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import pieces
from mutating import tokens_of

_OPEN = {b"(": b")", b"{": b"}", b"[": b"]"}
_EXTENT = re.compile(rb"\[[^\[\]{};]*\]")
_LAUNCH = re.compile(rb"<<<[^;{}]*?>>>")
_DIM3 = re.compile(rb"\bdim3\s+\w+\s*\([^;{}]*?\)")
_BOUND = re.compile(rb"(?<=[<>=])\s*[\w.]+(?=\s*[;)&|])")
_STEP = re.compile(rb"(\+\+|--|[-+*/|&<>]=)")


def mutant(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """The text with its structure spoiled in one to eight places; `others` are what pieces are taken from."""
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        text = draw.choice(_WAYS)(text, others, draw)[:_MOST]
    return draw.choice(_BYTES)(text, draw) if draw.randrange(8) == 0 else text


_MOST = 400_000
"""Bytes of a mutant."""


def groups(tokens: Sequence[bytes], opening: bytes = b"{") -> list[tuple[int, int]]:
    """First token of each group of brackets, and the one behind its last."""
    stack, found = [], []
    for index, token in enumerate(tokens):
        if token == opening:
            stack.append(index)
        elif token == _OPEN[opening] and stack:
            found.append((stack.pop(), index + 1))
    return found


def statements(tokens: Sequence[bytes]) -> list[tuple[int, int]]:
    """What stands between semicolons and braces, the semicolon with it."""
    found, begin = [], 0
    for index, token in enumerate(tokens):
        if token in (b";", b"{", b"}"):
            if token == b";" and index > begin:
                found.append((begin, index + 1))
            begin = index + 1
    return found


def _other_block(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A block of another file where one of its own stood."""
    own, other = tokens_of(text), tokens_of(draw.choice(others) if others else text)
    mine, theirs = groups(own), groups(other)
    if not mine or not theirs:
        return text
    (begin, end), (first, last) = draw.choice(mine), draw.choice(theirs)
    return b"".join((*own[:begin], *other[first:last], *own[end:]))


def _other_statement(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    own, other = tokens_of(text), tokens_of(draw.choice((*others, text)))
    mine, theirs = statements(own), statements(other)
    if not mine or not theirs:
        return text
    (begin, end), (first, last) = draw.choice(mine), draw.choice(theirs)
    kept = own[begin:end] if draw.randrange(2) else []
    return b"".join((*own[:begin], *kept, *other[first:last], *own[end:]))


def _without_bracket(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    tokens = tokens_of(text)
    places = [index for index, token in enumerate(tokens) if token in (b"{", b"}", b"(", b")", b"[", b"]", b";", b",")]
    for index in draw.sample(places, min(len(places), draw.choice((1, 1, 2, 20)))):
        tokens[index] = b""
    return b"".join(tokens)


def _without_block(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A group of brackets goes, or what is in it."""
    tokens = tokens_of(text)
    opening = draw.choice((b"{", b"(", b"["))
    found = groups(tokens, opening)
    if not found:
        return text
    begin, end = draw.choice(found)
    kept = [tokens[begin], tokens[end - 1]] if draw.randrange(2) else []
    return b"".join((*tokens[:begin], *kept, *tokens[end:]))


def _moved(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A statement or a block stands elsewhere, too: a kernel within a kernel, a declaration in an expression."""
    tokens = tokens_of(text)
    found = groups(tokens) + statements(tokens)
    if not found:
        return text
    begin, end = draw.choice(found)
    at = _place(tokens, draw)
    return b"".join((*tokens[:at], *tokens[begin:end], *tokens[at:]))


def _nested(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    before, within, behind = draw.choice(pieces.NESTS)
    depth = draw.choice((2, 5, 20, 70, 300, 2_000))
    return _put(text, before * depth + within + behind * depth, draw)


def _wrapped(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """An own block, nested in conditions and loops."""
    tokens = tokens_of(text)
    found = groups(tokens)
    if not found:
        return text
    begin, end = draw.choice(found)
    before, _, behind = draw.choice(pieces.NESTS[:8])
    depth = draw.choice((1, 2, 5, 40))
    return b"".join((*tokens[:begin], b"{", before * depth, *tokens[begin:end], behind * depth, b"}", *tokens[end:]))


def _extent(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    pattern = draw.choice((_EXTENT, _EXTENT, _BOUND, _STEP, _LAUNCH, _DIM3))
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = draw.choice(found)
    extent = draw.choice(pieces.EXTENTS)
    if pattern is _EXTENT:
        new = b"[" + extent + b"]" * draw.choice((1, 1, 1, 2))
    elif pattern is _LAUNCH:
        new = b"<<<" + b", ".join(draw.choice(pieces.EXTENTS) for _ in range(draw.choice((1, 2, 2, 3, 4, 6)))) + b">>>"
    elif pattern is _DIM3:
        new = (
            match[0].partition(b"(")[0]
            + b"("
            + b", ".join(draw.choice(pieces.EXTENTS) for _ in range(draw.randrange(5)))
            + b")"
        )
    elif pattern is _STEP:
        new = draw.choice(
            (b"+= 0", b"-= 1", b"*= 2", b"/= 2", b"<<= 1", b">>= 1", b"^= 1", b"= 0", b"+= 4294967296", b"-= -1")
        )
    else:
        new = b" " + extent
    return text[: match.start()] + new + text[match.end() :]


def _overflowing(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """An expression in brackets, combined with a number beyond its type."""
    tokens = tokens_of(text)
    found = [each for opening in (b"(", b"[") for each in groups(tokens, opening)]
    if not found:
        return text
    begin, end = draw.choice(found)
    operator = draw.choice((b"*", b"+", b"-", b"/", b"%", b"<<", b">>", b"&", b"|", b"^", b"<", b"&&", b"? 0 :", b", "))
    operand = draw.choice(pieces.EXTENTS) or b"0"
    inner = b"".join(tokens[begin + 1 : end - 1])
    new = draw.choice((b"(%s) %s (%s)", b"%s %s %s")) % (
        (inner, operator, operand) if draw.randrange(2) else (operand, operator, inner)
    )
    return b"".join((*tokens[: begin + 1], new, *tokens[end - 1 :]))


def _literal(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    tokens = tokens_of(text)
    numbers = [index for index, token in enumerate(tokens) if token[:1].isdigit() or token[:1] == b'"']
    if not numbers:
        return _put(text, draw.choice(pieces.LITERALS), draw)
    tokens[draw.choice(numbers)] = draw.choice(pieces.LITERALS)
    return b"".join(tokens)


def _type(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """Another type, here or everywhere."""
    old = draw.choice(
        (
            rb"\bfloat\b",
            rb"\bint\b",
            rb"\bunsigned\b",
            rb"\bdouble\b",
            rb"\bfloat\s*\*",
            rb"\bint\s*\*",
            rb"\bT\b",
            rb"\bconst\b",
        )
    )
    new = draw.choice(pieces.TYPES)
    found = list(re.finditer(old, text))
    if not found:
        return text
    if draw.randrange(2):
        return re.sub(old, lambda _: new, text)
    match = draw.choice(found)
    return text[: match.start()] + new + text[match.end() :]


def _redefined(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    lines = (
        b"".join(b"\n#define " + draw.choice(pieces.REDEFINITIONS) for _ in range(draw.choice((1, 1, 2, 5)))) + b"\n"
    )
    at = draw.choice((0, _line(text, draw)))
    return text[:at] + lines + text[at:]


def _directive(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    at = _line(text, draw)
    return text[:at] + b"\n" + draw.choice(pieces.DIRECTIVES) + b"\n" + text[at:]


def _annotation(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    at = draw.choice([match.start() for match in re.finditer(b"__global__", text)] or [0])
    return text[:at] + b"\n// cudalint: " + draw.choice(pieces.ANNOTATIONS) + b"\n" + text[at:]


def _unended(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    piece = draw.choice(pieces.UNENDED)
    return text.rstrip() + piece if draw.randrange(3) == 0 else _put(text, piece, draw)


def _statement(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A statement of strange kind at the begin, at the end or in the middle of a kernel's block."""
    tokens = tokens_of(text)
    found = groups(tokens)
    if not found:
        return _put(text, draw.choice(pieces.STATEMENTS), draw)
    starts = [index for index, token in enumerate(tokens) if token == b"__global__"]
    kernels = [each for each in found if any(0 < each[0] - start < 200 for start in starts)]
    begin, end = draw.choice(kernels or found)
    places = [begin + 1, end - 1, *(last for first, last in statements(tokens) if begin < first < end)]
    at = draw.choice(places)
    return b"".join((*tokens[:at], b"\n", draw.choice(pieces.STATEMENTS), b"\n", *tokens[at:]))


def _declaration(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    at = draw.choice((0, len(text), _line(text, draw)))
    return text[:at] + b"\n" + draw.choice(pieces.DECLARATIONS) + b"\n" + text[at:]


def _launched(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """One of the kernels, launched as none can be."""
    names = re.findall(rb"__global__[^;{}()]*?(\w+)\s*\(", text) or [b"k"]
    name = draw.choice(names)
    form = draw.choice(
        (
            "K<<<#, #>>>(0, 0, 0);",
            "K<<<dim3(#, #), dim3(#, #)>>>();",
            "K<int, #><<<#, #, #>>>(0, 0);",
            "for (int i = 0; i < #; i += #) K<<<i, i * #>>>(i, 0);",
            "cudaLaunchKernel((void *)K, #, #, 0, #, 0);",
            "int b = #; while (b < #) b *= 2; K<<<b, b>>>(0);",
            "if (#) K<<<# / #, 1>>>(0);",
            "dim3 b(#, #), g(#); b.x *= #; K<<<g, b, #>>>(0);",
            "K<<<# ? # : #, 32>>>(#, #);",
        )
    )
    code = re.sub(rb"#", lambda _: draw.choice(pieces.EXTENTS), form.encode()).replace(b"K", name)
    return text + b"\nvoid host_of_it() { " + code + b" }\n"


def _name(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A name becomes one that tools stumble over, everywhere."""
    names = sorted(set(re.findall(rb"\b[A-Za-z_]\w+\b", text)))
    if not names:
        return text
    new = draw.choice(
        (
            b"\xc3\xbc",
            "\u202e".encode(),
            b"\\u00e9",
            b"a" * 20_000,
            b"$",
            b"_",
            b"operator()",
            b"int",
            b"__global__",
            b"CL101",
            b"\xef\xbc\xa1",
            b"threadIdx",
            b"x::y",
            b"~x",
            b"main",
            b"\xff",
            b"__COUNTER__",
            b"__LINE__",
            b"__FILE__",
            b"x.y",
            b"0",
            b"x[0]",
            b"*x",
            b"(x)",
        )
    )
    return re.sub(rb"\b%s\b" % re.escape(draw.choice(names)), lambda _: new, text)


def _spliced_lines(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """Lines that go on behind a backslash, within words, comments, literals and directives."""
    splice = draw.choice((b"\\\n", b"\\\r\n", b"\\ \n", b"??/\n", b"\\\n\\\n\\\n", b"\\\r"))
    places = sorted(draw.randrange(len(text) + 1) for _ in range(draw.choice((1, 5, 200))))
    pieces = [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]
    return splice.join(pieces)


def _cut(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A text that ends or begins somewhere."""
    at = draw.randrange(len(text) + 1)
    return text[:at] if draw.randrange(3) else text[at:]


def _twice(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """Everything is there twice, or another file follows."""
    return text + b"\n" + draw.choice((text, *others[:50]))


# --- the bytes of a whole text -------------------------------------------------------------------------------


def _ends(text: bytes, draw: random.Random) -> bytes:
    ends = draw.choice(
        (
            (b"\r\n",),
            (b"\r",),
            (b"\r\n", b"\n"),
            (b"\r", b"\n", b"\r\n"),
            (b"\n\r",),
            (b"\x0b",),
            (b"\x0c\n",),
            (b"\xe2\x80\xa8",),
        )
    )
    return b"".join(line + draw.choice(ends) for line in text.split(b"\n"))


def _nul(text: bytes, draw: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(draw.choice((1, 3, 100))):
        at = draw.randrange(len(changed) + 1)
        changed[at : at + draw.randrange(2)] = draw.choice(
            (b"\0", b"\x1a", b"\x04", b"\xff", b"\xfe\xff", b"\xc0\x80", b"\x1b")
        )
    return bytes(changed)


def _mark(text: bytes, draw: random.Random) -> bytes:
    mark = draw.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\xef\xbb\xbf" * 2, b"\xef\xbb"))
    at = draw.choice((0, 0, len(text) // 2))
    return text[:at] + mark + text[at:]


def _encoded(text: bytes, draw: random.Random) -> bytes:
    return text.decode("utf-8", "replace").encode(
        draw.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "utf-8-sig"))
    )


def _without_last_end(text: bytes, draw: random.Random) -> bytes:
    return text.rstrip() + draw.choice((b"", b"\\", b"//", b"\0", b"\r", b"/*", b"#", b"\\\n"))


def _on_one_line(text: bytes, draw: random.Random) -> bytes:
    return text.replace(b"\n", b" ")


Way = Callable[[bytes, Sequence[bytes], random.Random], bytes]
_WAYS: tuple[Way, ...] = (
    _other_block,
    _other_block,
    _other_statement,
    _other_statement,
    _without_bracket,
    _without_block,
    _moved,
    _nested,
    _wrapped,
    _extent,
    _extent,
    _extent,
    _overflowing,
    _overflowing,
    _literal,
    _type,
    _type,
    _redefined,
    _redefined,
    _directive,
    _annotation,
    _unended,
    _statement,
    _statement,
    _statement,
    _declaration,
    _launched,
    _name,
    _spliced_lines,
    _cut,
    _twice,
)
_BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _ends,
    _nul,
    _mark,
    _encoded,
    _without_last_end,
    _on_one_line,
)


def _place(tokens: Sequence[bytes], draw: random.Random) -> int:
    """A token; one behind `__global__` as often as any other."""
    starts = [index for index, token in enumerate(tokens) if token == b"__global__"]
    if starts and draw.randrange(2):
        return min(len(tokens), draw.choice(starts) + draw.randrange(300))
    return draw.randrange(len(tokens) + 1)


def _put(text: bytes, piece: bytes, draw: random.Random) -> bytes:
    tokens = tokens_of(text)
    at = _place(tokens, draw)
    return b"".join((*tokens[:at], b" ", piece, b" ", *tokens[at:]))


def _line(text: bytes, draw: random.Random) -> int:
    """Where a line begins."""
    ends = [match.end() for match in re.finditer(b"\n", text)]
    return draw.choice((0, *ends))

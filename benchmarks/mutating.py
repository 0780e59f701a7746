"""Spoiled copies of sources and of what builds and configures them, for `fuzz.py` and for the tests.

A text is read as tokens, in which spans of some kinds are found: names, numbers, operands, arguments, statements,
blocks, functions, directives. Most ways of spoiling it take a span and do one thing to it, whatever its kind: it goes,
stands twice, changes places with another one, gives way to one of another file or to a piece at the edges of what the
language has (`pieces.py`), or becomes part of something larger: an operand the argument of one of the functions that
cudalint knows, a statement the body of a loop, a lambda or a macro, a function a template that calls itself. The other
ways change lines, letters and encodings of the whole. Mutants can be written as Python that compiles the CUDA in it,
and stand beside spoiled build files and configurations, which are made from the schema of configurations.

All that is drawn comes from one `random.Random`, so that a seed tells the mutant, and a test that draws through
hypothesis can make a failing one smaller. Texts are bytes: nothing promises that a source is UTF-8.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, NamedTuple

import pieces

from cudalint.ir.builtins import BUILTINS

MOST: Final = 200_000
"""Bytes of a mutant: what repeats pieces must not grow without an end."""
_TOKEN = re.compile(
    rb'//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d(?:[\w.]|[eEpP][-+])*'
    rb"|<<<|>>>|::|->|[-+*/%&|^<>=!]=|&&|\|\||\+\+|--|\s+|.",
    re.DOTALL | re.MULTILINE,
)
_NAME = re.compile(rb"[A-Za-z_]\w*\Z")
_CLOSING: Final = {b"(": b")", b"{": b"}", b"[": b"]", b"<<<": b">>>"}
_TYPES: Final = frozenset(b"bool char double float float2 float4 half int int4 long short size_t unsigned void".split())
_BUILTINS: Final = tuple(sorted(name.encode() for name in BUILTINS if _NAME.match(name.encode())))


class Span(NamedTuple):
    """Tokens from the first up to the one behind the last."""

    first: int
    last: int


class Text:
    """The tokens of a text, and the spans in them."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self.tokens = tokens
        self._spans: dict[str, list[Span]] = {}

    def spans(self, kind: str) -> list[Span]:
        if kind not in self._spans:
            self._spans[kind] = list(_FINDERS[kind](self))
        return self._spans[kind]

    def of(self, span: Span) -> bytes:
        return b"".join(self.tokens[span.first : span.last])

    def with_other(self, *changes: tuple[Span, bytes]) -> bytes:
        """The text with other letters in the place of spans, of which those within another one are left out."""
        parts, at = [], 0
        for span, new in sorted(changes):
            if span.first >= at:
                parts += [*self.tokens[at : span.first], new]
                at = max(at, span.last)
        return b"".join((*parts, *self.tokens[at:]))

    @property
    def groups(self) -> list[Span]:
        """Brackets with all that is in them; the inner ones first."""
        if "group" not in self._spans:
            stack, found = [], []
            for index, token in enumerate(self.tokens):
                if token in _CLOSING:
                    stack.append(index)
                elif stack and token == _CLOSING[self.tokens[stack[-1]]]:
                    found.append(Span(stack.pop(), index + 1))
            self._spans["group"] = found
        return self._spans["group"]

    def groups_of(self, opening: bytes) -> Iterator[Span]:
        return (group for group in self.groups if self.tokens[group.first] == opening)


@lru_cache(maxsize=256)
def read(text: bytes) -> Text:
    """The text as tokens, which together are the text."""
    return Text(_TOKEN.findall(text))


# --- spans ---------------------------------------------------------------------------------------------------


def _words(text: Text) -> Iterator[Span]:
    return (Span(index, index + 1) for index, token in enumerate(text.tokens) if not token.isspace())


def _names(text: Text) -> Iterator[Span]:
    return (Span(index, index + 1) for index, token in enumerate(text.tokens) if _NAME.match(token))


def _literals(text: Text) -> Iterator[Span]:
    return (Span(index, index + 1) for index, token in enumerate(text.tokens) if re.match(rb'[\d"]', token))


def _types(text: Text) -> Iterator[Span]:
    """Names of types, some with the asterisk behind them."""
    for index, token in enumerate(text.tokens):
        if token in _TYPES:
            yield Span(index, index + 1)
            behind = [at for at in range(index + 1, min(index + 3, len(text.tokens))) if text.tokens[at] == b"*"]
            yield from (Span(index, at + 1) for at in behind[:1])


def _operands(text: Text) -> Iterator[Span]:
    """A name or a number with the brackets that follow it, and all between brackets."""
    ends = {group.first: group.last for group in text.groups if text.tokens[group.first] in (b"(", b"[")}
    for index, token in enumerate(text.tokens):
        if _NAME.match(token) or token[:1].isdigit():
            end = index + 1
            while end in ends:
                end = ends[end]
            yield Span(index, end)
    yield from (Span(first + 1, last - 1) for first, last in ends.items() if last - first > 2)


def _arguments(text: Text) -> Iterator[Span]:
    """What commas part between brackets."""
    inner = {group.first: group.last for group in text.groups}
    for opening in (b"(", b"[", b"<<<"):
        for group in text.groups_of(opening):
            begin = at = group.first + 1
            while at < group.last - 1:
                if text.tokens[at] == b",":
                    yield Span(begin, at)
                    begin = at + 1
                at = inner.get(at, at + 1)
            yield Span(begin, group.last - 1)


def _statements(text: Text) -> Iterator[Span]:
    """What ends with a semicolon or with a block, both in functions and outside; that of a `for` is one, too."""
    ends = {group.first: group.last for group in text.groups}
    for block in (Span(-1, len(text.tokens) + 1), *text.groups_of(b"{")):
        begin = at = block.first + 1
        while at < block.last - 1:
            token = text.tokens[at]
            following = ends.get(at, at + 1)
            if token == b";" or token == b"{":
                yield Span(begin, following)
                begin = following
            at = following


def _functions(text: Text) -> Iterator[Span]:
    return (span for span in text.spans("statement") if b"__global__" in text.tokens[span.first : span.last])


def _directives(text: Text) -> Iterator[Span]:
    return (Span(index, index + 1) for index, token in enumerate(text.tokens) if token.lstrip()[:1] == b"#")


def _comments(text: Text) -> Iterator[Span]:
    return (Span(index, index + 1) for index, token in enumerate(text.tokens) if token[:2] in (b"//", b"/*"))


_FINDERS: Final[Mapping[str, Callable[[Text], Iterator[Span]]]] = {
    "word": _words, "name": _names, "literal": _literals, "type": _types, "operand": _operands,
    "argument": _arguments, "statement": _statements, "block": lambda text: text.groups_of(b"{"),
    "function": _functions, "directive": _directives, "comment": _comments,
    "launch": lambda text: text.groups_of(b"<<<"), "extent": lambda text: text.groups_of(b"["),
}  # fmt: skip
_COMMON: Final = (
    *("word", "name", "literal", "literal", "type", "operand", "operand", "operand", "argument", "argument"),
    *("statement", "statement", "statement", "block", "function", "directive", "comment", "launch", "extent"),
)
"""Kinds, those more often of which there is more to be had."""


def _one(text: Text, kind: str, draw: random.Random) -> Span | None:
    """A span; one in or behind a kernel's begin more often than any other, which matters less."""
    found = text.spans(kind)
    kernels = text.spans("function")
    if kernels and draw.randrange(3):
        kernel = draw.choice(kernels)
        found = [span for span in found if kernel.first <= span.first < kernel.last] or found
    return draw.choice(found) if found else None


# --- what is done to spans -----------------------------------------------------------------------------------


def _gone(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    kind = draw.choice(_COMMON)
    spans = [span for _ in range(draw.choice((1, 1, 1, 3))) if (span := _one(text, kind, draw))]
    return text.with_other(*((span, b"") for span in spans))


def _twice(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """It stands there again, once or many times, or once more elsewhere."""
    kind = draw.choice(_COMMON)
    span = _one(text, kind, draw)
    if span is None:
        return text.of(Span(0, len(text.tokens)))
    own = text.of(span)
    if draw.randrange(2):
        comma = b"," if kind in ("argument", "operand") else b" "
        return text.with_other((span, comma.join([own] * draw.choice((2, 2, 3, 20, 300)))))
    place = _one(text, draw.choice((kind, "word")), draw) or span
    return text.with_other((Span(place.first, place.first), own + b" "))


def _exchanged(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    kind = draw.choice(_COMMON)
    first, second = _one(text, kind, draw), _one(text, draw.choice((kind, kind, draw.choice(_COMMON))), draw)
    if first is None or second is None:
        return _gone(text, others, draw)
    return text.with_other((first, text.of(second)), (second, text.of(first)))


def _replaced(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """By a span of the same kind, sometimes of another one, of this file or another one."""
    kind = draw.choice(_COMMON)
    other = read(draw.choice(others)) if others and draw.randrange(3) else text
    span, new = _one(text, kind, draw), _one(other, kind if draw.randrange(5) else draw.choice(_COMMON), draw)
    if span is None or new is None:
        return _gone(text, others, draw)
    return text.with_other((span, other.of(new)))


def _everywhere(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """One name becomes another one, or one that tools stumble over, wherever it stands."""
    names = text.spans("name")
    if not names:
        return _gone(text, others, draw)
    old = text.of(draw.choice(names))
    new = draw.choice((text.of(draw.choice(names)), _edge("name", draw), _edge("type", draw)))
    return text.with_other(*((span, new) for span in names if text.of(span) == old))


def _edge(kind: str, draw: random.Random) -> bytes:
    """A piece that may stand where a span of the kind does, at the edges of what can."""
    match kind:
        case "type":
            return draw.choice(pieces.TYPES)
        case "statement" | "block":
            return draw.choice((draw.choice(pieces.STATEMENTS), _assembly(draw)))
        case "function":
            return draw.choice(pieces.DECLARATIONS)
        case "directive":
            return b"\n" + _directive(draw) + b"\n"
        case "comment":
            return b"\n// cudalint: " + annotation(draw) + b"\n"
        case "launch":
            return b"<<<" + b", ".join(_number(draw) for _ in range(draw.choice((1, 2, 2, 3, 4, 6)))) + b">>>"
        case "extent":
            return b"[" + _number(draw) + b"]" * draw.choice((1, 1, 1, 2))
        case "name":
            return draw.choice((draw.choice(pieces.NAMES), draw.choice(_BUILTINS)))
        case "word":
            return draw.choice(pieces.WORDS)
        case _:
            return draw.choice((_number, _number, _literal, _expression))(draw)


def _edged(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    kind = draw.choice(_COMMON)
    span = _one(text, kind, draw)
    if span is None:
        span = _one(text, "statement", draw) or Span(0, 0)
        return text.with_other((Span(span.first, span.first), _edge(kind, draw) + b" "))
    if kind in ("statement", "function", "directive", "comment") and draw.randrange(3):
        span = Span(span.first, span.first)
    return text.with_other((span, b" " + _edge(kind, draw) + b" "))


def _number(draw: random.Random) -> bytes:
    return draw.choice(pieces.EXTENTS)


def _literal(draw: random.Random) -> bytes:
    return draw.choice(pieces.LITERALS)


def _expression(draw: random.Random, depth: int = 3) -> bytes:
    """Operators between lanes and numbers, most of them undefined somewhere."""
    if not depth or not draw.randrange(4):
        return draw.choice((draw.choice(pieces.LEAVES), _number(draw) or b"0"))
    first, second = _expression(draw, depth - 1), _expression(draw, depth - 1)
    if not draw.randrange(4):
        return b"%s(%s, %s)" % (draw.choice(_BUILTINS), first, second)
    form = draw.choice(pieces.OPERATIONS)
    return form.replace(b"@", first).replace(b"#", second)


def _assembly(draw: random.Random) -> bytes:
    """Inline PTX: an instruction that exists, with modifiers and operands that it may not have."""
    name = b".".join((draw.choice(pieces.PTX), *draw.sample(pieces.MODIFIERS, draw.randrange(5))))
    operands = b", ".join(draw.choice(pieces.PTX_OPERANDS) for _ in range(draw.randrange(6)))
    bound = b", ".join(
        b'"%s"(%s)' % (draw.choice((b"r", b"l", b"h", b"f", b"d", b"n", b"C", b"")), _expression(draw, 1))
        for _ in range(draw.randrange(5))
    )
    outputs = draw.choice((b"", b'"=r"(n)', b'"+l"(p)', b'"=f"(p[threadIdx.x])'))
    return b'asm volatile("%s %s;" : %s : %s : "memory");' % (name, operands, outputs, bound)


def annotation(draw: random.Random) -> bytes:
    """A comment for cudalint, of which most have the form that is asked for and numbers that nobody would write."""
    keys = draw.sample((b"block", b"grid", b"shared", b"n", b"cluster"), draw.choice((1, 2, 3)))
    size = draw.choice((b"dim3(@, @)", b"(@, @, @)", b"@", b"@", b"#"))
    launch = b"launch(%s)" % b", ".join(key + b" = " + size for key in keys)
    form = draw.choice((launch, launch, b"assume(# == #)", b"assume(n % @ == @, # < @)", *pieces.ANNOTATIONS))
    return _filled(form, draw)


def _filled(form: bytes, draw: random.Random) -> bytes:
    """With a number for each `@` and an expression for each `#`."""
    return re.sub(rb"[@#]", lambda mark: _number(draw) if mark[0] == b"@" else _expression(draw, 2), form)


def _directive(draw: random.Random) -> bytes:
    return draw.choice((draw.choice(pieces.DIRECTIVES), b"#define " + draw.choice(pieces.REDEFINITIONS)))


def _within(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """It becomes part of something larger, once or hundreds of times."""
    kind = draw.choice(("operand", "argument", "statement", "statement", "block", "function"))
    span = _one(text, kind, draw)
    if span is None:
        return _gone(text, others, draw)
    forms = {"operand": pieces.AROUND_OPERANDS, "argument": pieces.AROUND_OPERANDS, "function": pieces.AROUND_FUNCTIONS}
    inner, depth = text.of(span), draw.choice((1, 1, 1, 1, 2, 5, 40, 400))
    form = draw.choice(forms.get(kind, pieces.AROUND_STATEMENTS))
    if form.count(b"@") != 1:
        depth = min(depth, 5)
    form = form.replace(b"BUILTIN", draw.choice(_BUILTINS)).replace(b"OPERAND", _expression(draw, 1))
    for _ in range(depth):
        if len(inner) > MOST // 4:
            break
        inner = form.replace(b"@", inner)
    return text.with_other((span, inner))


def _as_macro(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A macro in its place, defined on top, in front of it, or never."""
    span = _one(text, draw.choice(("operand", "statement", "block", "type", "function")), draw)
    if span is None:
        return _gone(text, others, draw)
    body = b" ".join(text.of(span).split())
    name, definition = draw.choice(pieces.MACROS)
    definition = definition.replace(b"@", body)
    before = draw.choice((Span(0, 0), Span(span.first, span.first)))
    return text.with_other((before, b"\n" + definition + b"\n" + (name if before == span else b"")), (span, name))


def _calling(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A function that calls itself, or another one that calls it: in its body, as a template or in its launch."""
    kernels = text.spans("function")
    if not kernels:
        return _gone(text, others, draw)
    kernel = draw.choice(kernels)
    named = re.search(rb"(\w+)\s*\(([^()]*)\)\s*\{", text.of(kernel))
    if named is None:
        return _gone(text, others, draw)
    words = [re.findall(rb"\w+", parameter) for parameter in named[2].split(b",")]
    handed = b", ".join(each[-1] for each in words if each)
    form = draw.choice(pieces.CALLS)
    call = _filled(form.replace(b"KERNEL", named[1]).replace(b"HANDED", handed), draw)
    inside = [span for span in text.spans("statement") if kernel.first < span.first < kernel.last]
    place = draw.choice(inside) if inside and draw.randrange(3) else Span(kernel.last, kernel.last)
    wrapped = call if place.last < kernel.last else b"\nvoid host_of_it() { " + call + b" }\n"
    declared = b"template <int N>\n" if draw.randrange(4) == 0 else b""
    return text.with_other((Span(kernel.first, kernel.first), declared), (Span(place.last, place.last), wrapped))


def _mixed(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """The functions and declarations of two files in one, in another order, or all of them under one name."""
    other = read(draw.choice(others)) if others else text
    parts = [each.of(span) for each in (text, other) for span in _outermost(each)]
    draw.shuffle(parts)
    mixed = b"\n".join(parts[: draw.choice((5, 20, 1000))])
    return re.sub(rb"(__global__[^(){};]*?)\w+(?=\s*\()", rb"\1same", mixed) if draw.randrange(4) == 0 else mixed


def _outermost(text: Text) -> list[Span]:
    found: list[Span] = []
    for span in text.spans("statement"):
        if not found or span.first >= found[-1].last:
            found.append(span)
    return found


def _including(text: Text, others: Sequence[bytes], draw: random.Random) -> bytes:
    """A file that isn't there, isn't to be read, or is this one or its neighbour."""
    name = draw.choice(pieces.INCLUDED)
    line = draw.choice((b'#include "%s"', b"#include <%s>", b'#define H "%s"\n#include H', b'%%:include "%s"'))
    place = draw.choice((Span(0, 0), _one(text, "statement", draw) or Span(0, 0)))
    return text.with_other((Span(place.first, place.first), b"\n" + line % name + b"\n"))


Way = Callable[[Text, Sequence[bytes], random.Random], bytes]
_WAYS: Final[tuple[Way, ...]] = (
    *(_gone, _twice, _exchanged, _exchanged, _replaced, _replaced, _replaced, _everywhere),
    *(_edged, _edged, _edged, _edged, _edged, _within, _within, _within),
    *(_as_macro, _calling, _calling, _mixed, _including),
)


# --- the whole -----------------------------------------------------------------------------------------------


def mutant(text: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """The text, spoiled in one to eight places; `others` are what pieces are taken from."""
    for _ in range(draw.choice((1, 1, 2, 2, 3, 8))):
        text = draw.choice(_WAYS)(read(text), others, draw)[:MOST]
    return draw.choice(_LETTERS)(text, draw) if draw.randrange(8) == 0 else text


def _ends(text: bytes, draw: random.Random) -> bytes:
    ends = draw.choice(pieces.LINE_ENDS)
    return b"".join(line + draw.choice(ends) for line in text.split(b"\n"))


def _letters(text: bytes, draw: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(draw.choice((1, 3, 100))):
        at = draw.randrange(len(changed) + 1)
        changed[at : at + draw.randrange(2)] = draw.choice(pieces.LETTERS)
    return bytes(changed)


def _encoded(text: bytes, draw: random.Random) -> bytes:
    encoding = draw.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "utf-8-sig"))
    return text.decode("utf-8", "replace").encode(encoding)


def _cut(text: bytes, draw: random.Random) -> bytes:
    """A text that begins or ends somewhere."""
    at = draw.randrange(len(text) + 1)
    return draw.choice((text[:at], text[:at], text[at:], text[:at] + draw.choice(pieces.UNENDED)))


def _spliced(text: bytes, draw: random.Random) -> bytes:
    """Lines that go on behind a backslash, within words, comments, literals and directives."""
    splice = draw.choice((b"\\\n", b"\\\r\n", b"\\ \n", b"??/\n", b"\\\n\\\n\\\n", b"\\\r"))
    places = sorted(draw.randrange(len(text) + 1) for _ in range(draw.choice((1, 5, 200))))
    return splice.join(text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True))


def _on_one_line(text: bytes, draw: random.Random) -> bytes:
    return text.replace(b"\n", draw.choice((b" ", b"\\\n")))


def _unclosed(text: bytes, draw: random.Random) -> bytes:
    """Some of the brackets and what parts things aren't there."""
    return re.sub(rb"[][(){};,]", lambda found: b"" if draw.randrange(len(text) // 20 + 2) == 0 else found[0], text)


_LETTERS: Final = (_ends, _letters, _letters, _encoded, _cut, _cut, _spliced, _on_one_line, _unclosed)


def as_python(text: bytes, draw: random.Random) -> bytes:
    """A Python file that compiles and launches the CUDA, some of them spoiled themselves."""
    kernels = re.findall(rb"__global__[^;{}()]*?(\w+)\s*\(", text) or [b"k"]
    quote = draw.choice((b'r"""', b"r'''", b'"""', b"f'''", b"b'''", b"rf'''"))
    body = text if quote[:1] in b"r" else text.replace(b"\\", b"\\\\")
    literal = quote + b"\n" + body.replace(quote[-3:], b"") + b"\n" + quote[-3:]
    form = draw.choice(pieces.PYTHON).replace(b"NAME", draw.choice(kernels))
    written = draw.choice(pieces.CODINGS) + _filled(form, draw).replace(b"TEXT", literal)
    return mutant(written, (), draw) if draw.randrange(4) == 0 else written


def surroundings(draw: random.Random) -> dict[str, bytes]:
    """Files that say how a program is built and linted: each is missing, spoiled, or as it should be."""
    made = {name: draw.choice((content, mutant(content, (), draw))) for name, content in pieces.SURROUNDINGS.items()}
    configuration = _configuration(draw)
    made["cudalint.toml"] = draw.choice((made["cudalint.toml"], configuration, mutant(configuration, (), draw)))
    made["pyproject.toml"] = re.sub(rb"(?m)^\[", b"[tool.cudalint.", b"[tool.cudalint]\n" + _configuration(draw))
    return {name: content for name, content in made.items() if draw.randrange(3)}


def _configuration(draw: random.Random) -> bytes:
    """Some of the settings that there are, most with values that their schema allows."""
    schema = _schema()
    settings = draw.sample(sorted(schema["properties"].items()), draw.choice((1, 2, 5)))
    lines = [
        f"{name} = {_written(_value(each, schema, draw))}" for name, each in settings if name not in ("output", "jobs")
    ]
    return "\n".join(lines).encode() + b"\n"


@cache
def _schema() -> dict[str, Any]:
    text = resources.files("cudalint").joinpath("schemas/config.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


_STRANGE: Final[tuple[Any, ...]] = (
    0, -1, 2**63, 2**70, 1e308, float("nan"), float("-inf"), True, "", "\u202e", [], [[]], {}, {"a": {}},
)  # fmt: skip


def _value(schema: Mapping[str, Any], root: Mapping[str, Any], draw: random.Random) -> Any:
    if not draw.randrange(8):
        return draw.choice(_STRANGE)
    if "$ref" in schema:
        return _value(root["definitions"][schema["$ref"].rpartition("/")[2]], root, draw)
    if "anyOf" in schema and "type" not in schema:
        return _value(draw.choice(schema["anyOf"]), root, draw)
    if "enum" in schema:
        return draw.choice(schema["enum"])
    match schema.get("type"):
        case "array":
            return [_value(schema["items"], root, draw) for _ in range(draw.choice((0, 1, 2, 4, 50)))]
        case "object":
            free, known = schema.get("additionalProperties"), sorted(schema.get("properties", {}).items())
            fields = draw.sample(known, draw.randrange(len(known) + 1))
            fields += [(name, free) for name in draw.sample(pieces.PATTERNS, draw.randrange(4))] if free else []
            return {name: _value(each, root, draw) for name, each in fields}
        case "boolean":
            return bool(draw.randrange(2))
        case "number":
            return draw.choice((0, 1, 0.01, 1e-300, 2**40, 1e300))
        case _:
            texts = [text for text in schema.get("examples", ()) if isinstance(text, str)]
            return draw.choice((*texts, *pieces.PATTERNS, _expression(draw).decode("utf-8", "replace")))


def _written(value: Any) -> str:
    """The value in TOML."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(f"{json.dumps(name)} = {_written(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(_written(each) for each in value) + "]"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)

"""What the facts of a kernel of a header rest on, as a key: equal in all files that include it and
launch it in the same way.

That is its code and the code of all that it calls, as clang has it in this file and as it is written, what host code
hands to its launches and makes of the sizes in that, and the options. Where a line stands in code is not read of the
tree: the text of a function says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any, Final

from msgspec import Struct, field
from msgspec.msgpack import Encoder
from msgspec.structs import replace

from cudalint.frontend.source_text import source_text
from cudalint.host.executor.launching import HostLaunch
from cudalint.ir import nodes as ir
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_analysis import FileAnalysis
from cudalint.run.launched import Launched, NoKey, Reader
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.recorder import digest

_ENCODER: Final = Encoder(order="deterministic")
_PLACES: Final = frozenset({"where", "span", "volatile"})
_PLAIN: Final = (str, bytes, int, float, bool, type(None))


class Codes(Struct, eq=False):
    """The code of the functions of one file, each of which is read once."""

    options: AnalysisOptions
    _digests: dict[str, tuple[bytes, tuple[ir.FunctionRef, ...]]] = field(default_factory=dict)
    """By a function's key: of its code, and the functions that it names."""
    _lines: dict[str, list[str]] = field(default_factory=dict)
    _whole: bytes = b""

    def of(self, refs: Collection[ir.FunctionRef]) -> bytes:
        """Of functions and of all that they lead to."""
        seen: dict[str, None] = {}
        waiting = [*refs]
        found = []
        while waiting:
            ref = waiting.pop()
            if ref.key not in seen:
                seen[ref.key] = None
                own, named = self._own(ref)
                found.append(own)
                waiting += named
        return digest(b"".join(found))

    def of_options(self) -> bytes:
        if not self._whole:
            # What there was no time for is not kept.
            asked = replace(self.options, unsaved=(), only=(), kinds=frozenset(), time_limit=0.0)
            self._whole = digest(_ENCODER.encode((asked, sorted(self.options.kinds))))
        return self._whole

    def text(self, span: ir.Span) -> str:
        return "\n".join(self._text_lines(span.path)[span.line - 1 : span.end_line])

    def states(self, path: str) -> bool:
        """Whether a file states something in comments, which may be about any of its kernels."""
        return any("cudalint" in line for line in self._text_lines(path))

    def _text_lines(self, path: str) -> list[str]:
        if path not in self._lines:
            self._lines[path] = source_text(path, self.options).split("\n")
        return self._lines[path]

    def _own(self, ref: ir.FunctionRef) -> tuple[bytes, tuple[ir.FunctionRef, ...]]:
        known = self._digests.get(ref.key)
        if known is None:
            reader = _CodeReader()
            reader.read((ref.name, ref.usr, ref.kind, ref.templated, ref.is_user))
            function = ref.load()
            reader.read(function)
            if function is not None:
                spans = (function.span, *reader.spans)
                volatile = sorted(span for span in function.volatile if _is_within(span, function.span))
                reader.read([(tuple(span), self.text(span) if ref.is_user else "") for span in dict.fromkeys(spans)])
                reader.read([tuple(span) for span in volatile])
            known = self._digests[ref.key] = digest(to_bytes(repr(reader.parts))), tuple(reader.functions.values())
        return known


def _is_within(inner: ir.Span, outer: ir.Span) -> bool:
    return inner.path == outer.path and outer.line <= inner.line and inner.end_line <= outer.end_line


class _CodeReader:
    """Writes down one function, the parts of it that may be met twice where they are met first."""

    def __init__(self) -> None:
        self.parts: list[object] = []
        self.functions: dict[str, ir.FunctionRef] = {}
        self.spans: dict[ir.Span, None] = {}
        """Where the variables are declared that it uses."""
        self._met: dict[int, int] = {}
        self._kept: list[object] = []

    def read(self, value: Any) -> None:
        if isinstance(value, ir.Span):
            self.parts.append(tuple(value))
        elif isinstance(value, _PLAIN):
            self.parts += (type(value).__name__, value)
        elif isinstance(value, tuple | list):
            self.parts += ("(", len(value))
            for part in value:
                self.read(part)
        elif isinstance(value, Mapping):
            self.read(tuple(value.items()))
        elif isinstance(value, Set):
            self.parts += ("{", sorted(map(repr, value)))
        elif isinstance(value, ir.FunctionRef):
            self.functions.setdefault(value.key, value)
            self.parts += ("function", value.name, value.usr)
        elif isinstance(value, Struct):
            if isinstance(value, ir.Symbol | ir.RecordType) and self._is_known(value):
                return
            self._struct(value)
        elif not callable(value):
            raise NoKey

    def _is_known(self, value: object) -> bool:
        number = self._met.setdefault(id(value), len(self._met))
        is_new = number == len(self._kept)
        if is_new:
            self._kept.append(value)
        self.parts.append("new" if is_new else number)
        return not is_new

    def _struct(self, value: Struct) -> None:
        self.parts.append(type(value).__name__)
        for name in value.__struct_fields__:
            if not name.startswith("_") and name not in _PLACES:
                self.read(getattr(value, name))
        if isinstance(value, ir.Symbol):
            self.spans[value.span] = None
            self.read(value.initializer() if value.initializer is not None else None)


class _LaunchReader(Reader):
    """The launches, wherever in the file itself their values come from, and the functions that they hand over."""

    def __init__(self, analysis: FileAnalysis) -> None:
        super().__init__(analysis, analysis.unit.path, _nowhere)
        self._own = analysis.unit.path
        self.functions: list[ir.FunctionRef] = []

    def _span(self, span: ir.Span) -> None:
        if span.path == self._own:
            self._add("own", self._line(span.line), self._line(span.end_line))
        else:
            super()._span(span)

    def _open(self, value: object) -> None:
        if isinstance(value, ir.FunctionRef):
            self.functions.append(value)
            self._add("function", value.name, value.usr, value.kind, value.templated)
        else:
            super()._open(value)


def _nowhere(line: int) -> object | None:
    return None


def key_of(
    analysis: FileAnalysis, codes: Codes, ref: ir.FunctionRef, sites: Sequence[HostLaunch]
) -> tuple[bytes, Launched]:
    """Of one instantiation of a kernel under its launches, and what these were given. Where something stands in the
    file itself is not part of it: facts that name a place there are for no other file. Raises `NoKey`."""
    options = analysis.options
    if options.params or options.assumes or options.kernels or analysis.usage or codes.states(ref.span.path):
        raise NoKey  # What is stated may name what the including file defines.
    reader = _LaunchReader(analysis)
    going_on = {(span.path, span.line) for span in analysis.unfollowed}
    for site in sites:
        reader.read(replace(site, guards=()))
        reader.read(((site.span.path, site.span.line) in going_on, codes.text(site.span)))
    reader.read_guards(sites)
    amounts = analysis.opt_ins.amounts
    reader.read(tuple(amounts[ref.key]) if ref.key in amounts else None)
    if any(not site.shared.is_const or site.shared.value for site in sites):
        paths = {*analysis.opt_ins.paths, *(site.span.path for site in sites)}
        reader.read(any(map(analysis.opt_ins.is_named_in, sorted(paths))))
    reader.read_uses()
    given = reader.found()
    code = codes.of((ref, *analysis.unit.axioms, *reader.functions))
    needs = to_bytes(repr(analysis.needs.architecture))
    return digest(b"\0".join((codes.of_options(), code, to_bytes(given.key), needs, analysis.recorded.digest))), given

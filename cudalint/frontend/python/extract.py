"""From the bytes of a Python file to the texts of CUDA in it."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
import warnings
from collections.abc import Collection, Iterator
from functools import lru_cache

from msgspec import Struct

from cudalint.frontend.python.detect import LARGEST, seems_to_hold_kernels
from cudalint.frontend.python.host_code import declarations, host_function
from cudalint.frontend.python.libraries import Compiled, all_compiled
from cudalint.frontend.python.located import LocatedText, PlaceMap, PythonText, generated, joined
from cudalint.frontend.python.scopes import read_names
from cudalint.frontend.python.values import Unknown, Values, function_name


class PythonError(ValueError):
    """A Python file that can't be read; the message says where."""


class EmbeddedText(Struct, frozen=True, eq=False):
    """A text of CUDA in a Python file, followed by the launches that the file makes, as host code."""

    places: PlaceMap
    options: tuple[str, ...]
    """The compiler's, as the file spells them."""

    @property
    def data(self) -> bytes:
        return self.places.data


class UnreadableKernel(Struct, frozen=True):
    """A kernel whose source is computed when the program runs."""

    name: str
    line: int
    column: int
    end_line: int
    end_column: int
    reason: str


class Embedded(Struct, frozen=True):
    texts: tuple[EmbeddedText, ...] = ()
    unreadable: tuple[UnreadableKernel, ...] = ()


@lru_cache(maxsize=2)
def embedded_kernels(data: bytes) -> Embedded:
    """The kernels of a Python file; raises PythonError. A file that names no library of kernels isn't even parsed."""
    if b"\0" in data:
        raise PythonError("not a text file (it has a NUL byte)")
    if not seems_to_hold_kernels(data):
        return Embedded()
    if len(data) > LARGEST:
        raise PythonError(f"a Python file of more than {LARGEST // 1_000_000} MB is not read")
    python = _decoded(data)
    values = Values(python, read_names(_parsed(python.text)))
    try:
        found = list(all_compiled(values))
        texts = tuple(_embedded(group, values) for group in _distinct(found))
        return Embedded(texts, tuple(_unreadable(found, values)))
    except RecursionError:
        raise PythonError("expressions are nested too deeply") from None


def launches_of_files(data: bytes, kernels: Collection[str]) -> str:
    """The launches that a Python file makes of kernels of these names whose source it reads from elsewhere, as host
    code of CUDA, each in its line; nothing where the file can't be read."""
    if b"\0" in data or len(data) > LARGEST:
        return ""
    try:
        values = Values(_decoded(data), read_names(_parsed(_decoded(data).text)))
        lines: dict[int, str] = {}
        launches = [each for one in all_compiled(values) if one.text is None for each in one.launches]
        for number, launch in enumerate(each for each in launches if each.kernel in kernels):
            with contextlib.suppress(Unknown):
                line = launch.call.lineno
                lines[line] = f"{lines.get(line, '')} {host_function(launch, number, values)}"
    except (PythonError, RecursionError):
        return ""
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


def _decoded(data: bytes) -> PythonText:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        bom = 3 if encoding == "utf-8-sig" else 0
        return PythonText(data.decode(encoding), encoding.removesuffix("-sig"), bom)
    except (SyntaxError, LookupError, UnicodeError) as error:
        # A `coding:` may name any codec, of which some aren't of texts, and some raise errors of their own.
        named = f" ({error.msg})" if isinstance(error, SyntaxError) and "unknown" in error.msg else ""
        raise PythonError(f"no text in UTF-8 or in the encoding that a `coding:` comment names{named}") from None


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # What Python thinks of the escapes in the file is not for us to say.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        where = f" (line {error.lineno}, column {error.offset})" if error.lineno else ""
        raise PythonError(f"not Python 3: {error.msg}{where}") from None
    except (RecursionError, MemoryError):
        raise PythonError("expressions are nested too deeply") from None
    except ValueError as error:
        raise PythonError(str(error)) from None


def _distinct(found: list[Compiled]) -> list[list[Compiled]]:
    """Calls that compile one text in one way are one: the kernels of a source are often asked for one by one."""
    groups: dict[object, list[Compiled]] = {}
    for compiled in found:
        if compiled.text is not None and compiled.text.text.strip():
            key = (compiled.text.text, compiled.text.starts[:1], compiled.options)
            groups.setdefault(key, []).append(compiled)
    return list(groups.values())


def _embedded(group: list[Compiled], values: Values) -> EmbeddedText:
    first = group[0]
    assert first.text is not None
    start, end = values.range_of(first.call)
    parts = [generated(f"{declarations()}\n", start, end), first.text, generated("\n", start, end)]
    launches = [launch for compiled in group for launch in compiled.launches]
    for number, launch in enumerate(launches):
        try:
            parts.append(generated(f"{host_function(launch, number, values)}\n", *values.range_of(launch.call)))
        except Unknown:
            continue
    text = joined(parts)
    clean = LocatedText(text.text.replace("\0", " "), text.starts, text.ends)
    return EmbeddedText(PlaceMap(clean, values.python), first.options)


def _unreadable(found: list[Compiled], values: Values) -> Iterator[UnreadableKernel]:
    for compiled in found:
        if compiled.text is None:
            start, _ = values.range_of(compiled.call)
            _, end = values.range_of(compiled.call.func)
            place = values.python.position(start) + values.python.position(end)
            library = function_name(compiled.call.func)
            reason = f"the source that `{library}` gets is not in sight: it is computed when the program runs"
            yield UnreadableKernel(compiled.kernel or library, *place, reason)

"""What a kernel reaches in its sources: the declarations that it names, directly or through others.

`cudalint confirm` compiles a kernel without the host code around it. The answer is given as the pieces of each file
that may go, so that everything that stays keeps its line and column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from clang.cindex import Cursor, CursorKind, SourceRange
from msgspec import Struct, field

from cudalint.frontend.parse import ParsedFile
from cudalint.system.disk import recorder as disk

_CONTAINERS: Final = frozenset({CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL})
_USING: Final = frozenset({CursorKind.USING_DIRECTIVE, CursorKind.NAMESPACE_ALIAS})
_CLASSES: Final = frozenset(
    {
        CursorKind.STRUCT_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.UNION_DECL,
        CursorKind.CLASS_TEMPLATE,
        CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
    }
)
_FUNCTIONS: Final = frozenset(
    {
        CursorKind.FUNCTION_DECL,
        CursorKind.FUNCTION_TEMPLATE,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
    }
)
_DEVICE_ATTRIBUTES: Final = frozenset({CursorKind.CUDADEVICE_ATTR, CursorKind.CUDAGLOBAL_ATTR})


class Include(Struct, frozen=True):
    """An `#include` of one of the project's own files."""

    line: int
    included: str
    """The path of the file that it brought in."""


class FileSlice(Struct):
    """One of the project's files, and what of it a kernel does not need."""

    path: str
    unneeded: list[tuple[int, int]] = field(default_factory=list)
    """Byte ranges, from the first to behind the last byte."""
    includes: list[Include] = field(default_factory=list)


class Slice(Struct, frozen=True):
    """A kernel with all that it reaches."""

    qualified_name: str
    """With its namespaces, without template arguments."""
    mangled_name: str
    is_template: bool
    files: tuple[FileSlice, ...]
    """The file itself first, then the headers that it includes."""


class NoSuchKernel(LookupError):
    """No definition of a kernel stands at the place."""


def kernel_slice(parsed: ParsedFile, path: str, line: int, column: int) -> Slice:
    """The slice of the kernel whose name stands at a place (columns count bytes, from 1)."""
    pieces = list(_pieces(parsed))
    kernels = [p for p in pieces if _name_place(p.cursor) == (path, line, column)]
    if not kernels:
        raise NoSuchKernel(f"no kernel is defined at {path}:{line}:{column}")
    reach = _Reach(pieces)
    for kernel in kernels:
        reach.enter(kernel.cursor)
    reach.run()
    files = _files(parsed)
    for piece in pieces:
        if piece.path in files and piece.key not in reach.kept:
            files[piece.path].unneeded.append((piece.start, piece.end))
    kept = [p for p in pieces if p.key in reach.kept]
    for file in files.values():
        file.unneeded = list(_outside(file.unneeded, [(p.start, p.end) for p in kept if p.path == file.path]))
        file.unneeded += reach.host_parts(file.path)
    cursor = kernels[0].cursor
    is_template = cursor.kind == CursorKind.FUNCTION_TEMPLATE
    return Slice(_qualified_name(cursor), cursor.mangled_name, is_template, tuple(files.values()))


class _Piece(Struct, frozen=True, eq=False):
    """A declaration outside of functions and classes."""

    cursor: Cursor
    path: str
    start: int
    end: int

    @property
    def key(self) -> tuple[str, int]:
        return (self.path, self.cursor.extent.start.offset)


def _pieces(parsed: ParsedFile) -> Iterator[_Piece]:
    """All that the user's files declare. Instantiations share the place of their template."""
    waiting = [iter(parsed.tu.cursor.get_children())]
    while waiting:
        cursor = next(waiting[-1], None)
        if cursor is None:
            waiting.pop()
            continue
        file = cursor.location.file
        if file is None or not parsed.is_user(file.name):
            continue
        children = list(cursor.get_children()) if cursor.kind in _CONTAINERS else []
        if len(children) == 1 and children[0].extent.end == cursor.extent.end:
            # `extern "C" void f() { }`, without braces of its own: the words before go with the declaration.
            yield _Piece(children[0], file.name, *_range(cursor.extent))
        elif children:
            waiting.append(iter(children))
        elif cursor.kind.is_declaration() or cursor.kind in _USING:
            begin, end = _range(cursor.extent)
            yield _Piece(cursor, file.name, begin, end)


def _range(extent: SourceRange) -> tuple[int, int]:
    return extent.start.offset, extent.end.offset


def _name_place(cursor: Cursor) -> tuple[str, int, int] | None:
    if cursor.kind not in _FUNCTIONS or not cursor.is_definition() or cursor.location.file is None:
        return None
    return (cursor.location.file.name, cursor.location.line, cursor.location.column)


def _qualified_name(cursor: Cursor) -> str:
    names = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        if parent.kind != CursorKind.LINKAGE_SPEC and parent.spelling and "(" not in parent.spelling:
            names.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(reversed(names))


class _Reach:
    """Follows names from declaration to declaration."""

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        self.kept: set[tuple[str, int]] = set()
        self._pieces = list(pieces)
        self._by_name: dict[str, list[_Piece]] = {}
        self._by_key: dict[tuple[str, int], list[_Piece]] = {}
        self._waiting: list[Cursor] = []
        self._seen: set[int] = set()
        self._classes: list[Cursor] = []
        self._members: set[tuple[str, int]] = set()
        """The places of methods that something names."""
        for piece in self._pieces:
            self._by_name.setdefault(_plain_name(piece.cursor), []).append(piece)
            self._by_key.setdefault(piece.key, []).append(piece)
            if piece.cursor.kind in _USING and not _names_std(piece.cursor):
                self.kept.add(piece.key)

    def enter(self, cursor: Cursor) -> None:
        """Keeps a declaration, all others of its name that device code can see, and what they reach."""
        top = _outermost(cursor)
        if top is None or top.location.file is None:
            return
        if cursor.kind in _FUNCTIONS and cursor.location.file is not None:
            self._members.add((cursor.location.file.name, cursor.location.offset))
        key = (top.location.file.name, top.extent.start.offset)
        if key not in self._by_key:
            return
        self._keep(key)
        for piece in self._by_name.get(_plain_name(top), ()):
            if piece.cursor.kind not in _FUNCTIONS or _for_device(piece.cursor):
                self._keep(piece.key)
        self._follow(cursor)

    def _keep(self, key: tuple[str, int]) -> None:
        if key in self.kept:
            return
        self.kept.add(key)
        for piece in self._by_key[key]:
            self._follow(piece.cursor)

    def _follow(self, cursor: Cursor) -> None:
        if cursor.hash not in self._seen:
            self._seen.add(cursor.hash)
            self._waiting.append(cursor)

    def run(self) -> None:
        while self._waiting:
            cursor = self._waiting.pop()
            if cursor.kind in _CLASSES:
                self._classes.append(cursor)
                self._methods_elsewhere(cursor)
            for node in _nodes(cursor):
                for target in _named(node):
                    self.enter(target)

    def _methods_elsewhere(self, record: Cursor) -> None:
        """Methods of a class that are defined outside of it."""
        for piece in self._pieces:
            if piece.cursor.kind in _FUNCTIONS and piece.cursor.semantic_parent == record and _for_device(piece.cursor):
                self._keep(piece.key)

    def host_parts(self, path: str) -> list[tuple[int, int]]:
        """The bodies of methods of kept classes that only the host calls, and that nothing kept names."""
        found: list[tuple[int, int]] = []
        for record in self._classes:
            for method in record.get_children():
                file = method.location.file
                if file is None or file.name != path or not _is_host_method(method):
                    continue
                if (file.name, method.location.offset) not in self._members:
                    found.append(_range(method.extent))
        return found


def _nodes(cursor: Cursor) -> Iterator[Cursor]:
    """All nodes below a declaration but the methods of a class that only the host can call."""
    waiting = [cursor]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in node.get_children() if not _is_host_method(child)]


def _named(node: Cursor) -> Iterator[Cursor]:
    """The declarations that a node names."""
    if node.kind == CursorKind.OVERLOADED_DECL_REF:
        from clang.cindex import conf

        for index in range(conf.lib.clang_getNumOverloadedDecls(node)):
            yield conf.lib.clang_getOverloadedDecl(node, index)
        return
    target = node.referenced
    if target is None or target == node or target.kind == CursorKind.TRANSLATION_UNIT:
        return
    yield target
    definition = target.get_definition()
    if definition is not None and definition != target:
        yield definition


def _outermost(cursor: Cursor) -> Cursor | None:
    """The declaration outside of functions and classes in which a declaration is written."""
    current = cursor
    for _ in range(64):
        parent = current.lexical_parent or current.semantic_parent
        if parent is None:
            return None
        if parent.kind in _CONTAINERS or parent.kind == CursorKind.TRANSLATION_UNIT:
            return current
        current = parent
    return None


def _plain_name(cursor: Cursor) -> str:
    return str(cursor.spelling).partition("<")[0]


def _for_device(function: Cursor) -> bool:
    if any(child.kind in _DEVICE_ATTRIBUTES for child in function.get_children()):
        return True
    # Clang counts constexpr functions as both; the bindings of 18 don't tell, so that the tokens have to.
    return "constexpr" in [token.spelling for token, _ in zip(function.get_tokens(), range(12), strict=False)]


def _is_host_method(cursor: Cursor) -> bool:
    return cursor.kind in (_FUNCTIONS - {CursorKind.FUNCTION_DECL}) and (
        cursor.is_definition()
        and cursor.semantic_parent is not None
        and cursor.semantic_parent.kind in _CLASSES
        and not cursor.is_default_method()
        and not _for_device(cursor)
    )


def _names_std(cursor: Cursor) -> bool:
    return any(child.spelling.partition("::")[0] == "std" for child in cursor.get_children())


def _files(parsed: ParsedFile) -> dict[str, FileSlice]:
    """The user's files that were parsed, the main one first."""
    files = {parsed.path: FileSlice(parsed.path)}
    for inclusion in parsed.tu.get_includes():
        if inclusion.source is None or inclusion.include is None:
            continue  # A header that was not found.
        source, included = inclusion.source.name, inclusion.include.name
        if not parsed.is_user(included) or not disk.is_file(included):
            continue
        if included not in files:
            files[included] = FileSlice(included)
        if source in files:
            files[source].includes.append(Include(inclusion.location.line, included))
    return files


def _outside(pieces: Iterable[tuple[int, int]], kept: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces that no kept one overlaps: declarations nest (`typedef struct { } T`) and share a start."""
    for start, end in pieces:
        if not any(start < other_end and other_start < end for other_start, other_end in kept):
            yield start, end

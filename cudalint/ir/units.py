"""The kernel IR: files, as the front end gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec import Struct, field

from cudalint.ir.nodes import Expr, FunctionRef
from cudalint.reasons import Problem


class TemplateHead(Struct, frozen=True):
    """A kernel template of which nothing in its file is an instance, or one of host code that comes to launch such."""

    usr: str
    namespaces: tuple[str, ...]
    """Those that it is in, from the outermost one on."""
    name: str
    """From there, with the classes that it is in."""
    plain_name: str
    text: str
    """From the word `template` on, with its body."""
    file: str = ""
    """The text of the header that it stands in; nothing for one in the file itself."""
    launches: tuple[str, ...] = ()
    """The USRs of the kernel templates that an instance of host code makes instances of."""


class SourceText(NamedTuple):
    """A file's text as it is compiled, of which each character is a byte: with blanks for what conditions leave out."""

    path: str
    text: str


class Wanted(Struct, frozen=True):
    """The launches in question, as where a file is looked into for the sake of another one."""

    kernels: frozenset[str]
    """The names of kernels."""
    launching: frozenset[str] = frozenset()
    """The names of functions of the other file that launch them."""

    def has(self, name: str) -> bool:
        return name in self.kernels or name in self.launching


class Unit(Struct, eq=False):
    """One parsed file: what the rest of the program asks the front end for."""

    path: str
    problems: tuple[Problem, ...]
    kernels: tuple[FunctionRef, ...]
    """Every `__global__` definition of the file and of the user's headers that it includes; for a template, its
    pattern (instantiations are reached through launches)."""
    host_functions: tuple[FunctionRef, ...]
    """Host function definitions of the file and the user's headers, in source order, without template patterns."""
    host_patterns: tuple[FunctionRef, ...] = ()
    """Patterns of host function templates that launch kernels."""
    axioms: tuple[FunctionRef, ...] = ()
    """Functions that state what holds for all kernels of the file."""
    instantiations: Callable[[str], tuple[FunctionRef, ...]] = field(default=lambda key: ())
    """For the key of a kernel template's pattern: instantiations named in the file other than by visible launches."""
    constant: Callable[[str], Expr | None] = field(default=lambda usr: None)
    """For the USR of a constant that the file defines: what it is."""
    may_launch: Callable[[FunctionRef, Wanted], bool] = field(default=lambda ref, wanted: ref.has_launch())
    """Whether a function of the file may launch a kernel in question."""
    stand_ins: Callable[[], tuple[str, ...]] = field(default=tuple)
    """The headers of libraries, by the names that the user's files include, that were read as stand-ins."""
    texts: Callable[[], Iterable[SourceText]] = field(default=tuple)
    """The file and the user's headers that it includes."""
    texts_left_out: Callable[[], Iterable[SourceText]] = field(default=tuple)
    """Those of them of which conditions leave out launches: with these, and without what there is in their place."""

"""The texts of CUDA that a file holds: the file itself, or the string literals of a Python program.

This is the only place that knows of the difference; what comes after it sees texts, and places in the user's file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts import FileFacts, Gap, KernelFacts, Place, Resources
from cudalint.frontend.compile_commands import options_from_arguments
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.python.detect import is_python
from cudalint.frontend.python.located import PlaceMap
from cudalint.frontend.reading import SourceError, read_source
from cudalint.options.annotations import Annotation, Malformed, SourceAnnotations, read_annotations
from cudalint.system.disk.border import border_around
from cudalint.system.disk.encoding import to_bytes, to_text

if TYPE_CHECKING:
    from cudalint.frontend.python.extract import Embedded, EmbeddedText, UnreadableKernel


class CudaText(Struct, frozen=True):
    data: bytes
    places: PlaceMap | None = None
    """Where it stands in the file; None for the file itself."""
    options: ParseOptions | None = None
    """How the file says that it is compiled."""

    @property
    def line(self) -> int:
        return self.places.span(0, 0)[0] if self.places is not None else 1


class CudaTexts(Struct, frozen=True):
    path: str
    texts: tuple[CudaText, ...]
    unreadable: tuple[UnreadableKernel, ...] = ()

    def together(self, parts: Iterable[FileFacts]) -> FileFacts:
        """The facts of all texts as those of their file."""
        known = [FileFacts(self.path, "ok", sources={self.path: self.path}), *parts]
        return FileFacts(
            self.path,
            "partial" if any(part.status == "partial" for part in known) else "ok",
            tuple(dict.fromkeys(problem for part in known for problem in part.problems)),
            (*(kernel for part in known for kernel in part.kernels), *map(self._facts, self.unreadable)),
            {path: shown for part in known for path, shown in part.sources.items()},
            frozenset(pair for part in known for pair in part.parameters),
            tuple(dict.fromkeys(failure for part in known for failure in part.failures)),
            next((part.host for part in known if part.host is not None), None),
            tuple(dict.fromkeys(name for part in known for name in part.stand_ins)),
        )

    def _facts(self, kernel: UnreadableKernel) -> KernelFacts:
        """A kernel of which only the existence is known."""
        place = Place(self.path, kernel.line, kernel.column, kernel.end_line, kernel.end_column)
        gap = Gap(self.path, kernel.line, kernel.reason)
        return KernelFacts(kernel.name, kernel.name, place, place, (), (), Resources(None), gaps=(gap,))


def cuda_texts(path: str, unsaved: str | None = None) -> CudaTexts:
    """What there is to analyse in a file, or in `unsaved` in its place; raises SourceError."""
    data = read_source(path) if unsaved is None else to_bytes(unsaved)
    if not is_python(path):
        return CudaTexts(path, (CudaText(data),))
    embedded = _embedded(path, data)
    texts = tuple(CudaText(text.data, text.places, _options(path, text)) for text in embedded.texts)
    return CudaTexts(path, texts, embedded.unreadable)


def annotations_in(path: str, text: str) -> SourceAnnotations:
    """The annotations of a file's CUDA, at their places in the file."""
    if not is_python(path):
        return read_annotations(text)
    good: dict[Annotation, None] = {}
    bad: dict[Malformed, None] = {}
    for embedded in _embedded(path, to_bytes(text)).texts:
        found = read_annotations(to_text(embedded.data))
        good |= dict.fromkeys(_placed(annotation, embedded.places) for annotation in found.annotations)
        bad |= dict.fromkeys(_placed_malformed(annotation, embedded.places) for annotation in found.malformed)
    return SourceAnnotations(tuple(good), tuple(bad))


def _embedded(path: str, data: bytes) -> Embedded:
    # Whoever lints no Python file doesn't wait for what reads them.
    from cudalint.frontend.python.extract import PythonError, embedded_kernels

    try:
        return embedded_kernels(data)
    except PythonError as error:
        raise SourceError(f"{path}: {error}") from None


def _options(path: str, text: EmbeddedText) -> ParseOptions:
    folder = os.path.dirname(os.path.abspath(path))
    return options_from_arguments(("nvcc", *text.options), folder, border_around(path))


def _placed(annotation: Annotation, places: PlaceMap) -> Annotation:
    line, column = places.position(annotation.line, annotation.column)
    end_line, end_column = places.position(annotation.end_line, annotation.end_column)
    target, _ = places.position(annotation.target_line, 1)
    return replace(
        annotation, line=line, column=column, end_line=end_line, end_column=end_column, target_line=target
    )


def _placed_malformed(found: Malformed, places: PlaceMap) -> Malformed:
    line, column = places.position(found.line, found.column)
    end_line, end_column = places.position(found.end_line, found.end_column)
    return Malformed(found.message, line, column, end_line, end_column)

"""Which findings the `allow` annotations take away, and which annotations are of no use.

`allow` holds for findings on its line, `allow-kernel` for those of the kernel above or in which it stands, and
`allow-file` for those of its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.catalogue import hint
from cudalint.diagnostics import Diagnostic, Justification
from cudalint.facts import KernelFacts, Place
from cudalint.options.annotations import Annotation, Malformed, SourceAnnotations


class Finding(NamedTuple):
    """A diagnostic with the kernel in which it was found, if it is about one."""

    kernel: KernelFacts | None
    diagnostic: Diagnostic


class Suppression(Struct, frozen=True):
    """One rule that one annotation allows."""

    path: str
    annotation: Annotation
    rule: str
    """Code or name, as the annotation spells it."""

    @property
    def place(self) -> Place:
        a = self.annotation
        return Place(self.path, a.line, a.column, a.end_line, a.end_column)

    def covers(self, finding: Finding) -> bool:
        diagnostic = finding.diagnostic
        if self.rule.upper() != diagnostic.code and self.rule.lower() != diagnostic.name:
            return False
        if self.annotation.kind == "allow-kernel":
            kernel = finding.kernel
            return kernel is not None and _contains(kernel.place, self.path, self.annotation.target_line)
        if self.annotation.kind == "allow-file":
            return diagnostic.place.path == self.path
        return _contains(diagnostic.place, self.path, self.annotation.target_line)


class AnnotationReview(Struct, frozen=True):
    """What became of the annotations of one file."""

    path: str
    malformed: tuple[Malformed, ...]
    unused: tuple[Suppression, ...]


class Outcome(NamedTuple):
    kept: tuple[Diagnostic, ...]
    suppressed: tuple[Diagnostic, ...]
    """With their justification."""
    used: tuple[Suppression, ...]
    reviews: tuple[AnnotationReview, ...]


def suppress(
    findings: Sequence[Finding],
    kernels: Sequence[KernelFacts],
    sources: Mapping[str, SourceAnnotations],
    is_known: Callable[[str], bool],
    complete: bool,
) -> Outcome:
    """Takes away what the annotations of `sources` (by path) allow; `is_known` tells the names of rules.

    Where the file was not understood in full (`complete`), a finding or a kernel may only have been missed, so
    nothing is said about annotations that seem to be of no use.
    """
    suppressions = [entry for path, source in sources.items() for entry in _suppressions_in(path, source)]
    used: dict[int, Suppression] = {}
    kept: list[Diagnostic] = []
    suppressed: list[Diagnostic] = []
    for finding in findings:
        covering = {i: entry for i, entry in enumerate(suppressions) if entry.covers(finding)}
        used.update(covering)
        if covering:
            suppressed.append(_justified(finding.diagnostic, next(iter(covering.values()))))
        else:
            kept.append(finding.diagnostic)
    reviews = []
    for path, source in sources.items():
        malformed = [*source.malformed, *_unknown_names(path, source, is_known), *_unusable(path, kernels)]
        unused: list[Suppression] = []
        if complete:
            malformed += _without_kernel(path, source, kernels)
            unused += (entry for i, entry in enumerate(suppressions) if i not in used and entry.path == path)
        malformed.sort(key=lambda problem: (problem.line, problem.column))
        known = tuple(entry for entry in unused if is_known(entry.rule))
        reviews.append(AnnotationReview(path, tuple(malformed), known))
    return Outcome(tuple(kept), tuple(suppressed), tuple(used.values()), tuple(reviews))


def _justified(diagnostic: Diagnostic, suppression: Suppression) -> Diagnostic:
    return replace(diagnostic, justification=Justification(suppression.place, suppression.annotation.reason or ""))


def _suppressions_in(path: str, source: SourceAnnotations) -> Iterator[Suppression]:
    for annotation in source.annotations:
        if annotation.kind in ("allow", "allow-kernel", "allow-file"):
            for rule in annotation.arguments:
                yield Suppression(path, annotation, rule)


def _unknown_names(path: str, source: SourceAnnotations, is_known: Callable[[str], bool]) -> Iterator[Malformed]:
    for entry in _suppressions_in(path, source):
        if not is_known(entry.rule):
            yield _malformed(entry.annotation, f"no rule is called `{entry.rule}`; {hint(entry.rule)}")


def _unusable(path: str, kernels: Sequence[KernelFacts]) -> Iterator[Malformed]:
    """Those that say nothing about their kernel, once for all of its instantiations."""
    for found in dict.fromkeys(found for kernel in kernels for found in kernel.unusable):
        if found.place.path == path:
            yield Malformed(found.message, *found.place[1:])


def _without_kernel(path: str, source: SourceAnnotations, kernels: Sequence[KernelFacts]) -> Iterator[Malformed]:
    for annotation in source.annotations:
        if annotation.kind not in ("launch", "assume") or annotation.above_kernel:
            continue
        if not any(_contains(kernel.place, path, annotation.target_line) for kernel in kernels):
            message = f"`{annotation.kind}` stands neither above a kernel nor inside one"
            yield _malformed(annotation, message)


def _malformed(annotation: Annotation, message: str) -> Malformed:
    return Malformed(message, annotation.line, annotation.column, annotation.end_line, annotation.end_column)


def _contains(place: Place, path: str, line: int) -> bool:
    return place.path == path and place.line <= line <= place.end_line

"""What a user can have done at a place: edits that findings suggest, and annotations that say what the code doesn't."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.editor.analysing import KernelHover
from cudalint.editor.findings import shown, uri_of
from cudalint.editor.fixing import ALL_FIXES
from cudalint.editor.positions import Positions
from cudalint.facts import Place
from cudalint.frontend.python.detect import SUFFIX as PYTHON_SUFFIX
from cudalint.report.formats import wording
from cudalint.run.fixing.allowing import OF_ANNOTATIONS, comment_above, comment_for
from cudalint.source.lines import Lines

_REASON = "say here why this is fine"
Version = Callable[[str], int | None]
"""Of the document at a path that the editor holds; None for any other file."""


class Actions:
    """For one file."""

    def __init__(self, path: str, text: str, positions: Positions, version: Version) -> None:
        self._path, self._text = path, text
        self._positions, self._version = positions, version

    def of_findings(self, findings: Sequence[Diagnostic], kernels: Sequence[KernelHover]) -> Iterator[CodeAction]:
        """Edits first, those that are safe before the others; then comments that allow findings: on their lines, and in
        the whole kernel or file."""
        with_edits = [d for d in findings if d.suggestion is not None and d.suggestion.edits]
        seen: set[tuple[Edit, ...]] = set()
        for finding in sorted(with_edits, key=lambda d: d.suggestion is None or d.suggestion.applicability != "safe"):
            suggestion = finding.suggestion
            if suggestion is None or suggestion.edits in seen:
                continue
            seen.add(suggestion.edits)
            is_safe = suggestion.applicability == "safe"
            advice = wording.advice(suggestion)
            title = advice if is_safe else f"{advice} [look before you apply it]"
            yield self._action(title, suggestion.edits, finding, is_preferred=is_safe)
        for finding in findings:
            yield from self._allowing(finding)
        of_rules = {finding.code: finding for finding in findings if self._may_be_allowed(finding)}
        for finding in of_rules.values():
            yield from (action for kernel in kernels for action in self._allowing_in(kernel, finding))
            yield from self._allowing_everywhere(finding)

    def of_all_fixes(self, sets: Sequence[tuple[Edit, ...]]) -> Iterator[CodeAction]:
        """All safe edits in one action; none where there are none."""
        edits = [edit for edits in sets for edit in edits]
        if edits:
            title = f"Make all safe edits of cudalint in this file ({len(sets)})"
            yield self._action(title, edits, kind=ALL_FIXES)

    def of_kernel(self, kernel: KernelHover) -> Iterator[CodeAction]:
        """Annotations above a kernel."""
        if self._path.endswith(PYTHON_SUFFIX) or kernel.whole.path != self._path:
            return
        if kernel.launch is not None:
            title = f"State how `{kernel.name}` is launched"
            yield self._annotated(title, kernel, f"launch({kernel.launch})")
        for size in kernel.sizes:
            title = f"State what holds of `{size}` in `{kernel.name}`"
            yield self._annotated(title, kernel, f"assume({size} % 32 == 0)")

    def _allowing(self, finding: Diagnostic) -> Iterator[CodeAction]:
        """Nothing where no comment can stand."""
        if not self._may_be_allowed(finding):
            return
        edit = comment_above(self._path, self._text, finding.place.line, (finding.name,), _REASON)
        if edit is not None:
            yield self._action(f"Allow {finding.code} ({finding.name}) here, with a reason", [edit], finding)

    def _may_be_allowed(self, finding: Diagnostic) -> bool:
        """Whether a comment of this file can: not what is wrong with annotations themselves."""
        is_here = finding.place.path == self._path and not self._path.endswith(PYTHON_SUFFIX)
        return is_here and finding.code not in OF_ANNOTATIONS

    def _allowing_in(self, kernel: KernelHover, finding: Diagnostic) -> Iterator[CodeAction]:
        if kernel.whole.path == self._path:
            edit = comment_for("allow-kernel", self._path, self._text, kernel.whole.line, (finding.name,), _REASON)
            if edit is not None:
                title = f"Allow {finding.code} ({finding.name}) in all of `{kernel.name}`, with a reason"
                yield self._action(title, [edit], finding)

    def _allowing_everywhere(self, finding: Diagnostic) -> Iterator[CodeAction]:
        edit = comment_for("allow-file", self._path, self._text, 1, (finding.name,), _REASON)
        if edit is not None:
            title = f"Allow {finding.code} ({finding.name}) in all of this file, with a reason"
            yield self._action(title, [edit], finding)

    def _annotated(self, title: str, kernel: KernelHover, annotation: str) -> CodeAction:
        line = Lines(self._text).line(kernel.whole.line)
        indent = re.match(r"[ \t]*", line)
        end = "\r\n" if line.endswith("\r") else "\n"
        comment = f"{indent[0] if indent else ''}// cudalint: {annotation}{end}"
        place = Place(self._path, kernel.whole.line, 1, kernel.whole.line, 1)
        return self._action(title, [Edit(place, comment)], kind=CodeActionKind.RefactorRewrite)

    def _action(
        self,
        title: str,
        edits: Sequence[Edit],
        finding: Diagnostic | None = None,
        is_preferred: bool = False,
        kind: CodeActionKind | str = CodeActionKind.QuickFix,
    ) -> CodeAction:
        by_path: dict[str, list[TextEdit | Edit]] = {}
        changes = []
        for edit in edits:
            by_path.setdefault(edit.place.path, []).append(edit)
        for path in by_path:
            own = [TextEdit(self._positions.range_of(e.place), e.text) for e in edits if e.place.path == path]
            document = OptionalVersionedTextDocumentIdentifier(uri_of(path), self._version(path))
            changes.append(TextDocumentEdit(document, list(own)))
        return CodeAction(
            title=title,
            kind=kind,
            diagnostics=[shown(finding, self._positions)] if finding is not None else None,
            is_preferred=is_preferred or None,
            edit=WorkspaceEdit(document_changes=list(changes)),
        )

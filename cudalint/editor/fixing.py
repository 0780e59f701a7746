"""All safe edits of a file at once, as editors make them when a file is saved."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol.types import CodeActionContext, CodeActionKind, CodeActionTriggerKind

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.report.findings.choosing import disjoint, distinct_fixes

ALL_FIXES = "source.fixAll.cudalint"


def wants_all_fixes(context: CodeActionContext) -> bool:
    """Whether somebody asks for them by their kind, or looks for actions of any: not where an editor asks at each step
    of the cursor, since which of them hold together takes a while to find out."""
    if context.only:
        return is_of(ALL_FIXES, context.only)
    return context.trigger_kind != CodeActionTriggerKind.Automatic


def is_of(kind: CodeActionKind | str | None, wanted: Sequence[CodeActionKind | str]) -> bool:
    """Whether a kind of action is one of those, or below one of them: `refactor.rewrite` is a `refactor`."""
    name = _name(kind)
    return any(f"{name}.".startswith(f"{_name(each)}.") for each in wanted)


def _name(kind: CodeActionKind | str | None) -> str:
    return str(kind.value) if isinstance(kind, CodeActionKind) else str(kind)


def fixes_in(findings: Sequence[Diagnostic], path: str) -> tuple[tuple[Edit, ...], ...]:
    """The safe edits that change this file alone, those first that bring most, without such as meet one before."""
    fixes = [fix for fix in distinct_fixes(findings) if fix.is_safe]
    fixes = [fix for fix in fixes if all(edit.place.path == path for edit in fix.edits)]
    return tuple(fix.edits for fix in disjoint(fixes, lambda name: name))

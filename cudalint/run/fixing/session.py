"""Passes over files: edits are made, what they change is linted again, until there is nothing more to do.

Texts are kept in memory until the last pass is done: only what has been linted as it will stand on disk is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Edit
from cudalint.fixes.edits import Correspondence, apply_edits, fit
from cudalint.fixes.news import new_findings
from cudalint.report.findings.choosing import Fix, disjoint, distinct_fixes, paths_of
from cudalint.report.findings.results import CheckResult, Failure, FileReport
from cudalint.run.fixing.joint import JointJob, held
from cudalint.run.fixing.writing import Change, Grounds, write_together
from cudalint.run.runs import Configured, Lint, result_of, run_all
from cudalint.shortfalls import weight
from cudalint.system.disk.encoding import to_bytes, to_text
from cudalint.system.disk.regular import read_regular
from cudalint.system.processes.faults import described

MOST_PASSES = 10
"""After so many something goes in circles, and what is left is left."""

Texts = Mapping[str, str]
Shown = Callable[[CheckResult, Texts], CheckResult]
"""Leaves what the user wants to hear of, with the texts that are not on disk."""
Moved = Callable[[Sequence[Edit]], None]
"""Is given the edits of each pass before anything is linted again: what knows lines has to follow."""


class Fixed(Struct, frozen=True):
    """What has come of a run in which edits were made."""

    before: CheckResult
    result: CheckResult
    """What is left."""
    fixes: tuple[Fix, ...] = ()
    """In the order in which they were made. Places are those of the text that each was made in."""
    changes: Mapping[str, Change] = field(default_factory=dict)
    """The files that were changed, by their paths."""
    refused: tuple[Failure, ...] = ()
    """Files that are not to be written to, and why."""

    @property
    def texts(self) -> dict[str, str]:
        return {path: to_text(change.after) for path, change in self.changes.items()}


class _State(NamedTuple):
    """Reports and failures by the paths of the files that they are about."""

    reports: dict[str, FileReport]
    failures: dict[str, Failure]


class Session:
    """One run over some files."""

    def __init__(
        self,
        configured: Sequence[Configured],
        lint: Lint,
        target: str,
        failures: Sequence[Failure],
        shown: Shown,
        stdin: str | None = None,
    ) -> None:
        """`failures` are those of paths that could not be configured; `stdin` is the path by which a text goes that is
        not to be written."""
        self._stdin = stdin
        self._configured = {each.file.path: each for each in configured}
        self._lint, self._target, self._failures, self._shown = lint, target, tuple(failures), shown
        self._before: dict[str, bytes] = {}
        """What files were when edits were first wanted in them, by resolved path."""
        self._now: dict[str, str] = {}
        self._spelled: dict[str, dict[str, None]] = {}
        """What findings call them."""
        self._first = self._state = self._linted(configured)
        self._fixes: list[Fix] = []
        self._refused: dict[str, Failure] = {}

    def fix(self, unsafe: bool, grounds: Grounds, moved: Moved) -> Fixed:
        """Makes the edits that shown findings suggest, in memory."""
        before = result = self._shown(self._result(self._state), {})
        try:
            result = self._passed(result, unsafe, grounds, moved)
        except Exception as error:
            # What was made by then is as it was linted; the pass at fault has changed nothing.
            self._failures += (Failure("--fix", f"no more edits are made: {described(error)}"),)
            result = self._shown(self._result(self._state), self._texts())
        return Fixed(before, result, tuple(self._fixes), self._changes(), tuple(self._refused.values()))

    def _passed(self, result: CheckResult, unsafe: bool, grounds: Grounds, moved: Moved) -> CheckResult:
        """What is left of a result after all passes."""
        given_up: set[tuple[Edit, ...]] = set()
        for _ in range(MOST_PASSES):
            wanted = [fix for fix in distinct_fixes(result.diagnostics) if fix.is_safe or unsafe]
            wanted = [fix for fix in wanted if fix.edits not in given_up and self._may_be_made(fix, grounds)]
            chosen = disjoint(wanted, self._resolved)
            if not chosen:
                break
            made, state = self._made(chosen)
            given_up |= {fix.edits for fix in chosen} - {fix.edits for fix in made}
            if not made:
                continue
            edits = [edit for fix in made for edit in fix.edits]
            moved(edits)
            self._now |= self._with(edits)
            self._state = state
            self._fixes += made
            result = self._shown(self._result(state), self._texts())
        return result

    def write(self, fixed: Fixed) -> Fixed:
        """Writes what was changed. What can't be is as it was, and named among the failures."""
        unwritten: set[str] = set()
        failures: list[Failure] = []
        for group in self._groups():
            changes = {path: fixed.changes[path] for path in fixed.changes if self._resolved(path) in group}
            changes.pop(self._stdin or "", None)
            problem = write_together(changes)
            if problem is not None:
                unwritten |= group
                failures.append(Failure(*problem))
        if not unwritten:
            return fixed
        as_before = {path: self._first.reports[path] for path in self._touching(unwritten)}
        self._state = _State({**self._state.reports, **as_before}, self._state.failures)
        kept = {path: change for path, change in fixed.changes.items() if self._resolved(path) not in unwritten}
        self._now = {path: text for path, text in self._now.items() if path not in unwritten}
        result = self._shown(self._result(self._state), self._texts())
        made = tuple(fix for fix in fixed.fixes if not unwritten & set(paths_of(fix.edits, self._resolved)))
        return replace(
            fixed, result=replace(result, failures=(*result.failures, *failures)), fixes=made, changes=kept
        )  # fmt: skip

    # --- texts -----------------------------------------------------------------------------------------------

    def _resolved(self, path: str) -> str:
        """A text that has no file is known by the path that stands for it."""
        each = self._configured.get(path)
        return path if each is not None and each.file.text is not None else os.path.realpath(path)

    def _text(self, path: str) -> str:
        """The text of a file as it is by now."""
        resolved = self._resolved(path)
        self._spelled.setdefault(resolved, {})[path] = None
        if resolved not in self._now:
            each = self._configured.get(path)
            given = each.file.text if each is not None else None
            self._before.setdefault(resolved, read_regular(path) if given is None else to_bytes(given))
            self._now[resolved] = to_text(self._before[resolved])
        return self._now[resolved]

    def _texts(self) -> dict[str, str]:
        """By all the paths that findings have for them."""
        return {path: text for resolved, text in self._now.items() for path in self._spelled[resolved]}

    def _changes(self) -> dict[str, Change]:
        """By the first path of each."""
        found: dict[str, Change] = {}
        for resolved, text in self._now.items():
            change = Change(self._before[resolved], to_bytes(text))
            if change.before != change.after:
                found[next(iter(self._spelled[resolved]))] = change
        return found

    def _with(self, edits: Iterable[Edit]) -> dict[str, str]:
        """The texts that edits make of those that they change, by resolved path."""
        by_path: dict[str, list[Edit]] = {}
        for edit in edits:
            by_path.setdefault(self._resolved(edit.place.path), []).append(edit)
        return {path: apply_edits(self._now[path], own) for path, own in by_path.items()}

    def _groups(self) -> list[set[str]]:
        """Files that some fix changes together."""
        groups: list[set[str]] = []
        for fix in self._fixes:
            paths = set(paths_of(fix.edits, self._resolved))
            met = [group for group in groups if group & paths]
            groups = [group for group in groups if group not in met] + [paths.union(*met)]
        return groups

    # --- one pass --------------------------------------------------------------------------------------------

    def _may_be_made(self, fix: Fix, grounds: Grounds) -> bool:
        """Whether all its files may be written, and still have the lines that it is about."""
        for path in {edit.place.path for edit in fix.edits}:
            problem = grounds.problem_of(path) if path != self._stdin else None
            if problem is None:
                try:
                    self._text(path)
                except OSError as error:
                    problem = f"cannot be read: {error.strerror or error}"
            if problem is not None:
                self._refused[self._resolved(path)] = Failure(path, problem)
                return False
        return fit(fix.edits, self._text)

    def _made(self, chosen: Sequence[Fix]) -> tuple[list[Fix], _State]:
        """Which of some fixes hold when all of them are made, and what the files are like then."""
        made = self._held(chosen)
        while made:
            edits = [edit for fix in made for edit in fix.edits]
            state = self._linted_with(edits)
            worse = self._worse(state, edits, made)
            if not worse:
                return made, state
            made = [fix for fix in made if not worse & set(paths_of(fix.edits, self._resolved))]
        return [], self._state

    def _held(self, fixes: Sequence[Fix]) -> list[Fix]:
        """The fixes that hold together in all files whose findings suggest them."""
        wanted = {fix.edits for fix in fixes}
        owners = self._owners(wanted)
        asked: dict[str, tuple[tuple[Edit, ...], ...]] = {}
        while True:
            questions = {
                path: sets
                for path, own in owners.items()
                if (sets := tuple(fix.edits for fix in fixes if fix.edits in own & wanted)) and asked.get(path) != sets
            }
            jobs = [JointJob(self._lint.job(self._as_now(self._configured[path])), s) for path, s in questions.items()]
            dropped: set[tuple[Edit, ...]] = set()
            paths = list(questions)
            for index, value in run_all(held, jobs, self._lint.limits):
                kept = value if isinstance(value, frozenset) else frozenset()
                dropped |= set(questions[paths[index]]) - kept
                # What was found to hold by leaving others out needs no second look.
                asked[paths[index]] = tuple(edits for edits in questions[paths[index]] if edits in kept)
            if not dropped:
                return [fix for fix in fixes if fix.edits in wanted]
            wanted -= dropped

    def _owners(self, wanted: Collection[tuple[Edit, ...]]) -> dict[str, set[tuple[Edit, ...]]]:
        """The linted files in whose reports each set is suggested."""
        found: dict[str, set[tuple[Edit, ...]]] = {}
        for path, report in self._state.reports.items():
            suggested = {d.suggestion.edits for d in report.diagnostics if d.suggestion is not None}
            if suggested & set(wanted):
                found[path] = suggested & set(wanted)
        return found

    def _worse(self, state: _State, edits: Sequence[Edit], made: Sequence[Fix]) -> set[str]:
        """The edited files on account of which another file than those that suggested it has a finding that is new, or
        is no longer understood."""
        owners = self._owners({fix.edits for fix in made})
        edited = set(paths_of(edits, self._resolved))
        spelled = [e for edit in edits for e in self._in_all_spellings(edit)]
        same = Correspondence.of(spelled, self._text)
        worse: set[str] = set()
        for path in self._touching(edited):
            old, new = self._state.reports.get(path), state.reports.get(path)
            concerned = edited & self._concerning(path)
            if new is None or old is None:
                worse |= concerned
                continue
            is_less = new.status not in ("ok", old.status) or weight(new.failures) > weight(old.failures)
            is_new = path not in owners and new_findings(old.diagnostics, new.diagnostics, same)
            if is_less or is_new:
                worse |= concerned
        return worse

    def _in_all_spellings(self, edit: Edit) -> Iterator[Edit]:
        for path in self._spelled[self._resolved(edit.place.path)]:
            yield Edit(edit.place._replace(path=path), edit.text)

    # --- linting ---------------------------------------------------------------------------------------------

    def _linted(self, configured: Sequence[Configured]) -> _State:
        reports, failures = self._lint.reports(configured)
        return _State({report.path: report for report in reports}, {failure.path: failure for failure in failures})

    def _linted_with(self, edits: Sequence[Edit]) -> _State:
        """The state with edits made: files that they don't concern are as they were."""
        changed = self._with(edits)
        paths = self._touching(changed.keys())
        texts = {**self._now, **changed}
        again = self._linted([self._as_now(self._configured[path], texts) for path in paths])
        reports = {path: report for path, report in self._state.reports.items() if path not in paths}
        failures = {path: failure for path, failure in self._state.failures.items() if path not in paths}
        return _State({**reports, **again.reports}, {**failures, **again.failures})

    def _touching(self, resolved: Collection[str]) -> list[str]:
        """The linted files that some files are, or are included in."""
        return [path for path in self._state.reports if not self._concerning(path).isdisjoint(resolved)]

    def _concerning(self, path: str) -> set[str]:
        return {self._resolved(path), *self._state.reports[path].sources}

    def _as_now(self, each: Configured, texts: Texts | None = None) -> Configured:
        """A file with the texts of all that concerns it."""
        path, texts = each.file.path, self._now if texts is None else texts
        own = self._resolved(path)
        # Under another name clang would speak of a header by that one.
        headers = self._state.reports[path].sources
        others = [(shown, texts[header]) for header, shown in headers.items() if header in texts and header != own]
        text = texts.get(own, each.file.text)
        return each._replace(file=replace(each.file, text=text, is_optional=False), unsaved=tuple(sorted(others)))

    def _result(self, state: _State) -> CheckResult:
        return result_of(
            list(state.reports.values()), [*self._failures, *state.failures.values()], self._target
        )  # fmt: skip

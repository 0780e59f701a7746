"""The line behind a report that names the options which make edits, in tests of everything else that is said."""

from __future__ import annotations

import re

_NOTE = re.compile(
    r"^cudalint: note: \d+ findings? (?:has an edit|have edits): --show-fixes prints (?:it|them) as a diff, "
    r"--fix(?: --unsafe-fixes)? makes (?:it|them)\n",
    re.MULTILINE,
)


def without_edit_note(err: str) -> str:
    """What else stands in the standard error."""
    return _NOTE.sub("", err)

"""What the editor shows of work that takes a while: which file is at hand, and how many wait.

Only work that has gone on for a time is shown, so that typing shows nothing. The first analysis nearly always is: its
worker starts, and nothing is known of any kernel.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from itertools import count

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

_LONG = 0.5
"""Seconds of work after which the editor shows that it goes on."""


class Progress:
    """One at a time, for all files that are wanted together."""

    def __init__(self, server: LanguageServer, title: str, waiting: Callable[[], int]) -> None:
        """`waiting` says how many files wait behind the one at hand."""
        self._server, self._title, self._waiting = server, title, waiting
        self.is_understood = False
        """Whether the client shows such."""
        self._numbers = count(1)
        self._done, self._name = 0, ""
        self._showing: asyncio.Task[None] | None = None
        self._token: str | None = None
        """Of what the client has been told that it has begun."""

    def at(self, path: str) -> None:
        """Work on a file begins."""
        if not self.is_understood:
            return
        self._name = os.path.basename(path)
        if self._showing is None:
            self._showing = asyncio.ensure_future(self._show())
        elif self._token is not None:
            self._server.work_done_progress.report(
                self._token, lsp.WorkDoneProgressReport(message=self._message(), percentage=self._percentage())
            )

    def done(self) -> None:
        """Work on the file has ended."""
        self._done += 1
        if self._waiting():
            return
        self._done = 0
        if self._showing is not None:
            self._showing.cancel()
            self._showing = None

    async def _show(self) -> None:
        await asyncio.sleep(_LONG)
        progress, token = self._server.work_done_progress, f"{self._title}-{next(self._numbers)}"
        await progress.create_async(token)
        begin = lsp.WorkDoneProgressBegin(
            title=self._title, message=self._message(), percentage=self._percentage(), cancellable=False
        )
        progress.begin(token, begin)
        self._token = token
        try:
            await asyncio.Event().wait()
        finally:
            self._token = None
            progress.end(token, lsp.WorkDoneProgressEnd())
            progress.tokens.pop(token, None)

    def _total(self) -> int:
        return self._done + 1 + self._waiting()

    def _message(self) -> str:
        total = self._total()
        return self._name if total == 1 else f"{self._name} ({self._done + 1} of {total} files)"

    def _percentage(self) -> int | None:
        """Of one file nobody knows how far it is."""
        total = self._total()
        return None if total == 1 else 100 * self._done // total

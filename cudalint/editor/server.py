"""The language server: what an editor sends and asks for, and what it is sent."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from lsprotocol import types as lsp
from msgspec.structs import replace
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from cudalint import __version__
from cudalint.diagnostics import Diagnostic, Edit
from cudalint.editor.actions import Actions
from cudalint.editor.analysing import Analysed, Asked, answered
from cudalint.editor.documents import Document, Documents
from cudalint.editor.findings import SOURCE, everywhere, remarks, shown, uri_of
from cudalint.editor.fixing import ALL_FIXES, fixes_in, is_of, wants_all_fixes
from cudalint.editor.positions import Encoding, Positions, ranges_meet
from cudalint.editor.progress import Progress
from cudalint.editor.wishes import Wishes
from cudalint.frontend.python.detect import is_python, seems_to_hold_kernels
from cudalint.project.config import ConfigError
from cudalint.project.discovery import SourceFile
from cudalint.project.settings import FileSettings, Settings
from cudalint.report.findings.causes import with_causes_merged
from cudalint.report.findings.results import Failure, FileReport
from cudalint.report.findings.sources import SourceLines
from cudalint.run.job import CheckJob
from cudalint.run.limits import Lost
from cudalint.run.pool import StandingWorker
from cudalint.run.runs import Configured, Lint, result_of
from cudalint.run.serving import ABANDONED
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.regular import read_regular_text

_DELAY = 0.1
"""Seconds without a change after which a file is analysed."""
_IDLE = 0.4
"""Seconds after which edits are tried that nobody has asked for."""
_SUFFIXES = (".cu", ".cuh")
_JOBS_PER_WORKER = 1000
_MEGABYTES = 700
"""After which the worker is replaced by a fresh one."""
_NEEDED = ("cudalint.editor.analysing", "cudalint.run.analysis")
_FULL = lsp.TextDocumentSyncKind.Full


class Server:
    """One client's server. All but the analysis runs on one thread; the analysis is a process of its own."""

    def __init__(self, wishes: Callable[[Sequence[str]], Wishes]) -> None:
        """`wishes` reads options as the command line has them; what it raises is reported to the user of the editor."""
        self._wishes_of = wishes
        self._wishes = wishes(())
        self._documents = Documents()
        self._wanted: dict[str, None] = {}
        self._is_wanted = asyncio.Event()
        self._thread = ThreadPoolExecutor(1)
        self._worker: StandingWorker[Asked, Analysed] | None = None
        self._asked: dict[str, None] = {}
        """The documents of which somebody waits to hear which edits hold."""
        self._unwanted: threading.Event | None = None
        """While edits are tried: whether something else is wanted meanwhile."""
        self._published: dict[str, tuple[int | None, list[lsp.Diagnostic]]] = {}
        """What was published last of each file."""
        self._encoding: Encoding = "utf-16"
        self._work: asyncio.Task[None] | None = None
        self._refreshes_lenses = False
        # Whole texts are sent: the library cuts them into lines at other characters than editors do.
        self.server = LanguageServer("cudalint", __version__, text_document_sync_kind=_FULL)
        self._progress = Progress(self.server, SOURCE, lambda: len(self._wanted))
        self._register()

    def run(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """Serves until the client leaves."""
        try:
            self.server.start_io(stdin, stdout)
        finally:
            self.end()

    def end(self) -> None:
        """Ends the worker, whatever it is at."""
        if self._work is not None:
            self._work.cancel()
        if self._worker is not None:
            self._worker.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _register(self) -> None:
        def feature(name: str, method: Callable[[Any], Any], options: Any = None) -> None:
            # The library sets attributes of what it is given, which methods can't have.
            self.server.feature(name, options)(lambda params: method(params))

        feature(lsp.INITIALIZE, self._initialize)
        feature(lsp.INITIALIZED, self._initialized)
        feature(lsp.SHUTDOWN, self._shutdown)
        feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, self._configured)
        feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._files_changed)
        feature(lsp.TEXT_DOCUMENT_DID_OPEN, self._opened)
        feature(lsp.TEXT_DOCUMENT_DID_CHANGE, self._changed)
        feature(lsp.TEXT_DOCUMENT_DID_SAVE, self._saved)
        feature(lsp.TEXT_DOCUMENT_DID_CLOSE, self._closed)
        feature(lsp.TEXT_DOCUMENT_HOVER, self._hover)
        feature(lsp.TEXT_DOCUMENT_CODE_LENS, self._lenses, lsp.CodeLensOptions(resolve_provider=False))
        kinds = [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite, ALL_FIXES]

        async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
            return await self._actions(params)

        self.server.feature(
            lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds)
        )(actions)

    # --- the session -----------------------------------------------------------------------------------------

    def _initialize(self, params: lsp.InitializeParams) -> None:
        workspace = params.capabilities.workspace
        lens = workspace.code_lens if workspace is not None else None
        self._refreshes_lenses = bool(lens is not None and lens.refresh_support)
        window = params.capabilities.window
        self._progress.is_understood = bool(window is not None and window.work_done_progress)
        self._take_wishes(params.initialization_options)

    def _initialized(self, params: lsp.InitializedParams) -> None:
        encoding = self.server.server_capabilities.position_encoding
        self._encoding = encoding.value if isinstance(encoding, lsp.PositionEncodingKind) else "utf-16"
        self._work = asyncio.ensure_future(self._work_off())

    def _shutdown(self, params: None) -> None:
        self.end()

    def _configured(self, params: lsp.DidChangeConfigurationParams) -> None:
        self._take_wishes(params.settings)
        self._want(self._documents.by_uri.values())

    def _take_wishes(self, given: Any) -> None:
        """`{"arguments": ["--target", "h100"]}`, or the same under the name of the program."""
        if isinstance(given, dict) and isinstance(given.get(SOURCE), dict):
            given = given[SOURCE]
        arguments = given.get("arguments") if isinstance(given, dict) else None
        if arguments is None:
            return
        try:
            if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
                raise ValueError("`arguments` has to be a list of texts, as on the command line")
            self._wishes = self._wishes_of(arguments)
        except ValueError as error:
            self._show(f"the settings are not used: {error}", lsp.MessageType.Error)
            return
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def _show(self, message: str, kind: lsp.MessageType) -> None:
        self.server.window_show_message(lsp.ShowMessageParams(kind, f"cudalint: {message}"))

    # --- documents -------------------------------------------------------------------------------------------

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        path = to_fs_path(item.uri)
        if path is None or not _is_cuda(path, item.language_id, item.text):
            return
        document = Document(item.uri, path, item.text, item.version, 0.0)
        self._documents.by_uri[item.uri] = document
        self._want([document])

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        document = self._documents.by_uri.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            document.text = change.text
        document.version = params.text_document.version
        self._is_done_with(document)
        document.changed = asyncio.get_running_loop().time()
        self._want([document, *self._documents.resting_on(document)])

    def _saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Other files may have been saved with it, or changed meanwhile."""
        document = self._documents.by_uri.get(params.text_document.uri)
        if document is not None:
            self._want([document, *self._documents.resting_on(document)])

    def _files_changed(self, params: lsp.DidChangeWatchedFilesParams) -> None:
        self._want(self._documents.by_uri.values())

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        document = self._documents.by_uri.pop(params.text_document.uri, None)
        self._wanted.pop(params.text_document.uri, None)
        self._published.pop(params.text_document.uri, None)
        if document is not None:
            self._is_done_with(document)
            self._publish(document.about)
            self._want(self._documents.resting_on(document))

    # --- analysis --------------------------------------------------------------------------------------------

    def _want(self, documents: Iterable[Document]) -> None:
        for document in documents:
            self._wanted.pop(document.uri, None)
            self._wanted[document.uri] = None
        if self._wanted:
            self._is_wanted.set()
            if self._unwanted is not None and self._worker is not None:
                self._unwanted.set()
                self._worker.abandon()

    async def _work_off(self) -> None:
        """One file after the other, that which changed last first. What a file came to that changed meanwhile is
        dropped. Edits are tried when there is nothing else to do, or somebody asks for them."""
        loop = asyncio.get_running_loop()
        while True:
            self._is_wanted.clear()
            open_ = self._next_open()
            if self._wanted:
                document = self._documents.by_uri[next(reversed(self._wanted))]
                waits = document.changed + _DELAY - loop.time()
                if waits > 0:
                    await asyncio.sleep(waits)
                    continue
                del self._wanted[document.uri]
                self._progress.at(document.path)
                await self._without_fault(document, self._analyse(document, loop))
                self._progress.done()
            elif open_ is None:
                await self._is_wanted.wait()
            elif open_.uri in self._asked or not await self._is_woken_in(_IDLE):
                await self._without_fault(open_, self._try_edits(open_, loop))

    def _next_open(self) -> Document | None:
        """A document whose edits have yet to be tried: one that is asked for, if there is any."""
        documents = [document for document in self._documents.by_uri.values() if document.is_open]
        return min(documents, key=lambda document: document.uri not in self._asked, default=None)

    async def _is_woken_in(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._is_wanted.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _without_fault(self, document: Document, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            self._show(f"{document.path}: {type(error).__name__}: {error}", lsp.MessageType.Error)
            self._give_up(document)

    def _give_up(self, document: Document) -> None:
        """No more is sought for its text as it is now."""
        if document.analysed is not None:
            document.analysed = replace(document.analysed, is_open=False)
        self._is_done_with(document)

    async def _analyse(self, document: Document, loop: asyncio.AbstractEventLoop) -> None:
        text, version, document.unusable = document.text, document.version, ()
        disk.forget()
        try:
            settings = self._wishes.settings()
            if settings.excludes(document.path, False):
                self._know(document, text, Analysed(Failure(document.path, "excluded")), ())
                return
            known = settings.of(document.path)
        except ConfigError as error:
            self._know(document, text, Analysed(Failure(error.path, error.message)), ())
            return
        document.asked, document.unusable = Asked(self._job(document, known)), known.unusable
        answer = await loop.run_in_executor(self._thread, self._standing_worker().answer, document.asked)
        if self._documents.by_uri.get(document.uri) is not document or document.text != text:
            return
        found = Analysed(Failure(document.path, answer.reason)) if isinstance(answer, Lost) else answer
        self._know(document, text, found, self._findings(document, found, known, settings), version)

    async def _try_edits(self, document: Document, loop: asyncio.AbstractEventLoop) -> None:
        """All that is left to be known of a document, unless something else is wanted meanwhile."""
        text = document.text
        unwanted = self._unwanted = threading.Event()
        settings = self._wishes.settings()
        known = settings.of(document.path)
        assert document.asked is not None  # It was analysed.
        asked = Asked(document.asked.job, tries_edits=True)
        worker = self._standing_worker()
        try:
            answer = await loop.run_in_executor(self._thread, worker.answer, asked, unwanted.is_set)
        finally:
            self._unwanted = None
        if self._documents.by_uri.get(document.uri) is not document or document.text != text:
            return
        if isinstance(answer, Lost):
            if answer.reason != ABANDONED:
                self._give_up(document)
            return
        document.analysed, document.findings = answer, self._findings(document, answer, known, settings)
        self._is_done_with(document)
        about = frozenset({document.uri, *(self._uri_of(d.place.path) for d in document.findings)})
        before, document.about = document.about, about
        self._publish(before | about, only_news=True)

    def _is_done_with(self, document: Document) -> None:
        self._asked.pop(document.uri, None)
        document.is_done.set()

    def _standing_worker(self) -> StandingWorker[Asked, Analysed]:
        if self._worker is None:
            limits = replace(self._wishes.limits, jobs_per_worker=_JOBS_PER_WORKER, megabytes=_MEGABYTES)
            self._worker = StandingWorker(answered, limits, _NEEDED)
        return self._worker

    def _job(self, document: Document, known: FileSettings) -> CheckJob:
        """Other files count as the editor holds them, where that is not what is on disk."""
        file = SourceFile(document.path, document.text)
        others = tuple(
            (other.path, other.text)
            for other in self._documents.by_uri.values()
            if other is not document and other.text != _on_disk(other.path)
        )
        lint = Lint(self._wishes.limits, most_findings=self._wishes.most_findings)
        return lint.job(Configured(file, known, others))

    def _findings(
        self, document: Document, found: Analysed, known: FileSettings, settings: Settings
    ) -> tuple[Diagnostic, ...]:
        report = found.report
        if not isinstance(report, FileReport):
            return ()
        report = known.severities.applied_to(report).with_least(known.min_share)
        sources = SourceLines(self._documents.texts())
        result = result_of([report], [], known.options.target)
        result = self._wishes.sieved(result, document.path, settings, sources)
        return tuple(everywhere(with_causes_merged(result, sources).diagnostics))

    def _know(
        self,
        document: Document,
        text: str,
        found: Analysed,
        findings: tuple[Diagnostic, ...],
        version: int | None = None,
    ) -> None:
        document.analysed, document.analysed_text, document.findings = found, text, findings
        if not found.is_open:
            self._is_done_with(document)
        before = document.about
        document.about = frozenset({document.uri, *(self._uri_of(d.place.path) for d in findings)})
        self._publish(before | document.about)
        if self._refreshes_lenses:
            self.server.workspace_code_lens_refresh(None)

    def _publish(self, uris: Iterable[str], only_news: bool = False) -> None:
        """All that is known about some files: of a header by each file that includes it. What was published of the same
        text before is not published again where `only_news` is."""
        positions = self._positions()
        for uri in uris:
            own = self._documents.by_uri.get(uri)
            known: dict[tuple[object, ...], lsp.Diagnostic] = {}
            for document in self._documents.by_uri.values():
                for finding in document.findings:
                    if self._uri_of(finding.place.path) == uri:
                        known.setdefault((finding.code, finding.place, finding.message), shown(finding, positions))
            diagnostics = [*known.values(), *(remarks(own) if own is not None else ())]
            version = own.version if own is not None and own.is_current else None
            before, self._published[uri] = self._published.get(uri), (version, diagnostics)
            if only_news and before == (version, diagnostics):
                continue
            self.server.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
            )

    # --- questions -------------------------------------------------------------------------------------------

    def _positions(self) -> Positions:
        return Positions(SourceLines(self._documents.texts()), self._encoding)

    def _uri_of(self, path: str) -> str:
        """As the client spells it, for a file that it has open."""
        document = self._documents.at(path)
        return document.uri if document is not None else uri_of(path)

    def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        document = self._documents.by_uri.get(params.text_document.uri)
        if document is None or not document.is_current:
            return None
        line, column = self._positions().place_of(document.path, params.position)
        texts = [kernel.text for kernel in document.kernels_at(line, column, by_name=True)]
        texts = texts or [access.text for access in document.accesses_at(line, column)]
        if not texts:
            return None
        value = "\n\n---\n\n".join(dict.fromkeys(texts))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, value))

    def _lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        document = self._documents.by_uri.get(params.text_document.uri)
        if document is None or not document.is_current:
            return []
        positions = self._positions()
        # A command without a name is a text that does nothing.
        return [
            lsp.CodeLens(positions.range_of(kernel.place), lsp.Command(kernel.title, ""))
            for kernel in document.kernels()
        ]

    async def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document = self._documents.by_uri.get(params.text_document.uri)
        if document is not None and document.is_open:
            document.is_done.clear()
            self._asked[document.uri] = None
            self._is_wanted.set()
            await document.is_done.wait()
        if document is None or not document.is_current:
            return []  # Edits for another text.
        positions = self._positions()
        actions = Actions(document.path, document.text, positions, self._version)
        here = [
            finding
            for finding in document.findings
            if finding.place.path == document.path and ranges_meet(positions.range_of(finding.place), params.range)
        ]
        line, column = positions.place_of(document.path, params.range.start)
        kernels = document.kernels_at(line, column, by_name=False)
        found = [*actions.of_findings(here, kernels), *(a for kernel in kernels for a in actions.of_kernel(kernel))]
        only = params.context.only
        found = [action for action in found if not only or is_of(action.kind, only)]
        if wants_all_fixes(params.context):
            found += actions.of_all_fixes(await self._held_together(document))
        return found if document.is_current else []

    async def _held_together(self, document: Document) -> tuple[tuple[Edit, ...], ...]:
        """The safe edits of a document that hold when all of them are made."""
        sets = fixes_in(document.findings, document.path)
        if len(sets) < 2 or document.asked is None:
            return sets
        if document.together is None or document.together[0] != sets:
            asked = replace(document.asked, together=sets)
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._thread, self._standing_worker().answer, asked)
            if isinstance(answer, Lost):
                return ()
            document.together = sets, answer.together
        return document.together[1]

    def _version(self, path: str) -> int | None:
        document = self._documents.at(path)
        return document.version if document is not None else None


def _is_cuda(path: str, language: str, text: str) -> bool:
    if is_python(path):
        return seems_to_hold_kernels(to_bytes(text))
    return path.endswith(_SUFFIXES) or language.startswith("cuda") or "__global__" in text


def _on_disk(path: str) -> str | None:
    try:
        return read_regular_text(path)
    except OSError:
        return None


def serve(wishes: Callable[[Sequence[str]], Wishes]) -> None:
    """Speaks with a client on standard input and output, which nothing else may use from here on."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    Server(wishes).run(stdin, stdout)

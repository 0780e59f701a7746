"""An editor without a window: speaks with `cudalint lsp` over pipes, as the protocol has it, in plain JSON."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_PATIENCE = 60.0


class Editor:
    """Starts the server; leaving the block ends it in order."""

    def __init__(
        self, *arguments: str, options: Json | None = None, encodings: list[str] | None = None,
        program: tuple[str, ...] = ("-P", "-m", "cudalint"), shows_progress: bool = False,
        patience: float = _PATIENCE,
    ) -> None:  # fmt: skip
        """`program` is what Python runs; after `patience` seconds nothing more is waited for."""
        self._patience = patience
        command = [sys.executable, *program, "lsp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._messages: queue.Queue[Json | None] = queue.Queue()
        self._numbers = itertools.count(1)
        self._kept: list[Json] = []
        self._versions: dict[str, int] = {}
        self._told: dict[str, list[Json]] = {}
        """The diagnostics of each file that came last."""
        self._texts: dict[str, str] = {}
        threading.Thread(target=self._read, daemon=True).start()
        capabilities: Json = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
        if shows_progress:
            capabilities["window"] = {"workDoneProgress": True}
        if encodings is not None:
            capabilities["general"] = {"positionEncodings": encodings}
        asked = {"processId": os.getpid(), "rootUri": None, "capabilities": capabilities}
        self.capabilities = self.ask("initialize", {**asked, "initializationOptions": options})["capabilities"]
        self.tell("initialized", {})

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *reason: object) -> None:
        if self.process.poll() is None:
            self.ask("shutdown", None)
            self.tell("exit", None)
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(_PATIENCE)

    # --- messages --------------------------------------------------------------------------------------------

    def tell(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        number = next(self._numbers)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self._next(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer
        return answer["result"]

    def told(self, method: str) -> Json:
        """What the server says with a message of its own; a question is answered with nothing."""
        message = self._next(lambda message: message.get("method") == method)
        if "id" in message:
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        params: Json = message["params"]
        return params

    def _send(self, message: Json) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = int(line.removeprefix(b"Content-Length: "))
            while stream.readline().strip():
                pass
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def _next(self, is_wanted: Any) -> Json:
        """The next message that is; others are kept for whoever asks for them."""
        for message in self._kept:
            if is_wanted(message):
                self._kept.remove(message)
                return message
        end = time.monotonic() + self._patience
        while True:
            received = self._messages.get(timeout=max(0.0, end - time.monotonic()))
            assert received is not None, "the server has ended"
            if is_wanted(received):
                return received
            params = received.get("params") or {}
            current = self._versions.get(params.get("uri", ""))
            if params.get("version", current) == current:
                self._kept.append(received)

    # --- what an editor does ---------------------------------------------------------------------------------

    def open(self, path: Path, text: str | None = None, language: str = "cuda") -> str:
        uri = path.as_uri()
        self._versions[uri] = 1
        self._texts[uri] = path.read_text() if text is None else text
        item = {"uri": uri, "languageId": language, "version": 1, "text": self._texts[uri]}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, text: str) -> None:
        self._versions[uri] += 1
        self._texts[uri] = text
        document = {"uri": uri, "version": self._versions[uri]}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def close(self, uri: str) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri: str) -> list[Json]:
        """Those of the text as it is by now."""
        version = self._versions[uri]

        def is_wanted(message: Json) -> bool:
            params = message.get("params") or {}
            is_published = message.get("method") == "textDocument/publishDiagnostics"
            return is_published and params["uri"] == uri and params.get("version") == version

        found: list[Json] = self._next(is_wanted)["params"]["diagnostics"]
        self._told[uri] = found
        return found

    def settled(self, uri: str) -> list[Json]:
        """Those of the text as it is by now that hold in the end, when it is known which edits do."""
        self.actions(uri, {side: {"line": 0, "character": 0} for side in ("start", "end")})
        told = [
            message
            for message in self._kept
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri
        ]
        for message in told:
            self._kept.remove(message)
        if told:
            self._told[uri] = told[-1]["params"]["diagnostics"]
        return self._told[uri]

    def hover(self, uri: str, line: int, character: int) -> str:
        """The text at a position, lines and characters from 0; empty where there is none."""
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        found = self.ask("textDocument/hover", at)
        return found["contents"]["value"] if found else ""

    def actions(self, uri: str, range_: Json, **context: Any) -> list[Json]:
        asked = {"textDocument": {"uri": uri}, "range": range_, "context": {"diagnostics": [], **context}}
        found: list[Json] = self.ask("textDocument/codeAction", asked)
        return found

    def apply(self, action: Json) -> None:
        """Makes the edits of a code action, as an editor does that counts in UTF-16."""
        for change in action["edit"]["documentChanges"]:
            uri = change["textDocument"]["uri"]
            text = self._texts[uri]
            for edit in sorted(change["edits"], key=lambda e: _key(e["range"]["start"]), reverse=True):
                begin, end = (_offset(text, edit["range"][side]) for side in ("start", "end"))
                text = text[:begin] + edit["newText"] + text[end:]
            self.change(uri, text)

    def text(self, uri: str) -> str:
        return self._texts[uri]


def _key(position: Json) -> tuple[int, int]:
    return position["line"], position["character"]


def _offset(text: str, position: Json) -> int:
    lines = text.split("\n")
    units = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]]
    return sum(len(line) + 1 for line in lines[: position["line"]]) + len(units.decode("utf-16-le"))

"""Recorded launches, written by hand."""

from __future__ import annotations

import json
from pathlib import Path

NAME = "cudalint-launches.json"


def recording_text(blocks: int = 64) -> str:
    """That of a kernel `void k(float *, int)` which was launched 3 times."""
    launch = {"count": 3, "grid": [blocks, 1, 1], "block": [256, 1, 1], "arguments": ["p0+0/4194304", 32]}
    kernel = {"symbol": "_Z1kPfi", "name": "k(float*, int)", "parameters": [8, 4], "launches": [launch]}
    return json.dumps({"version": 1, "kernels": [kernel]})


def write_recording_in(folder: Path, blocks: int = 64) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    path.write_text(recording_text(blocks))
    return path

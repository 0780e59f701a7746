"""What nvcc makes of a source file, as disassembled text that is kept from one run to the next."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

_SECONDS = 300


class Compiler(Struct, frozen=True):
    """How files are compiled and disassembled, and where the results are kept."""

    arch: str
    nvdisasm: str
    options: Sequence[str]
    cache: Path

    def disassembly(self, path: Path) -> str | None:
        """The machine code of a file with the lines of its source; None where it does not compile."""
        key = f"{path.resolve()} {path.stat().st_mtime_ns} {self.arch} {' '.join(self.options)}"
        kept = self.cache / f"{path.stem}.{hashlib.sha256(key.encode()).hexdigest()[:16]}.gz"
        if not kept.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(gzip.compress(self._compiled(path).encode()))
        return gzip.decompress(kept.read_bytes()).decode() or None

    def _compiled(self, path: Path) -> str:
        with tempfile.TemporaryDirectory() as folder:
            cubin = os.path.join(folder, "code.cubin")
            build = ["nvcc", "-O3", "-lineinfo", f"-arch={self.arch}", "-std=c++17", "-cubin", *self.options]
            try:
                done = subprocess.run(
                    [*build, str(path), "-o", cubin], capture_output=True, check=False, timeout=_SECONDS
                )
            except subprocess.TimeoutExpired:
                return ""
            if done.returncode:
                return ""
            said = subprocess.run([self.nvdisasm, "-g", "-c", cubin], capture_output=True, text=True, check=True)
            return said.stdout

"""Reports of files, from the cache where they are still true, and into it where they are new."""

from __future__ import annotations

import time

import msgspec
from msgspec import Struct
from msgspec.msgpack import Encoder

from cudalint.report.findings.results import Failure, FileReport
from cudalint.run.cache.entries import forget_old, read_entry, write_entry
from cudalint.run.cache.program import fingerprint, surroundings
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.sharing import sharing
from cudalint.system.disk.present import Present
from cudalint.system.disk.recorder import Seen, digest, noting
from cudalint.system.processes.timings import FileTimes, begin, taken

_FORMAT = 3
_ENCODER = Encoder(order="deterministic")


class KeptJob(Struct, frozen=True):
    """A file to lint, and where its report is to be kept; travels to a worker."""

    job: CheckJob
    folder: str | None
    key: bytes | None
    """None where it is not to be kept."""
    kernels: str | None = None
    """The folder of kernels that files have in common."""
    around: bytes = b""
    """What tells this program and its surroundings from others."""
    tells_files: bool = False
    """Whether somebody asks which files were read."""


class Checked(Struct, frozen=True):
    """What came of a file, and how long that took."""

    answer: FileReport | Failure
    times: FileTimes
    files: tuple[str, ...] = ()
    """Those that were read, if somebody asks for them."""


def check_and_keep(kept: KeptJob) -> Checked:
    """Lints a file in a worker, and keeps what comes of it, if another run would come to the same."""
    begin()
    with sharing(kept.kernels, kept.around):
        answer, files = _checked_and_kept(kept)
    return Checked(answer, taken(), files)


def _checked_and_kept(kept: KeptJob) -> tuple[FileReport | Failure, tuple[str, ...]]:
    """With the files that were read, if somebody asks for them."""
    is_kept = kept.key is not None and kept.folder is not None
    if not is_kept and not kept.tells_files:
        return check_file(kept.job), ()
    start = time.time_ns()
    with noting() as seen:
        report = check_file(kept.job)
    files = _files(seen) if kept.tells_files else ()
    if isinstance(report, Failure) or kept.key is None or kept.folder is None:
        return report, files
    if seen.is_repeatable and seen.is_old(start):
        write_entry(kept.folder, kept.key, seen, report)
    return report, files


def _files(seen: Seen) -> tuple[str, ...]:
    return tuple(seen.flat().texts)


class Results:
    """The cache as a run uses it. Without a folder it has nothing and keeps nothing."""

    def __init__(self, folder: str | None, kernels: str | None = None) -> None:
        """`kernels` is the folder of what files have in common where nothing else is kept."""
        self._folder = folder
        self._kernels = folder or kernels
        self._present = Present()
        self._around: bytes | None = None

    def job(self, job: CheckJob, tells_files: bool = False) -> KeptJob:
        key = self._key(job) if self._folder is not None else None
        return KeptJob(job, self._folder, key, self._kernels, self._around or b"", tells_files)

    def report(self, kept: KeptJob) -> Checked | None:
        """What an earlier run found, if nothing that it rests on has changed."""
        if self._folder is None or kept.key is None:
            return None
        found = read_entry(self._folder, kept.key)
        if found is None or not self._present.agrees_with(found.seen):
            return None
        report = found.report()
        files = _files(found.seen) if kept.tells_files else ()
        return Checked(report, FileTimes(0.0, {}, {}), files) if report is not None else None

    def tidy(self) -> None:
        """After something was kept."""
        if self._folder is not None:
            forget_old(self._folder)

    def _key(self, job: CheckJob) -> bytes | None:
        """One for each question that can be asked of a file. What the file says is none of it: of one file there is
        one entry. None where the answer rests on what isn't noted: a text from elsewhere, or nvcc."""
        if job.options.unsaved or job.options.ptxas:
            return None
        try:
            if self._around is None:
                self._around = b"\0".join((_ENCODER.encode((_FORMAT, surroundings())), fingerprint()))
            return digest(b"\0".join((self._around, _ENCODER.encode(job))))
        except (msgspec.MsgspecError, OSError, TypeError, ValueError):
            return None  # Paths that are no text.

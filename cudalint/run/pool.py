"""Runs one function over many jobs in worker processes that may crash, hang or grow.

libclang can take the whole process down on some C++, so no file is analysed in the process that talks to the user:
even a single file goes to a worker. On Linux a worker is a fork made before anything heavy was imported, which
costs about two milliseconds, so there is no need for a faster way without one. For many files, which take many workers
one after the other, the modules that all of them need are imported before. Elsewhere workers are spawned, since forking
is unsafe on macOS and does not exist on Windows.

`concurrent.futures` does not fit: a crash there breaks the whole pool and a job that hangs can't be ended.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from cudalint.run.limits import SHOWS_WORK, Done, Limits, Lost, given_up
from cudalint.run.serving import ABANDONED, Reply, serve, use_one_thread
from cudalint.system.processes import memory
from cudalint.system.processes.faults import described

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext

_MANY = 50
"""Jobs for which the process itself imports what the workers need."""
_SECONDS_TO_END = 10
"""For a worker that has closed its pipe."""
_LOOKS = 8
"""How often a worker is looked at within the time that it may wait."""
_SECONDS_UNWATCHED = 0.25
_TICKS_ASLEEP = 1
"""What a worker may have computed between two looks, in ticks of the system, and be taken to have slept."""
_SAFE_PATH = "PYTHONSAFEPATH"
Job = TypeVar("Job")
Result = TypeVar("Result")


def preload(modules: Sequence[str]) -> None:
    """Imports here, for all workers that will be started, what they need; where they are forks."""
    if sys.platform == "linux":
        use_one_thread()
        for module in modules:
            importlib.import_module(module)


class JobWatcher(Protocol):
    """Follows how jobs get on, by their indices."""

    def begun(self, index: int) -> None: ...

    def at(self, index: int, words: str) -> None: ...

    def waiting(self) -> None: ...


def default_workers() -> int:
    """The number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    limits: Limits,
    needed: Sequence[str] = (),
    watcher: JobWatcher | None = None,
) -> Iterator[Done[Result] | Lost]:
    """Yields one outcome per job, as they come. `function` must be importable by name, for spawned workers; `needed`
    are modules that all jobs need, and that may be imported here."""
    if len(jobs) > _MANY:
        preload(needed)
    workers: list[_Worker[Job, Result]] = []
    waiting = deque(enumerate(jobs))
    try:
        while True:
            yield from _hand_out(function, waiting, workers, limits, len(jobs), watcher)
            busy = [worker for worker in workers if worker.index is not None]
            if not busy:
                return
            yield from _collect(busy, limits, watcher)
            if watcher is not None:
                watcher.waiting()
            workers = [worker for worker in workers if worker.alive]
    finally:
        for worker in workers:
            worker.stop()


class StandingWorker(Generic[Job, Result]):
    """One worker that stays between jobs, for whoever asks again and again; another takes its place when it ends.

    It comes from a server of forks where the system has that: a process with threads is not one to fork.
    """

    def __init__(self, function: Callable[[Job], Result], limits: Limits, needed: Sequence[str] = ()) -> None:
        """`function` must be importable by name; `needed` are modules that all jobs need."""
        self._function, self._limits = function, limits
        self._method = "forkserver" if sys.platform == "linux" else "spawn"
        self._worker: _Worker[Job, Result] | None = None
        self._lock = threading.Lock()
        if self._method == "forkserver":
            use_one_thread()
            multiprocessing.set_forkserver_preload(list(needed))

    def answer(self, job: Job, is_unwanted: Callable[[], bool] = lambda: False) -> Result | Lost:
        """What comes of a job; waits for it, for as long as the limits allow. It is not begun if it is unwanted."""
        worker = self._worker
        if worker is None or not worker.alive:
            try:
                worker = self._worker = _Worker(self._function, self._limits, (), method=self._method)
            except OSError as error:
                return Lost(0, f"no process can be started for it: {error.strerror}")
        with self._lock:
            if is_unwanted():
                return Lost(0, ABANDONED)
            worker.assign(0, job)
        while True:
            for outcome in _collect([worker], self._limits, None):
                return outcome.value if isinstance(outcome, Done) else outcome

    def abandon(self) -> None:
        """Has the worker leave what it is at, as far as that may be left (`abandonable`), while another thread waits
        for that."""
        with self._lock:
            if self._worker is not None:
                self._worker.hurry()

    def stop(self) -> None:
        """Ends the worker, and with it what it is at; another thread that waits for that learns that it is lost."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


def _hand_out(
    function: Callable[[Job], Result],
    waiting: deque[tuple[int, Job]],
    workers: list[_Worker[Job, Result]],
    limits: Limits,
    total: int,
    watcher: JobWatcher | None,
) -> Iterator[Lost]:
    """Gives every idle worker a job, and starts workers as long as there are fewer than allowed. Where the system lets
    no more be started, those that there are do the work; without any, a job is lost."""
    idle = [worker for worker in workers if worker.index is None]
    while waiting and (idle or len(workers) < min(limits.workers, total)):
        if not idle:
            try:
                workers.append(_Worker(function, limits, workers, watcher is not None))
            except OSError as error:
                if workers:
                    return
                yield Lost(waiting.popleft()[0], f"no process can be started for it: {error.strerror}")
                continue
            idle.append(workers[-1])
        index, job = waiting.popleft()
        idle.pop().assign(index, job)
        if watcher is not None:
            watcher.begun(index)


def _collect(
    busy: Sequence[_Worker[Job, Result]], limits: Limits, watcher: JobWatcher | None
) -> Iterator[Done[Result] | Lost]:
    """Waits until a worker answers, dies or runs out of time, and yields what became of its job. For a watcher it waits
    no longer than that one wants to."""
    patience = max(0.0, min(min(worker.deadline, worker.next_look) for worker in busy) - time.monotonic())
    if watcher is not None:
        patience = min(patience, _SECONDS_UNWATCHED)
    ready = set(wait([worker.connection for worker in busy], timeout=patience))
    now = time.monotonic()
    for worker in busy:
        if worker.connection in ready:
            index = worker.index
            outcome = worker.outcome()
            if not isinstance(outcome, str):
                yield outcome
            elif watcher is not None and index is not None:
                watcher.at(index, outcome)
        elif worker.deadline <= now:
            yield worker.abandon(given_up(limits))
        elif worker.only_waits(now):
            yield worker.abandon(f"given up: it waits, and has computed nothing for {limits.longest_sleep:g} s")


class _Worker(Generic[Job, Result]):
    """One process, its pipe, and the job that it is at."""

    def __init__(
        self,
        function: Callable[[Job], Result],
        limits: Limits,
        siblings: Sequence[_Worker[Job, Result]],
        tells: bool = False,
        method: str | None = None,
    ) -> None:
        method = method or ("fork" if sys.platform == "linux" else "spawn")
        context = cast("SpawnContext", multiprocessing.get_context(method))  # All of them have a `Process`.
        self.connection, theirs = context.Pipe()
        # A forked worker inherits our ends of its siblings' pipes. It must close them, or the siblings would not
        # notice that we are gone. A spawned one inherits nothing.
        inherited: list[Connection] = []
        if method == "fork":
            inherited = [self.connection, *(worker.connection for worker in siblings)]
        # The system ends it with the thread that it was forked by, which must be one that lasts.
        lasts = method == "forkserver" or threading.current_thread() is threading.main_thread()
        arguments = (function, theirs, limits, inherited, tells, lasts)
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        try:
            with contextlib.nullcontext() if method == "fork" else _without_the_current_folder():
                self._process.start()
        except OSError:
            self.connection.close()
            raise
        finally:
            theirs.close()
        self._limits = limits
        self._jobs_left = limits.jobs_per_worker
        self.index: int | None = None
        self.deadline = 0.0
        self.next_look = math.inf
        """When the worker is to be looked at again, whether it goes on."""
        self._computed: int | None = None
        self._asleep = 0
        self.alive = True

    def assign(self, index: int, job: Job) -> None:
        self.index = index
        now = time.monotonic()
        self.deadline = now + self._limits.longest_wait
        self._jobs_left -= 1
        self._computed, self._asleep = None, 0
        if SHOWS_WORK:
            self.next_look = now + self._limits.longest_sleep / _LOOKS
        # A worker may have died between two jobs. Its pipe reads as closed then, and `outcome` reports it.
        with contextlib.suppress(BrokenPipeError):
            self.connection.send(job)

    def hurry(self) -> None:
        """Tells the worker that nobody waits any more for what it is at, if it is at something."""
        if self.index is not None:
            with contextlib.suppress(OSError):
                self.connection.send(None)

    def only_waits(self, now: float) -> bool:
        """Whether the worker has slept for as long as it may: it did whenever it was looked at, and computed next to
        nothing in between. One that waits for a core does not sleep."""
        if now < self.next_look:
            return False
        self.next_look = now + self._limits.longest_sleep / _LOOKS
        computed = _computed_by(self._process.pid)
        # The signal that says when to look at the time limit takes a little.
        slept = computed is not None and self._computed is not None and computed - self._computed <= _TICKS_ASLEEP
        self._asleep = self._asleep + 1 if slept else 0
        self._computed = computed
        return self._asleep >= _LOOKS

    def outcome(self) -> Done[Result] | Lost | str:
        """What the worker has to say about its job, now that its pipe is ready: what became of it, or in a word where
        it is."""
        try:
            reply: Reply[Result] | str = self.connection.recv()
            if isinstance(reply, str):
                return reply
            index = self._finish_job()
        except (EOFError, OSError):
            # It ended, perhaps in the middle of an answer.
            index = self._finish_job()
            self._process.join(_SECONDS_TO_END)
            self.stop()
            return Lost(index, _cause_of_death(self._process.exitcode, self._limits))
        except Exception as error:
            self.stop()
            return Lost(self._finish_job(), described(error))
        if reply.retire or self._jobs_left <= 0:
            self.stop()
        if reply.error is not None:
            return Lost(index, reply.error)
        return Done(index, reply.value)  # type: ignore[arg-type]  # None is a legal result.

    def abandon(self, reason: str) -> Lost:
        self.stop()
        return Lost(self._finish_job(), reason)

    def end(self) -> None:
        """Ends the process while somebody else may be waiting for its answer, who learns then that it ended."""
        self._process.kill()

    def stop(self) -> None:
        self.alive = False
        self.connection.close()
        self._process.kill()
        self._process.join()

    def _finish_job(self) -> int:
        assert self.index is not None
        index, self.index = self.index, None
        return index


@contextlib.contextmanager
def _without_the_current_folder() -> Iterator[None]:
    """Has each Python that is started look for no modules in the current folder, which may be a repository with an
    `re.py` of its own: those that serve `multiprocessing` get their program by `-c`, and would look there first."""
    if sys.flags.ignore_environment and not sys.flags.safe_path:
        raise OSError(errno.EPERM, "Python's option -E needs -P beside it")
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _computed_by(pid: int | None) -> int | None:
    """How much a process and what it ran has computed, in the system's units; None where it sleeps not but is about to
    go on, or where nothing tells."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            # What stands behind the name, which may hold anything (proc(5)): the state first.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15])) if fields[:1] == ["S"] else None


def _cause_of_death(exit_code: int | None, limits: Limits) -> str:
    if exit_code is None or exit_code >= 0:
        return f"the analysis crashed (exit status {exit_code})"
    try:
        name = signal.Signals(-exit_code).name
        if name == "SIGPROF":
            return given_up(limits)
    except ValueError:
        name = f"signal {-exit_code}"
    if name == "SIGKILL":
        return "the analysis was killed (SIGKILL), perhaps for lack of memory"
    if name == "SIGABRT" and limits.most_megabytes is not None:
        return f"the analysis crashed (SIGABRT), perhaps for lack of memory; {memory.MORE}"
    return f"the analysis crashed ({name})"

"""The pool against workers that crash, hang, raise and grow."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time

import pytest

from cudalint.run import limits, watching
from cudalint.run.limits import Done, Limits, Lost
from cudalint.run.pool import StandingWorker, default_workers, run_jobs
from cudalint.run.serving import ABANDONED
from cudalint.run.watching import tell
from cudalint.system.processes import time_limit
from cudalint.system.processes.time_limit import OutOfTime, abandonable, begin_last_part, interruptible


def _work(job: str) -> str:
    """A double of the analysis that does what the job says."""
    match job.split():
        case ["crash"]:
            # pytest's handler would print the stacks of a crash that is wanted.
            faulthandler.disable()
            os.kill(os.getpid(), signal.SIGSEGV)
        case ["exit"]:
            os._exit(3)
        case ["hang"]:
            time.sleep(60)
        case ["raise"]:
            raise ValueError("two\nlines")
        case ["unpicklable"]:
            return lambda: None  # type: ignore[return-value]
        case ["busy"]:
            while True:
                pass
        case ["yield"]:
            try:
                with interruptible():
                    while True:
                        pass
            except OutOfTime:
                return "what there is"
        case ["parts"]:
            kept = []
            for part in ("one", "other"):
                try:
                    with interruptible():
                        while True:
                            pass
                except OutOfTime:
                    kept.append(part)
                begin_last_part()
            return " ".join(kept)
        case ["wait", seconds]:
            time.sleep(float(seconds))
            return "WAITED"
        case ["compute", seconds]:
            end = time.process_time() + float(seconds)
            while time.process_time() < end:
                pass
            return "COMPUTED"
        case ["pid"]:
            return str(os.getpid())
        case ["grow"]:
            block = bytearray(80 * 2**20)
            return f"{os.getpid()} {len(block)}"
    return job.upper()


def _run(jobs: list[str], **limits: float) -> dict[int, Done[str] | Lost]:
    settings = Limits(**({"workers": 2, "seconds": 10} | limits))  # type: ignore[arg-type]
    return {outcome.index: outcome for outcome in run_jobs(_work, jobs, settings)}


def test_every_job_has_one_outcome() -> None:
    jobs = [f"job{i}" for i in range(50)]
    assert _run(jobs, workers=3) == {i: Done(i, job.upper()) for i, job in enumerate(jobs)}


def test_no_jobs_need_no_workers() -> None:
    assert _run([]) == {}


def test_a_crash_costs_only_its_own_job() -> None:
    outcomes = _run(["a", "crash", "b", "exit", "c"])
    assert outcomes[1] == Lost(1, "the analysis crashed (SIGSEGV)")
    assert outcomes[3] == Lost(3, "the analysis crashed (exit status 3)")
    assert [outcomes[i] for i in (0, 2, 4)] == [Done(0, "A"), Done(2, "B"), Done(4, "C")]


_COUNTS = pytest.mark.skipif(not (limits.COUNTS_WORK and limits.SHOWS_WORK), reason="only the clock on the wall counts")


def test_a_job_that_never_ends_is_given_up() -> None:
    start = time.monotonic()
    outcomes = _run(["a", "hang", "b", "c"], seconds=0.5)
    assert time.monotonic() - start < 30
    assert isinstance(outcomes[1], Lost)
    assert outcomes[1].reason.startswith("given up")
    assert [outcomes[i] for i in (0, 2, 3)] == [Done(0, "A"), Done(2, "B"), Done(3, "C")]


@_COUNTS
def test_time_is_what_a_job_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that only waits has longer, and is named by the word for that when it ends."""
    assert _run(["wait 1", "busy"], seconds=0.5) == {
        0: Done(0, "WAITED"),
        1: Lost(1, "given up after 0.5 s of computing; --time-limit gives more time"),
    }
    monkeypatch.setattr(limits, "_PATIENCE", 1.0)
    outcome = _run(["wait 5"], seconds=0.5)[0]
    assert outcome == Lost(0, "given up: it waits, and has computed nothing for 0.5 s")


@_COUNTS
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes can't be put on one core")
def test_a_busy_machine_gives_up_no_job_that_an_idle_one_finishes() -> None:
    """Ten jobs on one core, each of which computes 0.4 of its 0.5 s: the last ends after 4 s on the clock on the wall,
    which is more than `_PATIENCE` times its limit."""
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        outcomes = _run(["compute 0.4"] * 10, workers=10, seconds=0.5)
    finally:
        os.sched_setaffinity(0, cores)
    assert outcomes == {number: Done(number, "COMPUTED") for number in range(10)}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing interrupts")
def test_a_job_may_keep_what_it_has_before_its_time_is_over() -> None:
    """And the next job of the worker has its own time."""
    assert _run(["yield", "a", "yield"], seconds=0.5, workers=1) == {
        0: Done(0, "what there is"), 1: Done(1, "A"), 2: Done(2, "what there is"),
    }  # fmt: skip


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing interrupts")
def test_the_last_part_of_a_job_has_time_of_its_own() -> None:
    assert _run(["parts"], seconds=3)[0] == Done(0, "one other")


@pytest.mark.parametrize("job", ["crash", "hang"])
def test_a_single_job_survives_too(job: str) -> None:
    outcomes = _run([job], workers=8, seconds=0.5)
    assert isinstance(outcomes[0], Lost)


def test_an_exception_is_told_in_one_line() -> None:
    assert _run(["raise"])[0] == Lost(0, "internal error: ValueError: two lines")


def test_a_result_that_does_not_travel_is_told() -> None:
    outcome = _run(["unpicklable", "a"])[0]
    assert isinstance(outcome, Lost)
    assert outcome.reason.startswith("internal error:")


def _pids(outcomes: dict[int, Done[str] | Lost]) -> list[str]:
    return [outcome.value.split()[0] for outcome in outcomes.values() if isinstance(outcome, Done)]


def test_workers_are_kept_for_the_next_job() -> None:
    assert len(set(_pids(_run(["pid"] * 6, workers=1)))) == 1


def test_workers_are_replaced_after_a_number_of_jobs() -> None:
    assert len(set(_pids(_run(["pid"] * 6, workers=1, jobs_per_worker=2)))) == 3


def test_workers_are_replaced_when_they_have_grown() -> None:
    pids = _pids(_run(["grow", "pid", "pid"], workers=1, megabytes=64))
    assert len(set(pids)) > 1


def test_abandoning_the_iteration_ends_the_workers() -> None:
    outcomes = run_jobs(_work, ["pid", "hang"], Limits(workers=2, seconds=60))
    first = next(outcomes)
    assert isinstance(first, Done)
    outcomes.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(int(first.value), 0)


def test_default_workers() -> None:
    assert default_workers() >= 1


class _Heard:
    def __init__(self) -> None:
        self.words: list[tuple[int, str]] = []

    def begun(self, index: int) -> None:
        self.words.append((index, "begun"))

    def at(self, index: int, words: str) -> None:
        self.words.append((index, words))

    def waiting(self) -> None:
        self.words.append((-1, "waiting"))


def _tells(job: str) -> str:
    tell(job)
    time.sleep(0.4)  # Longer than a watcher is left without a word.
    return job


def test_a_watcher_hears_of_every_step() -> None:
    heard = _Heard()
    outcomes = list(run_jobs(_tells, ["first"], Limits(workers=1, seconds=30.0), (), heard))
    assert [outcome.value for outcome in outcomes if isinstance(outcome, Done)] == ["first"]
    assert heard.words[0] == (0, "begun")
    assert (0, "first") in heard.words
    # Once after the word, once while nothing was heard, once after the result.
    assert heard.words.count((-1, "waiting")) >= 3


def test_nothing_is_told_where_it_might_be_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(watching._Worker, "listener", told.append)
    monkeypatch.setattr(watching._Worker, "last", 0.0)
    with time_limit.interruptible():
        tell("cut off")
    tell("whole")
    tell("too soon")
    assert told == ["whole"]


def _long(seconds: float) -> int:
    """The process that has worked, for so many seconds if it is not told to leave that."""
    end = time.monotonic() + seconds
    with abandonable():
        while time.monotonic() < end:
            pass
    return os.getpid()


def test_a_standing_worker_leaves_what_nobody_waits_for() -> None:
    worker = StandingWorker(_long, Limits(workers=1, seconds=300.0))
    try:
        first = worker.answer(0.0)
        timer = threading.Timer(0.3, worker.abandon)
        timer.start()
        start = time.monotonic()
        assert worker.answer(200.0) == Lost(0, ABANDONED)
        assert time.monotonic() - start < 100.0
        assert worker.answer(200.0, is_unwanted=lambda: True) == Lost(0, ABANDONED)
        worker.abandon()  # It is at nothing.
        # It is the same one, and what it was told before is not about this.
        assert worker.answer(0.1) == first
    finally:
        worker.stop()

"""What the cudalint that the interpreter has installed says of files, kept as data: its facts and findings."""

from __future__ import annotations

import gzip
import platform
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from msgspec import Raw, Struct, field, json, to_builtins

import cudalint

JsonObject = dict[str, Any]

_LIMITS: Final = ("time_limit", "memory_limit")


class FileDump(Struct):
    """What one program says of one file."""

    path: str
    options: JsonObject = field(default_factory=dict)
    status: str = ""
    """`ok`, `partial`, or `failed` where there are no facts."""
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """Of computing: the analysis, with all kinds of facts."""
    seconds_of_rules: float = 0.0
    kernels: list[JsonObject] = field(default_factory=list)
    findings: list[JsonObject] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The path, with the options that results depend on beside the limits: a file may be there with several."""
        told = [f"{name}={value}" for name, value in sorted(self.options.items()) if name not in _LIMITS]
        return " ".join([self.path, *told])


class Dump(Struct):
    """What one program says of some files."""

    files: list[FileDump]
    program: str = ""
    machine: str = ""


class Job(Struct, frozen=True):
    """A file to analyse, in a worker."""

    path: str
    options: JsonObject


_UNSHOWN: Final = (
    "out_of_bounds", "misalignments", "uninitialised", "early_reads", "cluster_races", "pitches", "collectives",
    "constants", "neighbours", "reuse", "arithmetic", "products", "axes", "unmasked_calls",
    "absent_lanes", "launch_faults", "uncovered", "waits", "spins", "publications", "signals",
)  # fmt: skip
"""Fields of a kernel's facts that `cudalint facts --format json` leaves out."""


def described(job: Job) -> bytes:
    """The entry of a file, as JSON, since that is smaller than the facts."""
    from msgspec.structs import replace

    from cudalint.kinds import EVERY_KIND
    from cudalint.registry import selected_rules
    from cudalint.report.findings.results import Failure
    from cudalint.report.formats.facts_json import file_object
    from cudalint.run.api.configuration import Configuration
    from cudalint.run.api.paths import found_files
    from cudalint.run.file_facts import analyse
    from cudalint.run.file_findings import report_on
    from cudalint.run.runs import Lint, configure, result_of
    from cudalint.run.stopwatch import Stopwatch

    config = Configuration(**job.options, cache=False)
    settings = config.settings()
    configured, broken = configure(found_files(job.path, {}, settings).files, settings)
    if not configured:
        return json.encode(FileDump(job.path, job.options, "failed", [each.message for each in broken]))
    lint = Lint(config.limits(), tries_edits=False).job(configured[0])
    lint = replace(lint, options=replace(lint.options, kinds=EVERY_KIND))
    # What is imported is on no file's clock.
    import_module("cudalint.run.analysis")
    selected_rules(lint.selection)
    begin, stopwatch = time.process_time(), Stopwatch()
    facts = analyse(lint.path, lint.options)
    analysed = time.process_time()
    if isinstance(facts, Failure):
        return json.encode(FileDump(job.path, job.options, "failed", [facts.message], analysed - begin))
    report = lint.severities.applied_to(report_on(facts, lint, stopwatch))
    found = result_of([report.with_least(lint.min_share)], [], lint.options.target)
    ended = time.process_time()
    kernels: list[JsonObject] = to_builtins(file_object(facts)["kernels"])
    for kernel, own in zip(kernels, facts.kernels, strict=True):
        for name in _UNSHOWN:
            kernel[name] = [_flat(each) for each in getattr(own, name, ())]
    findings = [
        {
            "code": each.code, "path": each.place.path, "line": each.place.line, "kernel": each.instantiation,
            "severity": each.severity, "held_back": each.held_back, "message": each.message,
        }
        for each in (*found.diagnostics, *found.minor)
    ]  # fmt: skip
    failures = [str(each.message) for each in found.failures]
    entry = FileDump(
        job.path, job.options, facts.status, failures, analysed - begin, ended - analysed, kernels, findings
    )
    # Its own headers lie wherever it is installed.
    return json.encode(entry).replace(str(Path(cudalint.__file__).parent).encode(), b"<cudalint>")


def _flat(record: Any) -> JsonObject:
    """A record of a place as JSON has accesses: with path and line as fields of its own."""
    item: JsonObject = to_builtins(record, enc_hook=str)
    place = item.pop("place", None) or item.pop("store", None)
    if place is not None:
        item["path"], item["line"] = place[:2]
    item["inlined_from"] = [{"path": frame[0], "line": frame[1]} for frame in item.get("inlined_from", ())]
    return item


def dump(out: Path, jobs: Sequence[Job], workers: int) -> None:
    """Analyses files in worker processes and writes what comes of them, in the order of the files."""
    from cudalint.run.limits import Limits, Lost
    from cudalint.run.runs import run_all

    seconds = max((float(job.options.get("time_limit", 20.0)) for job in jobs), default=20.0)
    megabytes = max((int(job.options.get("memory_limit", 2000)) for job in jobs), default=2000)
    limits = Limits(workers, seconds, idle_seconds=seconds, most_megabytes=megabytes)
    entries: dict[int, Raw] = {}
    for index, answer in run_all(described, jobs, limits):
        if isinstance(answer, Lost):
            job = jobs[index]
            answer = json.encode(FileDump(job.path, job.options, "failed", [answer.reason], seconds))
        entries[index] = Raw(answer)
        print(f"\r{len(entries)} of {len(jobs)} files", end="", file=sys.stderr)
    print(file=sys.stderr)
    files = [entries[index] for index in sorted(entries)]
    document = {"program": f"cudalint {cudalint.__version__}", "machine": _machine(), "files": files}
    out.write_bytes(gzip.compress(json.encode(document), mtime=0))


def _machine() -> str:
    """What CPU time depends on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"Python {platform.python_version()} on {model or platform.machine()}"


def read(path: Path) -> Dump:
    """A dump, or a list of files of the same form; it may be compressed."""
    data = path.read_bytes()
    return json.decode(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, type=Dump)

"""How the time of the analysis grows with the length of a kernel.

usage: python benchmarks/growth.py [FORM...] [--sizes N,N,...] [--limit SECONDS]
       python benchmarks/growth.py --projects N,N,... [--jobs N]

Kernels of some forms are generated in several lengths and linted in this process, each once. The table has the seconds
of computing of each length and, for each form, the exponent that the last doubling of the length comes to: 1 is linear.

With `--projects`, projects of so many small files are generated, in which each file has a kernel that another file's
function launches, and linted from the command line; a file of a large one should take no longer than one of a small
one.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_KERNEL: Final = """__global__ void k(const float *in, float *out) {{
    __shared__ float s[4096];
    const int t = threadIdx.x;
    float x = in[blockIdx.x * 256 + t];
    s[t] = x;
    __syncthreads();
{body}
    out[blockIdx.x * 256 + t] = x + s[t];
}}
void run(const float *in, float *out) {{ k<<<64, 256>>>(in, out); }}
"""


def _accesses(number: int) -> str:
    """Loads of shared memory in a row, with no barrier between."""
    return "\n".join(f"    x += s[(t + {n}) % 256];" for n in range(number))


def _stores(number: int) -> str:
    """Stores to other places, each behind a barrier that orders nothing."""
    return "\n".join(f"    s[{n % 15 + 1} * 256 + t] = x;\n    __syncthreads();" for n in range(number))


def _exchanges(number: int) -> str:
    """Rows that are stored and read by other threads, between barriers that are all needed."""
    lines = "    s[t] = x;\n    __syncthreads();\n    x += s[(t + {n}) % 256];\n    __syncthreads();"
    return "\n".join(lines.format(n=n) for n in range(number))


def _missing(number: int) -> str:
    """The same with every barrier missing."""
    lines = "    s[t] = x;\n    x += s[(t + {n}) % 256];"
    return "\n".join(lines.format(n=n + 1) for n in range(number))


_FORMS: Final[Mapping[str, Callable[[int], str]]] = {
    "accesses": _accesses, "stores": _stores, "exchanges": _exchanges, "missing": _missing,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forms", nargs="*", metavar="FORM", help=", ".join(_FORMS))
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[64, 128, 256, 512])
    parser.add_argument("--projects", type=lambda text: [int(n) for n in text.split(",")], help="files of projects")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes for projects")
    parser.add_argument("--limit", type=float, default=120.0, help="no longer kernels behind one that takes longer")
    arguments = parser.parse_args()
    if arguments.projects:
        for files in arguments.projects:
            seconds = _of_project(files, arguments.jobs)
            print(f"{files:6} files {seconds:8.2f} s of computing, {1000 * seconds / files:7.1f} ms/file", flush=True)
        return
    _seconds(_accesses(2), arguments.limit)  # What is imported late.
    print(f"{'':12}" + "".join(f"{size:>9}" for size in arguments.sizes) + "  exponent")
    for name in arguments.forms or _FORMS:
        times: list[float] = []
        for size in arguments.sizes:
            times.append(_seconds(_FORMS[name](size), arguments.limit))
            if times[-1] > arguments.limit:
                break
        cells = "".join(f"{seconds:9.2f}" for seconds in times)
        print(f"{name:12}{cells}  {_exponent(arguments.sizes, times):.2f}", flush=True)


_FILE: Final = """// File {number} of a generated project.
#include "all.h"
__global__ void scale{number}(const float *in, float *out, int n) {{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = {number} * in[i];
}}
void launch{number}(const float *in, float *out, int n) {{ scale{number}<<<(n + 255) / 256, 256>>>(in, out, n); }}
void step{number}(float *a, float *b, int n) {{ launch{other}(a, b, n); }}
"""


def _of_project(files: int, jobs: int) -> float:
    """Seconds of computing that a project of so many files takes, with all of its processes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        declared = (f"void launch{number}(const float *, float *, int);\n" for number in range(files))
        (folder / "all.h").write_text("#pragma once\n" + "".join(declared), encoding="utf-8")
        for number in range(files):
            text = _FILE.format(number=number, other=(number + 1) % files)
            (folder / f"file{number}.cu").write_text(text, encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "cudalint", name, "--no-cache", "-q", "-j", str(jobs)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _seconds(body: str, limit: float) -> float:
    options = AnalysisOptions(unsaved=(("k.cu", _KERNEL.format(body=body)),), time_limit=4 * limit)
    start = time.process_time()
    check_file(CheckJob("k.cu", options, Selection(), pictures=False, tries_edits=False))
    return time.process_time() - start


def _exponent(sizes: list[int], times: list[float]) -> float:
    if len(times) < 2:
        return math.nan
    last = len(times) - 1
    return math.log(times[last] / times[last - 1]) / math.log(sizes[last] / sizes[last - 1])


if __name__ == "__main__":
    main()

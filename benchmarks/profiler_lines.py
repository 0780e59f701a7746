"""`cudalint facts --format json`, with second entries at lines where only a profiler lists an instruction.

Those of calls (`call_lines.py`) and of the toolkit's headers (`header_lines.py`): they are needed to set predictions
beside what was measured line by line, and say nothing that the first entries don't say. Takes the arguments of
`cudalint facts`, and `--cuda-path` for the headers.
"""

from __future__ import annotations

import sys

from call_lines import with_call_lines
from header_lines import with_toolkit_lines

from cudalint.cli import facts
from cudalint.report.findings.results import Failure
from cudalint.report.formats.facts_json import file_text
from cudalint.run.file_facts import analyse


def describe_file(job: facts.FactsJob) -> facts.Described | Failure:
    """The text of one file, as of the command itself, but for what is added."""
    known = analyse(job.path, job.options)
    if isinstance(known, Failure):
        return known
    failures = tuple(Failure(job.path, each.message) for each in known.failures)
    text = file_text(with_toolkit_lines(with_call_lines(known), job.options.cuda_path))
    return facts.Described(text, failures, known.parameters)


if __name__ == "__main__":
    facts.describe_file = describe_file
    facts.command([*sys.argv[1:], "--format", "json"])

"""`cudalint facts --format json`, with second entries at lines where only a profiler lists an instruction.

Those of calls (`call_lines.py`) and of the toolkit's headers (`header_lines.py`): they are needed to set predictions
beside what was measured line by line, and say nothing that the first entries don't say. Takes the arguments of
`cudalint facts`, and `--cuda-path` for the headers.
"""

from __future__ import annotations

import sys

from call_lines import with_call_lines
from header_lines import with_toolkit_lines

from cudalint.cli import facts as command
from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.formats.facts_json import file_text


def as_json(facts: FileFacts, options: AnalysisOptions) -> str:
    """The text of one file, as of the command itself, but for what is added."""
    return file_text(with_toolkit_lines(with_call_lines(facts), options.cuda_path))


if __name__ == "__main__":
    command.as_json = as_json
    command.command([*sys.argv[1:], "--format", "json"])

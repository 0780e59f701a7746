"""Whether other sources near a file use what it includes, so that a change there concerns them, too."""

from __future__ import annotations

import os
import re

from cudalint.heuristics import heuristic
from cudalint.launches.program.mentions import CALLING, HEADERS
from cudalint.launches.program.neighbours import sources_near
from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.folders import small_file

_INCLUDE = regex(rb"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]+)[\">]", re.MULTILINE)


@disk.question
@heuristic("headers-of-many", "headers that other files use").otherwise(False)
def is_included_elsewhere(header: str, path: str) -> bool:
    """Whether a source near either of them, other than `path`, includes the header, be it through others.

    Files are identified by their last names only: one too many is looked at rather than one too few.
    """
    near = {disk.resolved(f): f for f in (*_near(header), *_near(path))}
    includes = {file: {os.path.basename(name) for name in _INCLUDE.findall(small_file(file))} for file in near}
    reached, waiting = {disk.resolved(header)}, [os.path.basename(header)]
    while waiting:
        name = waiting.pop().encode()
        for file, names in includes.items():
            if name in names and file not in reached:
                reached.add(file)
                waiting.append(os.path.basename(file))
    others = reached - {disk.resolved(header), disk.resolved(path)}
    return any(other.endswith(CALLING) for other in others)


def _near(path: str) -> list[str]:
    return sources_near(path, (*CALLING, *HEADERS))

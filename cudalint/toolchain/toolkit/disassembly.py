"""Where compiled kernels spill registers, by the lines of their source, as nvdisasm lists their code."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.regexes import regex
from cudalint.toolchain.toolkit.usage import SpillLine

_KERNEL = regex(r"^\.text\.(\S+):$")
_LINE = regex(r'^\s*//## File "(?P<path>.*?)", line (?P<line>\d+)(?P<rest>.*)$')
_SPILL = regex(r'^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?(?P<name>LDL|STL)\b.*"SpillRefill"')


def spill_lines(listing: str) -> Iterator[tuple[str, SpillLine]]:
    """Of each kernel, the lines with stores or loads of registers, in the order of the code. That of code of a function
    that was inlined is the one in the function."""
    kernel, place = "", ("", 0)
    found: dict[tuple[str, str, int], list[int]] = {}
    is_first = True
    for text in listing.splitlines():
        if (entry := _KERNEL.match(text)) is not None:
            kernel, place = entry[1], ("", 0)
        elif (line := _LINE.match(text)) is not None:
            # What it is inlined in follows, from the inside out.
            if is_first:
                place = line["path"], int(line["line"])
            is_first = "inlined at" not in line["rest"]
        elif (access := _SPILL.match(text)) is not None and place[1]:
            counts = found.setdefault((kernel, *place), [0, 0])
            counts[access["name"] == "LDL"] += 1
    for (of, path, number), (stores, loads) in found.items():
        yield of, SpillLine(path, number, stores, loads)

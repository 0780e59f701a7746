"""The text of a file of recorded launches.

It is the same for the same launches, in whatever order they were seen: kernels by their names, a line for each launch.
"""

from __future__ import annotations

import functools
from typing import Final

import msgspec

from cudalint.launches.recorded.arguments import bytes_of
from cudalint.launches.recorded.ordering import kernel_order, launch_order
from cudalint.launches.recorded.records import VERSION, RecordedKernel, Recording

_MOST_LAUNCHES: Final = 1_000_000
_MOST_KEPT: Final = 4


class RecordingError(ValueError):
    """A file holds no recorded launches; the message is one line without its name."""


@functools.lru_cache(_MOST_KEPT)
def recording_in(data: bytes) -> Recording:
    """The launches that a text holds. Raises RecordingError."""
    try:
        found = msgspec.json.decode(data, type=Recording)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise RecordingError(f"it holds no recorded launches: {error}") from error
    if found.version != VERSION:
        raise RecordingError(f"its version is {found.version}, and this cudalint reads version {VERSION}")
    if found.launches > _MOST_LAUNCHES:
        raise RecordingError(f"it has more than {_MOST_LAUNCHES} launches")
    for kernel in found.kernels:
        _check(kernel)
    return found


def _check(kernel: RecordedKernel) -> None:
    for launch in kernel.launches:
        if launch.arguments is None:
            continue
        sizes = kernel.parameters
        if sizes is None or len(sizes) != len(launch.arguments):
            raise RecordingError(f"a launch of {kernel.symbol[:80]} has other arguments than the kernel has parameters")
        try:
            for argument, size in zip(launch.arguments, sizes, strict=True):
                bytes_of(argument, size)
        except ValueError as error:
            raise RecordingError(f"an argument of {kernel.symbol[:80]} can't be read: {error}") from error


def text_of(recording: Recording) -> str:
    """What the file holds."""
    plain = msgspec.to_builtins(recording)
    kernels = sorted(recording.kernels, key=kernel_order)
    head = [f"  {_json(name)}: {_json(value)}" for name, value in plain.items() if name != "kernels"]
    body = ",\n".join(map(_kernel_text, kernels))
    return "{\n" + ",\n".join([*head, f'  "kernels": [\n{body}\n  ]' if kernels else '  "kernels": []']) + "\n}\n"


def _kernel_text(kernel: RecordedKernel) -> str:
    plain = msgspec.to_builtins(kernel)
    head = ", ".join(f"{_json(name)}: {_json(value)}" for name, value in plain.items() if name != "launches")
    launches = ",\n".join(
        f"      {_json(msgspec.to_builtins(each))}" for each in sorted(kernel.launches, key=launch_order)
    )
    return f'    {{{head}, "launches": [\n{launches}\n    ]}}'


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()

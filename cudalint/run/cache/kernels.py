"""Facts of kernels that several files include: kept for the others, and for later runs, by what they rest on.

As all of the cache they are typed records in msgpack; what doesn't read as one is none, and what would not come out as
it went in is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.msgpack import Decoder

from cudalint.facts import KernelFacts
from cudalint.host.values.nodes import Choice
from cudalint.run.cache.entries import ENCODER, array_of, opened, path_of, put
from cudalint.system.disk.recorder import Seen
from cudalint.system.disk.regular import is_kept


class KeptKernel(Struct, array_like=True):
    facts: KernelFacts
    chosen: dict[int, Choice]
    """What holds for the host code's sizes behind it, by the positions of their symbols in what it was given."""
    work: int
    """What its evaluation took, as the graph counts."""


@cache
def _kernels() -> Decoder[KeptKernel]:
    return Decoder(KeptKernel, ext_hook=array_of)


def read_kernel(folder: str, key: bytes) -> tuple[KeptKernel, Seen] | None:
    """What is kept under a key, and what of the disk it rests on; None where there is none, or a damaged one."""
    try:
        seen, facts = opened(path_of(folder, key), key)
        return _kernels().decode(facts), seen
    except (OSError, msgspec.MsgspecError, ValueError, TypeError):
        return None


def write_kernel(folder: str, key: bytes, kernel: KeptKernel, seen: Seen, without: re.Pattern[bytes]) -> bool:
    """Keeps it, if it comes out as it went in, and has nothing of what it is to be without."""
    path = path_of(folder, key)
    try:
        if is_kept(path):
            return False
        data = ENCODER.encode(kernel)
        if without.search(data) or not is_same(_kernels().decode(data), kernel):
            return False
        put(path, key, seen, data)
    except (OSError, msgspec.MsgspecError, ValueError, TypeError, NotImplementedError):
        return False
    return True


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same in all that a program may see of them but which object they are."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Struct):
        return all(is_same(getattr(one, name), getattr(other, name)) for name in one.__struct_fields__)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, Mapping):
        return len(one) == len(other) and all(map(is_same, one.items(), other.items()))
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    if isinstance(one, float):
        return bool(one.hex() == other.hex())
    return bool(one == other)

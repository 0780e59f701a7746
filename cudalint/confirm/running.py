"""Runs one trial. This happens in a process of its own, which a fault or a hang may take along."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from cudalint.confirm import instrument
from cudalint.confirm.device import CompileFailure, CupyGpu, Fault, Gpu, Kernel, Memory, digest, first_line, pattern_of
from cudalint.confirm.trials import Argument, BranchCount, Buffer, Log, Outcome, Trial
from cudalint.hardware.requests import WARP_LANES


def run_on_gpu(trial: Trial) -> Outcome:
    """For worker processes."""
    return run(trial, CupyGpu())


def run(trial: Trial, gpu: Gpu) -> Outcome:
    """Compiles a kernel, runs it once on fresh data, and then as often as it takes to time it."""
    try:
        kernel = gpu.compile(trial)
    except CompileFailure as error:
        return Outcome(compile_error=first_line(error))
    outcome = Outcome(module=kernel.figures())
    try:
        memories = [gpu.fill(b, pattern_of(b, i, trial)) for i, b in enumerate(trial.buffers)]
    except Exception as error:
        # Most likely there is not as much memory.
        return replace(outcome, refused=f"its arguments cannot be made: {first_line(error)}", retire=True)
    try:
        arguments = images(trial.arguments, trial.buffers, memories)
        if trial.sites:
            return replace(outcome, log=_record(kernel, gpu, trial, arguments))
        kernel.launch(arguments)
        outcome = _with_aftermath(outcome, trial, memories)
        if trial.timed:
            outcome = replace(outcome, milliseconds=kernel.time(arguments))
        return outcome
    except Fault as fault:
        return replace(outcome, run_error=str(fault), retire=not fault.launch)
    except Exception as error:
        # Whatever else a driver has to say.
        return replace(outcome, run_error=first_line(error), retire=True)


def images(arguments: Sequence[Argument], buffers: Sequence[Buffer], memories: Sequence[Memory]) -> list[bytes]:
    """The parameters with the addresses of their buffers in them."""
    found: list[bytes] = []
    for argument in arguments:
        image = bytearray(argument.image)
        for pointer in argument.pointers:
            address = memories[pointer.buffer].address - buffers[pointer.buffer].low + pointer.base
            struct.pack_into("<Q", image, pointer.offset, address)
        found.append(bytes(image))
    return found


def _with_aftermath(outcome: Outcome, trial: Trial, memories: Sequence[Memory]) -> Outcome:
    """The outcome with what the kernel has left in and around its buffers."""
    named = list(zip([buffer.name for buffer in trial.buffers], memories, strict=True))
    return replace(
        outcome,
        digests={name: digest(memory.read()) for name, memory in named} if trial.is_compared else {},
        overrun=tuple(name for name, memory in named if memory.is_overrun()),
    )


def _record(kernel: Kernel, gpu: Gpu, trial: Trial, arguments: Sequence[bytes]) -> Log:
    """The first run counts the requests, the second one writes down as large a share of them as there is room for."""
    one, each = np.zeros(1, dtype=np.uint32), np.zeros(trial.sites, dtype=np.uint32)
    kernel.write_global("cudalint_capacity", one)
    kernel.launch(arguments)
    totals = kernel.read_global("cudalint_totals", each)
    visits, splits = (kernel.read_global(f"cudalint_{name}", each).tolist() for name in ("visits", "splits"))
    branches = {site: BranchCount(n, splits[site]) for site, n in enumerate(visits) if n}
    part = max(1, instrument.CAPACITY // trial.sites)
    # What is kept is drawn, so that it may be a few more than a part.
    capacity = max(1, int(np.minimum(totals, 2 * part).sum()))
    log = [_zeros(gpu, capacity * WARP_LANES * 8), _zeros(gpu, capacity * instrument.HEAD_WORDS * 4)]
    for name, memory in zip(("cudalint_addresses", "cudalint_heads"), log, strict=True):
        kernel.write_global(name, np.array([memory.address], dtype=np.uint64))
    kernel.write_global("cudalint_capacity", np.array([capacity], dtype=np.uint32))
    kernel.write_global("cudalint_shares", np.maximum(1, np.ceil(totals / part)).astype(np.uint32))
    kernel.write_global("cudalint_totals", each)
    kernel.write_global("cudalint_count", one)
    kernel.launch(arguments)
    count = int(kernel.read_global("cudalint_count", one)[0])
    return instrument.decode(log[0].read().view(np.uint64), log[1].read().view(np.uint32), count, branches)


def _zeros(gpu: Gpu, size: int) -> Memory:
    return gpu.fill(Buffer("", 0, size, "other", 1), np.zeros(1, dtype=np.uint8))

"""The GPUs that the linter knows: their limits, sizes and peaks, each with its source.

The figures live in `targets.json`, whose `about` gives the units.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from msgspec import Struct


class UnknownTarget(ValueError):
    """No chip or architecture has this name; `name` is what was asked for, `close` the names most like it."""

    def __init__(self, name: str, close: tuple[str, ...], is_too_old: bool = False) -> None:
        super().__init__(name, close, is_too_old)
        self.name = name
        self.close = close
        self.is_too_old = is_too_old

    def __str__(self) -> str:
        if self.is_too_old:
            return f"'{self.name}' is older than sm_61 (Pascal), with which the model begins"
        if self.close:
            return f"unknown target '{self.name}'; did you mean {', '.join(self.close)}?"
        return f"unknown target '{self.name}'; known are {', '.join(target_names())}"


class Target(Struct, frozen=True):
    """One GPU: shared memory in bytes, peaks without sparsity in 10^12 operations per second.

    `sources` says for each group of figures (limits, shared_memory, allocation, lanes, l2, sm_count, peaks) which
    document and section it comes from.
    """

    name: str
    title: str
    architecture: str
    compute_capability: tuple[int, int]
    sm_count: int

    warp_size: int
    max_threads_per_block: int
    max_block_dimensions: tuple[int, int, int]
    max_grid_dimensions: tuple[int, int, int]
    max_threads_per_sm: int
    max_blocks_per_sm: int

    registers_per_sm: int
    registers_per_block: int
    max_registers_per_thread: int
    """The bound of NVIDIA's occupancy calculator; the instruction set can name 255 of them."""
    register_allocation_unit: int
    """Registers are given to warps in this many at once."""
    sub_partitions: int
    """Each has its share of the SM's registers, which its warps can't exceed."""

    shared_per_sm: int
    shared_per_block: int
    shared_per_block_opt_in: int
    shared_reserved_per_block: int
    shared_allocation_unit: int
    shared_capacities: tuple[int, ...]
    """The sizes that the SM's memory can be divided into, ascending; the rest of it is L1 cache."""

    lanes: Mapping[str, int]
    """Results per clock and SM of `fp32`, `fp64` and `fp16` multiply-adds and of the `special` function unit."""
    l2_bytes: int

    fp32_tflops: float
    bandwidth_gb_s: float
    tensor_tflops: Mapping[str, float]
    sources: Mapping[str, str]

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def max_warps_per_sm(self) -> int:
        """Warps that can be resident on one SM."""
        return self.max_threads_per_sm // self.warp_size

    @property
    def clock_ghz(self) -> float:
        """The clock that the peak of FP32 is stated for: a lane does a multiply-add, which counts 2, in each cycle."""
        return self.fp32_tflops * 1000 / (2 * self.lanes["fp32"] * self.sm_count)

    @property
    def ridge(self) -> float:
        """Arithmetic intensity (FLOP/byte) where the roofline of FP32 without tensor cores turns flat."""
        return self.fp32_tflops * 1000 / self.bandwidth_gb_s


def find_target(name: str) -> Target:
    """Find a target by chip (`a100`, `RTX 4090`) or architecture (`sm_80`, `compute_90a`), whatever the case.

    An architecture stands for its representative chip, which only matters for SM count and peaks.
    Raises UnknownTarget, with the names most like it, where there is none.
    """
    names = _names()
    key = _normal(name)
    if key in names:
        return _load(names[key])
    if _is_too_old(key):
        raise UnknownTarget(name, (), is_too_old=True)
    import difflib

    close = difflib.get_close_matches(key, names, n=5, cutoff=0.5)
    raise UnknownTarget(name, tuple(dict.fromkeys(_spelling(match) for match in close)))


def target_names() -> tuple[str, ...]:
    """All chip names and then all architectures, as `find_target` takes them."""
    data = _data()
    return (*data["chips"], *data["architectures"])


def _normal(name: str) -> str:
    """Reduce a name to letters and digits: `NVIDIA A100-80GB` to `a10080gb`, `compute_90a` to `sm90`."""
    key = re.sub(r"[^a-z0-9]", "", name.lower())
    for prefix in ("nvidia", "geforce", "tesla"):
        key = key.removeprefix(prefix)
    return re.sub(r"^(?:sm|compute)(\d+)[af]?$", r"sm\1", key)


def _is_too_old(key: str) -> bool:
    """Whether a name is that of a GPU before those that there are figures of."""
    match = re.fullmatch(r"sm(\d)(\d)", key)
    oldest = min(figures["compute_capability"] for figures in _data()["architectures"].values())
    return [int(match[1]), int(match[2])] < oldest if match else key in _data()["before"]


def _spelling(key: str) -> str:
    """Give a reduced name as the data file spells it."""
    return next((name for name in target_names() if _normal(name) == key), _names()[key])


@cache
def _names() -> dict[str, str]:
    """Map every reduced name, alias and architecture to its chip."""
    data = _data()
    names = {_normal(arch): figures["representative"] for arch, figures in data["architectures"].items()}
    for chip, figures in data["chips"].items():
        names.update({_normal(alias): chip for alias in (chip, *figures["aliases"])})
    # `4090` is plain.
    short = {key.removeprefix("rtx"): chip for key, chip in names.items() if re.match(r"rtx\d", key)}
    return {**short, **names}


@cache
def _load(chip: str) -> Target:
    """Put a chip's target together from what is common, its architecture's and its own figures."""
    data = _data()
    own = data["chips"][chip]
    figures = {**data["common"], **data["architectures"][own["architecture"]]}
    del figures["representative"]
    sources = {
        **data["sources"],
        "sm_count": own.get("sm_count_source", own["source"]),
        "peaks": own["source"],
    }
    # JSON has no tuples, and a frozen target should hold nothing that can be changed by mistake.
    figures = {key: tuple(value) if isinstance(value, list) else value for key, value in figures.items()}
    return Target(
        name=chip,
        title=own["title"],
        architecture=own["architecture"],
        sm_count=own["sm_count"],
        fp32_tflops=float(own["fp32_tflops"]),
        bandwidth_gb_s=float(own["bandwidth_gb_s"]),
        l2_bytes=own["l2_bytes"],
        tensor_tflops={kind: float(peak) for kind, peak in own["tensor_tflops"].items()},
        sources=sources,
        **figures,
    )


@cache
def _data() -> dict[str, Any]:
    text = resources.files("cudalint.hardware").joinpath("targets.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data

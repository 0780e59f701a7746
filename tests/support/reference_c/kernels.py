"""Whole kernels with their launches: their source, and every warp-level request that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reference_c.ctypes_ import CType, Number
from reference_c.statements import Array, Helper, Site, Statement, Thread, Writer, run_all

WARP = 32
SECTOR = 32
BANKS = 32
WORD = 4

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class Figures:
    """What a profiler would say about one access."""

    requests: int
    cost: float
    """Sectors or wavefronts, in the mean over all requests."""
    ideal: float
    lanes: float


@dataclass
class Kernel:
    name: str
    block: Extents
    grid: Extents
    arrays: Sequence[Array]
    parameters: Sequence[tuple[str, CType, int]]
    """Name, type and the launch's argument."""
    helpers: Sequence[Helper]
    body: Sequence[Statement]

    def source(self) -> str:
        """The file's text; statements learn their lines from it."""
        writer = Writer()
        writer.add("template <class T> __device__ float touch(const T& value) { return (float)value; }")
        writer.add("template <class T> __device__ void fill(T& value) { value = (T)1; }")
        for helper in self.helpers:
            helper.write(writer)
        self._write_kernel(writer)
        self._write_launch(writer)
        return "\n".join(writer.lines) + "\n"

    def _pointers(self) -> list[Array]:
        return [a for a in self.arrays if a.space == "global"]

    def _write_kernel(self, writer: Writer) -> None:
        spelled = [f"{a.element}* {a.name}" for a in self._pointers()]
        spelled += [f"{type_.name} {name}" for name, type_, _ in self.parameters]
        writer.add(f"__global__ void {self.name}({', '.join(spelled)}) {{")
        for array in self.arrays:
            if array.space == "shared":
                extents = "".join(f"[{e}]" for e in array.extents)
                writer.add(f"    __shared__ {array.element} {array.name}{extents};")
        writer.add("    float sink = 0;")
        writer.body(self.body)
        writer.add("}")

    def _write_launch(self, writer: Writer) -> None:
        pointers = ", ".join(f"{a.element}* {a.name}" for a in self._pointers())
        given = [a.name for a in self._pointers()] + [str(value) for _, _, value in self.parameters]
        grid, block = (", ".join(map(str, e)) for e in (self.grid, self.block))
        writer.add(f"void launch({pointers}) {{")
        writer.add(f"    {self.name}<<<dim3({grid}), dim3({block})>>>({', '.join(given)});")
        writer.add("}")

    def figures(self) -> dict[Site, Figures]:
        """Runs every thread of every block; `source` must have been called before."""
        gathered: dict[Site, list[list[int]]] = {}
        for warp in self._warps():
            requests: dict[tuple[Site, tuple[int, ...]], list[int]] = {}
            for thread in warp:
                run_all(self.body, thread)
                for site, iterations, address in thread.touched:
                    requests.setdefault((site, iterations), []).append(address)
            for (site, _), addresses in requests.items():
                gathered.setdefault(site, []).append(addresses)
        arrays = {a.name: a for a in self.arrays}
        return {site: figures_of(requests, arrays[site.array]) for site, requests in gathered.items()}

    def _warps(self) -> Iterator[list[Thread]]:
        dx, dy, dz = self.block
        count = dx * dy * dz
        gx, gy, gz = self.grid
        for number in range(gx * gy * gz):
            block = (number % gx, number // gx % gy, number // (gx * gy))
            for first in range(0, count, WARP):
                lanes = range(first, min(first + WARP, count))
                yield [self._thread((i % dx, i // dx % dy, i // (dx * dy)), block) for i in lanes]

    def _thread(self, thread: Extents, block: Extents) -> Thread:
        variables: dict[str, Number] = {name: value for name, _, value in self.parameters}
        places = {"threadIdx": thread, "blockIdx": block, "blockDim": self.block, "gridDim": self.grid}
        for name, indices in places.items():
            variables |= {f"{name}.{axis}": i for axis, i in zip("xyz", indices, strict=True)}
        return Thread(variables, [])


def figures_of(requests: Sequence[Sequence[int]], array: Array) -> Figures:
    """The means over requests, each given by the addresses of its active lanes."""
    costs = [cost_of(addresses, array) for addresses in requests]
    lanes = [len(addresses) for addresses in requests]
    unit = SECTOR if array.space == "global" else BANKS * WORD
    ideals = [min(c, -(-n * array.bytes // unit)) for c, n in zip(costs, lanes, strict=True)]
    count = len(requests)
    return Figures(count, sum(costs) / count, sum(ideals) / count, sum(lanes) / count)


def cost_of(addresses: Sequence[int], array: Array) -> int:
    """Sectors of a global request; wavefronts of a shared one with at most one word per lane."""
    if array.space == "global":
        return len({byte // SECTOR for a in addresses for byte in range(a, a + array.bytes)})
    assert array.bytes <= WORD
    words = {a // WORD for a in addresses}
    return max(sum(1 for w in words if w % BANKS == bank) for bank in range(BANKS))

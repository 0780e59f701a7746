"""CL507: launches with several blocks along an axis that the kernel never reads."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts, LaunchSite, UnreadAxis
from cudalint.launchkit import launch_at, percent
from cudalint.rule import Rule, RuleContext


class IndexNeverRead(Rule):
    """A launch along an axis that its kernel never reads.

    What it does
        Looks at the blocks along x, y and z of each launch in sight, and at the threads along y and z, where there are
        several. If neither the kernel nor what it calls reads its index along that axis, and neither an address nor a
        condition nor a stored number depends on it, then all of them do the same work and store the same numbers to
        the same places.

    Why is this bad
        With 48 blocks along y, 47 of 48 parts of the work are done for nothing. And it is often a slip: an index that
        was to be used, a `blockIdx.x` that was to be a `blockIdx.y`, or the extents of another kernel's launch.

    Example
        __global__ void scale(float *data, int columns) {
            int column = blockIdx.x * blockDim.x + threadIdx.x;
            data[column] *= 2.0f;                               // of no row
        }
        scale<<<dim3(columns / 256, rows), 256>>>(data, columns);

    Use instead
        __global__ void scale(float *data, int columns) {
            int column = blockIdx.x * blockDim.x + threadIdx.x;
            data[blockIdx.y * columns + column] *= 2.0f;
        }

    How sure it is
        Nothing is reported in 107 files of HeCBench, Rodinia, Caffe, llm.c and NVIDIA's samples, drawn at random; of 7
        programs whose grids were given 8 blocks along y, 6 are reported with them.

    What is not reported
        - Extents that the host code in sight does not give as a number.
        - Kernels with atomics, fences, grid-wide barriers, inline PTX or functions that are not in sight: their blocks
          may share out the work in another way.
        - Threads along y of a block that has no whole warps along x: they may do something together as a warp.
    """

    code = "CL507"
    name = "unread-axis"
    severity = "warning"
    summary = "blocks or threads along an axis that the kernel never reads"
    by_hand = "either the launch or the index may be what was meant"
    reads = frozenset({"axes"})
    is_waste = True

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for found in kernel.axes:
            launch = kernel.launches[found.launch]
            for site in (launch.site, *launch.twins):
                if site is not None and not launch.is_made_up and _known_extent(site, found) == found.extent:
                    yield self._diagnostic(kernel, found, site)

    def _diagnostic(self, kernel: KernelFacts, found: UnreadAxis, site: LaunchSite) -> Diagnostic:
        index = f"{'threadIdx' if found.of_block else 'blockIdx'}.{found.axis}"
        who = "threads" if found.of_block else "blocks"
        repeated = 1 - 1 / found.extent
        return self.finding(
            kernel,
            place=site.place,
            message=(
                f"nothing in `{kernel.name}` depends on `{index}`: all {found.extent} {who} along {found.axis} do the "
                f"same, {percent(repeated)} of the work for nothing"
            ),
            launches=(launch_at(kernel, found.launch, site.place),),
            assumptions=found.assumptions,
            figures={"extent": float(found.extent), "repeated_share": repeated},
            related=(Related(found.store, f"each of them stores to `{found.array}` here"),),
            suggestion=Suggestion(f"launch one along {found.axis}, or use `{index}`"),
        )


def _known_extent(site: LaunchSite, found: UnreadAxis) -> int | None:
    return (site.block if found.of_block else site.grid)["xyz".index(found.axis)]

"""CL702: small kernels that are launched one by one in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import HostStep, KernelFacts, LaunchCost
from cudalint.numerals import figure
from cudalint.rule import Rule, RuleContext


class LaunchOverhead(Rule):
    """A kernel in a loop of the host whose time is that of its launch.

    What it does
        Looks at launches in loops of the host, and reports those for which the time model says that the launch itself
        takes longer than anything that the kernel does.

    Why is this bad
        A launch takes some 2 microseconds of the GPU to begin and to end, and some 5 of the host. A kernel that has
        less to do than that leaves the GPU idle most of the time.

    Why it is off by default
        Loops that measure a kernel's time launch it again and again, and many loops of a few iterations take no time
        that anybody would miss.

    What is not reported
        - Launches between `cudaStreamBeginCapture` and `cudaStreamEndCapture`, which are recorded as a graph.

    Example
        for (int step = 0; step < steps; step++)
            advance<<<4, 256>>>(state, step);

    Use instead
        advance_all<<<1, 1024>>>(state, steps);     // the loop in the kernel, with a barrier after each step

        Or record the launches once as a CUDA graph, which launches them for a fraction of the host's time.
    """

    code = "CL702"
    name = "launch-overhead"
    severity = "info"
    summary = "small kernels that are launched one by one in a loop"
    by_hand = "how the loop's launches become one is up to what they do"
    reads = frozenset({"launch_order", "costs"})
    judges_by_target = True
    on_by_default = False

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        steps = context.file.host.launches if context.file.host is not None else ()
        for cost in kernel.costs or ():
            launch = kernel.launches[cost.launch]
            if cost.bound != "launch" or cost.time_us is None or launch.is_made_up or launch.grid_is_assumed:
                continue
            for step in steps:
                is_alone = step.loop is not None and not step.is_captured
                if step.kernel == kernel.name and is_alone and step.place.line == launch.line:
                    yield self._diagnostic(kernel, step, cost, context)

    def _diagnostic(
        self, kernel: KernelFacts, step: HostStep, cost: LaunchCost, context: RuleContext
    ) -> Diagnostic:
        work = max((time for name, time in cost.limits_us.items() if name != "launch"), default=0.0)
        assert step.loop is not None
        return self.finding(
            kernel,
            place=step.place,
            message=(
                f"`{kernel.name}` is launched in a loop, and its work takes about {figure(work)} microseconds on "
                f"{context.target.name}, the launch {figure(cost.limits_us.get('launch', 0.0))}"
            ),
            launches=(kernel.launches[cost.launch],),
            assumptions=cost.assumptions,
            figures={"work_us": work},
            related=(Related(step.loop, "the loop"),),
            suggestion=Suggestion("move the loop into the kernel, or record the launches as a CUDA graph"),
        )

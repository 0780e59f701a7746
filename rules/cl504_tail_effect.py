"""CL504: grids that leave SMs without blocks."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts
from cudalint.hardware.targets import Target
from cudalint.launchkit import Seen, counted_registers, launch_finding, percent, seen_launches
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count


class TailEffect(Rule):
    """A grid with fewer blocks than the GPU has SMs, or with a last wave that fills few of them.

    What it does
        Counts the blocks of a grid in sight against the SMs of the target, and against the blocks that are resident
        on all SMs at once (a wave), where the registers are known (`--registers`, `--cubin`, `--ptxas`). Reports the
        share of the GPU that has nothing to do: in all of the launch, or on the mean over its waves, if that is
        more than the threshold.

    Why is this bad
        A kernel takes as long as its last wave. With 109 blocks for 108 SMs, one block per SM, 107 SMs wait for the
        last one, and the launch takes twice the time of 108.

    Why it is off by default
        A small grid often has a small problem, which no other launch would speed up; and how many SMs there are
        depends on the GPU that the program runs on in the end. In programs of public collections less than nine of
        ten findings were worth a change. Turn it on for a kernel whose time matters, with the `--target` that it
        runs on.

    Example
        sum<<<64, 256>>>(in, out, 1 << 24);             // a100: 44 of 108 SMs idle

    Use instead
        sum<<<8 * 108, 256>>>(in, out, 1 << 24);        // a grid-stride loop fills all of them, 8 blocks each
    """

    code = "CL504"
    name = "tail-effect"
    severity = "info"
    summary = "grids that leave SMs without blocks"
    by_hand = "how the work is divided among blocks has to change"
    reads = frozenset({"occupancy"})
    is_waste = True
    judges_by_target = True
    on_by_default = False
    thresholds = {"idle": 0.25}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["idle"]
        for seen in seen_launches(kernel):
            blocks, threads = seen.site.blocks, seen.site.threads
            if blocks is None or threads is None or seen.occupancy.obstacles:
                continue
            # Code for one thread or one block, a set-up or a last step, is not meant to fill a GPU.
            if blocks == 1:
                continue
            few = blocks < context.target.sm_count
            found = (self._few_blocks if few else self._waves)(kernel, seen, blocks, context.target)
            if found is not None and found.figures["idle_fraction"] >= least:
                yield found

    def _few_blocks(self, kernel: KernelFacts, seen: Seen, blocks: int, target: Target) -> Diagnostic | None:
        idle = 1 - blocks / target.sm_count
        message = (
            f"{count(blocks, 'block')} for the {target.sm_count} SMs of {target.name}: "
            f"{percent(idle)} of the GPU has nothing to do"
        )
        figures = {"blocks": float(blocks), "sm_count": float(target.sm_count), "waves": 1.0, "idle_fraction": idle}
        advice = Suggestion("smaller blocks, or less work per thread, give more SMs a part of it")
        return launch_finding(self, kernel, seen, message, figures, advice)

    def _waves(self, kernel: KernelFacts, seen: Seen, blocks: int, target: Target) -> Diagnostic | None:
        per_sm = seen.occupancy.blocks_per_sm
        if counted_registers(kernel.resources) is None or not per_sm or seen.site.dynamic_shared_bytes is None:
            return None
        wave = per_sm * target.sm_count
        waves = -(-blocks // wave)
        last = blocks - (waves - 1) * wave
        if waves == 1:
            # All blocks are resident at once; how they spread over the SMs is the hardware's choice.
            return None
        idle = 1 - blocks / (waves * wave)
        message = (
            f"{count(blocks, 'block')} in {waves} waves of {wave}: the last wave has {last} "
            f"({percent(last / wave)}), and {percent(idle)} of the launch is idle"
        )
        figures = {
            "blocks": float(blocks),
            "blocks_per_wave": float(wave),
            "waves": blocks / wave,
            "idle_fraction": idle,
        }
        advice = f"a grid of {wave} blocks with a grid-stride loop makes one full wave"
        before, after = {"idle_percent": 100 * idle}, {"idle_percent": 0.0}
        return launch_finding(self, kernel, seen, message, figures, Suggestion(advice, before=before, after=after))

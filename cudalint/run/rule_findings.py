"""What rules find in the facts of a file. This knows no single rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related
from cudalint.facts import FileFacts, KernelFacts
from cudalint.facts.needs import Need
from cudalint.frontend.source_text import source_text
from cudalint.hardware.features import target_for
from cudalint.hardware.targets import Target, find_target
from cudalint.options.suppressions import Finding
from cudalint.registry import RuleClass
from cudalint.rule import Rule, RuleContext
from cudalint.run.job import CheckJob
from cudalint.run.unchecked import Unchecked
from cudalint.system.processes.time_limit import OutOfTime, interruptible, may_interrupt


def rule_findings(
    facts: FileFacts, job: CheckJob, rules: Iterable[RuleClass], unchecked: Unchecked
) -> Iterator[Finding]:
    """What the rules find; one that fails costs what it has to say of one kernel, which `unchecked` notes."""
    configured = find_target(job.options.target)
    for rule_class in rules:
        if not issubclass(rule_class, Rule):
            continue
        rule = rule_class()
        limits = {**rule_class.thresholds, **job.thresholds.get(rule_class.code, {})}
        context = RuleContext(facts, configured, limits, partial(source_text, options=job.options))
        of_kernels = ((kernel.name, _findings_in(kernel, rule, context)) for kernel in facts.kernels)
        for name, part in chain([(None, _findings_of_file(rule, context))], of_kernels):
            try:
                with interruptible():
                    found = list(part)
                yield from found
            except OutOfTime:
                if may_interrupt():
                    raise  # Whoever runs these is to be interrupted as a whole.
                unchecked.late(rule_class.code, name)
            except Exception as error:
                unchecked.failed(rule_class, name, error)


def _findings_of_file(rule: Rule, context: RuleContext) -> Iterator[Finding]:
    for diagnostic in rule.check_file(context):
        yield Finding(None, diagnostic)


def _findings_in(kernel: KernelFacts, rule: Rule, context: RuleContext) -> Iterator[Finding]:
    configured = context.target
    target = target_for(configured, kernel.need)
    if target is None and rule.judges_by_target:
        return  # No GPU is known that could run it.
    for diagnostic in rule.check(kernel, replace(context, target=target or configured)):
        if rule.judges_by_target and kernel.need and target and target is not configured:
            diagnostic = replace(diagnostic, message=f"{diagnostic.message}; {_judged_by(target, kernel.need)}")
        if rule.is_waste and diagnostic.severity == rule.severity:  # A note of what may be lost has no cost.
            # numpy is for workers alone.
            from cudalint.hardware.cost.of_findings import with_cost

            diagnostic = with_cost(diagnostic, kernel, target or configured)
        if diagnostic.condition and _is_recorded(diagnostic):
            diagnostic = replace(diagnostic, condition="", separated_by=diagnostic.condition)
        if "ideal_sectors" in diagnostic.figures or "ideal_wavefronts" in diagnostic.figures:
            diagnostic = replace(diagnostic, message=f"{diagnostic.message}{_mean(diagnostic)}")
        if not diagnostic.headline and not diagnostic.condition:
            diagnostic = replace(diagnostic, condition=_made_up(diagnostic, rule))
        if diagnostic.severity == "error":
            diagnostic = replace(diagnostic, related=(*diagnostic.related, *_calls(diagnostic)))
        yield Finding(kernel, diagnostic)


def _calls(diagnostic: Diagnostic) -> Iterator[Related]:
    """The call that gives the first launch its numbers, which its own line doesn't show: an error is about one of
    several callers, and maybe not one of this file."""
    launch = next(iter(diagnostic.launches), None)
    if launch is not None and launch.called_from is not None and launch.source == "launch-site":
        yield Related(launch.called_from, f"the call that the launch at line {launch.line} has its numbers from")


def _is_recorded(diagnostic: Diagnostic) -> bool:
    """Whether the program does make launches in which a finding is there."""
    recorded = [launch.recorded for launch in diagnostic.launches]
    return bool(recorded) and not diagnostic.kept and all(each is not None and each.is_whole for each in recorded)


def _mean(diagnostic: Diagnostic) -> str:
    """That the figures are a mean over recorded launches, where several were evaluated that differ."""
    launches = sum(launch.recorded.evaluated for launch in diagnostic.launches if launch.recorded is not None)
    several = any(launch.recorded is not None and launch.recorded.evaluated > 1 for launch in diagnostic.launches)
    return f", in the mean of {launches} recorded launches" if several else ""


def _made_up(diagnostic: Diagnostic, rule: Rule) -> str:
    """What a finding rests on where names of its kernel that nothing declares were given numbers, or parameters of its
    template for which nothing says any; empty where neither is so. Threads are in no more order for other numbers."""
    if rule.reads & {"races", "barriers"}:
        return ""
    names = dict.fromkeys(name for launch in diagnostic.launches for name in (*launch.guesses, *launch.made_up))
    return f"{', '.join(names)} as assumed" if names else ""


def _judged_by(target: Target, need: Need) -> str:
    major, minor = need.support.least
    return f"{target.name} is the smallest GPU in question: `{need.feature}` (line {need.line}) needs sm_{major}{minor}"

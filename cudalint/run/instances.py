"""Which instances of a kernel are evaluated, in which order, and under which of its launches."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.facts import Gap, KernelFacts
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.values.evaluation import holds
from cudalint.host.values.graph import Graph
from cudalint.ir import nodes as ir
from cudalint.ir.units import Unit
from cudalint.regexes import regex
from cudalint.source.code import CodeText
from cudalint.source.spanning import spanning

_GIVEN_FUNCTION: Final = regex(r"[<,]\s*&\w")
"""A function among the arguments of a template, as clang spells it."""


class Instances(Struct, eq=False):
    """Those of one kernel. They are evaluated one after the other, and may be left in between for other kernels."""

    ref: ir.FunctionRef
    own: Sequence[HostLaunch]
    """The launches of the kernel."""
    graph: Graph
    kernel: Callable[[ir.FunctionRef, Sequence[HostLaunch]], KernelFacts | None]
    """Evaluates one of them; None for one without a body."""
    _chosen: Sequence[tuple[ir.FunctionRef, Sequence[HostLaunch]]]
    _recorded: frozenset[int]
    """Positions in that of those that were recorded."""
    _waiting: list[int]
    """Positions in that of what is still to be evaluated, the next one last: what spans their differences."""
    _facts: dict[int, KernelFacts | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        ref: ir.FunctionRef,
        named: Sequence[HostLaunch],
        unit: Unit,
        graph: Graph,
        kernel: Callable[[ir.FunctionRef, Sequence[HostLaunch]], KernelFacts | None],
        is_recorded: Callable[[ir.FunctionRef], bool] = lambda ref: False,
        only_recorded: bool = False,
        are_elsewhere: bool = False,
    ) -> Instances:
        """One for each instance that is launched, in sight or while the program was recorded, or one for the pattern;
        `named` are the launches of kernels of this name; `are_elsewhere` is whether a template that has no instance in
        this file was recorded all the same."""
        own = [launch for launch in named if _same_kernel(launch.kernel, ref)]
        taken = [launch for launch in own if launch.taken]
        made = unit.instantiations(ref.key) if ref.templated else ()
        by_key: dict[str, tuple[ir.FunctionRef, list[HostLaunch]]] = {}
        for launch in taken or own:
            for instance in _evaluated_for(launch, ref, made):
                by_key.setdefault(instance.key, (instance, []))[1].append(launch)
        by_key |= _by_same_launcher(own, taken, by_key) if ref.templated else {}
        known = {each.key: each for each in (*(launch.kernel for launch in own), *made, ref)}
        # The pattern of a template is none of its instances.
        recorded = {key for key, each in known.items() if not (made and key == ref.key) and is_recorded(each)}
        by_key |= {key: (known[key], []) for key in recorded - by_key.keys()}
        if only_recorded:
            by_key = {key: each for key, each in by_key.items() if key in recorded}
        elif not by_key and not (are_elsewhere and ref.templated and not made):
            by_key = {instance.key: (instance, []) for instance in made or (ref,)}
        chosen = list(by_key.values())
        keys = list(by_key)
        run_first = sorted(
            range(len(chosen)), key=lambda each: (keys[each] not in recorded, not _is_run(chosen[each][1], graph))
        )
        positions = frozenset(number for number, key in enumerate(keys) if key in recorded)
        span = set(spanning([_told_apart_by(*chosen[each]) for each in run_first]))
        waiting = [each for number, each in enumerate(run_first) if each in positions or number in span]
        return cls(ref, own, graph, kernel, chosen, positions, waiting[::-1])

    @property
    def are_none(self) -> bool:
        """Whether none is to be evaluated, as no launch of any in this file was recorded."""
        return not self._chosen

    @property
    def is_left(self) -> bool:
        """Whether some are still to be evaluated."""
        return bool(self._waiting)

    @property
    def _next_is_recorded(self) -> bool:
        return bool(self._waiting) and self._waiting[-1] in self._recorded

    def evaluate(self, may_go_on: Callable[[], bool]) -> list[KernelFacts]:
        """The facts of all that were evaluated until now: of one at least, of all that were recorded, and of further
        ones while `may_go_on`."""
        while self.is_left and (not any(self._facts.values()) or self._next_is_recorded or may_go_on()):
            index = self._waiting.pop()
            evaluated = self.kernel(*self._chosen[index])
            is_late = evaluated is not None and any(gap.kind == "time" for gap in evaluated.gaps)
            if is_late and any(self._facts.values()):
                # The others stand for the kernel, and how many are left is said.
                self._waiting.clear()
                break
            self._facts[index] = evaluated
        return self._found()

    def _found(self) -> list[KernelFacts]:
        found = [f for index in sorted(self._facts) if (f := self._facts[index]) is not None]
        if not found and self.ref.templated:
            # Clang gives up an instantiation with an error in it, and leaves no body.
            pattern = self.kernel(self.ref, self.own)
            return [pattern] if pattern is not None else []
        left = len(self._chosen) - len(self._facts)
        if found and left:
            reason = f"{left} more instantiations of it were not evaluated"
            gap = Gap(found[0].place.path, found[0].place.line, reason, kind="instantiations")
            found[0] = replace(found[0], gaps=(*found[0].gaps, gap))
        return found


def _told_apart_by(instance: ir.FunctionRef, launches: Sequence[HostLaunch]) -> Sequence[str]:
    """The arguments of an instance's template, behind the threads of its blocks."""
    # What a pattern's parameters are is only known while it is lowered.
    signature = instance.signature() if not instance.templated else None
    known = (each.block for each in launches if all(extent.is_const for extent in each.block))
    blocks = [str(math.prod(int(extent.value) for extent in block)) for block in known]
    arguments = signature.instantiation.partition("<")[2].removesuffix(">") if signature is not None else ""
    return (*blocks[:1], *CodeText.parts_of(arguments))


def _is_run(sites: Sequence[HostLaunch], graph: Graph) -> bool:
    """Whether options of the program decide about launches, and as far as they are known one of these is made."""
    decided = [site for site in sites if any(map(graph.rests_on_defaults, site.guards))]
    return any(all(holds(graph, guard, {}) for guard in site.guards) for site in decided)


def _evaluated_for(
    launch: HostLaunch, ref: ir.FunctionRef, named: Sequence[ir.FunctionRef]
) -> Sequence[ir.FunctionRef]:
    """What is evaluated for a launch of a kernel. Another file of the folder that launches a template may know but its
    declaration: the instantiation of the same types is in this one, where it is made explicitly. Which one a launch
    means that names no types may be any."""
    if not ref.templated:
        return (ref,)
    if launch.kernel.signature() is not None and not launch.kernel.templated:
        return (launch.kernel,)
    same = [instance for instance in named if instance.usr == launch.kernel.usr]
    return same or named or (ref,)


def _by_same_launcher(
    launches: Sequence[HostLaunch], taken: Sequence[HostLaunch], known: Mapping[str, object]
) -> dict[str, tuple[ir.FunctionRef, list[HostLaunch]]]:
    """Further instantiations, by their keys, where a launcher's template is given device functions in turn
    (`run<first>()`, `run<second>()`). Sizes and types that known values don't lead to are impossible: a dispatcher has
    an instantiation for each."""
    sites = {launch.span for launch in taken}
    found: dict[str, tuple[ir.FunctionRef, list[HostLaunch]]] = {}
    for launch in launches:
        key = launch.kernel.key
        if key in found:
            found[key][1].append(launch)
        elif launch.span in sites and key not in known:
            signature = launch.kernel.signature()
            if signature is not None and _GIVEN_FUNCTION.search(signature.instantiation):
                found[key] = (launch.kernel, [launch])
    return found


def _same_kernel(launched: ir.FunctionRef, kernel: ir.FunctionRef) -> bool:
    """Whether a launch of a kernel of this name means this one, or an instantiation of it: they share the place of the
    definition."""
    if launched.key == kernel.key:
        return True
    # Another file of the folder may spell the path in another way.
    place, other = launched.span, kernel.span
    same_file = os.path.basename(place.path) == os.path.basename(other.path)
    return (same_file and place.end_line == other.end_line) or launched.load() is None

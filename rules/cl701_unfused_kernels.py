"""CL701: element-wise kernels of which one only writes what the next one reads."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import Access, FileFacts, HostStep, KernelFacts
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import count


class UnfusedKernels(Rule):
    """Two launches in a row in which each thread reads what the same thread of the launch before wrote.

    What it does
        Looks at launches that follow one another in one stream with the same grid and block. Where the second one reads
        an array that the first one writes, each thread at the same place, and nothing else in the function uses that
        array later, both can be one kernel. Reported is the traffic that goes away: the array is neither written nor
        read. Where the second one writes its results to the same array, it is written once.

    Why is this bad
        What the first kernel stores goes to memory and comes back. `y = a * x` followed by `z = y + b` moves 20 bytes
        for each element, and both in one 12.

    Why it is off by default
        A function may hand the array on in ways that are not seen here, and libraries keep kernels apart so that each
        can be used alone.

    Example
        scale<<<blocks, 256>>>(x, y, n);
        shift<<<blocks, 256>>>(y, z, n);

    Use instead
        scale_and_shift<<<blocks, 256>>>(x, z, n);
    """

    code = "CL701"
    name = "unfused-kernels"
    severity = "info"
    summary = "element-wise kernels of which one only writes what the next one reads"
    by_hand = "both kernels become one, with the launches of either"
    reads = frozenset({"launch_order", "accesses"})
    on_by_default = False

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        steps = context.file.host.launches if context.file.host is not None else ()
        for second in steps:
            if second.follows is None:
                continue
            first = steps[second.follows]
            for name in _passed_on(first, second, context.file):
                yield self._diagnostic(first, second, name, context.file)

    def _diagnostic(self, first: HostStep, second: HostStep, name: str, file: FileFacts) -> Diagnostic:
        kernel = _kernel(second, file)
        saved = _bytes(_kernel(first, file), first, name) + _bytes(kernel, second, name, "load")
        traffic = f": {count(saved, 'byte')} less for each thread" if saved else ""
        return self.finding(
            kernel,
            place=second.place,
            message=(
                f"`{second.kernel}` reads of `{name}` what the same thread of `{first.kernel}` has just written"
                f"{traffic}"
            ),
            related=(Related(first.place, f"`{first.kernel}` is launched here"),),
            figures={"bytes_per_thread": float(saved)},
            suggestion=Suggestion(
                f"compute both in one kernel, which writes `{name}` once"
                if _is_in_place(second, name, file)
                else f"compute both in one kernel, without `{name}`"
            ),
        )


def _passed_on(first: HostStep, second: HostStep, file: FileFacts) -> Iterator[str]:
    one, other = _kernel(first, file), _kernel(second, file)
    if one is None or other is None or first.shape != second.shape or not first.shape:
        return
    for name in dict.fromkeys(first.variables):
        if not name or name not in second.variables:
            continue
        written, read = _accesses(one, first, name), _accesses(other, second, name)
        is_output = bool(written) and all(access.operation == "store" for access in written)
        is_input = bool(read) and all(access.operation == "load" for access in read) and name not in second.read_later
        is_passed_on = is_input or _is_in_place(second, name, file)
        if is_output and is_passed_on and _own_element({*written, *read}):
            yield name


def _is_in_place(step: HostStep, name: str, file: FileFacts) -> bool:
    """Whether a kernel loads the elements of an array and stores others in their place."""
    kernel = _kernel(step, file)
    operations = {access.operation for access in _accesses(kernel, step, name)} if kernel is not None else set()
    return operations == {"load", "store"}


def _kernel(step: HostStep, file: FileFacts) -> KernelFacts | None:
    return next((kernel for kernel in file.kernels if kernel.name == step.kernel), None)


def _parameter(kernel: KernelFacts | None, step: HostStep, name: str) -> str:
    position = step.variables.index(name)
    parameters = kernel.parameters if kernel is not None else ()
    return parameters[position].name if position < len(parameters) else ""


def _accesses(kernel: KernelFacts, step: HostStep, name: str) -> list[Access]:
    """All of an array but those that repeat another one in a branch on data, which nobody knows who executes."""
    array = _parameter(kernel, step, name)
    found = [access for access in kernel.accesses if access.space == "global" and access.array == array]
    known = {access.expression for access in found if _is_known(access)}
    return [access for access in found if _is_known(access) or access.expression not in known]


def _is_known(access: Access) -> bool:
    return any(result.status != "unknown" for result in access.results)


def _own_element(accesses: set[Access]) -> bool:
    """Whether each thread touches one element of its own, the same in all: they begin where the array does, and go on
    by their width from one thread to the next."""
    ranges = set()
    for access in accesses:
        if len(access.results) == 0 or any(result.strides is None for result in access.results):
            return False
        for result in access.results:
            assert result.strides is not None
            if result.status not in ("exact", "assumed") or result.strides.x != access.bytes:
                return False
            ranges.add((access.bytes, result.offset_range))
    return len(ranges) == 1


def _bytes(kernel: KernelFacts | None, step: HostStep, name: str, operation: str = "store") -> int:
    found = _accesses(kernel, step, name) if kernel is not None else ()
    return sum(access.bytes for access in found if access.operation == operation)

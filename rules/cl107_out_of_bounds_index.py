"""CL107: indices that leave an array of known extent."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related
from cudalint.facts import Access, ArrayFacts, KernelFacts, OutOfBounds
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import Evaluated, call_sites, count, evaluated


class OutOfBoundsIndex(Rule):
    """An index that leaves a shared array of known extent, for a thread of a launch in sight.

    What it does
        Compares the bytes that every active lane touches with the size of the array, and names the first thread
        that leaves it. Reports only what is certain: the launch is known, and neither the index nor a condition on
        the way there depends on loaded data or on an argument that nobody knows.

    Why is this bad
        The thread reads or overwrites whatever lies beside the array in shared memory: another array, or nothing
        that belongs to the block, which compute-sanitizer reports as an invalid access. Results are wrong without
        any message, on some GPUs, for some sizes.

    Example
        __shared__ float s[256];
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = s[threadIdx.x + 1] - s[threadIdx.x];   // thread 255 reads s[256]

    Use instead
        __shared__ float s[256 + 1];                     // with a last element that somebody writes
    """

    code = "CL107"
    name = "out-of-bounds-index"
    severity = "error"
    summary = "an index that provably leaves a shared array"

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for one in evaluated(kernel, "shared"):
            outside, declaration = one.result.out_of_bounds, one.access.declaration
            if outside is None or not outside.certain or one.launch.assumptions:
                continue
            if declaration is not None and declaration.total_bytes:
                yield self._diagnostic(kernel, one, outside, declaration)

    def _diagnostic(
        self, kernel: KernelFacts, one: Evaluated, outside: OutOfBounds, declaration: ArrayFacts
    ) -> Diagnostic:
        size = declaration.total_bytes or 0
        return Diagnostic(
            code=self.code,
            name=self.name,
            severity=self.severity,
            place=one.access.place,
            message=_message(one.access, outside, declaration),
            kernel=kernel.name,
            instantiation=kernel.instantiation,
            launches=(one.launch,),
            assumptions=one.result.assumptions,
            figures={"offset_bytes": float(outside.offset), "size_bytes": float(size)},
            related=(Related(declaration.place, f"`{declaration.name}` has {size} bytes"), *call_sites(one.access)),
        )


def _message(access: Access, outside: OutOfBounds, declaration: ArrayFacts) -> str:
    element, rest = divmod(outside.offset, declaration.element_bytes)
    verb = {"load": "reads", "async-copy": "copies to"}.get(access.operation, "writes")
    elements = count((declaration.total_bytes or 0) // declaration.element_bytes, "element")
    where = f"element {element}" + (f" (byte {rest} of it)" if rest else "")
    if len(declaration.extents) > 1:
        where += ", counted through all rows"
    return f"thread {outside.thread} {verb} {where} of `{declaration.name}`, which has {elements}{_block(outside)}"


def _block(outside: OutOfBounds) -> str:
    return "" if outside.block == (0, 0, 0) else f", in block {outside.block}"

"""CL103: neighbouring elements that a thread reads or writes one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import Access, KernelFacts, Neighbours, NeighboursResult
from cudalint.fixes.obstacles import Obstacle, edited
from cudalint.launchkit import percent
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related

_SHORT = {"unsigned int": "uint", "unsigned char": "uchar", "unsigned short": "ushort", "long long": "longlong"}
_WITH_VECTORS = ("float", "int", "uint", "double", "char", "uchar", "short", "ushort", "longlong")


class VectorizableAccess(Rule):
    """Neighbouring elements that a thread loads or stores one by one, where one wide access would do.

    What it does
        Looks for loads, or stores, of one thread to 2 or 4 elements of global memory that follow one another, in
        straight-line code or in a short loop of constant length. Reports them where the address of the first is a
        multiple of the whole for every lane, block and iteration, whatever the sizes are, if the accesses take more of
        the kernel's instructions than the threshold. Loads of arrays that the kernel also stores to are left alone.

    Why is this bad
        Each access is an instruction of its own for every warp, and a request of its own to L1. The compiler does not
        merge them: it doesn't know that a pointer is aligned to more than its type. Four loads of a `float` each whose
        lanes are 16 bytes apart touch 16 sectors each, 64 together; one load of a `float4` touches 16.

    Why it is off by default
        How often a kernel waits for the number of its loads, and not for its data, is not counted here: most that read
        four neighbours are bound by memory, and L1 gives them the other three for little.

    Example
        float a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2], d = in[4 * i + 3];

    Use instead
        float4 v = reinterpret_cast<const float4 *>(in)[i];     // `in` is a multiple of 16 bytes
    """

    code = "CL103"
    name = "vectorizable-access"
    severity = "info"
    summary = "neighbouring elements that a thread reads or writes one by one"
    guide = ("memory",)
    by_hand = "whether the neighbours are aligned and always taken together is up to the program"
    is_waste = True
    reads = frozenset({"neighbours", "accesses"})
    on_by_default = False
    thresholds = {"share": 0.02}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["share"]
        for site in kernel.neighbours:
            for result in site.results:
                saved = result.executions * (site.count - 1)
                share = min(1.0, saved / result.instructions) if result.instructions else 0.0
                if share >= least:
                    yield self._diagnostic(kernel, site, result, share, context)

    def _diagnostic(
        self, kernel: KernelFacts, site: Neighbours, result: NeighboursResult, share: float, context: RuleContext
    ) -> Diagnostic:
        from cudalint.fixes.vector_edits import is_safe_as_vector

        verb = "loads" if site.operation == "load" else "stores"
        width = site.count * site.element_bytes
        accesses = _accesses(kernel, site)
        advice = Suggestion(
            _advice(site, width), before={"accesses": float(site.count)}, after={"accesses": 1.0}, rewrites=True
        )
        is_safe = len(accesses) == site.count and is_safe_as_vector(kernel, accesses)
        return self.finding(
            kernel,
            place=site.place,
            message=(
                f"a thread {verb} {site.count} neighbouring elements of `{site.array}` one by one, {width} bytes "
                f"that are aligned: one access in place of {site.count}, {percent(share)} of the kernel's instructions"
            ),
            launches=(kernel.launches[result.launch],),
            assumptions=result.assumptions,
            figures={"accesses": float(site.count), "wasted_share": share},
            related=(
                *(Related(place, "the next of them") for place in site.others[:1]),
                *frames_related(site.inlined_from),
            ),
            suggestion=edited(
                advice, lambda: _edits(kernel, site, accesses, width, context), "safe" if is_safe else "unsafe"
            ),
        )


def _accesses(kernel: KernelFacts, site: Neighbours) -> list[Access]:
    """Those that are neighbours, in the order of their addresses."""
    by_place = {
        each.place: each
        for each in kernel.accesses
        if (each.array, each.operation, each.inlined_from) == (site.array, site.operation, site.inlined_from)
    }
    return [by_place[place] for place in (site.place, *site.others) if place in by_place]


def _edits(
    kernel: KernelFacts, site: Neighbours, accesses: Sequence[Access], width: int, context: RuleContext
) -> tuple[Edit, ...]:
    from cudalint.fixes.row_edits import row_edits
    from cudalint.fixes.vector_edits import vector_edits

    if len(accesses) == site.count:
        by_offset = [(number * site.element_bytes, access) for number, access in enumerate(accesses)]
        return vector_edits(by_offset, width, context.text_of)
    if len(accesses) != 1:
        raise Obstacle("several of its neighbours stand in one place, such as a macro")
    uniform = {parameter.name for parameter in kernel.parameters if parameter.bytes in (4, 8)}
    return row_edits(accesses, width, uniform, context.text_of)


def _advice(site: Neighbours, width: int) -> str:
    type_ = _SHORT.get(site.element_type, site.element_type)
    vector = f"`{type_}{site.count}`" if type_ in _WITH_VECTORS else f"a type of {width} bytes"
    verb = "load" if site.operation == "load" else "store"
    return f"{verb} {vector} through a cast of the pointer, which has to be a multiple of {width} bytes"

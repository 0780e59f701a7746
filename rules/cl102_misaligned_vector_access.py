"""CL102: accesses whose address is no multiple of their width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import FileFacts, KernelFacts, Misalignment
from cudalint.fixes.spelling import NAME, parameter_names
from cudalint.numerals import dimensions, thread
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related


class MisalignedVectorAccess(Rule):
    """An access of 2 to 16 bytes whose address is no multiple of its width, for some thread, iteration or argument.

    What it does
        Takes the address of every access modulo its width, for all lanes, blocks and iterations evaluated: `float4`,
        `int2` and the like through casts, `__ldg`, struct fields, shared arrays and what is carved out of a shared
        buffer. Reports an error where some thread is misaligned whatever the arguments are. Where that depends on an
        argument that the launch leaves open, it is a requirement of the kernel, told with the condition that the
        argument has to fulfil, which was tried on arguments that fulfil and that break it. A guard
        (`if (K % 4 == 0)`), an `assume` annotation, `__builtin_assume_aligned`, a launch that gives the value and what
        the host code asks before the launch (a branch, an `assert`, an early exit, the case of a switch) discharge it.
        Allocations start at multiples of 256 bytes; a static shared array lies where nvcc puts it. Where the block
        depends on sizes, wide accesses of shared memory are looked at in blocks of one warp less, too.

        One finding stands for all accesses that a launch misaligns for the same reason, and lists the others: those
        that the same condition on its arguments discharges, or those of one array where no argument would help.

    Why is this bad
        The hardware doesn't read across: the kernel stops with "misaligned address", and with it the whole context.

    Example
        float4 v = *reinterpret_cast<const float4 *>(&A[row * K + 4 * threadIdx.x]);   // needs K % 4 == 0

    Use instead
        // cudalint: assume(K % 4 == 0)
        // or: if (K % 4 == 0) { the vector path } else { a path with scalars }
        // or: a pitch that is rounded up, (K + 3) / 4 * 4

    What it leaves out
        A width that is a template's argument, of which the file has a narrower instantiation for other sizes; rows of
        which another size says how long they are, so that the pitch is the caller's choice; sizes that are counted in
        whole vectors and in nothing else. Pointers that are themselves loaded from memory,
        addresses that only data can misalign, and rows whose length is counted in bytes although the array holds
        something larger, as cudaMallocPitch gives it. A vector of which the kernel uses one field may be narrowed by
        the compiler to a load of that field, which is not seen here.
    """

    code = "CL102"
    name = "misaligned-vector-access"
    severity = "error"
    summary = "accesses whose address is no multiple of their width"
    guide = ("memory", "faults")
    by_hand = "what is to become of other sizes or addresses is not known"
    reads = frozenset({"alignments", "accesses"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        by_array: dict[object, list[Misalignment]] = {}
        open_ones = []
        for found in kernel.misalignments:
            if found.condition is None:
                by_array.setdefault((found.array, found.launch), []).append(found)
            elif not _is_chosen(found, context.file):
                open_ones.append(found)
        for first, *others in (*by_array.values(), *_by_condition(open_ones)):
            yield self._diagnostic(kernel, first, others, context)

    def _diagnostic(
        self, kernel: KernelFacts, found: Misalignment, others: Sequence[Misalignment], context: RuleContext
    ) -> Diagnostic:
        # The block that is assumed is not the one in which it is misaligned.
        certain = found.condition is None and (found.in_blocks is not None or not found.assumptions)
        return self.finding(
            kernel,
            severity="error" if certain else "warning",
            place=found.place,
            message=_message(found),
            launches=(kernel.launches[found.launch],),
            assumptions=found.assumptions,
            figures=_figures(found),
            causes=(f"{kernel.name_place.path}: {found.condition}",) if found.condition else (),
            related=(
                *frames_related(found.inlined_from),
                *(Related(other.place, _other(other)) for other in others),
            ),
            suggestion=_promise(kernel, found, context),
            condition=found.condition or "",
            kept="" if found.kept is None else f"holds in {found.kept.held} of {found.kept.of} recorded launches",
        )


def _promise(kernel: KernelFacts, found: Misalignment, context: RuleContext) -> Suggestion | None:
    """How a condition on arguments is met, in words: what other sizes are to do, somebody has to decide, and an
    `assert` would stop programs that have a way of their own for them."""
    if found.condition is None:
        return None
    text = "give other sizes a path of their own, with scalars or in rows that are padded"
    if set(NAME.findall(found.condition)) <= set(parameter_names(kernel, context.text_of)):
        text += f"; if callers never give them, say so in the kernel by `// cudalint: assume({found.condition})`"
    return Suggestion(text)


def _is_chosen(found: Misalignment, file: FileFacts) -> bool:
    """Whether the width is up to a template, and another instantiation or kernel makes the same access narrower: who
    launches the wide one has the narrow one for other sizes."""
    return any(
        access.place == found.place and access.bytes < found.bytes
        for kernel in file.kernels
        for access in kernel.accesses
    )


def _by_condition(misalignments: Sequence[Misalignment]) -> list[list[Misalignment]]:
    """The accesses that depend on arguments, each with those of the same launch whose condition its own implies."""
    groups: list[list[Misalignment]] = []
    for found in sorted((each for each in misalignments if each.condition is not None), key=_demand, reverse=True):
        implied = (g for g in groups if g[0].launch == found.launch and _implies(g[0], found))
        group = next(implied, None)
        if group is None:
            groups.append([found])
        else:
            group.append(found)
    return groups


def _demand(found: Misalignment) -> tuple[int, int]:
    """How much an access asks of the arguments, and how plainly."""
    return sum(_divisors(found).values()), -len(found.condition or "")


def _implies(more: Misalignment, less: Misalignment) -> bool:
    """Whether arguments that align one access align the other."""
    given = _divisors(more)
    return all(term in given and given[term] % divisor == 0 for term, divisor in _divisors(less).items())


def _divisors(found: Misalignment) -> dict[str, int]:
    """What a condition asks to be multiples, and of what; a term of another form stands for itself."""
    terms = (found.condition or "").split(" && ")
    multiples = (re.fullmatch(r"(.+) % (\d+) == 0", term) for term in terms)
    return {m[1] if m else term: int(m[2]) if m else 1 for term, m in zip(terms, multiples, strict=True)}


def _other(found: Misalignment) -> str:
    needs = f"needs `{found.condition}`" if found.condition else "is misaligned too"
    return f"this {found.bytes}-byte {found.operation} of `{found.array}` {needs}"


def _figures(found: Misalignment) -> dict[str, float]:
    figures = {"width_bytes": float(found.bytes)}
    return figures if found.offset is None else {**figures, "offset_bytes": float(found.offset)}


def _message(found: Misalignment) -> str:
    what = {"atomic": "atomic operation", "async-copy": "asynchronous copy"}.get(found.operation, found.operation)
    access = f"{found.bytes}-byte {what} of `{found.array}`"
    values = ", ".join(f"{name} = {value}" for name, value in found.values)
    witness = f"with {values}, {_witness(found)}" if values else _witness(found)
    if found.in_blocks is not None:
        witness = f"with {values}, and so in blocks of {dimensions(found.in_blocks)}, {_witness(found)}"
    if found.condition is None:
        kept = found.kept
        some = "" if kept is None else f" in {kept.of - kept.held} of {kept.of} recorded launches"
        return f"misaligned {access}, on which the hardware faults{some}: {witness}"
    return f"{access} needs `{found.condition}`: {witness}"


def _witness(found: Misalignment) -> str:
    if found.offset is None:
        return f"not all addresses that the data gives are multiples of {found.bytes}"
    base = f" of an array that lies {found.base} bytes into shared memory" if found.base % found.bytes else ""
    who = thread(found.thread, found.block)
    return f"{who} starts at byte {found.offset}{base}, which is no multiple of {found.bytes}"

"""CL111: indices and counts of 32 bits that sizes do not fit."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import KernelFacts, Overflow, Place
from cudalint.numerals import thread
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import frames_related, in_kernel


class IndexOverflow(Rule):
    """Indices, offsets and counts that are computed in 32 bits, for sizes that do not fit.

    What it does
        Reports sums and products of 32 bits in indices and pointer arithmetic, and 64-bit counts that host code keeps
        in 32 bits on their way to a launch, for one of three reasons:

        - A launch whose sizes are all in sight comes to numbers that do not fit: the finding has the number and the
          thread.
        - The kernel compares the index of an element, an `int`, with a size of 64 bits that the launch doesn't bound,
          or has the same product in 64 bits elsewhere, or converts a product of sizes to 64 bits when it is computed:
          it is written for data that this place forgets.
        - Host code computes the number of elements for which it launches threads in 64 bits and keeps it in an `int`,
          unchecked.

    Why is this bad
        A product of two sizes passes 2147483647 long before memory is full: 2^31 elements of half precision take 4 GB.
        Signed numbers become negative and lead in front of the array, unsigned ones start again at 0 and lead to other
        elements; a count that is cut off launches the wrong number of blocks.

    Example
        __global__ void scale(float *x, int64_t rows, int cols)
        {
            int row = blockIdx.x;
            for (int c = threadIdx.x; c < cols; c += blockDim.x)
                x[row * cols + c] *= 2.0f;                  // 32 bits, and there are (int64_t) row * cols elsewhere

    Use instead
                x[(int64_t)row * cols + c] *= 2.0f;

    What is not reported
        - Products of `int` sizes of which nothing says that they may pass 2^31, as nearly all kernels have them. With
          `open-sizes = 1` they are reported where a launch in sight leaves several of their factors open.
        - `size_t i = blockIdx.x * blockDim.x + threadIdx.x`, which takes 2^32 threads to be wrong, unless a launch in
          sight has so many.
        - Places along one axis of several, and numbers of rows.
        - Indices of a type that the arguments of a template say, if there are instances in which it has 64 bits.
        - By default, products that are converted to 64 bits too late, if no place in the grid goes into them, or if
          the grid has several axes, as for images: nothing says that they get so large. `--all` lists them.
        - Numbers that are meant to wrap around, as those of hash functions, and indices that data decides about.
    """

    code = "CL111"
    name = "index-overflow"
    severity = "warning"
    summary = "indices and counts of 32 bits that sizes do not fit"
    by_hand = "the variables that hold it have to be 64 bits wide as well"
    reads = frozenset({"overflows"})
    thresholds = {"open-sizes": 0.0}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        for found in kernel.overflows:
            if found.in_host or (found.ground == "guard" and _is_up_to_the_template(kernel, found, context)):
                continue
            if found.ground != "sizes" or self.limits(context)["open-sizes"]:
                yield self._diagnostic(kernel, kernel, found, context)

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        """What host code does wrong it does for all kernels that it launches, whatever their other launches."""
        seen: set[Place] = set()
        for kernel in context.file.kernels:
            for found in kernel.overflows:
                if found.in_host and found.place not in seen:
                    seen.add(found.place)
                    yield self._diagnostic(None, kernel, found, context)

    def _diagnostic(
        self, of: KernelFacts | None, kernel: KernelFacts, found: Overflow, context: RuleContext
    ) -> Diagnostic:  # fmt: skip
        return self.finding(
            of,
            place=found.place,
            message=_message(found, kernel),
            severity="error" if found.ground == "launch" else None,
            launches=tuple(kernel.launches[number] for number in found.launches),
            related=(*_because(found), *frames_related(found.inlined_from)),
            suggestion=_suggestion(found, context),
            causes=(in_kernel(kernel, "index overflow"),),
            habit="numbers of elements are kept in 32 bits" if found.ground == "count" else "",
            figures={"value": float(found.value)} if found.value is not None else {},
            condition=f"{found.text} > {found.most}" if found.is_requirement else "",
        )


def _is_up_to_the_template(kernel: KernelFacts, found: Overflow, context: RuleContext) -> bool:
    """Whether other instances of a kernel have no such index: their caller chooses how wide it is."""
    others = (each for each in context.file.kernels if each.name_place == kernel.name_place)
    return any(found.place not in {own.place for own in each.overflows} for each in others)


def _message(found: Overflow, kernel: KernelFacts) -> str:
    kind = "int" if found.is_signed else "unsigned int"
    holds = f"an `{kind}` holds at most {found.most}"
    what = f"`{found.text}`"
    match found.ground:
        case "launch":
            if found.thread is None or found.block is None:
                return f"{what} is {found.value} in this program, and {holds}"
            at = f"for {thread(found.thread, found.block)}"
            return f"{what} is {found.value} {at}, and {holds}"
        case "guard":
            return (
                f"{what} is kept in 32 bits and compared with a size of 64 (`{found.because_text}`): it is negative "
                f"from thread {found.most + 1} on"
            )
        case "sibling":
            return (
                f"{what} is computed in 32 bits here and in 64 in `{found.because_text}`: from {found.most + 1} "
                "elements on it is another one"
            )
        case "widened":
            return f"{what} is computed in 32 bits and converted to 64 then: {holds}"
        case "sizes":
            return f"{what} is a product of sizes that nothing in sight bounds, computed in 32 bits: {holds}"
    return (
        f"{what} is kept in 32 bits, unchecked, for the launch of `{kernel.name}`: from {found.most + 1} on it is "
        "another number"
    )


def _because(found: Overflow) -> tuple[Related, ...]:
    if found.because is None or found.ground == "widened":
        return ()
    return (Related(found.because, "64 bits here"),)


def _suggestion(found: Overflow, context: RuleContext) -> Suggestion:
    wide = _wide_type(found, context)
    if found.first_factor is None or found.ground == "guard":
        return Suggestion(f"compute and keep it in 64 bits (`{wide}`), in the kernel's parameters and indices as well")
    factor = found.first_factor
    edit = Edit(Place(factor.path, factor.line, factor.column, factor.line, factor.column), f"({wide})")
    if found.in_host:
        return Suggestion(f"cast the first factor to `{wide}`, and keep the result in one")
    return Suggestion(f"cast the first factor to `{wide}`", (edit,))


def _wide_type(found: Overflow, context: RuleContext) -> str:
    """The type of 64 bits that the code around uses."""
    text = context.text_of(found.place.path)
    if "int64_t" in text:
        return "int64_t"
    return "size_t" if "size_t" in text or not found.is_signed else "long long"

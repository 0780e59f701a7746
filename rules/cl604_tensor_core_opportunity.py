"""CL604: matrix products in scalar arithmetic, which tensor cores would do many times as fast."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts, LaunchCost, MatrixProduct, MatrixProductResult
from cudalint.hardware.targets import Target
from cudalint.launchkit import percent
from cudalint.numerals import figure
from cudalint.rule import Rule, RuleContext

_TAKEN_FOR = {
    "tf32": "TF32 (10 bits of mantissa instead of 23, the range of a float)",
    "bf16": "BF16 (7 bits of mantissa, the range of a float)",
    "fp16": "FP16 (10 bits of mantissa, nothing above 65504)",
}
"""What floats become, the nearest to them first."""


class TensorCoreOpportunity(Rule):
    """A matrix product whose multiply-adds are done by the CUDA cores.

    What it does
        Looks at sums of products of loaded numbers. Where, in one step of the sums, each element of one array meets at
        least 8 of another one and the other way round, and each sum has at least 16 terms, that is a matrix product,
        whether it is written as a naive loop, with tiles in shared memory or with tiles in registers. It is reported
        where it is most of what the launch computes, the target has tensor cores for such numbers, and with each
        element read from DRAM once its arithmetic would take longer than its memory traffic. The message says what
        the CUDA cores and the tensor cores can do at most, on data that fit them.

    Why is this bad
        It need not be: tensor cores round what they multiply. An A100 does 19.5 * 10^12 operations per second on
        floats, and 156 * 10^12 on floats that are rounded to TF32, with sums in FP32: 8 times as many. TF32 keeps 10
        bits of mantissa (three decimal digits) and the range of a float; BF16 keeps 7 bits; FP16 keeps 10 bits and
        overflows above 65504. With data that is `half` or `__nv_bfloat16` in memory already, nothing is lost.

    Why it is off by default
        Precision is a decision, and whoever wrote the product may have taken it.

    Example
        for (int k = 0; k < T; k++)
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];     // one multiply-add per thread and instruction

    Use instead
        using namespace nvcuda;
        wmma::load_matrix_sync(a, &ta[16 * warp][k], T);        // a 16x16 tile of sums for each warp
        wmma::load_matrix_sync(b, &tb[k][16 * column], T);
        wmma::mma_sync(sums, a, b, sums);

        or a library that does it: cuBLAS with `CUBLAS_COMPUTE_32F_FAST_TF32`, CUTLASS.

    What is not reported
        - Products of a matrix and a vector, in which each element of the matrix is used once: memory binds them.
        - Convolutions of one channel, stencils, and sums in which a factor is computed from both arrays.
        - Products of which data decides who takes part, or that are computed in double precision or on integers.
        - Kernels that use tensor cores.
    """

    code = "CL604"
    name = "tensor-core-opportunity"
    severity = "info"
    summary = "matrix products in scalar arithmetic, which tensor cores could do"
    by_hand = "it takes another arrangement of the data in registers, and a decision about precision"
    reads = frozenset({"products", "costs"})
    judges_by_target = True
    on_by_default = False
    thresholds = {"terms": 16.0, "share": 0.5}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        costs = {cost.launch: cost for cost in kernel.costs or ()}
        for product in kernel.products:
            peaks = _peaks(product, context.target)
            for result in product.results if peaks else ():
                cost = costs.get(result.launch)
                is_long = result.terms >= limits["terms"]
                if is_long and cost is not None and _matters(product, result, cost, context.target, limits["share"]):
                    yield self._diagnostic(kernel, product, result, cost, peaks, context.target)

    def _diagnostic(
        self, kernel: KernelFacts, product: MatrixProduct, result: MatrixProductResult, cost: LaunchCost,
        peaks: dict[str, float], target: Target,
    ) -> Diagnostic:  # fmt: skip
        own, kind = _cuda_cores(product, target), next(iter(peaks))
        factor = peaks[kind] / own
        return self.finding(
            kernel,
            place=product.place,
            message=(
                f"a matrix product of `{product.left}` and `{product.right}` in {product.precision.upper()}: the CUDA "
                f"cores of {target.name} do {figure(own)} * 10^12 operations per second, its tensor cores "
                f"{figure(peaks[kind])} in {kind.upper()}, {figure(factor)} times as many"
            ),
            launches=(kernel.launches[result.launch],),
            assumptions=(*result.assumptions, *(each for each in cost.assumptions if each not in result.assumptions)),
            figures={"factor": factor, "terms": result.terms},
            suggestion=Suggestion(_advice(product, cost, peaks)),
        )


def _cuda_cores(product: MatrixProduct, target: Target) -> float:
    """10^12 operations per second without tensor cores."""
    return target.fp32_tflops * target.lanes[product.precision] / target.lanes["fp32"]


def _peaks(product: MatrixProduct, target: Target) -> dict[str, float]:
    """10^12 operations per second of the target's tensor cores, by what they multiply: what costs least precision
    first. Empty where they are no faster."""
    own = _cuda_cores(product, target)
    kinds = ("fp16", "bf16") if product.is_narrow else tuple(_TAKEN_FOR)
    return {kind: peak for kind in kinds if (peak := target.tensor_tflops.get(kind, 0.0)) > own}


def _matters(
    product: MatrixProduct, result: MatrixProductResult, cost: LaunchCost, target: Target, share: float
) -> bool:
    """Whether the product is most of what a launch computes, and arithmetic would bind it if each byte came once."""
    operations, touched = cost.operations, (cost.read_bytes or 0.0) + (cost.written_bytes or 0.0)
    if operations is None or operations.tensor or not touched:
        return False
    elements = result.operations / 2 * (1 / result.rows + 1 / result.columns + 1 / result.terms)
    bytes_ = min(touched, elements * (2 if product.is_narrow else 4))
    if result.operations < share * (operations.fp32 + operations.fp16 + operations.fp64):
        return False
    arithmetic = result.operations / (_cuda_cores(product, target) * 1e6)
    traffic = bytes_ / (target.bandwidth_gb_s * 1e3)
    return arithmetic > max(traffic, cost.limits_us.get("launch", 0.0))


def _advice(product: MatrixProduct, cost: LaunchCost, peaks: dict[str, float]) -> str:
    if product.is_narrow:
        how = "its elements are narrow already: with sums in FP32 nothing is lost"
    else:
        how = "floats are rounded to " + ", or to ".join(_TAKEN_FOR[kind] for kind in peaks)
    if not product.is_tiled and cost.time_us:
        part = percent(cost.limits_us.get(product.precision, 0.0) / cost.time_us)
        first = f"load tiles into shared memory first (CL104), as arithmetic takes {part} of the time so far; then "
    else:
        first = ""
    return f"{first}use tensor cores (`wmma`, CUTLASS, cuBLAS): {how}"

"""Ways out of uncoalesced accesses, each tried on the model before it is suggested."""

from __future__ import annotations

from msgspec.structs import replace

from cudalint.diagnostics import Suggestion
from cudalint.facts import KernelFacts
from cudalint.fixes.layouts import EXPLAINED
from cudalint.fixes.obstacles import edited
from cudalint.fixes.one_access import WIDEST, WORTH_IT, Texts, if_better, with_unit_stride
from cudalint.fixes.other_blocks import (
    block_figure,
    exchange,
    exchange_alone,
    exchange_pays,
    exchange_suggestion,
    steps_of,
    wider_block,
)
from cudalint.fixes.patterns import ALONG_ROWS, Pattern
from cudalint.fixes.records import takes_most
from cudalint.fixes.staging_edits import staging_edits
from cudalint.fixes.tile_edits import tile_edits
from cudalint.fixes.wide_accesses import (
    aligned_records,
    as_one_vector,
    is_a_vector,
    narrower_vectors,
    row_in_vectors,
    run_as_vectors,
    walks_beside,
)
from cudalint.hardware.banks import BANKS
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.warps import warp_count
from cudalint.rulekit import Evaluated, evaluated


def suggest(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, absorbed: bool = False
) -> Suggestion | None:
    """The remedy that fits the pattern, None where the model knows of none that helps. Of records that L1 has absorbed
    none but a load of all of it would bring anything."""
    found = _suggested(kernel, one, pattern, texts, absorbed)
    if absorbed or pattern.kind not in ALONG_ROWS or (found is not None and found.edits):
        return found
    return _through_a_tile(kernel, one, texts, found)


def _suggested(
    kernel: KernelFacts, one: Evaluated, pattern: Pattern, texts: Texts, absorbed: bool
) -> Suggestion | None:
    match pattern.kind:
        case "reversed":
            return _exchange_or_stage(kernel, one, texts)
        case "field":
            if (vector := as_one_vector(kernel, one, pattern, texts, absorbed)) is not None:
                return vector
            return None if takes_most(kernel, one, abs(pattern.step or 0)) else _separate_fields(one)
        case "copy":
            if _is_a_librarys(one):
                return None
            return narrower_vectors(one) if is_a_vector(one) or one.access.is_view else aligned_records(one, texts)
        case "own-row" | "own-run":
            if pattern.kind == "own-row" and (changed := exchange_alone(kernel, one, texts)) is not None:
                return changed
            words = run_as_vectors(one, pattern) or _neighbouring_elements(one, pattern)
            vector = as_one_vector(kernel, one, pattern, texts, absorbed)
            return vector or row_in_vectors(kernel, one, pattern, texts, words)
        case "strided" | "column":
            vector = as_one_vector(kernel, one, pattern, texts, absorbed)
            if vector is not None and vector.edits:
                return vector
            words = vector or exchange_alone(kernel, one, texts)
            if absorbed or (words is not None and words.edits):
                return words
            return row_in_vectors(kernel, one, pattern, texts, words)
        case "short-rows" | "misaligned":
            return wider_block(kernel, one)
        case _:
            return None


def by_hand(kernel: KernelFacts, one: Evaluated, pattern: Pattern) -> str:
    """Why there is no edit for an access, whichever words there are."""
    array, line = f"`{one.access.array}`", one.access.place.line
    match pattern.kind:
        case "field" | "copy":
            return f"how {array} lies is up to all that fill it and read it, which are not all in sight"
        case "own-row" | "own-run":
            return f"the loop around line {line} would have to be shared out among the threads of a warp"
        case "strided" | "column":
            return f"the stride is the layout of {array}, or what each thread of `{kernel.name}` is there for"
        case "reversed":
            return f"x and y of the block can't be exchanged without other accesses of `{kernel.name}` getting worse"
        case "short-rows":
            return f"the shape of the block is part of what `{kernel.name}` computes"
        case "misaligned":
            return f"where rows of {array} begin is up to its pitch, or to a neighbour that is meant at line {line}"
        case "reduced":
            return f"which threads take part at line {line} is what `{kernel.name}` is about"
        case "scattered":
            return f"no order of the threads makes neighbours of what line {line} touches"


def _exchange_or_stage(kernel: KernelFacts, one: Evaluated, texts: Texts) -> Suggestion | None:
    """Exchanging x and y costs nothing, so it is preferred where the kernel's other accesses don't lose by it."""
    staged = _stage(kernel, one, texts)
    changed = exchange(kernel, one)
    if changed is not None and exchange_pays(changed, one, staged):
        return exchange_suggestion(kernel, changed, one, texts)
    return staged


def _stage(kernel: KernelFacts, one: Evaluated, texts: Texts) -> Suggestion | None:
    """A tile in shared memory takes the exchange of x and y, so that global memory sees rows."""
    access = one.access
    if access.operation in ("atomic", "async-copy"):
        return None
    block = one.launch.block
    steps = steps_of(one.result, block)
    if steps is None or block[0] * one.access.bytes < SECTOR_BYTES:
        return None
    after = block_figure(one, (steps[1], steps[0], steps[2]), block)
    verb = "read" if one.access.operation == "load" else "write"
    text = f"stage a tile through shared memory: {verb} `{one.access.array}` with `threadIdx.x` along the row"
    tile = "the tile" if block[0] % BANKS == 0 else f"the tile, whose columns are swizzled ({EXPLAINED})"
    advice = if_better(one, f"{text}, and exchange x and y in {tile}", after)
    if advice is None:
        return None
    advice = replace(advice, rewrites=True)
    return edited(advice, lambda: staging_edits(kernel, access, _instances(kernel, texts), texts.text_of), "unsafe")


def _instances(kernel: KernelFacts, texts: Texts) -> list[KernelFacts]:
    """All that a template makes of a kernel."""
    return [each for each in texts.kernels if each.place == kernel.place] or [kernel]


def _through_a_tile(
    kernel: KernelFacts, one: Evaluated, texts: Texts, words: Suggestion | None
) -> Suggestion | None:
    """The rows of a warp, of which each lane has one, stored by all of its lanes together; else some words. Rows that
    are loaded alone stay what they are: L1 keeps their sectors until the next lines of the loop ask for the rest, and
    on an H100 kernels that load rows through a tile take 1.1 to 1.4 times as long as before, where one that stores
    them takes a quarter (`benchmarks/edited_kernels.cu`)."""
    access, result = one.access, one.result
    after, before = with_unit_stride(one), result.sectors_per_request
    if access.operation != "store" or after is None or before is None or after > before * WORTH_IT:
        return words
    text = "store the rows of a warp's threads by all of its lanes together, through a tile in shared memory"
    figures = {"sectors_per_request": before}, {"sectors_per_request": after}
    advice = Suggestion(text, (), *figures, rewrites=True, otherwise=words)
    others = [
        other.access for other in evaluated(kernel, "global")
        if other.access.operation == "store" and walks_beside(other, one)
    ]  # fmt: skip
    instances = _instances(kernel, texts)
    warps = max(warp_count(launch.block) for each in instances for launch in each.launches)
    sizes = {other.bytes for each in instances for other in each.accesses if other.place == access.place}
    advice = edited(advice, lambda: tile_edits(kernel, [access, *others], sizes, warps, texts.text_of), "unsafe")
    if advice.edits:
        return advice
    return replace(words, no_edit=advice.no_edit) if words is not None else None


def _separate_fields(one: Evaluated) -> Suggestion | None:
    """A plain array that a cast makes structs of has no fields: what each lane takes at once is too wide then."""
    if not one.access.is_view:
        return _structure_of_arrays(one)
    return narrower_vectors(one) if one.access.bytes == WIDEST else None


def _structure_of_arrays(one: Evaluated) -> Suggestion | None:
    after = with_unit_stride(one)
    text = f"keep the fields of `{one.access.array}` in arrays of their own (structure of arrays)"
    suggestion = if_better(one, text, after)
    return replace(suggestion, moves_data=True) if suggestion is not None else None


def _neighbouring_elements(one: Evaluated, pattern: Pattern) -> Suggestion | None:
    """Threads that each walk along a run of their own can walk along it together."""
    after = with_unit_stride(one)
    index = "index `j * blockDim.x + threadIdx.x`"
    text = f"let neighbouring threads take neighbouring elements ({index} in place of a run for each thread)"
    if pattern.kind == "own-row":
        text = "let the threads of a warp take neighbouring elements of one row"
    if one.access.operation != "atomic":
        text += ", or stage the runs through shared memory"
    return if_better(one, text, after)


def _is_a_librarys(one: Evaluated) -> bool:
    """Whether the struct is one that users can't declare anew: the states of cuRAND's generators."""
    return one.access.element_type.removeprefix("struct ").startswith("curandState")

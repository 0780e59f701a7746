"""Matrix products that are computed with scalar arithmetic."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Place

Precision = Literal["fp32", "fp16"]
"""Of the arithmetic; FP16 stands for bfloat16, too."""


class MatrixProductResult(Struct, frozen=True):
    """What one launch computes of it."""

    launch: int
    rows: float
    """By how many elements of the left array each one of the right array is multiplied, as far as is seen: of tiles in
    shared memory, those of one block."""
    columns: float
    """The same the other way round."""
    terms: float
    """Of the sum that each element of the product is."""
    operations: float
    """Additions and multiplications, in the whole launch."""
    assumptions: tuple[str, ...] = ()


class MatrixProduct(Struct, frozen=True):
    """A sum of products of elements of two arrays, in which each element of one meets many of the other."""

    place: Place
    """Of the addition."""
    left: str
    right: str
    """The arrays, as the source calls them: those that are multiplied, which may be tiles in shared memory."""
    precision: Precision
    is_narrow: bool
    """Whether both arrays have elements of two bytes or less."""
    is_tiled: bool
    """Whether both are in shared memory."""
    results: tuple[MatrixProductResult, ...]

"""Conditions that data decides, of which a part is known: for some lanes they hold, or do not."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.values import Data

if TYPE_CHECKING:
    pass


class PartlyKnown(Data):
    """A condition of which only a part is known."""

    __slots__ = ("known",)

    def __init__(self, known: Any, data: Data) -> None:
        super().__init__(data.kind, data.reason, is_common=data.is_common)
        self.known = known


class Conjunction(PartlyKnown):
    """It holds for no lane for which the known part does not."""

    __slots__ = ()


class Disjunction(PartlyKnown):
    """It holds for all lanes for which the known part does."""

    __slots__ = ()


def narrowed(condition: Data, known: Any) -> Conjunction:
    """A condition, together with one of which it is known for which lanes it holds."""
    return Conjunction(known & condition.known if isinstance(condition, Conjunction) else known, condition)


def widened(condition: Data, known: Any) -> Data:
    """A condition, or one of which it may be known for which lanes it holds."""
    sure = [each.known for each in (condition, known) if isinstance(each, Disjunction)]
    sure += [known] if type(known) is np.ndarray else []
    return Disjunction(functools.reduce(np.logical_or, sure), condition) if sure else _unknown(condition)


def opposite(condition: Data) -> Data:
    """That a condition does not hold."""
    if isinstance(condition, Conjunction):
        return Disjunction(~condition.known, condition)
    return Conjunction(~condition.known, condition) if isinstance(condition, Disjunction) else condition


def _unknown(condition: Data) -> Data:
    """A condition of which no part is known."""
    return Data(condition.kind, condition.reason) if isinstance(condition, Conjunction) else condition

"""Sums over the requests of one or more accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from cudalint.evaluate.requests.requests import Counts, Requests


class Totals(Struct):
    requests: float = 0.0
    cost: float = 0.0
    ideal: float = 0.0
    lanes: float = 0.0
    reached: float = 0.0
    low: float = float("inf")
    high: float = 0.0

    def add(self, requests: Requests | Counts) -> None:
        weights = requests.weights
        total = float(weights.sum())
        if total == 0:
            return
        self.requests += total
        self.cost += float((weights * requests.cost).sum())
        self.ideal += float((weights * requests.ideal).sum())
        self.lanes += float((weights * requests.lanes).sum())
        self.reached += requests.reached
        counted = requests.cost[weights > 0]
        self.low, self.high = min(self.low, float(counted.min())), max(self.high, float(counted.max()))

    def include(self, other: Totals) -> None:
        """Adds the sums over further requests."""
        self.requests += other.requests
        self.cost += other.cost
        self.ideal += other.ideal
        self.lanes += other.lanes
        self.reached += other.reached
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

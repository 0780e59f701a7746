"""Numbers that nothing is computed from: options, of which it is only asked whether they are a certain number."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.scenarios.draft import Draft
from cudalint.values.nodes import Node, Uniform

_COMPARISONS = ("==", "!=")


def choose_options(draft: Draft, used: Sequence[Node]) -> None:
    """Gives options the smallest values that stand for the other case, as sizes are not what they are:
    `if (has_labels == 1)` is asked of a 0. `used`: values that count by themselves, as a grid does."""
    asked: dict[Node, set[int]] = {}
    sizes = set(used)
    for node in draft.graph.nodes():
        for argument in node.args:
            if argument.op == "uniform" and not argument.kind.is_float:
                if node.op in _COMPARISONS and node.args[1].is_const and not node.args[1].kind.is_float:
                    asked.setdefault(argument, set()).add(int(node.args[1].value))
                else:
                    sizes.add(argument)
    for option, numbers in asked.items():
        assert isinstance(option.payload, Uniform)
        if option not in sizes and not option.payload.is_arbitrary and draft.of(option) not in numbers:
            draft.choose(option, next(n for n in range(len(numbers) + 1) if n not in numbers), "guard")

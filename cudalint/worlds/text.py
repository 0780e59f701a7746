"""What the text of a kernel says, whatever its launch: it is read once for all of them."""

from __future__ import annotations

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir.kept import kept
from cudalint.worlds.blocks import BlockConditions
from cudalint.worlds.intervals import Definitions
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Use, Uses

_MOST_KEPT = 32


class KernelText(Struct, frozen=True, eq=False):
    """Of one kernel."""

    uses: Uses
    found: tuple[Use, ...]
    """The uses."""
    definitions: Definitions
    blocks: BlockConditions
    lengths: frozenset[Parameter]


@kept(_MOST_KEPT)
def text_of(function: ir.Function) -> KernelText:
    uses = Uses(function)
    definitions = Definitions(uses.code)
    return KernelText(uses, uses.all(), definitions, BlockConditions(uses, definitions), uses.lengths())

"""The functions of CUDA and its C library: what a call of one does, by its effect in `ir/builtins.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from cudalint.execute.library import arithmetic, barriers, copies, groups, matrices, memory, statements, warps
from cudalint.execute.library.common import Handler, nothing, of_data
from cudalint.execute.program import Evaluate, Locate, Program
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS, Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine
    from cudalint.execute.values import Value

HANDLERS: Final[Mapping[str, Handler]] = {
    **arithmetic.HANDLERS, **barriers.HANDLERS, **copies.HANDLERS, **groups.HANDLERS, **matrices.HANDLERS,
    **memory.HANDLERS, **statements.HANDLERS, **warps.HANDLERS,
}  # fmt: skip
"""By effect."""
NOT_FOLLOWED: Final[Mapping[str, str]] = {
    "assembly": "inline PTX is a statement of its own, and this a call that the front end makes of one",
}
"""Effects of which neither the value nor the accesses are followed, and why."""


def _each_of(names: str, effect: str, operand: str = "") -> dict[str, Builtin]:
    return dict.fromkeys(names.split(), Builtin(effect, operand))


_FURTHER: Final[Mapping[str, Builtin]] = {
    **_each_of("__popcll __builtin_popcountll", "bits", "ones"),
    **_each_of("__clzll __builtin_clzll", "bits", "leading-zeros"),
    **_each_of("__ffsll __builtin_ffsll", "bits", "first-set"),
    "__builtin_ctzll": Builtin("bits", "trailing-zeros"),
    "__brevll": Builtin("bits", "reversed-word"),
    **_each_of("__funnelshift_l __funnelshift_r __funnelshift_lc __funnelshift_rc", "funnel-shift"),
    "__byte_perm": Builtin("byte-permutation"),
    **_each_of("mulhi umulhi __mul64hi __umul64hi", "high-product"),
    **_each_of(
        "__float_as_int __int_as_float __float_as_uint __uint_as_float __double_as_longlong __longlong_as_double",
        "same-bits",
    ),
    "__isShared": Builtin("space", "shared"),
    "__isGlobal": Builtin("space", "global"),
    "__isLocal": Builtin("space", "local"),
    "__isConstant": Builtin("space", "constant"),
    **_each_of(
        "__cvta_generic_to_local __cvta_generic_to_constant __cvta_shared_to_generic __cvta_global_to_generic",
        "first-argument",
    ),
    "__lanemask_lt": Builtin("lanes-before"),
    **_each_of("__barrier_sync __barrier_sync_count", "named-barrier"),
    "_cudalint_copies_awaited": Builtin("copies-awaited"),
    **_each_of("map_shared_rank __cluster_map_shared_rank", "in-other-block"),
    "_cudalint_cluster_rank": Builtin("of-cluster", "rank"),
    "_cudalint_cluster_blocks": Builtin("of-cluster", "blocks"),
    "producer_acquire": Builtin("stage-acquired"),
    **_each_of("consumer_release make_pipeline free init __mbarrier_init __mbarrier_inval", "nothing"),
    "__mbarrier_arrive": Builtin("barrier-in-memory", "arrive"),
    "__mbarrier_test_wait": Builtin("barrier-in-memory", "wait"),
    "malloc": Builtin("allocated"),
    **_each_of(
        "this_thread_block this_grid this_multi_grid this_cluster tiled_partition binary_partition labeled_partition",
        "group",
    ),
    **_each_of("__brkpt __prof_trigger clock clock64 globaltimer __pm0 __pm1 __pm2 __pm3", "value-of-time"),
}
"""Functions that only this executor knows; they stand here until the other core, which has handlers of its own, is
gone."""
_OPAQUE: Final[Mapping[str, Handler]] = {"value-of-time": of_data}


def effect_of(program: Program, e: ir.Call) -> Evaluate | None:
    """What a call of a function of the library does; None for one that is called like any other."""
    if e.function is not None and e.function.is_user:
        return None
    builtin = _FURTHER.get(e.name) or BUILTINS.get(e.name)
    if builtin is None:
        return None
    handler = HANDLERS.get(builtin.effect) or _OPAQUE.get(builtin.effect)
    has_body = e.function is not None and e.function.load() is not None
    if handler is not None and not (has_body and builtin.effect in _BODY_FIRST):
        return _unless_broken(handler, program, e, builtin)
    if has_body:
        return None
    return of_data(program, e, builtin) if builtin.computes else nothing(program, e, builtin)


def _unless_broken(handler: Handler, program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """Calls that do not compile may have too few arguments, or others: they do nothing that is known then."""
    broken = of_data(program, e, builtin) if builtin.computes else nothing(program, e, builtin)
    try:
        call = handler(program, e, builtin)
    except _BROKEN:
        return broken

    def execute(m: Machine) -> Value:
        mask = m.mask
        try:
            return call(m)
        except _BROKEN:
            m.mask = mask
            return broken(m)

    return execute


_BROKEN: Final = (IndexError, ValueError, TypeError)
"""Of handlers that ask for arguments that a call doesn't have."""


_BODY_FIRST: Final = frozenset({"group", "group-shuffle", "group-vote", "copied-range"})
"""Effects of functions that some classes have bodies for, which say more."""


def place_of(program: Program, e: ir.Call) -> Locate | None:
    """Where what a function of the library returns by reference is, if it is what it was given."""
    if not ir.is_reference(e.type) and e.name not in _REFERENCES:
        return None
    if e.name not in _REFERENCES or (e.function is not None and e.function.is_user) or not e.arguments:
        return None
    return program.place(e.arguments[0])


_REFERENCES: Final = frozenset({"forward", "move"})

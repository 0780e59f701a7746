"""The built-in rules' codes and names, whether or not this version has the rule yet.

Codes and names are stable, so that a suppression or an option written for one version means the same in every
other; and command lines are checked against this table without importing the rules.
"""

from __future__ import annotations

NAME_OF_CODE = {
    "CL101": "uncoalesced-access",
    "CL102": "misaligned-vector-access",
    "CL103": "vectorizable-access",
    "CL104": "redundant-global-load",
    "CL105": "pitch-mismatch",
    "CL106": "unguarded-tail",
    "CL107": "out-of-bounds-index",
    "CL109": "atomic-contention",
    "CL110": "divergent-constant",
    "CL201": "bank-conflict",
    "CL202": "shared-memory-limit",
    "CL301": "shared-race",
    "CL302": "divergent-barrier",
    "CL303": "redundant-barrier",
    "CL304": "missing-syncwarp",
    "CL305": "global-race",
    "CL306": "uninitialised-shared",
    "CL401": "divergent-branch",
    "CL402": "divergent-loop",
    "CL501": "block-not-warp-multiple",
    "CL502": "launch-limit",
    "CL503": "low-occupancy",
    "CL504": "tail-effect",
    "CL505": "tile-quantization",
    "CL506": "block-size-mismatch",
    "CL507": "unread-axis",
    "CL601": "memory-bound",
    "CL602": "implicit-double",
    "CL603": "slow-arithmetic",
    "CL604": "tensor-core-opportunity",
    "CL701": "unfused-kernels",
    "CL702": "launch-overhead",
    "CL703": "pageable-async-copy",
    "CL704": "zero-copy-access",
    "CL705": "non-portable-pinned",
    "CL901": "unused-suppression",
    "CL902": "incomplete-analysis",
    "CL903": "bad-annotation",
    "CL904": "invalid-code",
}


def hint(selector: str) -> str:
    """What a user may have meant by what is no rule's code or name."""
    import difflib

    close = difflib.get_close_matches(selector.lower(), NAME_OF_CODE.values(), 1)
    return f"did you mean `{close[0]}`?" if close else "`cudalint rules` lists them"

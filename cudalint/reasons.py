"""Why something is not known, or only in part: users read the text of a reason, and the program asks for its kind."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ReasonKind = Literal[
    "loaded", "atomic", "iteration", "summary", "data", "estimate", "activity", "repeat",
    "unresolved", "unseen", "instantiations", "races", "unit", "time", "unasked", "other",
]  # fmt: skip
"""Of values: whether one was loaded, is what an atomic found, changes from iteration to iteration, or stands for a long
computation of which only some parts are known. Of what depends on such values: `data`, where loaded ones decide, and
`estimate`, a figure that is the mean over uniform data, and `activity`, such a mean over which lanes are active, where
the addresses are known and waste more yet when all lanes are. `repeat` is an access that makes no request of its own,
as another load's value is used.

Of what was left out: `unresolved` by the front end, as names or types are not declared or the text is no C++; `unseen`,
a function of which there is no body; `instantiations` beyond those that were evaluated; something that only concerns
the search for `races`; what a `unit` of the multiprocessor does by itself (bulk copies, products of matrices that read
their operands), of which no lane makes an access that could have a figure; what there was no `time` for; or what is
`unasked`, a kernel without recorded launches where these count."""

ProblemKind = Literal[
    "missing-include", "supplied", "defined", "guessed", "undeclared", "undeclared-type", "error"
]  # fmt: skip
"""Of what the front end found wrong with a text: an include that was not found, a header that was included in its
place, a macro that was defined for it, a name that something was made up for, one that nothing declares, and all else.
"""


class Problem(Struct, frozen=True):
    """Something that the front end could not resolve; it costs what depends on it and no more."""

    path: str
    line: int
    column: int
    message: str
    kind: ProblemKind = "error"
    name: str = ""
    """What is missing, was supplied or is not declared."""
    is_syntax: bool = False
    """The text is no C++ there, whatever is declared elsewhere."""
    is_certain: bool = False
    """No compiler of CUDA takes it, whatever is declared elsewhere and whatever the build defines."""
    stands_alone: bool = False
    """It is certain whatever else is wrong with the file."""

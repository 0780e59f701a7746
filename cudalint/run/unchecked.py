"""Which rules could not look at which kernels of a file, in as many lines as there are reasons, and not for each
kernel and rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, field

from cudalint.numerals import count
from cudalint.registry import RuleClass
from cudalint.shortfalls import Gravity, Shortfall, of_kernels
from cudalint.system.processes.faults import raised_by

_MOST_RULES = 3
_OUT_OF_TIME = "the time limit is too short; --time-limit gives more time"


class Unchecked(Struct, eq=False):
    """Gathered while rules run. A kernel of no name is the file."""

    _late: dict[str, dict[str | None, None]] = field(default_factory=dict)
    """By a rule's code: what there was no time for."""
    _failed: dict[str, dict[str | None, str]] = field(default_factory=dict)
    """The same for what failed, with the reasons."""

    def late(self, code: str, kernel: str | None) -> None:
        self._late.setdefault(code, {})[kernel] = None

    def failed(self, rule: RuleClass, kernel: str | None, error: Exception) -> None:
        self._failed.setdefault(rule.code, {}).setdefault(kernel, raised_by(error, rule.__module__))

    def shortfalls(self) -> Iterator[Shortfall]:
        for code, reasons in self._failed.items():
            first, *others = dict.fromkeys(reasons.values())
            more = f", and {count(len(others), 'more reason')}" if others else ""
            yield _of([code], reasons, f"{first}{more}", is_late=False)
        if self._late:
            kernels = dict.fromkeys(kernel for late in self._late.values() for kernel in late)
            yield _of(list(self._late), kernels, _OUT_OF_TIME, is_late=True)


def _of(codes: Sequence[str], kernels: Collection[str | None], reason: str, is_late: bool) -> Shortfall:
    severity: Gravity = "warning" if is_late else "error"
    left = len(codes) - _MOST_RULES
    rules = ", ".join(codes[:_MOST_RULES]) + (f" and {count(left, 'more rule')}" if left > 0 else "")
    are = "are" if len(codes) > 1 else "is"
    names = [name for name in kernels if name is not None]
    if not names:
        return Shortfall(f"{rules} {are} not checked for the file: {reason}", severity, is_late=is_late)
    of = "the file and " if None in kernels else ""
    return of_kernels(names, f"{rules} {are} not checked for {of}{{}}: {reason}", severity, is_late)

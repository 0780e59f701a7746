"""What the parts of one unit's lowering share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from cudalint import reasons
from cudalint.frontend import cursors
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.lower.calls import Calls
from cudalint.frontend.lower.constructors import Constructors
from cudalint.frontend.lower.expressions import Expressions
from cudalint.frontend.lower.functions import Functions
from cudalint.frontend.lower.init_lists import InitLists
from cudalint.frontend.lower.lambdas import Lambdas
from cudalint.frontend.lower.layouts import Layouts
from cudalint.frontend.lower.macros import Macros
from cudalint.frontend.lower.sources import Sources
from cudalint.frontend.lower.stand_ins import StandIns
from cudalint.frontend.lower.statements import Statements
from cudalint.frontend.lower.symbols import Symbols
from cudalint.frontend.lower.type_tests import TypeTests
from cudalint.frontend.lower.types import Types
from cudalint.frontend.parse import ParsedFile
from cudalint.ir import nodes as ir

_UNKNOWN_TYPES = ("unknown-type", "no-type")
Elsewhere = Callable[[str, str], ir.Expr | None]
"""For the name and the USR of a constant that a file only declares: what another one defines it to be."""


def nowhere(name: str, usr: str) -> ir.Expr | None:
    return None


class Context:
    """The lowerings of one translation unit, which call each other. It keeps the unit alive: everything that is
    lowered later on still reads from it."""

    def __init__(self, parsed: ParsedFile, constant_elsewhere: Elsewhere = nowhere) -> None:
        self._parsed = parsed
        self.constant_elsewhere = constant_elsewhere
        self.root = cursors.from_bindings(parsed.tu.cursor)
        self.sources = Sources(self.root.unit, parsed.path, parsed.is_user, parsed.shown, parsed.places, parsed.tu)
        self.macros = Macros(self._texts)
        self.types = Types(Layouts(parsed.problems, parsed.known_types, self.sources))
        self.type_tests = TypeTests(self)
        self.symbols = Symbols(self)
        self.functions = Functions(self)
        self.instances = parsed.instances
        self.shown_path = parsed.shown(parsed.path)
        has_unknown_types = any(problem.error in _UNKNOWN_TYPES for problem in parsed.problems)
        self.stand_ins = StandIns(self, parsed.stand_ins, has_unknown_types)
        self.constructors = Constructors(self)
        self.calls = Calls(self)
        self.init_lists = InitLists(self)
        self.lambdas = Lambdas(self)
        self.expressions = Expressions(self)
        self.statements = Statements(self)
        self.instantiations: Sequence[Cursor] = ()
        """The definitions that clang made of the unit's templates."""
        self.volatile: set[ir.Span] = set()
        """See `ir.Function`."""

    def _texts(self) -> Iterator[str]:
        """The main file, then the user's headers, as clang read them. Bytes are latin-1."""
        return (data.decode("latin-1") for _, data in self._parsed.texts())

    def launches_kernels(self, span: ir.Span) -> bool:
        """Whether a kernel is launched between the first and the last line of a function of the device."""
        return any(self._is_within(problem, span) for problem in self._parsed.nested_launches)

    def problems_within(self, span: ir.Span, missing: Collection[str] = ()) -> tuple[reasons.Problem, ...]:
        """The front end's errors between the first and the last line of a function, and what was made up for names
        that are missing elsewhere. A type is reported as an assumption, which leaves nothing out."""
        return tuple(
            [
                self.problem(problem)
                for problem in self._parsed.problems
                if problem.kind not in ("supplied", "defined")
                and (self._is_within(problem, span) or (problem.kind == "guessed" and problem.name in missing))
                and not (problem.kind == "guessed" and self._is_type(problem.name))
            ]
        )

    def _is_type(self, name: str) -> bool:
        """Whether a type was made up for a name."""
        return name in self._parsed.known_types or isinstance(self._parsed.stand_ins.get(name), str)

    def problem(self, of: Problem) -> reasons.Problem:
        """As the rest of the program knows it, in the file that was asked for."""
        path = self._parsed.as_given(of.path)
        known = (of.kind, of.name, of.is_syntax, of.is_certain, of.stands_alone)
        return reasons.Problem(path, of.line, of.column, of.message, *known)

    def _is_within(self, problem: Problem, span: ir.Span) -> bool:
        return span.line <= problem.line <= span.end_line and self._parsed.shown(problem.path) == span.path

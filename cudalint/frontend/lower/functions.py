"""Functions: references to them, their definitions, and which of them launch kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower import declarations
from cudalint.frontend.lower.uses import Uses, uses_in
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import named
from cudalint.ir.units import Wanted
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_ENDING: Final = named("end-of-program", "assumed-by-host")
"""What ends the program, or says what has to hold for it to go on."""
_DEPTH: Final = 100_000
"""Python's limit on nested calls while a function is lowered. Its own calls take no room on the C stack."""

_PASS_ON: Final = frozenset({
    "forward", "move", "move_if_noexcept", "addressof", "as_const", "ref", "cref", "get", "begin", "end", "data",
    "size",
})  # fmt: skip
"""Functions of the standard library that take a reference to hand it on, or to look at what it refers to."""
_FUNCTIONS: Final = kinds.FUNCTION_DECLS | {kinds.FUNCTION_TEMPLATE}
_UNNAMED: Final = "@Sa"
"""What a USR calls any type without a name."""
_QUALIFIERS: Final = regex(r"#[1-7](?=[A-Za-z*&$@\[{])")
"""Before a parameter's type in a USR: `const` and `__restrict__` of the parameter itself, which a header need not
repeat, and which make no other function of it."""


_Answer = TypeVar("_Answer")


class _Once(Generic[_Answer]):
    """Asks when somebody wants to know, and remembers the answer. A function of its own that does so takes ten times as
    long to make, and of most functions nobody asks anything."""

    __slots__ = ("_answer", "_ask")

    def __init__(self, ask: Callable[[], _Answer]) -> None:
        self._ask: Callable[[], _Answer] | None = ask

    def __call__(self) -> _Answer:
        if self._ask is not None:
            self._answer = self._ask()
            self._ask = None
        return self._answer


class Functions:
    """All functions of one unit that somebody names, each once; definitions are lowered when they are asked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._wanted: Wanted | None = None
        self._refs: dict[int | None, ir.FunctionRef] = {}
        self._loaded: dict[str, ir.Function | None] = {}
        self._captures: dict[int | None, tuple[ir.Capture, ...]] = {}
        self._uses: dict[int | None, Uses] = {}
        self._may_launch: dict[Wanted | None, tuple[dict[str, bool], dict[str, bool]]] = {}
        self._has_effects: dict[str, bool] = {}
        self._definitions: dict[str, Cursor] = {}
        self._this: ir.Symbol | None = None

    def look_for(self, wanted: Wanted) -> None:
        """Has only those functions count as launching kernels that may launch one in question."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._may_launch.clear()

    # --- references --------------------------------------------------------------------------------

    def ref(self, declaration: Cursor) -> ir.FunctionRef:
        found = self._refs.get(declaration.handle)
        if found is None:
            first = cursors.canonical_cursor(declaration)
            found = self._refs.get(first.handle)
            if found is None:
                found = self._refs[first.handle] = self._new_ref(declaration)
            self._refs[declaration.handle] = found
        return found

    def _new_ref(self, declaration: Cursor) -> ir.FunctionRef:
        definition = cursors.definition(declaration)
        has_body = kinds.is_declaration(definition.kind)
        shown = definition if has_body else declaration
        sources = self._context.sources
        start = sources.start(shown)
        # A program may declare `__syncthreads` once more: it is the library's all the same.
        declared = start if has_body else sources.start(cursors.canonical_cursor(declaration))
        name = cursors.spelling(shown)
        usr = _QUALIFIERS.sub("#", cursors.usr(declaration))
        key = f"{usr}@{start.file.path}:{start.offset}"
        if name == "operator()" or _UNNAMED in usr:
            # Lambdas have no names: those of one function look the same, and so does what a template makes of them. A
            # macro that writes its argument several times makes as many at one place.
            key = self._own_key(key, shown)
        self._definitions.setdefault(key, shown)
        symbol = self._context.symbols.symbol
        return ir.FunctionRef(
            name=name,
            kind=declarations.function_kind(declarations.split(shown)),
            place=_Once(lambda: sources.span(shown)),
            key=key,
            usr=usr,
            is_user=declared.file.is_user and not name.startswith("__builtin_"),
            load=lambda: self._load(key),
            signature=_Once(lambda: self._signature(key)),
            has_launch=lambda: self.may_launch(key, self._wanted),
            acts=lambda: self._search(key, self._has_effects, self._has_own_effects),
            names=_Once(lambda: frozenset(map(cursors.spelling, self.named_functions(key)))),
            names_numbers=lambda: any(map(self._is_number_to_set, self._uses_of(key).variables)),
            named=lambda: [self.ref(one) for one in self.named_functions(key)],
            never_returns=_Once(lambda: declarations.never_returns(shown)),
            parameter_types=_Once(lambda: tuple([symbol(p).type for p in declarations.split(shown).parameters])),
            templated=declarations.is_pattern(shown),
            outputs=_Once(lambda: _outputs_of(shown)),
            is_const=lambda: cursors.is_const_method(shown) != 0,
            linkage_name=_Once(lambda: "" if declarations.is_pattern(shown) else cursors.linkage_name(shown)),
        )

    def _own_key(self, key: str, shown: Cursor) -> str:
        """The key, with a number where another function has it."""
        number, own = 1, key
        while own in self._definitions and self._definitions[own].handle != shown.handle:
            number += 1
            own = f"{key}#{number}"
        return own

    def note_captures(self, call_operator: Cursor, captures: tuple[ir.Capture, ...]) -> None:
        self._captures[call_operator.handle] = captures

    def _captures_of(self, definition: Cursor) -> tuple[ir.Capture, ...]:
        """What a lambda captures; the instantiations of a generic one capture the same."""
        captures = self._captures.get(definition.handle)
        if captures is None:
            captures = self._captures.get(cursors.specialized_template(definition).handle, ())
        return captures

    def current_this(self) -> ir.Symbol | None:
        """The object of the method that is being lowered."""
        return self._this

    def default_argument(self, callee: Cursor, position: int, node: Cursor) -> ir.Expr:
        """The expression that a parameter's declaration gives for a missing argument."""
        context = self._context
        for declaration in (callee, cursors.canonical_cursor(callee)):
            parameters = [child for child in cursors.children(declaration) if child.kind == kinds.PARM_DECL]
            if position < len(parameters):
                values = cursors.expressions(parameters[position])
                if values:
                    return context.expressions.lower(values[-1])
        return ir.UnknownExpr("default argument", (), context.types.of(node), context.sources.span(callee))

    # --- definitions -------------------------------------------------------------------------------

    def _load(self, key: str) -> ir.Function | None:
        if key not in self._loaded:
            definition = self._definitions[key]
            with _deep_recursion(), self._context.type_tests.of(definition), self._object_of(definition) as this:
                self._loaded[key] = self._lower(key, this)
        return self._loaded[key]

    def _signature(self, key: str) -> ir.Signature | None:
        definition = self._definitions[key]
        parts = declarations.split(definition)
        if parts.body is None and not declarations.is_implicit_constructor(definition):
            return None
        parameters = tuple([self._context.symbols.symbol(parameter) for parameter in parts.parameters])
        return ir.Signature(declarations.instantiation_name(definition), parameters)

    def _lower(self, key: str, this: ir.Symbol | None) -> ir.Function | None:
        definition = self._definitions[key]
        parts = declarations.split(definition)
        if parts.body is None and not declarations.is_implicit_constructor(definition):
            return None
        context = self._context
        max_threads, min_blocks = declarations.launch_bounds(definition, parts)
        span = context.sources.span(definition)
        stand_ins = context.stand_ins.in_function(key, definition)
        made_with, made_up = self._made_with(definition)
        return ir.Function(
            name=cursors.spelling(definition),
            instantiation=declarations.instantiation_name(definition),
            kind=declarations.function_kind(parts),
            parameters=tuple([context.symbols.symbol(parameter) for parameter in parts.parameters]),
            result=context.types.lower(cursors.result_type(definition)),
            body=context.statements.block(parts.body) if parts.body is not None else st.Block((), span),
            span=span,
            name_span=context.sources.name_span(definition),
            this=this,
            member_initializers=context.constructors.member_initializers(definition, parts),
            max_threads=max_threads,
            min_blocks=min_blocks,
            in_clusters=declarations.has_cluster_dimensions(parts),
            cluster=declarations.cluster_dimensions(definition, parts),
            is_template_pattern=declarations.is_pattern(definition),
            template_values=self._template_values(definition),
            template_types=self._template_types(definition),
            captures=self._captures_of(definition),
            # A type is reported as an assumption, which leaves nothing out.
            problems=context.problems_within(span, context.stand_ins.numbers_among(stand_ins)),
            launches_kernels=context.launches_kernels(span),
            stand_ins=context.stand_ins.what_stands(stand_ins),
            volatile=context.volatile,
            made_with=made_with,
            made_up=made_up,
        )

    def _made_with(self, definition: Cursor) -> tuple[str, tuple[str, ...]]:
        """The arguments of an instance that was made for want of others, and the names of those that nothing says."""
        if not self._context.instances:
            return "", ()
        pattern = cursors.specialized_template(definition)
        if not kinds.is_declaration(pattern.kind):
            return "", ()
        return self._context.instances.get(self.ref(pattern).usr, ("", ()))

    def key_of(self, declaration: Cursor) -> str:
        return self.ref(declaration).key

    def definition(self, key: str) -> Cursor:
        return self._definitions[key]

    def _template_values(self, definition: Cursor) -> tuple[ir.Symbol, ...]:
        parameters = declarations.template_parameters(definition)
        values = [p for p in parameters if p.kind == kinds.TEMPLATE_NON_TYPE_PARAMETER]
        return tuple([self._context.symbols.symbol(parameter) for parameter in values])

    def _template_types(self, definition: Cursor) -> tuple[tuple[str, ir.OpaqueType], ...]:
        found = []
        for parameter in declarations.template_parameters(definition):
            if parameter.kind == kinds.TEMPLATE_TYPE_PARAMETER:
                type_ = self._context.types.of(parameter)
                if isinstance(type_, ir.OpaqueType):
                    found.append((cursors.spelling(parameter), type_))
        return tuple(found)

    @contextmanager
    def _object_of(self, definition: Cursor) -> Iterator[ir.Symbol | None]:
        """Sets what `this` means in a body: for a lambda's, the object of the method around it."""
        before = self._this
        own = self._own_object(definition)
        self._this = (
            self._enclosing_object(definition) if own is not None and declarations.is_lambda(definition) else own
        )
        try:
            yield own
        finally:
            self._this = before

    def _own_object(self, definition: Cursor) -> ir.Symbol | None:
        if cursors.semantic_parent(definition).kind not in declarations.RECORDS or cursors.is_static_method(definition):
            return None
        return self._context.symbols.this(definition)

    def _enclosing_object(self, definition: Cursor) -> ir.Symbol | None:
        around = cursors.semantic_parent(cursors.semantic_parent(definition))
        while declarations.is_lambda(around):
            around = cursors.semantic_parent(cursors.semantic_parent(around))
        if around.kind not in kinds.FUNCTION_DECLS and around.kind != kinds.FUNCTION_TEMPLATE:
            return None
        return self._own_object(around)

    # --- launches ----------------------------------------------------------------------------------

    def may_launch(self, key: str, wanted: Wanted | None) -> bool:
        """Whether a function launches a kernel, as far as the names in it say: one in question is launched where it is
        named, or passed on from there to what launches it."""
        by_name, given = self._may_launch.setdefault(wanted, ({}, {}))
        if wanted is None:
            return self._search(key, by_name, lambda key: self._uses_of(key).launches)
        return self._search(key, by_name, partial(self._names, wanted)) or self._search(
            key, given, self._has_open_launch, self._says_what_is_launched
        )

    def _names(self, wanted: Wanted, key: str) -> bool:
        """Whether a body names what is in question, or a variable that is made of that, such as a table of kernels."""
        uses = self._uses_of(key)
        tables = (self.uses_in(variable).functions for variable in uses.variables)
        named = (uses.functions, uses.values, *tables)
        return any(wanted.has(cursors.spelling(one)) for each in named for one in each)

    def _has_open_launch(self, key: str) -> bool:
        """Whether a body launches a kernel that its callers may have given it."""
        launched = self._uses_of(key).launched
        return any(not self._is_kernel(one) for one in launched) and not self._says_what_is_launched(key)

    def _says_what_is_launched(self, key: str) -> bool:
        """Whether a body passes on kernels that it names itself, and none that it is given."""
        if not any(map(self._is_kernel, self._uses_of(key).values)):
            return False
        return not any(map(_may_be_function, self.ref(self._definitions[key]).parameter_types()))

    def _is_kernel(self, named: Cursor) -> bool:
        return named.kind in _FUNCTIONS and self.ref(named).kind == "kernel"

    def _search(
        self,
        key: str,
        answers: dict[str, bool],
        found: Callable[[str], bool],
        ends: Callable[[str], bool] = lambda key: False,
    ) -> bool:
        """Whether something holds of a function's body, or of a user function's that it calls; `answers` are known.
        What functions call does not count where the search `ends`."""
        if key in answers:
            return answers[key]
        seen = {key}
        waiting = [key]
        while waiting:
            current = waiting.pop()
            known = answers.get(current)
            if known is False:
                continue
            if known or found(current):
                answers[key] = True
                return True
            for ref in () if ends(current) else map(self.ref, self._uses_of(current).functions):
                if ref.is_user and ref.key not in seen:
                    seen.add(ref.key)
                    waiting.append(ref.key)
        answers |= dict.fromkeys(seen, False)
        return False

    # --- what calls do beyond their arguments --------------------------------------------------------

    def _has_own_effects(self, key: str) -> bool:
        """Whether a body uses variables that outlive it, or ends the program."""
        uses = self._uses_of(key)
        if uses.throws or any(ref.name in _ENDING or ref.never_returns() for ref in map(self.ref, uses.functions)):
            return True
        return any(map(self._is_of_user, uses.variables))

    def _is_of_user(self, variable: Cursor) -> bool:
        return self._context.sources.start(variable).file.is_user

    def _is_number_to_set(self, variable: Cursor) -> bool:
        """Whether a variable is a number of the user's that may change."""
        declared = cursors.type_of(variable)
        if declarations.is_const(declared) or not self._is_of_user(variable):
            return False
        return isinstance(self._context.types.lower(declared), ir.Scalar)

    def _uses_of(self, key: str) -> Uses:
        return self.uses_in(self._definitions[key])

    def uses_in(self, definition: Cursor) -> Uses:
        """What a function's body names: it is gone through once."""
        found = self._uses.get(definition.handle)
        if found is None:
            found = self._uses[definition.handle] = uses_in(definition)
        return found

    def named_functions(self, key: str) -> list[Cursor]:
        """The functions that a function's body calls or names."""
        return self._uses_of(key).functions

    def pattern_of(self, ref: ir.FunctionRef) -> str | None:
        """The key of the template that a function was instantiated from."""
        pattern = cursors.specialized_template(self._definitions[ref.key])
        return self.ref(pattern).key if kinds.is_declaration(pattern.kind) else None


def _may_be_function(parameter: ir.Type) -> bool:
    """Whether a parameter may be given a function, as far as its type says."""
    while isinstance(parameter, ir.PointerType):
        parameter = parameter.pointee
    return isinstance(parameter, ir.OpaqueType)


def _outputs_of(declaration: Cursor) -> frozenset[int]:
    passes_on = cursors.spelling(declaration) in _PASS_ON
    parameters = [] if passes_on else declarations.split(declaration).parameters
    return frozenset(i for i, node in enumerate(parameters) if declarations.is_output(node))


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room for deeply nested expressions and `else if` chains."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)

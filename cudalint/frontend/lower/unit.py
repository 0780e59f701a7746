"""A whole file: its kernels and its host functions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Final

from msgspec.structs import replace

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.frontend.lower.context import Context, Elsewhere, nowhere
from cudalint.frontend.lower.symbols import is_const_variable
from cudalint.frontend.lower.uses import uses_in
from cudalint.frontend.parse import ParsedFile
from cudalint.ir import nodes as ir
from cudalint.ir.units import SourceText, TemplateHead, Unit, Wanted
from cudalint.source.conditions import with_launches_left_out

_CONTAINERS: Final = frozenset(
    {
        kinds.NAMESPACE,
        kinds.LINKAGE_SPEC,
        kinds.UNEXPOSED_DECL,
        kinds.STRUCT_DECL,
        kinds.CLASS_DECL,
        kinds.UNION_DECL,
        kinds.CLASS_TEMPLATE,
        kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
    }
)
_NAMING: Final = frozenset({kinds.CALL_EXPR, kinds.DECL_REF_EXPR})
_MOST_LEVELS: Final = 4
"""Of functions around a launch."""
_FUNCTIONS: Final = kinds.FUNCTION_DECLS | {kinds.FUNCTION_TEMPLATE}
_AXIOM: Final = "_cudalint_axiom_"
"""What the bundled header of verifiers' statements makes of `__axiom(…)`."""
_TOP_LEVEL: Final = _CONTAINERS | _FUNCTIONS | {kinds.VAR_DECL}
"""Half of what stands at the top are macros."""


def _texts(parsed: ParsedFile) -> Iterator[SourceText]:
    """Nothing for a text in a file of another language, whose launches stand around it."""
    left_out = parsed.left_out() if parsed.places is None else {}
    for path, data in parsed.texts() if parsed.places is None else ():
        text = data.decode("latin-1")
        lines = text.split("\n") if path in left_out and "<<<" in text else []
        for first, last in left_out.get(path, ()) if lines else ():
            lines[first - 1 : last] = [""] * len(lines[first - 1 : last])
        yield SourceText(path, "\n".join(lines) or text)


def _texts_left_out(parsed: ParsedFile) -> Iterator[SourceText]:
    left_out = parsed.left_out() if parsed.places is None else {}
    for path, data in parsed.texts() if left_out else ():
        lines = data.decode("latin-1").split("\n") if path in left_out else []
        other = with_launches_left_out(lines, left_out.get(path, ()))
        if other is not None:
            yield SourceText(path, "\n".join(other))


class Listing:
    """The functions of a file, and which of them name which. `constant` finds the values that other files give to
    constants."""

    def __init__(self, parsed: ParsedFile, constant: Elsewhere = nowhere) -> None:
        self._parsed = parsed
        self._context = Context(parsed, constant)
        definitions = _Definitions(self._context)
        refs = self._refs(definitions.functions)
        self._variables = definitions.variables
        self._context.instantiations = definitions.instantiations
        self._context.stand_ins.functions = (*definitions.functions, *definitions.instantiations)
        self._instantiated = self._refs(definitions.instantiations)
        # The kernels of a file that includes this one, and of what it includes before, are found there, with the
        # launches behind the inclusion.
        elsewhere = {parsed.includer, *parsed.included_before()}
        kernels = [ref for ref in refs if ref.kind == "kernel"]
        self.kernels = tuple([ref for ref in kernels if ref.span.path not in elsewhere])
        self._axioms = tuple([ref for ref in refs if ref.name.startswith(_AXIOM)])
        self._hosts = [ref for ref in refs if ref.kind == "host" and not ref.templated]
        self._patterns = [ref for ref in refs if ref.kind == "host" and ref.templated]

    def unit_for(self, wanted: Wanted) -> Unit:
        """What the rest of the program asks for where another file's launches are in question. What has been lowered by
        now is not lowered again, and the unit takes the place of the one before."""
        self._context.functions.look_for(wanted)
        return self.unit()

    def unit(self) -> Unit:
        """What the rest of the program asks for."""
        return Unit(
            path=self._parsed.path,
            problems=tuple(map(self._context.problem, self._parsed.problems)),
            stand_ins=self._parsed.library_stand_ins,
            kernels=self.kernels,
            host_functions=self._host_functions(),
            host_patterns=tuple(ref for ref in self._patterns if ref.has_launch()),
            axioms=self._axioms,
            instantiations=self.instantiations,
            constant=self.constant,
            may_launch=lambda ref, wanted: self._context.functions.may_launch(ref.key, wanted),
            texts=partial(_texts, self._parsed),
            texts_left_out=partial(_texts_left_out, self._parsed),
        )

    def _refs(self, definitions: list[Cursor]) -> list[ir.FunctionRef]:
        """References without the repetitions of a file that includes itself."""
        found: dict[tuple[ir.Span, str, str], ir.FunctionRef] = {}
        for definition in definitions:
            ref = self._context.functions.ref(definition)
            found.setdefault((ref.span, ref.name, ref.key), ref)
        return list(found.values())

    def _host_functions(self) -> tuple[ir.FunctionRef, ...]:
        """The host functions of the file, and those instantiations of its templates that launch something: first the
        ones that nothing in the file names, which are instantiated explicitly, for other files; then the others. Where
        nothing calls one of these, its address is passed on (`return launch_rows<float>;`)."""
        launching = [ref for ref in self._instantiated if ref.kind == "host" and ref.has_launch()]
        if not launching:
            return tuple(self._hosts)
        called = set(self._reached([host.key for host in self._hosts], []))
        functions = self._context.functions
        named_by = [(ref, one) for ref in launching for one in functions.named_functions(ref.key)]
        called |= self._reached([], [one for ref, one in named_by if functions.ref(one).key != ref.key]).keys()
        named = [ref for ref in launching if ref.key in called]
        return (*self._hosts, *[ref for ref in launching if ref.key not in called], *reversed(named))

    def instantiations(self, key: str) -> tuple[ir.FunctionRef, ...]:
        """The instantiations of a kernel template, launched or not."""
        return tuple(self._by_pattern.get(key, {}).values())

    @cached_property
    def _by_pattern(self) -> dict[str, dict[str, ir.FunctionRef]]:
        """The instantiations of templates by the keys of these."""
        found: dict[str, dict[str, ir.FunctionRef]] = {}
        for ref in (*self._named.values(), *self._instantiated):
            pattern = self._context.functions.pattern_of(ref)
            if pattern is not None:
                found.setdefault(pattern, {})[ref.key] = ref
        return found

    def bare_templates(self) -> tuple[TemplateHead, ...]:
        """The kernel templates that nothing instantiates, those of the file itself first, but for those that no name
        leads to from the end of the file, such as members of classes that are templates."""
        return tuple(head for head in map(self._head, self._bare) if head is not None)

    def launching_templates(self) -> tuple[TemplateHead, ...]:
        """Templates of host code behind which kernels get their arguments from: of `launch<T, N>(…)`, the nearest
        function that knows them gives all of them, and the block as well."""
        if not self._bare:
            return ()
        named = [(ref, _templates_named(self._context.functions.definition(ref.key))) for ref in self._patterns]
        functions = self._context.functions
        reached: dict[str, dict[str, None]] = {ref.key: {ref.usr: None} for ref in self._bare}
        found: list[ir.FunctionRef] = []
        waiting = list(reached)
        for _ in range(_MOST_LEVELS):
            new: dict[str, dict[str, None]] = {}
            for ref, callees in named:
                keys = [key for key in map(functions.key_of, callees) if key in waiting and key != ref.key]
                if keys and ref.key not in reached and not self.instantiations(ref.key):
                    new[ref.key] = {usr: None for key in keys for usr in reached[key]}
                    found.append(ref)
            reached |= new
            waiting = list(new)
        heads = ((ref, self._head(ref)) for ref in found)
        return tuple(replace(head, launches=tuple(reached[ref.key])) for ref, head in heads if head is not None)

    @cached_property
    def _bare(self) -> list[ir.FunctionRef]:
        """The kernel templates that nothing instantiates."""
        own_first = sorted(self.kernels, key=lambda ref: ref.span.path != self._context.shown_path)
        return [ref for ref in own_first if ref.templated and not self.instantiations(ref.key)]

    def _head(self, ref: ir.FunctionRef) -> TemplateHead | None:
        definition = self._context.functions.definition(ref.key)
        scopes = _scopes(definition)
        text = self._context.sources.text_of_template(definition)
        if scopes is None or not text:
            return None
        is_own = ref.span.path == self._context.shown_path
        file = "" if is_own else self._context.sources.text_around(definition)
        namespaces, classes = scopes
        return TemplateHead(ref.usr, tuple(namespaces), "::".join((*classes, ref.name)), ref.name, text, file)

    def constant(self, usr: str) -> ir.Expr | None:
        """What a constant is that the file defines."""
        for variable in self._variables:
            if cursors.usr(variable) == usr and is_const_variable(variable):
                value = self._context.expressions.initializer(variable)
                if value is not None:
                    return value
        return None

    @cached_property
    def _named(self) -> dict[str, ir.FunctionRef]:
        """All functions that are named in functions that aren't templates, in functions that those name, and in the
        initializers of variables (tables of kernels)."""
        initial = [one for variable in self._variables for one in uses_in(variable).functions]
        kernels = self.kernels if self._parsed.nested_launches else ()
        return self._reached([ref.key for ref in (*self._hosts, *kernels) if not ref.templated], initial)

    def _reached(self, roots: list[str], initial: list[Cursor]) -> dict[str, ir.FunctionRef]:
        """The functions that the roots name, directly or through user functions, by key. Bodies of kernels, which are
        most of what there is to go through, name no functions of the host, and other kernels only where clang says so.
        """
        functions = self._context.functions
        ends_at_kernels = not self._parsed.nested_launches
        found: dict[str, ir.FunctionRef] = {}
        named = initial
        waiting = roots[::-1]
        entered = set(roots)
        while named or waiting:
            for callee in named:
                ref = functions.ref(callee)
                found.setdefault(ref.key, ref)
                if ref.is_user and ref.key not in entered:
                    entered.add(ref.key)
                    if not (ends_at_kernels and ref.kind == "kernel"):
                        waiting.append(ref.key)
            named = functions.named_functions(waiting.pop()) if waiting else []
        return found


def _templates_named(definition: Cursor) -> list[Cursor]:
    """The function templates that a function's body names, whichever of them it means."""
    found: dict[int | None, Cursor] = {}
    for node in cursors.descendants(definition, _NAMING):
        named = cursors.referenced(node)
        meant = cursors.overloads(named) if named.kind == kinds.OVERLOADED_DECL_REF else [named]
        found |= {each.handle: each for each in meant if each.kind == kinds.FUNCTION_TEMPLATE}
    return list(found.values())


def _scopes(definition: Cursor) -> tuple[list[str], list[str]] | None:
    """The namespaces and the classes that a function is in, outermost first; None where it is in a template, or in no
    place to name."""
    namespaces: list[str] = []
    classes: list[str] = []
    around = cursors.semantic_parent(definition)
    while around.kind != kinds.TRANSLATION_UNIT:
        name = cursors.spelling(around)
        is_named = bool(name) and "(" not in name
        if around.kind == kinds.NAMESPACE:
            namespaces += [name] if is_named else []
        elif around.kind in (kinds.STRUCT_DECL, kinds.CLASS_DECL) and is_named:
            classes.append(name)
        else:
            return None
        around = cursors.semantic_parent(around)
    return namespaces[::-1], classes[::-1]


class _Definitions:
    """What the user's files define outside of functions, in source order."""

    def __init__(self, context: Context) -> None:
        self.functions: list[Cursor] = []
        self.variables: list[Cursor] = []
        self.instantiations: list[Cursor] = []
        """Bodies that clang made from templates. It hands them over after everything that is written."""
        self._sources = context.sources
        waiting = context.sources.user_code(cursors.children_of_kinds(context.root, _TOP_LEVEL))[::-1]
        while waiting:
            node = waiting.pop()
            if node.kind in _CONTAINERS:
                waiting += cursors.children_of_kinds(node, _TOP_LEVEL)[::-1]
            else:
                self._add(node)

    def _add(self, node: Cursor) -> None:
        if node.kind == kinds.VAR_DECL:
            self.variables.append(node)
        elif self._is_instantiation(node):
            self.instantiations.append(node)
        elif cursors.is_definition(node):
            self.functions.append(node)

    def _is_instantiation(self, node: Cursor) -> bool:
        """Whether a function is written as the template that it belongs to; a specialization has its own place."""
        pattern = cursors.specialized_template(node)
        if not kinds.is_declaration(pattern.kind):
            return False
        # The template may be declared first and defined further down, which is where its instantiations stand.
        start = self._sources.start(node)
        return start in (self._sources.start(pattern), self._sources.start(cursors.definition(pattern)))

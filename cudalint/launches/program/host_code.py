"""The launches that the host code of a program makes of one file's kernels, whichever of its files they stand in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.frontend.parse_options import Parsing
from cudalint.host.executor.code import Outside
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.launching import Found, HostLaunch
from cudalint.host.executor.roots import run_host
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, bits_of
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.units import SourceText, Unit, Wanted
from cudalint.launches.program.launches_by_name import as_host_code
from cudalint.launches.program.launches_in_text import TextLaunches
from cudalint.launches.program.neighbours import callers, code_in, definers, launchers, launching_texts, wrappers
from cudalint.launches.program.other_files import other_file
from cudalint.launches.program.project_texts import launching_texts as launching_in_project
from cudalint.launches.program.project_texts import texts_by_name
from cudalint.launches.program.search_time import SearchTime
from cudalint.options.expressions import Expression
from cudalint.regexes import regex
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.regular import read_regular_text
from cudalint.system.processes.deadline import NEVER, Deadline
from cudalint.toolchain.buildfiles.run_command import run_command

_MAX_LOOKED_INTO = 3
"""Files of a program that are looked into for what its host code calls."""
_MAX_ASKED_FOR = 12
"""Functions for which all files of a folder are searched."""

_Functions = tuple[ir.FunctionRef, ...]

_OF_TESTS = frozenset({"SetUp", "TearDown", "TestBody", "_cudalint_run"})
"""What every test of GoogleTest has, and nobody calls by name."""


_LAMBDA = "@Sa@F@operator()"
"""In its USR. No other file calls one."""


def nothing_known(name: str) -> Expression | None:
    """Of no name."""
    return None


class HostCode(Struct, eq=False):
    """Executes it, from the outside in: a program starts in the `main` of some file of the folder."""

    unit: Unit
    graph: Graph
    generics: Generics
    properties: Mapping[str, int]
    """What host code learns about the device."""
    parsing: Parsing
    """Of other files."""
    deadline: Deadline = NEVER
    """For all of it. What a `main` leads to through other files gets half of what is left when it is come to."""
    constant: Callable[[str], Expression | None] = nothing_known
    """What else is known by a name in the file."""
    search: SearchTime = field(default_factory=SearchTime)
    """For looking into other files."""
    is_cut: bool = False
    """Whether launches may be missing for lack of time."""
    opt_ins: dict[str, list[Node]] = field(default_factory=dict)
    """By a kernel's key: the bytes to which its limit of dynamic shared memory is raised."""

    unfollowed: set[ir.Span] = field(default_factory=set)
    """Launches of loops that go on to make others there."""
    defined: dict[str, ir.FunctionRef] = field(default_factory=dict)
    """By their USR: functions of the file itself, and of those that were looked into for a definition."""
    looked_into: set[str] = field(default_factory=set)
    asked_for: set[str] = field(default_factory=set)
    """The names of the functions for whose definitions they were."""
    units: dict[tuple[str, Wanted], Unit | None] = field(default_factory=dict)
    """Other files, lowered with an eye to the launches in question; None for one that can't be parsed."""

    def __post_init__(self) -> None:
        """Files that call functions of this one only declare them."""
        self.defined = {ref.usr: ref for ref in self.unit.host_functions}

    def launches(self, wanted: Callable[[str], bool] = lambda name: True) -> list[HostLaunch]:
        """All that are found, and no others than those of the file itself if no launch of its kernels is `wanted`."""
        if not any(wanted(ref.name) for ref in self.unit.kernels):
            return self._launched_here(set())
        whole, self.deadline = self.deadline, self.deadline.halfway()
        found, executed = self._called_elsewhere()
        wrapped, calling = ([], set()) if executed else self._passed_on_elsewhere()
        found, executed = found + wrapped, executed | calling
        self.deadline = whole
        found += self._launched_here(executed)
        if executed:
            found += self._left_by_others(self._missing(found))
        found += self._launched_elsewhere(self._missing(found))
        found += self._launched_by_templates(self._missing(found))
        found += [] if calling else self._wrapped_elsewhere(found)
        found = [*self._with_blocks_of_text(found), *self._launched_in_text(self._missing(found))]
        # Of kernels with launches others may launch them as well, which is so of files that were never come to, too.
        self.is_cut = whole.is_over() or (self.search.is_cut and bool(self._missing(found)))
        return found

    def _launched_in_text(self, names: set[str]) -> list[HostLaunch]:
        """The launches of this file, or else of those beside it, or anywhere in the project, that clang has left
        out."""
        if not names:
            return []
        own = tuple(self.unit.texts())
        known = {disk.resolved(path) for path, _ in own}
        path = self.unit.path
        sources: tuple[Callable[[set[str], set[str]], Iterable[SourceText]], ...] = (
            lambda _, __: own,
            lambda _, __: self.unit.texts_left_out(),
            lambda left, files: _read(launching_texts(path, left, files), known),
            lambda left, files: _read(launching_in_project(path, _sorted(left), _sorted(files)), known),
            lambda left, _: _by_name(texts_by_name(path, _sorted(left)), left),
        )
        found: list[HostLaunch] = []
        for texts in sources:
            left = names - {launch.kernel.name for launch in found}
            files = {ref.span.path for ref in self.unit.kernels if ref.name in left}
            if left and not self.deadline.is_over():
                found += self._reader().of(left, texts(left, files))
        return found

    def _with_blocks_of_text(self, found: Sequence[HostLaunch]) -> Sequence[HostLaunch]:
        """The launches of a file that clang doesn't understand in full: with the blocks that the text gives them, where
        they are open otherwise, in templates that nothing instantiates."""
        open_ = {launch.kernel.name for launch in found if not _has_block(launch)}
        if not open_ or not self.unit.problems:
            return found
        read = [launch for launch in self._reader().of(open_, self.unit.texts()) if _has_block(launch)]
        said = {(launch.kernel.name, launch.span[:2]): launch for launch in read}
        return [self._with_block_of(said.get((each.kernel.name, each.span[:2])), each) for each in found]

    def _with_block_of(self, text: HostLaunch | None, launch: HostLaunch) -> HostLaunch:
        if text is None or _has_block(launch):
            return launch
        symbols = bits_of(launch.block) & self.graph.uniform_bits
        grid = text.grid if bits_of(launch.grid) & symbols else launch.grid
        return replace(launch, block=text.block, grid=grid)

    def _reader(self) -> TextLaunches:
        return TextLaunches(self.unit, self.graph, self.generics, self.constant, self.deadline)

    def _launched_here(self, executed: set[str]) -> list[HostLaunch]:
        own = self._run(self.unit.host_functions, executed=executed)
        self._note(own)
        return own.launches

    def _left_by_others(self, names: set[str]) -> list[HostLaunch]:
        """The launches to which another file's functions don't lead with the arguments that they give."""
        wanted = Wanted(frozenset(names))
        found: list[HostLaunch] = []
        leading = tuple(ref for ref in self.unit.host_functions if names and self.unit.may_launch(ref, wanted))
        if leading:
            self._add(self._run(leading), names, found)
        return found

    def _launched_by_templates(self, names: set[str]) -> list[HostLaunch]:
        """The launches that templates make which nothing instantiates, or of which clang has left no instantiation, as
        a type in them is unknown: with the extents that they give, whatever the types are."""
        found: list[HostLaunch] = []
        if names and self.unit.host_patterns:
            self._add(self._run(self.unit.host_patterns), names, found)
        return found

    def _missing(self, found: Iterable[HostLaunch]) -> set[str]:
        """The kernels without launches."""
        return {ref.name for ref in self.unit.kernels} - {launch.kernel.name for launch in found}

    def _called_elsewhere(self) -> tuple[list[HostLaunch], set[str]]:
        """The launches of functions that the `main` of another file calls, or that other files call which the `main` of
        this one leads to, with the arguments that are given there, and the keys of those functions."""
        open_ = {ref.usr: ref for ref in self.unit.host_functions if ref.has_launch()}
        found: list[HostLaunch] = []
        executed: set[str] = set()
        wanted = self._wanted()
        for mains, between in self._mains(wanted):
            ran = self._run(mains, linked={**open_, **between}, wanted=wanted)
            self._add(ran, {ref.name for ref in self.unit.kernels}, found)
            executed |= ran.executed
        return found, executed

    def _passed_on_elsewhere(self) -> tuple[list[HostLaunch], set[str]]:
        """The launches of functions that other files call, which have no `main` either, as bindings to another language
        do, with what is checked there, and the keys of those functions."""
        wanted = self._wanted()
        found: list[HostLaunch] = []
        executed: set[str] = set()
        if not wanted.launching or any(ref.name == "main" for ref in self.unit.host_functions):
            return found, executed
        linked = {ref.usr: ref for ref in self.unit.host_functions if ref.has_launch()}
        kernels = {ref.name for ref in self.unit.kernels}
        for unit in self._units(wrappers(self.unit.path, self._as_called()), wanted):
            others = tuple(ref for ref in unit.host_functions if ref.usr not in linked)
            ran = self._run(_leading_to(wanted.launching, others), linked=linked, wanted=wanted)
            self._add(ran, kernels, found)
            executed |= ran.executed
        return found, executed & {ref.key for ref in linked.values()}

    def _wrapped_elsewhere(self, found: Iterable[HostLaunch]) -> list[HostLaunch]:
        """Where a function passes on the block that its caller gives: the launches with the blocks that functions of
        other files give."""
        open_ = {launch.kernel.name for launch in found if not _has_block(launch)}
        wanted = self._wanted()
        if not open_ or not wanted.launching:
            return []
        linked = {ref.usr: ref for ref in self.unit.host_functions if ref.has_launch()}
        wrapped: list[HostLaunch] = []
        for unit in self._units(wrappers(self.unit.path, self._as_called()), wanted):
            calling = tuple(ref for ref in unit.host_functions if wanted.launching & ref.names())
            self._add(self._run(calling, linked=linked, wanted=wanted), open_, wrapped)
        return [launch for launch in wrapped if _has_block(launch)]

    def _mains(self, wanted: Wanted) -> Iterator[tuple[_Functions, Mapping[str, ir.FunctionRef]]]:
        """The `main` of other files, if this one has none, or else its own if that leads to the functions in question
        through what other files define; and these definitions, by their USR."""
        if not wanted.launching:
            return
        own = tuple(ref for ref in self.unit.host_functions if ref.name == "main")
        if not own:
            for unit in self._units(callers(self.unit.path, self._as_called()), wanted):
                yield tuple(ref for ref in unit.host_functions if ref.name == "main"), {}
            return
        between = {} if own[0].has_launch() else dict(self._called_by(own[0]))
        if between:
            yield own, between

    def _called_by(self, caller: ir.FunctionRef) -> Iterator[tuple[str, ir.FunctionRef]]:
        """What other files define of the functions that one calls, where that leads to a launch."""
        function = caller.load()
        nodes = () if function is None else walk.nodes_in(function)
        for ref in dict.fromkeys(node.function for node in nodes if isinstance(node, ir.Call)):
            if ref is not None and ref.is_user and ref.load() is None:
                defined = self._definition(ref)
                if defined is not None and defined.has_launch():
                    yield ref.usr, defined

    def _launched_elsewhere(self, names: set[str]) -> list[HostLaunch]:
        """The launches in other files of kernels that this one only defines."""
        found: list[HostLaunch] = []
        wanted = Wanted(frozenset(names))
        for unit in self._units(launchers(self.unit.path, names), wanted):
            self._add(self._run(unit.host_functions, wanted=wanted), names, found)
        return found

    def _run(
        self,
        functions: _Functions,
        linked: Mapping[str, ir.FunctionRef] | None = None,
        executed: Collection[str] = (),
        wanted: Wanted | None = None,
    ) -> Found:
        outside = Outside(linked or {}, self._definition, run_command, wanted)
        return run_host(self.graph, functions, self.generics, self.properties, outside, executed, self.deadline)

    def _definition(self, ref: ir.FunctionRef) -> ir.FunctionRef | None:
        """The definition of a function that a file of the program only declares: this one's, or that of another one,
        where one of few that may have it does."""
        if ref.usr not in self.defined and ref.name not in self.asked_for and len(self.asked_for) < _MAX_ASKED_FOR:
            self.asked_for.add(ref.name)
            new = [path for path in definers(self.unit.path, ref.name) if path not in self.looked_into]
            new = new[: _MAX_LOOKED_INTO - len(self.looked_into)]
            self.looked_into.update(new)
            for unit in self._units(new, self._wanted()):
                self.defined = {function.usr: function for function in unit.host_functions} | self.defined
        return self.defined.get(ref.usr)

    def _wanted(self) -> Wanted:
        """The launches that other files are looked into for."""
        return Wanted(frozenset(ref.name for ref in self.unit.kernels), self._launching())

    def _launching(self) -> frozenset[str]:
        """The names of the functions of this file that launch kernels, by which others may call them."""
        own = (ref for ref in self.unit.host_functions if ref.has_launch() and _LAMBDA not in ref.usr)
        return frozenset(ref.name for ref in own if not self._is_of_header(ref)) - _OF_TESTS

    def _is_of_header(self, ref: ir.FunctionRef) -> bool:
        """Whether a function is an instance of a header's template: who calls that has instances of its own."""
        if ref.span.path == self.unit.path:
            return False
        signature = ref.signature()
        return signature is not None and "<" in signature.instantiation

    def _as_called(self) -> frozenset[str]:
        """The same, methods with their classes: what calls one of them has an object of that class, and there may be
        as many of the name as there are files."""
        names = self._launching()
        own = (ref for ref in self.unit.host_functions if ref.has_launch() and ref.name in names)
        return frozenset(_as_called(ref) for ref in own)

    def _add(self, executed: Found, kernels: set[str], found: list[HostLaunch]) -> None:
        self._note(executed)
        found += [launch for launch in executed.launches if launch.kernel.name in kernels]

    def _note(self, executed: Found) -> None:
        self.opt_ins |= executed.opt_ins
        self.unfollowed |= executed.unfollowed

    def _units(self, paths: list[str], wanted: Wanted) -> Iterator[Unit]:
        """They are executed, too, in the time for them."""
        own = self.deadline
        for path in paths:
            text = code_in(path)
            if not self.search.may_look_into(path, text):
                continue
            with self.search.looking_into(path, text, own) as self.deadline:
                try:
                    if self.deadline.is_over():
                        return
                    if (path, wanted) not in self.units:
                        other = other_file(path, text, self.parsing, self.deadline)
                        self.units[path, wanted] = other.unit(wanted) if other is not None else None
                    unit = self.units[path, wanted]
                    if unit is not None:
                        yield unit
                finally:
                    self.deadline = own


_CLASS = regex(r"@S[TP]?@([A-Za-z_]\w*)@F[T]?@")
"""The class of a method, or the class template, in a USR."""


def _as_called(ref: ir.FunctionRef) -> str:
    of_class = _CLASS.search(ref.usr)
    return f"{of_class[1]}::{ref.name}" if of_class is not None else ref.name


def _sorted(names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _by_name(paths: Iterable[str], kernels: Collection[str]) -> Iterator[SourceText]:
    """The launches of kernels that files load by their names."""
    for path in paths:
        try:
            text = as_host_code(path, read_regular_text(path), kernels)
        except OSError:
            continue
        if text:
            yield SourceText(path, text)


def _read(paths: Iterable[str], known: Collection[str]) -> list[SourceText]:
    """The texts of files, but for those that are known."""
    new = [path for path in paths if disk.resolved(path) not in known]
    return [SourceText(path, (code_in(path) or b"").decode("latin-1")) for path in new]


def _has_block(launch: HostLaunch) -> bool:
    return all(extent.is_const for extent in launch.block)


def _leading_to(names: frozenset[str], functions: _Functions) -> _Functions:
    """Those that call functions of these names, themselves or through others of them."""
    called = {ref: ref.names() for ref in functions if ref.has_launch()}
    reached = set(names)
    while new := {ref.name for ref, own in called.items() if ref.name not in reached and own & reached}:
        reached |= new
    return tuple(ref for ref, own in called.items() if own & reached)

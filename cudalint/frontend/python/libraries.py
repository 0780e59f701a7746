"""The calls by which Python libraries compile CUDA, and those that launch what they compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from cudalint.frontend.python.elementwise import Elementwise, c_kernel, elementwise_kernel, reduction_kernel
from cudalint.frontend.python.host_code import PythonLaunch, kernel_name
from cudalint.frontend.python.located import LocatedText, generated, joined
from cudalint.frontend.python.scopes import Meaning, Scope
from cudalint.frontend.python.values import Unknown, Values, function_name

_EMPTY: Final = generated("", 0)
_GETTERS: Final = ("get_function", "get_kernel")


class Compiled(Struct, eq=False):
    """One call that compiles CUDA."""

    call: ast.Call
    library: str
    text: LocatedText | None
    """None where it is not known."""
    kernel: str | None = None
    """The one kernel that the call is for, if it names one."""
    options: tuple[str, ...] = ()
    """The compiler's."""
    launches: list[PythonLaunch] = field(default_factory=list)


def compiled_by(call: ast.Call, scope: Scope, values: Values) -> Compiled | None:
    """What a call compiles; None if it is another kind of call."""
    reader = _READERS.get(function_name(call.func))
    if reader is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if isinstance(values.names.resolve(call.func, scope).node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
        # A function of the file's own that happens to have the name.
        return None
    return reader(_Call(call, scope, values))


class _Call(Struct, frozen=True):
    """A call and its arguments."""

    call: ast.Call
    scope: Scope
    values: Values

    def argument(self, position: int | None, *names: str) -> ast.expr | None:
        for keyword in self.call.keywords:
            if keyword.arg in names:
                return keyword.value
        if position is not None and position < len(self.call.args):
            return self.call.args[position]
        return None

    def text(self, position: int | None, *names: str) -> LocatedText | None:
        """A text, or a list of texts one after the other; None where it is not known."""
        node = self.argument(position, *names)
        if node is None:
            return None
        meaning = self.values.names.resolve(node, self.scope)
        try:
            if isinstance(meaning.node, (ast.List, ast.Tuple)):
                newline = generated("\n", 0)
                parts = [self.values.text(element, meaning.scope) for element in meaning.node.elts]
                return joined(piece for part in parts for piece in (part, newline))
            return self.values.text(node, self.scope)
        except Unknown:
            return None

    def constant(self, position: int | None, *names: str) -> str | None:
        node = self.argument(position, *names)
        try:
            found = self.values.constant(node, self.scope) if node is not None else None
        except Unknown:
            return None
        return found if isinstance(found, str) else None

    def listed(self, *names: str, before: str = "") -> tuple[str, ...]:
        """The strings of a list, or one string, each with something in front; those that are not plain are left out."""
        node = self.argument(None, *names)
        if node is None:
            return ()
        inner, scope = self.values.names.resolve(node, self.scope)
        found: list[str] = []
        for element in inner.elts if isinstance(inner, (ast.List, ast.Tuple)) else [inner]:
            try:
                found.append(f"{before}{self.values.constant(element, scope)}")
            except Unknown:
                continue
        return tuple(found)

    @property
    def full_name(self) -> str:
        return self.values.names.imported(self.call.func, self.scope)


# --- compiling ----------------------------------------------------------------------------------------


def _raw_kernel(call: _Call) -> Compiled:
    text = call.text(0, "code")
    return Compiled(call.call, "cupy", text, call.constant(1, "name"), call.listed("options"))


def _raw_module(call: _Call) -> Compiled | None:
    if call.argument(None, "path") is not None:
        # A file of its own, which is linted as such.
        return None
    return Compiled(call.call, "cupy", call.text(None, "code") or call.text(0), None, call.listed("options"))


def _source_module(call: _Call) -> Compiled:
    options = (*call.listed("options"), *call.listed("include_dirs", before="-I"))
    return Compiled(call.call, "pycuda", call.text(0, "source"), None, options)


def _load_inline(call: _Call) -> Compiled | None:
    if call.argument(2, "cuda_sources") is None:
        return None
    options = (*call.listed("extra_cuda_cflags"), *call.listed("extra_include_paths", before="-I"))
    return Compiled(call.call, "torch", call.text(2, "cuda_sources"), None, options)


def _program(call: _Call) -> Compiled | None:
    if not call.full_name.startswith("cuda.core."):
        return None
    language = call.constant(1, "code_type")
    if language is not None and language.lower() != "c++":
        return None
    return Compiled(call.call, "cuda.core", call.text(0, "code"), None, _program_options(call))


def _program_options(call: _Call) -> tuple[str, ...]:
    node = call.argument(2, "options")
    meaning = call.values.names.resolve(node, call.scope) if node is not None else None
    if meaning is None or not isinstance(meaning.node, ast.Call):
        return ()
    inner = _Call(meaning.node, meaning.scope, call.values)
    standard = inner.constant(None, "std")
    return (
        *([f"-std={standard}"] if standard else []),
        *inner.listed("define_macro", before="-D"),
        *inner.listed("include_path", before="-I"),
    )


def _elementwise(call: _Call) -> Compiled | None:
    if "pycuda" in call.full_name:
        name = call.constant(2, "name") or "kernel"
        parts = _parts(call, name, call.constant(0, "arguments") or "", "", call.text(1, "operation"))
        return _made(call, "pycuda", c_kernel(parts) if parts and parts.inputs else None, name)
    inputs, outputs = call.constant(0, "in_params"), call.constant(1, "out_params")
    name = call.constant(3, "name") or "kernel"
    parts = _parts(call, name, inputs, outputs, call.text(2, "operation"))
    return _made(call, "cupy", elementwise_kernel(parts) if parts else None, name)


def _reduction(call: _Call) -> Compiled | None:
    if "pycuda" in call.full_name:
        return None
    inputs, outputs = call.constant(0, "in_params"), call.constant(1, "out_params")
    name = call.constant(6, "name") or "reduce_kernel"
    parts = _parts(call, name, inputs, outputs, call.text(2, "map_expr"))
    return _made(call, "cupy", reduction_kernel(parts) if parts else None, name)


def _made(call: _Call, library: str, text: LocatedText | None, name: str) -> Compiled:
    return Compiled(call.call, library, text, name, call.listed("options"))


def _parts(
    call: _Call, name: str, inputs: str | None, outputs: str | None, operation: LocatedText | None
) -> Elementwise | None:
    if inputs is None or outputs is None or operation is None or not name.isidentifier():
        return None
    preamble, before, after = (call.text(None, key) or _EMPTY for key in ("preamble", "loop_prep", "after_loop"))
    where = call.values.range_of(call.call)
    return Elementwise(name, inputs, outputs, operation, preamble, before, after, where)


_READERS: Final[dict[str, Callable[[_Call], Compiled | None]]] = {
    "RawKernel": _raw_kernel,
    "RawModule": _raw_module,
    "SourceModule": _source_module,
    "DynamicSourceModule": _source_module,
    "load_inline": _load_inline,
    "Program": _program,
    "ElementwiseKernel": _elementwise,
    "ReductionKernel": _reduction,
}


# --- launching ----------------------------------------------------------------------------------------


class Launches(Struct, frozen=True):
    """Finds the launches of what the calls of a file have compiled."""

    values: Values
    compiled: dict[ast.AST, Compiled]
    """By the call."""

    def of(self, call: ast.Call, scope: Scope) -> tuple[Compiled, PythonLaunch] | None:
        """What a call launches, if it launches anything."""
        name = function_name(call.func)
        if name in ("prepared_call", "prepared_async_call") and isinstance(call.func, ast.Attribute):
            return self._prepared(call, call.func.value, scope)
        if name == "launch":
            return self._launch_function(call, scope)
        found = self._kernel(self.values.names.resolve(call.func, scope))
        if found is None:
            return None
        compiled, kernel = found
        reader = self._cupy if compiled.library == "cupy" else self._pycuda
        launch = reader(_Call(call, scope, self.values), kernel)
        return (compiled, launch) if launch is not None else None

    def _kernel(self, meaning: Meaning) -> tuple[Compiled, str] | None:
        """The kernel that an expression stands for: that of a RawKernel, or one that a module was asked for."""
        node, scope = meaning
        compiled = self.compiled.get(node)
        if compiled is not None:
            name = kernel_name(compiled.kernel or "")
            return (compiled, name) if name and function_name(compiled.call.func) == "RawKernel" else None
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GETTERS):
            return None
        asked = _Call(node, scope, self.values).constant(0, "name", "name_exp")
        module = self.compiled.get(self._module(node.func.value, scope))
        name = kernel_name(asked or "")
        return (module, name) if module is not None and name else None

    def _module(self, node: ast.AST, scope: Scope) -> ast.AST:
        """The call that compiled a module, past cuda.core's `.compile(...)`."""
        meaning = self.values.names.resolve(node, scope)
        if isinstance(meaning.node, ast.Call) and function_name(meaning.node.func) == "compile":
            assert isinstance(meaning.node.func, (ast.Attribute, ast.Name))
            if isinstance(meaning.node.func, ast.Attribute):
                return self.values.names.resolve(meaning.node.func.value, meaning.scope).node
        return meaning.node

    def _cupy(self, call: _Call, kernel: str) -> PythonLaunch | None:
        """`kernel(grid, block, arguments, shared_mem=0)`."""
        grid, block = call.argument(0, "grid"), call.argument(1, "block")
        arguments = self._elements(call.argument(2, "args"), call.scope)
        return PythonLaunch(kernel, grid, block, call.argument(3, "shared_mem"), arguments, call.call, call.scope)

    def _pycuda(self, call: _Call, kernel: str) -> PythonLaunch | None:
        """`kernel(*arguments, block=(x, y, z), grid=(x, y), shared=0)`."""
        block = call.argument(None, "block")
        if block is None:
            return None
        arguments = _without_stars(call.call.args)
        grid, shared = call.argument(None, "grid"), call.argument(None, "shared")
        return PythonLaunch(kernel, grid, block, shared, arguments, call.call, call.scope)

    def _prepared(self, call: ast.Call, function: ast.AST, scope: Scope) -> tuple[Compiled, PythonLaunch] | None:
        """`kernel.prepared_call(grid, block, *arguments, shared_size=0)`, asynchronously with a stream behind these."""
        found = self._kernel(self.values.names.resolve(function, scope))
        first = 3 if function_name(call.func) == "prepared_async_call" else 2
        if found is None or len(call.args) < first:
            return None
        shared = _Call(call, scope, self.values).argument(None, "shared_size")
        arguments = _without_stars(call.args[first:])
        return found[0], PythonLaunch(found[1], call.args[0], call.args[1], shared, arguments, call, scope)

    def _launch_function(self, call: ast.Call, scope: Scope) -> tuple[Compiled, PythonLaunch] | None:
        """cuda.core's `launch(stream, config, kernel, *arguments)`; earlier versions had the kernel first."""
        for position, argument in enumerate(call.args[:3]):
            found = self._kernel(self.values.names.resolve(argument, scope))
            if found is None:
                continue
            configuration = self.values.names.resolve(call.args[1], scope)
            if not isinstance(configuration.node, ast.Call):
                return None
            inner = _Call(configuration.node, configuration.scope, self.values)
            grid, block = inner.argument(0, "grid"), inner.argument(None, "block")
            if inner.argument(0, "grid") is not None and len(inner.call.args) > 1:
                block = inner.call.args[-1]
            arguments = _without_stars(call.args[max(position + 1, 2 if position == 0 else 3) :])
            launch = PythonLaunch(found[1], grid, block, inner.argument(None, "shmem_size"), arguments, call, scope)
            return found[0], launch
        return None

    def _elements(self, node: ast.expr | None, scope: Scope) -> Sequence[ast.expr] | None:
        """The arguments of a kernel that stand in one tuple."""
        if node is None:
            return None
        inner = self.values.names.resolve(node, scope).node
        return _without_stars(inner.elts) if isinstance(inner, (ast.Tuple, ast.List)) else None


def _without_stars(arguments: Sequence[ast.expr]) -> Sequence[ast.expr] | None:
    return None if any(isinstance(argument, ast.Starred) for argument in arguments) else list(arguments)


def all_compiled(values: Values) -> Iterator[Compiled]:
    """Everything that a file compiles, in its order, with the launches."""
    found: dict[ast.AST, Compiled] = {
        call: compiled
        for call, scope in values.names.calls
        if (compiled := compiled_by(call, scope, values)) is not None
    }
    launches = Launches(values, found)
    for call, scope in values.names.calls:
        launched = launches.of(call, scope) if found else None
        if launched is not None:
            launched[0].launches.append(launched[1])
    yield from found.values()

"""What host code does around its kernels, read from its functions one by one: nothing of it is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.facts import Buffer, HostCopy, HostFacts, HostStep, Place
from cudalint.facts.host import Pages
from cudalint.frontend.source_text import Spellings
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.kinds import Kinds

_Key = tuple[object, ...]
"""A variable, with the fields of it that are meant."""
_RETURNING: Final[Mapping[str, Pages]] = {
    "malloc": "pageable", "calloc": "pageable", "realloc": "pageable", "aligned_alloc": "pageable",
    "_aligned_malloc": "pageable", "memalign": "pageable", "strdup": "pageable",
}  # fmt: skip
_THROUGH_ADDRESS: Final[Mapping[str, Pages]] = {
    "posix_memalign": "pageable", "cudaMallocHost": "pinned", "cudaHostAlloc": "pinned", "cudaMalloc": "device",
    "cudaMallocPitch": "device", "cudaMallocAsync": "device", "cudaMallocManaged": "managed",
    "cudaHostGetDevicePointer": "mapped",
}  # fmt: skip
_OF_MEMORY: Final = frozenset({"cudaMemcpyAsync", "cudaMallocHost", "cudaHostAlloc", "cudaHostRegister"})
"""Without which no memory of the host is copied in a stream, or read by a kernel."""
_PORTABLE, _MAPPED = 1, 2
"""Flags of cudaHostAlloc and cudaHostRegister."""
_TO_DEVICE, _TO_HOST, _BY_ADDRESS = 1, 2, 4
"""cudaMemcpyKind."""
_STREAM = 4
"""Where the stream stands among the arguments of `cudaMemcpyAsync`."""
_RELEASING: Final = frozenset({"cudaFree", "cudaFreeAsync", "cudaFreeHost", "free", "operator delete"})
_WAITING: Final = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy")
_HARMLESS: Final = frozenset({
    "cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString", "printf", "fprintf", "cudaDeviceSynchronize",
    "cudaStreamSynchronize", "cudaEventRecord",
})  # fmt: skip
"""Between two launches, without a say in what the second one sees."""
_PLAIN_VECTORS: Final = ("vector<", "std::vector<")
_MOST_ALIASES = 4
_LOOPS = (st.For, st.While, st.DoWhile, st.RangeFor)


def host_facts(functions: Sequence[ir.FunctionRef], spellings: Spellings, kinds: Kinds) -> HostFacts | None:
    """Those of a file with these host functions; None if none of the kinds needs any. Where only memory is asked for,
    functions are lowered if one of them asks for memory that the GPU reads, or copies in a stream."""
    if not kinds & {"host", "launch_order", "host_faults"}:
        return None
    if not kinds & {"host", "launch_order"}:
        return HostFacts()
    if "launch_order" not in kinds and not any(_OF_MEMORY & function.names() for function in functions):
        return HostFacts()
    # The instantiations of a template do the same at the same places.
    different: dict[tuple[ir.Span, str], ir.FunctionRef] = {}
    for ref in functions:
        different.setdefault((ref.span, ref.name), ref)
    loaded = [function for ref in different.values() if (function := ref.load()) is not None]
    memory = _Memory()
    for function in loaded:
        memory.note(function)
    copies: list[HostCopy] = []
    launches: list[HostStep] = []
    devices: list[tuple[Place, object]] = []
    for function in loaded:
        copying: list[ir.Call] = []
        for node in walk.nodes_in(function):
            if isinstance(node, ir.Call) and node.name == "cudaMemcpyAsync":
                copying.append(node)
            elif isinstance(node, ir.Call) and node.name == "cudaSetDevice" and node.arguments:
                chosen = walk.without_casts(node.arguments[0])
                devices.append((_place(node), chosen.value if isinstance(chosen, ir.Constant) else None))
        repeated = _repeated(function) if copying else frozenset()
        for call in copying:
            copies += _copies(call, memory, id(call) in repeated)
        launches += _Launches(function, memory, spellings, len(launches)).found
    chosen_devices = {number for _, number in devices}
    several = None in chosen_devices or len(chosen_devices) > 1
    return HostFacts(
        tuple(copies), tuple(launches), tuple(memory.buffers()), tuple(place for place, _ in devices if several)
    )


def _place(node: ir.Expr | st.Stmt) -> Place:
    return Place(*node.span)


def _key(expr: ir.Expr | None) -> _Key | None:
    """What an expression names: a variable or a field of one; of a place in an array the array."""
    while expr is not None:
        if isinstance(expr, ir.Cast):
            expr = expr.operand
        elif isinstance(expr, ir.Name):
            return (expr.symbol,)
        elif isinstance(expr, ir.Member):
            base = _key(expr.base)
            is_own = base is not None and isinstance(base[0], ir.Symbol) and base[0].name == "this"
            owner = ir.type_name(ir.pointee(base[0].type)) if is_own and base is not None else None  # type: ignore[attr-defined]
            return (owner, expr.field) if owner is not None else (*base, expr.field) if base is not None else None
        elif isinstance(expr, ir.Index):
            expr = expr.base
        elif isinstance(expr, ir.Unary) and expr.op in ("&", "*"):
            expr = expr.operand
        elif isinstance(expr, ir.Binary) and expr.op in ("+", "-") and isinstance(expr.type, ir.PointerType):
            expr = expr.left if isinstance(expr.left.type, (ir.PointerType, ir.ArrayType)) else expr.right
        elif isinstance(expr, ir.Call) and expr.name in ("data", "operator[]", "begin") and expr.receiver is not None:
            expr = expr.receiver
        else:
            return None
    return None


def _name(key: _Key) -> str:
    return ".".join(part.name if isinstance(part, ir.Symbol) else str(part) for part in key)


class _Memory(Struct, eq=False):
    """Where the memory behind variables comes from."""

    made: dict[_Key, list[Buffer]] = field(default_factory=dict)
    aliases: dict[_Key, list[_Key]] = field(default_factory=dict)
    unknown: set[_Key] = field(default_factory=set)
    """Those that something else is assigned to as well."""
    registered: dict[_Key, int] = field(default_factory=dict)
    """With the flags of cudaHostRegister."""

    def note(self, function: ir.Function) -> None:
        for symbol in function.parameters:
            self.unknown.add((symbol,))
        for node in walk.nodes_in(function):
            if isinstance(node, st.Declare):
                self._declare(node)
            elif isinstance(node, ir.Assign) and isinstance(node.target.type, ir.PointerType):
                self._assign(_key(node.target), node.value)
            elif isinstance(node, ir.Call):
                self._call(node)

    def buffer(self, key: _Key | None) -> Buffer | None:
        """Where its memory comes from, if that is the same whichever way the program takes."""
        for _ in range(_MOST_ALIASES):
            if key is None or key in self.unknown:
                return None
            made, aliases = self.made.get(key, []), self.aliases.get(key, [])
            if made and not aliases and len({each.pages for each in made}) == 1:
                return self._as_registered(key, made[0])
            if made or len(aliases) != 1:
                return None
            key = aliases[0]
        return None

    def buffers(self) -> Iterator[Buffer]:
        for key in self.made:
            found = self.buffer(key)
            if found is not None:
                yield found

    def _as_registered(self, key: _Key, buffer: Buffer) -> Buffer:
        flags = self.registered.get(key)
        if flags is None or buffer.pages != "pageable":
            return buffer
        return replace(buffer, pages=_pinned(flags), is_portable=bool(flags & _PORTABLE))

    def _declare(self, node: st.Declare) -> None:
        key, type_ = (node.symbol,), node.symbol.type
        if isinstance(type_, (ir.RecordType, ir.OpaqueType)) and type_.name.startswith(_PLAIN_VECTORS):
            if "lloc" not in type_.name.replace("std::allocator", ""):
                self._made(key, node.span, "pageable", "std::vector")
        elif isinstance(type_, ir.PointerType) and not type_.reference and node.initializer is not None:
            self._assign(key, node.initializer)
        elif ir.is_reference(type_):
            self.unknown.add(key)

    def _assign(self, key: _Key | None, value: ir.Expr) -> None:
        if key is None:
            return
        value = walk.without_casts(value)
        if isinstance(value, ir.Call) and value.name in _RETURNING:
            self._made(key, value.span, _RETURNING[value.name], value.name)
        elif isinstance(value, ir.New) and value.count is not None:
            self._made(key, value.span, "pageable", "new")
        elif isinstance(value, ir.Constant):
            return  # A null pointer: nothing is there yet.
        else:
            other = _key(value)
            if other is None or other == key:
                self.unknown.add(key)
            elif other not in self.aliases.setdefault(key, []):
                self.aliases[key].append(other)

    def _call(self, node: ir.Call) -> None:
        if node.name in _THROUGH_ADDRESS and node.arguments:
            key = _key(node.arguments[0])
            if key is not None:
                pages, flags = _THROUGH_ADDRESS[node.name], 0
                if node.name in ("cudaHostAlloc", "cudaMallocHost"):
                    value = walk.without_casts(node.arguments[2]) if len(node.arguments) > 2 else None
                    if value is not None and not isinstance(value, ir.Constant):
                        self.unknown.add(key)
                        return
                    flags = int(value.value) if isinstance(value, ir.Constant) else 0
                    pages = _pinned(flags)
                self._made(key, node.span, pages, node.name, bool(flags & _PORTABLE))
            return
        if node.name == "cudaHostRegister" and node.arguments:
            key, flags = _key(node.arguments[0]), 0
            if len(node.arguments) > 2:
                value = walk.without_casts(node.arguments[2])
                flags = int(value.value) if isinstance(value, ir.Constant) else _MAPPED
            if key is not None:
                self.registered[key] = flags
            return
        outputs = node.function.outputs() if node.function is not None else frozenset()
        for position, argument in enumerate(node.arguments):
            inner = walk.without_casts(argument)
            is_passed = isinstance(inner, ir.Unary) and inner.op == "&"
            if (is_passed or position in outputs) and (key := _key(inner)) is not None and _is_pointer(inner):
                self.unknown.add(key)

    def _made(self, key: _Key, span: ir.Span, pages: Pages, by: str, portable: bool = False) -> None:
        self.made.setdefault(key, []).append(Buffer(_name(key), Place(*span), pages, by, portable))


def _is_pointer(argument: ir.Expr) -> bool:
    """Whether a pointer itself is passed, to be set."""
    named = argument.operand if isinstance(argument, ir.Unary) else argument
    return isinstance(named.type, ir.PointerType)


def _pinned(flags: int) -> Pages:
    return "mapped" if flags & _MAPPED else "pinned"


def _repeated(function: ir.Function) -> frozenset[int]:
    """The calls that stand in a loop of this function, by their identity."""
    loops = (node for node in walk.nodes_in(function) if isinstance(node, _LOOPS) and not _is_one_turn(node))
    return frozenset(id(node) for loop in loops for node in walk.walk(loop) if isinstance(node, ir.Call))


def _is_one_turn(loop: st.Stmt) -> bool:
    """Whether it is the `do { … } while (0)` of a macro."""
    condition = walk.without_casts(loop.condition) if isinstance(loop, st.DoWhile) else None
    return isinstance(condition, ir.Constant) and not condition.value


def _copies(call: ir.Call, memory: _Memory, in_loop: bool) -> Iterator[HostCopy]:
    if len(call.arguments) < 4:
        return
    kind = walk.without_casts(call.arguments[3])
    direction = kind.value if isinstance(kind, ir.Constant) else None
    sides = {_TO_DEVICE: (1,), _TO_HOST: (0,), _BY_ADDRESS: (0, 1)}.get(direction, ())  # type: ignore[arg-type]
    for side in sides:
        buffer = memory.buffer(_key(call.arguments[side]))
        if buffer is not None and buffer.pages in ("pageable", "pinned", "mapped"):
            yield HostCopy(_place(call), buffer, _has_stream(call), in_loop)


def _has_stream(call: ir.Call) -> bool:
    if len(call.arguments) <= _STREAM:
        return False
    stream = walk.without_casts(call.arguments[_STREAM])
    return not isinstance(stream, ir.Constant)


class _Launches:
    """The launches of one function, in the order of its text."""

    def __init__(self, function: ir.Function, memory: _Memory, spellings: Spellings, first: int) -> None:
        self.found: list[HostStep] = []
        self._memory, self._spellings, self._first = memory, spellings, first
        self._uses: list[tuple[int, ir.Symbol, bool]] = []
        """Where variables are named, and whether to release what they hold."""
        self._loops: list[st.Stmt] = []
        self._last: int | None = None
        """The launch before, if nothing lies between."""
        self._clock = 0
        self._times: list[int] = []
        self._ends: list[int | None] = []
        """Of the outermost loop around each launch: what is in it may come after the launch as well."""
        self._statement(function.body)
        escapes = set(function.parameters)
        for number, step in enumerate(self.found):
            since = self._times[number] if self._ends[number] is None else -1
            later = {s.name for at, s, frees in self._uses if at > since and at != self._times[number] and not frees}
            later |= {symbol.name for symbol in escapes}
            self.found[number] = replace(step, read_later=frozenset(later))

    def _statement(self, statement: st.Stmt | None) -> None:
        if statement is None:
            return
        if isinstance(statement, _LOOPS):
            self._last = None
            self._loops.append(statement)
            for child in walk.children(statement):
                self._child(child)
            self._loops.pop()
            self._last = None
        elif isinstance(statement, st.Block):
            for each in statement.statements:
                self._statement(each)
        elif isinstance(statement, (st.If, st.Switch)):
            launches = len(self.found)
            before = self._last
            is_check = not any(isinstance(node, (ir.Launch, ir.Assign)) for node in walk.walk(statement))
            for child in walk.children(statement):
                self._last = None
                self._child(child)
            self._last = before if is_check and launches == len(self.found) else None
        else:
            for child in walk.children(statement):
                self._child(child)
            self._between(statement)

    def _child(self, child: st.Stmt | ir.Expr | st.Case) -> None:
        if isinstance(child, st.Case):
            for each in child.body:
                self._statement(each)
        elif isinstance(child, (st.Declare, st.ExprStmt, st.Block, st.If, st.For, st.RangeFor, st.While, st.DoWhile,
                                st.Switch, st.Return, st.Break, st.Continue, st.Asm, st.UnknownStmt)):  # fmt: skip
            self._statement(child)
        else:
            self._expression(child)

    def _expression(self, expr: ir.Expr) -> None:
        self._clock += 1
        for node in walk.walk(expr):
            if isinstance(node, ir.Launch):
                self._launch(node)
        frees = isinstance(expr, ir.Call) and expr.name in _RELEASING
        self._uses += [(self._clock, n.symbol, frees) for n in walk.walk(expr) if isinstance(n, ir.Name)]

    def _launch(self, node: ir.Launch) -> None:
        name = node.kernel.name if node.kernel is not None else ""
        keys = [_key(argument) for argument in node.arguments]
        buffers = {i: b for i, key in enumerate(keys) if (b := self._memory.buffer(key)) is not None}
        plain = [walk.without_casts(argument) for argument in node.arguments]
        variables = tuple(each.symbol.name if isinstance(each, ir.Name) else "" for each in plain)
        parts = (node.grid, node.block)
        shape = ", ".join(self._spellings.of(_place(part)) for part in parts)
        loop = self._loops[-1] if self._loops else None
        waits = loop is not None and any(
            isinstance(n, ir.Call) and n.name.startswith(_WAITING) for n in walk.walk(loop)
        )
        self._times.append(self._clock)
        self._ends.append(0 if self._loops else None)
        self.found.append(HostStep(
            name, _place(node), _place(loop) if loop is not None else None, waits, buffers, variables, self._last, shape
        ))  # fmt: skip

    def _between(self, statement: st.Stmt) -> None:
        """After a statement: it was a launch, or nothing that matters to one, or something that does."""
        nodes = list(walk.walk(statement))
        if any(isinstance(node, ir.Launch) for node in nodes):
            self._last = self._first + len(self.found) - 1
        elif not _is_harmless(nodes):
            self._last = None


def _is_harmless(nodes: Sequence[object]) -> bool:
    calls = [node for node in nodes if isinstance(node, (ir.Call, ir.Construct))]
    named = all(isinstance(call, ir.Construct) or call.name in _HARMLESS for call in calls)
    return named and not any(isinstance(node, ir.Assign) for node in nodes)

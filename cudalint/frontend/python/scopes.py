"""What the names of a Python file stand for, as far as that is plain: names that are bound once, or one binding after
the other in one block; parameters with defaults; attributes of `self`; functions that return one thing.

Where a name may stand for several things it stands for none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct, field

_MAX_STEPS: Final = 32
"""Names that stand for names are followed so far."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_CACHING: Final = frozenset({"memoize", "lru_cache", "cache", "staticmethod", "classmethod"})


class Meaning(NamedTuple):
    """An expression, or the definition of a function or class, and the scope in which its names are to be read."""

    node: ast.AST
    scope: Scope


class Binding(Struct, frozen=True, eq=False):
    node: ast.AST | None
    """The value; None where it is not known."""
    scope: Scope
    """Where the value's names are to be read."""
    block: int
    """Identifies the list of statements in which the binding stands."""
    position: tuple[int, int]


class Scope(Struct, eq=False):
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    """Names that a `global` or `nonlocal` statement gives to another scope."""
    attributes: dict[str, list[Binding]] = field(default_factory=dict)
    """Of a class: what its methods assign to attributes of their first argument."""

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def class_around(self) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and not scope.is_class:
            scope = scope.parent
        return scope

    def first_argument(self) -> str | None:
        """What the method around calls its object."""
        scope: Scope | None = self
        while scope is not None and not (scope.parent is not None and scope.parent.is_class):
            scope = scope.parent
        if scope is None or not isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        arguments = (*scope.node.args.posonlyargs, *scope.node.args.args)
        return arguments[0].arg if arguments else None


class Names(Struct, eq=False):
    """All scopes of a file, and its calls in the order of the text."""

    root: Scope
    calls: list[tuple[ast.Call, Scope]] = field(default_factory=list)
    returns: dict[ast.AST, list[tuple[ast.Return, Scope]]] = field(default_factory=dict)
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    """The scope inside of each function and class."""

    # --- following names ---------------------------------------------------------------------------

    def resolve(self, node: ast.AST, scope: Scope) -> Meaning:
        """What an expression stands for: itself, or what its name was bound to, or what the function returns."""
        for _ in range(_MAX_STEPS):
            following = self._step(node, scope)
            if following is None:
                break
            node, scope = following
        return Meaning(node, scope)

    def _step(self, node: ast.AST, scope: Scope) -> Meaning | None:
        if isinstance(node, ast.Name):
            return self._named(node, scope)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.NamedExpr):
            return Meaning(node.value, scope)
        if isinstance(node, ast.Call):
            return self._returned(node, scope)
        if isinstance(node, ast.Subscript):
            return self._item(node, scope)
        return None

    def _named(self, node: ast.Name, scope: Scope) -> Meaning | None:
        position = (node.lineno, node.col_offset)
        home: Scope | None = scope
        while home is not None:
            bindings = home.bindings.get(node.id)
            if bindings and not (home.is_class and home is not scope):
                return _chosen(bindings, position if home is scope else None)
            home = home.parent
        return None

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Meaning | None:
        owner: Scope | None = None
        if isinstance(node.value, ast.Name) and node.value.id in (scope.first_argument(), "cls", "self"):
            owner = scope.class_around()
        elif isinstance(node.value, ast.Name):
            meaning = self.resolve(node.value, scope)
            owner = self.scopes[meaning.node] if isinstance(meaning.node, ast.ClassDef) else None
        if owner is None:
            return None
        bindings = [*owner.bindings.get(node.attr, ()), *owner.attributes.get(node.attr, ())]
        return _chosen(bindings, None) if bindings else None

    def _returned(self, node: ast.Call, scope: Scope) -> Meaning | None:
        """What a function of the file returns, if there is one place where it does."""
        function = self.resolve(node.func, scope)
        if isinstance(function.node, ast.Lambda):
            return Meaning(function.node.body, self.scopes[function.node])
        returns = self.returns.get(function.node, [])
        if len(returns) != 1 or returns[0][0].value is None or not _is_plain(function.node):
            return None
        returned, inner = returns[0]
        assert returned.value is not None
        return Meaning(returned.value, inner)

    def _item(self, node: ast.Subscript, scope: Scope) -> Meaning | None:
        """An element of a list or dictionary that is spelled out."""
        if not isinstance(node.slice, ast.Constant):
            return None
        whole = self.resolve(node.value, scope)
        key = node.slice.value
        if isinstance(whole.node, (ast.Tuple, ast.List)) and isinstance(key, int):
            elements = whole.node.elts
            if -len(elements) <= key < len(elements) and not any(isinstance(e, ast.Starred) for e in elements):
                return Meaning(elements[key], whole.scope)
        if isinstance(whole.node, ast.Dict):
            for name, value in zip(whole.node.keys, whole.node.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    return Meaning(value, whole.scope)
        return None

    # --- imported names ----------------------------------------------------------------------------

    def imported(self, node: ast.AST, scope: Scope) -> str:
        """The full name of a function of a library, as far as imports in sight tell; else the name as it is spelled."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ".".join(("?", *reversed(parts)))
        origin = self.resolve(node, scope).node
        head = origin.name if isinstance(origin, ast.alias) else node.id
        module = getattr(origin, "module", None)
        if isinstance(origin, ast.alias) and module:
            head = f"{module}.{head}"
        return ".".join((head, *reversed(parts)))


def _chosen(bindings: list[Binding], position: tuple[int, int] | None) -> Meaning | None:
    """The only binding, or, where all stand in one block, the last one before a place in the same scope. `x = None`
    only says that the name gets its value later."""
    bindings = [b for b in bindings if not _is_none(b.node)] or bindings
    if len(bindings) > 1:
        if position is None or len({binding.block for binding in bindings}) > 1:
            return None
        bindings = [binding for binding in bindings if binding.position < position][-1:]
    if not bindings or bindings[0].node is None:
        return None
    return Meaning(bindings[0].node, bindings[0].scope)


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_plain(function: ast.AST) -> bool:
    """Whether calling a function gives what it returns: no generator, no decorator that may change that."""
    decorators = getattr(function, "decorator_list", [])
    names = [d.func if isinstance(d, ast.Call) else d for d in decorators]
    return all((n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "")) in _CACHING for n in names)


# --- reading a file -----------------------------------------------------------------------------------


def read_names(tree: ast.Module) -> Names:
    root = Scope(tree, None)
    names = Names(root)
    waiting: list[_Visit] = [_Visit(tree, root, 0)]
    while waiting:
        visit = waiting.pop()
        inner = _note(visit, names)
        waiting += reversed(list(inner))
    return names


class _Visit(NamedTuple):
    node: ast.AST
    scope: Scope
    block: int


def _note(visit: _Visit, names: Names) -> Iterator[_Visit]:
    """Notes what a node binds, and yields what is inside of it with its scope."""
    node, scope, block = visit
    if isinstance(node, ast.Call):
        names.calls.append((node, scope))
    elif isinstance(node, ast.Return):
        names.returns.setdefault(_function_of(scope), []).append((node, scope))
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        scope.outer.update(node.names)
    _Binder(scope, block).bind(node)
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        inner = names.scopes[node] = Scope(node, scope)
        yield from _definition(node, scope, inner, block)
        return
    if isinstance(node, _COMPREHENSIONS):
        scope = Scope(node, scope)
        for target in (t for g in node.generators for t in ast.walk(g.target) if isinstance(t, ast.Name)):
            _bind(scope, target.id, None, scope, block, target)
    for _, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield _Visit(value, scope, block)
        elif isinstance(value, list):
            is_block = bool(value) and isinstance(value[0], ast.stmt)
            yield from (_Visit(v, scope, id(value) if is_block else block) for v in value if isinstance(v, ast.AST))


def _definition(node: ast.AST, scope: Scope, inner: Scope, block: int) -> Iterator[_Visit]:
    """The parts of a function or class that belong to its own scope, and those that don't."""
    outside = [*getattr(node, "decorator_list", ()), *getattr(node, "bases", ())]
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        _bind_parameters(arguments, inner, scope)
        outside += (default for default in (*arguments.defaults, *arguments.kw_defaults) if default is not None)
    yield from (_Visit(part, scope, block) for part in outside)
    body = getattr(node, "body", [])
    if isinstance(body, list):
        yield from (_Visit(statement, inner, id(body)) for statement in body)
    else:
        yield _Visit(body, inner, id(node))


def _bind_parameters(arguments: ast.arguments, inner: Scope, outer: Scope) -> None:
    """A default stands for its parameter: it is what most callers use."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + [*arguments.defaults]
    pairs = [*zip(positional, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    pairs += [(argument, None) for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    for argument, default in pairs:
        if isinstance(default, ast.Constant) and default.value is None:
            default = None
        _bind(inner, argument.arg, default, outer, 0, argument)


def _function_of(scope: Scope) -> ast.AST:
    while scope.parent is not None and isinstance(scope.node, _COMPREHENSIONS):
        scope = scope.parent
    return scope.node


def _bind(scope: Scope, name: str, value: ast.AST | None, where: Scope, block: int, at: ast.AST) -> None:
    home = scope
    while name in home.outer and home.parent is not None:
        home = home.parent
    # A name has its value as soon as the value has been computed.
    position = (getattr(at, "end_lineno", 0), getattr(at, "end_col_offset", 0))
    if home is not scope:
        # Nobody knows when the function runs.
        block = id(scope)
    home.bindings.setdefault(name, []).append(Binding(value, where, block, position))


class _Binder:
    """Notes the names that one statement or expression binds."""

    def __init__(self, scope: Scope, block: int) -> None:
        self._scope = scope
        self._block = block

    def bind(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._name(node.name, node, node)
            case ast.Assign():
                for target in node.targets:
                    self._target(target, node.value)
            case ast.AnnAssign():
                self._target(node.target, node.value)
            case ast.NamedExpr():
                self._target(node.target, node.value)
            case ast.AugAssign():
                self._augmented(node)
            case ast.For() | ast.AsyncFor():
                self._target(node.target, None)
            case ast.withitem() if node.optional_vars is not None:
                self._target(node.optional_vars, None)
            case ast.Import():
                for alias in node.names:
                    self._name(alias.asname or alias.name.partition(".")[0], _module(alias), node)
            case ast.ImportFrom():
                for alias in node.names:
                    self._name(alias.asname or alias.name, _member(alias, node), node)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
                self._name(node.name, None, node)

    def _name(self, name: str, value: ast.AST | None, at: ast.AST) -> None:
        _bind(self._scope, name, value, self._scope, self._block, at)

    def _target(self, target: ast.AST, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self._name(target.id, value, value if value is not None else target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                values = list(value.elts)
            for inner, element in zip(target.elts, values, strict=True):
                self._target(inner, element)
        elif isinstance(target, ast.Starred):
            self._target(target.value, None)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            self._own_attribute(target, value)

    def _own_attribute(self, target: ast.Attribute, value: ast.expr | None) -> None:
        owner = self._scope.class_around()
        assert isinstance(target.value, ast.Name)
        if owner is not None and target.value.id == self._scope.first_argument():
            binding = Binding(value, self._scope, id(self._scope), (target.lineno, target.col_offset))
            owner.attributes.setdefault(target.attr, []).append(binding)

    def _augmented(self, node: ast.AugAssign) -> None:
        """`text += more` is the text and more, where nothing comes between the two."""
        if isinstance(node.target, ast.Attribute):
            self._target(node.target, None)
        if not isinstance(node.target, ast.Name):
            return
        earlier = self._scope.bindings.get(node.target.id, [])
        value: ast.expr | None = None
        if earlier and earlier[-1].block == self._block and isinstance(earlier[-1].node, ast.expr):
            value = ast.copy_location(ast.BinOp(earlier[-1].node, node.op, node.value), node)
        self._name(node.target.id, value, node.value)


def _module(alias: ast.alias) -> ast.alias:
    """`import a.b` binds `a`; `import a.b as c` binds `a.b`."""
    return alias if alias.asname else ast.alias(alias.name.partition(".")[0])


def _member(alias: ast.alias, node: ast.ImportFrom) -> ast.alias:
    member = ast.alias(alias.name, alias.asname)
    member.module = "." * node.level + (node.module or "")  # type: ignore[attr-defined]
    return member

"""What a kernel does with the numbers that it takes: for each the uses in which its value could matter.

One walk over the kernel and the functions that it calls. Where a number goes is followed through variables, whatever
their order (`origins.py`): a use may be one of several things that reach a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct, structs

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import walk, without_casts
from cudalint.worlds.origins import Code, Origins
from cudalint.worlds.records import Parameter
from cudalint.worlds.windows import scales_in, windows_in

UseKind = Literal[
    "dividend", "divisor", "loop", "guard", "edge", "offset", "stride", "flag", "limit", "shift", "size", "vector",
    "radius", "window", "step", "scale",
]
"""What happens to a number, or to what is computed of it:

- `dividend`: it is divided by `other`, or the remainder is taken; by a power of two also with shifts and masks. Of a
  product of parameters it is their names: `heads * width`.
- `divisor`: something is divided by it; `other` is what, if that is a number or a parameter.
- `loop`: how long a loop goes on is compared with it; `other` is `thread` where that differs between threads, or where
  blocks go through it by as many elements as all threads of the grid.
- `guard`: something that differs between threads, blocks, turns or data, or another parameter, is compared with it.
- `edge`: what differs is compared with it once the constant `other` is added: `i + 3 < n`.
- `offset`: it goes into something that differs and that is compared with something; only of what has no other use.
- `stride`: it is multiplied with what differs between `other`: threads, blocks or turns, or added in each turn.
- `flag`: whether it is the constant `other` chooses something.
- `limit`: whether it is at least the constant `other` does.
- `shift`: something is shifted by it, as `other` says, `<<` or `>>`; `place` where that is shifted to the left which
  distinguishes threads. With ` computed` behind it, by what is computed of it.
- `size`: it moves a pointer to bytes that is looked at as one to elements of `other` bytes.
- `vector`: it moves a pointer that is looked at as one to vectors of `other` elements.
- `radius`: a loop goes from as far below 0 to as far above, or to an `other`th of that: `d = -r; d <= r`.
- `window`: it is the size of a window that is moved over an image, or its margin; `other` is by how much.
- `step`: a window is moved by it.
- `scale`: a place among as many as `other` says becomes one among as many as it says.
"""

_COMPARING = ("<", "<=", ">", ">=", "==", "!=")
_VARIATIONS = ("thread", "loop", "block")
"""What differs, that which matters most first."""
_Met = tuple[Parameter, UseKind, int | str | None]


class Use(Struct, frozen=True):
    """One use of a parameter."""

    parameter: Parameter
    kind: UseKind
    other: int | str | None = None
    span: ir.Span | None = None
    factors: int = 1
    """How many parameters go into what is compared: a product of several may have no place in an `int`."""


class Uses:
    """Finds the uses in a kernel."""

    def __init__(self, kernel: ir.Function) -> None:
        self.code = Code.of(kernel)
        self.origins = Origins(kernel, self.code)
        self.parameters = self.origins.parameters
        """The numbers that it takes, in the order of their declarations."""
        self._places = {parameter: place for place, parameter in enumerate(self.parameters)}
        self._steps: dict[ir.Symbol, list[ir.Expr]] = {}
        """What variables go on by."""
        for node in self.code.nodes:
            if isinstance(node, ir.Assign) and node.op == "+" and isinstance(node.target, ir.Name):
                self._steps.setdefault(node.target.symbol, []).append(node.value)
        self._loop_conditions: set[Any] = set()
        for node in self.code.nodes:
            if isinstance(node, (st.For, st.While, st.DoWhile)) and node.condition is not None:
                self._loop_conditions.update(each for each in walk(node.condition) if isinstance(each, ir.Binary))

    def all(self) -> tuple[Use, ...]:
        """In the order in which they are met, each once."""
        found: dict[tuple[Parameter, UseKind, int | str | None], Use] = {}
        for node in self.code.nodes:
            for parameter, kind, other in self._of(node):
                span = node.span if hasattr(node, "span") else None
                factors = self._factors(node, parameter) if kind in ("loop", "guard") else 1
                met = found.setdefault((parameter, kind, other), Use(parameter, kind, other, span, factors))
                if factors > met.factors:
                    found[parameter, kind, other] = structs.replace(met, factors=factors)
        for use in self._of_images():
            found.setdefault((use.parameter, use.kind, use.other), use)
        otherwise = {use.parameter for use in found.values() if use.kind != "offset"}
        return tuple(use for use in found.values() if use.kind != "offset" or use.parameter not in otherwise)

    def _of_images(self) -> Iterator[Use]:
        for step, sizes in windows_in(self.code.nodes, self.origins).items():
            yield Use(step, "step")
            yield from (Use(size, "window", step.name) for size in self._ordered(sizes))
        yield from (Use(one, "scale", of.name) for one, of in scales_in(self.code.nodes, self.origins))

    def lengths(self) -> frozenset[Parameter]:
        """Numbers up to which threads or turns go, and those of elements along an axis."""
        found = set(self._axes())
        for node in self.code.nodes:
            if isinstance(node, ir.Binary) and node.op in _COMPARING:
                what = "loop" if node in self._loop_conditions else "thread"
                sides = self.origins.of(node.left), self.origins.of(node.right)
                found |= {
                    own.plain
                    for own, other in (sides, sides[::-1])
                    if own.plain is not None and not own.varies and other.varies & {what, "thread"}
                }
        return frozenset(found)

    def _axes(self) -> Iterator[Parameter]:
        """By what the number of a thread is divided, and what is left of that: `i / width % height`."""
        found: set[Parameter] = set()
        quotients = [node for node in self.code.nodes if isinstance(node, ir.Binary) and node.op in ("/", "%")]
        count = -1
        while count != len(found):
            count = len(found)
            for node in quotients:
                of, by = self.origins.of(node.left), self.origins.of(node.right).plain
                if by is not None and "thread" in of.varies and of.sources <= found:
                    found.add(by)
        yield from found

    def _of(self, node: Any) -> Iterator[_Met]:
        match node:
            case ir.Binary(op=op) if op in _COMPARING:
                yield from self._compared(node)
            case ir.Binary(op="&&" | "||"):
                yield from self._chosen_by(node.left)
                yield from self._chosen_by(node.right)
            case ir.Binary():
                yield from self._computed(node.op, node.left, node.right)
            case ir.Assign() if node.op:
                yield from self._computed(node.op, node.target, node.value)
                if node.op in ("+", "-") and "loop" in self.origins.of(node.target).varies:
                    yield from ((p, "stride", "loop") for p in self._fixed(node.value))
            case ir.Unary(op="!"):
                yield from self._chosen_by(node.operand)
            case st.If() | st.While() | st.DoWhile() | ir.Conditional():
                yield from self._chosen_by(node.condition)
            case st.Switch():
                plain = self.origins.of(node.condition).plain
                for value in (value for case in node.cases for value in case.values):
                    constant = self.origins.of(value).constant
                    if plain is not None and constant is not None:
                        yield plain, "flag", constant
            case ir.Cast():
                yield from self._looked_at(node)
            case st.For(init=st.Declare(initializer=start)) if start is not None:
                yield from self._begun(start)

    def _factors(self, node: ir.Binary, parameter: Parameter) -> int:
        sides = (self.origins.of(side).sources for side in (node.left, node.right))
        return max(len(sources) for sources in sides if parameter in sources)

    def _ordered(self, sources: Iterable[Parameter]) -> list[Parameter]:
        return sorted(sources, key=self._places.__getitem__)

    def _fixed(self, expression: ir.Expr) -> list[Parameter]:
        """What goes into a value that is the same for all threads, in all turns."""
        origin = self.origins.of(expression)
        return [] if origin.varies else self._ordered(origin.sources)

    def _computed(self, op: str, left: ir.Expr, right: ir.Expr) -> Iterator[_Met]:
        # `float(width) / new_width` is a quotient of sizes as well.
        one, other = self.origins.of(without_casts(left)), self.origins.of(without_casts(right))
        if op in ("/", "%"):
            dividends, divisors = self._ordered(one.sources), self._ordered(other.sources)
            if other.constant is not None and other.constant > 1:
                yield from ((p, "dividend", other.constant) for p in dividends)
            elif other.sources and not one.varies:
                names = list(self._factor_names(right))
                if names:
                    yield from ((p, "dividend", " * ".join(names)) for p in dividends)
            of = one.constant if one.constant is not None else one.name
            yield from ((p, "divisor", of) for p in divisors)
        elif op == "*":
            for fixed, moving in ((left, other), (right, one)):
                varies = next((each for each in _VARIATIONS if each in moving.varies), None)
                if varies is not None:
                    yield from ((p, "stride", varies) for p in self._fixed(fixed))
        elif op in ("<<", ">>"):
            is_place = op == "<<" and "thread" in one.varies
            how = f"{op} computed" if other.plain is None else "place" if is_place else op
            yield from ((p, "shift", how) for p in self._ordered(other.sources))
            if op == ">>" and other.constant is not None and 0 < other.constant < 31:
                yield from ((p, "dividend", 1 << other.constant) for p in self._ordered(one.sources))
        elif op == "&":
            for constant, masked in ((one.constant, other), (other.constant, one)):
                unit = _masked_unit(constant)
                if unit is not None:
                    yield from ((p, "dividend", unit) for p in self._ordered(masked.sources))

    def _factor_names(self, expression: ir.Expr) -> Iterator[str]:
        """The parameters of which a value is the product, if it is one."""
        found: list[str] = []
        pending = [without_casts(expression)]
        while pending:
            factor = pending.pop()
            name = self.origins.of(factor).name
            if name is not None:
                found.append(name)
            elif isinstance(factor, ir.Binary) and factor.op == "*":
                pending += [without_casts(factor.right), without_casts(factor.left)]
            else:
                return
        yield from found

    def _compared(self, node: ir.Binary) -> Iterator[_Met]:
        sides = self.origins.of(node.left), self.origins.of(node.right)
        for own, other, expression in ((*sides, node.right), (*sides[::-1], node.left)):
            if own.varies:
                # `first + threadIdx.x < end` is a bound for where the threads begin, as `i + n < 256` is for `i`.
                if not other.varies:
                    yield from ((p, "guard", other.name) for p in self._ordered(own.added - other.sources))
                continue
            yield from ((p, "offset", None) for p in self._ordered(other.sources - own.sources) if other.varies)
            if other.varies and other.beyond and own.plain is not None:
                yield own.plain, "edge", other.beyond
            if other.constant is not None:
                if own.plain is not None:
                    yield own.plain, *_choice(node.op, other.constant, is_mirrored=own is not sides[0])
            elif other.varies or other.sources - own.sources:
                kind: UseKind = "loop" if node in self._loop_conditions and other.varies else "guard"
                is_by_thread = "thread" in other.varies or self._is_by_element(expression)
                what = "thread" if kind == "loop" and is_by_thread else other.name
                yield from ((p, kind, what) for p in self._ordered(own.sources))

    def _is_by_element(self, counter: ir.Expr) -> bool:
        """Whether a loop over the grid goes on by several elements for each block: `i += gridDim.x * 256`."""
        name = without_casts(counter)
        for step in self._steps.get(name.symbol, ()) if isinstance(name, ir.Name) else ():
            parts = list(walk(step))
            symbols = (part.symbol for part in parts if isinstance(part, ir.Name))
            bases = {symbol.name for symbol in symbols if symbol.storage == "builtin"}
            counts = (part.value for part in parts if isinstance(part, ir.Constant))
            if "gridDim" in bases and ("blockDim" in bases or any(type(n) is int and n > 1 for n in counts)):
                return True
        return False

    def _begun(self, start: ir.Expr) -> Iterator[_Met]:
        """Where a loop begins: `-r`, `-r / 2` or `-(r / 2)`."""
        expression, parts = without_casts(start), 1
        while True:
            if isinstance(expression, ir.Binary) and expression.op == "/":
                parts *= self.origins.of(expression.right).constant or 0
                expression = without_casts(expression.left)
            elif isinstance(expression, ir.Unary) and expression.op == "-":
                inner = without_casts(expression.operand)
                if isinstance(inner, ir.Binary) and inner.op == "/":
                    parts *= self.origins.of(inner.right).constant or 0
                    inner = without_casts(inner.left)
                plain = self.origins.of(inner).plain
                if plain is not None and parts > 0:
                    yield plain, "radius", parts
                return
            else:
                return

    def _chosen_by(self, condition: ir.Expr) -> Iterator[_Met]:
        plain = self.origins.of(condition).plain
        if plain is not None and not isinstance(without_casts(condition), (ir.Binary, ir.Unary)):
            yield plain, "flag", 0

    def _looked_at(self, node: ir.Cast) -> Iterator[_Met]:
        """A pointer as one to something larger: what it was moved by has to be a multiple of that."""
        if not isinstance(node.type, ir.PointerType) or not isinstance(node.operand.type, ir.PointerType):
            return
        new, old = node.type.pointee.bytes, node.operand.type.pointee.bytes
        # `void` counts as bytes, as in the extension that GCC and nvcc have.
        ratio = new // max(old, 1)
        if ratio > 1:
            kind: UseKind = "size" if old <= 1 else "vector"
            yield from ((p, kind, ratio) for p in self._ordered(self.origins.moving(node.operand).sources))


def _choice(op: str, constant: int, is_mirrored: bool) -> tuple[UseKind, int]:
    """What a comparison with a constant makes a difference between."""
    if op in ("==", "!="):
        return "flag", constant
    # `x > 3` is `x >= 4`, and so is `3 < x`.
    return "limit", constant + (op in (("<", ">=") if is_mirrored else (">", "<=")))


def _masked_unit(constant: int | None) -> int | None:
    """4 for `& 3` and `& ~3`: what the parts of a number are multiples of, and the remainders."""
    if constant is None:
        return None
    unit = constant + 1 if constant > 0 else -constant
    return unit if unit > 1 and unit & (unit - 1) == 0 else None


def uses_of(kernel: ir.Function) -> tuple[Use, ...]:
    """The uses of the numbers that a kernel takes."""
    return Uses(kernel).all()

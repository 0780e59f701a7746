"""Arguments that users give: on the command line, and in the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from cudalint.host.executor.values import Place, Value
from cudalint.host.values.arithmetic import kind_of
from cudalint.host.values.assumptions import UnknownName
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Uniform
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.launches.written import Lookup
from cudalint.options.analysis import AnalysisOptions, KernelSettings
from cudalint.options.expressions import parse_expression


class GivenArguments(Struct, eq=False):
    graph: Graph
    options: AnalysisOptions
    number: Lookup
    """Gives a number to a user's expression over the file's constants."""

    def put_into(self, configuration: Configuration, function: ir.Function, unknown: list[str]) -> Configuration:
        """`--param` replaces an argument; the configuration's value stands in where nothing else gives one."""
        arguments = dict(configuration.arguments)
        symbols = {symbol.name: symbol for symbol in scalars(function)}
        recorded = configuration.worlds[0].numbers if configuration.worlds else {}
        for name, text, where, is_pattern in _configured_parameters(function, self.options.kernels):
            if name not in symbols and not is_pattern:
                unknown.append(f"{where} is no scalar parameter of `{function.name}`")
            value = arguments.get(symbols[name]) if name in symbols else None
            if isinstance(value, Node) and not value.is_const and value not in recorded:
                self._bind(arguments, symbols[name], text, where, unknown)
        for kernel, name, text in self.options.params:
            if name in symbols and kernel in (None, function.name):
                self._bind(arguments, symbols[name], text, f"--param {name}", unknown)
        return replace(configuration, arguments=arguments)

    def _bind(
        self, arguments: dict[ir.Symbol, Value | Place], symbol: ir.Symbol, text: str, where: str, unknown: list[str]
    ) -> None:
        """Gives a parameter the value of a user's expression."""
        try:
            value = self.number(parse_expression(text))
        except UnknownName as reason:
            unknown.append(f"{where} could not be evaluated: {reason}")
            return
        kind = kind_of(symbol.type)
        converted = self.graph.convert(value, kind)
        if value.is_const and not kind.is_float and converted.value != value.value:
            unknown.append(f"{where} is {value.value}, which the parameter's type can't hold")
            return
        before = arguments.get(symbol)
        bare = _symbol_behind(before) if isinstance(before, Node) else None
        if bare is not None and isinstance(bare.payload, Uniform) and value.is_const:
            # The host code computes the grid and sizes of allocations from the same number.
            self.graph.choose(bare, value.value, "given", where)
        arguments[symbol] = converted


def _symbol_behind(number: Node) -> Node:
    """What a program computes with: the `atoi` of `argc > 1 ? atoi(argv[1]) : 64`."""
    while number.op in ("cast", "select"):
        open_ = [side for side in (number.args if number.op == "cast" else number.args[1:]) if not side.is_const]
        if len(open_) != 1:
            break
        number = open_[0]
    return number


def scalars(function: ir.Function) -> list[ir.Symbol]:
    """The parameters that a number can stand for, those of a template that nothing instantiates included."""
    symbols = (*function.template_values, *function.parameters)
    return [symbol for symbol in symbols if isinstance(symbol.type, ir.Scalar)]


def _configured_parameters(
    function: ir.Function, settings: Iterable[KernelSettings]
) -> Iterator[tuple[str, str, str, bool]]:
    """Name, value and place of the parameters that the configuration gives to a kernel, and whether it speaks of
    others too; the first pattern counts."""
    seen: set[str] = set()
    for setting in settings:
        for name, text in setting.parameters if setting.fits(function.name) else ():
            if name not in seen:
                seen.add(name)
                yield name, text, f"`{name}` in {setting.path}", setting.pattern != function.name

"""The command line that host code reads, where the project says how its program is run.

Its words are texts, and the numbers that are read from them are what options set: the program is run with these, and
with others as well.
"""

from __future__ import annotations

import getopt
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from cudalint.heuristics import heuristic
from cudalint.host.executor import expressions, names
from cudalint.host.executor.intrinsics import Handler
from cudalint.host.executor.memory import decay
from cudalint.host.executor.pointers import pointer_place
from cudalint.host.executor.values import ArrayValue, LocalMemory, LocalPlace, Pointer, RecordValue, Text, Value
from cudalint.host.values.arithmetic import BOOL, I4, Kind, kind_of
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir
from cudalint.numerals import whole
from cudalint.regexes import regex
from cudalint.toolchain.buildfiles.run_command import RunCommand

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

class CommandLine(Struct, eq=False):
    """What is known of the command line, and which numbers were made of it."""

    command: RunCommand | None = None
    """How the program is run."""
    arguments: set[Node] = field(default_factory=set)
    """The number of arguments that `main` is given."""
    words: dict[tuple[str, str, Kind], Node] = field(default_factory=dict)
    """The numbers that were read from words of the command line, by what they are called and say."""
    chosen_by_words: set[Node] = field(default_factory=set)
    """Whether words of the command line are certain texts."""
    flags: set[Node] = field(default_factory=set)
    """Numbers that choose between one that is known and one that isn't, once they have chosen one."""


_INTEGER = regex(r"\s*[+-]?\d+")
_NUMBER = regex(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CONVERSION = regex(r"%(?:h{0,2}|l{0,2}|z)([diuf])")
_Option = tuple[int, str, str]
"""What `getopt` returns, the option's word, and the option."""
_INT = ir.Scalar("int", 4, "int")
_NEXT_OPTION = ir.Symbol("optind", _INT, "static", ir.Span("", 0, 0, 0, 0))
"""Which option `getopt` gives next; a variable of the host code, so that what happens on trial is forgotten."""
_OPTION_ARGUMENT = ir.Symbol("optarg", ir.PointerType(ir.Scalar("char", 1, "int")), "static", _NEXT_OPTION.span)


@heuristic("command-lines", "the `run` targets of Makefiles").otherwise(None)
def give(ex: Execution, main: ir.Function, command: RunCommand) -> None:
    """Gives `main(int argc, char **argv)` the words of a command."""
    if len(main.parameters) < 2:
        return
    count, words = main.parameters[:2]
    if not isinstance(words.type, (ir.PointerType, ir.ArrayType)):
        return
    text = words.type.pointee if isinstance(words.type, ir.PointerType) else words.type.element
    list_ = ir.ArrayType(text, None, 0)
    held = ir.Symbol(words.name, list_, "local", words.span)
    elements = {i: Text(word, f"{words.name}[{i}]", command.place) for i, word in enumerate(command.words)}
    rest = ex.memory.unknown(text, Reason("no word of the command line"))
    ex.state.variables[held] = ArrayValue(list_, elements, rest)
    ex.state.variables[words] = decay(LocalPlace(held, (), list_), ex.graph)
    ex.options.command = command
    ex.state.variables[count] = ex.graph.default(count.name, len(command.words), I4, command.place)


def _number_of(ex: Execution, text: Text, pattern: re.Pattern[str], kind: Kind) -> Node | None:
    """The number that a text begins with, as `atoi` reads it; None of other texts. One of the command line is the same
    wherever it is read, and another one where the program is run otherwise."""
    found = pattern.match(text.text)
    if found is None:
        return None
    number = float(found[0]) if kind.is_float else whole(found[0])
    if number is None:
        return None
    if kind.is_float or not text.word:
        return ex.graph.const(number, kind)
    words, key = ex.options.words, (text.word, text.text, kind)
    if key not in words:
        words[key] = ex.graph.default(f"?{text.word}", number, kind, text.source)
    return words[key]


def is_text(type_: ir.Type) -> bool:
    """Whether values of a type are texts: arrays of letters, and what the C++ library makes of them."""
    letter = type_.pointee if isinstance(type_, ir.PointerType) else getattr(type_, "element", None)
    return (isinstance(letter, ir.Scalar) and letter.bytes == 1) or "basic_string" in ir.type_name(type_)


def are_equal(ex: Execution, first: Text, second: Text) -> Node:
    """Whether two texts are the same. A word of the command line may be another one where the program is run otherwise,
    so that both sides of a choice by it are executed; a loop over the words is followed as they are."""
    result, [word, other] = first.text == second.text, (first, second) if first.word else (second, first)
    if not word.word or ex.iterations:
        return ex.graph.const(result, BOOL)
    key = (word.word, f"{word.text} == {other.text}", BOOL)
    known = ex.options.words.get(key)
    if known is None:
        known = ex.options.words[key] = ex.graph.default(f"?{word.word}", result, BOOL, word.source)
        ex.options.chosen_by_words.add(known)
    return known


def _reader(pattern: re.Pattern[str]) -> Handler:
    """`atoi(argv[1])` and its relatives."""

    def handler(ex: Execution, call: ir.Call) -> Value | None:
        text = expressions.evaluate(ex, call.arguments[0])
        if not isinstance(text, Text) or not isinstance(call.type, ir.Scalar):
            return None
        if len(call.arguments) > 2:
            base = expressions.number(ex, call.arguments[2])
            if not base.is_const or base.value not in (0, 10):
                return None
        return _number_of(ex, text, pattern, kind_of(call.type))

    return handler


def _scan(ex: Execution, call: ir.Call) -> Value | None:
    """sscanf(argv[1], "%d", &n), for one number."""
    text, format_ = (expressions.evaluate(ex, argument) for argument in call.arguments[:2])
    if not (isinstance(text, Text) and isinstance(format_, Text) and len(call.arguments) == 3):
        return None
    asked = _CONVERSION.fullmatch(format_.text)
    where = pointer_place(ex, expressions.evaluate(ex, call.arguments[2]), call.arguments[2].type)
    if asked is None or not isinstance(where, LocalPlace) or not isinstance(where.type, ir.Scalar):
        return None
    number = _number_of(ex, text, _NUMBER if asked[1] == "f" else _INTEGER, kind_of(where.type))
    if number is None:
        return None
    expressions.write(ex, where, number)
    return ex.graph.one


# --- getopt ----------------------------------------------------------------------------------------------


def _next_option(ex: Execution, call: ir.Call) -> Value | None:
    """getopt(argc, argv, "n:v") and getopt_long(argc, argv, "n:v", options, &index), for the words of `main`."""
    short = expressions.evaluate(ex, call.arguments[2])
    if ex.options.command is None or not isinstance(short, Text):
        return None
    long = _long_options(ex, call.arguments[3]) if len(call.arguments) > 3 else {}
    found = None if long is None else _options(ex.options.command.words[1:], short.text, long)
    if found is None:
        return None
    position = ex.state.variables.get(_NEXT_OPTION, ex.graph.zero)
    number = (position.whole or 0) if isinstance(position, Node) else 0
    if number >= len(found):
        return ex.graph.const(-1)
    code, word, option = found[number]
    ex.state.variables[_NEXT_OPTION] = ex.graph.const(number + 1)
    ex.state.variables[_OPTION_ARGUMENT] = Text(word, option, ex.options.command.place)
    return ex.graph.const(code)


def _options(words: Sequence[str], short: str, long: Mapping[str, tuple[bool, int]]) -> list[_Option] | None:
    """What `getopt` finds; None where it would complain."""
    spelled = [f"{name}=" if takes_word else name for name, (takes_word, _) in long.items()]
    try:
        found, _ = getopt.gnu_getopt(words, short.lstrip("+-:"), spelled)
    except getopt.GetoptError:
        return None
    codes = {f"--{name}": code for name, (_, code) in long.items()}
    return [(codes[option] if option in codes else ord(option[1]), word, option) for option, word in found]


def _long_options(ex: Execution, list_: ir.Expr) -> Mapping[str, tuple[bool, int]] | None:
    """By its name whether an option takes a word, and what stands for it; None where the list is not known."""
    pointer = expressions.evaluate(ex, list_)
    if not isinstance(pointer, Pointer) or not isinstance(pointer.target, LocalMemory):
        return None
    place = pointer.target.place
    expressions.initialise_global(ex, place.symbol)
    array = ex.memory.read(ex.state, place, ex.place_of(list_.span))
    if not isinstance(array, ArrayValue):
        return None
    found: dict[str, tuple[bool, int]] = {}
    for entry in array.elements.values():
        if not isinstance(entry, RecordValue):
            return None
        name, takes_word, code = (entry.fields.get(field) for field in ("name", "has_arg", "val"))
        if isinstance(name, Text):
            if not (isinstance(takes_word, Node) and isinstance(code, Node) and takes_word.is_const):
                return None
            if code.whole is None:
                return None
            found[name.text] = (bool(takes_word.value), code.whole)
    return found


def name_value(ex: Execution, expr: ir.Name) -> Value:
    """A variable; `optarg` is what `getopt` has set last."""
    if expr.symbol.name == "optarg" and _OPTION_ARGUMENT in ex.state.variables:
        return expressions.read(ex, LocalPlace(_OPTION_ARGUMENT, (), expr.type), expr.span)
    return names.name_value(ex, expr)


COMMAND_LINE: Mapping[str, Handler] = {
    "integer-of-text": _reader(_INTEGER), "number-of-text": _reader(_NUMBER), "scanned": _scan,
    "next-option": _next_option,
}  # fmt: skip
"""Handlers by effect."""

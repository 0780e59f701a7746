"""Instances of kernel templates that nothing in sight instantiates, made to be evaluated in their place.

In a template itself, sizes of types are open and what depends on them has no type, so that little of it can be
evaluated. Which arguments a template is for, its text says in part: the numbers that its parameters are compared with,
the types that it distinguishes, and other texts that name it with arguments. Clang is asked which of these make a
function, and the first that does stands for all. It is one of many: what rests on it is said to be assumed.

Where no text says its numbers or policies and a template of host code launches it, an instance of that gives it its
arguments, and its block as well: of those that lead to it, the nearest for which all numbers are known is taken.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Final, NamedTuple

from msgspec import Struct

from cudalint.frontend.template_uses import numbers_given
from cudalint.heuristics import heuristic
from cudalint.ir.builtins import FUNCTION_CLASS
from cudalint.ir.units import TemplateHead
from cudalint.numerals import whole
from cudalint.regexes import regex
from cudalint.source.brackets import parts_of_list
from cudalint.source.comments import COMMENT

_MOST_TEMPLATES: Final = 24
_MOST_CALLERS: Final = 48
_MOST_TRIED: Final = 8
"""Sets of arguments for one template."""
_MOST_TRIED_OF_CALLERS: Final = 4
"""Their bodies are long."""
_LEAST: Final = 2
_MOST: Final = 1 << 31
_LONGEST: Final = 1 << 16
"""Of a body that is looked through."""
_CONSTANT: Final = regex(r"\bconst(?:expr)?\b[^;=]*\b([^\W\d]\w*)\s*=")
_DEFINED_AS: Final = regex(r"\s*([^;{}]+);")
_TYPE: Final = regex(r"(?:typename|class)\b\s*(?P<pack>\.\.\.)?\s*(?P<name>\w*)\s*(?P<default>=.*)?\Z", re.DOTALL)
_VALUE: Final = regex(
    r"(?P<type>[\w:\s<>,*&()]+?)\s*(?P<pack>\.\.\.)?\s*\b(?P<name>[A-Za-z_]\w*)\s*(?P<default>=.*)?\Z", re.DOTALL
)
_OF_INDICES: Final = regex(r"(?i:id|idx|ind|index|indices|int|offset|count)(?:_?[Tt](?:ype)?)?\Z")
_OF_FUNCTORS: Final = regex(
    r"(?:\w*[a-z\d_])?(?:Lambda|Op|Operator|Operation|Functor|Func|Function|Fn|Predicate|Pred|Callback)_?[Tt]?(?:ype)?\d*"
    r"|(?:\w+_)?(?:lambda|op|functor|func|fn|pred|predicate|callback)(?:_t|_type)?"
)
_OF_ITERATORS: Final = regex(
    r"(?:\w*[a-z\d_])?(?:Iterator|Iter|It)_?[Tt]?(?:ype)?\d*|(?:\w+_)?iter(?:ator)?(?:_t|_type)?"
)
_OF_THREADS: Final = regex(r"(?i)thread|block_?(?:size|dim)|cta_?size|tpb|nthr")
_THREADS: Final = ("128", "256", "32")
_SIZES: Final = ("32", "64", "16", "128")
_FEW: Final = ("4", "8", "2", "1", "32")
"""A few elements or dimensions; some that are few elsewhere have to be whole warps."""
_OF_SIZES: Final = regex(r"(?i)tile|width|height|size|cols?\b|rows?\b|channels|lanes|head_?dim|hidden|bins|stride")
_MADE_OF: Final = (
    r"\b(?!template\b|(?:Block|Warp)[A-Z])\w+<[^<>;(){}]*\bNAME\b"
    r"|(?<![\w\s])\s*(?!\w*\s*__shared__)\w[\w:<>,*&\s]*\s\w+\s*(?:\[[^\[\]]*\]\s*)*\[[^\[\]]*\bNAME\b[^\[\]]*\]"
    r"\s*(?:\[[^\[\]]*\]\s*)*(?:;|=\s*\{)"
)
"""Arguments of templates and extents of arrays in registers. How many threads a collective or an array that they share
is for has too much of a say."""
_OF_PACKS: Final = regex(r"(?i)vec|ilp|unroll|pack|items|per_?thread|stage|depth|elt|elem")
_OTHERWISE: Final = regex(r"\belse\b(?!\s*if\b)")
_INTEGERS: Final = regex(r"(?:unsigned|signed|int|long|short|char|std::|size_t|u?int\d+_t|const|\s)+\Z")
_FLOATING: Final = ("float", "__half", "__nv_bfloat16")
_MENTIONED: Final = {
    "__half": regex(r"\b(?:__half|half|cuda_fp16)\b"), "__nv_bfloat16": regex(r"bfloat16|bf16"),
}  # fmt: skip
_ARGUMENT: Final = regex(
    r"\s*(?:\d+|true|false|(?:unsigned\s+)?(?:float|double|int|char|short|long|bool)|__half2?|half2?|__nv_bfloat16|nv_bfloat16"
    r"|nv_half|float[234]|int[234]|u?int(?:8|16|32|64)_t)\s*\Z"
)


FUNCTOR: Final = (
    f"struct {FUNCTION_CLASS} {{ template <class T, class... A> __host__ __device__ T operator()(T a, A...) const "
    "{ return a; } };"
)
"""A line that declares something to call: it gives back its first argument."""


_SHOWN: Final = {FUNCTION_CLASS: "a function of its first argument", "__half": "half"}


class Parameter(Struct, frozen=True):
    name: str
    type: str
    """Of a value; nothing for a parameter that stands for a type."""


class Trial(Struct, frozen=True):
    """One set of arguments for a template."""

    head: TemplateHead
    arguments: tuple[str, ...]
    names: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    """Names of parameters for numbers of which no text says any: they have usual ones."""

    def line(self, number: int) -> str:
        """What makes clang instantiate it, where its own names are known."""
        opened = "".join(f"namespace {name} {{ " for name in self.head.namespaces)
        made = f"{self.head.name}<{', '.join(self.arguments)}>"
        closed = " }" * len(self.head.namespaces)
        return f"{opened}[[maybe_unused]] static auto* const _cudalint_instance_{number} = &{made};{closed}"

    @property
    def text(self) -> str:
        """The arguments by their parameters, as a person would write them."""
        shown = (_SHOWN.get(argument, argument) for argument in self.arguments)
        return ", ".join(f"{name} = {argument}" for name, argument in zip(self.names, shown, strict=True))


_INSTANCES = heuristic("instances", "kernel templates of libraries without their callers")


def trials_for(
    kernels: Sequence[TemplateHead], callers: Sequence[TemplateHead], text: str, given: Collection[str] = ()
) -> tuple[Trial, ...]:
    """What to try for kernel templates, and for those of host code that lead to them; `text` is that of the file, which
    may say more of their arguments, as may the header of each. Those of which the user gives a number, by one
    of the names that are `given` or in an annotation, stay what they are."""
    if not _INSTANCES.is_on:
        return ()
    found: list[Trial] = []
    heads = (*kernels[:_MOST_TEMPLATES], *callers[:_MOST_CALLERS])
    texts = {file: f"{text}\n{file}" if file else text for file in {head.file for head in heads}}
    codes = {file: _Code(COMMENT.sub(" ", whole)) for file, whole in texts.items()}
    for head in heads:
        names = "|".join([re.escape(parameter.name) for parameter in parameters_of(head.text) or ()])
        if any(each.name in given for each in parameters_of(head.text) or ()) or (
            names and re.search(rf"cudalint:[^\n]*\b(?:{names})\b", texts[head.file])
        ):
            continue
        most = _MOST_TRIED_OF_CALLERS if head.launches else _MOST_TRIED
        found += itertools.islice(dict.fromkeys(_trials(head, texts[head.file], codes[head.file])), most)
    return tuple(found)


def chosen(heads: Sequence[TemplateHead], trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Of those that clang takes, the first for each kernel template, or for one of host code that leads to it."""
    taken: dict[str, Trial] = {}
    for trial in trials:
        taken.setdefault(trial.head.usr, trial)
    found: dict[str, Trial] = {}
    reached: set[str] = set()
    for head in heads:
        own = [taken[head.usr]] if head.usr in taken else []
        callers = [trial for trial in taken.values() if head.usr in trial.head.launches]
        if head.usr in reached or not (own or callers):
            continue
        # One of its own is one; host code may make many, for each of its vectors and options.
        trial = next((each for each in own + callers if not each.guessed), (own + callers)[0])
        found[trial.head.usr] = trial
        reached.update(trial.head.launches)
    return tuple(found.values())


def arguments_said(found: Sequence[Trial]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """What is said of the kernel templates' instances, by their USRs: the arguments, and the names of the parameters of
    which no text says the number."""
    said: dict[str, tuple[str, tuple[str, ...]]] = {}
    for trial in found:
        for usr in trial.head.launches:
            said.setdefault(usr, (f"`{trial.head.plain_name}` with {trial.text}", trial.guessed))
    return said | {trial.head.usr: (trial.text, trial.guessed) for trial in found if not trial.head.launches}


class _Definition(NamedTuple):
    """Where a text defines a constant."""

    start: int
    end: int
    value: str


class _Code:
    """A text without comments, and the constants that it defines: they are looked for once for all templates."""

    def __init__(self, text: str) -> None:
        self.text = text

    def value_before(self, name: str, end: int) -> _Definition | None:
        """The last definition of a constant in front of a place."""
        return next((each for each in reversed(self._constants.get(name, ())) if each.end <= end), None)

    @cached_property
    def _constants(self) -> dict[str, list[_Definition]]:
        found: dict[str, list[_Definition]] = {}
        for name in _CONSTANT.finditer(self.text):
            value = _DEFINED_AS.match(self.text, name.end())
            known = found.setdefault(name[1], [])
            if value is not None and (not known or name.start() >= known[-1].end):
                known.append(_Definition(name.start(), value.end(), value[1]))
        return found


class _Use(NamedTuple):
    """Where a text names a template with arguments."""

    arguments: list[str]
    start: int
    is_plain: bool
    """Without calls and conversions among the arguments."""


def _uses(code: str, name: str) -> list[_Use]:
    found = re.finditer(rf"\b{re.escape(name)}\s*<([^<>;{{}}]*)>", code)
    return [
        _Use([argument.strip() for argument in use[1].split(",")], use.start(), not re.search(r"[()]", use[1]))
        for use in found
    ]


def _trials(head: TemplateHead, text: str, code: _Code) -> Iterator[Trial]:
    parameters = parameters_of(head.text)
    if not parameters:
        return
    names = tuple(parameter.name for parameter in parameters)
    own = COMMENT.sub(" ", head.text[:_LONGEST])
    uses = _uses(code.text, head.plain_name)
    for arguments in _named_in(code, uses, len(parameters)):
        yield Trial(head, arguments, names)
    floating = [name for name in _FLOATING if name not in _MENTIONED or _MENTIONED[name].search(text + own)]
    computed = _computed_in(code, uses, parameters)
    usual = cache(partial(_usual, own=own))
    choices = [
        [computed[each.name]] if each.name in computed else _values(each, own, text, usual) if each.type
        else _types(each, own, floating)
        for each in parameters
    ]  # fmt: skip
    sized = [*numbers_given(text, head.plain_name), *numbers_given(head.text, head.plain_name)]
    passed = _passed_on(sized, parameters, choices)
    choices = [numbers or choice for numbers, choice in zip(passed, choices, strict=True)]
    guessed = [each.name for each in parameters if each.type and each.name not in computed]
    guessed = [name for name, numbers in zip(names, passed, strict=True) if name in guessed and not numbers]
    if not all(choices):
        return
    kinds = max((len(choice) for choice, each in zip(choices, parameters, strict=True) if not each.type), default=1)
    sizes = max((len(choice) for choice, each in zip(choices, parameters, strict=True) if each.type), default=1)
    for kind, size in itertools.product(range(kinds), range(sizes)):
        # Those of one kind go together: a table of sizes has one for each.
        numbers = (size if each.type else kind for each in parameters)
        picked = [choice[min(number, len(choice) - 1)] for choice, number in zip(choices, numbers, strict=True)]
        types = {each.name: chosen for each, chosen in zip(parameters, picked, strict=True) if not each.type}
        made = (_with_types(each, types) if each in computed.values() else each for each in picked)
        given = dict(zip(names, picked, strict=True))
        yield Trial(head, tuple(made), names, tuple(n for n in guessed if given[n] in usual(n)))


def parameters_of(text: str) -> list[Parameter] | None:
    """The parameters of a template that have to be given, in order; None where the list can't be read."""
    found = []
    for part in parts_of_list(COMMENT.sub(" ", text)):
        parameter = _TYPE.match(part)
        value = None if parameter else _VALUE.match(part)
        match = parameter or value
        if match is None or part.startswith("template"):
            return None
        if match["default"] or (match["pack"] and value):
            break
        if not match["name"]:
            return None
        found.append(Parameter(match["name"], "" if parameter else " ".join(match["type"].split())))
        if match["pack"]:
            break  # One of them stands for all.
    return found


def _named_in(code: _Code, uses: Sequence[_Use], number: int) -> Iterator[tuple[str, ...]]:
    """The arguments with which a text names a template, where they are numbers, or constants of those, and types that
    all know."""
    for use in uses:
        if not use.is_plain:
            continue
        arguments = tuple(_value_of(argument, code, use.start) for argument in use.arguments)
        if len(arguments) >= number and all(map(_ARGUMENT.match, arguments)):
            yield arguments[:number]


def _computed_in(code: _Code, uses: Sequence[_Use], parameters: Sequence[Parameter]) -> dict[str, str]:
    """The parameters for which a text computes the arguments from sizes of types that it passes as well, with what it
    computes: `constexpr int N = 16 / sizeof(Type); copy<Type, N>`. With any other number they are of nobody's."""
    found: dict[str, str] = {}
    for use in uses:
        if len(use.arguments) < len(parameters):
            continue
        given = list(zip(parameters, use.arguments, strict=False))
        types = {argument: each.name for each, argument in given if not each.type and argument.isidentifier()}
        sized = re.compile(rf"\bsizeof\s*\(\s*(?:{'|'.join(types)})\s*\)") if types else None
        for each, argument in given:
            value = _value_of(argument, code, use.start) if each.type else ""
            if sized is not None and sized.search(value):
                found.setdefault(each.name, f"({_with_types(value, types)})")
    return found


def _passed_on(
    uses: Sequence[Mapping[str, str]], parameters: Sequence[Parameter], usual: Sequence[Sequence[str]]
) -> list[list[str]]:
    """For each parameter of a template the numbers that other templates are used with for parameters of its name: what
    launches a kernel mostly has its sizes from a template around it. Those of one use stand at one place of all lists;
    first come those with numbers that are `usual` for the template itself."""
    names = [each.name if each.type else "" for each in parameters]
    given = [{name: use[name] for name in names if name in use} for use in uses]
    fullest = max(given, key=len, default={})
    rows = [use for use in given if use.keys() == fullest.keys()] if fullest else []
    rows.sort(key=lambda use: -sum(use.get(name) in numbers for name, numbers in zip(names, usual, strict=True)))
    return [[use[name] for use in rows] if name in fullest else [] for name in names]


def _value_of(argument: str, code: _Code, end: int, depth: int = 3) -> str:
    """What a name was last defined as, in a text before its use at `end`, with what that is computed from; anything
    else as it is."""
    if not argument.isidentifier() or not depth:
        return argument
    defined = code.value_before(argument, end)
    if defined is None:
        return argument

    def defined_before(name: re.Match[str]) -> str:
        value = _value_of(name[0], code, defined.start, depth - 1)
        return value if value.isalnum() or value == name[0] else f"({value})"

    return re.sub(r"\b[A-Za-z_]\w*\b", defined_before, " ".join(defined.value.split()))


def _with_types(text: str, types: Mapping[str, str]) -> str:
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: types.get(word[0], word[0]), text)


def _types(parameter: Parameter, own: str, floating: Sequence[str]) -> list[str]:
    """The types for a parameter: those that the template distinguishes, and the usual ones."""
    named = re.findall(rf"\bis_same(?:_v)?\s*<\s*{parameter.name}\s*,\s*([\w:]+)\s*>", own)
    named = [type_ for type_ in named if _ARGUMENT.match(type_)]
    called = (variable for variable in re.findall(rf"\b{parameter.name}\s+(?:const\s*)?&?\s*(\w+)\s*[,)=;]", own))
    if any(re.search(rf"\b{variable}\s*\(", own) for variable in called):
        return [FUNCTION_CLASS, *named]
    if _OF_FUNCTORS.fullmatch(parameter.name) and not named:
        return [FUNCTION_CLASS]
    if _OF_ITERATORS.fullmatch(parameter.name) and not named:
        return ["float*", "int*"]
    usual = ["int", "long"] if _OF_INDICES.search(parameter.name) else [*floating, "int"]
    if _counts(parameter.name, own):
        return list(dict.fromkeys([*(each for each in named if _INTEGERS.match(each)), "int", "long"]))
    # What has a branch for all others is for the usual ones, too.
    return list(dict.fromkeys([*usual, *named] if _OTHERWISE.search(own) else [*named, *usual]))


def _counts(type_: str, own: str) -> bool:
    """Whether a variable of a type stands for a number of elements: it is a part of subscripts, or it is compared with
    numbers that are made of the thread's place, or of the iterations of loops."""
    other = re.search(r"\btemplate\s*<", own[1:])
    own = own[: other.start()] if other else own
    sizes = re.findall(rf"\b{type_}\s+(?:const\s+)?(\w+)\s*[,)=;{{]", own)
    if not sizes:
        return False
    size = rf"\b(?:{'|'.join(map(re.escape, dict.fromkeys(sizes)))})\b"
    if re.search(rf"\[[^\[\]]*{size}[^\[\]]*\]|{size}\s*%|%\s*{size}", own):
        return True
    own_places = re.findall(r"\b(\w+)\s*(?:=|\()[^=;{}]*\b(?:threadIdx|blockIdx|blockDim)\b", own)
    counters = re.findall(r"\bfor\s*\(\s*[\w:\s]*?\b(\w+)\s*=", own)
    numbers = "|".join(map(re.escape, dict.fromkeys([*own_places, *counters])))
    return bool(numbers) and re.search(rf"\b(?:{numbers})\b\s*(?:<=?|>=?|==)\s*[\w\s*+-]*{size}", own) is not None


def _values(
    parameter: Parameter, own: str, text: str, usual: Callable[[str], tuple[str, ...]]
) -> list[str]:
    """The numbers for a parameter: those that it is compared with or made in a dispatch, then those that are usual for
    what its name says that it counts. What rests on one of the latter is marked."""
    if parameter.type.split()[-1:] == ["bool"]:
        return ["false", "true"]
    if not _INTEGERS.match(parameter.type):
        return [f"static_cast<{parameter.type}>(0)"]
    name = re.escape(parameter.name)
    compared = re.findall(rf"\b{name}\s*==\s*(\d+)\b", own)
    made = re.findall(rf"\bconstexpr\s+(?:static\s+)?[\w:]+\s+{name}\s*=\s*(\d+)\s*;", text)
    # 0 and 1 are special cases more often than sizes.
    numbers = [number for number in map(whole, (*compared, *made)) if number is not None and 0 < number < _MOST]
    numbers.sort(key=lambda number: number < _LEAST)
    return list(dict.fromkeys([*map(str, numbers), *usual(parameter.name)]))


def _usual(name: str, own: str) -> tuple[str, ...]:
    """The numbers that parameters of a name mostly have, of those that nothing can do without: types are made of
    others, too."""
    if _OF_THREADS.search(name):
        return _THREADS
    if _OF_PACKS.search(name):
        return _FEW[:3]
    if not re.search(_MADE_OF.replace("NAME", re.escape(name)), own):
        return ()
    return _SIZES if _OF_SIZES.search(name) else _FEW

"""Stand-ins for names that nothing declares: what they are shows in how the text uses them."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.brackets import parts_of_list

_FLOATING_NAME: Final = regex(r"real|float|double|fp|val|scalar", re.IGNORECASE)


class Guess(Struct, frozen=True):
    """A stand-in for a name that nothing declares, which keeps the statements that use the name in the tree."""

    declaration: str
    meaning: str
    value: int | str | None = None
    """The number that it is, where a template needs one, or the type, if the name alone doesn't say that."""
    is_known: bool = False
    """The name says what it is, of a type also how that is laid out."""

    def note(self, name: str) -> str:
        return f"nothing declares '{name}'; taken as {self.meaning}"


_GROUPS: Final = (
    r"cooperative_groups|this_(thread_block|grid|multi_grid|cluster)|(thread_block|grid|coalesced|thread)_group"
    r"|thread_block(_tile)?|tiled_partition|coalesced_threads"
)
_STATEMENTS: Final = (
    r"__(assume|requires(_\w+)?|ensures|invariant|uniform_(int|bool)|distinct_(int|bool)|enabled|exclusive|implies)"
    r"|__axiom|__(no_)?(read|write)(_implies)?|__assertion|__global_(assert|invariant)|__function_wide_invariant"
)
_HEADERS: Final = (
    (_GROUPS, "cooperative_groups.h"),
    (_STATEMENTS, "_cudalint/specifications.h"),
    (r"curand\w+", "curand_kernel.h"),
    (r"nvcuda|wmma", "mma.h"),
    (r"half2?|__half2?|__(float2half|half2float|hadd|hmul|hfma)\w*", "cuda_fp16.h"),
    (r"nv_bfloat16\w*|__nv_bfloat16\w*", "cuda_bf16.h"),
    (r"cub", "cub/cub.cuh"),
    (r"at|torch|c10|AT_\w+|TORCH_\w+|C10_\w+|PYBIND11_MODULE", "torch/extension.h"),
    (r"CUDA_KERNEL_LOOP\w*|gpuAtomic\w+", "ATen/cuda/CUDAContext.h"),
    (r"u?int(8|16|32|64)_t", "stdint.h"),
    (r"FLT_\w+|DBL_\w+", "float.h"),
    (r"U?(INT|LLONG|LONG|CHAR|SHRT)_(MAX|MIN)", "limits.h"),
)
"""Names that belong to a well-known header, as patterns."""
_STANDARD_HEADERS: Final = (
    (r"tuple|make_tuple|tie", "tuple"),
    (r"string|to_string|sto[ifd]", "string"),
    (r"optional|nullopt", "optional"),
    (r"(multi)?map", "map"),
    (r"unordered_(multi)?map", "unordered_map"),
    (r"(multi)?set", "set"),
    (r"complex", "complex"),
    (r"thread", "thread"),
    (r"mt19937(_64)?|random_device|default_random_engine|\w+_distribution", "random"),
    (r"accumulate|iota", "numeric"),
    (r"cout|cerr|endl", "iostream"),
    (r"[io]?fstream", "fstream"),
    (r"[io]?stringstream", "sstream"),
    (r"setw|setprecision|setfill", "iomanip"),
    (r"(runtime|logic|domain|length|range|overflow|underflow)_error|invalid_argument|out_of_range", "stdexcept"),
    (r"vector", "vector"),
    (r"array", "array"),
    (r"list", "list"),
    (r"deque", "deque"),
    (r"(priority_)?queue", "queue"),
    (r"function|hash|bind|ref|cref|reference_wrapper|plus|less|greater|bad_function_call", "functional"),
    (r"(unique|shared|weak)_ptr|make_(unique|shared)|enable_shared_from_this|addressof", "memory"),
    (r"numeric_limits", "limits"),
    (r"(stable_)?sort|find(_if)?|fill(_n)?|copy(_n)?|(any|all|none)_of|(lower|upper)_bound", "algorithm"),
    (r"(min|max)_element|clamp|transform|reverse|unique|move_backward", "algorithm"),
    (r"atomic(_\w+)?|memory_order(_\w+)?", "atomic"),
    (r"mutex|recursive_mutex|lock_guard|unique_lock|scoped_lock|call_once|once_flag", "mutex"),
    (r"variant|visit|holds_alternative|monostate|get_if", "variant"),
    (r"string_view", "string_view"),
    (r"byte|nullptr_t|max_align_t", "cstddef"),
    (r"mem(cpy|set|move|cmp)|str(cmp|ncmp|len|cpy|ncpy|str)", "cstring"),
    (r"v?s?n?printf|fprintf|puts|fputs", "cstdio"),
    (r"getenv|exit|abort|malloc|free|strto\w+", "cstdlib"),
    (r"span", "span"),
)
"""Names in the namespace `std`: a project's file often relies on a header that one compiler's headers include."""


def header_of(name: str) -> str | None:
    """The header that declares a well-known name: a fragment relies on its includer for that."""
    outermost, _, inner = name.partition("::")
    if outermost == "std" and inner:
        return next((header for pattern, header in _STANDARD_HEADERS if re.fullmatch(pattern, inner)), None)
    return next((header for pattern, header in _HEADERS if re.fullmatch(pattern, outermost)), None)


_LONE_MACRO: Final = regex(rb"\s*([A-Z_][A-Z0-9_]{2,})\s*(\([^;{}]*\))?\s*(?://.*|/\*.*)?$")
_MACRO_IN_FRONT: Final = regex(
    rb"\s*([A-Za-z_]\w*)\s*(\([^;{}()]*\))?\s+(?:__global__|__device__|__host__|template|static|extern|inline|void)\b"
)
_NO_MACRO: Final = regex(rb"_*(?:global|device|host|shared|constant|managed|forceinline|noinline)__|[a-z]+")


def macro_on(line: bytes) -> tuple[str, Guess] | None:
    """The word on a line that can only be a macro: it stands alone, without a semicolon, or before a declaration."""
    match = _LONE_MACRO.match(line) or _MACRO_IN_FRONT.match(line)
    if match is None or _NO_MACRO.fullmatch(match[1]):
        return None
    name = match[1].decode()
    return name, Guess(f"#define {name}{'(...)' if match[2] else ''}", "a macro without text")


_CHECK: Final = regex(
    r"(?:[A-Z0-9]+_)*[DIPQ]?(?:CHECK|ASSERT|ENFORCE|EXPECTS?|REQUIRES?|VERIFY)"
    r"(?:_(?P<compared>EQ|NE|LT|LE|GT|GE)|_(?:WITH_INFO|WITH_MSG|MSG|M|FMT))?"
)
"""What has to hold for a program to go on, in the first argument, or between the first two."""
_COMPARISONS: Final = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def _guess_check(name: str) -> Guess | None:
    """A macro that ends the program unless a condition holds; it may have a message behind `<<`, like a stream."""
    match = _CHECK.fullmatch(name)
    if match is None:
        return None
    comparison = _COMPARISONS.get(match["compared"] or "")
    head, condition = ("(A, ...)", "A") if comparison is None else ("(A, B, ...)", f"(A) {comparison} (B)")
    text = f'#include "checks.h"\n#define {name}{head} _CUDALINT_STATED({condition})'
    return Guess(text, "a check of what has to hold")


_SCALARS: Final = (
    (r"u_?char|byte|(g|gl)?ubyte|(__)?u_?int8(_t)?|u8", "unsigned char"),
    (r"schar|s?byte_t|(__)?s?int8(_t)?|[is]8", "signed char"),
    (r"u_?short|word|(__)?u_?int16(_t)?|u16", "unsigned short"),
    (r"(__)?s?int16(_t)?|[is]16", "short"),
    (r"u_?int|dword|(__)?u_?int32(_t)?|u32|(g|gl)uint", "unsigned int"),
    (r"u_?long|qword|(__)?u_?int64(_t)?|u64", "unsigned long"),
    (r"(__)?s?int64(_t)?|[is]64", "long"),
    (r"f64|float64(_t)?", "double"),
)
"""What types of these names are wherever they are declared, in small letters."""


_VECTOR: Final = regex(r"([A-Za-z]\w*?)_?([234])")
"""The name of a vector's elements, and how many it has."""
_VECTORS: Final = {"float": "float", "double": "double", "int": "int", "unsigned int": "uint"}
"""The elements of the vectors that CUDA has, by what these are called there."""


_SHADING: Final = regex(r"[biud]?vec[234]|d?mat[234](?:x[234])?")
"""The vectors and matrices of shading languages, as GLSL 4.60 names them (sections 4.1.5 and 4.1.6). Libraries for C++
that have them lay them out like GLM: elements without gaps, matrices column by column."""
_SHADING_FUNCTIONS: Final = regex(
    "clamp|mix|sign|fract|step|smoothstep|inversesqrt|dot|cross|length|distance|normalize|reflect|radians|degrees"
)
"""Functions of shading languages that mean the same wherever they are declared (GLSL 4.60, chapter 8)."""


def guess_well_known(name: str) -> Guess | None:
    """What a name means wherever it is declared, in a header too that isn't the file's own: one of shading languages is
    taken as GLM's. None for other names."""
    is_type = _SHADING.fullmatch(name) is not None
    if not is_type and not _SHADING_FUNCTIONS.fullmatch(name):
        return None
    declared = f"typedef glm::{name} {name};" if is_type else f"using glm::{name};"
    text = f'#include "../../libraries/_cudalint_glm/matrices.h"\n{declared}'
    return Guess(text, f"GLM's `{name}`", f"glm::{name}" if is_type else None, is_known=True)


def guess_type(name: str, text: bytes = b"") -> Guess:
    """A stand-in for a type, given the text that uses it: `real4`, of which variables have `.x`, is a vector."""
    type_ = _scalar_named(name)
    vector = _VECTOR.fullmatch(name) if type_ is None else None
    if vector is not None and _has_parts(name, text):
        element = _VECTORS.get(_scalar_named(vector[1]) or _scalar_like(vector[1]))
        type_ = f"{element}{vector[2]}" if element is not None else None
    return type_named(name, type_ or _scalar_like(name))


def type_named(name: str, otherwise: str) -> Guess:
    """A stand-in for a type, given what it is taken as if its name doesn't say it."""
    known = _scalar_named(name)
    type_ = known or otherwise
    return Guess(f"typedef {type_} {name};", f"`{type_}`", None if known else otherwise, is_known=known is not None)


def _scalar_named(name: str) -> str | None:
    return next((scalar for pattern, scalar in _SCALARS if re.fullmatch(pattern, name.lower())), None)


def _scalar_like(name: str) -> str:
    return "float" if _FLOATING_NAME.search(name) else "int"


def _has_parts(name: str, text: bytes) -> bool:
    """Whether `.x` or another part of a vector is asked of a variable of a type, or of what it points to."""
    declared = re.finditer(rb"\b" + re.escape(name.encode()) + rb"\b(?=" + _VARIABLE.pattern + rb")", text)
    variables = {variable for match in declared if (variable := match[1])}
    if not variables:
        return False
    parts = rb"\b(?:" + b"|".join(sorted(variables)) + rb")\s*(?:\[[^\]\n]*\]\s*)?(?:\.|->)\s*[xyzw]\b"
    return re.search(parts, text) is not None


def guess_name(name: str, rest: bytes) -> Guess:
    """A stand-in for a name in an expression, given the text that follows it.

    It is a function where a parenthesis follows, else a number without a value, so that nothing is ever
    computed from a guess.
    """
    check = _guess_check(name) if _CALLED.match(rest) else None
    return check or _guess_value(name, rest)


def _guess_value(name: str, rest: bytes) -> Guess:
    if not _CALLED.match(rest):
        return Guess(f"extern __device__ const int {name};", _UNKNOWN_NUMBER)
    # The result is most often of the first argument's type, or what a first argument points to.
    head = "template <class T, class... A> __host__ __device__ T"
    return Guess(f"{head} {name}(T, A...); {head} {name}(T*, A...); __host__ __device__ int {name}();", "a function")


def with_number(name: str, guess: Guess) -> Guess | None:
    """The same name with a number, as an argument of a template must have one; None where the guess is no number."""
    if guess.meaning != _UNKNOWN_NUMBER:
        return None
    return with_value(name)


def with_value(name: str, type_: str = "int", number: int | None = None) -> Guess:
    """A stand-in for a constant: a number that most sizes have in common, unless another one is given."""
    number = _ASSUMED_NUMBER if number is None else number
    return Guess(f"constexpr {type_} {name} = {number};", f"{number}", number)


_UNKNOWN_NUMBER: Final = "an unknown `int`"
_ASSUMED_NUMBER: Final = 32
"""A multiple of a warp, as sizes are, of which a block may have the square as threads."""
_CALLED: Final = regex(rb"\s*(?:<[^;{}()]*>)?\s*\(")
_WITHIN: Final = regex(rb"\s*::\s*(?:template\s+)?(\w+)")
_DECLARES: Final = regex(rb"\s*(?:const\b)?\s*[&*]*\s*(?:__restrict(?:__)?\b)?\s*(?:\w|[{>]|$)")
"""What follows the name of a type: the name of a variable, or what ends a template's arguments."""
_VARIABLE: Final = regex(rb"\s*(?:const\b)?\s*[&*]*\s*(?:__restrict(?:__)?\b)?\s*(\w+)")
_TEMPLATE_ARGUMENTS: Final = regex(rb"\s*<((?:[^<>;{}]|<[^<>;{}]*>)*)>")
_NUMBER: Final = regex(r"(?:\d|true\b|false\b|[A-Z][A-Z_]+[A-Z0-9_]*\s*$|sizeof\b|\w*::k[A-Z])")


def guess_within(names: tuple[str, ...], rest: bytes) -> tuple[str, Guess]:
    """A stand-in for what an unknown namespace is named for (`library::Table<float, 2> t`), with its full name; `names`
    are the namespace's."""
    match = _WITHIN.match(rest)
    while match is not None and _WITHIN.match(rest, match.end()):
        names = (*names, match[1].decode())
        match = _WITHIN.match(rest, match.end())
    if match is None:
        return "::".join(names), Guess(f"namespace {'::'.join(names)} {{}}", "a namespace")
    name, rest = match[1].decode(), rest[match.end() :]
    known = guess_well_known(name)
    guess = known or _guess_class(name, rest) or _guess_value(name, rest)
    included, _, declared = guess.declaration.rpartition("\n")
    declaration = f"{included}\nnamespace {'::'.join(names)} {{ {declared} }}"
    return "::".join((*names, name)), Guess(declaration, guess.meaning, guess.value if known else None, guess.is_known)


def _guess_class(name: str, rest: bytes) -> Guess | None:
    """A type of which nothing is known, if the text that follows says that it is one."""
    arguments = _TEMPLATE_ARGUMENTS.match(rest)
    if not _DECLARES.match(rest, arguments.end() if arguments else 0):
        return None
    template = ""
    if arguments is None and not _is_class(rest):
        return guess_type(name)
    if arguments is not None:
        listed = parts_of_list(arguments[0].decode("latin-1"))
        kinds = ["auto" if _NUMBER.match(argument) else "class" for argument in listed]
        template = f"template <{', '.join(kinds)}> "
    # Made from anything.
    return Guess(f"{template}struct {name} {{ template <class... A> {name}(A&&...); }};", "a type of its own")


def _is_class(rest: bytes) -> bool:
    """Whether something is asked of the variable, or of what it points to, that the text declares first."""
    variable = _VARIABLE.match(rest)
    return variable is None or re.search(rb"\b" + variable[1] + rb"\s*(?:\.|->|\[|\()", rest) is not None

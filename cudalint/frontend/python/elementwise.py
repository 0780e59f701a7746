"""Kernels that a library makes from the expressions of a user: the code around them, as far as it decides what the
expressions cost.

CuPy hands out the elements of an element-wise kernel in a grid-stride loop, in blocks of 128 threads, and those of a
reduction in blocks of 512 (`cupy/_core/_kernel.pyx`, `cupy/_core/_reduction.pyx`); arrays are taken as contiguous. So
does PyCUDA's `ElementwiseKernel` (`pycuda/elementwise.py`), whose arguments are spelled in C.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cudalint.frontend.python.located import LocatedText, generated, joined
from cudalint.regexes import regex

_TYPES: Final = {
    "float16": "__half", "float32": "float", "float64": "double", "bool": "bool", "bool_": "bool",
    "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short", "int32": "int",
    "uint32": "unsigned int", "int64": "long long", "uint64": "unsigned long long", "complex64": "complex<float>",
    "complex128": "complex<double>", "I": "int",
}  # fmt: skip
_GENERIC: Final = "float"
"""What a type that only the call decides is taken as: a single letter is a placeholder, by custom `I` for indices."""
_PARAMETER: Final = regex(r"^\s*(?P<words>(?:\w+\s+)*)(?P<type>[\w?]+)\s+(?P<name>\w+)\s*$")
_INDEXER: Final = (
    "struct _cudalint_indexer { long long _n, _i; __device__ long long size() const { return _n; } "
    "__device__ const long long *get() const { return &_i; } };"
)


class Elementwise(Struct, frozen=True):
    """The parts of an element-wise kernel, or of a reduction's mapping."""

    name: str
    inputs: str
    outputs: str
    operation: LocatedText
    preamble: LocatedText
    before: LocatedText
    after: LocatedText
    where: tuple[int, int]
    """Of the call."""


class _Parameter(Struct, frozen=True):
    spelled: str
    type: str
    name: str
    is_raw: bool
    is_output: bool
    is_scalar: bool = False
    """One value for all elements."""

    @property
    def declared(self) -> str:
        if self.is_scalar:
            return f"const {self.type} {self.name}"
        qualifier = "" if self.is_output else "const "
        return f"{qualifier}{self.type} *__restrict__ {self.name}"

    @property
    def elements(self) -> tuple[str, str]:
        """Two declarations, one for the block of the loop and one for a block in it: the element takes the name of its
        array, which is what findings are to call it."""
        if self.is_raw or self.is_scalar:
            return "", ""
        reference = f"{'' if self.is_output else 'const '}{self.type} &"
        return f"{reference}_of_{self.name} = {self.name}[i]; ", f"{reference}{self.name} = _of_{self.name}; "


def elementwise_kernel(parts: Elementwise, threads: int = 128) -> LocatedText | None:
    """CuPy's kernel; None if its parameters can't be read."""
    parameters = [*_parameters(parts.inputs, False), *_parameters(parts.outputs, True)]
    if not parameters or None in parameters:
        return None
    known = [_as_used(parameter, parts) for parameter in parameters if parameter is not None]
    return _kernel(parts, [p.declared for p in known], _elements(known), threads, types=_placeholders(known))


def reduction_kernel(parts: Elementwise) -> LocatedText | None:
    """The mapping of CuPy's reduction, over all elements; how threads put their sums together is CuPy's business."""
    inputs, outputs = _parameters(parts.inputs, False), _parameters(parts.outputs, True)
    if not inputs or None in (*inputs, *outputs):
        return None
    known = [_as_used(parameter, parts) for parameter in inputs if parameter is not None]
    results = [parameter for parameter in outputs if parameter is not None]
    start, end = parts.where
    kind = results[0].type if results else _GENERIC
    head, tail = (generated(text, start, end) for text in (f"{kind} _mapped = (", "); (void)_mapped"))
    parts = replace(parts, operation=joined([head, parts.operation, tail]))
    return _kernel(parts, [p.declared for p in known], _elements(known), 512, types=_placeholders([*known, *results]))


def _as_used(parameter: _Parameter, parts: Elementwise) -> _Parameter:
    """An argument that is used outside of the loop over the elements is one number, and no array."""
    outside = f"{parts.before.text}\n{parts.after.text}"
    is_scalar = not parameter.is_raw and re.search(rf"\b{re.escape(parameter.name)}\b", outside) is not None
    return replace(parameter, is_scalar=is_scalar and not parameter.is_output)


def _placeholders(parameters: Sequence[_Parameter]) -> str:
    """The types that only the call decides, for operations that name them."""
    generic = {p.spelled: p.type for p in parameters if p.spelled not in _TYPES or len(p.spelled) == 1}
    return "".join(f"typedef {type_} {name};\n" for name, type_ in generic.items() if name.isidentifier())


def _elements(parameters: Sequence[_Parameter]) -> str:
    outer, inner = zip(*(parameter.elements for parameter in parameters), strict=True)
    return f"{''.join(outer)}{{ {''.join(inner)}"


def c_kernel(parts: Elementwise, threads: int = 128) -> LocatedText:
    """PyCUDA's kernel: the inputs are a parameter list in C, and the operation indexes with `i`."""
    return _kernel(parts, [parts.inputs.strip()], "{", threads, size="n")


def _kernel(
    parts: Elementwise, parameters: Sequence[str], elements: str, threads: int, size: str = "_size", types: str = ""
) -> LocatedText:
    start, end = parts.where
    arguments = ", ".join([*parameters, f"long long {size}"])
    blocks = f"dim3(({size} + {threads - 1}) / {threads}), dim3({threads})"
    count = sum(len(_split(parameter)) for parameter in parameters)
    values = "".join(f"_cudalint_any a{number}, " for number in range(count))
    given = "".join(f"a{number}, " for number in range(count))
    indexer = f"const _cudalint_indexer _ind = {{{size}, %s}}; (void)_ind; "
    includes = "#include <cuda_fp16.h>\n" if "__half" in arguments else ""
    if _needs_complex(parts, arguments):
        includes += "#include <cupy/complex.cuh>\n"
    head = (
        f"\n{types}{_INDEXER}\n__global__ void {parts.name}({arguments}) "
        f"{{ {indexer % '0'}"
    )
    loop = (
        ";\nfor (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; "
        f"i < {size}; i += (long long)blockDim.x * gridDim.x) {{ {elements} {indexer % 'i'}\n"
    )
    launch = f"\nstatic void _cudalint_call({values}long long {size}) {{ {parts.name}<<<{blocks}>>>({given}{size}); }}"
    return joined(
        [
            generated(includes, start, end),
            parts.preamble,
            generated(head, start, end),
            parts.before,
            generated(loop, start, end),
            parts.operation,
            generated(";\n}}\n", start, end),
            parts.after,
            generated(f";}}{launch}", start, end),
        ]
    )


def _needs_complex(parts: Elementwise, arguments: str) -> bool:
    texts = (arguments, parts.preamble.text, parts.before.text, parts.operation.text, parts.after.text)
    return any("complex" in text or "thrust" in text for text in texts)


def _split(parameters: str) -> list[str]:
    return [part for part in re.split(r",(?![^<(]*[>)])", parameters) if part.strip()]


def _parameters(text: str, is_output: bool) -> list[_Parameter | None]:
    """`T x, raw float32 y` as CuPy reads it."""
    return [_parameter(part, is_output) for part in _split(text)]


def _parameter(text: str, is_output: bool) -> _Parameter | None:
    match = _PARAMETER.match(text)
    if match is None:
        return None
    words = match["words"].split()
    return _Parameter(match["type"], _TYPES.get(match["type"], _GENERIC), match["name"], "raw" in words, is_output)

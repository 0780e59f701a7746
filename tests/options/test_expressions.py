"""C expressions as users write them."""

from __future__ import annotations

import pytest

from cudalint.options.expressions import (
    BinaryOp,
    CallOp,
    CastOp,
    ConditionalOp,
    ElementRef,
    ExpressionError,
    MemberRef,
    NameRef,
    Number,
    UnaryOp,
    parse_expression,
)

_K, _N = NameRef("K"), NameRef("N")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", Number(42)),
        ("0x20u", Number(32)),
        ("040", Number(32)),
        ("32ULL", Number(32)),
        ("1.5f", Number(1.5)),
        ("true", Number(True)),
        ("K", _K),
        ("threadIdx.x", MemberRef(NameRef("threadIdx"), "x")),
        ("p->n", MemberRef(NameRef("p"), "n")),
        ("dims[1]", ElementRef(NameRef("dims"), Number(1))),
        ("-K", UnaryOp("-", _K)),
        ("K % 4 == 0", BinaryOp("==", BinaryOp("%", _K, Number(4)), Number(0))),
        ("K > 0 ? K : N", ConditionalOp(BinaryOp(">", _K, Number(0)), _K, _N)),
        ("dim3(32, 8)", CallOp("dim3", (Number(32), Number(8)))),
        ("f()", CallOp("f", ())),
        ("(size_t) K", CastOp("size_t", _K)),
        ("(unsigned int) K", CastOp("unsigned int", _K)),
        ("\n  K\n + 1 ", BinaryOp("+", _K, Number(1))),
    ],
)
def test_expressions(text: str, expected: object) -> None:
    assert parse_expression(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "  ", "K +", "1) + (2", "K; int x", "K = 4", "K++", "&K", "sizeof(Pair)", "18446744073709551616", "sizeof n",
     '"text"', "std::max(a, b)", "a, b",
     "'c'", "09", "{1}", "#define", "int", "if", "((((", "(*f)(1)", "a b"],
)  # fmt: skip
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(ExpressionError):
        parse_expression("(" * 20_000 + "1" + ")" * 20_000)


# cuda-samples and the programming guide (section "Built-in Vector Types") have these sizes.
@pytest.mark.parametrize(
    ("type_", "size"),
    [("char", 1), ("unsigned char", 1), ("short int", 2), ("int", 4), ("unsigned", 4), ("long", 8), ("long long", 8),
     ("unsigned long long int", 8), ("float", 4), ("double", 8), ("float *", 8), ("uint8_t", 1), ("int64_t", 8),
     ("size_t", 8), ("float2", 8), ("float3", 12), ("float4", 16), ("uchar4", 4), ("longlong2", 16), ("double2", 16),
     ("half", 2), ("__half", 2), ("__half2", 4), ("half2", 4), ("__nv_bfloat16", 2), ("__nv_bfloat162", 4)],
)  # fmt: skip
def test_sizes_of_types(type_: str, size: int) -> None:
    assert parse_expression(f"sizeof({type_})") == Number(size)

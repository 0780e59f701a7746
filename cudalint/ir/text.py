"""The kernel IR as text, for people: C-like, with casts and member accesses as the front end made them explicit."""

from __future__ import annotations

from cudalint.ir import nodes as ir

_ASKED_FOR = {"sizes_": "size", "strides_": "stride"}
"""Functions that give elements of fields which nobody but their class can name (ATen/core/TensorAccessor.h)."""


def expression_text(expr: ir.Expr | ir.InitList | None) -> str:
    """An expression on one line; what it calls and captures is named, not written out."""
    text = expression_text
    match expr:
        case None:
            return ""
        case ir.Constant(value=value):
            return repr(value) if isinstance(value, str) else str(value)
        case ir.Name(symbol=symbol):
            return symbol.name
        case ir.Member(base=base, field=name, arrow=arrow):
            return f"{text(base)}{'->' if arrow else '.'}{name}"
        case ir.Index(base=base, index=index):
            return f"{text(base)}[{text(index)}]"
        case ir.Unary(op=op, operand=operand):
            return op.replace("x", text(operand)) if "x" in op else f"{op}{text(operand)}"
        case ir.Binary(op=op, left=left, right=right):
            return f"({text(left)} {op} {text(right)})"
        case ir.Assign(op=op, target=target, value=value):
            return f"{text(target)} {op}= {text(value)}"
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"({text(condition)} ? {text(then)} : {text(otherwise)})"
        case ir.Cast(operand=operand, type=type_):
            return f"({ir.type_name(type_)})({text(operand)})"
        case ir.Call(name=name, arguments=arguments):
            return f"{name}({', '.join(map(text, arguments))})"
        case ir.Construct(type=type_, arguments=arguments):
            return f"{ir.type_name(type_)}({', '.join(map(text, arguments))})"
        case _:
            return f"<{type(expr).__name__}>"


def element_name(array: str, index: object) -> str:
    """What an element of an array is called: `a[3]`. Sizes and strides that PyTorch's accessors keep are called as the
    source asks for them: `a.size(1)`."""
    record, dot, field = array.rpartition(".")
    asked = _ASKED_FOR.get(field) if dot else None
    return f"{array}[{index}]" if asked is None else f"{record}.{asked}({index})"


def field_name(record: str, field: str) -> str:
    """What a field of a record is called: `a.strides_`. What the bundled headers put around a value of their own keeps
    the value's name."""
    return record if field.startswith("_cudalint") else f"{record}.{field}"

"""Kernels by a small grammar: indices, conditions, loops and barriers, with numbers at the edges of types."""

from __future__ import annotations

import random

_NUMBERS = ("0", "1", "2", "3", "7", "31", "32", "33", "64", "1000", "65536")
_EDGES = ("-1", "2147483647", "4294967296", "9223372036854775807", "18446744073709551615u", "0.5f", "1e30", "(1 / 0)")
_LEAVES = ("threadIdx.x", "threadIdx.y", "blockIdx.x", "blockDim.x", "gridDim.x", "n", "m", "i", "q[i]", "lane")
_OPERATORS = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")


def kernel(draw: random.Random, edges: bool = True) -> str:
    """A kernel called `kernel` of some statements; without `edges` it has nothing undefined in it."""
    body = "".join(_statement(draw, 3, edges) for _ in range(draw.randint(1, 5)))
    return (
        "__global__ void kernel(float *p, const int *q, int n, unsigned m) {\n"
        "    __shared__ float s[1024];\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;\n"
        f"{body}}}\n"
    )


def _statement(draw: random.Random, depth: int, edges: bool) -> str:
    kind = draw.randrange(8 if depth else 4)
    index = expression(draw, 2, edges)
    match kind:
        case 0 | 1:
            return f"    p[{index}] = q[{expression(draw, 2, edges)}];\n"
        case 2:
            return f"    s[({index}) & 1023] += p[i];\n"
        case 3:
            return "    __syncthreads();\n"
        case 4 | 5:
            return f"    if ({index} < {expression(draw, 1, edges)}) {{\n{_statement(draw, depth - 1, edges)}    }}\n"
        case 6:
            step = draw.choice(("j++", "j += 2", "j += blockDim.x", "j *= 2"))
            start = draw.choice(("1", "lane + 1", "n"))
            body = _statement(draw, depth - 1, edges).replace("lane", "j")
            return f"    for (int j = {start}; j < {draw.choice(_NUMBERS)}; {step}) {{\n{body}    }}\n"
        case _:
            leave = draw.choice(("break", "continue", "return")) if edges else "break"
            body = f"{_statement(draw, depth - 1, edges)}    {leave};\n"
            return f"    while (q[lane] > {draw.choice(_NUMBERS)}) {{\n{body}    }}\n"


def expression(draw: random.Random, depth: int, edges: bool) -> str:
    if not depth or not draw.randrange(3):
        return draw.choice(_EDGES) if edges and not draw.randrange(6) else draw.choice((*_LEAVES, *_NUMBERS))
    left, right = expression(draw, depth - 1, edges), expression(draw, depth - 1, edges)
    operator = draw.choice(_OPERATORS if edges else ("+", "-", "*", "&"))
    return f"({left} {operator} {right})"

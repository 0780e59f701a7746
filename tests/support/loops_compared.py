"""Kernels executed with and without leaving turns of their loops out: the figures of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executing import execute, kernel_in
from plain_requests import PlainFigures, plain_figures, requests_of

from cudalint.execute.trace import Trace

EXACT = 1e-6
SAMPLED = 0.02

Block = tuple[int, int, int]


def figures(trace: Trace, world: int = 0) -> dict[Any, PlainFigures]:
    found = {site: plain_figures(site, requests) for site, requests in requests_of(trace, world).items()}
    return {
        (site.node.span.line, site.node.span.column, site.operation, site.bytes, len(site.stack)): each
        for site, each in found.items() if each is not None
    }  # fmt: skip


def differences(full: Trace, left_out: Trace, tolerance: float, worlds: int = 1) -> list[str]:
    wrong = []
    for world in range(worlds):
        right, actual = figures(full, world), figures(left_out, world)
        assert right.keys() == actual.keys()
        for site, expected in right.items():
            for name in ("requests", "cost", "ideal", "lanes"):
                one, other = getattr(expected, name), getattr(actual[site], name)
                if abs(one - other) > tolerance * max(1e-9, abs(one)):
                    wrong.append(f"world {world}, {site}: {name} {other}, not {one}")
    return wrong


def check(
    source: str, arguments: Mapping[str, object], tolerance: float = EXACT, block: Block = (64, 1, 1), worlds: int = 1
) -> tuple[int, int]:
    """Compares both ways to execute a kernel; gives the steps that they took."""
    function = kernel_in(source)
    full = execute(function, block, (2, 1, 1), arguments, in_full=True)
    some = execute(function, block, (2, 1, 1), arguments)
    wrong = differences(full, some, tolerance, worlds)
    assert not wrong, "\n".join([*wrong, source])
    return full.steps, some.steps


def kernel(body: str) -> str:
    return (
        "__global__ void kernel(float* a, double* b, unsigned char* c, int n, int m) {\n"
        "  __shared__ float s[4096];\n  int t = threadIdx.x; float sink = 0;\n"
        f"  {body}\n  a[0] = sink;\n}}\n"
    )

"""The tables of docs/confirm.md are those of the records."""

from __future__ import annotations

from typing import Any

from confirmed import PAGE, records, text, written


def test_the_page_has_the_tables_of_the_records() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page, text(records())), "python benchmarks/confirmed.py --write"


def test_a_record_as_tables() -> None:
    device = {"name": "GPU", "architecture": "sm_80", "driver": "1", "compiler": "NVRTC 12.0", "cupy": "13"}
    rows = [{"quantity": "sectors", "verdict": "equal"}, {"quantity": "sectors", "verdict": "off"}]
    fix: dict[str, Any] = {
        "kernel": "k", "line": 7, "quantity": "wavefronts", "suggestion": "pad the rows, `t[32][33]`: 32 to 1",
        "before": 33.0, "after": 2.0, "ideal": 2.0, "milliseconds_before": 0.5, "milliseconds_after": 0.1,
        "outputs": "identical",
    }  # fmt: skip
    barrier = {**fix, "quantity": "races", "suggestion": "`__syncthreads()` orders them", "before": 4.0, "after": 0.0}
    unmeasured = {**fix, "after": None}
    record = {"device": device, "date": "2026-01-02", "rows": rows, "fixes": [fix, unmeasured, barrier]}
    lines = text({"fixtures/r/a.cu": record}).splitlines()
    assert lines[0] == "Measured on 2026-01-02: GPU (sm_80), driver 1, NVRTC 12.0, CuPy 13."
    assert "| sectors | 1 | 1 | 0 |" in lines
    rows_of_kernels = [line for line in lines if line.startswith("| `k`")]
    suggested = "pad the rows, `t[32][33]`"
    assert rows_of_kernels == [
        f"| `k` (r/a.cu:7) | {suggested} | 33 | 2 | 2 | 500.0 µs | 100.0 µs | 5.00x |  | identical |",
        "| `k` (r/a.cu:7) | `__syncthreads()` | 4 | 0 | 500.0 µs | 100.0 µs | identical |",
    ]

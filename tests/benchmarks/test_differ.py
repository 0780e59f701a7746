"""Two dumps by hand, compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from differ import KINDS, Comparison, Known, compare, known_differences
from dumping import Dump, FileDump, Job, dump, read


def _access(line: int, **figures: Any) -> dict[str, Any]:
    result = {
        "launch": 0, "status": "exact", "sectors_per_request": 4.0, "sectors_range": None, "ideal_sectors": 4.0,
        "wavefronts_per_request": None, "wavefronts_range": None, "ideal_wavefronts": None, "requests": 100.0,
        "active_lanes": 32.0,
    }  # fmt: skip
    return {
        "path": "k.cu", "line": line, "inlined_from": [], "operation": "load", "space": "global", "bytes": 4,
        "results": [result | figures],
    }  # fmt: skip


def _race(first: int, second: int) -> dict[str, Any]:
    ends = [{"path": "k.cu", "line": line, "operation": "store"} for line in (first, second)]
    return {
        "launch": 0, "space": "shared", "array": "s", "certainty": "certain", "first": ends[0], "second": ends[1],
    }  # fmt: skip


def _finding(line: int, held_back: str | None = None) -> dict[str, Any]:
    return {"code": "CL101", "path": "k.cu", "line": line, "held_back": held_back}


def _dump(path: str = "k.cu", findings: tuple[dict[str, Any], ...] = (), **facts: list[dict[str, Any]]) -> Dump:
    launch = {"block": [32, 1, 1], "grid": [1, 1, 1], "dynamic_shared_bytes": 0, "source": "launch-site"}
    kernel = {"name": "k", "instantiation": "k", "launches": [launch], **facts}
    return Dump([FileDump(path, status="ok", kernels=[kernel], findings=list(findings))])


def _outcomes(old: Dump, new: Dump, kind: str, known: tuple[Known, ...] = ()) -> dict[str, dict[str, int]]:
    return {name: dict(counts) for name, counts in _compared(old, new, kind, known).outcomes.items()}


def _compared(old: Dump, new: Dump, kind: str, known: tuple[Known, ...] = ()) -> Comparison:
    return compare(old, new, [kind], known=known)


def test_accesses_are_equal_within_two_percent() -> None:
    old = _dump(accesses=[_access(1), _access(2), _access(3), _access(4), _access(5)])
    new = _dump(
        accesses=[
            _access(1, sectors_per_request=4.04), _access(2, sectors_per_request=4.2), _access(3, status="assumed"),
            _access(5, status="unknown", sectors_per_request=None, ideal_sectors=None), _access(6),
        ]
    )  # fmt: skip
    counts = {"equal": 1, "differs": 1, "status differs": 2, "only old": 1, "only new": 1}
    assert _outcomes(old, new, "accesses") == {"accesses": counts}


def test_rows_of_one_place_are_matched_in_any_order() -> None:
    values = [_access(1, sectors_per_request=each) for each in (4.0, 8.0, 32.0)]
    old, new = _dump(accesses=values), _dump(accesses=[values[2], _access(1, sectors_per_request=16.0), values[0]])
    compared = _compared(old, new, "accesses")
    assert compared.outcomes["accesses"] == {"equal": 2, "differs": 1}
    assert compared.notes["accesses", "differs"] == [
        "k.cu k #0 32x1x1 1 load global 4: exact 8 4 100 32 -> exact 16 4 100 32"
    ]


def test_the_ends_of_a_race_come_in_any_order() -> None:
    old, new = _dump(races=[_race(3, 5), _race(3, 7)]), _dump(races=[_race(5, 3)])
    assert _outcomes(old, new, "races") == {"races": {"equal": 1, "only old": 1}}


def test_times_may_differ_by_more_than_instructions() -> None:
    cost = {"launch": 0, "status": "exact", "instructions": 100.0, "time_us": 10.0}
    old = _dump(costs=[cost])
    assert _outcomes(old, _dump(costs=[cost | {"time_us": 12.0}]), "costs") == {"costs": {"equal": 1}}
    assert _outcomes(old, _dump(costs=[cost | {"time_us": 15.0}]), "costs") == {"costs": {"differs": 1}}
    assert _outcomes(old, _dump(costs=[cost | {"instructions": 110.0}]), "costs") == {"costs": {"differs": 1}}


def test_findings_that_are_shown_are_apart_from_those_that_are_held_back() -> None:
    old = _dump(findings=(_finding(1), _finding(2), _finding(3, "small"), _finding(4)))
    new = _dump(findings=(_finding(1), _finding(2, "small"), _finding(3, "small"), _finding(5, "few")))
    shown = {"equal": 1, "status differs": 1, "only old": 1}
    assert _outcomes(old, new, "findings") == {"findings": shown, "held back": {"equal": 1, "only new": 1}}


def test_a_file_may_be_there_with_several_options() -> None:
    old = Dump([FileDump("k.cu", {"block": [32]}, "ok", findings=[_finding(1)]), FileDump("k.cu", status="ok")])
    new = Dump([FileDump("k.cu", status="ok"), FileDump("k.cu", {"block": [32], "time_limit": 5.0}, "ok")])
    assert _outcomes(old, new, "findings") == {"findings": {"only old": 1}}


def test_known_differences_are_counted_apart() -> None:
    old, new = _dump(accesses=[_access(1), _access(2)]), _dump(accesses=[])
    known = Known("it is no access", "the compiler removes it", file="*.cu", kernel="k #0 *", line=2)
    compared = _compared(old, new, "accesses", (known,))
    assert compared.outcomes["accesses"] == {"only old": 1, "known": 1}
    assert compared.explained == {known: 1}


def test_the_table_of_known_differences_can_be_read(tmp_path: Path) -> None:
    assert all(known.kind == "*" or known.kind in KINDS for known in known_differences())
    table = tmp_path / "differences.toml"
    table.write_text('[[difference]]\nwhat = "a"\nevidence = "b"\nkind = "races"\n')
    assert known_differences(table) == [Known("a", "b", kind="races")]


def test_what_is_said_of_a_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = (
        "__global__ void k(float* out, const float* in) {\n"
        "  __shared__ float s[32];\n"
        "  s[threadIdx.x] = in[threadIdx.x * 8];\n"
        "  out[threadIdx.x + 1] = s[31 - threadIdx.x];\n"
        "}\n"
    )
    Path("k.cu").write_text(source)
    out = tmp_path / "dump.json.gz"
    dump(out, [Job("k.cu", {"block": [64], "force_launch": True}), Job("none.cu", {})], 1)
    found, failed = read(out).files
    assert (found.name, failed.status) == ("k.cu block=[64] force_launch=True", "failed")
    (kernel,) = found.kernels
    assert kernel["launches"][0]["block"] == [64, 1, 1]
    # 32 lanes, 32 bytes apart: a sector each. The second warp stores behind the array, and loads before it.
    loads = [each for each in kernel["accesses"] if (each["line"], each["space"]) == (3, "global")]
    assert [each["results"][0]["sectors_per_request"] for each in loads] == [32.0]
    assert {each["line"] for each in kernel["out_of_bounds"]} == {3, 4}
    compared = compare(read(out), read(out), list(KINDS))
    assert all(set(counts) == {"equal"} for counts in compared.outcomes.values())
    assert {"launches", "accesses", "bounds", "costs", "findings"} <= set(compared.outcomes)

"""What lines take of a launch."""

from __future__ import annotations

import pytest
from evaluating import evaluate

from cudalint.hardware.cost.by_line import Share, by_line
from cudalint.hardware.targets import find_target


def _by_text(body: str, before: str = "") -> dict[int, Share]:
    """The shares by line, of which the body has its first in line 5 and of which code before begins in line 1."""
    kernel = evaluate(body, block=(256, 1, 1), grid=(4096, 1, 1), before=before)
    assert kernel.costs is not None
    return {line: share for (_, line), share in by_line(kernel, kernel.costs[0], find_target("a100")).items()}


def test_traffic_is_counted_in_sectors_and_wavefronts() -> None:
    """A warp's store of each eighth float is 32 sectors; its store of neighbours 4: 32 of 36 and 4 of 36."""
    shares = _by_text("""int i = blockIdx.x * 256 + t;
    a[8 * i] = t;
    b[i] = t;""")
    assert shares[6].traffic == pytest.approx(32 / 36)
    assert shares[7].traffic == pytest.approx(4 / 36)
    # The time of both goes into moving sectors, of which one line has most.
    assert shares[6].time > 0.5 > shares[7].time > 0.0


def test_a_call_has_what_is_accessed_there() -> None:
    shares = _by_text(
        "put(a, blockIdx.x * 256 + t);",
        "__device__ void put(float *p, int i)\n{\n    p[i] = 1.0f;\n}\n",
    )
    ((body, own),) = [(line, share) for line, share in shares.items() if line < 5]
    ((call, through),) = [(line, share) for line, share in shares.items() if line > 5]
    assert body < call
    assert own == through
    assert own.traffic == 1.0


def test_a_barrier_takes_time_and_no_traffic() -> None:
    shares = _by_text("""s[t] = a[t];
    __syncthreads();
    b[blockIdx.x * 256 + t] = s[255 - t];""")
    assert shares[6].traffic == 0.0
    assert shares[6].time >= 0.0
    assert sum(share.traffic for share in shares.values()) == pytest.approx(1.0)

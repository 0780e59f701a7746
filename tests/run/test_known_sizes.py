"""Of which launches a time is told: those whose sizes the program or a user gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import FileFacts, LaunchCost
from cudalint.options.analysis import AnalysisOptions, ParameterValue
from cudalint.run.file_facts import analyse

_SUMS = """
#include <cstdlib>
__global__ void sums(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < m; ++k)
        sum += in[k * n + i];
    out[i] = sum;
}

int main(int argc, char **argv)
{
    int n = SIZE, m = atoi(argv[2]);
    float *in, *out;
    cudaMalloc(&in, n * m * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    sums<<<(n + 127) / 128, 128>>>(out, in, n, m);
}
"""


def _cost(tmp_path: Path, size: str, **given: str) -> LaunchCost:
    source = tmp_path / "sums.cu"
    source.write_text(_SUMS.replace("SIZE", size), encoding="utf-8")
    params = tuple(ParameterValue(None, name, value) for name, value in given.items())
    facts = analyse(str(source), AnalysisOptions(params=params))
    assert isinstance(facts, FileFacts)
    (cost,) = facts.kernels[0].costs or ()
    assert cost.time_us is not None
    return cost


@pytest.mark.parametrize(
    ("size", "given", "missing"),
    [
        ("atoi(argv[1])", {}, ("n", "m")),
        ("atoi(argv[1])", {"n": "4096"}, ("m",)),
        ("atoi(argv[1])", {"m": "64"}, ("n",)),
        ("atoi(argv[1])", {"n": "4096", "m": "64"}, ()),
        ("argc > 1 ? atoi(argv[1]) : 4096", {"m": "64"}, ()),
    ],
)
def test_a_time_rests_on_what_nothing_gives(
    tmp_path: Path, size: str, given: dict[str, str], missing: tuple[str, ...]
) -> None:
    cost = _cost(tmp_path, size, **given)
    assert (cost.rests_on, cost.is_nominal) == (missing, bool(missing))


def test_given_sizes_are_those_of_the_time(tmp_path: Path) -> None:
    """32 blocks of 4 warps, each of which loads 64 times, and twice as many blocks or turns take twice the requests."""
    requests = [
        _cost(tmp_path, "atoi(argv[1])", n=n, m=m).requests["global"]
        for n, m in (("4096", "64"), ("8192", "64"), ("4096", "128"))
    ]
    assert requests == [32 * 4 * 65, 64 * 4 * 65, 32 * 4 * 129]

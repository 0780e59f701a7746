"""Kernels of which only some blocks and iterations can be followed: less is looked at, and nothing is lost silently."""

from __future__ import annotations

from cudalint.facts import Barrier, KernelFacts, Race
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
__global__ void k(float *a, int n, int m) {
  __shared__ float s[512];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < n; l++) {
BODY
      }
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}
int main(int argc, char **argv) { k<<<1, 64>>>(0, argc, atoi(argv[1])); }
"""
_LINE = _SOURCE.splitlines().index("BODY") + 1


def _kernel(body: list[str]) -> KernelFacts:
    source = _SOURCE.replace("BODY", "\n".join(body))
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    return kernel


def _races(kernel: KernelFacts) -> tuple[Race, ...]:
    assert kernel.races is not None
    return kernel.races


def _barriers(kernel: KernelFacts) -> tuple[Barrier, ...]:
    assert kernel.barriers is not None
    return kernel.barriers


def test_barriers_of_a_long_body_in_three_loops_are_looked_at_in_fewer_iterations() -> None:
    kernel = _kernel([f"if (n > {k}) __syncthreads();" for k in range(60)])
    assert {result.verdict for barrier in _barriers(kernel) for result in barrier.results} == {"uniform"}


def test_a_divergent_barrier_among_many_is_found() -> None:
    body = [f"if (n > {k}) __syncthreads();" for k in range(60)]
    kernel = _kernel([*body, "if (threadIdx.x < 40) __syncthreads();"])
    verdicts = {b.place.line: b.results[0].verdict for b in _barriers(kernel)}
    assert verdicts[_LINE + 60] == "divergent"
    assert list(verdicts.values()).count("divergent") == 1


def test_a_race_that_depends_on_a_size_among_many_barriers_is_found() -> None:
    """With an even `m`, two of the 64 threads have one place at least."""
    kernel = _kernel(["s[threadIdx.x * m % 64] = threadIdx.x;", *["if (n > 1) __syncthreads();"] * 60])
    assert any(race.first.place.line == race.second.place.line == _LINE for race in _races(kernel))

"""A static linter for CUDA kernels that predicts what a profiler would measure."""

__version__ = "0.1.0"

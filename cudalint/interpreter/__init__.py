"""Code that is executed on numbers that may be unknown: kernels for all threads of a block at once, and host code."""

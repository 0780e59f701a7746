"""Kernels under other blocks, sizes, registers, rows of arrays and targets than the source gives."""

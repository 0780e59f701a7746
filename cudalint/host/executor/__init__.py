"""Executing the statements of kernels, for all lanes of a block at once."""

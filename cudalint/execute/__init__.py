"""Kernels executed in lockstep: all threads of some blocks, in all worlds of a launch at once."""

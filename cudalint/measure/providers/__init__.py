"""The facts of a kernel, one module for each kind: collected from its executions, launch by launch."""

"""Executing the functions of host code: statements, expressions, calls, memory, launches."""

"""A small C, for tests: expressions and statements that run one thread at a time on plain Python integers.

It shares no code with `cudalint`, so that both can be held against each other.
"""

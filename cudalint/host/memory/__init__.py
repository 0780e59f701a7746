"""What memory pointers of host code lead to, on every path, and what is done with it that can't be right.

The executor prefers the numbers that a launch is likely to have; here nothing counts but what holds on all paths that
come to a place, so that what is unknown stays unknown.
"""

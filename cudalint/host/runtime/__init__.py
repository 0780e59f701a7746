"""Executing host code as far as launches need it."""

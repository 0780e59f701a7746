"""Suggested edits made: which of them at once, in which files, and what is left then."""

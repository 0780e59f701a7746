"""A file reduced to what shows a fault of the linter, for a report that can be read."""

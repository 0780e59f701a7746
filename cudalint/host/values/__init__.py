"""Numbers of host code as nodes of a graph: what is computed, what is known of it, and its values in worlds."""

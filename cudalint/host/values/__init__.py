"""Numbers as nodes of a graph: what is computed, what is known of it, and its values for all threads of a block."""

"""From the events of an execution to the requests of its warps and their figures, in situations."""

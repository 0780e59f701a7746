"""From the trace of an execution to facts: pure functions, which ask nothing of the executor."""

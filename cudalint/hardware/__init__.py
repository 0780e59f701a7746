"""The hardware model: pure functions from numbers to what a GPU's counters would say."""

"""What the functions that a device has built in do to values and memory."""

"""What findings become before they are shown: put together, told once for a cause, held against a baseline."""

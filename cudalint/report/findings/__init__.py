"""What findings become before they are shown: put together, one for each cause, held against a baseline."""

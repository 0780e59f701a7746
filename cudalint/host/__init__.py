"""Host code, executed as far as launches need it."""

"""Rules for cudalint, one module each."""

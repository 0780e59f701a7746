"""A run: files that workers lint, one file's way through the program, and what its findings become in the end."""

"""A run: files handed to workers, one file's way through the program, and what its findings become in the end."""
